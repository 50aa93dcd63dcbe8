/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read.c - files, passes and sections (manual 2.1)
 *
 * The files of the command line are loaded first, those named by an `.include` line when it is
 * reached: default-path may change the directory while they are parsed. Two passes run over them.
 * The first knows no section but `global` and executes only keywords marked CONF_EARLY; its
 * messages are discarded because the second pass reports them again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "conf/kept.h"
#include "conf_priv.h"

/* Files that include one another. */
#define INCLUDES_MAX 16

struct reader {
	struct conf_where where;
	struct conf_nesting nesting;
	struct conf_tokens tokens;
	bool early;
	bool skips; /* in a section that is known but not supported: said once */
	const struct conf_section *section; /* NULL: before the first of the file */
	char *section_name;		    /* owned; its first argument, or "" */
	void *object;
	struct slot_area *slots;
	struct conf_block *block; /* keeps the lines of the section; NULL: nothing does */
	/* a dialect, see conf_read_dialect(); NULL */
	const char *dialect, *scope;
	bool is_outside, has_scope; /* of <scope>; a line has begun it */
	int depth; /* of includes */
	bool no_includes; /* they were too deep: what is left might take for ever */
};

/* --- sections ---------------------------------------------------------------------------- */

/* Fills a line from the tokens of the reader. */
static void line_init(struct reader *r, struct conf_line *l)
{
	*l = (struct conf_line){
		.cfg = r->where.cfg,
		.diags = r->where.diags,
		.place = r->where.place,
		.words = r->tokens.words,
		.columns = r->tokens.columns,
		.count = r->tokens.count,
		.section = r->section,
		.section_name = r->section_name ? r->section_name : "",
		.where = r->section ? r->section->where : 0,
		.object = r->object,
		.slots = r->slots,
		.early = r->early,
	};
}

static void section_close(struct reader *r)
{
	struct conf_line l;

	if (!r->section)
		return;
	if (!r->early && r->section->close && (r->object || r->slots)) {
		r->tokens.count = 0;
		r->tokens.words[0] = NULL;
		line_init(r, &l);
		r->section->close(&l);
	}
	r->section = NULL;
	r->object = NULL;
	r->slots = NULL;
	r->block = NULL;
	free(r->section_name);
	r->section_name = NULL;
	r->where.section = NULL;
}

static void section_open(struct reader *r, const struct conf_section *s)
{
	struct conf_tokens *t = &r->tokens;
	struct conf_line l;

	r->section = s;
	r->section_name = strdup(t->count > 1 ? t->words[1] : "");
	r->where.section = r->section_name && *r->section_name ? r->section_name : s->name;
	if (r->early) {
		r->slots = s->where == CONF_GLOBAL ? config_slots(r->where.cfg) : NULL;
		r->block = s->keeps_lines ? conf_block_begin(&r->where, s, t) : NULL;
		return;
	}
	line_init(r, &l);
	l.at = 1;
	if (!conf_line_commit(&l, t))
		return;
	r->where.cfg->state->past_global |= s->where != CONF_GLOBAL;
	s->open(&l);
	r->object = l.object;
	r->slots = l.slots;
}

/* --- lines ------------------------------------------------------------------------------- */

/* Of a line with a keyword: an error since 3.3; directives take empty words (manual 2.4: a
 * condition may be a variable that is not set). The column is that behind the opening quote.
 */
static void report_empty_word(struct reader *r)
{
	struct conf_tokens *t = &r->tokens;

	r->where.place.form = DIAG_TIGHT;
	r->where.place.column = t->columns[t->empty] + 1;
	diag_add(r->where.diags, DIAG_ALERT, &r->where.place, NULL,
		 "argument number %d at position %d is empty and marks the end of the argument "
		 "list:", t->empty, t->columns[t->empty] + 1);
}

static void report_no_section(struct reader *r)
{
	const char *word = r->tokens.words[0], *near = conf_section_suggest(word);
	bool is_marked = strncmp(word, "\xef\xbb\xbf", 3) == 0; /* its bytes are not seen */
	char hint[128];
	struct strbuf b;

	strbuf_init_fixed(&b, hint, sizeof(hint));
	if (is_marked)
		strbuf_add_str(&b, "the file begins with a byte order mark: save it without one");
	else
		strbuf_printf(&b, "did you mean '%s' maybe ?", near ? near : "");
	strbuf_add_char(&b, '\0');
	r->where.place.form = DIAG_TIGHT;
	r->where.place.column = r->tokens.columns[0];
	diag_add(r->where.diags, DIAG_ALERT, &r->where.place, near || is_marked ? hint : NULL,
		 "unknown keyword '%s' out of section.", word);
}

/* A section of HAProxy that this version does not have: one error, none for its lines. False: it is
 * no such section.
 */
