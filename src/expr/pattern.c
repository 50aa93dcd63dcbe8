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

static struct {
	uint64_t added, freed; /* atomic */
} totals;

void pattern_count(uint64_t added, uint64_t freed)
{
	if (added)
		__atomic_fetch_add(&totals.added, added, __ATOMIC_RELAXED);
	if (freed)
		__atomic_fetch_add(&totals.freed, freed, __ATOMIC_RELAXED);
}

void pattern_get_totals(uint64_t *added, uint64_t *freed)
{
	*added = __atomic_load_n(&totals.added, __ATOMIC_RELAXED);
	*freed = __atomic_load_n(&totals.freed, __ATOMIC_RELAXED);
}

static void pattern_ref_free(struct pattern_ref *ref)
{
	while (ref->sets) {
		struct pattern_set *set = ref->sets;

		ref->sets = set->next;
		pattern_index_free(set->index);
		free(set);
	}
	for (uint32_t i = 0; i < ref->table->count; i++)
		pattern_entry_fini(ref, &ref->table->entries[i], NULL);
	pattern_count(0, ref->table->count - ref->table->dead);
	pattern_table_free(ref->table);
	pattern_bin_free(&ref->bin);
	pthread_mutex_destroy(&ref->lock);
	free(ref->name);
	free(ref->buffer);
	free(ref);
}

/* --- references --------------------------------------------------------------------------- */

/* The generation ends. */
static void ref_release(void *ptr)
{
	pattern_ref_free(ptr);
}

struct pattern_table *pattern_table_new(void)
{
	return calloc(1, sizeof(struct pattern_table));
}

void pattern_table_free(void *table)
{
	struct pattern_table *t = table;

	if (t) {
		free(t->entries);
		free(t->versions);
	}
	free(t);
}

struct pattern_entry *pattern_table_add(struct pattern_table *t, struct pattern_bin *bin)
{
	struct pattern_entry *entry;

	if (t->count == t->room) {
		uint32_t room = t->room ? t->room * 2 : 4;

		if (!pattern_grow(bin, (void **)&t->entries, t->count * sizeof(*entry),
				  room * sizeof(*entry)))
			return NULL;
		t->room = room;
	}
	entry = &t->entries[t->count];
	memset(entry, 0, sizeof(*entry));
	t->count++;
	return entry;
}

static struct pattern_ref *ref_new(struct config *cfg)
{
	struct expr_config *ec = expr_config_of(cfg);
	struct pattern_ref *ref = calloc(1, sizeof(*ref));

	if (!ref)
		return NULL;
	pthread_mutex_init(&ref->lock, NULL);
	ref->table = pattern_table_new();
	if (!ref->table || !expr_config_own(cfg, ref, ref_release)) {
		pattern_table_free(ref->table);
		free(ref);
		return NULL;
	}
	ref->id = ec->next_id++;
	ref->next = ec->refs;
	ec->refs = ref;
	return ref;
}

static bool ref_add_use(struct conf_line *l, struct pattern_ref *ref, const char *what)
{
	struct arena *memory = config_lasting(l->cfg);
	struct pattern_use *use, **tail = &ref->uses;

	if (l->cfg->is_lent && *tail) /* no line of a file */
		return true;
	use = arena_zalloc(memory, sizeof(*use));
	if (!use)
		return false;
	use->what = what;
	use->line = l->place.line;
	use->file = arena_copy(memory, slice_of(l->place.file ? l->place.file : "")).ptr;
	while (*tail)
		tail = &(*tail)->next;
	*tail = use;
	return use->file != NULL;
}

struct pattern_ref *pattern_ref_new(struct conf_line *l, const char *keyword)
{
	struct pattern_ref *ref = ref_new(l->cfg);

	if (ref && ref_add_use(l, ref, "acl")) {
		ref->keyword = keyword;
		ref->is_acl = true;
		return ref;
	}
	conf_error(l, l->at, NULL, "out of memory.");
	return NULL;
}

