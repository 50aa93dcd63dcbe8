/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dns.h - DNS messages: a question is made, an answer to it is read (RFC 1035, 2782, 6891)
 *
 * The wire format is c-ares's business: it makes questions and expands compressed names. Here is
 * what it leaves open: that an answer belongs to its question, follows its aliases, stays within
 * bounds. Names are texts without final dot, in lower case, at most DNS_NAME_MAX characters.
 * Owns   : nothing; records are put in the caller's arena.
 * Threads: any. Errors: enum dns_status; without c-ares nothing can be made (dns_is_built_in()).
 * Bounds : DNS_RECORDS_MAX records are kept of one answer, DNS_JUMPS_MAX jumps followed in a name.
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
	DNS_NX,          /* there is no such name */
	DNS_REFUSED,
	DNS_OTHER,       /* another error of the server */
	DNS_EMPTY,       /* the name has no record of this type */
	DNS_CNAME_ERROR, /* its alias leads nowhere */
	DNS_TRUNCATED,
	DNS_INVALID,     /* not an answer to the question, or not DNS */
	DNS_STATUSES,
};

/* What was asked. */
struct dns_question {
	const char *name;
	enum dns_type type;
	uint16_t id;
	uint16_t payload; /* largest answer over UDP that is announced */
};

struct dns_record {
	struct dns_record *next;
	enum dns_type type;     /* A, AAAA, SRV, TXT */
	uint32_t ttl;
	struct addr addr;       /* of A and AAAA */
	uint16_t priority, weight, port; /* of SRV */
	/* SRV: the target. TXT: its strings, one behind the other; none with a NUL is kept. Of an
	 * additional record: its owner.
	 */
	const char *name;
};

struct dns_answer {
	enum dns_status status;
	bool is_alias;                  /* the name had a CNAME */
	struct dns_record *records;     /* of the type asked, in order; only with DNS_VALID */
	struct dns_record *additional;  /* addresses of other names, to an SRV question */
	unsigned count;                 /* of both */
};

/* Was the program made with c-ares? */
bool dns_is_built_in(void);
/* May <name> be asked for: labels of 1 to 63 plain characters, no more than DNS_NAME_MAX? */
bool dns_name_is_valid(struct slice name);
/* Writes a question to <out> (DNS_QUERY_MAX bytes). Returns its length; 0: it cannot be made. */
size_t dns_query_make(const struct dns_question *q, uint8_t *out, size_t size);
/* The identifier of a message of at least 2 bytes. */
uint16_t dns_message_id(struct slice message);
/* Reads the answer to <q>, records going to <arena>. Returns out->status; no memory is
 * DNS_INVALID.
 */
enum dns_status dns_answer_parse(struct slice message, const struct dns_question *q,
				 struct arena *arena, struct dns_answer *out);

#endif
