/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern.c - references: lists of patterns as written, from lines of files or values of ACLs */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "pattern_priv.h"

static const struct {
	const char *name;
	enum sample_type type; /* that samples are cast to */
} methods[PATTERN_METHODS] = {
	[PATTERN_NONE] = { "", SMP_ANY },
	[PATTERN_FOUND] = { "found", SMP_ANY },
	[PATTERN_BOOL] = { "bool", SMP_BOOL },
	[PATTERN_INT] = { "int", SMP_INT },
	[PATTERN_IP] = { "ip", SMP_ADDR },
	[PATTERN_BIN] = { "bin", SMP_BIN },
	[PATTERN_LEN] = { "len", SMP_STR },
	[PATTERN_STR] = { "str", SMP_STR },
	[PATTERN_BEG] = { "beg", SMP_STR },
	[PATTERN_SUB] = { "sub", SMP_STR },
	[PATTERN_DIR] = { "dir", SMP_STR },
	[PATTERN_DOM] = { "dom", SMP_STR },
	[PATTERN_END] = { "end", SMP_STR },
	[PATTERN_REG] = { "reg", SMP_STR },
	[PATTERN_METH] = { "str", SMP_METH },
	[PATTERN_DOTTED] = { "int", SMP_INT },
};

enum pattern_method pattern_method_find(struct slice name)
{
	for (int i = PATTERN_FOUND; i <= PATTERN_REG; i++)
		if (slice_eq(name, slice_of(methods[i].name)))
			return (enum pattern_method)i;
	return PATTERN_NONE;
}

const char *pattern_method_name(enum pattern_method m)
{
	return m < PATTERN_METHODS ? methods[m].name : "";
}

enum sample_type pattern_method_type(enum pattern_method m)
{
	return m < PATTERN_METHODS ? methods[m].type : SMP_ANY;
}

enum pattern_method pattern_method_default(enum sample_type type)
{
	switch (type) {
	case SMP_BOOL: return PATTERN_BOOL;
	case SMP_INT: return PATTERN_INT;
	case SMP_IPV4: case SMP_IPV6: case SMP_ADDR: return PATTERN_IP;
	case SMP_STR: return PATTERN_STR;
	case SMP_METH: return PATTERN_METH;
	default: return PATTERN_NONE;
	}
}

/* --- references --------------------------------------------------------------------------- */

static struct pattern_ref *ref_new(struct conf_line *l)
{
	struct expr_config *ec = expr_config_of(l->cfg);
	struct pattern_ref *ref = calloc(1, sizeof(*ref));

	if (!ref) {
		conf_error(l, l->at, NULL, "out of memory.");
		return NULL;
	}
	ref->id = ec->next_id++;
	ref->next = ec->refs;
	ec->refs = ref;
	return ref;
}

struct pattern_ref *pattern_ref_new(struct conf_line *l)
{
	return ref_new(l);
}

void pattern_ref_free(struct pattern_ref *ref)
{
	while (ref->sets) {
		struct pattern_set *set = ref->sets;

		ref->sets = set->next;
		key_table_fini(&set->keys);
		net_table_fini(&set->net4);
		net_table_fini(&set->net6);
		for (size_t i = 0; set->regexes && i < set->count; i++)
			regex_free(&set->regexes[i]);
		free(set->regexes);
		free(set->ranges);
		free(set->masks);
		free(set);
	}
	free(ref->name);
	free(ref->entries);
	free(ref->buffer);
	free(ref);
}

static bool ref_append(struct pattern_ref *ref, struct slice text, uint32_t line)
{
	if (ref->count == ref->room) {
		size_t room = ref->room ? ref->room * 2 : 4;
		struct pattern_entry *bigger = realloc(ref->entries, room * sizeof(*bigger));

		if (!bigger)
			return false;
		ref->entries = bigger;
		ref->room = room;
	}
	ref->entries[ref->count++] = (struct pattern_entry){ .text = text, .line = line };
	return true;
}

bool pattern_ref_add(struct conf_line *l, struct pattern_ref *ref, struct slice text)
{
	struct slice copy = arena_copy(&l->cfg->arena, text);

	if (copy.ptr && ref_append(ref, copy, 0))
		return true;
	return conf_error(l, l->at, NULL, "out of memory.");
}

static char *read_all(FILE *f, size_t *len)
{
	size_t room = 65536, used = 0;
	char *text = malloc(room);

	while (text) {
		char *bigger;

		used += fread(text + used, 1, room - used - 1, f);
		if (used < room - 1)
			break;
		bigger = realloc(text, room * 2);
		if (!bigger) {
			free(text);
			return NULL;
		}
		text = bigger;
		room *= 2;
	}
	if (text && ferror(f)) {
		free(text);
		return NULL;
	}
	*len = used;
	return text;
}

