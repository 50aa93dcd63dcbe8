/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error_page_conf.c - edge file: the configuration's face of error_page.h */
#include <stdlib.h>
#include "error_page_priv.h"

/* Reads the next word as a status of the table; -1: reported. */
static int page_take_index(struct conf_line *l)
{
	const char *word = conf_next(l);
	char *end;
	long status;
	int index;

	if (!word || !*word) {
		conf_error(l, l->at, NULL, "%s: expects a status code.", l->keyword->words);
		return -1;
	}
	status = strtol(word, &end, 10);
	index = *end || status < 0 || status > 999 ? -1 : http_page_index(status);
	if (index < 0)
		conf_error(l, l->at - 1, NULL, "%s : status code '%s' not handled.",
			   l->keyword->words, word);
	return index;
}

/* errorfile <code> <file> : reads it; NULL: reported. */
static struct http_page *page_take_file(struct conf_line *l, int *index)
{
	const char *error = NULL, *path;
	struct http_page *page;

	if (l->count - l->at != 2) {
		conf_error(l, l->at, NULL, l->count - l->at > 2 ?
			   "errorfile : expects exactly two arguments." :
			   "errorfile: expects <status_code> and <file> as arguments.");
		return NULL;
	}
	*index = page_take_index(l);
	if (*index < 0)
		return NULL;
	path = conf_next(l);
	page = http_page_load(l->cfg, path, &error);
	if (!page)
		conf_error(l, l->at - 1, NULL, "errorfile : %s.", error);
	return page;
}

static bool errorfile_parse(struct conf_line *l)
{
	int index;
	struct http_page *page = page_take_file(l, &index);

	return page && http_page_entry_add(l, index, page);
}

static bool errorloc_parse(struct conf_line *l)
{
	const char *name = l->keyword->words, *url;
	unsigned status = strcmp(name, "errorloc303") == 0 ? 303 : 302;
	struct http_page *page;
	int index;

	if (l->count - l->at < 2)
		return conf_error(l, l->at, NULL,
				  "%s : expects <status_code> and <url> as arguments.", name);
	index = page_take_index(l);
	if (index < 0)
		return false;
	url = conf_next(l);
	/* it goes into a field as it is: nothing there may end the field */
	if (strpbrk(url, "\r\n"))
		return conf_error(l, l->at - 1, NULL, "%s : a location cannot hold line breaks.",
				  name);
	page = http_page_redirect(l->cfg, status, slice_of(url));
	if (!page)
		return conf_error(l, 0, NULL, "out of memory.");
	return http_page_entry_add(l, index, page) && conf_take_end(l);
}

/* errorfiles <name> [<code> ...] */
static bool errorfiles_parse(struct conf_line *l)
{
	const char *group = conf_next(l);
	bool good = true;
	int index;

	if (!group || !*group)
		return conf_error(l, l->at, NULL, "errorfiles : expects <name> as argument.");
	if (!conf_peek(l)) {
		for (index = 0; index < HTTP_PAGE_COUNT; index++)
			good &= http_page_import_entry(l, index, group, true);
		return good;
	}
	while (conf_peek(l)) {
		index = page_take_index(l);
		good &= index >= 0 && http_page_import_entry(l, index, group, false);
	}
	return good;
}

static bool group_open(struct conf_line *l)
{
	struct http_page_config *pc = http_page_config_of(l->cfg);
	const char *name = conf_next(l);
	struct http_group *g;
	char bad;

	if (!name || !*name)
		return conf_error(l, 0, NULL, "missing name for http-errors section.");
	bad = conf_name_bad_char(name);
	if (bad)
		return conf_error(l, l->at - 1, NULL, "character '%c' is not permitted in "
				  "'http-errors' name '%s'.", bad, name);
	g = http_group_find(l->cfg, name);
	if (g)
		return conf_error(l, l->at - 1, NULL, "http-errors section '%s' already exists "
				  "(declared at %s:%d).", name, g->file, g->line);
	g = arena_zalloc(&l->cfg->arena, sizeof(*g));
	if (!g)
		return conf_error(l, 0, NULL, "out of memory.");
	*g = (struct http_group){ .name = name, .line = l->place.line, .next = pc->groups };
	g->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : NULL;
	pc->groups = g;
	l->object = g;
	l->slots = NULL;
	return conf_take_end(l);
}

static bool group_errorfile_parse(struct conf_line *l)
{
	struct http_group *g = l->object;
	int index;
	struct http_page *page = page_take_file(l, &index);

	if (!page)
		return false;
	g->pages[index] = page;
	return true;
}

/* Gives each imported entry its page, now that every group is known. */
static void page_check(struct config *cfg, struct diag_list *diags)
{
	struct http_page_entry *e;

	for (e = http_page_config_of(cfg)->pending; e; e = e->next) {
		struct diag_place place = { .file = e->file, .line = e->line };
		bool found;

		e->page = http_page_of_group(cfg, e->group_name, e->status, &found);
		if (!found && !(e->may_lack && e->status != 200))
			diag_add(diags, DIAG_ALERT, &place, NULL,
				 "errorfiles : unable to find the http-errors section '%s'.",
				 e->group_name);
		else if (found && !e->page && !e->may_lack)
			diag_add(diags, DIAG_WARNING, &place, NULL,
				 "errorfiles : no page for status %u in the http-errors section "
				 "'%s'.", e->status, e->group_name);
		if (!e->page && e->previous)
			e->page = e->previous->page;
	}
}

static const struct conf_section sections[] = {
	{ .name = "http-errors", .where = CONF_OTHER, .open = group_open, .syntax = "<name>",
	  .help = "a named set of error pages that proxies import" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	{ .words = "errorfile", .where = CONF_PROXY, .max_args = -1, .parse = errorfile_parse,
	  .syntax = "<code> <file>", .help = "answer the file instead of the built-in error page" },
	{ .words = "errorfiles", .where = CONF_PROXY, .max_args = -1, .parse = errorfiles_parse,
	  .syntax = "<name> [<code>...]", .help = "import error pages from a http-errors section" },
	{ .words = "errorloc", .where = CONF_PROXY, .max_args = -1, .parse = errorloc_parse,
	  .syntax = "<code> <url>", .help = "redirect (302) instead of the error page" },
	{ .words = "errorloc302", .where = CONF_PROXY, .max_args = -1, .parse = errorloc_parse,
	  .syntax = "<code> <url>", .help = "redirect (302) instead of the error page" },
	{ .words = "errorloc303", .where = CONF_PROXY, .max_args = -1, .parse = errorloc_parse,
	  .syntax = "<code> <url>", .help = "redirect by GET (303) instead of the error page" },
	{ .words = "errorfile", .where = CONF_OTHER, .section = "http-errors", .max_args = -1,
	  .parse = group_errorfile_parse, .syntax = "<code> <file>",
	  .help = "the file to answer for this status" },
	{ 0 }
};

static struct slot *const slots[] = { &http_page_proxy_slot, &http_page_config_slot, NULL };

const struct module mod_http_error_page = {
	.name = "error-page",
	.sections = sections,
	.keywords = keywords,
	.slots = slots,
	.check = page_check,
};
