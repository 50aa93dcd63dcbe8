/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_ctl.c - edge file: show peers
 *
 * Each section is described by its home, one after the other.
 * Manual: management 9.3
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/addr.h"
#include "base/bug.h"
#include "base/clock.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "ctl/ctl.h"
#include "net/conn.h"
#include "peers_priv.h"

/* --- one section, on its home ----------------------------------------------------------------- */

struct tour {
	struct message message;
	struct ctl_session *session; /* NULL: the client has left */
	struct strbuf out;
	char *only;                  /* owned; NULL: all sections */
	struct peers *at;            /* where it is; NULL: it is over */
	unsigned home;               /* of the session */
	bool away, words;
};

/* "3s": how far a moment is, <PAST>, or <NEVER>. */
static void put_wait(struct strbuf *out, uint64_t at_ms, uint64_t now_ms)
{
	if (at_ms == TIMER_NEVER || !at_ms)
		strbuf_add_str(out, "<NEVER>");
	else if (at_ms <= now_ms)
		strbuf_add_str(out, "<PAST>");
	else
		strbuf_printf(out, "%" PRIu64 "s", (at_ms - now_ms) / 1000);
}

static const char *state_name(const struct peers_link *l)
{
	static const char *const names[] = {
		[LINK_DIALS] = "CONN", [LINK_ASKED] = "HSHK", [LINK_GREETED] = "ACCE",
		[LINK_UP] = "ESTA", [LINK_LEAVES] = "DISC",
	};

	return l ? names[l->state] : "NONE";
}

static const char *learn_name(const struct peer *peer)
{
	if (!peer->up)
		return "NOTASSIGNED";
	if (peer->up->asked)
		return "ASSIGNED";
	return peer->section->resync == RESYNC_DONE ? "FINISHED" : "NOTASSIGNED";
}

static void put_words(struct strbuf *out, const struct share *h, const struct peers_words *w,
		      bool sent)
{
	for (unsigned i = 0; w && i < PEERS_WORDS; i++) {
		struct slice text = slice_none();

		if (sent && w->all[i].of == h->shared)
			text = table_word_text(h->shared->state, w->all[i].word);
		else if (!sent && w->all[i].text)
			text = slice_of(w->all[i].text);
		if (slice_is_none(text))
			continue;
		strbuf_printf(out, "            %s %3u -> ", sent ? "tx" : "rx", i + 1);
		table_text_print(text, out);
		strbuf_add_char(out, '\n');
	}
}

static void put_share(struct strbuf *out, const struct tour *t, const struct peer *peer,
		      const struct share *h)
{
	const struct shared_table *s = h->shared;

	strbuf_printf(out, "          %p local_id=%u remote_id=%u flags=0x%x remote_data=0x%"
		      PRIx64 "\n", (const void *)h, s->definition.id,
		      h->is_defined ? h->theirs.id : 0, (unsigned)h->mode,
		      h->is_defined ? h->theirs.data : 0);
	strbuf_printf(out, "              last_acked=%u last_pushed=%u last_get=%u "
		      "teaching_origin=%u update=%u\n", h->acked, h->pushed, h->got, h->base,
		      s->number);
	strbuf_printf(out, "              table:%p id=%s update=%u localupdate=%u refcnt=1\n",
		      (const void *)s->state, s->table->name, table_state_changes(s->state),
		      s->number);
	if (!t->words) {
		strbuf_add_str(out, "        Dictionary cache not dumped (use \"show peers "
			       "dict\")\n");
		return;
	}
	strbuf_add_str(out, "        Dictionary cache:\n");
	put_words(out, h, peer->up ? peer->up->words_out : NULL, true);
	put_words(out, h, peer->up ? peer->up->words_in : NULL, false);
}

static void put_link(struct strbuf *out, const struct peers_link *l)
{
	strbuf_printf(out, " appctx:%p st0=%u st1=0 task_calls=%" PRIu64 " state=%s\n",
		      (const void *)l, (unsigned)l->state, l->calls,
		      l->conn && !(l->conn->flags & CONN_CONNECTING) ? "EST" : "CON");
	if (l->conn)
		strbuf_printf(out, "        xprt=%s\n", l->conn->transport->name);
	if (l->from)
		strbuf_printf(out, "        remote_table:%p id=%s local_id=%u remote_id=%u\n",
			      (const void *)l->from, l->from->shared->table->name,
			      l->from->shared->definition.id, l->from->theirs.id);
	if (l->to)
		strbuf_printf(out, "        last_local_table:%p id=%s local_id=%u remote_id=%u\n",
			      (const void *)l->to, l->to->shared->table->name,
			      l->to->shared->definition.id,
			      l->to->is_defined ? l->to->theirs.id : 0);
}

