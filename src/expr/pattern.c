/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern.c - references: lists of patterns as written, from lines of files or values of ACLs */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/file.h"
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
	default: return PATTERN_NONE;
	}
}

/* --- references --------------------------------------------------------------------------- */

/* The generation ends. */
static void ref_release(void *ptr)
{
	pattern_ref_free(ptr);
}

static struct pattern_ref *ref_new(struct config *cfg)
{
	struct expr_config *ec = expr_config_of(cfg);
	struct pattern_ref *ref = calloc(1, sizeof(*ref));

	if (!ref)
		return NULL;
	if (!expr_config_own(cfg, ref, ref_release)) {
		free(ref);
		return NULL;
	}
	ref->id = ec->next_id++;
	ref->next = ec->refs;
	ec->refs = ref;
	return ref;
}

struct pattern_ref *pattern_ref_new(struct conf_line *l)
{
	struct pattern_ref *ref = ref_new(l->cfg);

	if (!ref)
		conf_error(l, l->at, NULL, "out of memory.");
	return ref;
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

static struct pattern_entry *ref_append(struct pattern_ref *ref, struct slice text)
{
	struct pattern_entry *entry;

	if (ref->count == ref->room) {
		size_t room = ref->room ? ref->room * 2 : 4;
		struct pattern_entry *bigger = realloc(ref->entries, room * sizeof(*bigger));

		if (!bigger)
			return NULL;
		ref->entries = bigger;
		ref->room = room;
	}
	entry = &ref->entries[ref->count++];
	*entry = (struct pattern_entry){ .text = text.ptr, .len = (uint32_t)text.len };
	return entry;
}

bool pattern_ref_add(struct conf_line *l, struct pattern_ref *ref, struct slice text)
{
	struct slice copy = arena_copy(&l->cfg->arena, text);

	if (copy.ptr && ref_append(ref, copy))
		return true;
	return conf_error(l, l->at, NULL, "out of memory.");
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Without leading blanks, nor carriage return; trailing blanks stay. */
static struct slice line_trim(struct slice s)
{
	if (s.len && s.ptr[s.len - 1] == '\r')
		s.len--;
	while (s.len && is_blank(s.ptr[0]))
		s.ptr++, s.len--;
	return s;
}

/* The key ends at the first blank; blanks around the value do not count. */
static bool ref_add_pair(struct pattern_ref *ref, struct slice line, uint32_t number)
{
	size_t end = 0;
	struct slice value;
	struct pattern_entry *entry;

	while (end < line.len && !is_blank(line.ptr[end]))
		end++;
	value = slice_trim(slice_make(line.ptr + end, line.len - end));
	entry = ref_append(ref, slice_make(line.ptr, end));
	if (!entry)
		return false;
	entry->value = value.ptr;
	entry->value_len = (uint32_t)value.len;
	entry->line = number;
	return true;
}

static bool ref_add_line(struct pattern_ref *ref, struct slice line, uint32_t number)
{
	struct pattern_entry *entry;

	if (ref->columns == PATTERN_TWO_COLUMNS)
		return ref_add_pair(ref, line, number);
	entry = ref_append(ref, line);
	if (entry)
		entry->line = number;
	return entry != NULL;
}

/* Every line that is not empty makes an entry. '#' in the first column is a comment. */
static bool ref_split(struct pattern_ref *ref, size_t len)
{
	const char *at = ref->buffer, *end = at + len;
	uint32_t number = 0;

	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		struct slice line = slice_make(at, (size_t)((eol ? eol : end) - at));

		number++;
		at = eol ? eol + 1 : end;
		if (line.len && line.ptr[0] == '#')
			continue;
		line = line_trim(line);
		if (line.len && !ref_add_line(ref, line, number))
			return false;
	}
	return true;
}

static bool ref_read(struct pattern_ref *ref, bool optional, struct expr_error *e)
{
	int fd = file_open(ref->name, O_RDONLY, 0);
	size_t len = 0;

	if (fd < 0) {
		if (optional && errno == ENOENT)
			return true;
		expr_fail(e, "failed to open pattern file <%s>", ref->name);
		return false;
	}
	ref->buffer = file_read_all(fd, UINT32_MAX, &len);
	close(fd);
	if (ref->buffer && ref_split(ref, len))
		return true;
	expr_fail(e, "failed to read pattern file <%s>", ref->name);
	return false;
}

/* One that was read before: for the same purpose ? */
static bool ref_fits(const struct pattern_ref *ref, enum pattern_columns columns,
		     struct expr_error *e)
{
	if (ref->columns == columns)
		return true;
	expr_fail(e, "The file \"%s\" is already used as %s column file and cannot be used by as "
		  "%s column file", ref->name, columns == PATTERN_ONE_COLUMN ? "two" : "one",
		  columns == PATTERN_ONE_COLUMN ? "one" : "two");
	return false;
}

struct pattern_ref *pattern_ref_open(struct config *cfg, const char *name,
				     enum pattern_columns columns, struct expr_error *e)
{
	struct pattern_ref *ref = expr_config_of(cfg)->refs;
	bool is_virtual = strncmp(name, "virt@", 5) == 0, optional = strncmp(name, "opt@", 4) == 0;

