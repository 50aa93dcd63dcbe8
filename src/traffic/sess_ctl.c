/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sess_ctl.c - edge file: show sess, shutdown session, shutdown sessions server
 *
 * Streams are examined and ended by their own threads, through a tour: a message passed from thread
 * to thread. To list streams, a thread is left as soon as there is a batch of text; the tour then
 * comes home, the text is sent, and it continues after the last stream that it has seen (their
 * serials grow along the thread's list). Streams that began after the tour reached their thread are
 * not shown, so the listing ends. The session that requested it may end while its tour is away: the
 * tour then frees itself at home.
 */
#include <stdlib.h>
#include "base/clock.h"
#include "base/module.h"
#include "base/num.h"
#include "conf/conf.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "ctl/ctl.h"
#include "net/ctl_socket.h"
#include "stream/sess_dump.h"
#include "stream/stream.h"

#define BATCH_TEXT 32768 /* bytes */

enum sess_job { SESS_SHOW, SESS_KILL };

struct sess_tour {
	struct message message;
	struct ctl_session *session; /* NULL: it has gone meanwhile */
	struct config *config;       /* counted: keeps what the filters name */
	enum sess_job job;
	bool away;                   /* the message is under way */
	bool full, uri, suspicious;
	uint32_t anon;               /* see struct sess_view */
	unsigned home;               /* the thread of the session */
	unsigned thread;             /* which to look at next */
	uint64_t after;              /* on that thread: the last serial seen */
	uint64_t last;               /* same: the newest when the tour came; 0: not yet there */
	uint64_t older_ns;
	uintptr_t id;                /* only this one; 0: all */
	const struct proxy_state *fe, *be;    /* borrowed of <config>, NULL: any */
	struct server_state *server;  /* counted; NULL: any */
	unsigned found;
	struct strbuf lines;
};

/* --- on each thread --------------------------------------------------------------------------- */

/* No deadline although a side has failed or left: nothing would ever end it. */
static bool is_suspicious(const struct stream *s)
{
	return !s->front.ops || (!timer_is_set(&s->timer) &&
				 (s->front.flags | s->back.flags) & (EP_ERROR | EP_RX_ABORT));
}

static bool is_old(const struct sess_tour *t, uint64_t since_ns)
{
	return !t->older_ns || clock_now_ns() - since_ns >= t->older_ns;
}

static bool matches(const struct sess_tour *t, const struct stream *s)
{
	if (t->id && t->id != (uintptr_t)s)
		return false;
	if (t->fe && s->fe->state != t->fe)
		return false;
	if (t->be && s->be->state != t->be)
		return false;
	if (t->server && (!s->server || s->server->state != t->server))
		return false;
	return is_old(t, s->t.begin) && (!t->suspicious || is_suspicious(s));
}

static struct sess_view view_of(struct sess_tour *t)
{
	return (struct sess_view){ .out = &t->lines, .uri = t->uri, .anon = t->anon };
}

static void visit_stream(struct sess_tour *t, struct stream *s)
{
	const struct sess_view view = view_of(t);

	t->found++;
	if (t->job == SESS_KILL)
		stream_kill(s, END_KILLED);
	else if (t->full)
		sess_dump_full(s, &view);
	else
		sess_dump_line(s, &view);
}

static void visit_ctl(void *ctx, const struct ctl_connection_info *info)
{
	struct sess_tour *t = ctx;
	const struct sess_view view = view_of(t);

	if ((t->id && t->id != (uintptr_t)info->id) || !is_old(t, info->since_ns))
		return;
	t->found++;
	sess_dump_ctl(info, &view, t->full);
}

/* Connections of the Runtime API have no proxy that could be asked for. */
static void visit_ctls(struct sess_tour *t)
{
	if (t->fe || t->be || t->server || t->suspicious)
		return;
	if (t->job == SESS_SHOW)
		ctl_connections_visit(visit_ctl, t);
	else if (t->id && ctl_connection_kill((const void *)t->id))
		t->found++;
}

/* Goes on with this thread's streams. False: the batch is full, some are left. */
static bool visit_thread(struct sess_tour *t)
{
	struct stream *s, *next;

	if (!t->last) {
		t->last = stream_last_serial();
		visit_ctls(t);
	}
	/* a stream that is killed takes no other one with it: <next> stays */
	list_for_each_safe(s, next, &stream_list_of_thread, thread_link) {
		if (s->id.on_thread > t->last)
			break;
		if (s->id.on_thread <= t->after)
			continue;
		if (t->lines.len >= BATCH_TEXT)
			return false;
		t->after = s->id.on_thread;
		if (matches(t, s))
			visit_stream(t, s);
	}
	return true;
}

/* (it may be removed meanwhile, and another one made in its place) */
static void want_server(struct sess_tour *t, const struct server *srv)
{
	if (t->server)
		server_state_drop(&t->server);
	t->server = server_state_take(srv->state);
}

static void tour_free(struct sess_tour *t)
{
	if (t->server)
		server_state_drop(&t->server);
	config_drop(&t->config);
	strbuf_fini(&t->lines);
	free(t);
}

static void tour_home(struct message *m)
{
	struct sess_tour *t = (struct sess_tour *)m;

	t->away = false;
	if (t->session)
		ctl_session_resume(t->session);
	else
		tour_free(t);
}

static void tour_visit(struct message *m)
{
	struct sess_tour *t = (struct sess_tour *)m;

	if (visit_thread(t)) {
		t->thread++;
		t->after = t->last = 0;
		/* one thread a batch is enough once there is text */
		if (t->thread < thread_count() && t->lines.len < BATCH_TEXT) {
			mailbox_post(t->thread, m);
			return;
		}
	}
	m->run = tour_home;
	mailbox_post(t->home, m);
}

/* --- on the session's thread ------------------------------------------------------------------ */

static struct sess_tour *tour_new(struct ctl_request *rq, enum sess_job job)
{
	struct sess_tour *t = calloc(1, sizeof(*t));

	if (!t) {
		ctl_error(rq, "Out of memory.");
		return NULL;
	}
	t->session = rq->session;
	t->anon = ctl_anon_key(rq);
	t->config = config_take(proxies_current());
	t->job = job;
	t->home = thread_id;
	strbuf_init(&t->lines);
	rq->state = t;
	return t;
}

static void release_tour(struct ctl_request *rq)
{
	struct sess_tour *t = rq->state;

	if (!t)
		return;
	rq->state = NULL;
	t->session = NULL;
	if (!t->away)
		tour_free(t); /* else tour_home() does */
}

/* Sends the tour out, unless it has been everywhere. */
static enum ctl_step tour_go(struct sess_tour *t)
{
	if (t->thread == thread_count())
		return CTL_DONE;
	t->away = true;
	t->message.run = tour_visit;
	mailbox_post(t->thread, &t->message);
	return CTL_WAIT;
}

/* --- show sess -------------------------------------------------------------------------------- */

static void show_usage(struct ctl_request *rq)
{
	ctl_begin(rq, CTL_ERR);
	strbuf_add_str(rq->out,
		"Usage: show sess [<id> | all | help] [<options>*]\n"
		"Lists the streams that exist now, one per line. Which ones, and how:\n"
		"   <id>         only this one (0x...), in the long form\n"
		"   all          all, in the long form\n"
		"   susp         those that look stuck, in the long form\n"
		"   help         this text\n"
		"Options:\n"
		"   show-uri     with the request line, where there is one\n"
		"   older <age>  only those which are at least this old (seconds)\n"
		"   server <b/s> only those of this server\n"
		"   backend <b>  only those of this backend\n"
		"   frontend <f> only those of this frontend\n");
}

/* "30", "5m": *ns. */
static bool parse_age(const char *word, uint64_t *ns)
{
	uint64_t us;

	if (num_parse_time(slice_of(word), NUM_SEC, &us, NULL) != NUM_OK)
		return false;
	*ns = us * 1000;
	return true;
}

static bool take_proxy(struct ctl_request *rq, const char *name, unsigned caps,
		       const struct proxy_state **state)
{
	const struct proxy *px = name ? proxy_find(proxies_current(), name, caps) : NULL;

	if (px)
		*state = px->state;
	else if (caps == PROXY_FE)
		ctl_error(rq, name ? "No such frontend." : "Expects a frontend name.");
	else
		ctl_error(rq, name ? "No such backend." : "Expects a backend name.");
	return px != NULL;
}

/* One option and its value, from words[*at] on. False: reported. */
static bool parse_option(struct ctl_request *rq, struct sess_tour *t, int *at)
{
	const char *word = rq->words[(*at)++];
	const struct server *srv;
	const char *error = NULL;

	if (strcmp(word, "show-uri") == 0)
		return t->uri = true;
	if (strcmp(word, "older") == 0) {
		if (*at >= rq->count)
			ctl_error(rq, "Expects a minimum age (in seconds by default).");
		else if (parse_age(rq->words[(*at)++], &t->older_ns))
			return true;
		else
			ctl_error(rq, "Invalid age.");
		return false;
	}
	if (strcmp(word, "frontend") == 0)
		return take_proxy(rq, rq->words[*at], PROXY_FE, &t->fe) && (*at)++;
	if (strcmp(word, "backend") == 0)
		return take_proxy(rq, rq->words[*at], PROXY_BE, &t->be) && (*at)++;
	if (strcmp(word, "server") == 0) {
		srv = server_find_path(t->config, rq->words[*at], &error);
		if (!srv) {
			ctl_error(rq, "%s", error);
			return false;
		}
		want_server(t, srv);
		(*at)++;
		return true;
	}
	ctl_error(rq, "Unsupported option '%s', try 'help' for more info.", word);
	return false;
}

/* The whole of `show sess`'s words; false: answered already. */
static bool parse_show(struct ctl_request *rq, struct sess_tour *t)
{
	const char *word = rq->words[rq->at];
	int at = rq->at;

	if (word && strcmp(word, "help") == 0) {
		show_usage(rq);
		return false;
	}
	t->full = word && (strcmp(word, "all") == 0 || strcmp(word, "susp") == 0);
	if (t->full) {
		t->suspicious = *word == 's';
		at++;
	} else if (word && strcmp(word, "older") == 0) {
		t->full = true; /* as the reference does when it comes first */
	} else if (word && ascii_is_digit(*word)) {
		t->id = (uintptr_t)strtoull(word, NULL, 0);
		if (t->id) {
			t->full = true;
			at++;
		}
	}
	while (at < rq->count)
		if (!parse_option(rq, t, &at))
			return false;
	return true;
}

static enum ctl_step show_sess(struct ctl_request *rq)
{
	struct sess_tour *t = rq->state;
	enum ctl_step step;

	if (!t) {
		t = tour_new(rq, SESS_SHOW);
		if (!t || !parse_show(rq, t))
			return CTL_DONE;
		return tour_go(t);
	}
	if (rq->out->len >= CTL_OUT_SOFT)
		return CTL_MORE;
	strbuf_add(rq->out, strbuf_slice(&t->lines));
	strbuf_reset(&t->lines);
	step = tour_go(t);
	if (step == CTL_DONE && t->id && !t->found)
		strbuf_add_str(rq->out, "Session not found.\n"); /* (without a severity) */
	return step;
}

/* --- shutdown --------------------------------------------------------------------------------- */

static enum ctl_step shutdown_session(struct ctl_request *rq)
{
	struct sess_tour *t = rq->state;
	enum ctl_step step;

	if (!t) {
		uintptr_t id = rq->at < rq->count ?
			       (uintptr_t)strtoull(rq->words[rq->at], NULL, 0) : 0;

		if (!id) {
			ctl_error(rq, "Session pointer expected (use 'show sess').");
			return CTL_DONE;
		}
		t = tour_new(rq, SESS_KILL);
		if (!t)
			return CTL_DONE;
		t->id = id;
		return tour_go(t);
	}
	step = tour_go(t);
	if (step == CTL_DONE && !t->found)
		ctl_error(rq, "No such session (use 'show sess').");
	return step;
}

static enum ctl_step shutdown_server(struct ctl_request *rq)
{
	struct sess_tour *t = rq->state;
	const struct server *srv;
	const char *error = NULL;

	if (t)
		return tour_go(t);
	srv = server_find_path(proxies_current(), rq->words[rq->at], &error);
	if (!srv) {
		ctl_error(rq, "%s", error);
		return CTL_DONE;
	}
	t = tour_new(rq, SESS_KILL);
	if (!t)
		return CTL_DONE;
	want_server(t, srv);
	return tour_go(t);
}

static const struct ctl_command commands[] = {
	{ .words = "show sess", .level = CTL_OPERATOR,
	  .syntax = "[<id>|all|help] [<options>*]",
	  .help = "list the streams that exist now", .run = show_sess, .release = release_tour },
	{ .words = "shutdown session", .level = CTL_ADMIN, .syntax = "<id>",
	  .help = "end one stream", .run = shutdown_session, .release = release_tour },
	{ .words = "shutdown sessions server", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "end all streams of a server", .run = shutdown_server,
	  .release = release_tour },
	{ 0 }
};

const struct module mod_sess_ctl = { .name = "sess_ctl", .commands = commands };
