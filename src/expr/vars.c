/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vars.c - the store of variables; see expr/vars.h */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "vars_priv.h"

/* A word made known by the configuration: equal words have one address. */
struct var_name {
	struct var_name *next;
	struct slice text;
};

struct var {
	struct var *next;
	const struct var_name *name;
	struct sample value;      /* type SMP_ANY: not set (any more) */
	char *text;               /* what value.text points to */
	size_t room;
};

enum var_condition {
	VAR_IF_EXISTS = 1 << 0, VAR_IF_NOT_EXISTS = 1 << 1, VAR_IF_EMPTY = 1 << 2,
	VAR_IF_NOT_EMPTY = 1 << 3, VAR_IF_SET = 1 << 4, VAR_IF_NOT_SET = 1 << 5,
	VAR_IF_GREATER = 1 << 6, VAR_IF_LESS = 1 << 7,
};

struct var_ref {
	enum var_scope scope;
	const struct var_name *name;
	struct vars_store *store;
	unsigned conditions;      /* enum var_condition: all must hold */
};

bool vars_store_init(struct vars_store *store)
{
	arena_init(&store->arena, 0);
	return pthread_mutex_init(&store->lock, NULL) == 0;
}

void vars_store_fini(struct vars_store *store)
{
	vars_clear(&store->process);
	arena_fini(&store->arena);
	pthread_mutex_destroy(&store->lock);
}

/* --- names -------------------------------------------------------------------------------- */

static const char *const scope_names[VAR_SCOPES] = {
	[VAR_PROC] = "proc", [VAR_SESS] = "sess", [VAR_TXN] = "txn", [VAR_REQ] = "req",
	[VAR_RES] = "res", [VAR_CHECK] = "check", [VAR_PARENT_SESS] = "psess",
	[VAR_PARENT_TXN] = "ptxn", [VAR_PARENT_REQ] = "preq", [VAR_PARENT_RES] = "pres",
};

enum var_scope var_scope_find(struct slice name)
{
	int scope = 0;

	while (scope < VAR_SCOPES && !slice_eq(name, slice_of(scope_names[scope])))
		scope++;
	return (enum var_scope)scope;
}

const char *var_scope_name(enum var_scope scope)
{
	return scope_names[scope];
}

/* The name in a store; NULL: it is not used there. */
static const struct var_name *name_in(const struct vars_store *store, struct slice text)
{
	const struct var_name *n = __atomic_load_n(&store->names, __ATOMIC_ACQUIRE);

	while (n && !slice_eq(n->text, text))
		n = n->next;
	return n;
}

static const struct var_name *name_intern(struct config *cfg, struct slice text)
{
	struct vars_store *store = vars_store_of(cfg);
	const struct var_name *known = name_in(store, text);
	struct var_name *name;

	if (known)
		return known;
	name = arena_zalloc(&store->arena, sizeof(*name));
	if (!name)
		return NULL;
	name->text = arena_copy(&store->arena, text);
	if (!name->text.ptr)
		return NULL;
	name->next = store->names;
	/* of a generation in use: others read the list meanwhile */
	__atomic_store_n(&store->names, name, __ATOMIC_RELEASE);
	return name;
}

static bool is_name_char(char c)
{
	return ascii_is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || c == '_' ||
	       c == '.';
}

static bool parse_name(struct config *cfg, struct slice text, struct var_ref *ref,
		       const char **error)
{
	size_t dot = slice_find_char(text, 0, '.');

	*error = "Empty variable name cannot be accepted";
	if (!text.len)
		return false;
	ref->scope = dot == SIZE_MAX ? VAR_SCOPES : var_scope_find(slice_sub(text, 0, dot));
	*error = arena_printf(&cfg->arena, "invalid variable name '%.*s'. A variable name must "
			      "start with its scope. The scope can be 'proc', '(p)sess', "
			      "'(p)txn', '(p)req', '(p)res' or 'check'", SLICE_FMT(text));
	if (ref->scope == VAR_SCOPES || dot + 1 == text.len)
		return false;
	text = slice_sub(text, dot + 1, text.len);
	for (size_t i = 0; i < text.len; i++) {
		if (is_name_char(text.ptr[i]))
			continue;
		*error = arena_printf(&cfg->arena, "invalid syntax at char '%c' of the variable "
				      "name '%.*s', which is of letters, digits, '_' and '.'",
				      text.ptr[i], SLICE_FMT(text));
		return false;
	}
	*error = "out of memory";
	ref->name = name_intern(cfg, text);
	return ref->name != NULL;
}

