/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help.c - --help-keyword: a keyword's entries in the modules' tables; --explain */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/diag.h"
#include "traffic/explain.h"
#include "dump_priv.h"
#include "generation_priv.h"
#include "options_priv.h"

enum column { KIND, NAME, SYNTAX, WHERE, NOTES, HELP, HINT, COLUMNS };

/* Cuts a record of vocabulary_dump() into its fields. */
static void cut(char *line, char *fields[COLUMNS])
{
	for (int i = 0; i < COLUMNS; i++) {
		fields[i] = line;
		line += strcspn(line, "\t");
		if (*line)
			*line++ = '\0';
	}
}

/* Is <name> the words, or do they begin with it? "timeout" finds "timeout client". */
static bool name_fits(const char *words, const char *name)
{
	size_t len = strlen(name);

	return strncmp(words, name, len) == 0 && (!words[len] || words[len] == ' ');
}

static void print_record(char *fields[COLUMNS], FILE *out)
{
	fprintf(out, "%s %s %s\n", fields[KIND], fields[NAME], fields[SYNTAX]);
	if (*fields[HELP])
		fprintf(out, "    %s\n", fields[HELP]);
	if (*fields[WHERE])
		fprintf(out, "    %s %s\n", strcmp(fields[KIND], "keyword") == 0 ||
			strcmp(fields[KIND], "action") == 0 ? "in" : "type", fields[WHERE]);
	if (*fields[NOTES])
		fprintf(out, "    %s\n", fields[NOTES]);
	if (*fields[HINT])
		fprintf(out, "    %s\n", fields[HINT]);
}

/* Names of the vocabulary one by one, for suggestions. */
struct names {
	char **list;
	size_t count, next;
};

static const char *next_name(void *data)
{
	struct names *n = data;

	return n->next < n->count ? n->list[n->next++] : NULL;
}

static size_t print_matches(char *text, const char *name, struct names *names, FILE *out)
{
	char *fields[COLUMNS], *save = NULL;
	size_t found = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		cut(line, fields);
		names->list[names->count++] = fields[NAME];
		if (!name_fits(fields[NAME], name))
			continue;
		found++;
		print_record(fields, out);
	}
	return found;
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

bool keyword_help(const struct module *const *modules, const char *name, FILE *out)
{
	struct names names = { 0 };
	const char *close;
	size_t found = 0, size;
	char *text = NULL;
	FILE *memory = open_memstream(&text, &size);

	if (memory) {
		vocabulary_dump(modules, memory);
		fclose(memory);
		names.list = calloc(count_lines(text) + 1, sizeof(*names.list));
	}
	if (names.list)
		found = print_matches(text, name, &names, out);
	if (names.list && !found) {
		close = conf_closest(name, next_name, &names);
		fprintf(stderr, "No keyword '%s'%s%s%s\n", name, close ? ", did you mean '" : "",
			close ? close : "", close ? "' maybe ?" : ".");
	}
	free(names.list);
	free(text);
	return found > 0;
}

bool request_explain(struct config *cfg, const struct main_options *o)
{
	struct explain_request rq = {
		.line = o->explain.request, .fields = o->explain.headers,
		.field_count = o->explain.header_count,
		.frontend = o->explain.frontend,
	};
	struct diag_list diags;
	const char *error;
	bool good;

	if (o->explain.src && !addr_parse_ip(slice_of(o->explain.src), 0, &rq.src)) {
		diag_say(DIAG_ALERT, "--src : '%s' is not an address.", o->explain.src);
		return false;
	}
	diag_list_init(&diags);
	good = generation_start_modules(main_modules, cfg, &diags);
	diag_print(&diags, DIAG_WARNING, stderr);
	diag_list_fini(&diags);
	if (!good)
		return false;
	good = explain(cfg, &rq, stdout, &error);
	if (!good)
		diag_say(DIAG_ALERT, "--explain : %s.", error);
	return good;
}
