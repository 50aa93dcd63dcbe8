/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mail.c - sends one mail by SMTP (RFC 5321)
 *
 *	step      waits for   then sends
 *	GREETING  220         HELO
 *	HELO      250         MAIL FROM
 *	FROM      250         RCPT TO
 *	TO        250         DATA
 *	DATA      354         the mail and "."
 *	MAIL      250         QUIT
 *	QUIT      221         nothing: it is over
 *
 * Any other answer, end of file, an error or a timeout ends it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/block.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "core/task.h"
#include "net/conn.h"
#include "net/dial.h"
#include "mail_priv.h"

#define MAILS_MAX 200

enum mail_step { MAIL_GREETING, MAIL_HELO, MAIL_FROM, MAIL_TO, MAIL_DATA, MAIL_MAIL, MAIL_QUIT,
		 MAIL_STEPS };

/* A mail under way. */
struct sending {
	struct list link;
	struct task *task;          /* its time */
	struct dial dial;
	struct conn *conn;          /* NULL: <dial> is at it */
	struct block_queue out;
	struct block *in;
	enum mail_step step;
	char *said[MAIL_STEPS];     /* what is sent when the step is done; owned */
};

static unsigned under_way;          /* atomic */
static __thread struct list own;    /* of this thread */
static __thread bool own_is_ready;

static void sending_free(struct sending *s)
{
	list_remove(&s->link);
	task_free(&s->task);
	dial_cancel(&s->dial);
	conn_close(&s->conn);
	block_queue_clear(&s->out);
	block_drop(s->in);
	for (unsigned i = 0; i < MAIL_STEPS; i++)
		free(s->said[i]);
	free(s);
	__atomic_sub_fetch(&under_way, 1, __ATOMIC_RELAXED);
}

void mail_thread_fini(void)
{
	while (own_is_ready && !list_is_empty(&own))
		sending_free(list_first(&own, struct sending, link));
}

/* --- the dialogue --------------------------------------------------------------------------- */

/* The code of a complete answer at the start of the input; 0: it is not there, -1: it is none. */
static int answer_code(const struct block *in)
{
	struct slice all = slice_make(in->data, in->used), line;
	size_t at = 0, end;

	while ((end = slice_find_char(all, at, '\n')) != SIZE_MAX) {
		line = slice_sub(all, at, end);
		if (line.len < 3 || !ascii_is_digit(line.ptr[0]) || !ascii_is_digit(line.ptr[1]) ||
		    !ascii_is_digit(line.ptr[2]))
			return -1;
		if (line.len == 3 || line.ptr[3] != '-')
			return (line.ptr[0] - '0') * 100 + (line.ptr[1] - '0') * 10 +
				line.ptr[2] - '0';
		at = end + 1;
	}
	return block_room(in) ? 0 : -1;
}

/* Answers as far as they have come. False: it is over. */
static bool go_on(struct sending *s)
{
	static const int wanted[] = { 220, 250, 250, 250, 354, 250, 221 };
	int code = answer_code(s->in);

	if (!code)
		return true;
	if (code != wanted[s->step] || s->step == MAIL_QUIT)
		return false;
	s->in->used = 0;
	if (!block_queue_add_static(&s->out, slice_of(s->said[s->step])))
		return false;
	s->step++;
	return conn_send(s->conn, &s->out, false) != IO_ERR;
}

static bool receive(struct sending *s)
{
	size_t got;

	if (!s->in)
		s->in = block_new();
	while (s->in && s->conn->flags & CONN_CAN_RECV && block_room(s->in)) {
		enum io r = conn_recv_block(s->conn, s->in, &got);

		if (r == IO_EOF || r == IO_ERR)
			return false;
		if (r == IO_AGAIN)
			break;
	}
	return s->in != NULL;
}

