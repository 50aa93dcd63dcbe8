/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store.c - what this folder keeps in a configuration, and what went wrong while compiling */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "expr/pattern.h"
#include "expr_priv.h"

void expr_fail(struct expr_error *e, const char *fmt, ...)
{
	va_list ap;

	if (e->text[0])
		return;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
}

/* What must be freed with the configuration beside its arena. */
struct expr_owned {
	struct expr_owned *next;
	void *ptr;
	void (*release)(void *ptr);
};

static bool expr_config_init(void *data)
{
	struct expr_config *ec = data;

	return vars_store_init(&ec->vars);
}

void expr_owned_free(struct expr_owned *list)
{
	struct expr_owned *next;

	for (; list; list = next) {
		next = list->next;
		list->release(list->ptr);
		free(list);
	}
}

static void expr_config_fini(void *data)
{
	struct expr_config *ec = data;

	expr_owned_free(ec->owned);
	vars_store_fini(&ec->vars);
}

struct slot expr_config_slot = {
	.of = SLOT_CONFIG,
	.size = sizeof(struct expr_config),
	.init = expr_config_init,
	.fini = expr_config_fini,
};

struct expr_config *expr_config_of(const struct config *cfg)
{
	return slot_of(&expr_config_slot, config_slots(cfg));
}

struct vars_store *vars_store_of(const struct config *cfg)
{
	struct expr_config *ec = expr_config_of(cfg);

	return ec->lent_vars ? ec->lent_vars : &ec->vars;
}

void vars_store_lend(struct config *scratch, const struct config *cfg)
{
	expr_config_of(scratch)->lent_vars = vars_store_of(cfg);
}

static bool own(struct expr_owned **list, void *ptr, void (*release)(void *ptr))
{
	struct expr_owned *o = malloc(sizeof(*o));

	if (!o)
		return false;
	*o = (struct expr_owned){ .next = *list, .ptr = ptr, .release = release };
	*list = o;
	return true;
}

bool expr_config_own(struct config *cfg, void *ptr, void (*release)(void *ptr))
{
	return own(&expr_config_of(cfg)->owned, ptr, release);
}

bool expr_own(struct config *cfg, void *ptr, void (*release)(void *ptr))
{
	struct expr_config *ec = expr_config_of(cfg);

	return own(cfg->is_lent ? &ec->lent.owned : &ec->owned, ptr, release);
}

static struct config *(*config_in_force)(void);

void pattern_ctl_set_config(struct config *(*current)(void))
{
	config_in_force = current;
}

struct config *expr_config_in_force(void)
{
	return config_in_force ? config_in_force() : NULL;
}

struct expr_pending *expr_pending_first(struct config *cfg)
{
	return expr_config_of(cfg)->pending;
}

static expr_resolve_fn *resolver;

void expr_set_resolver(expr_resolve_fn *resolve)
{
	resolver = resolve;
}

bool expr_resolve(struct config *scratch, struct config *live, struct diag_list *diags)
{
	const struct expr_pending *p;

	if (resolver)
		resolver(scratch, live, diags);
	expr_resolve_sinks(scratch, live, diags);
	for (p = expr_pending_first(scratch); p; p = p->next)
		if (!p->arg->object)
			return false;
	return true;
}

struct expr_owned *expr_unlend(struct config *cfg, struct diag_list *diags)
{
	struct expr_config *ec = expr_config_of(cfg);
	struct expr_pending *before = ec->pending;
	struct expr_owned *list = ec->lent.owned;

	ec->pending = ec->lent.pending;
	if (!expr_resolve(cfg, cfg, diags) && !diags->alerts)
		diag_add(diags, DIAG_ALERT, NULL, NULL, "'%s' : '%s' cannot be looked up at run "
			 "time.", ec->pending->keyword, ec->pending->arg->name.ptr);
	ec->pending = before;
	ec->lent.pending = NULL;
	ec->lent.owned = NULL;
	return list;
}