static bool add_condition(struct config *cfg, struct slice text, struct var_ref *ref,
			  const char **error)
{
	static const struct { const char *name; unsigned bit; } conditions[] = {
		{ "ifexists", VAR_IF_EXISTS }, { "ifnotexists", VAR_IF_NOT_EXISTS },
		{ "ifempty", VAR_IF_EMPTY }, { "ifnotempty", VAR_IF_NOT_EMPTY },
		{ "ifset", VAR_IF_SET }, { "ifnotset", VAR_IF_NOT_SET },
		{ "ifgt", VAR_IF_GREATER }, { "iflt", VAR_IF_LESS },
	};

	for (unsigned i = 0; i < ARRAY_LEN(conditions); i++) {
		if (!slice_eq(text, slice_of(conditions[i].name)))
			continue;
		ref->conditions |= conditions[i].bit;
		return true;
	}
	*error = arena_printf(&cfg->arena, "unknown condition \"%.*s\"", SLICE_FMT(text));
	return false;
}

struct var_ref *var_ref_parse(struct config *cfg, const char *text, bool conditions,
			      const char **error)
{
	struct var_ref *ref = arena_zalloc(&cfg->arena, sizeof(*ref));
	size_t len = conditions ? strcspn(text, ",") : strlen(text);

	*error = "out of memory";
	if (!ref)
		return NULL;
	ref->store = vars_store_of(cfg);
	if (!parse_name(cfg, slice_make(text, len), ref, error))
		return NULL;
	__atomic_fetch_or(&ref->store->used_scopes, 1u << ref->scope, __ATOMIC_RELAXED);
	while (text[len]) {
		text += len + 1;
		len = strcspn(text, ",");
		if (!add_condition(cfg, slice_make(text, len), ref, error))
			return NULL;
	}
	return ref;
}

/* Letters, digits, '_' and '.'. */
static bool is_name(struct slice text)
{
	size_t i = 0;

	while (i < text.len && is_name_char(text.ptr[i]))
		i++;
	return text.len && i == text.len;
}

bool var_name_register(struct config *cfg, struct slice name, const char **error)
{
	static const unsigned scopes = 1u << VAR_PROC | 1u << VAR_SESS | 1u << VAR_TXN |
				       1u << VAR_REQ | 1u << VAR_RES;

	*error = "a name of letters, digits, '_' and '.' is expected";
	if (!is_name(name))
		return false;
	*error = "out of memory";
	__atomic_fetch_or(&vars_store_of(cfg)->used_scopes, scopes, __ATOMIC_RELAXED);
	return name_intern(cfg, name) != NULL;
}

bool var_ref_add_condition(struct config *cfg, struct var_ref *ref, struct slice text,
			   const char **error)
{
	return add_condition(cfg, text, ref, error);
}

bool vars_are_used(const struct config *cfg, enum var_scope scope)
{
	unsigned used = __atomic_load_n(&vars_store_of(cfg)->used_scopes, __ATOMIC_RELAXED);

	return used >> scope & 1;
}

bool var_ref_outlives_stream(const struct var_ref *ref)
{
	return ref->scope == VAR_PROC || ref->scope == VAR_SESS;
}

/* --- memory ------------------------------------------------------------------------------- */

static void *vars_alloc(struct vars *vars, size_t size)
{
	return vars->arena ? arena_alloc(vars->arena, size) : malloc(size);
}

static void vars_free(struct vars *vars, void *ptr)
{
	if (!vars->arena)
		free(ptr);
}

/* Bytes of a head that is not there are none. */
static size_t size_of(const struct expr_ctx *ctx, enum var_scope scope)
{
	return ctx->vars[scope] ? ctx->vars[scope]->size : 0;
}

/* Coarser scopes include finer ones; "global" includes all. */
static bool fits(const struct var_ref *ref, const struct expr_ctx *ctx, size_t more)
{
	const size_t *max = ref->store->max;
	size_t message = more + size_of(ctx, VAR_REQ) + size_of(ctx, VAR_RES);
	size_t txn = message + size_of(ctx, VAR_TXN), sess = txn + size_of(ctx, VAR_SESS);
	size_t all = more + atomic_load_explicit(&ref->store->used, memory_order_relaxed);

	if (ref->scope == VAR_CHECK && max[VARS_MAX_CHECK] &&
	    more + size_of(ctx, VAR_CHECK) > max[VARS_MAX_CHECK])
		return false;
	if (ref->scope >= VAR_REQ && max[VARS_MAX_MESSAGE] && message > max[VARS_MAX_MESSAGE])
		return false;
	if (ref->scope >= VAR_TXN && max[VARS_MAX_TXN] && txn > max[VARS_MAX_TXN])
		return false;
	if (ref->scope >= VAR_SESS && max[VARS_MAX_SESS] && sess > max[VARS_MAX_SESS])
		return false;
	return (!max[VARS_MAX_PROC] || all <= max[VARS_MAX_PROC]) &&
	       (!max[VARS_MAX_GLOBAL] || all <= max[VARS_MAX_GLOBAL]);
}

