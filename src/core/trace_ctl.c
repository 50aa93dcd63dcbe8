/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_ctl.c - commands trace, show trace; section traces. Exports the module descriptor. */
#include <string.h>
#include "conf/conf.h"
#include "core/sink.h"
#include "core/trace.h"
#include "ctl/ctl.h"
#include "trace_priv.h"

/* --- commands -------------------------------------------------------------------------------- */

static enum ctl_step run_trace(struct ctl_request *rq)
{
	static const enum ctl_severity severities[] = {
		[TRACE_DONE] = CTL_NOTICE, [TRACE_TELL] = CTL_WARNING, [TRACE_WRONG] = CTL_ERR,
	};
	struct trace_order order = { .words = rq->words + rq->at, .count = rq->count - rq->at };
	enum trace_answer answer;
	struct strbuf text;

	strbuf_init(&text);
	answer = trace_run(&order, &text);
	if (text.len)
		ctl_begin(rq, severities[answer]);
	strbuf_add(rq->out, strbuf_slice(&text));
	strbuf_fini(&text);
	return CTL_DONE;
}

static enum ctl_step show_trace(struct ctl_request *rq)
{
	const char *name = rq->words[rq->at];

	if (name && !trace_source_find(name)) {
		ctl_error(rq, "No such trace source");
		return CTL_DONE;
	}
	ctl_begin(rq, name ? CTL_WARNING : CTL_INFO);
	trace_show(name, rq->out);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show trace", .syntax = "[<source>]",
	  .help = "show the state of traces, or the events of one", .run = show_trace },
	{ .words = "trace", .syntax = "[<source>|0] [<command> [<args>...]]",
	  .level = CTL_OPERATOR, .help = "configure traces (nothing: list them; 0: stop them all)",
	  .run = run_trace },
	{ 0 }
};

/* --- section --------------------------------------------------------------------------------- */

/* Lines of a generation, carried out when it starts. */
struct trace_line {
	struct trace_line *next;
	char **words;
	int count;
};

struct trace_lines {
	struct trace_line *first, **end;
};

static bool lines_init(void *data)
{
	struct trace_lines *all = data;

	all->end = &all->first;
	return true;
}

static struct slot lines_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct trace_lines), .init = lines_init,
};
static struct slot *const slots[] = { &lines_slot, NULL };

static bool section_open(struct conf_line *l)
{
	l->slots = config_slots(l->cfg);
	if (conf_peek(l))
		return conf_error(l, l->at, NULL,
				  "'traces' cannot handle unexpected argument '%s'.", conf_peek(l));
	return true;
}

static bool keep_line(struct conf_line *l)
{
	struct trace_lines *all = slot_of(&lines_slot, config_slots(l->cfg));
	struct trace_line *line = arena_zalloc(&l->cfg->arena, sizeof(*line));
	int count = l->count - l->at;

	if (line)
		line->words = arena_zalloc(&l->cfg->arena, (size_t)count * sizeof(*line->words));
	if (!line || !line->words)
		return conf_error(l, l->at, NULL, "out of memory");
	memcpy(line->words, l->words + l->at, (size_t)count * sizeof(*line->words));
	line->count = count;
	*all->end = line;
	all->end = &line->next;
	return true;
}

/* The generation's sinks are published when it starts. */
static bool has_sink(void *ctx, const char *name)
{
	return sink_of_config(ctx, name) != NULL;
}

/* Sources of HAProxy whose parts tell nothing here. */
static bool is_silent(const char *source)
{
	static const char *const silent[] = { "acme", "fcgi", "haterm", "peers", "qcm", "qmux",
					      "spop" };

	for (size_t i = 0; source && i < sizeof(silent) / sizeof(*silent); i++)
		if (strcmp(silent[i], source) == 0)
			return true;
	return false;
}

static bool trace_parse(struct conf_line *l)
{
	struct trace_order order = { .words = l->words + l->at, .count = l->count - l->at,
				     .dry = true, .has_sink = has_sink, .ctx = l->cfg };
	enum trace_answer answer;
	struct strbuf text;
	bool good = true;

	if (is_silent(conf_peek(l))) {
		conf_warn(l, l->at, NULL, "'trace': source '%s' tells nothing here: the line is "
			  "ignored.", conf_peek(l));
		l->at = l->count;
		return true;
	}
	strbuf_init(&text);
	answer = trace_run(&order, &text);
	while (text.len && text.ptr[text.len - 1] == '\n')
		text.len--;
	if (answer == TRACE_WRONG)
		good = conf_error(l, l->at, NULL, "%.*s", SLICE_FMT(strbuf_slice(&text)));
	else if (answer == TRACE_TELL)
		conf_warn(l, l->at, NULL, "'trace': %.*s", SLICE_FMT(strbuf_slice(&text)));
	else
		good = keep_line(l);
	strbuf_fini(&text);
	l->at = l->count;
	return good;
}

static bool traces_start(struct config *cfg, struct diag_list *diags)
{
	struct trace_lines *all = slot_of(&lines_slot, config_slots(cfg));
	struct strbuf text;

	strbuf_init(&text);
	for (struct trace_line *line = all->first; line; line = line->next) {
		struct trace_order order = { .words = line->words, .count = line->count };

		trace_run(&order, &text);
	}
	strbuf_fini(&text);
	return true;
}

static const struct conf_section sections[] = {
	{ .name = "traces", .where = CONF_OTHER, .open = section_open, .syntax = "",
	  .help = "traces to configure when the program starts" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	{ .words = "trace", .where = CONF_OTHER, .section = "traces", .max_args = -1,
	  .parse = trace_parse, .syntax = "<source> <args...>",
	  .help = "what the command of that name does" },
	{ 0 }
};

const struct module mod_trace = {
	.name = "trace", .commands = commands, .sections = sections, .keywords = keywords,
	.slots = slots, .start = traces_start,
};
