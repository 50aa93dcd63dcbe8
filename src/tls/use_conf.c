/* SPDX-License-Identifier: GPL-2.0-or-later */
/* use_conf.c - edge file: ssl-f-use
 *
 * Manual: configuration 4.2
 */
#include <string.h>
#include "bind_priv.h"
#include "global_priv.h"

/* The rest of the line without "crt <file>", which goes to *crt, and with "]" at its end; *count
 * words. NULL: reported.
 */
static char **take_words(struct conf_line *l, const char **crt, int *count)
{
	char **words = arena_alloc(&l->cfg->arena, sizeof(*words) * (size_t)(l->count + 2));
	const char *word;

	*count = 0;
	while (words && (word = conf_next(l))) {
		if (strcmp(word, "crt") == 0)
			*crt = conf_next(l);
		else
			words[(*count)++] = (char *)(uintptr_t)word;
	}
	if (words && !*crt) {
		conf_error(l, 0, NULL, "Trying to load a certificate but no 'crt' keyword "
			   "specified.");
		return NULL;
	}
	if (!words) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	words[(*count)++] = (char *)(uintptr_t)"]";
	words[*count] = NULL;
	return words;
}

static bool parse_f_use(struct conf_line *l)
{
	struct tls_f_use *f = arena_zalloc(&l->cfg->arena, sizeof(*f));
	const char *crt = NULL;
	char **words;
	int count, at = 0;

	words = take_words(l, &crt, &count);
	if (!f || !words)
		return false;
	f->add.cfg = l->cfg;
	f->add.line = l->place.line;
	if (count > 1 && !tls_crt_list_options(&f->add, words, count, &at))
		return conf_error(l, 0, NULL, "%s", f->add.why);
	f->crt = crt;
	f->list = arena_printf(&l->cfg->arena, "@%s", l->section_name);
	f->file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	f->line = l->place.line;
	if (!f->list)
		return conf_error(l, 0, NULL, "out of memory.");
	/* the last one is the default */
	list_prepend(&tls_global_of(l->cfg)->f_uses, &f->link);
	return true;
}

static const struct conf_keyword keywords[] = {
	{ .words = "ssl-f-use", .where = CONF_FE, .max_args = -1, .parse = parse_f_use,
	  .syntax = "crt <file> [<option> [<value>]]...",
	  .help = "a certificate on all TLS lines of the frontend" },
	{ 0 }
};

const struct module mod_tls_use_conf = { .name = "tls-frontend-certificates",
					 .keywords = keywords };
