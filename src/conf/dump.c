/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump.c - -dKcfg: the vocabulary of configuration files, printed from the tables */
#include <string.h>
#include "conf_priv.h"
#include "registry_priv.h"

#define MAX_DUMPERS 16

static struct {
	const char *section;
	void (*dump)(FILE *out);
} dumpers[MAX_DUMPERS];
static int dumper_count;

bool conf_on_dump(const char *section, void (*dump)(FILE *out))
{
	if (dumper_count == MAX_DUMPERS)
		return false;
	dumpers[dumper_count].section = section;
	dumpers[dumper_count++].dump = dump;
	return true;
}

/* Lines that other tables add to a section. */
static void run_dumpers(const char *section, FILE *out)
{
	for (int i = 0; i < dumper_count; i++)
		if (strcmp(dumpers[i].section, section) == 0)
			dumpers[i].dump(out);
}

static bool is_shown(const struct conf_keyword *k, unsigned where, const char *section)
{
	return conf_keyword_fits(k, where, section) && !(k->flags & CONF_HIDDEN) &&
	       (k->flags & CONF_LATER) != CONF_LATER;
}

/* "option x [ FE BE HTTP ]": which sides it is for. */
static void print_option_sides(const struct conf_keyword *k, FILE *out)
{
	fprintf(out, "\t%s [ %s%s%s]\n", k->words, k->where & CONF_FRONTEND ? "FE " : "",
		k->where & CONF_BACKEND ? "BE " : "", k->flags & CONF_HTTP ? "HTTP " : "");
}

/* The first word alone, once for all keywords of several words that share it. */
static void print_group(const struct conf_keyword *k, const char **last, FILE *out)
{
	size_t len = strcspn(k->words, " ");

	if (!k->words[len])
		return;
	if (*last && strncmp(*last, k->words, len) == 0 && (*last)[len] == ' ')
		return;
	fprintf(out, "\t%.*s\n", (int)len, k->words);
	*last = k->words;
}

/* "http-check connect" and so on: what <parts> lists. */
static void print_parts(const struct conf_keyword *k, FILE *out)
{
	const char *part = k->parts;

	while (part && *part) {
		size_t len = strcspn(part, " ");

		fprintf(out, "\t%s %.*s\n", k->words, (int)len, part);
		part += len + (part[len] == ' ');
	}
}

/* Keywords of lines; those in several records (frontend, backend) once. */
static void dump_lines(unsigned where, const char *section, FILE *out)
{
	const char *group = NULL, *last = NULL;

	for (size_t i = 0; i < conf_keyword_count; i++) {
		const struct conf_keyword *k = conf_keywords[i];

		if (!is_shown(k, where, section) || (last && strcmp(last, k->words) == 0))
			continue;
		last = k->words;
		print_group(k, &group, out);
		if (strncmp(k->words, "option ", 7) == 0 && !conf_keyword_most(k))
			print_option_sides(k, out);
		fprintf(out, "\t%s\n", k->words);
		print_parts(k, out);
	}
}

/* Options of bind and server lines: "bind <addr> ssl alpn +1". <grouped>: those of a group, or not.
 */
static void dump_options(enum conf_place where, const char *line, bool grouped, FILE *out)
{
	const char *last = NULL;

	for (size_t i = 0; i < conf_keyword_count; i++) {
		const struct conf_keyword *k = conf_keywords[i];

		if (!is_shown(k, where, NULL) || (last && strcmp(last, k->words) == 0) ||
		    (where == CONF_BIND && (k->section != NULL) != grouped))
			continue;
		last = k->words;
		fprintf(out, "\t%s %s%s%s", line, grouped ? k->section : "", grouped ? " " : "",
			k->words);
		if (conf_keyword_most(k))
			fprintf(out, " +%d", conf_keyword_most(k));
		fputc('\n', out);
	}
}

static void dump_section(const struct conf_section *s, FILE *out)
{
	fprintf(out, "%s\n", s->name);
	dump_lines(s->where, s->name, out);
	run_dumpers(s->name, out);
}

/* Every section that is not one of proxies, in the order of modules. */
static void dump_other_sections(FILE *out)
{
	for (const struct module *const *m = conf_modules; m && *m; m++)
		for (const struct conf_section *s = (*m)->sections; s && s->name; s++)
			if (!(s->where & (CONF_PROXY | CONF_GLOBAL)) && !s->dialect)
				dump_section(s, out);
}

void conf_dump_keywords(FILE *out)
{
	fprintf(out, "# List of registered configuration keywords:\n");
	fprintf(out, "global\n");
	dump_lines(CONF_GLOBAL, NULL, out);
	run_dumpers("global", out);
	fprintf(out, "listen\n");
	dump_lines(CONF_PROXY, NULL, out);
	dump_options(CONF_BIND, "bind <addr>", false, out);
	dump_options(CONF_BIND, "bind <addr>", true, out);
	dump_options(CONF_SERVER, "server <name> <addr>", false, out);
	run_dumpers("listen", out);
	dump_other_sections(out);
	for (int i = 0; i < dumper_count; i++) {
		bool first = true;

		for (int j = 0; j < i; j++)
			first &= strcmp(dumpers[j].section, dumpers[i].section) != 0;
		if (!first || conf_section_find(dumpers[i].section, NULL))
			continue;
		fprintf(out, "%s\n", dumpers[i].section);
		run_dumpers(dumpers[i].section, out);
	}
}
