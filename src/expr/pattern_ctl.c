/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern_ctl.c - edge file: the Runtime API face of maps and ACL files
 *
 * `show|get|add|del|set|clear|prepare|commit map|acl`. Manual: management 9.3.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "ctl/ctl.h"
#include "expr/modules.h"
#include "pattern_priv.h"

/* What a command works on until it is done. */
struct pattern_request {
	struct config *cfg; /* counted */
	struct pattern_ref *ref;
	uint32_t version;   /* PATTERN_NOW unless "@<version>" was given */
	bool acl;
	struct pattern_ref **sorted;  /* owned; what a list without a name shows */
	size_t sorted_count;
};

static void request_release(struct ctl_request *rq)
{
	struct pattern_request *r = rq->state;

	if (r && r->cfg)
		config_drop(&r->cfg);
	if (r)
		free(r->sorted);
	free(r);
	rq->state = NULL;
}

static bool is_about_acls(const struct ctl_request *rq)
{
	return strstr(rq->command->words, " acl") != NULL;
}

/* May "@<version>" come first? */
static bool takes_version(const struct ctl_request *rq)
{
	static const char *const verbs[] = { "add ", "clear ", "commit ", "show " };

	for (unsigned i = 0; i < ARRAY_LEN(verbs); i++)
		if (strncmp(rq->command->words, verbs[i], strlen(verbs[i])) == 0)
			return true;
	return false;
}

/* The state of the command, with its version. NULL: answered. */
static struct pattern_request *request_open(struct ctl_request *rq)
{
	struct pattern_request *r = calloc(1, sizeof(*r));
	uint64_t version;

	if (!r) {
		ctl_error(rq, "Out of memory error.");
		return NULL;
	}
	rq->state = r;
	r->acl = is_about_acls(rq);
	r->version = PATTERN_NOW;
	r->cfg = expr_config_in_force();
	if (r->cfg)
		config_take(r->cfg);
	if (rq->at >= rq->count || rq->words[rq->at][0] != '@' || !takes_version(rq))
		return r;
	if (!num_parse_u64(slice_of(rq->words[rq->at] + 1), &version) || version >= PATTERN_NOW) {
		ctl_error(rq, "Invalid version number.");
		return NULL;
	}
	r->version = (uint32_t)version;
	rq->at++;
	return r;
}

/* As request_open(), with the reference that the next word names. NULL: answered. */
static struct pattern_request *request_ref(struct ctl_request *rq)
{
	struct pattern_request *r = request_open(rq);
	const char *name = rq->at < rq->count ? rq->words[rq->at] : "";

	if (!r)
		return NULL;
	r->ref = r->cfg ? pattern_ref_find(r->cfg, name, r->acl) : NULL;
	if (!r->ref) {
		ctl_error(rq, "Unknown %s identifier. Please use #<id> or <file>.",
			  r->acl ? "ACL" : "map");
		return NULL;
	}
	rq->at++;
	return r;
}

/* Arguments from rq->at on. */
static int args_left(const struct ctl_request *rq)
{
	return rq->count - rq->at;
}

/* --- show --------------------------------------------------------------------------------- */

static void show_uses(const struct pattern_ref *ref, struct strbuf *out)
{
	if (ref->keyword) {
		strbuf_printf(out, "acl '%s' file '%s' line %d", ref->keyword, ref->uses->file,
			      ref->uses->line);
		return;
	}
	strbuf_printf(out, "pattern loaded from file '%s'", ref->opened_as);
	for (const struct pattern_use *use = ref->uses; use; use = use->next)
		strbuf_printf(out, "%s by %s at file '%s' line %d",
			      use == ref->uses ? " used" : ",", use->what, use->file, use->line);
}

static void show_ref(struct pattern_ref *ref, struct strbuf *out)
{
	uint32_t current, newest, count = 0;
	const struct pattern_table *t;

	pthread_mutex_lock(&ref->lock);
	current = ref->current;
	newest = ref->newest;
	t = ref->table;
	count = t->count - t->dead;
	pthread_mutex_unlock(&ref->lock);
	strbuf_printf(out, "%u (%s) ", ref->id, ref->name ? ref->name : "");
	show_uses(ref, out);
	strbuf_printf(out, ". curr_ver=%u next_ver=%u entry_cnt=%u\n", current, newest, count);
}

static bool is_listed(const struct pattern_request *r, const struct pattern_ref *ref)
{
	if (r->acl)
		return ref->is_acl && !conf_is_own_text(ref->uses->file);
	return ref->name && ref->columns == PATTERN_TWO_COLUMNS;
}

static int compare_ids(const void *a, const void *b)
{
	const struct pattern_ref *const *left = a, *const *right = b;

	return (*left)->id < (*right)->id ? -1 : (*left)->id > (*right)->id;
}