static void put_peer(struct strbuf *out, const struct tour *t, const struct peer *peer)
{
	uint64_t now_ms = clock_now_ms();
	const struct peers_link *l = peer->up;
	bool is_up = l && l->state == LINK_UP;
	struct addr at = { .family = ADDR_NONE };
	struct server_addr to;
	char place[ADDR_MAX];
	const struct share *h;

	if (peers_address(peer, &to))
		at = addr_from_sockaddr(&to.sa, to.len);
	addr_put(&at, place, sizeof(place));
	strbuf_printf(out, "  %p: id=%s(%s,%s) addr=%s app_state=%s learn_state=%s "
		      "last_status=%s last_hdshk=", (const void *)peer, peer->name,
		      peer->is_local ? "local" : "remote", l ? "active" : "inactive", place,
		      is_up ? "RUNNING" : l ? "STARTING" : "STOPPED", learn_name(peer),
		      state_name(l));
	if (peer->hello_ms)
		strbuf_printf(out, "%" PRIu64 "s", (now_ms - peer->hello_ms) / 1000);
	else
		strbuf_add_str(out, "<NEVER>");
	strbuf_add_str(out, "\n        reconnect=");
	put_wait(out, is_up ? l->heard_ms + PEERS_DEAD_MS : l || peer->is_local ? 0
		 : peer->dial_at_ms, now_ms);
	strbuf_add_str(out, " heartbeat=");
	put_wait(out, is_up ? l->said_ms + PEERS_HEARTBEAT_MS : 0, now_ms);
	strbuf_printf(out, " confirm=%u tx_hbt=%u rx_hbt=%u no_hbt=%u new_conn=%u proto_err=%u "
		      "coll=%u\n        flags=0x%x", l && l->awaits_confirm, peer->sent_beats,
		      peer->got_beats, peer->missed_beats, peer->attempts, peer->faults,
		      peer->collisions, peer->asked_in_vain);
	if (l)
		put_link(out, l);
	else
		strbuf_add_char(out, '\n');
	strbuf_add_str(out, "        shared tables:\n");
	list_for_each(h, &peer->shares, link)
		put_share(out, t, peer, h);
}

static void put_section(struct strbuf *out, const struct tour *t, const struct peers *p)
{
	uint64_t now_ms = clock_now_ms();
	time_t begun = (time_t)(p->begun_us / 1000000);
	const struct peer *peer;
	char date[32] = "";
	struct tm tm;

	if (localtime_r(&begun, &tm))
		strftime(date, sizeof(date), "%d/%b/%Y:%H:%M:%S", &tm);
	strbuf_printf(out, "%p: [%s] id=%s disabled=0 flags=0x%x resync_timeout=",
		      (const void *)p, date, p->name, (unsigned)p->resync);
	if (p->resync == RESYNC_DONE)
		strbuf_add_str(out, "<PAST>");
	else
		put_wait(out, p->resync_end_ms, now_ms);
	strbuf_printf(out, " task_calls=%" PRIu64 "\n", p->calls);
	list_for_each(peer, &p->peers, link)
		put_peer(out, t, peer);
}

/* --- from home to home ------------------------------------------------------------------------ */

static void tour_free(struct tour *t)
{
	strbuf_fini(&t->out);
	free(t->only);
	free(t);
}

static void tour_home(struct message *m)
{
	struct tour *t = container_of(m, struct tour, message);

	t->away = false;
	if (t->session)
		ctl_session_resume(t->session);
	else
		tour_free(t);
}

/* The next section that was asked for. */
static struct peers *wanted(const struct tour *t, struct peers *p)
{
	while (p && t->only && strcmp(p->name, t->only) != 0)
		p = peers_next(p);
	return p;
}

static void tour_visit(struct message *m)
{
	struct tour *t = container_of(m, struct tour, message);

	if (t->at->conf)
		put_section(&t->out, t, t->at);
	t->at = wanted(t, peers_next(t->at));
	if (!t->at)
		m->run = tour_home;
	mailbox_post(t->at ? t->at->home : t->home, m);
}

static void release(struct ctl_request *rq)
{
	struct tour *t = rq->state;

	if (!t)
		return;
	rq->state = NULL;
	t->session = NULL;
	if (!t->away)
		tour_free(t); /* else tour_home() does */
}

static enum ctl_step show_peers(struct ctl_request *rq)
{
	const char *name = rq->at < rq->count ? rq->words[rq->at] : NULL;
	struct tour *t = rq->state;

	if (t) {
		strbuf_add(rq->out, strbuf_slice(&t->out));
		return CTL_DONE;
	}
	t = rq->state = calloc(1, sizeof(*t));
	if (!t) {
		ctl_error(rq, "Out of memory.");
		return CTL_DONE;
	}
	strbuf_init(&t->out);
	t->session = rq->session;
	t->home = thread_id;
	t->words = name && strcmp(name, "dict") == 0;
	if (name && (t->words || strcmp(name, "-") == 0))
		name = rq->at + 1 < rq->count ? rq->words[rq->at + 1] : NULL;
	t->only = name ? strdup(name) : NULL;
	t->at = wanted(t, peers_next(NULL));
	if (!t->at) {
		if (name)
			ctl_error(rq, "No such peers");
		return CTL_DONE;
	}
	t->away = true;
	t->message.run = tour_visit;
	mailbox_post(t->at->home, &t->message);
	return CTL_WAIT;
}

static const struct ctl_command commands[] = {
	{ .words = "show peers", .level = CTL_USER, .syntax = "[dict|-] [<peers section>]",
	  .help = "tell how each peer is doing with each shared table", .run = show_peers,
	  .release = release },
	{ 0 }
};

const struct module mod_peers_ctl = { .name = "peers-commands", .commands = commands };
