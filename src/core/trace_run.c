/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_run.c - the language that configures traces */
#include <stdlib.h>
#include <string.h>
#include "core/sink.h"
#include "trace_priv.h"

#define load(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define store(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)

static const struct trace_word levels[TRACE_LEVELS + 1] = {
#define X(name, word, help) { word, help },
	TRACE_LEVEL_LIST(X)
#undef X
	{ 0 }
};

static const struct trace_word locks[TRACE_LOCKS] = {
#define X(name, word, help) { word, help },
	TRACE_LOCK_LIST(X)
#undef X
};

static const struct trace_word default_verbosities[] = {
	{ "default", "and what else is known" }, { 0 }
};

/* What a word is about while a line is carried out. */
struct run {
	const struct trace_order *order;
	struct strbuf *out;
	struct trace_source *source; /* NULL: all */
	int at;                      /* next word */
};

static const char *run_next(struct run *r)
{
	return r->at < r->order->count ? r->order->words[r->at++] : NULL;
}

/* <what> 'word'. */
static enum trace_answer wrong(struct run *r, const char *what, const char *word)
{
	strbuf_printf(r->out, "%s '%s'\n", what, word);
	return TRACE_WRONG;
}

static const char *source_name(const struct run *r)
{
	return r->source ? r->source->name : "all";
}

static void add_row(struct run *r, const char *mark, const char *name, const char *help)
{
	strbuf_printf(r->out, "  %s %-10s : %s\n", mark, name, help);
}

/* --- lists ----------------------------------------------------------------------------------- */

static void list_sources(struct strbuf *out, bool brief)
{
	struct trace_source *s;

	for (unsigned i = 0; (s = trace_source_get(i)); i++) {
		struct sink *sink;

		if (brief) {
			strbuf_printf(out, " [%c] %-10s : %s\n", trace_source_letter(s), s->name,
				      s->help);
			continue;
		}
		sink = s->sink;
		strbuf_printf(out, " [%c] %-10s -> %s [drp %llu]  [%s]\n", trace_source_letter(s),
			      s->name, sink ? sink->name : "none",
			      (unsigned long long)(sink ? load(&sink->dropped) : 0), s->help);
	}
}

static const char sources_title[] =
	"Supported trace sources and states (.=stopped, w=waiting, R=running) :\n";

static enum trace_answer list_menu(struct strbuf *out)
{
	strbuf_add_str(out, sources_title);
	strbuf_add_str(out, " [.] 0          : no source: all traces stop at once\n"
		       " [.] all        : all sources below; for 'sink', 'level' and 'follow'\n");
	list_sources(out, true);
	return TRACE_TELL;
}

static enum trace_answer list_commands(struct strbuf *out)
{
	strbuf_add_str(out, "Supported commands:\n"
		       "  event     : list or choose the events that are reported\n"
		       "  level     : list or set the level of reports\n"
		       "  lock      : stick to one object (connection, stream, thread...)\n"
		       "  follow    : report what concerns the object of another source\n"
		       "  pause     : wait for a start event again after this event\n"
		       "  sink      : list or set where reports go\n"
		       "  start     : start now or with an event\n"
		       "  stop      : stop now or with an event\n"
		       "  verbosity : list or set how much is told of objects\n");
	return TRACE_TELL;
}

static const struct trace_word *verbosities_of(const struct trace_source *s)
{
	return s->verbosities ? s->verbosities : default_verbosities;
}

/* --- events ---------------------------------------------------------------------------------- */

/* The mask of an action; report is kept inverted. */
static uint64_t *mask_of(struct trace_source *s, const char *action)
{
	return strcmp(action, "event") == 0   ? &s->report_not
	       : strcmp(action, "start") == 0 ? &s->start
	       : strcmp(action, "stop") == 0  ? &s->stop
					      : &s->pause;
}

static enum trace_answer list_events(struct run *r, const char *action)
{
	bool report = strcmp(action, "event") == 0;
	uint64_t mask = load(mask_of(r->source, action));

	if (report)
		mask = ~mask;
	strbuf_printf(r->out, "Supported events for source %s (+=enabled, -=disabled):\n",
		      r->source->name);
	if (!report)
		strbuf_printf(r->out, "  - %-12s : %s\n", "now", "wait for no event");
	strbuf_printf(r->out, "  - %-12s : %s\n", "none", "no event");
	strbuf_printf(r->out, "  - %-12s : %s\n", "any", "every event");
	for (unsigned i = 0; r->source->events[i].name; i++)
		strbuf_printf(r->out, "  %c %-12s : %s\n", mask & TRACE_EV(i) ? '+' : '-',
			      r->source->events[i].name, r->source->events[i].help);
	return TRACE_TELL;
}

