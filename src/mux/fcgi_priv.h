/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcgi_priv.h - what the files of the FastCGI mux share */
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
	FCGI_FL_BUSY = 1 << 0,       /* a function of ours is below on the stack: do not free */
	FCGI_FL_DEAD = 1 << 1,       /* to be freed when no longer busy */
	FCGI_FL_CONNECTED = 1 << 2,  /* the streams were told */
	FCGI_FL_STOP = 1 << 3,       /* no further request; it closes behind those on their way */
	FCGI_FL_BROKEN = 1 << 4,     /* nothing goes any more */
	FCGI_FL_ASKED = 1 << 5,      /* GET_VALUES was sent */
	FCGI_FL_WAITS = 1 << 6,      /* and its answer is waited for */
	FCGI_FL_IN_RECORD = 1 << 7,  /* <record> has begun */
	FCGI_FL_IN_TEXT = 1 << 8,    /* what it says as a whole was not looked at yet */
};

struct fcgi_conn {
	struct mux mux;
	struct conn *conn;
	const struct back_user *user;
	void *owner;
	const struct mux_settings *settings;
	struct list streams;         /* struct fcgi_stream.link, also those that were left */
	unsigned live;               /* with an endpoint */
	unsigned active;             /* begun, not ended by the application */
	unsigned given_up;           /* those of them that we aborted */
	unsigned max;                /* requests at once */
	uint32_t next_id;            /* above UINT16_MAX: none is left */
	uint32_t flags;              /* enum fcgi_conn_flags */
	struct wire_in in;
	struct fcgi_head record;     /* the one being received */
	uint32_t left;               /* bytes of its content to come, then <padding> */
	uint32_t padding;
	struct fcgi_stream *stream;  /* that it is for; NULL: none */
	struct strbuf text;          /* its content, where it means something as a whole */
	struct block_queue out;      /* records not sent yet */
	struct list resume;          /* the thread's list of those to go on with */
};

enum fcgi_stream_flags {
	FCGIS_FL_BEGUN = 1 << 0,     /* BEGIN_REQUEST was sent */
	FCGIS_FL_TX_END = 1 << 1,    /* the end of STDIN, too */
	FCGIS_FL_HEAD = 1 << 2,      /* the answer's head was received */
	FCGIS_FL_RX_END = 1 << 3,    /* all of the answer, or it failed */
	FCGIS_FL_ENDED = 1 << 4,     /* END_REQUEST was received */
	FCGIS_FL_NO_BODY = 1 << 5,   /* bytes of a body are thrown away */
	FCGIS_FL_WAKE = 1 << 6,      /* to be woken */
	FCGIS_FL_TO_HEAD = 1 << 7,   /* the request is a HEAD */
	FCGIS_FL_CHUNKED = 1 << 8,   /* the application has put its body into chunks */
	FCGIS_FL_LAST_CHUNK = 1 << 9, /* the last of which came */
	FCGIS_FL_GIVEN_UP = 1 << 10,
	FCGIS_FL_OLD = 1 << 11,      /* the request is of HTTP/1.0 */
};

struct fcgi_stream {
	struct list link;
	struct fcgi_conn *conn;
	struct endpoint *ep;         /* NULL: left; the number is still in use */
	uint16_t id;                 /* 0: not begun */
	uint16_t flags;              /* enum fcgi_stream_flags */
	struct block *head;          /* bytes of the answer's head, while it comes; or NULL */
	uint64_t left;               /* bytes of the body to come; UINT64_MAX: not known */
	struct chunk_decoder chunk;
};

/* --- fcgi.c */

/* Marks <s>, to be woken when the bytes that are there are read. */
static inline void fcgis_wake(struct fcgi_stream *s)
{
	s->flags |= FCGIS_FL_WAKE;
}

void fcgis_free(struct fcgi_stream *s);
/* All of the answer came; what else does, up to the end of the request, means nothing. */
void fcgis_whole(struct fcgi_stream *s);
/* The end of an answer: it is whole, or shorter than announced. */
void fcgis_stdout_ended(struct fcgi_stream *s);
/* Has all of a body come whose length was announced? */
static inline bool fcgis_has_body(const struct fcgi_stream *s)
{
	return s->flags & FCGIS_FL_HEAD && !s->left;
}
/* Nothing more comes for <s>: <flags> for its endpoint say why. */
void fcgis_fail(struct fcgi_stream *s, uint32_t flags, const char *text);
/* Requests that waited for their turn begin. */
void fcgi_begin_pending(struct fcgi_conn *h);
/* Reads what is there. */
void fcgi_read(struct fcgi_conn *h);
/* Goes on with this connection on the next turn of the loop. */
void fcgi_resume_later(struct fcgi_conn *h);
/* The connection is of no use any more: all streams are told. */
void fcgi_break(struct fcgi_conn *h, uint32_t flags, const char *text);

/* --- fcgi_send.c */

/* Makes records of what the endpoint has and sends them; keeps EP_TX_* up to date. */
void fcgi_send(struct fcgi_stream *s);
/* Sends <out>. */
void fcgi_flush(struct fcgi_conn *h);
void fcgi_send_abort(struct fcgi_stream *s);

/* --- fcgi_head.c */

/* Bytes of stdout before the end of the head: returns how many were used, at least 1. */
size_t fcgi_take_head(struct fcgi_stream *s, struct slice bytes);

#endif
