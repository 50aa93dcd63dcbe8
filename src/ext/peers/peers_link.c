/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_link.c - a connection with a peer: how it begins, goes on, and ends by silence
 *
 *	DIALS --connected, hello--> ASKED --200--> UP --broke the protocol--> LEAVES
 *	      accepted -------> GREETED --hello, 200--^
 *
 * Of two connections with one peer, the newer one stays.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/symbol.h"
#include "core/task.h"
#include "ext/peers.h"
#include "log/log.h"
#include "net/conn_facts.h"
#include "proxy/source.h"
#include "tls/tls.h"
#include "peers_priv.h"

/* Blocks received, and batches sent, in a row before others run. */
#define READS_A_TURN 16
#define BATCHES_A_TURN 16
/* Bytes of a message's body: a key of the longest `len`, and all data. */
#define BODY_MAX 65536

static unsigned active, connected; /* atomic */

unsigned peers_active(void)
{
	return __atomic_load_n(&active, __ATOMIC_RELAXED);
}

unsigned peers_connected(void)
{
	return __atomic_load_n(&connected, __ATOMIC_RELAXED);
}

static void set_state(struct peers_link *l, enum link_state state)
{
	if ((l->state == LINK_UP) != (state == LINK_UP))
		__atomic_fetch_add(&connected, state == LINK_UP ? 1u : -1u, __ATOMIC_RELAXED);
	l->state = state;
}

/* --- its end ---------------------------------------------------------------------------------- */

void peers_link_end(struct peers_link *l)
{
	struct peer *peer = l->peer;
	bool was_up = l->state == LINK_UP;

	set_state(l, LINK_LEAVES);
	dial_cancel(&l->dial);
	if (l->conn)
		conn_close(&l->conn);
	list_remove(&l->link);
	if (peer && peer->up == l) {
		peer->up = NULL;
		peers_shares_reset(peer);
		peers_shares_set_up(peer, false);
	}
	peers_link_ended(l, was_up);
	__atomic_fetch_sub(&active, 1, __ATOMIC_RELAXED);
	task_free(&l->task);
	strbuf_fini(&l->in);
	strbuf_fini(&l->out);
	peers_words_free(&l->words_in);
	peers_words_free(&l->words_out);
	config_drop(&l->config);
	free(l);
}

/* Logs the first of several in a row. */
static void complain(struct peers_link *l, const char *what)
{
	if (!l->peer || l->peer->complained || l->peer->is_local)
		return;
	l->peer->complained = true;
	peers_log(l->section, LOG_LVL_WARNING, "Peers section '%s': peer '%s': %s.",
		  l->section->name, l->peer->name, what);
}

/* It has sent a message that makes sense: that it has said hello does not prove it well yet. */
static void is_well(struct peers_link *l)
{
	if (l->peer->complained)
		peers_log(l->section, LOG_LVL_NOTICE, "Peers section '%s': peer '%s' is back.",
			  l->section->name, l->peer->name);
	l->peer->complained = false;
}

/* Broken by the other side: it is told so, and the link ends when that was sent. */
static void break_off(struct peers_link *l, uint8_t fault, const char *why)
{
	char text[200];

	l->peer->faults++;
	snprintf(text, sizeof(text), "it broke the protocol: %s", why);
	complain(l, text);
	l->sent = 0;
	strbuf_reset(&l->out);
	peers_msg_put(&l->out, PEERS_FAULT, fault);
	set_state(l, LINK_LEAVES);
}

/* --- sending ---------------------------------------------------------------------------------- */

/* False: the connection is broken. */
static bool send_out(struct peers_link *l)
{
	struct slice left = slice_make(l->out.ptr + l->sent, l->out.len - l->sent);
	size_t sent;
	enum io r;

	if (!left.len)
		return true;
	r = conn_send_bytes(l->conn, left, &sent);
	l->sent += sent;
	if (sent)
		l->said_ms = clock_now_ms();
	if (l->sent == l->out.len) {
		strbuf_reset(&l->out);
		l->sent = 0;
	}
	return r != IO_ERR;
}

/* What is due besides updates. False: no memory. */
static bool add_due(struct peers_link *l)
{
	if (l->confirm_due && !peers_msg_put(&l->out, PEERS_CONTROL, PEERS_RESYNC_CONFIRM))
		return false;
	l->confirm_due = false;
	return peers_ack_all(l);
}

static unsigned updates_at_once(const struct peers_link *l)
{
	return (unsigned)peers_config_of(l->section->config)->max_updates;
}

