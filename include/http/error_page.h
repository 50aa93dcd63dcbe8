/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* error_page.h - responses to requests that cannot be served
 *
 * A page is a whole response: head and body, for one status of the table below. The configuration
 * replaces built-in pages per proxy (errorfile, errorloc, errorfiles) or in groups (section
 * http-errors). A page may be silent (an empty file): then nothing is sent and the connection is
 * closed. Pages are parsed when the configuration is read. Sending a page copies only its field
 * list, so that rules may edit the head.
 * Owns   : pages live in the configuration's arena; built-in pages are constants.
 * Threads: immutable after the check phase; any thread.
 * Fails  : filling a head fails when out of memory.
 * Manual : configuration 4.2 errorfile, errorfiles, errorloc, errorloc302, errorloc303; 12.4.
 */
#ifndef HTTP_ERROR_PAGE_H
#define HTTP_ERROR_PAGE_H

#include <stdbool.h>
#include "base/module.h"
#include "base/slice.h"
#include "base/slot.h"
#include "http/msg.h"

struct config;

/* X(status, "reason", "body", flags): the statuses that have a page, and the built-in pages. */
#define HTTP_PAGES(X) \
	X(200, "OK", "Service ready.", 0) \
	X(400, "Bad request", "Your browser sent an invalid request.", HTTP_MSG_CONN_CLOSE) \
	X(401, "Unauthorized", \
	  "You need a valid user and password to access this content.", 0) \
	X(403, "Forbidden", "Request forbidden by administrative rules.", 0) \
	X(404, "Not Found", "The resource could not be found.", 0) \
	X(405, "Method Not Allowed", "A request was made of a resource using a request method " \
	  "not supported by that resource.", 0) \
	X(407, "Unauthorized", \
	  "You need a valid user and password to access this content.", 0) \
	X(408, "Request Time-out", \
	  "Your browser didn't send a complete request in time.", HTTP_MSG_CONN_CLOSE) \
	X(410, "Gone", \
	  "The resource is no longer available and will not be available again.", 0) \
	X(413, "Payload Too Large", "The request entity exceeds the maximum allowed.", 0) \
	X(414, "URI Too Long", "The URI provided was too long for the server to process.", 0) \
	X(421, "Misdirected Request", "Request sent to a non-authoritative server.", 0) \
	X(422, "Unprocessable Content", \
	  "The server cannot process the contained instructions.", 0) \
	X(425, "Too Early", "Your browser sent early data.", 0) \
	X(429, "Too Many Requests", \
	  "You have sent too many requests in a given amount of time.", 0) \
	X(431, "Request Header Fields Too Large", "Request Header Fields Too Large.", 0) \
	X(500, "Internal Server Error", "An internal server error occurred.", 0) \
	X(501, "Not Implemented", \
	  "The server does not support the functionality required to fulfill the request.", 0) \
	X(502, "Bad Gateway", "The server returned an invalid or incomplete response.", 0) \
	X(503, "Service Unavailable", "No server is available to handle this request.", 0) \
	X(504, "Gateway Time-out", "The server didn't respond in time.", 0)

enum http_page_index {
#define X(status, reason, body, flags) HTTP_PAGE_##status,
	HTTP_PAGES(X)
#undef X
	HTTP_PAGE_COUNT
};

struct http_page {
	uint16_t status;      /* of its start line: a file may have another status */
	uint8_t version;      /* 10, 11 */
	uint8_t body_kind;    /* enum http_body: LENGTH, or CLOSE if the page gives no length */
	unsigned flags;       /* enum http_msg_flags */
	bool silent;          /* nothing is sent */
	struct slice reason;
	const struct h1_field *fields; /* without Connection, which the flags stand for */
	unsigned field_count;
	struct slice body;
};

/* Returns the index of a status in the table, or -1. */
int http_page_index(unsigned status);
/* Returns the built-in page of a status, or that of 500. */
const struct http_page *http_page_builtin(unsigned status);
/* Returns the page that a proxy's configuration sets, or NULL. <proxy_slots> may be NULL. */
const struct http_page *http_page_custom(const struct slot_area *proxy_slots, unsigned status);
/* Returns the page of a group (section http-errors), or NULL. *found: does the group exist? */
const struct http_page *http_page_of_group(const struct config *cfg, const char *group,
					   unsigned status, bool *found);
/* Returns the page in force: the backend's, else the frontend's, else the built-in one. Both
 * arguments may be NULL.
 */
const struct http_page *http_page_find(const struct slot_area *backend,
				       const struct slot_area *frontend, unsigned status);

/* Fills <head>, initialised by the caller, and *body (valid as long as the configuration). False:
 * nothing to send, since the page is silent or memory is out: close.
 */
bool http_page_fill(const struct http_page *page, struct http_msg *head, struct slice *body);
/* As http_page_find() and http_page_fill() together, for muxes. <proxy_slots>: the frontend's, may
 * be NULL.
 */
bool http_error_page(const struct slot_area *proxy_slots, unsigned status, struct http_msg *head,
		     struct slice *body);

/* Parses a whole raw response into a page, allocated in the arena of <cfg>. NULL: *error (static or
 * in that arena) tells why. An empty text gives a silent page.
 */
struct http_page *http_page_parse(struct config *cfg, struct slice raw, const char **error);
/* As http_page_parse(), from the file <path>. */
struct http_page *http_page_load(struct config *cfg, const char *path, const char **error);
/* Creates a redirection to <location>, which must live as long as <cfg>. NULL: out of memory. */
struct http_page *http_page_redirect(struct config *cfg, unsigned status, struct slice location);

/* For directives in a line of a proxy: set the page of an index (NULL: the default one), or take
 * the page from a section http-errors. False: reported.
 */
struct conf_line;
bool http_page_set(struct conf_line *l, int index, const struct http_page *page);
bool http_page_import(struct conf_line *l, int index, const char *group);
/* Returns a mark that changes each time a directive sets the page of this index; NULL: none did. */
const void *http_page_mark(const struct slot_area *proxy_slots, int index);

extern const struct module mod_http_error_page;

#endif
