/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pipe.c - kernel pipes through which bytes go from socket to socket without entering user space */
#include "net/pipe.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "conf/conf.h"
#include "net/sent.h"

/* A pipe as large as the system allows any user: fewer turns for bulk transfers. */
#define PIPE_SIZE (1 << 18)
#define PIPES_SPARE_MAX 32

static unsigned pipe_size = PIPE_SIZE;  /* set at start-up */
static unsigned pipes_limit = 8192; /* set at start-up */
static unsigned pipes_used, pipes_spare; /* atomic */
static __thread struct pipe *spare;
static __thread unsigned spare_count;

void pipe_set_limit(unsigned max)
{
	pipes_limit = max;
}

struct slot pipe_tune_slot = { .of = SLOT_CONFIG, .size = sizeof(struct pipe_tunes) };

void pipe_apply_tunes(const struct config *cfg)
{
	const struct pipe_tunes *t = slot_of(&pipe_tune_slot, config_slots(cfg));

	if (t->size)
		pipe_size = (unsigned)t->size;
}

unsigned pipe_used_count(void)
{
	return __atomic_load_n(&pipes_used, __ATOMIC_RELAXED);
}

unsigned pipe_free_count(void)
{
	return __atomic_load_n(&pipes_spare, __ATOMIC_RELAXED);
}

static struct pipe *pipe_open(void)
{
	struct pipe *p;

	if (pipe_used_count() + pipe_free_count() >= pipes_limit)
		return NULL;
	p = malloc(sizeof(*p));
	if (!p)
		return NULL;
	if (pipe2(p->fd, O_NONBLOCK | O_CLOEXEC) < 0) {
		free(p);
		return NULL;
	}
	fcntl(p->fd[0], F_SETPIPE_SZ, (int)pipe_size);
	p->bytes = 0;
	return p;
}

struct pipe *pipe_take(void)
{
	struct pipe *p = spare;

	if (p) {
		spare = p->next;
		spare_count--;
		__atomic_fetch_sub(&pipes_spare, 1, __ATOMIC_RELAXED);
	} else {
		p = pipe_open();
		if (!p)
			return NULL;
	}
	__atomic_fetch_add(&pipes_used, 1, __ATOMIC_RELAXED);
	return p;
}

static void pipe_close(struct pipe *p)
{
	close(p->fd[0]);
	close(p->fd[1]);
	free(p);
}

void pipe_thread_fini(void)
{
	struct pipe *p;

	while ((p = spare) != NULL) {
		spare = p->next;
		spare_count--;
		__atomic_fetch_sub(&pipes_spare, 1, __ATOMIC_RELAXED);
		pipe_close(p);
	}
}

void pipe_give(struct pipe **pp)
{
	struct pipe *p = *pp;

	*pp = NULL;
	if (!p)
		return;
	__atomic_fetch_sub(&pipes_used, 1, __ATOMIC_RELAXED);
	if (p->bytes || spare_count >= PIPES_SPARE_MAX) {
		pipe_close(p);
		return;
	}
	p->next = spare;
	spare = p;
	spare_count++;
	__atomic_fetch_add(&pipes_spare, 1, __ATOMIC_RELAXED);
}

enum io conn_splice_in(struct conn *c, struct pipe *p, size_t max, size_t *got)
{
	ssize_t n;

	*got = 0;
	do
		n = splice(c->fd, NULL, p->fd[1], NULL, max, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		*got = (size_t)n;
		p->bytes += (size_t)n;
		return IO_OK;
	}
	if (n == 0) {
		c->flags = (c->flags | CONN_EOF) & ~CONN_CAN_RECV;
		return IO_EOF;
	}
	if (errno == EAGAIN) {
		/* a pipe with bytes may be full rather than the socket empty: keep readiness */
		if (!p->bytes) {
			c->flags &= ~CONN_CAN_RECV;
			fd_cant_recv(c->fd);
		}
		return IO_AGAIN;
	}
	c->error = (uint8_t)errno;
	c->flags = (c->flags | CONN_ERROR | CONN_EOF) & ~(CONN_CAN_RECV | CONN_CAN_SEND);
	return IO_ERR;
}

enum io conn_splice_out(struct conn *c, struct pipe *p, size_t *sent)
{
	ssize_t n;

	*sent = 0;
	if (!conn_flush(c))
		return IO_AGAIN;
	while (p->bytes) {
		n = splice(p->fd[0], NULL, c->fd, NULL, p->bytes,
			   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
		if (n > 0) {
			p->bytes -= (size_t)n;
			*sent += (size_t)n;
			sent_add_spliced((size_t)n);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			c->flags &= ~CONN_CAN_SEND;
			fd_cant_send(c->fd);
			return IO_AGAIN;
		}
		c->error = (uint8_t)(n < 0 ? errno : EPIPE);
		c->flags = (c->flags | CONN_ERROR) & ~CONN_CAN_SEND;
		return IO_ERR;
	}
	return IO_OK;
}
