/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace.c - from a place in the program to a line in a sink */
#include "core/trace.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "core/activity.h"
#include "core/mailbox.h"
#include "core/sink.h"
#include "core/thread.h"
#include "trace_priv.h"

#define SOURCES_MAX 32
#define TEXT_MAX 16384

static struct trace_source *sources[SOURCES_MAX + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define load(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define store(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)

void trace_register(const struct module *const *modules)
{
	unsigned count = 0;

	for (; *modules; modules++) {
		struct trace_source *const *s = (*modules)->traces;

		for (; s && *s; s++) {
			BUG_ON(count >= SOURCES_MAX);
			sources[count++] = *s;
			(*s)->level = TRACE_USER;
			(*s)->verbosity = TRACE_CLEAN;
			(*s)->lock = TRACE_LOCK_NOTHING;
		}
	}
}

struct trace_source *trace_source_get(unsigned i)
{
	return i < SOURCES_MAX ? sources[i] : NULL;
}

struct trace_source *trace_source_find(const char *name)
{
	struct trace_source *s;

	for (unsigned i = 0; (s = trace_source_get(i)); i++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

char trace_source_letter(const struct trace_source *s)
{
	return ".wR"[load(&s->state)];
}

/* --- settings -------------------------------------------------------------------------------- */

void trace_lock(void)
{
	pthread_mutex_lock(&lock);
}

void trace_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* From the thread of a place, too: the word that places test only grows there. */
static void refresh_live(struct trace_source *s)
{
	store(&s->live, load(&s->state) != TRACE_STOPPED || load(&s->follow) != NULL);
}

void trace_set_state(struct trace_source *s, enum trace_state state)
{
	if (state != TRACE_RUNNING)
		store(&s->locked, NULL);
	store(&s->state, (unsigned)state);
	refresh_live(s);
}

void trace_set_lock(struct trace_source *s, unsigned criterion)
{
	store(&s->lock, criterion);
	store(&s->locked, NULL);
}

void trace_set_follow(struct trace_source *s, struct trace_source *other)
{
	store(&s->follow, other);
	refresh_live(s);
}

/* Every thread came round since the sink was taken away. */
static void sink_let_go(void *ctx)
{
	struct sink *sink = ctx;

	sink_drop(&sink);
}

static void come_round(void *ctx)
{
}

void trace_set_sink(struct trace_source *s, struct sink *sink)
{
	struct sink *old = s->sink;

	store(&s->sink, sink ? sink_take(sink) : NULL);
	if (!old)
		return;
	if (!thread_is_worker())
		sink_drop(&old);
	else
		thread_call_all(come_round, sink_let_go, old); /* else kept for good */
}

void trace_forget_sink(struct sink *sink)
{
	struct trace_source *s;

	trace_lock();
	for (unsigned i = 0; (s = trace_source_get(i)); i++)
		if (s->sink == sink)
			trace_set_sink(s, NULL);
	trace_unlock();
}

/* --- places ---------------------------------------------------------------------------------- */

/* Is the object the one that <s> is locked on? */
static bool fits_lock(const struct trace_source *s, const struct trace_facts *f)
{
	const void *locked = load(&s->locked);

	return locked && f->facts[load(&s->lock)] == locked;
}

/* Does it concern the source itself? Locks it on the first object that has what it asks for. */
static bool concerns(struct trace_source *s, const struct trace_facts *f)
{
	unsigned criterion = load(&s->lock);
	const void *none = NULL;

	if (load(&s->state) != TRACE_RUNNING)
		return false;
	if (criterion == TRACE_LOCK_NOTHING)
		return true;
	if (!f->facts[criterion])
		return false;
	if (!load(&s->locked))
		__atomic_compare_exchange_n(&s->locked, &none, f->facts[criterion], false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return fits_lock(s, f);
}

static void put_origin(struct strbuf *b, const struct trace_source *s,
		       const struct trace_place *place)
{
	const char *file = strrchr(place->file, '/');

	strbuf_printf(b, "[%02u|%s|%u|%s:%u] ", thread_id, s->name, (unsigned)place->level,
		      file ? file + 1 : place->file, place->line);
	if (place->level == TRACE_DEVELOPER)
		strbuf_printf(b, "%s(): ", place->function);
}

static void write_line(const struct trace_source *s, struct sink *sink, struct slice text)
{
	struct syslog_header h = {
		.format = SYSLOG_LOCAL, .tag = SLICE("haproxy"), .pid = (unsigned)getpid(),
		.wall_us = clock_read_wall_us(),
	};

	sink_write(sink, &h, text, 0);
}

/* Starts before the event is told, pauses and stops after. */
static void move_before(struct trace_source *s, uint64_t events)
{
	if (load(&s->state) == TRACE_WAITING && load(&s->start) & events)
		store(&s->state, TRACE_RUNNING);
}

static void move_after(struct trace_source *s, uint64_t events)
{
	if (load(&s->state) != TRACE_RUNNING)
		return;
	if (load(&s->stop) & events)
		trace_set_state(s, TRACE_STOPPED);
	else if (load(&s->pause) & events)
		trace_set_state(s, TRACE_WAITING);
}

void trace_emit(struct trace_source *s, const struct trace_place *place, const void *what,
		const char *fmt, ...)
{
	struct trace_facts f = { 0 };
	const struct trace_source *other = load(&s->follow);
	struct sink *sink = load(&s->sink);
	enum trace_verbosity verbosity = load(&s->verbosity);
	bool own, followed;
	char text[TEXT_MAX];
	struct strbuf b;
	va_list ap;

	f.facts[TRACE_LOCK_THREAD] = activity_self;
	if (what && s->facts)
		s->facts(what, &f);
	move_before(s, place->events);
	own = concerns(s, &f);
	followed = other && fits_lock(other, &f);
	if ((own || followed) && sink && place->level <= load(&s->level) &&
	    (!place->events || place->events & ~load(&s->report_not))) {
		strbuf_init_fixed(&b, text, sizeof(text));
		put_origin(&b, s, place);
		va_start(ap, fmt);
		strbuf_vprintf(&b, fmt, ap);
		va_end(ap);
		if (what && s->describe && verbosity > TRACE_QUIET)
			s->describe(what, verbosity, place->level, &b);
		write_line(s, sink, strbuf_slice(&b));
	}
	if (own)
		move_after(s, place->events);
}
