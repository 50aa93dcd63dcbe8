/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern_edit.c - references changed at run time, while other threads look into them
 *
 * A change is made under the reference's lock, which no reader takes. Entries are appended to the
 * table, then to the index of each set; deleting and changing versions writes one number. Readers
 * see a pattern when its version is the one in force, so a commit is one store. When more than half
 * of a table is dead, a new table is built, and each set's index is replaced by one for it.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "pattern_priv.h"

/* Tables below this are not worth making anew. */
#define DEAD_MIN 64

/* --- versions ----------------------------------------------------------------------------- */

/* Room for the versions of <count> numbers. False: no memory. */
static bool versions_reserve(struct pattern_ref *ref, struct pattern_table *t, uint32_t count)
{
	struct pattern_versions *old = t->versions, *more;
	uint32_t have = old ? old->count : 0, room = count < 16 ? 16 : count + count / 2;

	if (old && have >= count)
		return true;
	more = calloc(1, sizeof(*more) + room * sizeof(more->at[0]));
	if (!more)
		return false;
	more->count = room;
	if (old)
		memcpy(more->at, old->at, have * sizeof(more->at[0]));
	__atomic_store_n(&t->versions, more, __ATOMIC_RELEASE);
	pattern_bin_add(&ref->bin, old, free);
	return true;
}

static uint32_t version_of(const struct pattern_table *t, uint32_t number)
{
	return t->versions ? t->versions->at[number] : 0;
}

static void set_version(struct pattern_table *t, uint32_t number, uint32_t version)
{
	__atomic_store_n(&t->versions->at[number], version, __ATOMIC_RELEASE);
}

static void kill_entry(struct pattern_table *t, uint32_t number)
{
	set_version(t, number, PATTERN_DEAD);
	t->dead++;
	pattern_count(0, 1);
}

/* --- making a table anew ------------------------------------------------------------------ */

/* A table of what lives in <from>, in its order. NULL: no memory. */
static struct pattern_table *table_copy(struct pattern_ref *ref, const struct pattern_table *from)
{
	struct pattern_table *to = pattern_table_new();
	bool ok = to && versions_reserve(ref, to, from->count - from->dead);

	for (uint32_t i = 0; ok && i < from->count; i++) {
		struct pattern_entry *entry;

		if (version_of(from, i) == PATTERN_DEAD)
			continue;
		entry = pattern_table_add(to, NULL);
		ok = entry != NULL;
		if (!ok)
			break;
		*entry = from->entries[i];
		to->versions->at[to->count - 1] = version_of(from, i);
	}
	if (ok)
		return to;
	pattern_table_free(to);
	return NULL;
}

/* Indexes of <t> for all sets, in their order. False: no memory; there are none. */
static bool indexes_new(const struct pattern_ref *ref, struct pattern_table *t,
			struct pattern_index **list)
{
	struct expr_error e = { "" };
	unsigned n = 0;

	for (const struct pattern_set *set = ref->sets; set; set = set->next, n++) {
		list[n] = pattern_index_new(t, set->method, set->flags | PATTERN_NO_DNS, NULL, &e);
		if (list[n])
			continue;
		while (n > 0)
			pattern_index_free(list[--n]);
		return false;
	}
	return true;
}

/* Leaves the dead behind. When it cannot, all stays as it is. */
static bool table_renew(struct pattern_ref *ref)
{
	struct pattern_table *old = ref->table, *t = table_copy(ref, old);
	struct pattern_index **list;
	unsigned n = 0;

	for (const struct pattern_set *set = ref->sets; set; set = set->next)
		n++;
	list = calloc(n + 1, sizeof(struct pattern_index *));
	if (!t || !list || !indexes_new(ref, t, list)) {
		pattern_table_free(t);
		free(list);
		return false;
	}
	n = 0;
	for (struct pattern_set *set = ref->sets; set; set = set->next) {
		pattern_bin_add(&ref->bin, set->index, pattern_index_free);
		__atomic_store_n(&set->index, list[n++], __ATOMIC_RELEASE);
	}
	for (uint32_t i = 0; i < old->count; i++)
		if (version_of(old, i) == PATTERN_DEAD)
			pattern_entry_fini(ref, &old->entries[i], &ref->bin);
	ref->table = t;
	ref->is_broken = false;
	pattern_bin_add(&ref->bin, old, pattern_table_free);
	free(list);
	return true;
}