static bool skip_section(struct reader *r)
{
	const char *why = r->dialect ? NULL : conf_later_section(r->tokens.words[0]);

	if (!why)
		return false;
	section_close(r);
	r->skips = true;
	r->where.place.form = DIAG_PARSING;
	r->where.place.column = r->tokens.columns[0];
	if (!r->early)
		diag_add(r->where.diags, DIAG_ALERT, &r->where.place, "its lines are not read.",
			 "section '%s' %s.", r->tokens.words[0], why);
	return true;
}

/* Tells the watcher of the line. */
static void tell_line(const struct reader *r, bool is_section)
{
	const struct conf_state *state = r->where.cfg->state;
	const struct conf_watch *watch = state->watch;
	const struct conf_tokens *t = &r->tokens;
	struct conf_seen seen = {
		.file = r->where.place.file,
		.line = r->where.place.line,
		.words = t->words,
		.count = t->count,
		.opens = is_section || conf_later_section(t->words[0]) != NULL,
		.is_cut = t->empty >= 0,
	};

	if (watch && !r->early && !r->dialect)
		watch->line(watch->data, &seen);
	if (state->kept.on && r->early == state->kept.early && !r->dialect &&
	    !conf_is_own_text(seen.file))
		conf_kept_add(r->where.cfg, &seen);
}

static void read_words(struct reader *r)
{
	struct conf_tokens *t = &r->tokens;
	const struct conf_section *s;
	struct conf_line l;

	if (t->empty >= 0) {
		if (!r->early)
			report_empty_word(r);
		t->count = t->empty;
		t->words[t->count] = NULL;
		if (t->count)
			tell_line(r, false);
		return;
	}
	s = conf_section_find(t->words[0], r->dialect);
	tell_line(r, s != NULL);
	if (s) {
		/* close() may use the tokens: it gets a line of its own before */
		struct conf_tokens kept = *t;

		section_close(r);
		*t = kept;
		r->skips = false;
		section_open(r, s);
		return;
	}
	if (skip_section(r) || r->skips)
		return;
	if (!r->section) {
		if (!r->early)
			report_no_section(r);
		return;
	}
	if (r->block)
		conf_block_add(&r->where, r->block, t);
	line_init(r, &l);
	conf_dispatch(&l, t);
}

/* "[name]", alone on a line of a dialect: what follows is for that scope. False: it is none. */
static bool read_scope(struct reader *r)
{
	const char *word = r->tokens.words[0];
	size_t len = strlen(word);

	if (!r->dialect || *word != '[')
		return false;
	section_close(r);
	r->where.place.form = DIAG_PARSING;
	r->where.place.column = r->tokens.columns[0];
	if (r->tokens.count > 1 || len < 3 || word[len - 1] != ']')
		diag_add(r->where.diags, DIAG_ALERT, &r->where.place, NULL,
			 "a scope is a name between brackets, alone on its line.");
	else if (!r->scope)
		diag_add(r->where.diags, DIAG_ALERT, &r->where.place, NULL,
			 "a scope in a file that is read without one: no engine was named.");
	r->is_outside = !r->scope || strlen(r->scope) != len - 2 ||
			strncmp(r->scope, word + 1, len - 2) != 0;
	r->has_scope |= !r->is_outside;
	return true;
}

/* --- includes ---------------------------------------------------------------------------- */

static void read_lines(struct reader *r, const struct conf_text *text);

/* A file is read in the place of the line, whose words are not needed any more. */
static void read_included(struct reader *r, const struct conf_text *text)
{
	struct conf_nesting *outer = malloc(sizeof(*outer));
	struct diag_place place = r->where.place;
	int alerts = r->where.diags->alerts;

	if (!outer) {
		diag_add(r->where.diags, DIAG_ALERT, &place, NULL, "out of memory.");
		return;
	}
	*outer = r->nesting;
	r->nesting.depth = 0;
	r->depth++;
	read_lines(r, text);
	conf_nesting_end(&r->where, &r->nesting);
	r->depth--;
	r->nesting = *outer;
	free(outer);
	r->where.place = place;
	r->where.cfg->state->file = place.file;
	/* where files include themselves the line that was too deep says it all */
	if (r->where.diags->alerts != alerts && !r->no_includes)
		diag_add(r->where.diags, DIAG_ALERT, &place, NULL,
			 "Error(s) found in included file : %s", text->name);
}

