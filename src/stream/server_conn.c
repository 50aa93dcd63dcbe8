/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_conn.c - connections to servers: taking an idle one, opening one
 *
 * A thread without an idle one (server_idle.c) asks another thread of its group that has some, by
 * message: the owner removes one from its list and its poller and sends it back, or replies that
 * there is none. No lock is taken.
 */
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "check/run.h"
#include "conf/conf.h"
#include "core/activity.h"
#include "core/mailbox.h"
#include "core/pool.h"
#include "core/thread.h"
#include "mux/mux.h"
#include "net/dial.h"
#include "proxy/walk.h"
#include "stream/process.h"
#include "stream/wait.h"
#include "tls/tls.h"
#include "server_conn_priv.h"
#include "server_room.h"
#include "stream_conf_priv.h"

/* How long a stream waits for another thread's answer before it opens a connection. */
#define ASK_MS 10

/* A thread asks another for an idle connection. */
struct idle_ask {
	struct message message;   /* the question, then the answer */
	struct stream_wait wait;  /* over: the stream gave up. Of the asking thread alone */
	bool is_of_check;         /* no stream waits */
	struct server *server;
	struct config *config;    /* counted: keeps the server */
	struct server_conn *conn; /* the answer; NULL: none */
	uint64_t key;
	unsigned from;            /* the thread that asks */
	bool proven;              /* only a proven one will do */
};

static check_pool_fn server_conn_for_check;

static struct pool *conn_pool, *ask_pool;
static bool is_shared = true; /* between threads */

bool server_conn_init(void)
{
	conn_pool = pool_new("server_conn", sizeof(struct server_conn));
	ask_pool = pool_new("idle_ask", sizeof(struct idle_ask));
	check_set_pool_hook(server_conn_for_check);
	return conn_pool && ask_pool && server_key_init();
}

void stream_limit_idle(const struct config *cfg, int64_t descriptors)
{
	const struct stream_tune *t = stream_tune_of(cfg);

	is_shared = !t->idle_apart;
	stream_set_idle_descriptors((int)(descriptors * t->idle_low_percent / 100),
				    (int)(descriptors * t->idle_high_percent / 100));
}

/* --- what the mux tells ----------------------------------------------------------------------- */

static void sc_free(struct server_conn *sc)
{
	idle_leave(sc);
	idle_use_end(sc);
	if (sc->has_room)
		server_room_leave(sc->server);
	if (sc->server->is_reverse)
		idle_attached_add(sc->server, -1);
	server_unpin(sc->server);
	config_drop(&sc->config);
	pool_free(conn_pool, sc);
}

static void sc_begun(void *owner, struct mux *m)
{
	struct server_conn *sc = owner;

	sc->mux = m;
	sc->multiplex = m->kind->traits & MUX_MULTIPLEX;
}

static void sc_closed(void *owner)
{
	sc_free(owner);
}

/* Is this connection for its session only, not for others? */
static bool sc_is_private(const struct server_conn *sc)
{
	const struct server *srv = sc->server;

	if (unlikely(srv->is_reverse))
		return false;
	return sc->is_private || srv->proxy->reuse == REUSE_NEVER || srv->send_proxy ||
	       srv->is_direct || (srv->source && srv->source->transparency > SOURCE_FIXED);
}

/* An idle connection, in no list, goes on with the live generation if that one has the server and
 * reaches it in the same way. False: it must be closed.
 */
static bool sc_follow(struct server_conn *sc)
{
	struct config *now = proxies_current(), *was = sc->config;
	struct server *heir = server_heir(now, sc->server);

	if (!heir || heir->digest != sc->server->digest ||
	    !source_is_same(heir->source, sc->server->source) ||
	    heir->proxy->mode != sc->server->proxy->mode ||
	    heir->is_reverse != sc->server->is_reverse ||
	    (!heir->is_reverse && !tls_follow(sc->conn, server_slots(heir))))
		return false;
	if (heir->strict_maxconn && !sc->has_room) {
		server_room_force(heir);
		sc->has_room = true;
	}
	if (heir->is_reverse) {
		idle_attached_add(sc->server, -1);
		idle_attached_add(heir, 1);
	}
	server_unpin(sc->server);
	server_pin(heir);
	sc->server = heir;
	sc->config = config_take(now);
	sc->mux->kind->set_settings(sc->mux, &stream_proxy(heir->proxy)->back, heir->idle.ping_ms);
	config_drop(&was);
	return true;
}