/* --- beginning and ending a change -------------------------------------------------------- */

static bool edit_begin(struct pattern_ref *ref)
{
	pthread_mutex_lock(&ref->lock);
	return versions_reserve(ref, ref->table, ref->table->count) &&
	       (!ref->is_broken || table_renew(ref));
}

static void edit_end(struct pattern_ref *ref)
{
	if (ref->table->dead > DEAD_MIN && ref->table->dead > ref->table->count / 2)
		table_renew(ref);
	pattern_bin_empty(&ref->bin);
	pthread_mutex_unlock(&ref->lock);
}

static pattern_event_fn *event_hook;

void pattern_set_event_hook(pattern_event_fn *fn)
{
	event_hook = fn;
}

/* Of a change that was made, to the version in force if <is_now>. Without the lock. */
static void tell(struct pattern_ref *ref, enum pattern_event event, bool is_now)
{
	if (!is_now)
		return;
	__atomic_fetch_add(&ref->changes, 1, __ATOMIC_RELAXED);
	if (event_hook)
		event_hook(ref, event);
}

uint64_t pattern_ref_changes(const struct pattern_ref *ref)
{
	return __atomic_load_n(&ref->changes, __ATOMIC_RELAXED);
}

static uint32_t version_meant(const struct pattern_ref *ref, uint32_t version)
{
	return version == PATTERN_NOW ? ref->current : version;
}

/* --- adding ------------------------------------------------------------------------------- */

static char *text_copy(struct slice text)
{
	char *copy = malloc(text.len + 1);

	if (copy && text.len)
		memcpy(copy, text.ptr, text.len);
	if (copy)
		copy[text.len] = '\0';
	return copy;
}

/* Can each set read the pattern? Asked of indexes of it alone: a refusal changes nothing. */
static bool pattern_check_text(const struct pattern_ref *ref, struct slice text,
			       struct expr_error *e)
{
	struct pattern_entry entry = { .text = text.ptr, .len = (uint32_t)text.len };
	struct pattern_table t = { .entries = &entry, .count = 1, .room = 1 };

	for (const struct pattern_set *set = ref->sets; set; set = set->next) {
		struct pattern_index *index = pattern_index_new(&t, set->method, set->flags |
								PATTERN_NO_DNS, NULL, e);

		if (!index)
			return false;
		pattern_index_free(index);
	}
	return true;
}

static bool check_value(const struct pattern_ref *ref, struct slice value, struct expr_error *e)
{
	struct sample ignored = { .flags = 0 };

	for (unsigned type = 0; value.ptr && type < SMP_TYPES; type++) {
		if (!(ref->value_types >> type & 1) ||
		    pattern_read_value((enum sample_type)type, value, &ignored))
			continue;
		expr_fail(e, "unable to parse '%.*s'", SLICE_FMT(value));
		return false;
	}
	return true;
}

/* The entry is checked: only memory can be short. */
static bool insert(struct pattern_ref *ref, uint32_t version, struct slice text,
		   struct slice value, struct expr_error *e)
{
	struct pattern_table *t = ref->table;
	char *text_of = text_copy(text), *value_of = value.len ? text_copy(value) : NULL;
	struct pattern_entry *entry = NULL;

	if (text_of && (value_of || !value.len) && versions_reserve(ref, t, t->count + 1)) {
		set_version(t, t->count, version);
		entry = pattern_table_add(t, &ref->bin);
	}
	if (!entry) {
		free(text_of);
		free(value_of);
		expr_fail(e, "out of memory");
		return false;
	}
	pattern_count(1, 0);
	*entry = (struct pattern_entry){ .text = text_of, .value = value_of,
					 .len = (uint32_t)text.len, .line = PATTERN_ADDED };
	for (const struct pattern_set *set = ref->sets; set; set = set->next) {
		if (pattern_index_add(set->index, entry, &ref->bin, e))
			continue;
		/* numbers of this set are one behind now */
		kill_entry(t, t->count - 1);
		ref->is_broken = true;
		return false;
	}
	return true;
}

