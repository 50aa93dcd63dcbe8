/* SPDX-License-Identifier: GPL-2.0-or-later */
/* accept.c - QUIC: datagrams of listening sockets: connections that begin, and what is answered
 * where there is none
 *
 * The first bytes of our connection ids encode the thread, so that datagrams that reach another one
 * (the kernel distributes them by addresses) are passed to the owner's mailbox.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/bug.h"
#include "base/clock.h"
#include "conn_priv.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "keys_priv.h"
#include "token_priv.h"
#include "udp_priv.h"

/* A stateless reset looks like a short packet of this length (RFC 9000 10.3). */
#define RESET_LEN 42
#define RESET_LEAST 22

/* Bytes of datagrams that wait for one thread; what is beyond that is lost, as in a full socket. */
#define PASSED_MOST (4 * 1024 * 1024)

/* A datagram for another thread. */
struct passed {
	struct message message;
	struct quic_datagram datagram; /* its bytes are these */
	uint8_t bytes[];
};
static unsigned half_open;                /* atomic: handshakes that go on */
static size_t passed_bytes[THREADS_MAX]; /* atomic: on their way to each thread */

/* --- what a connection asks for --------------------------------------------------------------- */

static void not_half_open(struct quic_conn *q)
{
	if (!(q->flags & QUIC_FL_HALF_OPEN))
		return;
	q->flags &= ~(uint32_t)QUIC_FL_HALF_OPEN;
	quic_tally_add(&q->counts.tally, COUNT_QUIC_HALF_OPEN, -1);
	__atomic_sub_fetch(&half_open, 1, __ATOMIC_RELAXED);
}
static void forget(struct quic_conn *q)
{
	not_half_open(q);
	quic_detach(q);
}

static void on_own_datagram(struct quic_socket *s, const struct quic_datagram *d);

/* The connection goes over to a socket of its own, now that its address is proved: it stays with
 * this process when another one listens. It goes on by the listener's where there is none.
 */
static void take_own_socket(struct quic_conn *q)
{
	struct quic_socket *shared = q->socket, *s;
	const struct quic_user *user = shared->listener.user;
	int fd = user->own_socket ? user->own_socket(q->listener_owner, &q->local, &q->path.peer)
				  : -1;

	if (fd < 0)
		return;
	s = quic_socket_new(fd, shared->no_gso, on_own_datagram);
	if (!s)
		return;
	s->listener.user = user;
	s->only = q;
	s->peer = q->path.peer;
	quic_detach(q);
	quic_attach(q, s);
	quic_later(q);
}

static void proved(struct quic_conn *q)
{
	if (q->flags & QUIC_FL_OWN_SOCKET)
		take_own_socket(q);
}

static void ready(struct quic_conn *q)
{
	q->socket->listener.user->ready(q->listener_owner, q);
}

static void gone(struct quic_conn *q)
{
	q->socket->listener.user->gone(q->listener_owner);
}

static const struct quic_host host = {
	.later = quic_later, .not_half_open = not_half_open, .ready = ready, .gone = gone,
	.proved = proved, .forget = forget,
};

/* --- answers without a connection ------------------------------------------------------------- */

static uint8_t random_byte(void)
{
	uint8_t b = 0;

	getrandom(&b, 1, 0);
	return b;
}

static void count(const struct quic_socket *s, enum quic_count what)
{
	quic_tally_add(&s->listener.tally, what, 1);
}

static void send_answer(struct quic_socket *s, const struct quic_datagram *to, uint8_t *bytes,
			size_t len)
{
	quic_send_datagram(s, &(struct quic_datagram){ .peer = to->peer, .local = to->local,
						       .bytes = bytes, .len = len });
}

static void send_versions(struct quic_socket *s, const struct quic_packet *head,
			  const struct quic_datagram *d)
{
	uint8_t answer[64];

	send_answer(s, d, answer, quic_put_versions(answer, head, random_byte() & 0x0f));
}

/* Tokens are good on all nodes that share the secret, so the time in them is that of all. */
static uint64_t token_time_s(void)
{
	return clock_wall_us() / 1000000;
}

static void send_retry(struct quic_socket *s, const struct quic_packet *head,
		       const struct quic_datagram *d)
{
	uint8_t answer[64 + QUIC_TOKEN_MAX + QUIC_RETRY_TAG_LEN], token[QUIC_TOKEN_MAX];
	struct quic_cid scid;
	size_t len;

	if (!quic_cid_new(&scid, thread_id))
		return;
	len = quic_token_make(token, &d->peer, &head->dcid, &scid, token_time_s());
	if (!len)
		return;
	len = quic_put_retry(answer, head, &scid, token, len, random_byte());
	if (!quic_retry_tag(head->version, &head->dcid, answer, len, answer + len))
		return;
	send_answer(s, d, answer, len + QUIC_RETRY_TAG_LEN);
	count(s, COUNT_QUIC_RETRY_SENT);
}

/* A rule does not want the client, or its token is bad. */
static void send_refusal(struct quic_socket *s, const struct quic_packet *head,
			 const struct quic_datagram *d, uint64_t error)
{
	uint8_t answer[QUIC_REFUSAL_ROOM];
	size_t len = quic_put_refusal(answer, head, error);

	if (len)
		send_answer(s, d, answer, len);
}

