/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* persist.h - persistence: cookies, use-server, and exceptions to both
 *
 * Purpose: determines which server a request belongs to before balancing is asked, and maintains
 *          the cookie that says so: it is found in and removed from requests, and inserted,
 *          rewritten or removed in responses.
 * Owns   : settings belong to the generation; the findings of a stream are in its slot.
 * Threads: the stream's. The key of dynamic cookies may be changed from any thread.
 * Fails  : out of memory: the cookie is left as it is, and a stream whose server is unknown is
 *          balanced.
 * Manual : cookie, dynamic-cookie-key, force-persist, ignore-persist, persist rdp-cookie,
 *          option persist, use-server; cookie (server); 8.5 for the letters of logs.
 */
#ifndef STREAM_PERSIST_H
#define STREAM_PERSIST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"
#include "base/slot.h"

struct condition;
struct expr;
struct proxy;
struct server;
struct stream;

#define PERSIST_KEY_MAX 256

/* X(name, word of the `cookie` line) */
#define COOKIE_OPTIONS(X) \
	X(REWRITE, "rewrite") X(INSERT, "insert") X(PREFIX, "prefix") X(INDIRECT, "indirect") \
	X(NOCACHE, "nocache") X(POSTONLY, "postonly") X(PRESERVE, "preserve") \
	X(HTTPONLY, "httponly") X(SECURE, "secure") X(DYNAMIC, "dynamic")
#define X(name, text) COOKIE_AT_##name,
enum cookie_option_at { COOKIE_OPTIONS(X) COOKIE_OPTION_COUNT };
#undef X
#define X(name, text) COOKIE_##name = 1 << COOKIE_AT_##name,
enum cookie_option { COOKIE_OPTIONS(X) };
#undef X

/* force-persist, ignore-persist */
struct persist_rule {
	struct persist_rule *next;
	const struct condition *condition;
	bool force;
};

/* Settings of a backend. */
struct persist_proxy {
	struct slice cookie;             /* its name; slice_none(): none */
	unsigned options;                /* enum cookie_option */
	int64_t max_idle_s, max_life_s;  /* 0: no limit */
	const char *domains, *attributes;/* "; domain=a; domain=b"; NULL: none */
	const char *key;                 /* atomic: of dynamic cookies; NULL: none */
	char *own_key;                   /* owned: the key that was set at run time */
	unsigned is_dynamic;             /* atomic bool: dynamic cookies are in use */
	struct persist_rule *first, *last;
	const struct expr *rdp_cookie;   /* persist rdp-cookie; or NULL */
};

/* Findings of one stream. */
struct persist {
	struct server *wanted;   /* the server that the request belongs to; or NULL */
	char request, response;  /* letters of the log; 0: not looked at */
	bool by_cookie;          /* <wanted> comes from the cookie (or RDP cookie) */
	bool by_rule;            /* a use-server rule has chosen */
	bool forced;             /* force-persist: the server's state does not matter */
	bool ignored;            /* ignore-persist */
	uint32_t last, first;    /* dates of the cookie in units of 4 s; 0: none */
};

extern struct slot persist_proxy_slot, persist_stream_slot;

/* Returns the settings of a backend. */
struct persist_proxy *persist_of_proxy(const struct proxy *px);

/* Finds out which server the request wants, and removes from it what the server must not see. Call
 * once, after the rules of the request.
 */
void persist_request(struct stream *s);
/* Has <be> a line for persist_request() or persist_response() to act on, other than use-server and
 * stick tables?
 */
bool persist_may_act(const struct proxy *be);
/* Returns the server that the request must go to now. NULL: it wants none, or one that may not be
 * used (the termination letters then say so).
 */
struct server *persist_server(struct stream *s);
/* Calls server_see() for the wanted server. */
void persist_see(const struct stream *s);
/* Returns the cookie value for <srv>: a text of the configuration, or one computed in <room>. NULL:
 * it has none. Any thread.
 */
const char *persist_server_cookie_text(const struct server *srv, char room[17]);
/* The server was left: the next try may go to another one. */
void persist_left(struct stream *s);
/* The next try goes to another server (the termination letters then say so). */
void persist_moved(struct stream *s);
/* Must the stream stay with its server, whatever happens? */
bool persist_is_forced(const struct stream *s);
/* Edits the cookies of the response. Call once, after the rules of the response. */
void persist_response(struct stream *s);
/* Returns the last two letters of the termination state (%tsc). */
void persist_letters(const struct stream *s, char letters[2]);

#endif