/* Keeps <sc> for its session, the one longest unused of which goes when there are too many: as many
 * as the keys of a client's requests would hold descriptors for as long as it likes.
 */
static bool sc_keep_private(struct server_conn *sc)
{
	struct session_rare *rare = sc->session ? session_rare_get(sc->session) : NULL;
	int count = 0, max = rare ? sc->session->fe->http.max_session_server_conns : 0;
	struct server_conn *other;

	if (!max)
		return false;
	list_prepend(&rare->server_conns, &sc->link);
	sc->is_kept = true;
	counter_add(&sc->server->state->counters, CNT_PRIVATE_CUR, 1);
	list_for_each(other, &rare->server_conns, link)
		if (count++ == max)
			break;
	if (count > max) {
		list_remove(&other->link);
		idle_close(other);
	}
	return true;
}

/* No stream uses <sc> now: is it kept for others? */
static bool sc_keep(struct server_conn *sc)
{
	struct server *srv;
	struct idle_list *l;

	idle_use_end(sc);
	if (unlikely(sc->config != proxies_current()) && !sc_is_private(sc) && !sc_follow(sc))
		return false; /* (a private one moves with its session) */
	srv = sc->server;
	/* (one whose handshake is not over would take any client's request early) */
	if (!tls_is_current(sc->conn) || (sc->multiplex && tls_is_early(sc->conn)) ||
	    (srv->pool.max_reuse >= 0 && sc->streams > (unsigned)srv->pool.max_reuse))
		return false;
	if (sc_is_private(sc))
		return sc_keep_private(sc);
	/* (one that was attached is not ours to open again) */
	if (!srv->is_reverse && (!srv->pool.max_conn || !server_is_willing(srv)))
		return false;
	l = idle_list_get(srv, true);
	if (!l || (!srv->is_reverse && !idle_has_room(l)))
		return false;
	/* (where goodbyes say what was not looked at, nothing needs to be proven) */
	sc->proven = sc->streams > 1 || sc->multiplex;
	idle_put(l, sc);
	return true;
}

/* For `show fd`. */
static void sc_describe(const void *owner, struct strbuf *out)
{
	const struct server *srv = ((const struct server_conn *)owner)->server;

	strbuf_printf(out, " sv=%s/%s", srv->proxy->name, srv->name);
}

/* May a connection of several streams take one more, of any client? */
static bool sc_is_roomy(const struct server_conn *sc)
{
	const struct server *srv = sc->server;

	if (!sc->used || sc_is_private(sc) || !server_is_willing(srv) ||
	    (srv->pool.max_reuse >= 0 && sc->begun > (unsigned)srv->pool.max_reuse) ||
	    tls_is_early(sc->conn))
		return false;
	return sc->mux->kind->back_room(sc->mux) > 0;
}

/* One in use is offered to others as long as it has room. */
static void sc_room_changed(void *owner)
{
	struct server_conn *sc = owner;
	bool roomy = sc_is_roomy(sc);

	if (!sc->used)
		return;
	if (roomy && !list_is_linked(&sc->link))
		list_append(&sc->used->roomy, &sc->link);
	else if (!roomy && list_is_linked(&sc->link))
		list_remove(&sc->link);
}

static bool sc_stream_left(void *owner, bool last)
{
	struct server_conn *sc = owner;

	sc->streams++;
	if (!last) {
		sc->proven = true;
		sc_room_changed(sc);
		return true;
	}
	if (sc->multiplex && sc->used && list_is_linked(&sc->link))
		list_remove(&sc->link);
	return sc_keep(sc);
}

static const struct back_user sc_user = {
	.begun = sc_begun, .room_changed = sc_room_changed, .stream_left = sc_stream_left,
	.closed = sc_closed, .describe = sc_describe,
};

/* --- taking ----------------------------------------------------------------------------------- */

