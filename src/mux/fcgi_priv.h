/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcgi_priv.h - shared by the files of the FastCGI mux */
#ifndef MUX_FCGI_PRIV_H
#define MUX_FCGI_PRIV_H

#include "base/bug.h"
#include "base/strbuf.h"
#include "codec/chunk.h"
#include "codec/fcgi.h"
#include "http/msg.h"
#include "mux/fcgi.h"
#include "mux/mux.h"
#include "wire_priv.h"

enum fcgi_conn_flags {
	FCGI_FL_BUSY = 1 << 0,       /* a function of ours is on the stack: do not free */
	FCGI_FL_DEAD = 1 << 1,       /* to be freed when no longer busy */
	FCGI_FL_CONNECTED = 1 << 2,  /* the streams were informed */
	FCGI_FL_STOP = 1 << 3,       /* no further request; closes after those in progress */
	FCGI_FL_BROKEN = 1 << 4,     /* nothing can be sent or received */
	FCGI_FL_ASKED = 1 << 5,      /* GET_VALUES was sent */
	FCGI_FL_WAITS = 1 << 6,      /* and its answer is awaited */
	FCGI_FL_IN_RECORD = 1 << 7,  /* <record> has begun */
	FCGI_FL_IN_TEXT = 1 << 8,    /* its content must be complete before it is parsed */
};

struct fcgi_conn {
	struct mux mux;
	struct conn *conn;
	const struct back_user *user;
	void *owner;
	const struct mux_settings *settings;
	struct list streams;         /* struct fcgi_stream.link, including streams that were left */
	unsigned live;               /* with an endpoint */
	unsigned active;             /* begun, not ended by the application */
	unsigned given_up;           /* of <active>: those that we aborted */
	unsigned max;                /* limit of concurrent requests */
	uint32_t next_id;            /* above UINT16_MAX: no id is left */
	uint32_t flags;              /* enum fcgi_conn_flags */
	struct wire_in in;
	struct fcgi_head record;     /* the one being received */
	uint32_t left;               /* bytes of its content to come, then <padding> */
	uint32_t padding;
	struct fcgi_stream *stream;  /* the stream it belongs to; NULL: none */
	struct strbuf text;          /* its content, if it must be complete to be parsed */
	struct block_queue out;      /* records not sent yet */
	struct list resume;          /* in the thread's list of connections to continue */
};

enum fcgi_stream_flags {
	FCGIS_FL_BEGUN = 1 << 0,     /* BEGIN_REQUEST was sent */
	FCGIS_FL_TX_END = 1 << 1,    /* and the end of STDIN */
	FCGIS_FL_HEAD = 1 << 2,      /* the response's head was received */
	FCGIS_FL_RX_END = 1 << 3,    /* the whole response, or it failed */
	FCGIS_FL_ENDED = 1 << 4,     /* END_REQUEST was received */
	FCGIS_FL_NO_BODY = 1 << 5,   /* body bytes are discarded */
	FCGIS_FL_WAKE = 1 << 6,      /* to be woken */
	FCGIS_FL_TO_HEAD = 1 << 7,   /* the request is a HEAD */
	FCGIS_FL_CHUNKED = 1 << 8,   /* the application has encoded its body in chunks */
	FCGIS_FL_LAST_CHUNK = 1 << 9, /* and the last chunk was received */
	FCGIS_FL_GIVEN_UP = 1 << 10,
	FCGIS_FL_OLD = 1 << 11,      /* the request is HTTP/1.0 */
};

struct fcgi_stream {
	struct list link;
	struct fcgi_conn *conn;
	struct endpoint *ep;         /* NULL: left; its id is still in use */
	uint16_t id;                 /* 0: not begun */
	uint16_t flags;              /* enum fcgi_stream_flags */
	struct block *head;          /* bytes of an incomplete response head; or NULL */
	uint64_t left;               /* body bytes to come; UINT64_MAX: unknown */
	struct chunk_decoder chunk;
};

/* --- fcgi.c */

/* Marks <s> to be woken when the available bytes were read. */
static inline void fcgis_wake(struct fcgi_stream *s)
{
	s->flags |= FCGIS_FL_WAKE;
}

void fcgis_free(struct fcgi_stream *s);
/* The whole response was received; further data of the request is ignored. */
void fcgis_whole(struct fcgi_stream *s);
/* The response ended: it is complete, or shorter than announced. */
void fcgis_stdout_ended(struct fcgi_stream *s);
/* Was the whole body of announced length received? */
static inline bool fcgis_has_body(const struct fcgi_stream *s)
{
	return s->flags & FCGIS_FL_HEAD && !s->left;
}
/* Ends the receiving side of <s>: <flags> for its endpoint say why. */
void fcgis_fail(struct fcgi_stream *s, uint32_t flags, const char *text);
/* Begins requests that were waiting for their turn. */
void fcgi_begin_pending(struct fcgi_conn *h);
/* Reads the available bytes. */
void fcgi_read(struct fcgi_conn *h);
/* Continues with this connection in the next turn of the loop. */
void fcgi_resume_later(struct fcgi_conn *h);
/* The connection is unusable: informs all streams. */
void fcgi_break(struct fcgi_conn *h, uint32_t flags, const char *text);

/* --- fcgi_send.c */

/* Encodes the endpoint's data as records and sends them; maintains EP_TX_*. */
void fcgi_send(struct fcgi_stream *s);
/* Sends <out>. */
void fcgi_flush(struct fcgi_conn *h);
void fcgi_send_abort(struct fcgi_stream *s);

/* --- fcgi_head.c */

/* Parses bytes of stdout before the end of the head; returns how many were used, at least 1. */
size_t fcgi_take_head(struct fcgi_stream *s, struct slice bytes);

#endif