static bool give_error(const struct expr_error *e, struct pattern_error *error)
{
	slice_copy(slice_of(e->text), error->text, sizeof(error->text));
	return false;
}

bool pattern_ref_insert(struct pattern_ref *ref, uint32_t version, struct slice text,
			struct slice value, struct pattern_error *error)
{
	struct expr_error e = { "" };
	bool ok = edit_begin(ref), is_now = version_meant(ref, version) == ref->current;

	if (!ok)
		expr_fail(&e, "out of memory");
	ok = ok && pattern_check_text(ref, text, &e) && check_value(ref, value, &e) &&
	     insert(ref, version_meant(ref, version), text, value, &e);
	edit_end(ref);
	tell(ref, PATTERN_EVENT_ADD, ok && is_now);
	return ok || give_error(&e, error);
}

bool pattern_set_add_missing(struct pattern_set *set, struct slice text, struct slice value,
			     struct pattern_error *error)
{
	const struct sample s = { .type = SMP_STR, .text = text };
	struct pattern_ref *ref = set->ref;
	struct expr_error e = { "" };
	bool ok = edit_begin(ref), is_new;

	if (!ok)
		expr_fail(&e, "out of memory");
	is_new = ok && !pattern_set_find(set, &s, NULL);
	if (is_new)
		ok = pattern_check_text(ref, text, &e) && check_value(ref, value, &e) &&
		     insert(ref, ref->current, text, value, &e);
	edit_end(ref);
	tell(ref, PATTERN_EVENT_ADD, ok && is_new);
	return ok || give_error(&e, error);
}

/* --- changing and deleting ---------------------------------------------------------------- */

/* The next entry of a version from *number on which has this text, or this identity (<by_id>). */
static struct pattern_entry *next_match(const struct pattern_ref *ref, uint32_t version,
					uint32_t *number, struct slice text, uintptr_t by_id)
{
	const struct pattern_table *t = ref->table;

	for (; *number < t->count; ++*number) {
		struct pattern_entry *entry = &t->entries[*number];

		if (version_of(t, *number) == version &&
		    (by_id ? (uintptr_t)entry->text == by_id :
		     slice_eq(pattern_entry_text(entry), text)))
			return entry;
	}
	return NULL;
}

bool pattern_ref_replace(struct pattern_ref *ref, uint32_t version, struct slice text,
			 uintptr_t by_id, struct slice value, struct pattern_error *error)
{
	struct expr_error e = { "" };
	struct pattern_entry *entry;
	uint32_t number = 0, count = 0;
	bool ok = edit_begin(ref), is_now;

	if (!ok)
		expr_fail(&e, "out of memory");
	version = version_meant(ref, version);
	is_now = version == ref->current;
	/* without an entry it does not matter what the value is */
	ok = ok && next_match(ref, version, &number, text, by_id) && check_value(ref, value, &e);
	for (; ok && (entry = next_match(ref, version, &number, text, by_id)); number++, count++) {
		char *copy = text_copy(value);
		struct pattern_entry old = { .value = entry->value };

		ok = copy != NULL;
		if (!ok) {
			expr_fail(&e, "out of memory");
			break;
		}
		__atomic_store_n(&entry->value, copy, __ATOMIC_RELEASE);
		pattern_entry_fini(ref, &old, &ref->bin);
	}
	edit_end(ref);
	tell(ref, PATTERN_EVENT_SET, count && is_now);
	return (ok && count) || give_error(&e, error);
}

