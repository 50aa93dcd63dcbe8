/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* front.h - the contract between a client's mux and the owner of its connection (the session)
 *
 * Purpose: one interface for all HTTP versions of clients: how a mux asks for a stream, reports
 *          bytes that are not a request, and reports its end.
 * Owns   : nothing. Settings are borrowed from the generation, which the session holds.
 * Threads: that of the connection.
 */
#ifndef MUX_FRONT_H
#define MUX_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"
#include "mux/endpoint.h"

struct block_queue;
struct config;
struct conn;
struct fcgi_peer;
struct h1_case;
struct h2_tunes;
struct mux_kind;
struct strbuf;

enum mux_options {
	MUX_OPT_UNSAFE = 1 << 0,       /* accept-unsafe-violations of this side */
	MUX_OPT_IGNORE_PROBES = 1 << 1,
	MUX_OPT_DROP_TRAILERS = 1 << 2,       /* trailers that are sent to this side */
	MUX_OPT_PRETEND_KEEP_ALIVE = 1 << 3,  /* back: close without announcing it */
	MUX_OPT_PROXY_HEADER = 1 << 4,        /* front: http-use-proxy-header */
	MUX_OPT_IDLE_CLOSE = 1 << 5,          /* front: idle-close-on-response */
	MUX_OPT_ANY_PAYLOAD = 1 << 6,         /* front: h1-accept-payload-with-any-method */
	MUX_OPT_LAX_FRAMING = 1 << 7, /* h1-do-not-close-on-insecure-transfer-encoding */
	MUX_OPT_ANSWERS = 1 << 8,     /* front: the owner may answer by itself, see answer() */
};

/* What a mux needs to know about its proxy. Must live as long as a connection uses it. */
struct mux_settings {
	int64_t request_ms;    /* time for a head to arrive; 0: <client_ms> limits it */
	int64_t keep_alive_ms; /* between requests; 0: <client_ms> limits it */
	int64_t client_ms;     /* inactivity; 0: no limit for any of these */
	unsigned options;      /* enum mux_options */
	unsigned fields_max;   /* tune.http.maxhdr */
	size_t head_max;       /* tune.bufsize - tune.maxrewrite */
	/* h1-case-adjust-bogus-*: the names; NULL: names are sent as they are */
	const struct h1_case *adjust;
	struct counter_set *counters; /* of the proxy; borrowed for as long; NULL: none */
	unsigned h1_counts, h2_counts; /* indexes in it of the first of H1_COUNTS and H2_COUNTS */
	unsigned quic_counts;          /* likewise, of QUIC_COUNTS (quic/counts.h) */
	const struct h2_tunes *h2;     /* from the global section */
	const struct fcgi_peer *fcgi;  /* back: the application behind the servers; NULL: none */
};

/* Returns the time in ms for a head to arrive; 0: no limit. */
static inline int64_t mux_request_ms(const struct mux_settings *set)
{
	return set->request_ms ? set->request_ms : set->client_ms;
}

/* Returns the time in ms between requests; 0: no limit. */
static inline int64_t mux_keep_alive_ms(const struct mux_settings *set)
{
	return set->keep_alive_ms ? set->keep_alive_ms : set->client_ms;
}

/* Why the received bytes are not a request. */
enum front_bad_kind {
	FRONT_BAD_SYNTAX, FRONT_BAD_TOO_LARGE, FRONT_BAD_ABORT, FRONT_BAD_TIMEOUT, FRONT_BAD_ERROR,
};

struct front_bad {
	enum front_bad_kind kind;
	int status;           /* status of the response; 0: none, as in HTTP/2 */
	const char *text;
	uint64_t since_ns;    /* when the first byte came; 0: none came */
	uint8_t version;      /* 11 or 20 */
	struct endpoint_bad details; /* received bytes, if any, for a capture */
};

/* A request that needs no stream if its owner has the response: a GET in HTTP/1.1, for a path,
 * without a body, on a persistent connection with nothing unsent.
 */
struct front_request {
	struct slice target;   /* borrowed */
	size_t length;         /* bytes of the head */
};

struct front_user {
	/* HTTP/1 with MUX_OPT_ANSWERS: adds the whole response to <out>, which is empty, and counts
	 * it. False: nothing was added, the request needs a stream.
	 */
	bool (*answer)(void *owner, const struct front_request *rq, struct block_queue *out);
	/* The head of a request is there or, in mode tcp, a connection. Returns the front endpoint
	 * of a new stream, with rx_head set in mode http. NULL (out of memory): the connection is
	 * closed. <since_ns>: when the first byte came; 0: not yet.
	 */
	struct endpoint *(*stream_new)(void *owner, uint64_t since_ns);
	/* Counts and logs the failure. Returns the page to send before closing (copied);
	 * slice_none(): close immediately.
	 */
	struct slice (*bad_request)(void *owner, const struct front_bad *bad);
	/* The connection's first bytes, <q>, are the preface of another protocol. The owner gives
	 * <c> and these bytes to the mux of that protocol, <kind>; the caller must then forget the
	 * connection. False: the caller keeps it and parses the bytes itself.
	 */
	bool (*preface)(void *owner, const struct mux_kind *kind, struct conn *c,
			struct block_queue *q);
	/* The connection is about to be closed and its mux freed: forget both. */
	void (*closed)(void *owner);
	/* The client did something that a well-behaved client does not do (h2.h). May be NULL. */
	void (*glitch)(void *owner);
	/* An HTTP/2 head came that is not a request; the connection may continue. May be NULL. */
	void (*refused)(void *owner);
	/* For `show fd`: " fe=<name>". */
	void (*describe)(const void *owner, struct strbuf *out);
	/* The client has sent its settings: requests may follow. True: the connection continues,
	 * maybe with another owner (front_take()) or as a connection to a server (front_reverse()).
	 * False: close it. HTTP/2 only. May be NULL.
	 */
	bool (*settled)(void *owner);
	/* Adds the facts of the session to <out>, for traces. May be NULL. */
	void (*trace)(const void *owner, struct trace_facts *out);
};

/* The owner of a connection, and how the connection is used. */
struct front_owner {
	const struct front_user *user;
	void *owner;                         /* passed to the callbacks of <user> */
	const struct mux_settings *settings; /* borrowed, must live as long as the connection */
	int64_t idle_ping_ms;                /* see mux_kind.set_settings() */
	/* we opened the connection: the mux must send its preface first */
	bool dialled;
};

#endif
