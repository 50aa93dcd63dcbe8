/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_forward.c - receiving log messages, and passing them on */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/mailbox.h"
#include "core/symbol.h"
#include "core/task.h"
#include "core/thread.h"
#include "ext/log_forward.h"
#include "front/listen.h"
#include "log/log.h"
#include "net/conn.h"
#include "net/listener.h"
#include "proxy/proxy.h"
#include "tls/tls.h"
#include "log_forward_priv.h"

#define DATAGRAMS_A_TURN 256
#define READS_A_TURN 16

/* A stream of messages. */
struct log_conn {
	struct list link;
	struct config *config;       /* counted */
	struct log_forward *section; /* of it */
	struct conn *conn;
	struct addr src;
	struct strbuf in;            /* received, not cut in messages yet */
	struct task *task;           /* its timer is the timeout; goes on when there is more */
};

static __thread struct list conns;

/* Guards the listeners of inputs: any thread that ends a connection resumes them. */
static pthread_mutex_t inputs_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- sections -------------------------------------------------------------------------------- */

static void input_close_listener(struct log_input *in)
{
	struct listener *l;

	pthread_mutex_lock(&inputs_lock);
	l = in->listener;
	in->listener = NULL;
	pthread_mutex_unlock(&inputs_lock);
	listener_close(&l);
}

/* Closes an input that is not polled. */
static void input_close(struct log_input *in)
{
	input_close_listener(in);
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
}

static void forwards_fini(void *data)
{
	for (struct log_forward *f = *(struct log_forward **)data; f; f = f->next) {
		for (struct log_input *in = f->inputs; in; in = in->next)
			input_close(in);
		proxy_close(f->proxy);
	}
}

struct slot log_forward_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct log_forward *), .fini = forwards_fini,
};

struct log_forward *log_forwards_of(const struct config *cfg)
{
	return *(struct log_forward **)slot_of(&log_forward_slot, config_slots(cfg));
}

void log_forward_add(struct config *cfg, struct log_forward *f)
{
	struct log_forward **first = slot_of(&log_forward_slot, config_slots(cfg));

	f->next = *first;
	*first = f;
}

unsigned log_forward_count_inputs(const struct config *cfg)
{
	unsigned n = 0;

	for (struct log_forward *f = log_forwards_of(cfg); f; f = f->next)
		for (struct log_input *in = f->inputs; in; in = in->next)
			n++;
	return n;
}

/* --- messages -------------------------------------------------------------------------------- */

/* The name of the sender's host by the section's strategy, written into <room> if it is made. */
static struct slice host_of(const struct log_forward *f, const struct addr *src, struct slice name,
			    struct strbuf *room)
{
	char ip[ADDR_IP_MAX];

	if (!addr_is_inet(src) || f->host == FORWARD_KEEP || (f->host == FORWARD_FILL && name.len))
		return name;
	addr_put_ip(src, ip, sizeof(ip));
	if (f->host == FORWARD_APPEND && name.len) {
		strbuf_add(room, name);
		strbuf_add_char(room, ',');
	}
	strbuf_add_str(room, ip);
	return strbuf_slice(room);
}

static void pass_on(const struct config *cfg, const struct log_forward *f, const struct addr *src,
		    struct slice text)
{
	struct syslog_message m = { .format = SYSLOG_UNSET };
	struct log_message out = { .foreign = &m, .is_traffic = true };
	struct strbuf room;
	char area[512];

	if (f->unread)
		m.text = text.len && text.ptr[text.len - 1] == '\n'
				 ? slice_sub(text, 0, text.len - 1) : text;
	else
		syslog_parse(text, &m);
	if (!m.text.len && m.format != SYSLOG_RFC5424)
		return;
	strbuf_init_fixed(&room, area, sizeof(area));
	m.hostname = host_of(f, src, m.hostname, &room);
	out.text = m.text;
	out.level = (enum log_level)(m.priority & 7);
	log_send(cfg, slot_of(&log_proxy_slot, proxy_slots(f->proxy)), &out);
}

/* --- streams --------------------------------------------------------------------------------- */

/* A place is free. */
static void section_release(struct log_forward *f)
{
	__atomic_sub_fetch(&f->connections, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&inputs_lock);
	for (struct log_input *in = f->inputs; in; in = in->next)
		if (in->listener)
			listener_resume(in->listener);
	pthread_mutex_unlock(&inputs_lock);
}

static void conn_free(struct log_conn *c)
{
	list_remove(&c->link);
	listener_thread_load_add(-1);
	section_release(c->section);
	task_free(&c->task);
	if (c->conn)
		conn_close(&c->conn);
	strbuf_fini(&c->in);
	config_drop(&c->config);
	free(c);
}