bool pattern_ref_delete(struct pattern_ref *ref, uint32_t version, struct slice text,
			uintptr_t by_id)
{
	uint32_t number = 0;
	bool found = edit_begin(ref) && next_match(ref, version_meant(ref, version), &number, text,
						   by_id);
	bool is_now = version_meant(ref, version) == ref->current;

	if (found)
		kill_entry(ref->table, number);
	edit_end(ref);
	tell(ref, PATTERN_EVENT_DEL, found && is_now);
	return found;
}

bool pattern_ref_next_entry(struct pattern_ref *ref, uint32_t version, uint32_t *at,
			    const struct slice *only, struct slice *text, struct slice *value)
{
	const struct pattern_table *t;
	bool found = false;

	pthread_mutex_lock(&ref->lock);
	t = ref->table;
	version = version_meant(ref, version);
	for (; !found && *at < t->count; ++*at) {
		const struct pattern_entry *entry = &t->entries[*at];

		*text = pattern_entry_text(entry);
		*value = entry->value ? slice_of(entry->value) : slice_none();
		found = version_of(t, *at) == version && (!only || slice_eq(*text, *only));
	}
	pthread_mutex_unlock(&ref->lock);
	return found;
}

bool pattern_ref_is_map(const struct pattern_ref *ref)
{
	return ref->columns == PATTERN_TWO_COLUMNS;
}

/* Deletes the entries of all versions from <first> to <last>. */
static void kill_versions(struct pattern_ref *ref, uint32_t first, uint32_t last)
{
	struct pattern_table *t = ref->table;

	for (uint32_t i = 0; i < t->count; i++)
		if (version_of(t, i) >= first && version_of(t, i) <= last)
			kill_entry(t, i);
}

void pattern_ref_clear(struct pattern_ref *ref, uint32_t version)
{
	bool ok = edit_begin(ref), is_now;

	version = version_meant(ref, version);
	is_now = version == ref->current;
	if (ok && version != PATTERN_DEAD)
		kill_versions(ref, version, version);
	edit_end(ref);
	tell(ref, PATTERN_EVENT_CLEAR, ok && is_now);
}

/* --- versions ----------------------------------------------------------------------------- */

uint32_t pattern_ref_prepare(struct pattern_ref *ref)
{
	uint32_t version = 0;

	if (edit_begin(ref))
		version = ++ref->newest;
	edit_end(ref);
	return version;
}

bool pattern_ref_commit(struct pattern_ref *ref, uint32_t version)
{
	bool ok = edit_begin(ref) && version > ref->current && version <= ref->newest;

	if (ok) {
		__atomic_store_n(&ref->current, version, __ATOMIC_RELEASE);
		kill_versions(ref, 0, version - 1);
	}
	edit_end(ref);
	tell(ref, PATTERN_EVENT_COMMIT, ok);
	return ok;
}

bool pattern_ref_has_version(struct pattern_ref *ref, uint32_t version)
{
	bool ok;

	pthread_mutex_lock(&ref->lock);
	ok = version >= ref->current && version <= ref->newest;
	pthread_mutex_unlock(&ref->lock);
	return ok;
}

/* --- for rules ---------------------------------------------------------------------------- */

struct pattern_ref *pattern_ref_take(struct conf_line *l, const char *name, bool acl,
				     const char **error)
{
	struct expr_error e = { "" };
	struct pattern_ref *ref;

	ref = pattern_ref_open(l, name, acl ? PATTERN_ONE_COLUMN : PATTERN_TWO_COLUMNS,
			       acl ? "acl" : "map", &e);
	if (!ref)
		*error = arena_printf(&l->cfg->arena, "%s", e.text);
	return ref;
}

struct pattern_set *pattern_map_take(struct conf_line *l, const char *name,
				     enum pattern_method method, const char **error)
{
	struct expr_error e = { "" };
	struct pattern_ref *ref = pattern_ref_open(l, name, PATTERN_TWO_COLUMNS, "map", &e);
	struct pattern_set *set = ref ? pattern_set_make(ref, method, 0, &e) : NULL;

	if (!set)
		*error = arena_printf(&l->cfg->arena, "%s", e.text);
	return set;
}