	if (optional)
		name += 4;
	else if (strncmp(name, "file@", 5) == 0)
		name += 5;
	for (; ref; ref = ref->next)
		if (ref->name && strcmp(ref->name, name) == 0)
			return ref_fits(ref, columns, e) ? ref : NULL;
	ref = ref_new(cfg);
	if (ref)
		ref->name = strdup(name);
	if (!ref || !ref->name) {
		expr_fail(e, "out of memory");
		return NULL;
	}
	ref->columns = columns;
	return is_virtual || ref_read(ref, optional, e) ? ref : NULL;
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

static bool set_fill(struct pattern_set *set, struct expr_error *e)
{
	const struct pattern_ref *ref = set->ref;

	for (size_t i = 0; i < ref->count; i++) {
		struct expr_error inner = { "" };

		if (pattern_set_add(set, &ref->entries[i], (uint32_t)i, &inner))
			continue;
		if (ref->name)
			expr_fail(e, "%s at line %u of file '%s'", inner.text,
				  ref->entries[i].line, ref->name);
		else
			expr_fail(e, "%s", inner.text);
		return false;
	}
	set->filled = ref->count;
	if (key_table_build(&set->keys) && net_table_build(&set->net4) &&
	    net_table_build(&set->net6))
		return true;
	expr_fail(e, "out of memory");
	return false;
}

struct pattern_set *pattern_set_make(struct config *cfg, struct pattern_ref *ref,
				     enum pattern_method method, unsigned flags,
				     struct expr_error *e)
{
	struct pattern_set *set = ref->sets;

	for (; set; set = set->next)
		if (set->method == method && set->flags == flags && set->filled == ref->count)
			return set;
	set = calloc(1, sizeof(*set));
	if (!set) {
		expr_fail(e, "out of memory");
		return NULL;
	}
	set->ref = ref;
	set->arena = &cfg->arena;
	set->method = method;
	set->flags = flags;
	set->keys.nocase = flags & PATTERN_NOCASE;
	set->keys.whole = !set->keys.nocase && (method == PATTERN_STR || method == PATTERN_BIN);
	set->keys.reverse = method == PATTERN_END;
	set->net4.bytes = 4;
	set->net6.bytes = 16;
	set->next = ref->sets;
	ref->sets = set;
	return set_fill(set, e) ? set : NULL;
}

struct pattern_set *pattern_set_get(struct conf_line *l, struct pattern_ref *ref,
				    enum pattern_method method, unsigned flags)
{
	struct expr_error e = { "" };
	struct pattern_set *set = pattern_set_make(l->cfg, ref, method, flags, &e);

	if (!set)
		conf_error(l, l->at, NULL, "%s.", e.text);
	return set;
}

struct slice pattern_set_value(const struct pattern_set *set, int64_t index)
{
	const struct pattern_entry *entry = &set->ref->entries[index];

	return slice_make(entry->value ? entry->value : "", entry->value_len);
}

struct slice pattern_set_text(const struct pattern_set *set, int64_t index)
{
	return pattern_entry_text(&set->ref->entries[index]);
}

const struct regex *pattern_set_regex(const struct pattern_set *set, int64_t index)
{
	return set->regexes[index];
}

unsigned pattern_set_count(const struct pattern_set *set)
{
	return (unsigned)set->filled;
}

size_t pattern_ref_count(const struct pattern_ref *ref)
{
	return ref->count;
}