/* Cuts what came in messages. False: that cannot be. */
static bool conn_use(struct log_conn *c)
{
	enum syslog_frame_status status = SYSLOG_FRAME_MORE;
	struct slice rest = strbuf_slice(&c->in), frame;
	size_t used;

	while (rest.len) {
		status = syslog_frame_next(rest, c->section->lines_only, block_size(), &frame,
					   &used);
		if (status != SYSLOG_FRAME_DONE)
			break;
		pass_on(c->config, c->section, &c->src, frame);
		rest = slice_sub(rest, used, rest.len);
	}
	if (rest.len)
		memmove(c->in.ptr, rest.ptr, rest.len);
	c->in.len = rest.len;
	if (status == SYSLOG_FRAME_BAD)
		log_drop();
	return status != SYSLOG_FRAME_BAD;
}

/* False: the connection is over. */
static bool conn_read(struct log_conn *c)
{
	struct block *b;
	enum io r = IO_OK;
	size_t got;

	for (int i = 0; r == IO_OK && c->conn->flags & CONN_CAN_RECV; i++) {
		if (i == READS_A_TURN) {
			task_wake(c->task, TASK_WOKEN_OTHER);
			break;
		}
		b = block_new();
		if (!b)
			return false;
		got = 0;
		r = conn_recv_block(c->conn, b, &got);
		if (got && !strbuf_add(&c->in, slice_make(b->data, got)))
			r = IO_ERR;
		block_drop(b);
		if (got && r != IO_ERR && !conn_use(c))
			r = IO_ERR;
	}
	return r != IO_EOF && r != IO_ERR;
}

static void conn_go_on(struct log_conn *c)
{
	if (c->conn->flags & CONN_ERROR || !conn_read(c)) {
		conn_free(c);
		return;
	}
	if (c->section->client_ms > 0)
		task_schedule(c->task, clock_now_ms() + (uint64_t)c->section->client_ms);
}

static void conn_ready(struct conn *conn)
{
	conn_go_on(conn->owner);
}

static void conn_task(struct task *t, void *ctx, unsigned why)
{
	if (why & TASK_WOKEN_OTHER)
		conn_go_on(ctx);
	else
		conn_free(ctx);
}

static void conn_describe(const struct conn *conn, struct strbuf *out)
{
	const struct log_conn *c = conn->owner;

	strbuf_printf(out, " fe=%s mux=SYSLOG", c->section->proxy->name);
}

static const struct conn_ops log_conn_ops = {
	.name = "log-forward", .ready = conn_ready, .describe = conn_describe,
};

/* --- listening ------------------------------------------------------------------------------- */

static void input_accept(void *owner, int fd, const struct addr *src)
{
	struct log_input *in = owner;
	struct slot_area *bind = bind_slots(in->address->bind);
	struct log_conn *c = calloc(1, sizeof(*c));

	if (c)
		c->task = task_new(conn_task, c);
	if (c && c->task)
		c->conn = conn_new(fd, &log_conn_ops, c, CONN_CAN_RECV | CONN_CAN_SEND);
	if (!c || !c->conn) {
		if (c)
			task_free(&c->task);
		free(c);
		close(fd);
		section_release(in->section);
		return;
	}
	c->config = config_take(in->section->proxy->config);
	c->section = in->section;
	c->src = *src;
	strbuf_init(&c->in);
	list_append(&conns, &c->link);
	listener_thread_load_add(1);
	if (tls_bind_is_on(bind) && !tls_accept(c->conn, bind))
		conn_free(c);
	else if (c->conn->flags & CONN_HANDSHAKE)
		task_schedule(c->task, c->section->client_ms > 0
				       ? clock_now_ms() + (uint64_t)c->section->client_ms
				       : TIMER_NEVER);
	else
		conn_go_on(c);
}

static bool input_may_accept(void *owner, unsigned *wait_ms)
{
	struct log_forward *f = ((struct log_input *)owner)->section;

	if (__atomic_add_fetch(&f->connections, 1, __ATOMIC_SEQ_CST) <= f->maxconn)
		return true;
	__atomic_sub_fetch(&f->connections, 1, __ATOMIC_SEQ_CST);
	return false;
}

static void input_give_back(void *owner)
{
	__atomic_sub_fetch(&((struct log_input *)owner)->section->connections, 1, __ATOMIC_SEQ_CST);
}

static bool input_uses_thread(void *owner, unsigned thread)
{
	const struct log_input *in = owner;
	unsigned g = thread_group_of(thread);

	return thread_mask_has(&in->address->bind->threads, g, thread - thread_group_first(g));
}

static const char *input_name(void *owner)
{
	return ((struct log_input *)owner)->section->proxy->name;
}

static const struct listener_user input_user = {
	.accept = input_accept, .may_accept = input_may_accept, .give_back = input_give_back,
	.uses_thread = input_uses_thread, .name = input_name,
};

