/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dns.h - DNS messages: builds questions and parses answers (RFC 1035, 2782, 6891)
 *
 * c-ares handles the wire format: it builds questions and expands compressed names. This module
 * does the rest: it checks that an answer belongs to its question, follows aliases and enforces
 * limits. Names are texts without final dot, in lower case, at most DNS_NAME_MAX characters.
 * Owns   : nothing; records lie in the caller's arena.
 * Threads: any. Errors: enum dns_status; without c-ares no question is built (dns_is_built_in()).
 * Bounds : at most DNS_RECORDS_MAX records of an answer are kept, and DNS_JUMPS_MAX jumps in a name
 *          followed.
 */
#ifndef CODEC_DNS_H
#define CODEC_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/arena.h"
#include "base/slice.h"

#define DNS_NAME_MAX 253
#define DNS_LABEL_MAX 63
#define DNS_HEADER_SIZE 12
#define DNS_QUERY_MAX 320     /* bytes of a question with its EDNS record */
#define DNS_RECORDS_MAX 1024
#define DNS_JUMPS_MAX 64

enum dns_type { DNS_A = 1, DNS_CNAME = 5, DNS_TXT = 16, DNS_AAAA = 28, DNS_SRV = 33 };

enum dns_status {
	DNS_VALID,
	DNS_NX,          /* the name does not exist */
	DNS_REFUSED,
	DNS_OTHER,       /* another error from the server */
	DNS_EMPTY,       /* the name has no record of this type */
	DNS_CNAME_ERROR, /* its alias leads nowhere */
	DNS_TRUNCATED,
	DNS_INVALID,     /* not an answer to the question, or not DNS */
	DNS_STATUSES,
};

/* A question. */
struct dns_question {
	const char *name;
	enum dns_type type;
	uint16_t id;
	uint16_t payload; /* announced maximum size of an answer over UDP */
};

struct dns_record {
	struct dns_record *next;
	enum dns_type type;     /* A, AAAA, SRV, TXT */
	uint32_t ttl;
	struct addr addr;       /* of A and AAAA */
	uint16_t priority, weight, port; /* of SRV */
	/* SRV: the target. TXT: its strings, concatenated; those with a NUL are dropped. For an
	 * additional record: its owner.
	 */
	const char *name;
};

struct dns_answer {
	enum dns_status status;
	bool is_alias;                  /* the name has a CNAME */
	struct dns_record *records;     /* of the requested type, in order; only with DNS_VALID */
	struct dns_record *additional;  /* addresses of other names, for an SRV question */
	unsigned count;                 /* of both */
};

/* Was the program built with c-ares? */
bool dns_is_built_in(void);
/* Is <name> valid in a question: labels of 1 to 63 plain characters, at most DNS_NAME_MAX in all?
 */
bool dns_name_is_valid(struct slice name);
/* Writes a question to <out> (DNS_QUERY_MAX bytes). Returns its length; 0: not possible. */
size_t dns_query_make(const struct dns_question *q, uint8_t *out, size_t size);
/* Returns the identifier of a message of at least 2 bytes. */
uint16_t dns_message_id(struct slice message);
/* Parses the answer to <q>; records are allocated in <arena>. Returns out->status; out of memory
 * gives DNS_INVALID.
 */
enum dns_status dns_answer_parse(struct slice message, const struct dns_question *q,
				 struct arena *arena, struct dns_answer *out);

#endif
