/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_dial.c - the dialler: each stage, its errors and its cancellation */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/module.h"
#include "base/strbuf.h"
#include "core/task.h"
#include "core/thread.h"
#include "net/dial.h"
#include "tap.h"

extern const struct module mod_net;

/* --- a server, and what is known of the dialler ---------------------------------------------- */

static int listener, unix_listener, peer = -1;
static struct sockaddr_storage here, unix_here, nobody, six;
static socklen_t unix_len;
static struct dial dial;
static struct conn *conn;
static unsigned calls, readies;
static enum dial_result result;
static char got[256];

static void on_ready(struct conn *c)
{
	readies++;
}

static void on_describe(const struct conn *c, struct strbuf *out)
{
	strbuf_printf(out, " owner=%s", (const char *)c->owner);
}

static const struct conn_ops ops = { .name = "test", .ready = on_ready, .describe = on_describe };

static void on_done(struct dial *d, struct conn *c, enum dial_result r)
{
	calls++;
	conn = c;
	result = r;
}

static struct sockaddr_storage loopback(uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_storage ss = { 0 };

	memcpy(&ss, &in, sizeof(in));
	return ss;
}

/* A listener of <family>, its address in *ss. */
static int listen_at(struct sockaddr_storage *ss, socklen_t len)
{
	int fd = socket(ss->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)ss, len) < 0 || listen(fd, 8) < 0 ||
	    getsockname(fd, (struct sockaddr *)ss, &len) < 0)
		abort();
	return fd;
}

static void open_servers(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd;

	here = nobody = loopback(0);
	listener = listen_at(&here, sizeof(struct sockaddr_in));
	fd = listen_at(&nobody, sizeof(struct sockaddr_in));
	close(fd);
	snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "t_dial.%d", (int)getpid());
	memcpy(&unix_here, &un, sizeof(un));
	unix_len = sizeof(un);
	unix_listener = listen_at(&unix_here, unix_len);
	six.ss_family = AF_INET6;
}

