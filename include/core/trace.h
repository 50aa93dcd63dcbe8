/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trace.h - reports, on request, what happens inside the program
 *
 * A module has one *source*: a name, the events that it can report, and how to describe its
 * objects. At each place worth reporting it writes
 *
 *	TRACE(&trace_h1, USER, H1_EV_RX_HEADERS, h1c, "received a request");
 *
 * The user configures the source (command `trace`, section `traces`, -dt): which events are
 * reported, to which sink, in how much detail, from which event to which other one, and for which
 * object only (*lock*: the first session that comes, say). Until then a place costs the test of one
 * word; its arguments and objects are not evaluated.
 *
 *	stopped --start <event>--> waiting --<event>--> running --<pause event>--> waiting
 *	   ^  +----start now------------------------------^  |
 *	   +----------------- stop now, <stop event>, trace 0 --+
 *
 * Owns   : its settings lie in the source, which is static: they survive generations.
 * Threads: TRACE(): any. Settings are changed under a lock by the commands, one at a time, and are
 *          read without a lock.
 * Manual : management: trace, show trace, -dt; configuration 12.1 traces.
 */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bug.h"
#include "base/module.h"
#include "base/strbuf.h"

/* X(NAME, word, explanation): the level of detail of a place. */
#define TRACE_LEVEL_LIST(X) \
	X(ERROR, "error", "errors only") \
	X(USER, "user", "and what a user wants to know") \
	X(PROTO, "proto", "and what protocols say") \
	X(STATE, "state", "and changes of internal states") \
	X(DATA, "data", "and transfers of data") \
	X(DEVELOPER, "developer", "and what helps developers only")

enum trace_level {
#define X(name, word, help) TRACE_##name,
	TRACE_LEVEL_LIST(X)
#undef X
	TRACE_LEVELS
};

/* How much is reported about objects; 0: nothing. A source explains the others. */
enum trace_verbosity {
	TRACE_QUIET, TRACE_CLEAN, TRACE_MINIMAL, TRACE_SIMPLE, TRACE_ADVANCED, TRACE_COMPLETE,
};

/* X(NAME, word, explanation): what a trace can be locked on, in the manual's order. The source
 * names OWN.
 */
#define TRACE_LOCK_LIST(X) \
	X(APPLET, "applet", "the service") X(BACKEND, "backend", "the backend") \
	X(CHECK, "check", "the health check") X(CONNECTION, "connection", "the connection") \
	X(FRONTEND, "frontend", "the frontend") X(LISTENER, "listener", "the listener") \
	X(NOTHING, "nothing", NULL) X(SERVER, "server", "the server") \
	X(SESSION, "session", "the session") X(STREAM, "stream", "the stream") \
	X(THREAD, "thread", "the thread") X(OWN, NULL, NULL)

enum trace_lock {
#define X(name, word, help) TRACE_LOCK_##name,
	TRACE_LOCK_LIST(X)
#undef X
	TRACE_LOCKS
};
#define TRACE_LOCK_BIT(name) (1u << TRACE_LOCK_##name)

enum trace_state { TRACE_STOPPED, TRACE_WAITING, TRACE_RUNNING };

/* The objects that a place is about: facts[TRACE_LOCK_x], NULL if unknown. */
struct trace_facts {
	const void *facts[TRACE_LOCKS];
};

struct trace_word {
	const char *name, *help;
};

struct sink;

struct trace_source {
	const char *name, *help;
	/* bit i is event i; ends with a NULL name; at most 63 */
	const struct trace_word *events;
	/* verbosities after "quiet", from TRACE_CLEAN on; ends with a NULL name. NULL: only
	 * "default"
	 */
	const struct trace_word *verbosities;
	unsigned locks;                       /* mask of TRACE_LOCK_BIT(); not NOTHING, THREAD */
	struct trace_word own;                /* the word of TRACE_LOCK_OWN */
	/* Fills the facts about the object given to TRACE(), which is not NULL. May be NULL. */
	void (*facts)(const void *what, struct trace_facts *out);
	/* Describes the object, in one line or, from TRACE_COMPLETE on, in several. May be NULL. */
	void (*describe)(const void *what, enum trace_verbosity verbosity,
			 enum trace_level level, struct strbuf *out);

	/* Private, see above: relaxed atomics. */
	/* running or waiting, or follows another source: the one word that places test */
	unsigned live;
	unsigned state, level, verbosity, lock;
	uint64_t report_not;   /* events not to report */
	uint64_t start, pause, stop;
	const void *locked;    /* the object it is locked on */
	struct trace_source *follow;
	struct sink *sink;     /* counted; NULL: none */
};

struct trace_place {
	enum trace_level level;
	uint64_t events; /* mask */
	const char *file, *function;
	unsigned line;
};

/* Reports an event. <events>: a mask (TRACE_EV(name) | ...). <what>: the object, or NULL. Then a
 * format and its arguments.
 */
#define TRACE(source, level, events, what, ...)                                                 \
	do {                                                                                    \
		if (unlikely(__atomic_load_n(&(source)->live, __ATOMIC_RELAXED))) {             \
			const struct trace_place place_ = {                                     \
				TRACE_##level, events, __FILE__, __func__, __LINE__             \
			};                                                                      \
			trace_emit(source, &place_, what, __VA_ARGS__);                         \
		}                                                                               \
	} while (0)

#define TRACE_EV(n) (UINT64_C(1) << (n))

/* The slow part of TRACE(). */
void trace_emit(struct trace_source *s, const struct trace_place *place, const void *what,
		const char *fmt, ...) __attribute__((format(printf, 4, 5), cold));

/* Registers the sources of the modules. Call once, at start-up. */
void trace_register(const struct module *const *modules);

/* Result of a `trace` command. */
enum trace_answer {
	TRACE_DONE,  /* carried out; *out may have a message */
	TRACE_TELL,  /* nothing was changed: *out lists the possible words */
	TRACE_WRONG, /* *out tells the error: the words before it were carried out */
};

struct trace_order {
	char *const *words; /* after "trace" */
	int count;
	bool dry;           /* only look for errors */
	/* Is there, or will there be, a sink of that name besides the published ones? May be NULL.
	 */
	bool (*has_sink)(void *ctx, const char *name);
	void *ctx;
};

/* Carries out `trace <words>`. Any thread. A text of several lines ends with a newline. */
enum trace_answer trace_run(const struct trace_order *order, struct strbuf *out);
/* Carries out the argument of -dt, "" without one: "h1:developer:complete,stream". */
enum trace_answer trace_run_option(const char *text, struct strbuf *out);
/* Writes the output of `show trace`, for one source or for all (NULL). False: no such source. */
bool trace_show(const char *source, struct strbuf *out);
/* Stops all traces to <sink>. A thread may still be writing to it until every thread has finished
 * its turn.
 */
void trace_forget_sink(struct sink *sink);

extern const struct module mod_trace; /* commands, section `traces` */

#endif
