/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trace.h - telling, on request, what happens inside
 *
 * A module has one *source*: a name, the events that it can tell, and how to describe its objects.
 * At each place worth telling it says
 *
 *	TRACE(&trace_h1, USER, H1_EV_RX_HEADERS, h1c, "received a request");
 *
 * The user configures the source (command `trace`, section `traces`, -dt): which events are
 * reported, to which sink, how detailed, from which event to which other one, and for which object
 * alone (*lock*: the first session that comes, say). Until then a place costs the test of one
 * word, and neither arguments nor objects are looked at.
 *
 *	stopped --start <event>--> waiting --<event>--> running --<pause event>--> waiting
 *	   ^  +----start now------------------------------^  |
 *	   +----------------- stop now, <stop event>, trace 0 --+
 *
 * Owns   : its settings live in the source, which is static: they outlive generations.
 * Threads: TRACE() from any; settings are changed under a lock by the commands that configure, one
 *          at a time, and read without one.
 * Manual : management: trace, show trace, -dt; configuration 12.1 traces.
 */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bug.h"
#include "base/module.h"
#include "base/strbuf.h"

/* X(NAME, word, explanation): how far below the surface a place is. */
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

/* How much is told of the objects: 0 is nothing. A source explains the others. */
enum trace_verbosity {
	TRACE_QUIET, TRACE_CLEAN, TRACE_MINIMAL, TRACE_SIMPLE, TRACE_ADVANCED, TRACE_COMPLETE,
};

/* X(NAME, word, explanation): what a trace can be locked on, in the order of the manual. OWN is
 * named by the source.
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

/* What a place is about: facts[TRACE_LOCK_x], NULL when it is not known. */
struct trace_facts {
	const void *facts[TRACE_LOCKS];
};

struct trace_word {
	const char *name, *help;
};

struct sink;

struct trace_source {
	const char *name, *help;
	const struct trace_word *events;      /* bit i is event i; ends with no name; 63 at most */
	/* those behind "quiet", from TRACE_CLEAN on; ends with no name. NULL: "default" alone */
	const struct trace_word *verbosities;
	unsigned locks;                       /* mask of TRACE_LOCK_BIT(); not NOTHING, THREAD */
	struct trace_word own;                /* with TRACE_LOCK_OWN: its word */
	/* Fills what is known of the object given to TRACE(), which is not NULL. Or NULL. */
	void (*facts)(const void *what, struct trace_facts *out);
	/* Tells of the object, in one line or, from TRACE_COMPLETE on, in more. Or NULL. */
	void (*describe)(const void *what, enum trace_verbosity verbosity,
			 enum trace_level level, struct strbuf *out);

	/* Private, see the head: relaxed atomics. */
	unsigned live;         /* not stopped, or follows another: the one word that places test */
	unsigned state, level, verbosity, lock;
	uint64_t report_not;   /* events that are not reported */
	uint64_t start, pause, stop;
	const void *locked;    /* the object that it is locked on */
	struct trace_source *follow;
	struct sink *sink;     /* counted; NULL: none */
};

struct trace_place {
	enum trace_level level;
	uint64_t events; /* mask */
	const char *file, *function;
	unsigned line;
};

/* <events>: a mask (TRACE_EV(name) | ...). <what>: the object, or NULL. Then a format and its
 * arguments.
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

/* Makes the sources of the modules known. Once, at start-up. */
void trace_register(const struct module *const *modules);

/* How a line of configuration was taken. */
enum trace_answer {
	TRACE_DONE,  /* it was carried out; *out may say something */
	TRACE_TELL,  /* nothing was changed: *out lists what may follow */
	TRACE_WRONG, /* *out says what is wrong: the words before it were carried out */
};

struct trace_order {
	char *const *words; /* after "trace" */
	int count;
	bool dry;           /* look for errors only */
	/* Is there, or will there be, a sink of that name besides those published? Or NULL. */
	bool (*has_sink)(void *ctx, const char *name);
	void *ctx;
};

/* Carries out `trace <words>`. Any thread. The text ends with a newline when it is several lines.
 */
enum trace_answer trace_run(const struct trace_order *order, struct strbuf *out);
/* The argument of -dt, "" without one: "h1:developer:complete,stream". */
enum trace_answer trace_run_option(const char *text, struct strbuf *out);
/* show trace, without and with a source (NULL: all). False: there is no such source. */
bool trace_show(const char *source, struct strbuf *out);
/* Traces do not go to <sink> any more; a thread may still be writing there until every thread has
 * come round.
 */
void trace_forget_sink(struct sink *sink);

extern const struct module mod_trace; /* commands, section `traces` */

#endif