/* False: it is broken. */
static bool push_updates(struct peers_link *l)
{
	bool more = true, failed = false;

	for (unsigned i = 0; more && l->conn->flags & CONN_CAN_SEND; i++) {
		if (i == BATCHES_A_TURN) {
			task_wake(l->task, TASK_WOKEN_OTHER);
			break;
		}
		more = peers_tell(l, updates_at_once(l), &failed);
		if (failed || !send_out(l))
			return false;
	}
	return true;
}

static void set_deadline(struct peers_link *l)
{
	uint64_t at_ms = l->opened_ms + PEERS_HANDSHAKE_MS;

	if (l->state == LINK_UP) {
		at_ms = l->said_ms + PEERS_HEARTBEAT_MS;
		if (l->heard_ms + PEERS_DEAD_MS < at_ms)
			at_ms = l->heard_ms + PEERS_DEAD_MS;
	}
	task_schedule(l->task, at_ms);
}

bool peers_link_push(struct peers_link *l)
{
	bool good = l->conn != NULL;

	if (good && l->state == LINK_UP)
		good = add_due(l);
	if (good && l->conn->flags & CONN_CAN_SEND)
		good = send_out(l);
	if (good && l->state == LINK_UP)
		good = push_updates(l);
	if (l->state == LINK_LEAVES && !l->out.len)
		good = false;
	if (good)
		set_deadline(l);
	else
		peers_link_end(l);
	return good;
}

/* --- beginning -------------------------------------------------------------------------------- */

static struct peers_link *link_new(struct peers *p);

/* Both peers have said their names. */
static void link_up(struct peers_link *l)
{
	set_state(l, LINK_UP);
	l->said_ms = l->heard_ms = l->peer->hello_ms = clock_now_ms();
	l->peer->last_status = PEERS_ANSWER_WELCOME;
	peers_shares_reset(l->peer);
	peers_shares_set_up(l->peer, true);
	peers_link_is_up(l);
}

static bool say_hello(struct peers_link *l)
{
	struct peers_hello h = {
		.minor = PEERS_MINOR, .to = slice_of(l->peer->name),
		.from = slice_of(l->section->conf->local), .pid = (uint64_t)getpid(),
		.relative = 1,
	};
	char own[ADDR_MAX];

	if (l->peer->found.family != ADDR_NONE) {
		peers_own_name(l, own);
		h.from = slice_of(own);
	}
	set_state(l, LINK_ASKED);
	return peers_hello_put(&l->out, &h);
}

static struct peer *peer_called(const struct peers *p, struct slice name)
{
	struct peer *peer;

	list_for_each(peer, &p->peers, link)
		if (slice_eq(slice_of(peer->name), name))
			return peer;
	return NULL;
}

/* Is this process meant? */
static bool is_our_name(const struct peers_link *l, struct slice name)
{
	const struct peers_conf *c = l->section->conf;
	char own[ADDR_MAX];

	if (slice_eq(name, slice_of(c->local)))
		return true;
	if (!c->template)
		return false;
	peers_own_name(l, own);
	return slice_eq(name, slice_of(own));
}

/* Reads the hello of a peer that has connected. False: more is needed. *good false: the link has to
 * end.
 */
static bool read_hello(struct peers_link *l, struct slice *rest, bool *good)
{
	enum peers_answer answer = PEERS_ANSWER_WELCOME;
	struct peers_hello h;
	struct peer *peer = NULL;

	switch (peers_hello_read(*rest, &h, &answer)) {
	case PEERS_MORE:
		return false;
	case PEERS_ERROR:
		break;
	case PEERS_DONE:
		*rest = slice_sub(*rest, h.length, rest->len);
		peer = peer_called(l->section, h.from);
		answer = !is_our_name(l, h.to) ? PEERS_ANSWER_NOT_ME
			: !peer ? PEERS_ANSWER_WHO : PEERS_ANSWER_WELCOME;
	}
	*good = peers_answer_put(&l->out, answer);
	if (answer != PEERS_ANSWER_WELCOME) {
		*rest = slice_none();
		set_state(l, LINK_LEAVES);
		return true;
	}
	if (peer->up) {
		peer->collisions++;
		peers_link_end(peer->up);
	}
	if (peer->pid && peer->pid != h.pid) {
		peers_shares_forget(peer);
		peer->has_told = false;
	}
	peer->pid = h.pid;
	l->peer = peer;
	peer->up = l;
	link_up(l);
	return true;
}

static const char *answer_text(enum peers_answer a)
{
	switch (a) {
	case PEERS_ANSWER_LATER: return "it asks us to come again later";
	case PEERS_ANSWER_VERSION: return "it does not speak version 2.1 of the protocol";
	case PEERS_ANSWER_NOT_ME: return "it is called otherwise there (localpeer)";
	case PEERS_ANSWER_WHO: return "it knows no peer of our name (localpeer)";
	default: return "it refused our hello";
	}
}