/* A word that stands for events: its mask, 0 when unknown. */
static uint64_t find_events(const struct trace_source *s, const char *word)
{
	for (unsigned i = 0; s->events[i].name; i++)
		if (strcmp(s->events[i].name, word) == 0)
			return TRACE_EV(i);
	return 0;
}

static void act_now(struct trace_source *s, const char *action)
{
	if (strcmp(action, "start") == 0)
		trace_set_state(s, TRACE_RUNNING);
	else if (strcmp(action, "stop") == 0)
		trace_set_state(s, TRACE_STOPPED);
	else if (load(&s->state) == TRACE_RUNNING)
		trace_set_state(s, TRACE_WAITING);
}

static enum trace_answer set_events(struct run *r, const char *action, const char *word)
{
	struct trace_source *s = r->source;
	bool report = strcmp(action, "event") == 0, remove = *word == '-' || *word == '!';
	uint64_t *mask = mask_of(s, action), events = 0;
	const char *name = word + (remove || *word == '+');

	if (!report && strcmp(name, "now") == 0) {
		if (!r->order->dry)
			act_now(s, action);
		return TRACE_DONE;
	}
	if (strcmp(name, "any") == 0 || strcmp(name, "none") == 0) {
		remove = name[0] == 'n';
		events = ~UINT64_C(0);
	} else {
		events = find_events(s, name);
	}
	if (!events)
		return wrong(r, "No such trace event", name);
	if (r->order->dry)
		return TRACE_DONE;
	store(mask, remove != report ? load(mask) & ~events : load(mask) | events);
	if (strcmp(action, "start") == 0) {
		if (load(mask) && load(&s->state) == TRACE_STOPPED)
			trace_set_state(s, TRACE_WAITING);
		else if (!load(mask) && load(&s->state) == TRACE_WAITING)
			trace_set_state(s, TRACE_STOPPED);
	}
	return TRACE_DONE;
}

static enum trace_answer run_events(struct run *r, const char *action)
{
	const char *word = run_next(r);

	return word ? set_events(r, action, word) : list_events(r, action);
}

/* --- level, verbosity, sink, lock, follow ---------------------------------------------------- */

/* The number of a word in a list; -1: unknown. */
static int find_word(const struct trace_word *list, const char *word)
{
	for (int i = 0; list[i].name; i++)
		if (strcmp(list[i].name, word) == 0)
			return i;
	return -1;
}

static enum trace_answer list_levels(struct run *r)
{
	strbuf_printf(r->out, "Supported trace levels for source %s:\n", source_name(r));
	for (unsigned i = 0; i < TRACE_LEVELS; i++)
		add_row(r, r->source && load(&r->source->level) == i ? "*" : " ", levels[i].name,
			levels[i].help);
	return TRACE_TELL;
}

static enum trace_answer run_level(struct run *r, const char *command)
{
	const char *word = run_next(r);
	struct trace_source *s;
	int level;

	if (!word)
		return list_levels(r);
	level = find_word(levels, word);
	if (level < 0) {
		strbuf_printf(r->out, "No such trace level '%s'. ", word);
		list_levels(r);
		return TRACE_WRONG;
	}
	for (unsigned i = 0; !r->order->dry && (s = trace_source_get(i)); i++)
		if (!r->source || r->source == s)
			store(&s->level, (unsigned)level);
	return TRACE_DONE;
}

static enum trace_answer list_verbosities(struct run *r)
{
	const struct trace_word *list = verbosities_of(r->source);
	unsigned now = load(&r->source->verbosity);

	strbuf_printf(r->out, "Supported trace verbosities for source %s:\n", r->source->name);
	add_row(r, now == 0 ? "*" : " ", "quiet", "nothing but the place and its text");
	for (unsigned i = 0; list[i].name; i++)
		add_row(r, now == i + 1 ? "*" : " ", list[i].name, list[i].help);
	return TRACE_TELL;
}

static enum trace_answer run_verbosity(struct run *r, const char *command)
{
	const char *word = run_next(r);
	int verbosity;

	if (!word)
		return list_verbosities(r);
	verbosity = strcmp(word, "quiet") == 0
			    ? 0 : find_word(verbosities_of(r->source), word) + 1;
	if (!verbosity && strcmp(word, "quiet") != 0) {
		strbuf_printf(r->out, "No such verbosity level '%s'. ", word);
		list_verbosities(r);
		return TRACE_WRONG;
	}
	if (!r->order->dry)
		store(&r->source->verbosity, (unsigned)verbosity);
	return TRACE_DONE;
}