/* False: no memory. */
static bool sc_attach(struct server_conn *sc, struct endpoint *ep)
{
	if (!sc->used) {
		idle_leave(sc);
		idle_use_begin(sc);
	}
	sc->begun++;
	if (!sc->mux->kind->back_attach(sc->mux, ep))
		return false;
	if (sc->multiplex)
		sc_room_changed(sc);
	return true;
}

/* (one that is about to end has not sent its last words yet) */
static bool sc_fits(const struct server_conn *sc, uint64_t key, const struct mux_kind *mux)
{
	return sc->key == key && (!mux || sc->mux->kind == mux) && !mux_is_ending(sc->mux);
}

/* One that this client's earlier request has left. */
static struct server_conn *find_private(struct stream *s, uint64_t key,
					const struct mux_kind *mux)
{
	struct session_rare *rare = s->sess->rare;
	struct server_conn *sc;

	if (!rare)
		return NULL;
	list_for_each(sc, &rare->server_conns, link)
		if (sc->server == s->server && sc_fits(sc, key, mux))
			return sc;
	return NULL;
}

struct server *server_conn_last_server(const struct session *sess, const struct proxy *be,
				       bool *knows_client)
{
	struct server *last = NULL;
	struct server_conn *sc;

	*knows_client = false;
	if (likely(!sess->rare))
		return NULL;
	list_for_each(sc, &sess->rare->server_conns, link) {
		if (sc->server->proxy != be)
			continue;
		*knows_client = sc->is_private;
		if (sc->is_private)
			return sc->server;
		last = last ? last : sc->server;
	}
	return last;
}

static struct server_conn *find_shared(struct stream *s, uint64_t key,
					const struct mux_kind *mux)
{
	struct idle_list *l = idle_list_get(s->server, false);
	enum reusable which = wanted_reuse(s);
	struct server_conn *sc;

	if (!l || which == REUSABLE_NONE)
		return NULL;
	list_for_each(sc, &l->roomy, link)
		if (sc_fits(sc, key, mux) && (sc->proven || which == REUSABLE_ANY))
			return sc;
	list_for_each(sc, &l->conns, link)
		if (sc_fits(sc, key, mux) && (sc->proven || which == REUSABLE_ANY))
			return sc;
	return NULL;
}

bool server_conn_take_idle(struct stream *s)
{
	const struct mux_kind *mux;
	struct server_conn *sc;
	uint64_t key;

	if (wants_new(s) || !wanted_key(s, &key))
		return false;
	mux = wanted_mux(s);
	sc = find_private(s, key, mux);
	if (!sc)
		sc = find_shared(s, key, mux);
	if (!sc)
		return false;
	if (!sc_attach(sc, &s->back))
		return false;
	s->answer.from = sc;
	return true;
}

void server_conn_make_private(struct stream *s)
{
	struct server_conn *sc = s->answer.from;

	if (!sc || !s->back.ops || sc->multiplex || sc->server->is_reverse)
		return;
	sc->is_private = true;
	sc->session = s->sess;
}

void server_conn_end_session(struct session *sess)
{
	struct list *l = sess->rare ? &sess->rare->server_conns : NULL;

	while (l && !list_is_empty(l)) {
		struct server_conn *sc = list_first(l, struct server_conn, link);

		list_remove(&sc->link);
		idle_close(sc);
	}
}

/* --- from one generation to the next -------------------------------------------------------- */

void server_conns_follow_session(struct session *sess)
{
	struct server_conn *sc, *next;

	if (!sess->rare)
		return;
	list_for_each_safe(sc, next, &sess->rare->server_conns, link) {
		if (sc_follow(sc))
			continue;
		list_remove(&sc->link);
		idle_close(sc);
	}
}

/* Moves what can go to the list of the heir, which needs as many as this one did. */
static void idle_list_follow(struct idle_list *l)
{
	struct config *cfg = config_take(list_first(&l->conns, struct server_conn, link)->config);
	struct server *heir = server_heir(proxies_current(), l->server);
	struct idle_list *to = heir ? idle_list_get(heir, true) : NULL;

	if (to) {
		__atomic_store_n(&to->peak, l->peak > to->peak ? l->peak : to->peak,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&to->peak_before, l->peak_before, __ATOMIC_RELAXED);
	}
	while (!list_is_empty(&l->conns)) {
		struct server_conn *sc = list_last(&l->conns, struct server_conn, link);

		idle_leave(sc);
		if (to && sc_follow(sc))
			idle_put(to, sc);
		else
			idle_close(sc);
	}
	config_drop(&cfg);
}

