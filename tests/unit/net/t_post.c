/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_post.c - messages that connections send at the end of a turn: order, room, ends, errors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/block.h"
#include "base/clock.h"
#include "base/module.h"
#include "core/task.h"
#include "core/thread.h"
#include "net/conn.h"
#include "net/pipe.h"
#include "tap.h"

extern const struct module mod_net;

static struct conn *conn;
static int peer;
static unsigned readies;
static bool ready_saw_error;
static char got[1 << 20];

static void on_ready(struct conn *c)
{
	readies++;
	if (c->flags & CONN_ERROR)
		ready_saw_error = true;
}

static const struct conn_ops ops = { .name = "test", .ready = on_ready };

/* What the peer can read now; -1: its end. */
static int peer_reads(void)
{
	ssize_t n, sum = 0;

	while ((n = recv(peer, got + sum, sizeof(got) - (size_t)sum - 1, MSG_DONTWAIT)) > 0)
		sum += n;
	got[sum] = '\0';
	return !sum && n == 0 ? -1 : (int)sum;
}

static void open_pair(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		abort();
	conn = conn_new(fds[0], &ops, NULL, 0);
	conn->flags |= CONN_CAN_SEND;
	peer = fds[1];
	readies = 0;
	ready_saw_error = false;
}

static void close_pair(void)
{
	conn_close(&conn);
	close(peer);
}

static enum io post(const char *text, bool more)
{
	struct block_queue q;

	block_queue_init(&q);
	if (!block_queue_add_copy(&q, slice_of(text)))
		abort();
	enum io r = conn_post(conn, &q, more);
	block_queue_clear(&q);
	return r;
}

static enum io send_now(const char *text)
{
	struct block_queue q;

	block_queue_init(&q);
	if (!block_queue_add_copy(&q, slice_of(text)))
		abort();
	enum io r = conn_send(conn, &q, false);
	block_queue_clear(&q);
	return r;
}

/* The socket's room, used up. */
static size_t fill(void)
{
	static char junk[4096];
	size_t sum = 0;
	ssize_t n;

	while ((n = send(conn->fd, junk, sizeof(junk), MSG_DONTWAIT)) > 0)
		sum += (size_t)n;
	return sum;
}

/* --- the steps, each in a turn of its own ---------------------------------------------------- */

static void post_two(void)
{
	open_pair();
	ok(post("one ", false) == IO_OK && post("two", false) == IO_OK, "two messages are taken");
	is_int(peer_reads(), 0, "nothing is sent before the end of the turn");
}

static void see_two(void)
{
	is_int(peer_reads(), 7, "both came");
	is_str(got, "one two", "in order");
	ok(post("a", false) == IO_OK && send_now("b") == IO_OK, "a message, then one at once");
	is_int(peer_reads(), 2, "the first went before the second");
	is_str(got, "ab", "in order");
	ok(post("more", true) == IO_OK, "a message with more behind it");
	is_int(peer_reads(), 4, "is sent at once");
	post("bye", false);
	conn_shut_write(conn);
	is_int(peer_reads(), 3, "our end comes behind what was posted");
	is_int(peer_reads(), -1, "and is seen");
	close_pair();
	open_pair();
	post("last", false);
	conn_close(&conn);
	is_int(peer_reads(), 4, "closing sends what was posted");
	close(peer);
	open_pair();
	post("moved", false);
	conn_detach(conn);
	is_int(peer_reads(), 5, "so does leaving the thread");
	ok(conn_attach(conn), "it comes back");
	close_pair();
}

static void splice_behind(void)
{
	struct pipe *p = pipe_take();
	size_t sent;

	open_pair();
	if (write(p->fd[1], "pipe", 4) != 4)
		abort();
	p->bytes = 4;
	post("head ", false);
	ok(conn_splice_out(conn, p, &sent) == IO_OK && sent == 4, "a pipe is sent");
	is_int(peer_reads(), 9, "behind the message");
	is_str(got, "head pipe", "in order");
	pipe_give(&p);
	close_pair();
}

static size_t filled;

static void post_without_room(void)
{
	open_pair();
	filled = fill();
	ok(post("kept", false) == IO_OK, "a message is taken by a full socket");
}

static void see_held(void)
{
	ok(conn->flags & CONN_TX_HELD && !(conn->flags & CONN_CAN_SEND), "it is held");
	ok(!conn_flush(conn), "which conn_flush() says");
	ok(send_now("no") == IO_AGAIN, "nothing passes it");
	conn_shut_write(conn);
	is_int(peer_reads(), (int)filled, "the peer reads what there was");
}

static void see_sent(void)
{
	is_int(peer_reads(), 4, "room sends what was held");
	is_int(peer_reads(), -1, "then the end that had to wait");
	ok(!(conn->flags & CONN_TX_HELD) && !conn->transport_ctx, "nothing is held any more");
	close_pair();
}

static void post_to_nobody(void)
{
	open_pair();
	close(peer);
	post("lost", false);
	is_int(readies, 0, "the error is not known yet");
}

static void see_error(void)
{
	ok(ready_saw_error && conn->error == EPIPE, "the error was told by ready()");
	ok(send_now("x") == IO_ERR, "and stays");
	conn_close(&conn);
}

static void close_held(void)
{
	open_pair();
	fill();
	post("dropped", false);
}

static void see_dropped(void)
{
	ok(conn->flags & CONN_TX_HELD, "held again");
	close_pair();
	thread_stop_all();
}

static void (*const steps[])(void) = {
	post_two, see_two, splice_behind, post_without_room, see_held, see_sent, post_to_nobody,
	see_error, close_held, see_dropped,
};

#define STEPS_PAUSE_MS 5
#include "core/steps.h"

static const struct module test_module = {
	.name = "test", .thread_init = steps_start, .thread_fini = steps_stop,
};

int main(void)
{
	static const struct module *const modules[] = { &mod_net, &test_module, NULL };

	clock_refresh();
	ok(mod_net.init(), "the network floor starts");
	ok(thread_layout(1, 1), "one thread");
	ok(thread_run_all(modules), "it ran");
	is_int(step, sizeof(steps) / sizeof(*steps), "through all steps");
	return done_testing();
}