/* We know nothing of the connection: the client should forget it. */
static void send_reset(struct quic_socket *s, const struct quic_packet *head,
		       const struct quic_datagram *d)
{
	size_t len = d->len - 1 < RESET_LEN ? d->len - 1 : RESET_LEN;
	uint8_t answer[RESET_LEN];

	if (d->len <= RESET_LEAST || getrandom(answer, len, 0) != (ssize_t)len ||
	    !quic_reset_token(&head->dcid, answer + len - QUIC_RESET_TOKEN_LEN))
		return;
	answer[0] = (uint8_t)(0x40 | (answer[0] & 0x3f));
	send_answer(s, d, answer, len);
	count(s, COUNT_QUIC_RESETS_SENT);
}

/* --- datagrams -------------------------------------------------------------------------------- */

/* A socket of this thread that is bound to a port. */
static struct quic_socket *socket_of_port(uint16_t port)
{
	struct quic_socket *s;

	list_for_each(s, quic_sockets(), link)
		if (s->port == port)
			return s;
	return NULL;
}

static void passed_arrives(struct message *m)
{
	struct passed *p = container_of(m, struct passed, message);
	const struct quic_datagram *d = &p->datagram;
	struct quic_packet head = { 0 };
	struct quic_conn *q = NULL;

	__atomic_sub_fetch(&passed_bytes[thread_id], sizeof(*p) + d->len, __ATOMIC_RELAXED);
	if (quic_packet_read(d->bytes, d->len, QUIC_OUR_CID_LEN, &head))
		q = quic_find(&head.dcid, false);
	if (q) {
		quic_conn_input(q, d);
		quic_conn_settle(q);
	} else if (head.type == QUIC_PACKET_SHORT) {
		struct quic_socket *s = socket_of_port(d->local.port);

		if (s) {
			count(s, COUNT_QUIC_DROPPED);
			send_reset(s, &head, d);
		}
	}
	free(p);
}

/* Is it a connection of another thread? Then that one gets it. */
static bool pass_on(const struct quic_socket *s, const struct quic_packet *head,
		    const struct quic_datagram *d)
{
	unsigned thread;
	struct passed *p;

	if (head->dcid.len != QUIC_OUR_CID_LEN)
		return false;
	thread = quic_cid_thread(&head->dcid);
	if (thread >= thread_count() || thread == thread_id)
		return false;
	p = __atomic_load_n(&passed_bytes[thread], __ATOMIC_RELAXED) < PASSED_MOST
	    ? malloc(sizeof(*p) + d->len) : NULL;
	if (!p) {
		count(s, COUNT_QUIC_RXBUF_FULL);
		return true;
	}
	__atomic_add_fetch(&passed_bytes[thread], sizeof(*p) + d->len, __ATOMIC_RELAXED);
	p->message.run = passed_arrives;
	p->datagram = *d;
	p->datagram.bytes = p->bytes;
	memcpy(p->bytes, d->bytes, d->len);
	mailbox_post(thread, &p->message);
	return true;
}

/* The socket by which new connections come in now: this one, or its heir. */
static struct quic_socket *acceptor(struct quic_socket *s)
{
	struct quic_socket *other;

	if (s->accepts || s->of >= 0)
		return s->accepts ? s : NULL;
	list_for_each(other, quic_sockets(), link)
		if (other->accepts && other->port == s->port)
			return other;
	return NULL;
}

static bool wants_own_socket(const struct quic_listener *l)
{
	uint8_t all = l->tunes->sockets, line = l->line ? l->line->sockets : QUIC_SOCKETS_DEFAULT;

	if (all == QUIC_SOCKETS_SHARED || line == QUIC_SOCKETS_SHARED)
		return false;
	return all == QUIC_SOCKETS_OWN || line == QUIC_SOCKETS_OWN;
}

static bool wants_retry(const struct quic_listener *l)
{
	if (l->line && l->line->force_retry)
		return true;
	return l->tunes->retry_threshold &&
	       __atomic_load_n(&half_open, __ATOMIC_RELAXED) >=
		       (unsigned)l->tunes->retry_threshold;
}

/* A connection begins. */
static void begin(struct quic_socket *s, const struct quic_packet *head,
		  const struct quic_cid *retried, const struct quic_datagram *d)
{
	const struct quic_listener *l = &s->listener;
	struct quic_conn *q;

	if (!l->user->may_begin(l->owner))
		return;
	q = quic_conn_new(l, &host, head, retried, clock_now_ns());
	if (!q || !quic_conn_is_first(q, head, d->bytes)) {
		count(s, COUNT_QUIC_DROPPED);
		l->user->gone(l->owner);
		if (q)
			quic_conn_free(q);
		return;
	}
	q->path.peer = d->peer;
	q->local = d->local;
	q->listener_owner = l->owner;
	quic_attach(q, s);
	q->flags |= QUIC_FL_HALF_OPEN | (wants_own_socket(l) ? QUIC_FL_OWN_SOCKET : 0);
	__atomic_add_fetch(&half_open, 1, __ATOMIC_RELAXED);
	count(s, COUNT_QUIC_HALF_OPEN);
	if (!l->user->begin(l->owner, q)) {
		not_half_open(q);
		l->user->gone(l->owner);
		quic_conn_free(q);
		return;
	}
	quic_conn_input(q, d);
	quic_conn_settle(q);
}