static void include_error(struct reader *r, int word, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void include_error(struct reader *r, int word, const char *hint, const char *fmt, ...)
{
	va_list ap;

	r->where.place.form = DIAG_TIGHT;
	r->where.place.column = r->tokens.columns[word];
	va_start(ap, fmt);
	diag_vadd(r->where.diags, DIAG_ALERT, &r->where.place, hint, fmt, ap);
	va_end(ap);
}

/* The files are found from the directory of this one, wherever default-path has led. */
static void include_all(struct reader *r, bool optional)
{
	struct config *cfg = r->where.cfg;
	const char *file = r->where.place.file;
	struct conf_texts texts = { 0 };

	conf_path_leave(cfg);
	if (!conf_texts_include(&texts, file, r->tokens.words[1], optional))
		include_error(r, 1, "'optional' behind the name lets it be missing",
			      "'.include' : cannot read '%s' : %s", r->tokens.words[1],
			      strerror(errno));
	for (int i = 0; i < texts.count; i++) {
		conf_path_enter(cfg, texts.all[i].name);
		read_included(r, &texts.all[i]);
		conf_path_leave(cfg);
	}
	if (!conf_path_enter(cfg, file))
		diag_add(r->where.diags, DIAG_ALERT, NULL, NULL,
			 "cannot apply default-path to %s : %s", file, strerror(errno));
	conf_texts_fini(&texts);
}

/* `.include "file or pattern" [optional]`. False: it is another line. */
static bool read_include(struct reader *r)
{
	const struct conf_tokens *t = &r->tokens;
	bool optional = t->count == 3 && strcmp(t->words[2], "optional") == 0;

	if (strcmp(t->words[0], ".include") != 0)
		return false;
	if (conf_nesting_skips(&r->nesting) || r->no_includes)
		return true;
	r->no_includes = r->depth == INCLUDES_MAX;
	if (t->count < 2 || !*t->words[1])
		include_error(r, 0, NULL, "'.include' expects the name of a file, or a pattern.");
	else if (t->count > 2 && !optional)
		include_error(r, 2, "only 'optional' may follow the name",
			      "Unexpected argument '%s' for '.include'.", t->words[2]);
	else if (r->no_includes)
		include_error(r, 0, "does a file include itself?", "more than %d files that "
			      "include one another.", INCLUDES_MAX);
	else
		include_all(r, optional);
	return true;
}

/* One line without its line feed, NUL-terminated. */
static void read_line(struct reader *r, char *line)
{
	struct conf_tokens *t = &r->tokens;

	r->where.place.text = line;
	if (!conf_tokenize(&r->where, t) || !t->count || read_include(r))
		return;
	/* conditions are shown like any line, and so are those that do not count */
	if (r->where.cfg->state->show && !r->early)
		conf_show_line(r->where.cfg->state->show, t, r->where.place.line);
	if (t->words[0][0] == '.') {
		conf_directive(&r->where, &r->nesting, t, r->early);
		return;
	}
	if (!conf_nesting_skips(&r->nesting) && !read_scope(r) && !r->is_outside)
		read_words(r);
}

static void report_line(struct reader *r, const char *what, size_t position)
{
	r->where.place.form = DIAG_TIGHT;
	r->where.place.column = 0;
	diag_add(r->where.diags, DIAG_ALERT, &r->where.place, NULL, "%s at position %d.", what,
		 (int)position);
}

static void read_lines(struct reader *r, const struct conf_text *text)
{
	char *at = text->bytes, *end = text->bytes + text->len;
	int line = 0;

	r->where.place.file = text->name;
	r->where.cfg->state->file = text->name;
	while (at < end) {
		char *feed = memchr(at, '\n', (size_t)(end - at));
		char *stop = feed ? feed : end;
		char *nul = memchr(at, '\0', (size_t)(stop - at));

		r->where.place.line = ++line;
		if (nul) {
			report_line(r, "Stray NUL character", (size_t)(nul - at) + 1);
		} else if (!feed) {
			report_line(r, "Missing LF on last line, file might have been truncated",
				    (size_t)(end - at) + 1);
		} else {
			*feed = '\0';
			read_line(r, at);
			*feed = '\n';
		}
		at = stop + 1;
	}
	r->where.place.text = NULL;
}

static void read_text(struct reader *r, const struct conf_text *text)
{
	read_lines(r, text);
	section_close(r);
	conf_nesting_end(&r->where, &r->nesting);
	r->where.cfg->state->file = NULL;
}

/* --- passes ------------------------------------------------------------------------------ */

static void run_pass(struct config *cfg, const struct conf_texts *texts, struct diag_list *diags,
		     bool early)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r) {
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory");
		return;
	}
	r->where.cfg = cfg;
	r->where.diags = diags;
	r->early = early;
	strbuf_init(&r->tokens.text);
	for (int i = 0; i < texts->count; i++) {
		int alerts = diags->alerts;

		if (!conf_path_enter(cfg, texts->all[i].name))
			diag_add(diags, DIAG_ALERT, NULL, NULL,
				 "cannot apply default-path to %s : %s", texts->all[i].name,
				 strerror(errno));
		read_text(r, &texts->all[i]);
		conf_path_leave(cfg);
		if (diags->alerts != alerts)
			diag_add(diags, DIAG_ALERT, NULL, NULL,
				 "Error(s) found in configuration file : %s", texts->all[i].name);
	}
	strbuf_fini(&r->tokens.text);
	free(r);
}