/* Lines without leading blanks; trailing ones and carriage returns go too. '#' in the first column is a
 * comment.
 */
static bool ref_split(struct pattern_ref *ref, size_t len)
{
	const char *at = ref->buffer, *end = at + len;
	uint32_t line = 0;

	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		struct slice s = slice_make(at, (size_t)((eol ? eol : end) - at));

		line++;
		at = eol ? eol + 1 : end;
		if (s.len && s.ptr[s.len - 1] == '\r')
			s.len--;
		if (!s.len || s.ptr[0] == '#')
			continue;
		s = slice_trim(s);
		if (s.len && !ref_append(ref, s, line))
			return false;
	}
	return true;
}

bool pattern_file_read(struct conf_line *l, struct pattern_ref *ref, const char *path,
		       bool optional)
{
	FILE *f = fopen(path, "re");
	size_t len = 0;

	if (!f) {
		if (optional && errno == ENOENT)
			return true;
		return conf_error(l, l->at, NULL, "failed to open pattern file <%s>.", path);
	}
	ref->buffer = read_all(f, &len);
	fclose(f);
	if (!ref->buffer || !ref_split(ref, len))
		return conf_error(l, l->at, NULL, "failed to read pattern file <%s>.", path);
	return true;
}

struct pattern_ref *pattern_ref_open(struct conf_line *l, const char *name)
{
	struct pattern_ref *ref = expr_config_of(l->cfg)->refs;
	bool is_virtual = strncmp(name, "virt@", 5) == 0, optional = strncmp(name, "opt@", 4) == 0;

	if (optional)
		name += 4;
	else if (strncmp(name, "file@", 5) == 0)
		name += 5;
	for (; ref; ref = ref->next)
		if (ref->name && strcmp(ref->name, name) == 0)
			return ref;
	ref = ref_new(l);
	if (!ref)
		return NULL;
	ref->name = strdup(name);
	if (!ref->name) {
		conf_error(l, l->at, NULL, "out of memory.");
		return NULL;
	}
	if (!is_virtual && !pattern_file_read(l, ref, name, optional))
		return NULL;
	return ref;
}

bool pattern_ref_set_id(struct conf_line *l, struct pattern_ref *ref, unsigned id)
{
	struct expr_config *ec = expr_config_of(l->cfg);

	for (struct pattern_ref *other = ec->refs; other; other = other->next) {
		if (other == ref || other->id != id)
			continue;
		if (other->has_id)
			return false;
		other->id = ec->next_id++; /* it was numbered by us: another will do */
	}
	ref->id = id;
	ref->has_id = true;
	if (id >= ec->next_id)
		ec->next_id = id + 1;
	return true;
}

/* --- sets --------------------------------------------------------------------------------- */

static bool set_fill(struct conf_line *l, struct pattern_set *set)
{
	const struct pattern_ref *ref = set->ref;

	for (size_t i = 0; i < ref->count; i++) {
		struct expr_error e = { "" };

		if (pattern_set_add(set, &ref->entries[i], (uint32_t)i, &e))
			continue;
		if (ref->name)
			return conf_error(l, l->at, NULL, "%s at line %u of file '%s'.", e.text,
					  ref->entries[i].line, ref->name);
		return conf_error(l, l->at, NULL, "%s.", e.text);
	}
	set->filled = ref->count;
	if (!key_table_build(&set->keys) || !net_table_build(&set->net4) ||
	    !net_table_build(&set->net6))
		return conf_error(l, l->at, NULL, "out of memory.");
	return true;
}

struct pattern_set *pattern_set_get(struct conf_line *l, struct pattern_ref *ref,
				    enum pattern_method method, unsigned flags)
{
	struct pattern_set *set = ref->sets;

	for (; set; set = set->next)
		if (set->method == method && set->flags == flags && set->filled == ref->count)
			return set;
	set = calloc(1, sizeof(*set));
	if (!set) {
		conf_error(l, l->at, NULL, "out of memory.");
		return NULL;
	}
	set->ref = ref;
	set->arena = &l->cfg->arena;
	set->method = method;
	set->flags = flags;
	set->keys.nocase = flags & PATTERN_NOCASE;
	set->keys.reverse = method == PATTERN_END;
	set->net4.bytes = 4;
	set->net6.bytes = 16;
	set->next = ref->sets;
	ref->sets = set;
	return set_fill(l, set) ? set : NULL;
}

unsigned pattern_set_count(const struct pattern_set *set)
{
	return (unsigned)set->filled;
}

size_t pattern_ref_count(const struct pattern_ref *ref)
{
	return ref->count;
}
