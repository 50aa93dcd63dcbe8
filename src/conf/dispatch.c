/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dispatch.c - one line of a section: prefix, keyword, arity, parser or typed slot */
#include <string.h>
#include "conf_priv.h"
#include "base/bug.h"

static const char no_prefix_here[] =
	"negation/default currently supported only for options, log, busy-polling, set-dumpable,"
	" strict-limits, insecure-fork-wanted and numa-cpu-mapping.";

/* `option x` is spoken of as 'x'. */
static const char *short_name(const char *words)
{
	return strncmp(words, "option ", 7) == 0 ? words + 7 : words;
}

static bool is_option(const char *words)
{
	return strncmp(words, "option ", 7) == 0;
}

/* --- nothing found ----------------------------------------------------------------------- */

static void report_wrong_place(struct conf_line *l, const struct conf_keyword *k)
{
	const char *name = short_name(k->words), *section = l->section->name;
	bool backend = l->where == CONF_FRONTEND;

	if (l->where == CONF_DEFAULTS) {
		conf_error(l, 0, NULL, "'%s' not allowed in 'defaults' section.", name);
		return;
	}
	if (k->flags & CONF_STRICT_PLACE) {
		conf_error(l, 0, NULL, "'%s' not allowed because %s '%s' has no %s capability.",
			   name, section, l->section_name, backend ? "backend" : "frontend");
		return;
	}
	conf_warn(l, 0, NULL, "'%s' ignored because %s '%s' has no %s capability.%s%s", name,
		  section, l->section_name, backend ? "backend" : "frontend", k->hint ? " " : "",
		  k->hint ? k->hint : "");
}

/* The first word is known, the second is not. */
static bool report_wrong_second(struct conf_line *l)
{
	const char *section = l->section->name, *near;
	struct strbuf followers;
	bool known;

	strbuf_init(&followers);
	known = conf_keyword_followers(&followers, l->words[0], l->where, section);
	if (!known) {
		strbuf_fini(&followers);
		return false;
	}
	near = l->count > 1 ? conf_keyword_suggest(l->words, l->where, section, true) : NULL;
	if (strcmp(l->words[0], "option") == 0 && l->count < 2)
		conf_report(l, 1, DIAG_ALERT, DIAG_TIGHT, "'option' expects an option name.");
	else if (strcmp(l->words[0], "option") == 0)
		conf_error(l, 1, NULL, "unknown option '%s'%s%s%s", l->words[1],
			   near ? "; did you mean '" : "", near ? near : "",
			   near ? "' maybe ?" : "");
	else
		conf_error(l, l->count > 1, NULL, "'%s' supports %s (got '%s')%s%s%s", l->words[0],
			   followers.ptr ? followers.ptr : "", l->count > 1 ? l->words[1] : "",
			   near ? "; did you mean '" : "", near ? near : "",
			   near ? "' maybe ?" : "");
	strbuf_fini(&followers);
	return true;
}

static void report_unknown(struct conf_line *l)
{
	const struct conf_keyword *elsewhere;
	const char *near, *section, *feature;
	int used;

	feature = conf_later_feature(l->words, l->count, l->where);
	if (feature) {
		conf_error(l, 0, NULL, "'%s' is not supported yet: it comes with %s.", l->words[0],
			   feature);
		return;
	}
	elsewhere = conf_keyword_elsewhere(l->words, l->count, l->where, &used);
	if (elsewhere && !(elsewhere->flags & CONF_REFUSED)) {
		report_wrong_place(l, elsewhere);
		return;
	}
	if (report_wrong_second(l))
		return;
	near = conf_keyword_suggest(l->words, l->where, l->section->name, false);
	section = near ? NULL : conf_section_suggest(l->words[0]);
	conf_error(l, 0, section ? arena_printf(&l->cfg->arena, "is a section '%s' meant to begin "
						"here ?", section) : NULL,
		   "unknown keyword '%s' in '%s' section%s%s%s", l->words[0], l->section->name,
		   near ? "; did you mean '" : "", near ? near : "", near ? "' maybe ?" : "");
}

/* --- found ------------------------------------------------------------------------------- */