static void run_passes(struct config *cfg, const struct conf_texts *texts, struct diag_list *diags)
{
	struct diag_list lost;

	diag_list_init(&lost);
	run_pass(cfg, texts, &lost, true);
	diag_list_fini(&lost);
	cfg->state->experimental = false;
	cfg->state->deprecated = false;
	cfg->state->needs_experimental = false;
	run_pass(cfg, texts, diags, false);
	if (cfg->state->experimental && !cfg->state->needs_experimental && !diags->alerts)
		diag_add(diags, DIAG_WARNING, &(const struct diag_place){ .form = DIAG_BARE }, NULL,
			 "Option 'expose-experimental-directives' is set in the global section but "
			 "nothing needs it: remove it, lest an experimental directive be used by "
			 "accident.");
}

void conf_read_early(struct config *cfg, const struct conf_source *sources, int count)
{
	struct conf_texts texts = { 0 };
	struct diag_list lost;

	diag_list_init(&lost);
	for (int i = 0; i < count; i++)
		if (strcmp(sources[i].path, "-") != 0)
			conf_texts_load(&texts, sources[i].path, &lost);
	run_pass(cfg, &texts, &lost, true);
	conf_texts_fini(&texts);
	diag_list_fini(&lost);
}

bool conf_read_kept(struct config *cfg, const struct conf_source *sources, int count,
		    struct diag_list *diags)
{
	struct conf_texts texts = { 0 };
	struct diag_list lost;
	int alerts = diags->alerts;

	for (int i = 0; i < count; i++)
		conf_texts_load(&texts, sources[i].path, diags);
	/* what the first pass sets, a line before it may use in the second: as in run_passes() */
	diag_list_init(&lost);
	run_pass(cfg, &texts, &lost, true);
	cfg->state->kept.on = cfg->state->kept.early = true;
	if (diags->alerts == alerts)
		run_pass(cfg, &texts, &lost, true);
	diag_list_fini(&lost);
	conf_texts_fini(&texts);
	return diags->alerts == alerts;
}

bool conf_read(struct config *cfg, const struct conf_source *sources, int count,
	       struct diag_list *diags)
{
	struct conf_texts texts = { 0 };
	int alerts = diags->alerts;

	for (int i = 0; i < count; i++)
		conf_texts_load(&texts, sources[i].path, diags);
	if (!texts.count && diags->alerts == alerts)
		diag_add(diags, DIAG_ALERT, NULL, NULL, "no configuration file to read.");
	run_passes(cfg, &texts, diags);
	conf_texts_fini(&texts);
	return diags->alerts == alerts;
}

bool conf_read_text(struct config *cfg, const char *name, struct slice text,
		    struct diag_list *diags)
{
	struct conf_texts texts = { 0 };
	int alerts = diags->alerts;
	char *copy = malloc(text.len + 1);

	if (copy) {
		if (text.len)
			memcpy(copy, text.ptr, text.len);
		copy[text.len] = '\0';
	}
	if (!copy || !conf_texts_add(&texts, name, copy, text.len))
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory");
	else
		run_passes(cfg, &texts, diags);
	conf_texts_fini(&texts);
	return diags->alerts == alerts;
}

bool conf_read_dialect(struct conf_line *l, const char *path, const char *dialect,
		       const char *scope)
{
	struct reader *r = calloc(1, sizeof(*r));
	const char *file = l->cfg->state->file;
	int alerts = l->diags->alerts;
	struct conf_texts texts = { 0 };

	if (r)
		conf_texts_load_file(&texts, path, l->diags);
	else
		conf_error(l, 0, NULL, "out of memory.");
	if (texts.count) {
		r->where.cfg = l->cfg;
		r->where.diags = l->diags;
		r->dialect = dialect;
		r->scope = scope;
		r->is_outside = scope != NULL;
		strbuf_init(&r->tokens.text);
		read_text(r, &texts.all[0]);
		strbuf_fini(&r->tokens.text);
		l->cfg->state->file = file;
		if (scope && !r->has_scope)
			conf_error(l, l->at - 1, NULL, "there is no scope '[%s]' in file '%s'.",
				   scope, path);
	}
	conf_texts_fini(&texts);
	free(r);
	return l->diags->alerts == alerts ||
	       conf_error(l, l->at - 1, NULL, "Error(s) found in configuration file : %s", path);
}