/* Those that are listed, by number. False: no memory. */
static bool sort_refs(struct pattern_request *r)
{
	struct pattern_ref *all = expr_config_of(r->cfg)->refs;
	size_t count = 0;

	for (struct pattern_ref *ref = all; ref; ref = ref->next)
		count += is_listed(r, ref);
	r->sorted = malloc((count + 1) * sizeof(struct pattern_ref *));
	if (!r->sorted)
		return false;
	for (struct pattern_ref *ref = all; ref; ref = ref->next)
		if (is_listed(r, ref))
			r->sorted[r->sorted_count++] = ref;
	qsort(r->sorted, count, sizeof(struct pattern_ref *), compare_ids);
	return true;
}

static enum ctl_step show_list(struct ctl_request *rq, struct pattern_request *r)
{
	if (!r->sorted) {
		if (!sort_refs(r)) {
			ctl_error(rq, "Out of memory error.");
			return CTL_DONE;
		}
		strbuf_add_str(rq->out, "# id (file) description\n");
	}
	for (; rq->pos < r->sorted_count; rq->pos++) {
		if (ctl_is_due(rq))
			return CTL_MORE;
		show_ref(r->sorted[rq->pos], rq->out);
	}
	return CTL_DONE;
}

static enum ctl_step show_entries(struct ctl_request *rq, struct pattern_request *r)
{
	struct pattern_ref *ref = r->ref;
	const struct pattern_table *t;
	enum ctl_step step = CTL_DONE;
	uint32_t wanted;

	pthread_mutex_lock(&ref->lock);
	t = ref->table;
	wanted = r->version == PATTERN_NOW ? ref->current : r->version;
	for (; rq->pos < t->count; rq->pos++) {
		const struct pattern_entry *entry = &t->entries[rq->pos];
		struct slice value = pattern_entry_value(entry);

		if (ctl_is_due(rq)) {
			step = CTL_MORE;
			break;
		}
		if ((t->versions ? t->versions->at[rq->pos] : 0) != wanted)
			continue;
		strbuf_printf(rq->out, "0x%" PRIxPTR " %.*s", (uintptr_t)entry->text,
			      SLICE_FMT(pattern_entry_text(entry)));
		if (ref->columns == PATTERN_TWO_COLUMNS)
			strbuf_printf(rq->out, " %.*s", SLICE_FMT(value));
		strbuf_add_char(rq->out, '\n');
	}
	pthread_mutex_unlock(&ref->lock);
	return step;
}

static enum ctl_step show(struct ctl_request *rq)
{
	struct pattern_request *r = rq->state;

	if (!r) {
		r = args_left(rq) ? request_ref(rq) : request_open(rq);
		if (!r || !r->cfg)
			return CTL_DONE;
	}
	return r->ref ? show_entries(rq, r) : show_list(rq, r);
}

/* --- get ---------------------------------------------------------------------------------- */

static bool is_indexed(enum pattern_method m, unsigned flags)
{
	return (m == PATTERN_STR || m == PATTERN_BEG || m == PATTERN_IP || m == PATTERN_BIN) &&
	       !(flags & PATTERN_NOCASE && m != PATTERN_IP);
}

/* What the converters that use the map make of its values. */
static const char *value_type(const struct pattern_ref *ref)
{
	return ref->value_types & 1u << SMP_INT ? "sint"
		: ref->value_types & 1u << SMP_IPV4 ? "ipv4" : "str";
}

static void get_from(struct ctl_request *rq, const struct pattern_set *set, struct slice text,
		     bool acl)
{
	struct sample s = { .type = SMP_STR, .text = text };
	struct pattern_match match = { .regex = NULL };
	struct arena arena;
	bool found;

	arena_init(&arena, 0);
	found = sample_cast(&s, pattern_method_type(set->method), &arena) &&
		pattern_set_find(set, &s, &match);
	strbuf_printf(rq->out, "type=%s, case=%s, %s=%s", pattern_method_name(set->method),
		      set->flags & PATTERN_NOCASE ? "insensitive" : "sensitive",
		      acl ? "match" : "found", found ? "yes" : "no");
	if (found) {
		strbuf_printf(rq->out, ", idx=%s, %s=\"%.*s\"",
			      is_indexed(set->method, set->flags) ? "tree" : "list",
			      acl ? "pattern" : "key", SLICE_FMT(match.text));
		if (!acl)
			strbuf_printf(rq->out, ", value=\"%.*s\", type=\"%s\"",
				      SLICE_FMT(match.value), value_type(set->ref));
	}
	strbuf_add_char(rq->out, '\n');
	arena_fini(&arena);
}

static enum ctl_step get(struct ctl_request *rq)
{
	struct pattern_request *r;
	const struct pattern_set *set;