void server_conns_follow_thread(void)
{
	idle_follow(idle_list_follow);
}

/* --- asking other threads -------------------------------------------------------------------- */

/* The next thread of this group, in turn, that has an idle connection; <thread_id>: none. */
static unsigned rich_thread(const struct server *srv)
{
	unsigned first = thread_group_first(thread_group), n = thread_group_size(thread_group);

	for (unsigned i = 1; i < n; i++) {
		unsigned t = first + (thread_id - first + i) % n;

		if (idle_count_of(srv, t))
			return t;
	}
	return thread_id;
}

/* Takes one out of the calling thread's hands, to travel. */
static struct server_conn *idle_give(const struct idle_ask *a)
{
	struct idle_list *l = idle_list_get(a->server, false);
	struct server_conn *sc;

	if (!l)
		return NULL;
	list_for_each(sc, &l->conns, link)
		if (sc->key == a->key && (sc->proven || !a->proven) &&
		    sc->mux->kind->back_detach_thread(sc->mux)) {
			idle_leave(sc);
			return sc;
		}
	return NULL;
}

/* On the asking thread: a connection came. <wanted>: a stream waits for it, the limit can wait. */
static void idle_receive(struct server_conn *sc, bool wanted)
{
	struct idle_list *l = idle_list_get(sc->server, true);

	if (!sc->mux->kind->back_attach_thread(sc->mux) || !l ||
	    (!wanted && !sc->server->is_reverse && l->count >= idle_max(sc->server)))
		idle_close(sc);
	else
		idle_put(l, sc);
}

/* The message is on its way: the answer finds that no stream waits any more. */
static void ask_cancel(struct stream_wait *w)
{
}

static const struct stream_wait_kind ask_kind = { .name = "idle-connection", .cancel = ask_cancel };

static void ask_free(struct idle_ask *a)
{
	server_unpin(a->server);
	config_drop(&a->config);
	pool_free(ask_pool, a);
}

static void answer_arrives(struct message *m)
{
	struct idle_ask *a = container_of(m, struct idle_ask, message);
	bool wanted = !a->is_of_check && !stream_wait_is_over(&a->wait);

	if (a->is_of_check)
		idle_list_get(a->server, false)->fetching = false;
	if (a->conn) {
		activity_add(ACTIVITY_fd_takeover, 1);
		idle_receive(a->conn, wanted);
	}
	if (wanted)
		stream_wake(&a->wait);
	ask_free(a);
}

static void ask_arrives(struct message *m)
{
	struct idle_ask *a = container_of(m, struct idle_ask, message);

	a->conn = idle_give(a);
	a->message.run = answer_arrives;
	mailbox_post(a->from, &a->message);
}

static struct idle_ask *ask_new(struct server *srv, struct config *cfg, uint64_t key)
{
	struct idle_ask *a = pool_alloc(ask_pool);

	if (!a)
		return NULL;
	SHARED_WRITE(process);
	*a = (struct idle_ask){ .message.run = ask_arrives, .server = srv,
				.config = config_take(cfg), .from = thread_id, .key = key };
	server_pin(srv);
	return a;
}

static bool ask(struct stream *s, unsigned thread, uint64_t key)
{
	struct idle_ask *a = ask_new(s->server, s->config, key);

	if (!a)
		return false;
	a->proven = wanted_reuse(s) == REUSABLE_PROVEN;
	stream_wait_begin(s, &a->wait, &ask_kind);
	stream_wait_ms(s, ASK_MS);
	mailbox_post(thread, &a->message);
	return true;
}

