/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_ctl.c - edge file: the places of base/place.h for the Runtime API */
#include <ctype.h>
#include <string.h>
#include "base/bug.h"
#include "base/place.h"
#include "core/core.h"
#include "ctl/ctl.h"

static const char *const types[PLACE_TYPE_COUNT] = {
#define X(name, word) word,
	PLACE_TYPES(X)
#undef X
};

/* What a line of the command asks for. */
struct wish {
	const char *action;  /* NULL: show */
	unsigned filter;     /* mask of types; 0: all of them */
	bool nothing;        /* it names types that this program has none of, and no others */
	bool all;
};

static bool take_type(struct wish *w, const char *word)
{
	for (unsigned i = 0; i < PLACE_TYPE_COUNT; i++)
		if (strcmp(word, types[i]) == 0) {
			w->filter |= 1u << i;
			return true;
		}
	/* an invariant that does not hold ends this program: these are never to be shown */
	if (strcmp(word, "bug") != 0 && strcmp(word, "chk") != 0)
		return false;
	w->nothing = true;
	return true;
}

static bool take_word(struct wish *w, const char *word)
{
	static const char *const actions[] = { "reset", "show", "on", "off" };

	for (unsigned i = 0; i < ARRAY_LEN(actions); i++)
		if (strcmp(word, actions[i]) == 0) {
			w->action = actions[i];
			return true;
		}
	if (strcmp(word, "all") == 0)
		return w->all = true;
	return take_type(w, word);
}

static bool is_wanted(const struct wish *w, const struct place *p)
{
	return w->filter ? w->filter >> p->type & 1 : !w->nothing;
}

static void put_place(struct strbuf *out, const struct place *p, uint64_t count)
{
	const char *name = strrchr(p->file, '/');

	strbuf_printf(out, "%-10llu ", (unsigned long long)count);
	for (const char *c = types[p->type]; *c; c++)
		strbuf_add_char(out, (char)toupper((unsigned char)*c));
	strbuf_printf(out, " %s:%u %s()", name ? name + 1 : p->file, p->line, p->function);
	if (p->text)
		strbuf_printf(out, ": %s", p->text);
	strbuf_add_str(out, p->type == PLACE_CNT && !places_are_on() ? " (stopped)\n" : "\n");
}

/* As many as there are places in the code that count: a short list. */
static void show(struct strbuf *out, const struct wish *w)
{
	bool titled = false;

	for (const struct place *p = place_next(NULL); p; p = place_next(p)) {
		uint64_t count = __atomic_load_n(&p->count, __ATOMIC_RELAXED);

		if (!is_wanted(w, p) || (!count && !w->all))
			continue;
		if (!titled)
			strbuf_add_str(out, "Count     Type Location function(): \"condition\" "
				       "[comment]\n");
		titled = true;
		put_place(out, p, count);
	}
}

static void act(const struct wish *w)
{
	if (strcmp(w->action, "reset") != 0) {
		places_switch(strcmp(w->action, "on") == 0);
		return;
	}
	for (struct place *p = place_next(NULL); p; p = place_next(p))
		if (is_wanted(w, p))
			__atomic_store_n(&p->count, 0, __ATOMIC_RELAXED);
}

static enum ctl_step debug_counters(struct ctl_request *rq)
{
	struct wish w = { 0 };

	for (int i = rq->at; i < rq->count; i++) {
		if (take_word(&w, rq->words[i]))
			continue;
		ctl_error(rq, "Expects an action ('reset', 'show', 'on', 'off'), types of counters "
			  "('bug', 'chk', 'cnt', 'glt'), and 'all' to have those of zero.");
		return CTL_DONE;
	}
	if (!w.action || strcmp(w.action, "show") == 0)
		show(rq->out, &w);
	else if (ctl_require(rq, CTL_ADMIN))
		act(&w);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "debug counters", .syntax = "[?|all|bug|cnt|chk|glt]*", .level = CTL_OPERATOR,
	  .help = "list rare events by their place in the code, or forget them",
	  .run = debug_counters },
	{ 0 }
};

const struct module mod_place_ctl = { .name = "place_ctl", .commands = commands };
