/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fd_ctl.c - edge file: show fd
 *
 * An owner is described by its own thread: the descriptors are handled in batches, each of which is
 * passed from thread to thread. Every thread writes the lines of those it owns; then the batch is
 * printed in order.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "core/core.h"
#include "core/fd.h"
#include "core/mailbox.h"
#include "core/symbol.h"
#include "core/thread.h"
#include "ctl/ctl.h"
#include "poller_priv.h"

#define BATCH 128

enum fd_filter {
	SHOW_PIPES = 1 << 0, SHOW_LISTENERS = 1 << 1, SHOW_FRONT = 1 << 2, SHOW_BACK = 1 << 3,
	SHOW_OTHERS = 1 << 4, SHOW_ALL = 31,
};

struct fd_dump {
	struct ctl_session *session; /* NULL: the client left meanwhile */
	bool touring;
	unsigned filter;
	int only;                    /* one descriptor, -1: all */
	int at;                      /* first of the batch */
	struct strbuf lines[BATCH];
};

static unsigned fd_class(const struct fd_entry *e, const struct fd_kind *kind)
{
	if ((e->flags & FD_FL_LISTENER) || (kind && kind->letter == 'l'))
		return SHOW_LISTENERS;
	if (kind && kind->letter == 'p')
		return SHOW_PIPES;
	if (kind && kind->letter == 'c')
		return e->flags & FD_FL_BACKEND ? SHOW_BACK : SHOW_FRONT;
	return SHOW_OTHERS;
}

static void fd_line(struct strbuf *out, int fd, const struct fd_entry *e,
		    const struct fd_kind *kind)
{
	bool listener = e->flags & FD_FL_LISTENER;
	unsigned group = thread_group_of(listener ? thread_id : e->thread);
	unsigned rank = (listener ? thread_id : e->thread) - thread_group_first(group);
	/* a listener belongs to all threads of its group */
	unsigned long long mask = listener ? ~0ull >> (64 - thread_group_size(group))
					   : 1ull << (rank % 64);

	strbuf_printf(out, "%7d : st=0x%06x(cl heopi W:%s R:%s) ref=0 gid=%u tmask=0x%llx "
		      "umask=0x0 prmsk=0x%llx pwmsk=0x%llx owner=%p gen=%u tkov=0 iocb=%p(", fd,
		      e->interest | e->flags << 8, e->interest & FD_OUT ? "sRA" : "srA",
		      e->interest & FD_IN ? "sRA" : "srA", group + 1, mask, mask,
		      listener ? 0 : mask, e->owner, e->generation, (const void *)e->handler);
	if (kind)
		strbuf_add_str(out, kind->name);
	else
		symbol_add_name(out, (const void *)e->handler);
	strbuf_add_char(out, ')');
	if (kind && kind->describe)
		kind->describe(e->owner, fd, out);
	strbuf_add_char(out, '\n');
}

/* Writes the lines of this thread's descriptors; of listeners whichever thread comes first. */
static void fd_dump_visit(void *ctx)
{
	struct fd_dump *dump = ctx;

	fd_shared_lock();
	for (int i = 0; i < BATCH && dump->at + i < fd_table_used(); i++) {
		const struct fd_entry *e = &fd_table[dump->at + i];
		const struct fd_kind *kind;

		if (dump->only >= 0 && dump->only != dump->at + i)
			continue;
		if (!__atomic_load_n(&e->handler, __ATOMIC_ACQUIRE) || dump->lines[i].len)
			continue;
		if (!(__atomic_load_n(&e->flags, __ATOMIC_RELAXED) & FD_FL_LISTENER) &&
		    __atomic_load_n(&e->thread, __ATOMIC_RELAXED) != thread_id)
			continue;
		kind = fd_kind_find(e->handler);
		if (fd_class(e, kind) & dump->filter)
			fd_line(&dump->lines[i], dump->at + i, e, kind);
	}
	fd_shared_unlock();
}

static void fd_dump_free(struct fd_dump *dump)
{
	for (unsigned i = 0; i < BATCH; i++)
		strbuf_fini(&dump->lines[i]);
	free(dump);
}

static void fd_dump_visited(void *ctx)
{
	struct fd_dump *dump = ctx;

	dump->touring = false;
	if (dump->session)
		ctl_session_resume(dump->session);
	else
		fd_dump_free(dump);
}

/* Adds the classes of letters to *filter, or takes those behind a '-' or '!' away. False: no such
 * letter.
 */