bool server_conn_ask_others(struct stream *s)
{
	unsigned thread;
	uint64_t key;

	if (s->flags & STRM_ASKED)
		return stream_wait_find(s, &ask_kind) && !stream_is_late(s);
	s->flags |= STRM_ASKED;
	if (!is_shared || thread_group_size(thread_group) == 1 || wants_new(s) ||
	    wanted_reuse(s) == REUSABLE_NONE)
		return false;
	thread = rich_thread(s->server);
	if (thread == thread_id)
		return false;
	if (s->server->pool.low_conn &&
	    server_conn_idle_count(s->server) < (unsigned)s->server->pool.low_conn)
		return false;
	return wanted_key(s, &key) && ask(s, thread, key);
}

void server_conn_forget_ask(struct stream *s)
{
	struct stream_wait *wait = s->waits ? stream_wait_find(s, &ask_kind) : NULL;

	s->flags &= ~STRM_ASKED;
	if (wait)
		stream_wait_cancel(wait);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Gives <c> to <mux>; NULL: to the one that ALPN chooses. False: no memory. */
static bool begin(struct server_conn *sc, struct conn *c, struct endpoint *ep,
		  const struct mux_kind *mux)
{
	struct back_owner owner = {
		.user = &sc_user, .owner = sc,
		.settings = &stream_proxy(sc->server->proxy)->back,
		.idle_ping_ms = sc->server->idle.ping_ms,
	};

	sc->conn = c;
	return mux_back_begin(c, ep, mux, &owner);
}

/* The mux that the line asks for, or that there is when it does not; NULL: ALPN is to choose. */
static const struct mux_kind *line_mux(const struct server *srv)
{
	const struct slot_area *slots = server_slots(srv);

	if (!srv->mux.forced && tls_server_is_on(slots) && tls_server_has_alpn(slots))
		return NULL;
	return srv->mux.forced ? srv->mux.forced : mux_default(MUX_HTTP);
}

/* Puts the mux on <c> that mode, line and stream ask for. False: no memory. */
static bool install(struct stream *s, struct server_conn *sc, struct conn *c)
{
	const struct mux_kind *wanted, *line;

	if (!(s->flags & STRM_HTTP))
		return begin(sc, c, &s->back, mux_default(MUX_TCP));
	wanted = wanted_mux(s);
	line = line_mux(s->server);
	return begin(sc, c, &s->back, wanted && line ? wanted : line);
}

static struct server_conn *sc_new(struct server *srv, uint64_t key)
{
	struct server_conn *sc = pool_zalloc(conn_pool);

	if (!sc)
		return NULL;
	list_init(&sc->link);
	sc->server = srv;
	server_pin(srv);
	sc->key = key;
	SHARED_WRITE(process); /* the generation's count: per connection, not per request */
	sc->config = config_take(srv->proxy->config);
	return sc;
}

enum dial_result server_conn_open(struct stream *s)
{
	char area[DIAL_FIRST_MAX];
	struct sockaddr_storage room;
	struct wanted_said said;
	struct server_conn *sc;
	struct server_addr to;
	enum dial_result r;
	struct dial_want w;
	struct conn *c;

	if (s->server->is_reverse || !server_target(s, &to))
		return DIAL_NO_ADDRESS;
	if (!wanted_said(s, area, &said))
		return DIAL_NO_MEMORY;
	idle_evict();
	wanted_dial(s, &to, &said, &w, &room);
	r = dial_open(&w, NULL, NULL, &c);
	if (r != DIAL_DONE)
		return r;
	sc = sc_new(s->server, s->flags & STRM_HTTP ? wanted_key_to(s, &to, &said) : 0);
	if (!sc || !install(s, sc, c)) {
		conn_close(&c);
		if (sc)
			sc_free(sc);
		return DIAL_NO_MEMORY;
	}
	s->answer.from = sc;
	sc->session = s->sess;
	sc->has_room = s->server->strict_maxconn;
	sc->begun = 1;
	if (s->flags & STRM_HTTP)
		idle_use_begin(sc);
	if (w.flags & DIAL_IS_EARLY)
		s->flags |= STRM_SENT_EARLY;
	if (conn_is_usable(c))
		s->back.flags |= EP_CONNECTED;
	return DIAL_DONE;
}

/* --- attaching (reverse HTTP) ---------------------------------------------------------------- */

bool server_conn_attach(struct server *srv, struct conn *c, struct mux *m, struct slice name)
{
	struct server_conn *sc = sc_new(srv, server_conn_key(srv, name));
	struct idle_list *l = idle_list_get(srv, true);
	struct back_owner owner = {
		.user = &sc_user, .owner = sc, .settings = &stream_proxy(srv->proxy)->back,
		.idle_ping_ms = srv->idle.ping_ms,
	};

	if (!sc)
		return false;
	idle_attached_add(srv, 1);
	sc->conn = c;
	sc->proven = true;
	sc->has_room = srv->strict_maxconn;
	if (sc->has_room)
		server_room_force(srv);
	if (!l || !m->kind->front_reverse(m, &owner)) {
		sc_free(sc);
		return false;
	}
	idle_put(l, sc);
	return true;
}

/* --- for checks (check-reuse-pool) ------------------------------------------------------------ */

static struct server_conn *find_for_check(struct server *srv, uint64_t key)
{
	struct idle_list *l = idle_list_get(srv, false);
	struct server_conn *sc;

	if (!l)
		return NULL;
	list_for_each(sc, &l->conns, link)
		if (sc->key == key)
			return sc;
	list_for_each(sc, &l->roomy, link)
		if (sc->key == key)
			return sc;
	return NULL;
}

static bool open_for_check(struct server *srv, struct slice name, uint64_t key,
			   struct endpoint *ep)
{
	struct server_conn *sc = NULL;
	struct server_addr to;
	struct dial_want w;
	struct conn *c;

	server_address(srv, &to);
	server_dial(srv, &to, &w);
	w.sni = name;
	if (dial_open(&w, NULL, NULL, &c) == DIAL_DONE)
		sc = sc_new(srv, key);
	if (!sc || !begin(sc, c, ep, line_mux(srv))) {
		conn_close(&c);
		if (sc)
			sc_free(sc);
		return false;
	}
	idle_use_begin(sc);
	sc->has_room = srv->strict_maxconn;
	if (sc->has_room)
		server_room_force(srv);
	sc->begun = 1;
	if (conn_is_usable(c))
		ep->flags |= EP_CONNECTED;
	return true;
}

/* Has another thread send its idle connection here, which the next look may find. */
static void fetch_for_check(struct server *srv, uint64_t key)
{
	struct idle_list *l = idle_list_get(srv, true);
	unsigned thread = rich_thread(srv);
	struct idle_ask *a;

	if (!l || l->fetching || thread == thread_id || !is_shared)
		return;
	a = ask_new(srv, srv->proxy->config, key);
	if (!a)
		return;
	a->is_of_check = true;
	l->fetching = true;
	mailbox_post(thread, &a->message);
}

/* rhttp@: one of those that the server has opened, or none. */
static enum check_lend attached_for_check(struct server *srv, struct slice name,
					  struct endpoint *ep)
{
	uint64_t key = server_conn_key(srv, name);
	struct server_conn *sc = find_for_check(srv, key);

	if (sc)
		return sc_attach(sc, ep) ? CHECK_LENT : CHECK_LEND_NONE;
	if (!server_conn_attached(srv) || server_conn_is_named(srv) != (name.len > 0))
		return CHECK_LEND_NONE;
	fetch_for_check(srv, key);
	return CHECK_LEND_LATER;
}

static enum check_lend server_conn_for_check(struct server *srv, struct slice name,
					     struct endpoint *ep)
{
	uint64_t key = server_conn_key(srv, name);
	struct server_conn *sc;
	bool lent;

	if (srv->is_reverse)
		return attached_for_check(srv, name, ep);
	if (srv->proxy->mode != PROXY_MODE_HTTP || srv->socks4 || srv->port_is_mapped ||
	    server_target_varies(srv) || srv->proxy->reuse == REUSE_NEVER || srv->send_proxy ||
	    (srv->source && srv->source->transparency != SOURCE_OPAQUE))
		return CHECK_LEND_NONE;
	sc = find_for_check(srv, key);
	lent = sc ? sc_attach(sc, ep) : open_for_check(srv, name, key, ep);
	return lent ? CHECK_LENT : CHECK_LEND_NONE;
}