	if (args_left(rq) < 2) {
		ctl_error(rq, "Missing %s identifier and/or key.",
			  is_about_acls(rq) ? "ACL" : "map");
		return CTL_DONE;
	}
	r = request_ref(rq);
	if (!r)
		return CTL_DONE;
	pthread_mutex_lock(&r->ref->lock);
	for (set = r->ref->sets; set; set = set->next)
		get_from(rq, set, slice_of(rq->words[rq->at]), r->acl);
	pthread_mutex_unlock(&r->ref->lock);
	return CTL_DONE;
}

/* --- add ---------------------------------------------------------------------------------- */

static bool check_version(struct ctl_request *rq, const struct pattern_request *r)
{
	if (r->version == PATTERN_NOW || pattern_ref_has_version(r->ref, r->version))
		return true;
	ctl_error(rq, "Version number in the %s, please use 'prepare %s' before.",
		  r->version > r->ref->newest ? "future" : "past", r->acl ? "acl" : "map");
	return false;
}

static bool add_one(struct ctl_request *rq, const struct pattern_request *r, struct slice text,
		    struct slice value)
{
	struct pattern_error error = { "" };

	if (pattern_ref_insert(r->ref, r->version, text, value, &error))
		return true;
	ctl_error(rq, "%s.", error.text);
	return false;
}

/* A word of a line, behind blanks; a backslash keeps the next character. */
static struct slice take_word(struct slice *line)
{
	size_t end = 0;
	struct slice word;

	*line = slice_trim(*line);
	while (end < line->len && line->ptr[end] != ' ' && line->ptr[end] != '\t')
		end += line->ptr[end] == '\\' && end + 1 < line->len ? 2 : 1;
	word = slice_sub(*line, 0, end);
	*line = slice_trim(slice_sub(*line, end, line->len));
	return word;
}

/* "<key> <value>" on each line. */
static void add_payload(struct ctl_request *rq, const struct pattern_request *r)
{
	struct slice rest = rq->payload;

	while (rest.len) {
		size_t end = slice_find_char(rest, 0, '\n');
		struct slice line = slice_sub(rest, 0, end), key = take_word(&line);

		rest = end == SIZE_MAX ? slice_none() : slice_sub(rest, end + 1, rest.len);
		if (!key.len)
			continue;
		if (!line.len) {
			ctl_error(rq, "Missing value for key '%.*s'.", SLICE_FMT(key));
			return;
		}
		if (!add_one(rq, r, key, line))
			return;
	}
}

static enum ctl_step add_map(struct ctl_request *rq)
{
	bool has_payload = rq->payload.ptr != NULL;
	int given = args_left(rq) - (args_left(rq) && rq->words[rq->at][0] == '@');
	struct pattern_request *r;

	if (has_payload ? given != 1 : given < 3) {
		ctl_error(rq, "'add map' expects three parameters (map identifier, key and value) "
			  "or one parameter (map identifier) and a payload");
		return CTL_DONE;
	}
	r = request_ref(rq);
	if (!r || !check_version(rq, r))
		return CTL_DONE;
	if (has_payload)
		add_payload(rq, r);
	else
		add_one(rq, r, slice_of(rq->words[rq->at]), slice_of(rq->words[rq->at + 1]));
	return CTL_DONE;
}

static enum ctl_step add_acl(struct ctl_request *rq)
{
	int given = args_left(rq) - (args_left(rq) && rq->words[rq->at][0] == '@');
	struct pattern_request *r;

	if (given < 2) {
		ctl_error(rq, "'add acl' expects two parameters: ACL identifier and pattern.");
		return CTL_DONE;
	}
	r = request_ref(rq);
	if (r && pattern_ref_is_map(r->ref))
		ctl_error(rq, "This ACL is shared with a map containing samples. "
			  "You must use the command 'add map' to add values.");
	else if (r && check_version(rq, r))
		add_one(rq, r, slice_of(rq->words[rq->at]), slice_none());
	return CTL_DONE;
}

/* --- set, del ----------------------------------------------------------------------------- */

/* "#0x<identity>" or a text. False: a malformed identity. */
static bool read_key(const char *word, struct slice *text, uintptr_t *id)
{
	char *end;

	*text = slice_of(word);
	*id = 0;
	if (*word != '#')
		return true;
	*id = strtoull(word + 1, &end, 0);
	return *id && !*end;
}

static enum ctl_step set_map(struct ctl_request *rq)
{
	struct pattern_request *r;
	struct pattern_error error = { "" };
	struct slice text;
	uintptr_t id;

