/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fcgi.h - records of FastCGI 1.0, for a client of an application
 *
 *     version <1>, type <1>, request <2>, length <2>, padding <1>, 0 <1>, content, padding
 *
 * Writing: fcgi_begin(), the content, fcgi_end(); or the functions for whole records. Reading:
 * fcgi_head_take() reads the header before a content, which may come in pieces; contents that must
 * be complete to be understood are parsed by the other functions.
 * Pure: no state, no input or output; input is borrowed. Any thread.
 * Errors: every length is checked; writing something too long for its field fails.
 * Source: FastCGI Specification 1.0, chapters 3, 4, 5 and 8.
 */
#ifndef CODEC_FCGI_H
#define CODEC_FCGI_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"
#include "base/strbuf.h"

#define FCGI_HEAD_SIZE 8
#define FCGI_CONTENT_MAX 65535
#define FCGI_MANAGEMENT 0 /* the request id of records about the connection */

enum fcgi_type {
	FCGI_BEGIN_REQUEST = 1, FCGI_ABORT_REQUEST, FCGI_END_REQUEST, FCGI_PARAMS, FCGI_STDIN,
	FCGI_STDOUT, FCGI_STDERR, FCGI_DATA, FCGI_GET_VALUES, FCGI_GET_VALUES_RESULT,
	FCGI_UNKNOWN_TYPE,
};

/* Why an application ended a request. */
enum fcgi_protocol_status {
	FCGI_REQUEST_COMPLETE, FCGI_CANNOT_MULTIPLEX, FCGI_OVERLOADED, FCGI_UNKNOWN_ROLE,
};

/* The header of a record. */
struct fcgi_head {
	uint8_t type;      /* enum fcgi_type, or an unknown one */
	uint8_t padding;   /* bytes after the content */
	uint16_t request;
	uint16_t length;   /* of the content */
};

/* --- writing: if it does not fit, b->overflow is set ------------------------------------------ */

/* Writes a header only, for contents that are sent from where they are. */
void fcgi_head_put(const struct fcgi_head *h, unsigned char out[FCGI_HEAD_SIZE]);
/* Begins a record at the end of <b>; returns its position, for fcgi_end(). */
size_t fcgi_begin(struct strbuf *b, enum fcgi_type type, uint16_t request);
/* Completes a record with its length, without padding. False: the content is too long for one
 * record, or out of memory; <b> is then as before the record.
 */
bool fcgi_end(struct strbuf *b, size_t start);
/* Adds a record without content: the end of a stream. */
void fcgi_add_empty(struct strbuf *b, enum fcgi_type type, uint16_t request);
/* Adds the begin of a request to a responder; <keep>: the application leaves the connection open
 * after it.
 */
void fcgi_add_begin_request(struct strbuf *b, uint16_t request, bool keep);
/* Adds a query for the values that fcgi_values_read() reads. */
void fcgi_add_get_values(struct strbuf *b);
/* Adds a name and its value, for PARAMS and GET_VALUES. */
void fcgi_add_param(struct strbuf *b, struct slice name, struct slice value);
/* Makes room for a name and its value; the caller writes both to the returned address, the value
 * after the name. NULL: out of memory.
 */
char *fcgi_add_param_room(struct strbuf *b, size_t name_len, size_t value_len);

/* --- reading ---------------------------------------------------------------------------------- */

enum fcgi_result { FCGI_TAKEN, FCGI_MORE, FCGI_INVALID };

/* Reads the header at the start of *in. FCGI_INVALID: another version. */
enum fcgi_result fcgi_head_take(struct slice *in, struct fcgi_head *out);
/* Reads a name and its value. False: incomplete; *in is unchanged. */
bool fcgi_param_take(struct slice *in, struct slice *name, struct slice *value);

struct fcgi_request_end {
	uint32_t app_status;
	uint8_t protocol_status; /* enum fcgi_protocol_status, or an unknown one */
};

/* Reads the content of an END_REQUEST. False: too short. */
bool fcgi_request_end_read(struct slice content, struct fcgi_request_end *out);

struct fcgi_values {
	bool has_max_reqs, has_mpxs_conns;
	bool mpxs_conns;
	uint32_t max_reqs;       /* at a time on one connection; at least 1 */
};

/* Reads the content of a GET_VALUES_RESULT. Ignores names that were not asked for, and values that
 * are not numbers. False: it does not consist of names and values.
 */
bool fcgi_values_read(struct slice content, struct fcgi_values *out);

#endif