bool conf_keyword_allowed(struct conf_line *l, const struct conf_keyword *k, int word)
{
	if (k->flags & CONF_REFUSED)
		return conf_error(l, word, NULL, "%s",
				  k->hint ? k->hint : "not supported any more.");
	if ((k->flags & CONF_EXPERIMENTAL) && !conf_experimental(l->cfg))
		return conf_error(l, word, NULL,
				  "'%s' directive is experimental, must be allowed via a"
				  " global 'expose-experimental-directives'",
				  k->words);
	if (k->flags & CONF_IGNORED) {
		/* a hidden one went out of use, and should be taken out of the file */
		if (k->flags & CONF_HIDDEN)
			conf_warn(l, word, NULL, "%s", k->hint ? k->hint : "ignored.");
		else
			conf_note(l, word, "%s", k->hint ? k->hint : "ignored.");
		return false;
	}
	if ((k->flags & CONF_DEPRECATED) && !conf_deprecated(l->cfg))
		conf_warn(l, word, k->hint,
			  "the '%s' directive is deprecated and will be removed in a"
			  " future version.",
			  k->words);
	if (k->flags & CONF_RENAMED)
		conf_warn(l, word, NULL,
			  "'%s' is deprecated in 3.3 and will be removed in 3.5. Please use the "
			  "newer keyword syntax '%s'.", k->words, k->hint);
	return true;
}

static bool prefix_allowed(struct conf_line *l, const struct conf_keyword *k)
{
	if ((!l->no || (k->flags & CONF_CAN_NO)) && (!l->dflt || (k->flags & CONF_CAN_DEFAULT)))
		return true;
	if (is_option(k->words))
		return conf_report(l, 0, DIAG_ALERT, DIAG_TIGHT,
				   "negation/default is not supported for option '%s'.",
				   short_name(k->words));
	return conf_report(l, 0, DIAG_ALERT, DIAG_TIGHT, "%s", no_prefix_here);
}

int conf_keyword_most(const struct conf_keyword *k)
{
	if (k->max_args == 0 && k->type != CONF_NONE && k->type != CONF_FLAG && k->type != CONF_BIT)
		return 1;
	return k->max_args;
}

static bool arity_fits(struct conf_line *l, const struct conf_keyword *k)
{
	int args = l->count - l->at, most = conf_keyword_most(k);

	if (most >= 0 && args > most) {
		if (k->type == CONF_TIME_MS || k->type == CONF_TIME_S)
			return conf_error(l, l->at + most, NULL,
					  "'%s' : unexpected extra argument '%s' after value '%s'.",
					  k->words, l->words[l->at + most],
					  l->words[l->at + most - 1]);
		return conf_error(l, l->at + most, NULL,
				  "'%s' cannot handle unexpected argument '%s'.",
				  k->words, l->words[l->at + most]);
	}
	/* the readers of typed values say best what they miss; `no` and `default` need nothing */
	if (args >= k->min_args || k->type != CONF_NONE || l->no || l->dflt)
		return true;
	if (k->syntax)
		return conf_error(l, l->count, NULL, "'%s' expects %s as argument%s.",
				  k->words, k->syntax, k->min_args > 1 ? "s" : "");
	return conf_error(l, l->count, NULL, "'%s' expects %d argument%s.", k->words,
			  k->min_args, k->min_args > 1 ? "s" : "");
}

/* Clears what `no` and `default` clear: back to zero. */
static void store_nothing(const struct conf_keyword *k, void *at)
{
	switch (k->type) {
	case CONF_NONE:
		break;
	case CONF_FLAG:
		*(bool *)at = false;
		break;
	case CONF_BIT:
		*(uint64_t *)at &= ~((uint64_t)1 << k->min);
		break;
	case CONF_INT:
		*(int *)at = 0;
		break;
	case CONF_UINT64:
	case CONF_SIZE:
		*(uint64_t *)at = 0;
		break;
	case CONF_TIME_MS:
	case CONF_TIME_S:
		*(int64_t *)at = 0;
		break;
	case CONF_STRING:
		*(const char **)at = NULL;
		break;
	}
}