static enum trace_answer list_sinks(struct run *r)
{
	struct sink *now = r->source ? r->source->sink : NULL, *s;

	strbuf_printf(r->out, "Supported sinks for source %s (*=current):\n", source_name(r));
	add_row(r, now ? " " : "*", "none", "no sink");
	for (unsigned i = 0; (s = sink_get(i)); i++) {
		add_row(r, s == now ? "*" : " ", s->name, s->description);
		sink_drop(&s);
	}
	return TRACE_TELL;
}

static enum trace_answer run_sink(struct run *r, const char *command)
{
	const char *word = run_next(r);
	struct trace_source *s;
	struct sink *sink;

	if (!word)
		return list_sinks(r);
	sink = sink_find(word);
	if (!sink && strcmp(word, "none") != 0 &&
	    !(r->order->dry && r->order->has_sink && r->order->has_sink(r->order->ctx, word)))
		return wrong(r, "No such trace sink", word);
	for (unsigned i = 0; !r->order->dry && (s = trace_source_get(i)); i++)
		if (!r->source || r->source == s)
			trace_set_sink(s, sink);
	sink_drop(&sink);
	return TRACE_DONE;
}

/* The word of a criterion, NULL if the source has it not. */
static const struct trace_word *lock_word(const struct trace_source *s, unsigned lock)
{
	if (lock == TRACE_LOCK_OWN)
		return s->locks & TRACE_LOCK_BIT(OWN) ? &s->own : NULL;
	if (lock == TRACE_LOCK_NOTHING || lock == TRACE_LOCK_THREAD || s->locks & (1u << lock))
		return &locks[lock];
	return NULL;
}

static enum trace_answer list_locks(struct run *r)
{
	unsigned now = load(&r->source->lock);

	strbuf_printf(r->out, "Supported lock-on criteria for source %s:\n", r->source->name);
	for (unsigned i = 0; i < TRACE_LOCKS; i++) {
		const struct trace_word *w = lock_word(r->source, i);
		char help[64];

		if (!w)
			continue;
		snprintf(help, sizeof(help), "%s of the event that started the trace",
			 w->help ? w->help : "");
		add_row(r, now == i ? "*" : " ", w->name, w->help ? help : "lock on no object");
	}
	return TRACE_TELL;
}

static enum trace_answer run_lock(struct run *r, const char *command)
{
	const char *word = run_next(r);
	unsigned i;

	if (!word)
		return list_locks(r);
	for (i = 0; i < TRACE_LOCKS; i++) {
		const struct trace_word *w = lock_word(r->source, i);

		if (w && strcmp(w->name, word) == 0)
			break;
	}
	if (i == TRACE_LOCKS)
		return wrong(r, "Unsupported lock-on criterion", word);
	if (!r->order->dry)
		trace_set_lock(r->source, i);
	return TRACE_DONE;
}

static enum trace_answer list_follow(struct run *r)
{
	struct trace_source *now = r->source ? load(&r->source->follow) : NULL;

	if (now)
		strbuf_printf(r->out, "Currently following source '%s'.\n", now->name);
	else if (r->source)
		strbuf_add_str(r->out, "Not currently following any other source.\n");
	strbuf_add_str(r->out, "Please specify another source to follow, among the following "
		       "ones:\n [.] none       : follow no other source\n");
	list_sources(r->out, true);
	return TRACE_TELL;
}

static enum trace_answer run_follow(struct run *r, const char *command)
{
	const char *word = run_next(r);
	struct trace_source *other, *s;

	if (!word)
		return list_follow(r);
	other = trace_source_find(word);
	if (!other && strcmp(word, "none") != 0)
		return wrong(r, "No such trace source", word);
	for (unsigned i = 0; !r->order->dry && (s = trace_source_get(i)); i++)
		if ((!r->source || r->source == s) && s != other)
			trace_set_follow(s, other);
	return TRACE_DONE;
}

/* --- the whole line -------------------------------------------------------------------------- */

static const struct {
	const char *word;
	enum trace_answer (*run)(struct run *r, const char *word);
	bool of_all;
} commands[] = {
	{ "event", run_events, false }, { "level", run_level, true },
	{ "lock", run_lock, false }, { "follow", run_follow, true },
	{ "pause", run_events, false }, { "sink", run_sink, true },
	{ "start", run_events, false }, { "stop", run_events, false },
	{ "verbosity", run_verbosity, false },
};