static void ready(struct conn *c)
{
	struct sending *s = c->owner;

	if (c->flags & CONN_ERROR || (s->out.len && conn_send(c, &s->out, false) == IO_ERR) ||
	    !receive(s) || !go_on(s))
		sending_free(s);
}

static void late(struct task *t, void *ctx, unsigned why)
{
	sending_free(ctx);
}

/* --- the texts ------------------------------------------------------------------------------ */

/* <text> without what would end a line. */
static void put_line(struct strbuf *b, const char *text)
{
	for (; *text; text++)
		if (*text != '\r' && *text != '\n')
			strbuf_add_char(b, *text);
}

static char *command(const char *before, const char *text, const char *after)
{
	struct strbuf b;

	strbuf_init(&b);
	strbuf_add_str(&b, before);
	put_line(&b, text);
	strbuf_add_str(&b, after);
	if (!b.overflow)
		return b.ptr;
	strbuf_fini(&b);
	return NULL;
}

static char *mail_text(const struct mail *m)
{
	time_t now = time(NULL);
	struct strbuf b;
	char date[64];
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(date, sizeof(date), "%a, %d %b %Y %T +0000 (UTC)", &tm);
	strbuf_init(&b);
	strbuf_add_str(&b, "From: ");
	put_line(&b, m->from);
	strbuf_add_str(&b, "\r\nTo: ");
	put_line(&b, m->to);
	strbuf_printf(&b, "\r\nDate: %s\r\nSubject: [HAProxy Alert] ", date);
	put_line(&b, m->text);
	strbuf_add_str(&b, "\r\n\r\n");
	put_line(&b, m->text);
	strbuf_add_str(&b, "\r\n\r\n.\r\n");
	if (!b.overflow)
		return b.ptr;
	strbuf_fini(&b);
	return NULL;
}

static bool fill(struct sending *s, const struct mail *m)
{
	s->said[MAIL_GREETING] = command("HELO ", m->hostname, "\r\n");
	s->said[MAIL_HELO] = command("MAIL FROM:<", m->from, ">\r\n");
	s->said[MAIL_FROM] = command("RCPT TO:<", m->to, ">\r\n");
	s->said[MAIL_TO] = strdup("DATA\r\n");
	s->said[MAIL_DATA] = mail_text(m);
	s->said[MAIL_MAIL] = strdup("QUIT\r\n");
	for (unsigned i = 0; i < MAIL_QUIT; i++)
		if (!s->said[i])
			return false;
	return true;
}

/* --- beginning ------------------------------------------------------------------------------ */

static const struct conn_ops ops = { .name = "mail", .ready = ready };

static void dialled(struct dial *d, struct conn *c, enum dial_result r)
{
	struct sending *s = container_of(d, struct sending, dial);

	s->conn = c;
	if (c)
		ready(c);
	else
		sending_free(s);
}

static bool open_connection(struct sending *s, const struct server_addr *to)
{
	struct dial_want want = { .to = &to->sa, .to_len = to->len };

	return dial_start(&s->dial, &want, 0, &ops, s) == DIAL_DONE;
}

void mail_send(const struct mail *m)
{
	struct sending *s;

	if (__atomic_add_fetch(&under_way, 1, __ATOMIC_RELAXED) > MAILS_MAX) {
		__atomic_sub_fetch(&under_way, 1, __ATOMIC_RELAXED);
		return;
	}
	if (!own_is_ready) {
		list_init(&own);
		own_is_ready = true;
	}
	s = calloc(1, sizeof(*s));
	if (s)
		s->task = task_new(late, s);
	if (!s || !s->task) {
		free(s);
		__atomic_sub_fetch(&under_way, 1, __ATOMIC_RELAXED);
		return;
	}
	list_append(&own, &s->link);
	dial_init(&s->dial, dialled);
	if (!fill(s, m) || !open_connection(s, &m->mailer->addr)) {
		sending_free(s);
		return;
	}
	task_schedule(s->task, clock_now_ms() + (uint64_t)m->timeout_ms);
}