/* Sizes and times have a range only where the table gives one. */
static bool in_range(struct conf_line *l, const struct conf_keyword *k, int64_t value)
{
	if ((!k->min && !k->max) || (value >= k->min && value <= k->max))
		return true;
	return conf_error(l, l->at - 1, NULL, "'%s' value must be between %lld and %lld (was %s)",
			  k->words, (long long)k->min, (long long)k->max, l->words[l->at - 1]);
}

static bool store_value(struct conf_line *l, const struct conf_keyword *k, void *at)
{
	int64_t number;
	uint64_t size;
	bool done = true;

	switch (k->type) {
	case CONF_NONE:
		break;
	case CONF_FLAG:
		*(bool *)at = true;
		break;
	case CONF_BIT:
		*(uint64_t *)at |= (uint64_t)1 << k->min;
		break;
	case CONF_INT:
		done = conf_take_int(l, k->min, k->max, &number);
		if (done)
			*(int *)at = (int)number;
		break;
	case CONF_UINT64:
		done = conf_take_int(l, k->min, k->max ? k->max : INT64_MAX, &number);
		if (done)
			*(uint64_t *)at = (uint64_t)number;
		break;
	case CONF_TIME_MS:
		done = conf_take_time_ms(l, &number) && in_range(l, k, number);
		if (done)
			*(int64_t *)at = number;
		break;
	case CONF_TIME_S:
		done = conf_take_time_s(l, &number) && in_range(l, k, number);
		if (done)
			*(int64_t *)at = number;
		break;
	case CONF_SIZE:
		done = conf_take_size(l, &size) && in_range(l, k, (int64_t)size);
		if (done)
			*(uint64_t *)at = size;
		break;
	case CONF_STRING:
		done = conf_take_string(l, (const char **)at);
		break;
	}
	return done;
}

bool conf_store(struct conf_line *l, const struct conf_keyword *k, struct slot_area *slots)
{
	char *at;

	BUG_ON(!k->slot || !slots);
	at = (char *)slot_of(k->slot, slots) + k->offset;
	if (l->no || l->dflt) {
		store_nothing(k, at);
		return true;
	}
	return store_value(l, k, at);
}

bool conf_line_commit(struct conf_line *l, struct conf_tokens *t)
{
	char **words = arena_alloc(&l->cfg->arena, ((size_t)l->count + 1) * sizeof(*words));

	for (int i = 0; words && i < l->count; i++) {
		words[i] = conf_strdup(l->cfg, l->words[i]);
		if (!words[i])
			words = NULL;
	}
	if (!words)
		return conf_error(l, 0, NULL, "out of memory");
	words[l->count] = NULL;
	l->words = words;
	return true;
}

static bool is_prefix(const char *word)
{
	return strcmp(word, "no") == 0 || strcmp(word, "default") == 0;
}

static void take_prefix(struct conf_line *l)
{
	if (l->count < 2 || !is_prefix(l->words[0]))
		return;
	l->no = l->words[0][0] == 'n';
	l->dflt = !l->no;
	l->words++;
	l->columns++;
	l->count--;
}

void conf_dispatch(struct conf_line *l, struct conf_tokens *t)
{
	const struct conf_keyword *k;
	int used = 0;

	take_prefix(l);
	if (l->count == 1 && is_prefix(l->words[0]) && !l->early) {
		conf_report(l, 0, DIAG_ALERT, DIAG_TIGHT, "%s", no_prefix_here);
		return;
	}
	k = conf_keyword_find(l->words, l->count, l->where, l->section->name, &used);
	if (l->early && (!k || !(k->flags & CONF_EARLY)))
		return;
	if (!k) {
		report_unknown(l);
		return;
	}
	l->keyword = k;
	l->at = used;
	if (!conf_keyword_allowed(l, k, 0) || !prefix_allowed(l, k) || !arity_fits(l, k))
		return;
	/* a section whose first line was refused has nowhere to put values */
	if (!l->object && !l->slots)
		return;
	if (!conf_line_commit(l, t))
		return;
	if (!k->parse)
		conf_store(l, k, l->slots);
	else if (k->parse(l) && k->flags & CONF_MOOT)
		conf_report(l, 0, DIAG_DIAG, DIAG_PARSING, "%s", k->hint);
}