	if (args_left(rq) < 3) {
		ctl_error(rq, "'set map' expects three parameters: map identifier, key and value.");
		return CTL_DONE;
	}
	r = request_ref(rq);
	if (!r)
		return CTL_DONE;
	if (!read_key(rq->words[rq->at], &text, &id))
		ctl_error(rq, "Malformed identifier. Please use #<id> or <file>.");
	else if (!pattern_ref_replace(r->ref, PATTERN_NOW, text, id,
				      slice_of(rq->words[rq->at + 1]), &error))
		ctl_error(rq, "%s.", *error.text ? error.text :
			  id ? "key or pattern not found" : "entry not found");
	return CTL_DONE;
}

static enum ctl_step del(struct ctl_request *rq)
{
	bool acl = is_about_acls(rq);
	struct pattern_request *r;
	struct slice text;
	uintptr_t id;

	if (args_left(rq) < 2) {
		ctl_error(rq, "This command expects two parameters: %s identifier and key.",
			  acl ? "ACL" : "map");
		return CTL_DONE;
	}
	r = request_ref(rq);
	if (!r)
		return CTL_DONE;
	if (!read_key(rq->words[rq->at], &text, &id))
		ctl_error(rq, "Malformed identifier. Please use #<id> or <file>.");
	else if (!pattern_ref_delete(r->ref, PATTERN_NOW, text, id))
		ctl_error(rq, "Key not found.");
	return CTL_DONE;
}

/* --- clear, prepare, commit --------------------------------------------------------------- */

static enum ctl_step clear(struct ctl_request *rq)
{
	struct pattern_request *r;

	if (!args_left(rq)) {
		ctl_error(rq, "Missing %s identifier.", is_about_acls(rq) ? "ACL" : "map");
		return CTL_DONE;
	}
	r = request_ref(rq);
	if (r)
		pattern_ref_clear(r->ref, r->version);
	return CTL_DONE;
}

static enum ctl_step prepare(struct ctl_request *rq)
{
	struct pattern_request *r = request_ref(rq);
	uint32_t version = r ? pattern_ref_prepare(r->ref) : 0;

	if (version)
		ctl_say(rq, "New version created: %u", version);
	else if (r)
		ctl_error(rq, "Out of memory error.");
	return CTL_DONE;
}

static enum ctl_step commit(struct ctl_request *rq)
{
	struct pattern_request *r = request_ref(rq);

	if (r && r->version == PATTERN_NOW)
		ctl_error(rq, "Missing version number.");
	else if (r && !pattern_ref_commit(r->ref, r->version))
		ctl_error(rq, "Version number out of range.");
	return CTL_DONE;
}

#define COMMAND(verb, of, least, words_after, text, function) \
	{ .words = verb " " of, .level = least, .syntax = words_after, .help = text, \
	  .run = function, .release = request_release }
#define WHICH "#<id>|<file>"

static const struct ctl_command commands[] = {
	COMMAND("add", "acl", CTL_ADMIN, "[@<version>] " WHICH " <pattern>",
		"add a pattern to an ACL", add_acl),
	COMMAND("add", "map", CTL_ADMIN, "[@<version>] " WHICH " <key> <value>",
		"add an entry to a map (or lines of them, as a payload)", add_map),
	COMMAND("clear", "acl", CTL_ADMIN, "[@<version>] " WHICH, "delete all patterns of an ACL",
		clear),
	COMMAND("clear", "map", CTL_ADMIN, "[@<version>] " WHICH, "delete all entries of a map",
		clear),
	COMMAND("commit", "acl", CTL_ADMIN, "@<version> " WHICH,
		"put a prepared version of an ACL in force", commit),
	COMMAND("commit", "map", CTL_ADMIN, "@<version> " WHICH,
		"put a prepared version of a map in force", commit),
	COMMAND("del", "acl", CTL_ADMIN, WHICH " <pattern>|#<ref>",
		"delete a pattern of an ACL", del),
	COMMAND("del", "map", CTL_ADMIN, WHICH " <key>|#<ref>", "delete an entry of a map", del),
	COMMAND("get", "acl", CTL_ADMIN, WHICH " <text>", "which pattern of an ACL matches",
		get),
	COMMAND("get", "map", CTL_ADMIN, WHICH " <text>", "which entry of a map matches", get),
	COMMAND("prepare", "acl", CTL_ADMIN, WHICH, "begin a new version of an ACL", prepare),
	COMMAND("prepare", "map", CTL_ADMIN, WHICH, "begin a new version of a map", prepare),
	COMMAND("set", "map", CTL_ADMIN, WHICH " <key>|#<ref> <value>",
		"change the value of an entry of a map", set_map),
	COMMAND("show", "acl", CTL_ADMIN, "[[@<version>] " WHICH "]",
		"list ACLs, or the patterns of one", show),
	COMMAND("show", "map", CTL_ADMIN, "[[@<version>] " WHICH "]",
		"list maps, or the entries of one", show),
	{ 0 }
};

const struct module mod_pattern_ctl = {
	.name = "patterns", .commands = commands,
};