/* Counts bytes taken; only under a limit, since all threads share the sum. */
static bool account(const struct var_ref *ref, struct expr_ctx *ctx, struct vars *vars, size_t more)
{
	if (!ref->store->limited)
		return true;
	if (!fits(ref, ctx, more))
		return false;
	vars->store = ref->store;
	vars->size += more;
	atomic_fetch_add_explicit(&ref->store->used, more, memory_order_relaxed);
	return true;
}

void vars_clear(struct vars *vars)
{
	while (vars->first) {
		struct var *v = vars->first;

		vars->first = v->next;
		vars_free(vars, v->text);
		vars_free(vars, v);
	}
	if (vars->size)
		atomic_fetch_sub_explicit(&vars->store->used, vars->size, memory_order_relaxed);
	vars->size = 0;
}

void vars_follow(struct vars *vars, const struct config *next)
{
	struct vars_store *store = vars_store_of(next);
	struct var **at = &vars->first;
	size_t size = 0;

	if (vars->size)
		atomic_fetch_sub_explicit(&vars->store->used, vars->size, memory_order_relaxed);
	while (*at) {
		struct var *v = *at;

		v->name = name_in(store, v->name->text);
		if (!v->name) {
			*at = v->next;
			vars_free(vars, v->text);
			vars_free(vars, v);
			continue;
		}
		size += sizeof(*v) + v->room;
		at = &v->next;
	}
	vars->size = store->limited ? size : 0;
	vars->store = store;
	atomic_fetch_add_explicit(&store->used, vars->size, memory_order_relaxed);
}

/* --- values ------------------------------------------------------------------------------- */

/* The head of the scope; NULL: this is not its time. */
static struct vars *vars_of(const struct var_ref *ref, const struct expr_ctx *ctx)
{
	return ref->scope == VAR_PROC ? &ref->store->process : ctx->vars[ref->scope];
}

static bool is_of_parent(const struct var_ref *ref)
{
	return ref->scope >= VAR_PARENT_SESS;
}

static struct var *var_find(const struct vars *vars, const struct var_name *name)
{
	struct var *v = vars->first;

	while (v && v->name != name)
		v = v->next;
	return v;
}

static bool has_text(const struct sample *s)
{
	return s->type == SMP_STR || s->type == SMP_BIN || s->type == SMP_METH;
}

static bool conditions_hold(const struct var_ref *ref, const struct var *v,
			    const struct sample *value)
{
	unsigned c = ref->conditions;
	bool set = v && v->value.type != SMP_ANY, exists = set || ref->scope == VAR_PROC;
	bool empty = has_text(value) && !value->text.len;
	bool numbers = set && v->value.type == SMP_INT && value->type == SMP_INT;

	return !((c & VAR_IF_EXISTS && !exists) || (c & VAR_IF_NOT_EXISTS && exists) ||
		 (c & VAR_IF_SET && !set) || (c & VAR_IF_NOT_SET && set) ||
		 (c & VAR_IF_EMPTY && !empty) || (c & VAR_IF_NOT_EMPTY && empty) ||
		 (c & VAR_IF_GREATER && numbers && v->value.integer <= value->integer) ||
		 (c & VAR_IF_LESS && numbers && v->value.integer >= value->integer));
}

static struct var *var_new(const struct var_ref *ref, struct expr_ctx *ctx, struct vars *vars)
{
	struct var *v;

	if (!account(ref, ctx, vars, sizeof(*v)))
		return NULL;
	v = vars_alloc(vars, sizeof(*v));
	if (!v)
		return NULL;
	*v = (struct var){ .next = vars->first, .name = ref->name };
	v->value.type = SMP_ANY;
	vars->first = v;
	return v;
}

/* Copies the text; its room grows by doubling, so that an arena is not eaten by rewriting. */
static bool var_set_text(const struct var_ref *ref, struct expr_ctx *ctx, struct vars *vars,
			 struct var *v, struct slice text)
{
	size_t room = v->room ? v->room : 16;
	char *bigger;

	if (text.len > v->room) {
		while (room < text.len)
			room *= 2;
		if (!account(ref, ctx, vars, room - v->room))
			return false;
		bigger = vars_alloc(vars, room);
		if (!bigger)
			return false;
		memcpy(bigger, text.ptr, text.len);
		vars_free(vars, v->text);
		v->text = bigger;
		v->room = room;
	} else if (text.len) {
		memmove(v->text, text.ptr, text.len); /* maybe a part of itself */
	}
	v->value.text = slice_make(v->text ? v->text : "", text.len);
	return true;
}