static void take_peer(int from)
{
	if (peer >= 0)
		close(peer);
	peer = accept4(from, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* What the peer can read now; -1: its end. */
static int peer_reads(void)
{
	ssize_t n = recv(peer, got, sizeof(got) - 1, MSG_DONTWAIT);

	got[n > 0 ? n : 0] = '\0';
	return n == 0 ? -1 : n < 0 ? 0 : (int)n;
}

static void peer_says(const char *bytes, size_t len)
{
	if (send(peer, bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
		abort();
}

static struct dial_want want_of(const struct sockaddr_storage *to)
{
	return (struct dial_want){ .to = to, .to_len = sizeof(struct sockaddr_in) };
}

static enum dial_result start(struct dial_want *w, int64_t ms)
{
	calls = readies = 0;
	result = DIAL_OTHER;
	return dial_start(&dial, w, ms, &ops, "me");
}

static struct slice first_bytes(struct dial_want *w, int fd, char room[DIAL_FIRST_MAX])
{
	memcpy(room, w->ctx, strlen(w->ctx));
	return slice_make(room, strlen(w->ctx));
}

static struct slice no_bytes(struct dial_want *w, int fd, char room[DIAL_FIRST_MAX])
{
	return slice_none();
}

/* --- a transport with a handshake: it says hello, and waits for one byte --------------------- */

static unsigned shakes_open;
static bool said_hello;

static enum io shake(struct conn *c)
{
	char byte;
	ssize_t n;

	if (!said_hello && send(c->fd, " hello", 6, MSG_NOSIGNAL) != 6)
		abort();
	said_hello = true;
	n = recv(c->fd, &byte, 1, MSG_DONTWAIT);
	if (n == 1 && byte == '+')
		return IO_OK;
	if (n < 0 && errno == EAGAIN) {
		fd_cant_recv(c->fd);
		return IO_AGAIN;
	}
	c->error = EPROTO;
	return IO_ERR;
}

static void shake_close(struct conn *c)
{
	shakes_open--;
}

static struct transport shaking;

static bool secure(struct conn *c, struct dial_want *w)
{
	shakes_open++;
	said_hello = false;
	shaking = transport_raw;
	shaking.handshake = shake;
	shaking.close = shake_close;
	c->transport = &shaking;
	c->flags |= CONN_HANDSHAKE;
	return true;
}

static bool secure_fails(struct conn *c, struct dial_want *w)
{
	return false;
}

/* --- the steps, each in a turn of its own ---------------------------------------------------- */

static void dial_plain(void)
{
	struct dial_want w = want_of(&here);

	is_int(start(&w, 0), DIAL_DONE, "a connection is under way");
	ok(dial_is_on(&dial) && !calls, "nothing is told from within");
}

static void see_plain(void)
{
	struct strbuf b;

	is_int(calls, 1, "it is told once");
	is_int(result, DIAL_DONE, "that it is usable");
	ok(conn && conn_is_usable(conn) && conn->ops == &ops && !dial_is_on(&dial),
	   "the connection is handed over");
	strbuf_init(&b);
	conn->ops->describe(conn, &b);
	is_str(b.ptr, " owner=me", "with its owner");
	strbuf_fini(&b);
	is_int(dial_why(conn), DIAL_DONE, "nothing is wrong with it");
	is_int(readies, 0, "its new owner looks at it by itself");
	take_peer(listener);
	conn_close(&conn);
	is_int(peer_reads(), -1, "the peer sees it closed");
}

static void dial_unix(void)
{
	struct dial_want w = { .to = &unix_here, .to_len = unix_len };

	is_int(start(&w, 0), DIAL_DONE, "a UNIX socket");
	ok(!calls && dial_is_on(&dial), "stands at once, and is told later all the same");
}

static void see_unix(void)
{
	is_int(result, DIAL_DONE, "that it is usable");
	conn_close(&conn);
}

static void dial_nobody(void)
{
	struct dial_want w = want_of(&nobody);
	enum dial_result r = start(&w, 1000);

	ok(r == DIAL_DONE || r == DIAL_REFUSED, "a port where no one listens");
	if (r != DIAL_DONE) {
		result = r;
		calls = 1;
	}
}

static void see_nobody(void)
{
	is_int(calls, 1, "is told once");
	is_int(result, DIAL_REFUSED, "as refused");
	ok(!conn && !dial_is_on(&dial) && !timer_is_set(&dial.timer), "nothing is left");
}

static void refuse_at_once(void)
{
	struct sockaddr_storage none = { 0 }, away = loopback(1);
	struct dial_want w = want_of(&none);
	struct conn *c;

	is_int(start(&w, 0), DIAL_NO_ADDRESS, "without an address");
	w = want_of(&six);
	w.via = &here;
	w.via_len = sizeof(struct sockaddr_in);
	is_int(start(&w, 0), DIAL_NO_WAY, "IPv6 through SOCKS4");
	((struct sockaddr_in *)&away)->sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1 */
	w = want_of(&here);
	w.set.source = &away;
	is_int(start(&w, 0), DIAL_NO_SOURCE, "from an address that is not ours");
	w = want_of(&here);
	w.secure = secure_fails;
	is_int(start(&w, 0), DIAL_NO_MEMORY, "TLS that cannot be begun");
	w = want_of(&here);
	w.first = no_bytes;
	w.secure = secure;
	is_int(dial_open(&w, &ops, NULL, &c), DIAL_NO_MEMORY, "first bytes that cannot be made");
	ok(!c && !shakes_open && errno == ENOMEM, "nothing is left");
	ok(!calls && !dial_is_on(&dial), "none of these calls back");
	dial_cancel(&dial);
}

static int again;

static void dial_again(void)
{
	struct dial_want w = want_of(&here);
	bool in_progress;

	w.flags = DIAL_NO_LINGER;
	is_int(dial_socket(&w, &again, &in_progress), DIAL_DONE, "a socket alone");
	ok(socket_disconnect(again), "is disconnected");
	w.again = &again;
	is_int(dial_open(&w, &ops, NULL, &conn), DIAL_DONE, "and connected again");
	is_int(conn->fd, again, "it is the same one");
	ok(conn->flags & CONN_NO_LINGER, "reset at its end");
	readies = 0;
}

static void see_again(void)
{
	struct sockaddr_storage none = { 0 };
	struct dial_want w = want_of(&none);
	int spare = dup(conn->fd);

	ok(readies > 0 && conn_is_usable(conn), "without a timer ready() tells of it");
	conn_close(&conn);
	w.again = &spare;
	is_int(dial_open(&w, &ops, NULL, &conn), DIAL_NO_ADDRESS, "a spare socket, no address");
	ok(fcntl(spare, F_GETFD) < 0, "is closed");
}

static void dial_first(void)
{
	struct dial_want w = want_of(&here);

	take_peer(listener); /* those of dial_again() */
	take_peer(listener);
	w.first = first_bytes;
	w.ctx = "PROXY x\r\n";
	is_int(start(&w, 0), DIAL_DONE, "with bytes that come first");
}

static void see_first(void)
{
	is_int(result, DIAL_DONE, "it is usable");
	ok(conn->transport == &transport_raw && !conn->transport_ctx, "on the plain transport");
	do
		take_peer(listener);
	while (peer >= 0 && peer_reads() <= 0);
	is_str(got, "PROXY x\r\n", "when they were sent");
	conn_close(&conn);
}

/* --- SOCKS4, then first bytes, then a handshake ---------------------------------------------- */

static struct sockaddr_storage behind;

static void dial_stages(void)
{
	struct dial_want w = want_of(&behind);

	behind = loopback(0x1234);
	w.via = &here;
	w.via_len = sizeof(struct sockaddr_in);
	w.first = first_bytes;
	w.ctx = "first";
	w.secure = secure;
	is_int(start(&w, 0), DIAL_DONE, "all stages");
}

static void see_question(void)
{
	take_peer(listener);
	is_int(peer_reads(), 16, "the proxy is asked");
	ok(memcmp(got, "\x04\x01\x12\x34\x7f\0\0\x01HAProxy", 16) == 0, "for the server");
	ok(!calls && !conn_is_usable(dial.conn), "nothing is told yet");
}

static void answer_half(void)
{
	peer_says("\0\x5a\0", 3);
}

static void answer_rest(void)
{
	is_int(peer_reads(), 0, "half an answer is none");
	peer_says("\0\0\0\0\0", 5);
}

static void see_handshake(void)
{
	is_int(peer_reads(), 11, "the first bytes follow");
	is_str(got, "first hello", "before those of the handshake, in one packet");
	ok(!calls, "the handshake is not over");
	peer_says("+", 1);
}

static void see_stages(void)
{
	is_int(result, DIAL_DONE, "all is done");
	ok(conn->transport == &shaking, "the transport above has the connection");
	conn_close(&conn);
	is_int(shakes_open, 0, "and is closed with it");
}

static void refuse_socks4(void)
{
	take_peer(listener);
	peer_says("\0\x5b\0\0\0\0\0\0", 8);
}

static void see_denied(void)
{
	is_int(result, DIAL_SOCKS4_DENY, "the proxy refuses");
	ok(dial_is_socks4(result) && !conn && !shakes_open, "nothing is left");
	is_str(dial_text(result), "SOCKS4 Proxy deny the request", "the text of checks");
}

static void abort_socks4(void)
{
	take_peer(listener);
	peer_says("\0\x5a", 2);
	shutdown(peer, SHUT_WR);
}

static void see_aborted(void)
{
	is_int(result, DIAL_SOCKS4_ABORT, "the proxy leaves in the middle of its answer");
}

static void leave_socks4(void)
{
	take_peer(listener);
	shutdown(peer, SHUT_WR);
}

static void see_left(void)
{
	is_int(result, DIAL_SOCKS4_RECV, "the proxy leaves without one");
}

static void dial_secured(int64_t ms)
{
	struct dial_want w = want_of(&here);

	w.secure = secure;
	is_int(start(&w, ms), DIAL_DONE, "with a handshake");
}

static void dial_bad_handshake(void)
{
	dial_secured(0);
	take_peer(listener);
	peer_says("-", 1);
}

static void see_bad_handshake(void)
{
	is_int(result, DIAL_HANDSHAKE, "that fails");
	is_int(shakes_open, 0, "nothing is left");
	dial_secured(1);
}

static void see_late_handshake(void)
{
	is_int(calls, 1, "a handshake that takes too long is told once");
	is_int(result, DIAL_HANDSHAKE_TIMEOUT, "as such");
	is_int(shakes_open, 0, "nothing is left");
	take_peer(listener);
}

static unsigned stage;

/* Cancelled as soon as opened, after the connection, in the question, in the handshake. */
static void cancel(void)
{
	dial_cancel(&dial);
	ok(!calls && !dial_is_on(&dial) && !shakes_open && !timer_is_set(&dial.timer),
	   "cancelled at stage %u", stage++);
	dial_cancel(&dial);
	take_peer(listener);
}

static void dial_and_cancel(void)
{
	struct dial_want w = { .to = &unix_here, .to_len = unix_len };

	dial_stages();
	cancel();
	is_int(start(&w, 0), DIAL_DONE, "usable at once");
	cancel();
	dial_stages();
}

static void cancel_and_shake(void)
{
	cancel();
	dial_secured(1000);
}

static void cancel_last(void)
{
	cancel();
	dial_cancel(&dial);
	close(peer);
	thread_stop_all();
}

static void (*const steps[])(void) = {
	dial_plain, see_plain, dial_unix, see_unix, dial_nobody, see_nobody, refuse_at_once,
	dial_again, see_again, dial_first, see_first, dial_stages, see_question, answer_half,
	answer_rest, see_handshake, see_stages, dial_stages, refuse_socks4, see_denied, dial_stages,
	abort_socks4, see_aborted, dial_stages, leave_socks4, see_left, dial_bad_handshake,
	see_bad_handshake, see_late_handshake, dial_and_cancel, cancel_and_shake, cancel_last,
};

#define STEPS_PAUSE_MS 10
#include "core/steps.h"

static const struct module test_module = {
	.name = "test", .thread_init = steps_start, .thread_fini = steps_stop,
};

static void results(void)
{
	is_int(dial_result_of(0), DIAL_DONE, "no error");
	is_int(dial_result_of(EMFILE), DIAL_NO_DESCRIPTOR, "EMFILE");
	is_int(dial_result_of(ETIMEDOUT), DIAL_TIMEOUT, "ETIMEDOUT");
	is_int(dial_result_of(EDOM), DIAL_OTHER, "any other");
	ok(dial_is_ours(DIAL_NO_SOURCE) && dial_is_ours(dial_result_of(EPERM)) &&
	   !dial_is_ours(DIAL_REFUSED) && !dial_is_ours(DIAL_NO_ADDRESS),
	   "what this host lacks, and what not");
	for (int r = DIAL_DONE; r <= DIAL_OTHER; r++)
		ok(*dial_text((enum dial_result)r), "result %d has a text", r);
}

int main(void)
{
	static const struct module *const modules[] = { &mod_net, &test_module, NULL };

	clock_refresh();
	results();
	ok(mod_net.init(), "the network floor starts");
	open_servers();
	dial_init(&dial, on_done);
	dial_cancel(&dial);
	ok(thread_layout(1, 1), "one thread");
	ok(thread_run_all(modules), "it ran");
	is_int(step, sizeof(steps) / sizeof(*steps), "through all steps");
	close(listener);
	close(unix_listener);
	return done_testing();
}