static bool read_answer(struct peers_link *l, struct slice *rest, bool *good)
{
	enum peers_answer answer;
	size_t length;

	switch (peers_answer_read(*rest, &answer, &length)) {
	case PEERS_MORE:
		return false;
	case PEERS_ERROR:
		l->peer->faults++;
		complain(l, "what it answered is no answer to a hello");
		*good = false;
		return true;
	default:
		break;
	}
	*rest = slice_sub(*rest, length, rest->len);
	l->peer->last_status = answer;
	if (answer == PEERS_ANSWER_WELCOME) {
		link_up(l);
		return true;
	}
	complain(l, answer_text(answer));
	*good = false;
	return true;
}

/* --- receiving -------------------------------------------------------------------------------- */

static bool read_message(struct peers_link *l, struct slice *rest, bool *good)
{
	const char *why = "a message that is too long";
	uint8_t fault = PEERS_FAULT_SIZE;
	struct peers_msg m;

	switch (peers_msg_read(*rest, BODY_MAX, &m)) {
	case PEERS_MORE:
		return false;
	case PEERS_DONE:
		*rest = slice_sub(*rest, m.length, rest->len);
		if (peers_learn(l, &m, &why)) {
			is_well(l);
			return true;
		}
		fault = PEERS_FAULT_PROTOCOL;
		break;
	case PEERS_ERROR:
		break;
	}
	*rest = slice_none();
	*good = !(fault == PEERS_FAULT_PROTOCOL && m.class == PEERS_FAULT);
	break_off(l, fault, why);
	return true;
}

/* Takes what came apart. False: it has to end. */
static bool use_in(struct peers_link *l)
{
	struct slice rest = strbuf_slice(&l->in);
	bool good = true, taken = true;
	unsigned fetched = 0;

	while (good && taken && rest.len) {
		switch (l->state) {
		case LINK_GREETED:
			taken = read_hello(l, &rest, &good);
			break;
		case LINK_ASKED:
			taken = read_answer(l, &rest, &good);
			break;
		case LINK_UP:
			l->holds = peers_learn_later(l, rest);
			if (l->holds) {
				taken = false;
				break;
			}
			fetched = fetched ? fetched : peers_learn_soon(l, rest);
			taken = read_message(l, &rest, &good);
			fetched--;
			break;
		default:
			rest = slice_none();
		}
	}
	if (rest.len)
		memmove(l->in.ptr, rest.ptr, rest.len);
	l->in.len = rest.len;
	return good;
}

/* False: it has to end. */
static bool receive(struct peers_link *l)
{
	enum io r = IO_OK;
	bool good = true;

	if (l->holds) { /* it has been heard: this process does not listen */
		l->heard_ms = clock_now_ms();
		good = use_in(l);
	}
	for (int i = 0; good && !l->holds && r == IO_OK && l->conn->flags & CONN_CAN_RECV; i++) {
		struct block *b;
		size_t got = 0;

		if (i == READS_A_TURN) {
			task_wake(l->task, TASK_WOKEN_OTHER);
			break;
		}
		b = block_new();
		if (!b)
			return false;
		r = conn_recv_block(l->conn, b, &got);
		if (got) {
			l->heard_ms = clock_now_ms();
			good = strbuf_add(&l->in, slice_make(b->data, got));
		}
		block_drop(b);
		good = good && use_in(l);
	}
	return good && r != IO_EOF && r != IO_ERR;
}

/* --- events ----------------------------------------------------------------------------------- */

static void link_go_on(struct peers_link *l)
{
	bool good = !(l->conn->flags & CONN_ERROR);

	if (good && !(l->conn->flags & CONN_HANDSHAKE))
		good = receive(l);
	if (!good) {
		if (l->state != LINK_UP && l->state != LINK_LEAVES)
			complain(l, "its connection was closed before it answered");
		peers_link_end(l);
		return;
	}
	peers_link_push(l);
}

static void conn_ready(struct conn *c)
{
	link_go_on(c->owner);
}

static void conn_describe(const struct conn *c, struct strbuf *out)
{
	const struct peers_link *l = c->owner;

	strbuf_printf(out, " %s=%s%s%s mux=PEERS", l->peer ? "sv" : "fe", l->section->name,
		      l->peer ? "/" : "", l->peer ? l->peer->name : "");
}

static const struct conn_ops link_conn_ops = {
	.name = "peers", .ready = conn_ready, .describe = conn_describe,
};