/* Receives datagrams until there is none, or enough for a turn. */
static void input_datagrams(void *owner, int fd, unsigned events)
{
	struct log_input *in = owner;
	struct log_forward *f = in->section;

	for (int i = 0; i < DATAGRAMS_A_TURN; i++) {
		struct sockaddr_storage from;
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd, in->data, LOG_DATAGRAM_MAX, MSG_DONTWAIT,
				     (struct sockaddr *)&from, &len);
		struct addr src;

		if (n < 0 && (errno == EINTR || errno == ECONNREFUSED))
			continue;
		if (n < 0)
			return;
		src = addr_from_sockaddr(&from, len);
		pass_on(f->proxy->config, f, &src, slice_make(in->data, (size_t)n));
	}
	task_wake(in->task, TASK_WOKEN_OTHER); /* readiness is told once */
}

static void input_task(struct task *t, void *ctx, unsigned why)
{
	struct log_input *in = ctx;

	input_datagrams(in, in->fd, FD_IN);
}

/* --- sockets --------------------------------------------------------------------------------- */

/* The descriptor of the same input of <prev>, borrowed; -1: none. */
static int input_find(const struct log_input *in, const struct config *prev)
{
	const struct listener_conf *a = in->address;

	for (struct log_forward *f = prev ? log_forwards_of(prev) : NULL; f; f = f->next) {
		for (struct log_input *was = f->inputs; was; was = was->next) {
			const struct listener_conf *b = was->address;

			if (was->datagrams == in->datagrams && a->address_len == b->address_len &&
			    memcmp(&a->address, &b->address, a->address_len) == 0)
				return was->listener ? listener_fd(was->listener) : was->fd;
		}
	}
	return -1;
}

static bool input_open(struct log_input *in, const struct config *prev, struct diag_list *diags)
{
	const struct listener_conf *a = in->address;
	char error[256];
	int fd = listen_plain_open(a, input_find(in, prev), in->datagrams, in->section->backlog,
				   error, sizeof(error));

	if (fd >= 0 && in->datagrams)
		in->fd = fd;
	else if (fd >= 0)
		in->listener = listener_new(fd, &input_user, in, 4);
	if (fd >= 0 && !in->datagrams && !in->listener)
		close(fd);
	return in->fd >= 0 || in->listener || listen_report(diags, a, error);
}

bool log_forward_open(struct config *cfg, const struct config *prev, struct diag_list *diags)
{
	bool good = true;

	for (struct log_forward *f = log_forwards_of(cfg); f; f = f->next)
		for (struct log_input *in = f->inputs; in; in = in->next)
			good &= input_open(in, prev, diags);
	return good;
}

/* The thread that receives the datagrams: one, so that a sender's come out in their order; the next
 * input has the next thread of those that its line allows.
 */
static unsigned input_home(const struct log_input *in)
{
	unsigned count = thread_count(), home = in->number % count;

	for (unsigned i = 0; i < count; i++, home = (home + 1) % count)
		if (input_uses_thread((void *)(uintptr_t)in, home))
			return home;
	return 0;
}

static void input_poll(struct log_input *in)
{
	if (in->fd < 0 || input_home(in) != thread_id || in->is_polled)
		return;
	in->task = task_new(input_task, in);
	in->is_polled = in->task && fd_add(in->fd, input_datagrams, in, 0);
	if (in->is_polled)
		input_datagrams(in, in->fd, FD_IN);
}

/* On the thread that receives them. */
static void input_leave(struct log_input *in)
{
	if (in->is_polled)
		fd_remove(in->fd);
	in->is_polled = false;
	task_free(&in->task);
}

static void input_left(struct message *m)
{
	struct log_input *in = container_of(m, struct log_input, message);

	input_leave(in);
	close(in->fd);
	in->fd = -1;
}

void log_forward_join(const struct config *cfg)
{
	for (struct log_forward *f = cfg ? log_forwards_of(cfg) : NULL; f; f = f->next) {
		for (struct log_input *in = f->inputs; in; in = in->next) {
			if (in->listener)
				listener_start_thread(in->listener);
			else
				input_poll(in);
		}
	}
}

void log_forward_close(const struct config *cfg)
{
	for (struct log_forward *f = cfg ? log_forwards_of(cfg) : NULL; f; f = f->next) {
		for (struct log_input *in = f->inputs; in; in = in->next) {
			if (in->fd >= 0) {
				in->message.run = input_left;
				mailbox_post(input_home(in), &in->message);
			}
			input_close_listener(in);
		}
	}
}

void log_forward_thread_init(void)
{
	list_init(&conns);
}

void log_forward_thread_fini(const struct config *cfg)
{
	struct log_conn *c, *next;

	for (struct log_forward *f = cfg ? log_forwards_of(cfg) : NULL; f; f = f->next) {
		for (struct log_input *in = f->inputs; in; in = in->next) {
			if (in->fd >= 0 && input_home(in) == thread_id)
				input_leave(in);
			else if (thread_id == 0)
				input_close_listener(in);
		}
	}
	list_for_each_safe(c, next, &conns, link)
		conn_free(c);
}