static void on_initial(struct quic_socket *s, const struct quic_packet *head,
		       const struct quic_datagram *d)
{
	enum quic_verdict verdict;
	struct quic_cid odcid;
	bool valid;

	s = acceptor(s);
	/* RFC 9000 14.1, 7.2 */
	if (!s)
		return;
	if (d->len < QUIC_INITIAL_MIN)
		count(s, COUNT_QUIC_TOO_SHORT);
	if (d->len < QUIC_INITIAL_MIN || head->dcid.len < 8) {
		count(s, COUNT_QUIC_DROPPED);
		return;
	}
	if (d->peer.port < 1024 && !s->listener.tunes->any_port)
		return;
	verdict = s->listener.user->judge
			  ? s->listener.user->judge(s->listener.owner, &d->peer, &d->local)
			  : QUIC_ADMIT;
	if (verdict == QUIC_REFUSE)
		send_refusal(s, head, d, QUIC_CONNECTION_REFUSED);
	if (verdict == QUIC_REFUSE || verdict == QUIC_IGNORE)
		return;
	valid = quic_token_check(head->token, head->token_len, &d->peer, &head->dcid,
				 token_time_s(), &odcid);
	/* It takes no second Retry (RFC 9000 8.1.2). */
	if (!valid && quic_token_is_retry(head->token, head->token_len)) {
		count(s, COUNT_QUIC_RETRY_ERROR);
		count(s, COUNT_QUIC_DROPPED);
		send_refusal(s, head, d, QUIC_INVALID_TOKEN);
		return;
	}
	if (!valid && (verdict == QUIC_PROVE || wants_retry(&s->listener))) {
		send_retry(s, head, d);
		return;
	}
	if (valid)
		count(s, COUNT_QUIC_RETRY_VALID);
	begin(s, head, valid ? &odcid : NULL, d);
}

static void on_datagram(struct quic_socket *s, const struct quic_datagram *d)
{
	struct quic_packet head;
	struct quic_conn *q;

	if (!quic_packet_read(d->bytes, d->len, QUIC_OUR_CID_LEN, &head))
		return;
	q = quic_find(&head.dcid, head.type == QUIC_PACKET_INITIAL ||
				  head.type == QUIC_PACKET_EARLY);
	if (q) {
		quic_conn_input(q, d);
		quic_conn_settle(q);
	} else if (head.type == QUIC_PACKET_OTHER) {
		if (head.version && d->len >= QUIC_INITIAL_MIN)
			send_versions(s, &head, d);
	} else if (head.type == QUIC_PACKET_INITIAL) {
		on_initial(s, &head, d);
	} else if (!pass_on(s, &head, d)) {
		count(s, COUNT_QUIC_DROPPED);
		if (head.type == QUIC_PACKET_SHORT)
			send_reset(s, &head, d);
	}
}

/* What comes to the socket of a connection may be of another one: its peer may begin anew from the
 * same port, and before it was connected datagrams of any peer came.
 */
static void on_own_datagram(struct quic_socket *s, const struct quic_datagram *d)
{
	struct quic_datagram to = *d;
	struct quic_packet head;
	struct quic_socket *listening;
	struct quic_conn *q = s->only;

	if (!q)
		return;
	to.local = q->local;
	listening = socket_of_port(to.local.port);
	if (listening) {
		on_datagram(listening, &to);
		return;
	}
	q = quic_packet_read(d->bytes, d->len, QUIC_OUR_CID_LEN, &head)
	    ? quic_find(&head.dcid, false) : NULL;
	if (q) {
		quic_conn_input(q, d);
		quic_conn_settle(q);
	}
}

/* --- listening -------------------------------------------------------------------------------- */

/* A copy of <of>, of this thread. */
static struct quic_socket *listening_new(int of, const struct quic_listener *l)
{
	int fd = fcntl(of, F_DUPFD_CLOEXEC, 0);
	struct quic_socket *s = fd >= 0 ? quic_socket_new(fd, l->tunes->no_gso, on_datagram)
					: NULL;

	if (s) {
		s->of = of;
		s->port = l->port;
	}
	return s;
}

bool quic_listen(int fd, const struct quic_listener *l, enum quic_listen how)
{
	struct quic_socket *s, *found = NULL;

	list_for_each(s, quic_sockets(), link)
		if (s->of == fd)
			found = s;
	if (!found && how != QUIC_CLOSE)
		found = listening_new(fd, l);
	if (!found)
		return how == QUIC_CLOSE;
	found->listener = *l;
	found->accepts = how == QUIC_LISTEN;
	if (how != QUIC_CLOSE)
		return true;
	found->of = -1;
	found->listener.tally.set = NULL;
	if (!found->conns)
		quic_socket_close(found);
	return true;
}