static void on_deadline(struct peers_link *l, uint64_t now_ms)
{
	bool silent = now_ms >= l->heard_ms + PEERS_DEAD_MS;

	if (l->state != LINK_UP || silent) {
		complain(l, l->state == LINK_UP ? "it has been silent for 5 seconds"
			 : "it does not answer our hello");
		if (l->peer && l->state == LINK_UP)
			l->peer->missed_beats++;
		peers_link_end(l);
		return;
	}
	if (now_ms >= l->said_ms + PEERS_HEARTBEAT_MS) {
		l->said_ms = now_ms;
		l->peer->sent_beats++;
		peers_msg_put(&l->out, PEERS_CONTROL, PEERS_HEARTBEAT);
	}
	peers_link_push(l);
}

static void link_task(struct task *t, void *ctx, unsigned why)
{
	struct peers_link *l = ctx;
	uint64_t now_ms = clock_now_ms();

	l->calls++;
	if (!l->conn)
		return;
	/* it is no silence when this process did not listen */
	if (why & TASK_WOKEN_OTHER ||
	    (l->state == LINK_UP && now_ms >= l->heard_ms + PEERS_DEAD_MS &&
	     (l->holds || l->conn->flags & CONN_CAN_RECV)))
		link_go_on(l);
	else if (l->state == LINK_UP ? now_ms >= l->said_ms + PEERS_HEARTBEAT_MS ||
		 now_ms >= l->heard_ms + PEERS_DEAD_MS
		 : now_ms >= l->opened_ms + PEERS_HANDSHAKE_MS)
		on_deadline(l, now_ms);
	else
		set_deadline(l);
}

/* --- life ------------------------------------------------------------------------------------- */

static void dialled(struct dial *d, struct conn *c, enum dial_result r)
{
	struct peers_link *l = container_of(d, struct peers_link, dial);
	char text[160];

	l->conn = c;
	if (c && say_hello(l)) {
		l->opened_ms = clock_now_ms();
		peers_link_push(l);
		return;
	}
	l->was_refused = r == DIAL_REFUSED;
	snprintf(text, sizeof(text), "it cannot be reached: %s", dial_text(r));
	complain(l, c ? "out of memory" : text);
	peers_link_end(l);
}

static struct peers_link *link_new(struct peers *p)
{
	struct peers_link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->task = task_new(link_task, l);
	if (!l->task) {
		free(l);
		return NULL;
	}
	l->section = p;
	l->config = config_take(p->config);
	l->opened_ms = clock_now_ms();
	dial_init(&l->dial, dialled);
	strbuf_init(&l->in);
	strbuf_init(&l->out);
	list_append(&p->links, &l->link);
	__atomic_fetch_add(&active, 1, __ATOMIC_RELAXED);
	return l;
}

void peers_link_dial(struct peer *peer)
{
	struct peers_link *l = link_new(peer->section);
	struct server_addr to;
	enum dial_result r = DIAL_NO_MEMORY;
	struct dial_want want;

	if (!l) {
		peer->dial_at_ms = clock_now_ms() + PEERS_HANDSHAKE_MS;
		return;
	}
	l->state = LINK_DIALS;
	l->peer = peer;
	peer->up = l;
	peer->attempts++;
	peers_address(peer, &to);
	server_dial(peer->srv, &to, &want);
	r = dial_start(&l->dial, &want, PEERS_HANDSHAKE_MS, &link_conn_ops, l);
	if (r != DIAL_DONE)
		dialled(&l->dial, NULL, r);
}

void peers_link_accept(struct peers_conf *c, int fd)
{
	struct slot_area *bind = bind_slots(c->bind);
	struct peers *p = c->run;
	struct peers_link *l = NULL;

	if (p->conf == c && !p->is_stopping && !p->has_stopped)
		l = link_new(p);
	if (l)
		l->conn = conn_new(fd, &link_conn_ops, l, CONN_CAN_RECV | CONN_CAN_SEND);
	if (!l || !l->conn) {
		close(fd);
		if (l)
			peers_link_end(l);
		return;
	}
	l->state = LINK_GREETED;
	set_deadline(l);
	if (tls_bind_is_on(bind) && !tls_accept(l->conn, bind))
		peers_link_end(l);
	else if (!(l->conn->flags & CONN_HANDSHAKE))
		link_go_on(l);
}

void peers_link_follow(struct peers_link *l)
{
	struct config *old = l->config;
	bool dialled_it = l->conn && l->conn->flags & CONN_BACKEND;

	if (old == l->section->config)
		return;
	/* what has just begun begins again; a client of TLS stands on the line that it came by */
	if (l->state != LINK_UP ||
	    (dialled_it ? !tls_follow(l->conn, server_slots(l->peer->srv))
	     : l->conn->transport != &transport_raw)) {
		peers_link_end(l);
		return;
	}
	l->config = config_take(l->section->config);
	config_drop(&old);
}

bool peers_link_init(void)
{
	static const struct symbol names[] = { { link_task, "peers_link_task" }, { 0 } };

	return symbol_register(names);
}