void pattern_entry_fini(const struct pattern_ref *ref, struct pattern_entry *entry,
			struct pattern_bin *bin)
{
	const char *value = entry->value, *buffer = ref->buffer;

	if (entry->line == PATTERN_ADDED)
		pattern_bin_add(bin, (char *)entry->text, free);
	if (value && !(buffer && value >= buffer && value <= buffer + ref->buffer_len))
		pattern_bin_add(bin, (char *)value, free);
}

/* An entry of what was read: <text> has a NUL behind. */
static struct pattern_entry *ref_append(struct pattern_ref *ref, struct slice text)
{
	struct pattern_entry *entry = pattern_table_add(ref->table, NULL);

	if (!entry)
		return NULL;
	entry->text = text.ptr;
	entry->len = (uint32_t)text.len;
	pattern_count(1, 0);
	return entry;
}

bool pattern_ref_add(struct conf_line *l, struct pattern_ref *ref, struct slice text)
{
	struct slice copy = arena_copy(config_lasting(l->cfg), text);

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

/* Takes the next line that is not empty out of <at>; '#' in the first column is a comment. */
static bool line_next(struct pattern_lines *p, struct slice *line)
{
	while (p->at < p->end) {
		const char *eol = memchr(p->at, '\n', (size_t)(p->end - p->at));

		*line = slice_make(p->at, (size_t)((eol ? eol : p->end) - p->at));
		p->number++;
		p->at = eol ? eol + 1 : p->end;
		if (line->len && line->ptr[0] == '#')
			continue;
		*line = line_trim(*line);
		if (line->len)
			return true;
	}
	return false;
}

bool pattern_lines_next(struct pattern_lines *p, struct slice *key, struct slice *value)
{
	struct slice line;
	size_t end = 0;

	if (!line_next(p, &line))
		return false;
	*key = line;
	*value = slice_none();
	if (p->columns == PATTERN_ONE_COLUMN)
		return true;
	/* the key ends at the first blank; blanks around the value do not count */
	while (end < line.len && !is_blank(line.ptr[end]))
		end++;
	*key = slice_make(line.ptr, end);
	*value = slice_trim(slice_make(line.ptr + end, line.len - end));
	return true;
}

/* Every line makes an entry, of texts in the buffer. */
static bool ref_split(struct pattern_ref *ref, size_t len)
{
	struct pattern_lines lines = { .at = ref->buffer, .end = ref->buffer + len,
				       .columns = ref->columns };
	struct slice key, value;
	struct pattern_entry *entry;

	while (pattern_lines_next(&lines, &key, &value)) {
		entry = ref_append(ref, key);
		if (!entry)
			return false;
		entry->value = value.len ? value.ptr : NULL;
		entry->line = lines.number;
		if (value.ptr)
			((char *)value.ptr)[value.len] = '\0';
		((char *)key.ptr)[key.len] = '\0';
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
	ref->buffer_len = len;
	if (ref->buffer && ref_split(ref, len))
		return true;
	expr_fail(e, "failed to read pattern file <%s>", ref->name);
	return false;
}

/* One that was read before: for the same purpose? */
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

/* The name without what says how to open it. */
static const char *bare_name(const char *name)
{
	if (strncmp(name, "opt@", 4) == 0)
		return name + 4;
	return strncmp(name, "file@", 5) == 0 ? name + 5 : name;
}

struct pattern_ref *pattern_ref_open(struct conf_line *l, const char *name,
				     enum pattern_columns columns, const char *what,
				     struct expr_error *e)
{
	struct pattern_ref *ref = expr_config_of(l->cfg)->refs;
	bool is_virtual = strncmp(name, "virt@", 5) == 0, optional = strncmp(name, "opt@", 4) == 0;

	while (ref && !(ref->name && strcmp(ref->name, bare_name(name)) == 0))
		ref = ref->next;
	if (ref && !ref_fits(ref, columns, e))
		return NULL;
	if (!ref) {
		ref = ref_new(l->cfg);
		if (ref)
			ref->name = strdup(bare_name(name));
		if (!ref || !ref->name) {
			expr_fail(e, "out of memory");
			return NULL;
		}
		ref->columns = columns;
		ref->opened_as = arena_copy(config_lasting(l->cfg), slice_of(name)).ptr;
		if (!is_virtual && !ref_read(ref, optional, e))
			return NULL;
	}
	ref->is_acl |= strcmp(what, "acl") == 0;
	if (ref_add_use(l, ref, what))
		return ref;
	expr_fail(e, "out of memory");
	return NULL;
}

struct pattern_ref *pattern_ref_find(const struct config *cfg, const char *name, bool acl)
{
	struct pattern_ref *ref = expr_config_of(cfg)->refs;
	char *end = NULL;
	unsigned long id = *name == '#' ? strtoul(name + 1, &end, 10) : 0;

	if (end && (*end || end == name + 1))
		return NULL;
	for (; ref; ref = ref->next) {
		bool found = end ? ref->id == id :
			     ref->name && strcmp(ref->name, bare_name(name)) == 0;

		if (found && (acl ? ref->is_acl : ref->name && ref->columns == PATTERN_TWO_COLUMNS))
			return ref;
	}
	return NULL;
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

struct pattern_set *pattern_set_make(struct pattern_ref *ref, enum pattern_method method,
				     unsigned flags, struct expr_error *e)
{
	struct pattern_set *set = ref->sets, **tail = &ref->sets;

	for (; set; set = set->next) {
		if (set->method == method && set->flags == flags &&
		    set->filled == ref->table->count)
			return set;
		tail = &set->next;
	}
	set = calloc(1, sizeof(*set));
	if (!set) {
		expr_fail(e, "out of memory");
		return NULL;
	}
	set->ref = ref;
	set->method = method;
	set->flags = flags;
	set->filled = ref->table->count;
	set->index = pattern_index_new(ref->table, method, flags, ref->name, e);
	if (!set->index) {
		free(set);
		return NULL;
	}
	*tail = set;
	return set;
}

struct pattern_set *pattern_set_get(struct conf_line *l, struct pattern_ref *ref,
				    enum pattern_method method, unsigned flags)
{
	struct expr_error e = { "" };
	struct pattern_set *set = pattern_set_make(ref, method, flags, &e);

	if (!set)
		conf_error(l, l->at, NULL, "%s.", e.text);
	return set;
}

bool pattern_set_find(const struct pattern_set *set, const struct sample *s,
		      struct pattern_match *match)
{
	const struct pattern_index *index;
	const struct pattern_entry *entries;
	struct pattern_view view;
	int64_t found;
	uint32_t current;

	/* Which version counts is read before the index and the versions in which it is looked for:
	 * these can then be newer, but do not lack any of it. When another one was committed
	 * meanwhile, the former may be dead already: look again.
	 */
	do {
		current = __atomic_load_n(&set->ref->current, __ATOMIC_ACQUIRE);
		index = __atomic_load_n(&set->index, __ATOMIC_ACQUIRE);
		view = pattern_index_view(index, current);
		found = pattern_index_find(index, &view, s);
	} while (found < 0 && current != __atomic_load_n(&set->ref->current, __ATOMIC_ACQUIRE));
	if (found < 0)
		return false;
	if (!match)
		return true;
	*match = (struct pattern_match){ .regex = NULL };
	if (set->method == PATTERN_FOUND || set->method == PATTERN_BOOL)
		return true;
	entries = __atomic_load_n(&index->table->entries, __ATOMIC_ACQUIRE);
	match->text = pattern_entry_text(&entries[found]);
	match->value = pattern_entry_value(&entries[found]);
	if (set->method == PATTERN_REG)
		match->regex = __atomic_load_n(&index->regexes, __ATOMIC_ACQUIRE)[found];
	return true;
}

size_t pattern_ref_count(const struct pattern_ref *ref)
{
	return ref->table->count;
}
