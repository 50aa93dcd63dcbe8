/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cgi.h - converts requests for CGI/1.1 applications, and their responses
 *
 * A request becomes parameters: its fields (HTTP_...), then those that the configuration sets, then
 * those that every application expects and that were not set. A response is a head without a status
 * line; its fields Status and Location replace the status line.
 * Pure: no state; input is borrowed. Any thread.
 * Errors: see each function.
 * Source: RFC 3875 4.1, 6.2, 6.3; manual, configuration 10.2
 */
#ifndef HTTP_CGI_H
#define HTTP_CGI_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"
#include "base/strbuf.h"

struct http_msg;

struct cgi_param {
	struct slice name;         /* as cgi_add_name() writes it */
	struct slice value;
};

struct cgi_request {
	const struct http_msg *head;
	struct slice docroot;
	/* output of cgi_add_fixed() for docroot and software, if none of it was set; or empty */
	struct slice fixed;
	struct slice index;        /* appended to a script that ends with '/'; empty: nothing */
	struct slice script;       /* the decoded path, or its part that names the script */
	struct slice path_info;    /* the part after the script; empty: none */
	struct slice software;
	struct slice server, client; /* addresses; empty: unknown */
	uint16_t server_port, client_port; /* 0: unknown */
	bool https;
	uint64_t body_len;         /* used for a request without a length of its own */
	const struct cgi_param *set;
	unsigned set_count;
};

/* Adds the name of a parameter: letters in upper case, '_' for all but letters and digits. */
void cgi_add_name(struct strbuf *out, struct slice name);
/* Adds the path with its escapes decoded. False: an escape is broken, or it is not a path; <out>
 * must not be used.
 */
bool cgi_add_path(struct strbuf *out, struct slice path);

/* Adds the parameters of <r> in FastCGI encoding (codec/fcgi.h). Fields that would forge an
 * environment variable ("Proxy") are omitted; the caller must have removed fields that are not
 * meant for the application. Out of memory sets b->overflow.
 */
void cgi_add_params(struct strbuf *b, const struct cgi_request *r);
/* Is it the name of a parameter that cgi_add_fixed() adds? */
bool cgi_is_fixed(struct slice name);
/* Adds the parameters that are the same for all requests of an application. */
void cgi_add_fixed(struct strbuf *b, struct slice docroot, struct slice software);

/* Completes the head of <answer>, whose status is 200: removes Status and applies it; without
 * Status but with a Location it becomes a 302. False: out of memory, or not the status of a final
 * response.
 */
bool cgi_answer_finish(struct http_msg *answer);

#endif
