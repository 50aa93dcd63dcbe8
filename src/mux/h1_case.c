/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_case.c - h1-case-adjust and h1-case-adjust-file: names that bogus peers want in another case
 *
 * The names of a generation are an array sorted by length and text, with binary search: only
 * proxies that use it pay for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/file.h"
#include "codec/h1.h"
#include "conf/conf.h"
#include "mux/h1_case.h"
#include "mux/mux_init.h"

struct h1_case_entry {
	struct slice from, to;
	bool from_file;
};

struct h1_case {
	struct h1_case_entry *list;
	unsigned count, room;
};

static void h1_case_fini(void *data)
{
	free(((struct h1_case *)data)->list);
}

struct slot h1_case_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct h1_case), .fini = h1_case_fini,
};

const struct h1_case *h1_case_of(const struct config *cfg)
{
	const struct h1_case *c = slot_of(&h1_case_slot, config_slots(cfg));

	return c->count ? c : NULL;
}

static int compare(struct slice a, struct slice b)
{
	if (a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return memcmp(a.ptr, b.ptr, a.len);
}

/* Where <name> is, or would be put. */
static unsigned place_of(const struct h1_case *c, struct slice name)
{
	unsigned low = 0, high = c->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (compare(c->list[middle].from, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct slice h1_case_adjust(const struct h1_case *c, struct slice name)
{
	unsigned at = place_of(c, name);

	return at < c->count && compare(c->list[at].from, name) == 0 ? c->list[at].to : name;
}

/* Adds one pair, both in the arena. NULL, or what is wrong with it. */
static const char *add(struct h1_case *c, const char *from, const char *to, bool from_file)
{
	struct slice name = slice_of(from);
	struct h1_case_entry *list = c->list;
	unsigned at = place_of(c, name);

	if (strcasecmp(from, to) != 0)
		return "<from> and <to> may only differ in the case of their letters";
	if (!h1_is_token(name))
		return "not the name of a header field";
	for (const char *p = from; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			return "<from> must be in lower case";
	if (at < c->count && compare(list[at].from, name) == 0)
		return "this name was given already";
	if (c->count == c->room) {
		list = realloc(list, (c->room + 64) * sizeof(*list));
		if (!list)
			return "out of memory";
		c->list = list;
		c->room += 64;
	}
	memmove(list + at + 1, list + at, (c->count - at) * sizeof(*list));
	list[at] = (struct h1_case_entry){ name, slice_of(to), from_file };
	c->count++;
	return NULL;
}

static bool parse_adjust(struct conf_line *l)
{
	const char *from = conf_next(l), *to = conf_next(l);
	const char *error = add(slot_of(&h1_case_slot, config_slots(l->cfg)), from, to, false);

	if (error)
		return conf_error(l, 1, NULL, "'%s' : '%s' : %s.", l->words[0], from, error);
	return true;
}

/* The names of an earlier file: only the last one counts. */
static void forget_file(struct h1_case *c)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < c->count; i++)
		if (!c->list[i].from_file)
			c->list[kept++] = c->list[i];
	c->count = kept;
}

/* Adds what one line of the file says. NULL, or what is wrong. */
static const char *add_line(struct conf_line *l, struct h1_case *c, char *text)
{
	char *rest, *from = strtok_r(text, " \t\r\n", &rest);
	char *to = from ? strtok_r(NULL, " \t\r\n", &rest) : NULL;

	if (!from || *from == '#')
		return NULL;
	if (!to || strtok_r(NULL, " \t\r\n", &rest))
		return "two names are expected";
	from = conf_strdup(l->cfg, from);
	to = conf_strdup(l->cfg, to);
	return from && to ? add(c, from, to, true) : "out of memory";
}

static bool parse_adjust_file(struct conf_line *l)
{
	struct h1_case *c = slot_of(&h1_case_slot, config_slots(l->cfg));
	const char *path = conf_path(l->cfg, conf_next(l)), *error = NULL;
	int fd = path ? file_open(path, O_RDONLY, 0) : -1;
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	unsigned line = 0;
	char *text = NULL;
	size_t room = 0;

	if (!f) {
		conf_error(l, 1, NULL, "'%s' : cannot open '%s': %s.", l->words[0],
			   l->words[1], strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	forget_file(c);
	while (!error && getline(&text, &room, f) >= 0) {
		line++;
		error = add_line(l, c, text);
	}
	if (!error && ferror(f))
		error = "cannot be read";
	free(text);
	fclose(f);
	if (error)
		return conf_error(l, 1, NULL, "'%s' : file '%s', line %u : %s.", l->words[0],
				  l->words[1], line, error);
	return true;
}

const struct conf_keyword h1_case_keywords[] = {
	{ .words = "h1-case-adjust", .where = CONF_GLOBAL, .min_args = 2, .max_args = 2,
	  .parse = parse_adjust, .syntax = "<from> <to>",
	  .help = "another case of a field name, for peers that need it" },
	{ .words = "h1-case-adjust-file", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .parse = parse_adjust_file, .syntax = "<file>",
	  .help = "a file with two field names per line, as h1-case-adjust takes them" },
	{ 0 }
};