static enum trace_answer not_of_all(struct run *r, const char *word)
{
	strbuf_printf(r->out, "'%s' not applicable to meta-source 'all'\n", word);
	return TRACE_WRONG;
}

static enum trace_answer run_command(struct run *r, const char *word)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(commands[i].word, word) != 0)
			continue;
		if (!r->source && !commands[i].of_all)
			return not_of_all(r, word);
		return commands[i].run(r, word);
	}
	return wrong(r, "Unknown trace keyword", word);
}

static enum trace_answer stop_all(struct run *r)
{
	struct trace_source *s;

	for (unsigned i = 0; !r->order->dry && (s = trace_source_get(i)); i++)
		trace_set_state(s, TRACE_STOPPED);
	strbuf_add_str(r->out, "All traces now stopped\n");
	return TRACE_DONE;
}

static enum trace_answer run_line(struct run *r)
{
	enum trace_answer answer = TRACE_DONE;
	const char *word = run_next(r);

	if (!word)
		return list_menu(r->out);
	if (strcmp(word, "0") == 0)
		return stop_all(r);
	if (strcmp(word, "all") != 0) {
		r->source = trace_source_find(word);
		if (!r->source)
			return wrong(r, "No such trace source", word);
	}
	word = run_next(r);
	if (!word)
		return list_commands(r->out);
	for (; word && answer == TRACE_DONE; word = run_next(r))
		answer = run_command(r, word);
	return answer;
}

enum trace_answer trace_run(const struct trace_order *order, struct strbuf *out)
{
	struct run r = { .order = order, .out = out };
	enum trace_answer answer;

	trace_lock();
	answer = run_line(&r);
	trace_unlock();
	return answer;
}

bool trace_show(const char *name, struct strbuf *out)
{
	struct trace_source *s = name ? trace_source_find(name) : NULL;

	if (name && !s)
		return false;
	trace_lock();
	if (!name) {
		strbuf_add_str(out, sources_title);
		list_sources(out, false);
	} else {
		strbuf_printf(out, "Trace status for %s:\n  - sink: %s [%llu dropped]\n"
			      "  - event name   :     report    start    stop    pause\n", s->name,
			      s->sink ? s->sink->name : "none",
			      (unsigned long long)(s->sink ? load(&s->sink->dropped) : 0));
		for (unsigned i = 0; s->events[i].name; i++) {
			uint64_t bit = TRACE_EV(i);

			strbuf_printf(out, "    %-12s :        %c        %c        %c       %c\n",
				      s->events[i].name, load(&s->report_not) & bit ? '-' : '+',
				      load(&s->start) & bit ? '+' : '-',
				      load(&s->stop) & bit ? '+' : '-',
				      load(&s->pause) & bit ? '+' : '-');
		}
	}
	trace_unlock();
	return true;
}

/* --- -dt ------------------------------------------------------------------------------------- */

/* One "source[:level[:verbosity]]"; empty parts are left out. */
static enum trace_answer run_element(char *element, struct strbuf *out)
{
	char *level = strchr(element, ':'), *verbosity = NULL;
	char *words[10];
	struct trace_order order = { .words = words };

	if (level) {
		*level++ = '\0';
		verbosity = strchr(level, ':');
		if (verbosity)
			*verbosity++ = '\0';
	}
	words[order.count++] = *element ? element : (char *)"all";
	words[order.count++] = (char *)"sink";
	words[order.count++] = (char *)"stderr";
	words[order.count++] = (char *)"level";
	words[order.count++] = level && *level ? level : (char *)"error";
	if (verbosity && *verbosity) {
		words[order.count++] = (char *)"verbosity";
		words[order.count++] = verbosity;
	}
	return trace_run(&order, out);
}

static enum trace_answer start_all(struct strbuf *out)
{
	struct trace_source *s;

	for (unsigned i = 0; (s = trace_source_get(i)); i++)
		if (s->sink)
			trace_set_state(s, TRACE_RUNNING);
	return TRACE_DONE;
}

enum trace_answer trace_run_option(const char *text, struct strbuf *out)
{
	char *copy = strdup(text), *element, *next = copy;
	enum trace_answer answer = TRACE_DONE;

	if (!copy) {
		strbuf_add_str(out, "out of memory\n");
		return TRACE_WRONG;
	}
	if (!*copy)
		answer = run_element(copy, out);
	while (answer == TRACE_DONE && *copy && (element = strsep(&next, ",")))
		answer = run_element(element, out);
	free(copy);
	return answer == TRACE_DONE ? start_all(out) : answer;
}