static bool set_in(const struct var_ref *ref, struct expr_ctx *ctx, struct vars *vars,
		   const struct sample *value)
{
	struct var *v = var_find(vars, ref->name);

	if (!conditions_hold(ref, v, value))
		return false;
	if (!v)
		v = var_new(ref, ctx, vars);
	if (!v)
		return false;
	v->value.type = SMP_ANY;
	if (has_text(value)) {
		if (!var_set_text(ref, ctx, vars, v, value->text))
			return false;
		v->value.method = value->method;
	} else {
		v->value = *value;
	}
	v->value.type = value->type;
	v->value.flags = SMP_CONST;
	return true;
}

bool var_set(const struct var_ref *ref, struct expr_ctx *ctx, const struct sample *value)
{
	struct vars *vars = vars_of(ref, ctx);
	bool ok;

	if (is_of_parent(ref))
		return false;
	if (ref->scope != VAR_PROC)
		return vars && set_in(ref, ctx, vars, value);
	pthread_mutex_lock(&ref->store->lock);
	ok = set_in(ref, ctx, vars, value);
	pthread_mutex_unlock(&ref->store->lock);
	return ok;
}

void var_unset(const struct var_ref *ref, struct expr_ctx *ctx)
{
	struct vars *vars = vars_of(ref, ctx);
	struct var *v;

	if (!vars || is_of_parent(ref))
		return;
	if (ref->scope == VAR_PROC)
		pthread_mutex_lock(&ref->store->lock);
	v = var_find(vars, ref->name);
	if (v)
		v->value.type = SMP_ANY;
	if (ref->scope == VAR_PROC)
		pthread_mutex_unlock(&ref->store->lock);
}

static bool get_from_process(struct vars_store *store, const struct var_name *name,
			     struct arena *arena, struct sample *out)
{
	const struct var *v;
	bool found;

	pthread_mutex_lock(&store->lock);
	v = var_find(&store->process, name);
	found = v && v->value.type != SMP_ANY;
	if (found) {
		*out = v->value;
		if (has_text(out))
			out->text = arena_copy(arena, out->text);
	}
	pthread_mutex_unlock(&store->lock);
	return found && (!has_text(out) || out->text.ptr);
}

bool vars_process_get(const struct config *cfg, struct slice name, struct arena *arena,
		      struct sample *out)
{
	struct vars_store *store = vars_store_of(cfg);
	const struct var_name *n = name_in(store, name);

	return n && get_from_process(store, n, arena, out);
}

bool var_get(const struct var_ref *ref, struct expr_ctx *ctx, struct sample *out)
{
	const struct vars *vars = vars_of(ref, ctx);
	const struct var *v;

	if (ref->scope == VAR_PROC)
		return get_from_process(ref->store, ref->name, ctx->arena, out);
	v = vars ? var_find(vars, ref->name) : NULL;
	if (!v || v->value.type == SMP_ANY)
		return false;
	*out = v->value;
	return true;
}

void vars_each(struct vars_store *store, enum var_scope scope, const struct expr_ctx *ctx,
	       var_each_fn *fn, void *data)
{
	const struct vars *vars = scope == VAR_PROC ? &store->process : ctx->vars[scope];

	if (!vars)
		return;
	if (scope == VAR_PROC)
		pthread_mutex_lock(&store->lock);
	for (const struct var *v = vars->first; v; v = v->next)
		if (v->value.type != SMP_ANY)
			fn(data, v->name->text, &v->value);
	if (scope == VAR_PROC)
		pthread_mutex_unlock(&store->lock);
}

bool var_set_named(struct config *cfg, enum var_scope scope, struct slice name,
		   struct expr_ctx *ctx, const struct sample *value, bool create)
{
	struct var_ref ref = { .scope = scope, .store = vars_store_of(cfg) };

	ref.name = name_in(ref.store, name);
	if (!ref.name && create && value && is_name(name)) {
		config_edit_begin();
		ref.name = name_intern(cfg, name);
		config_edit_end();
	}
	if (!ref.name)
		return false;
	if (value)
		return var_set(&ref, ctx, value);
	var_unset(&ref, ctx);
	return true;
}

bool var_get_named(const struct config *cfg, enum var_scope scope, struct slice name,
		   struct expr_ctx *ctx, struct sample *out)
{
	struct var_ref ref = { .scope = scope, .store = vars_store_of(cfg) };

	ref.name = name_in(ref.store, name);
	return ref.name && var_get(&ref, ctx, out);
}

bool var_name_split(struct slice *name, enum var_scope *scope)
{
	size_t dot = slice_find_char(*name, 0, '.');

	if (dot == SIZE_MAX)
		return false;
	*scope = var_scope_find(slice_sub(*name, 0, dot));
	*name = slice_sub(*name, dot + 1, name->len);
	return *scope != VAR_SCOPES && is_name(*name);
}
