/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cgi.h - requests as CGI/1.1 applications see them, and answers as they give them
 *
 * A request becomes parameters: its fields (HTTP_...), then those that were set on purpose, then
 * those that every application expects and that were not set. An answer is a head without a status
 * line, whose fields Status and Location say what the line would.
 * Pure: no state; what is read is borrowed. Any thread.
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
	struct slice name;         /* as cgi_add_name() makes it */
	struct slice value;
};

struct cgi_request {
	const struct http_msg *head;
	struct slice docroot;
	/* what cgi_add_fixed() makes of docroot and software, where none of it was set; or none */
	struct slice fixed;
	struct slice index;        /* what is meant by a script that ends with '/'; empty: itself */
	struct slice script;       /* the decoded path, or the part of it that names the script */
	struct slice path_info;    /* the part behind; empty: none */
	struct slice software;
	struct slice server, client; /* addresses; empty: unknown */
	uint16_t server_port, client_port; /* 0: unknown */
	bool https;
	uint64_t body_len;         /* of a request that does not say it itself */
	const struct cgi_param *set;
	unsigned set_count;
};

/* The name of a parameter: letters in upper case, '_' for what is neither letter nor digit. */
void cgi_add_name(struct strbuf *out, struct slice name);
/* The path without its escapes. False: one is broken, or the path is none: <out> is of no use. */
bool cgi_add_path(struct strbuf *out, struct slice path);

/* Adds the parameters of <r> as FastCGI writes them (codec/fcgi.h). Fields that forge a variable of
 * the environment of programs ("Proxy") are left out, those that are not meant for the application
 * must have been taken out. No memory leaves b->overflow.
 */
void cgi_add_params(struct strbuf *b, const struct cgi_request *r);
/* Is it the name of a parameter that cgi_add_fixed() adds? */
bool cgi_is_fixed(struct slice name);
/* Adds those parameters that are the same for all requests of an application. */
void cgi_add_fixed(struct strbuf *b, struct slice docroot, struct slice software);

/* Makes a full head of <answer>, whose line says 200: takes Status out and gives it its effect; one
 * without Status that has a Location is a 302. False: no memory, or the status is none of a final
 * answer.
 */
bool cgi_answer_finish(struct http_msg *answer);

#endif