static bool classes_of(const char *word, unsigned *filter)
{
	static const struct { char letter; unsigned classes; } letters[] = {
		{ 'p', SHOW_PIPES }, { 'l', SHOW_LISTENERS }, { 'f', SHOW_FRONT },
		{ 'b', SHOW_BACK }, { 'c', SHOW_FRONT | SHOW_BACK },
		/* (a connection knows here that it is to a server, or of a backend) */
		{ 's', SHOW_BACK }, { 'd', SHOW_BACK },
	};
	bool invert = false;

	for (; *word; word++) {
		unsigned k = 0;

		if (*word == '-' || *word == '!') {
			invert = true;
			continue;
		}
		while (k < ARRAY_LEN(letters) && letters[k].letter != *word)
			k++;
		if (k == ARRAY_LEN(letters))
			return false;
		*filter = invert ? *filter & ~letters[k].classes : *filter | letters[k].classes;
	}
	return true;
}

/* Reads letters of classes, and a number or "[GROUP]/[NUMBER]": all groups have one table. False:
 * something else.
 */
static bool fd_dump_parse(struct fd_dump *dump, struct ctl_request *rq)
{
	bool chosen = false;

	for (int i = rq->at; i < rq->count; i++) {
		const char *word = rq->words[i], *rest = word + strspn(word, "0123456789");

		if (*rest == '/')
			word = rest + 1;
		if (ascii_is_digit(*word))
			dump->only = num_prefix_int(word, NULL);
		if (*rest == '/' || ascii_is_digit(*word))
			continue;
		if (!chosen)
			dump->filter = *word == '-' || *word == '!' ? SHOW_ALL : 0;
		chosen = true;
		if (!classes_of(word, &dump->filter))
			return false;
	}
	return true;
}

/* Prints the batch that came back, and goes on to the next one that has any descriptor. */
static bool fd_dump_next(struct fd_dump *dump, struct strbuf *out)
{
	int last = dump->only >= 0 ? dump->only : fd_table_used() - 1;

	for (unsigned i = 0; i < BATCH; i++) {
		strbuf_add(out, strbuf_slice(&dump->lines[i]));
		strbuf_reset(&dump->lines[i]);
	}
	for (dump->at += BATCH; dump->at <= last; dump->at += BATCH) {
		for (int i = 0; i < BATCH && dump->at + i <= last; i++) {
			if (__atomic_load_n(&fd_table[dump->at + i].handler, __ATOMIC_RELAXED))
				return true;
		}
	}
	return false;
}

/* The dump of <rq>, which owns it. NULL: there is nothing to show, or it was said why. */
static struct fd_dump *fd_dump_begin(struct ctl_request *rq)
{
	struct fd_dump *dump = calloc(1, sizeof(*dump));

	if (!dump) {
		ctl_error(rq, "Out of memory.");
		return NULL;
	}
	for (unsigned i = 0; i < BATCH; i++)
		strbuf_init(&dump->lines[i]);
	dump->session = rq->session;
	dump->filter = SHOW_ALL;
	dump->only = -1;
	rq->state = dump;
	if (!fd_dump_parse(dump, rq)) {
		ctl_error(rq, "Invalid FD type");
		return NULL;
	}
	if (dump->only >= fd_table_used())
		return NULL;
	dump->at = (dump->only < 0 ? 0 : dump->only / BATCH * BATCH) - BATCH;
	return dump;
}

static enum ctl_step show_fd(struct ctl_request *rq)
{
	struct fd_dump *dump = rq->state ? rq->state : fd_dump_begin(rq);

	if (!dump)
		return CTL_DONE;
	if (rq->out->len >= CTL_OUT_SOFT)
		return CTL_MORE;
	if (!fd_dump_next(dump, rq->out))
		return CTL_DONE;
	dump->touring = thread_call_all(fd_dump_visit, fd_dump_visited, dump);
	if (dump->touring)
		return CTL_WAIT;
	ctl_error(rq, "Out of memory.");
	return CTL_DONE;
}

static void release_fd(struct ctl_request *rq)
{
	struct fd_dump *dump = rq->state;

	if (!dump)
		return;
	if (dump->touring)
		dump->session = NULL; /* fd_dump_visited() frees it */
	else
		fd_dump_free(dump);
}

static const struct ctl_command commands[] = {
	{ .words = "show fd", .syntax = "[-!plcfbsd]* [num]", .level = CTL_OPERATOR,
	  .help = "list the descriptors in use", .run = show_fd, .release = release_fd },
	{ 0 }
};

const struct module mod_fd_ctl = { .name = "fd_ctl", .commands = commands };
