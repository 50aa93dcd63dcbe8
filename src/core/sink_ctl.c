/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sink_ctl.c - show events. Exports the module descriptor. */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "core/sink.h"
#include "core/symbol.h"
#include "core/task.h"
#include "ctl/ctl.h"
#include "sink_priv.h"

/* A client that reads a ring. */
struct watch {
	struct ring_reader reader;
	struct sink *sink;           /* counted */
	struct task *task;           /* resumes the session; NULL: the client does not wait */
	bool at_end;                 /* all that was there is shown */
	struct ctl_session *session; /* borrowed */
	char end;                    /* of each event */
	bool sanitize;               /* no byte may act on a terminal */
};

/* What the words behind the sink ask for. */
struct watch_options {
	bool wait, new_only, zero, sanitize;
};

static void watch_task(struct task *t, void *ctx, unsigned why)
{
	ctl_session_resume(((struct watch *)ctx)->session);
}

/* On the thread of a writer. */
static void watch_wake(struct ring_reader *r)
{
	task_wake(container_of(r, struct watch, reader)->task, TASK_WOKEN_MSG);
}

static enum ctl_step list_sinks(struct ctl_request *rq)
{
	struct sink *s;

	ctl_begin(rq, CTL_WARNING);
	strbuf_add_str(rq->out, "Supported events sinks are listed below. Add -0(zero), -w(wait), "
		       "-n(new), -s(anitize). Any key to stop.\n");
	for (unsigned i = 0; (s = sink_get(i)); i++) {
		strbuf_printf(rq->out, "    %-10s : type=%s, %llu dropped, %s\n", s->name,
			      s->fd < 0 ? "buffer" : "fd",
			      (unsigned long long)__atomic_load_n(&s->dropped, __ATOMIC_RELAXED),
			      s->description);
		sink_drop(&s);
	}
	return CTL_DONE;
}

/* "-w", "-n0"... False: something else. */
static bool parse_option(const char *word, struct watch_options *o)
{
	if (word[0] != '-' || !word[1])
		return false;
	for (word++; *word; word++) {
		o->wait |= *word == 'w';
		o->new_only |= *word == 'n';
		o->zero |= *word == '0';
		o->sanitize |= *word == 's';
		if (!strchr("wn0s", *word))
			return false;
	}
	return true;
}

/* Tabs become blanks; other control bytes and those that are not ASCII, '?'. */
static void sanitize(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\t')
			text[i] = ' ';
		else if (c < 32 || c > 126)
			text[i] = '?';
	}
}

static enum ctl_step watch_step(struct ctl_request *rq, struct watch *w)
{
	size_t before = rq->out->len, at;

	if (w->at_end && ctl_input_came(rq))
		return CTL_DONE;
	while (rq->out->len - before < CTL_OUT_SOFT) {
		at = rq->out->len;
		if (!ring_read(w->sink->ring, &w->reader, rq->out, w->task != NULL)) {
			w->at_end = true; /* what was there is shown whatever the client sends */
			return w->task && !ctl_input_came(rq) ? CTL_WAIT : CTL_DONE;
		}
		if (w->sanitize)
			sanitize(rq->out->ptr + at, rq->out->len - at);
		strbuf_add_char(rq->out, w->end);
	}
	return CTL_MORE;
}

static enum ctl_step watch_begin(struct ctl_request *rq, struct sink *s)
{
	struct watch_options o = { 0 };
	struct watch *w;

	for (int i = rq->at + 1; i < rq->count; i++) {
		if (!parse_option(rq->words[i], &o)) {
			ctl_error(rq, "unknown option");
			return CTL_DONE;
		}
	}
	w = calloc(1, sizeof(*w));
	if (w && o.wait)
		w->task = task_new(watch_task, w);
	if (!w || (o.wait && !w->task)) {
		free(w);
		ctl_error(rq, "Out of memory");
		return CTL_DONE;
	}
	w->session = rq->session;
	w->sink = sink_take(s);
	w->reader.wake = watch_wake;
	w->end = o.zero ? '\0' : '\n';
	w->sanitize = o.sanitize;
	rq->state = w;
	ring_reader_start(s->ring, &w->reader, o.new_only);
	return watch_step(rq, w);
}

static enum ctl_step show_events(struct ctl_request *rq)
{
	enum ctl_step step = CTL_DONE;
	struct sink *s;

	if (rq->state)
		return watch_step(rq, rq->state);
	if (!rq->words[rq->at])
		return list_sinks(rq);
	if (!ctl_require(rq, CTL_OPERATOR))
		return CTL_DONE;
	s = sink_find(rq->words[rq->at]);
	if (!s)
		ctl_error(rq, "No such event sink");
	else if (s->fd >= 0)
		ctl_error(rq, "Nothing to report for this sink");
	else
		step = watch_begin(rq, s);
	sink_drop(&s);
	return step;
}

static void release_watch(struct ctl_request *rq)
{
	struct watch *w = rq->state;

	if (!w)
		return;
	ring_reader_stop(w->sink->ring, &w->reader);
	task_free(&w->task);
	sink_drop(&w->sink);
	free(w);
	rq->state = NULL;
}

static bool sink_begin(void)
{
	static const struct symbol names[] = { { watch_task, "show_events_task" }, { 0 } };

	return sinks_init() && symbol_register(names);
}

static const struct ctl_command commands[] = {
	{ .words = "show events", .syntax = "[<sink>] [-w] [-n] [-0] [-s]",
	  .help = "list event sinks, or the events of one", .run = show_events,
	  .release = release_watch },
	{ 0 }
};

static struct slot *const slots[] = { &sink_slot, NULL };

const struct module mod_sink = {
	.name = "sink", .commands = commands, .slots = slots, .init = sink_begin,
	.start = sinks_start, .retire = sinks_retire, .fini = sinks_fini,
};
