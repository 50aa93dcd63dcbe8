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

static void expr_config_fini(void *data)
{
	struct expr_config *ec = data;

	while (ec->owned) {
		struct expr_owned *o = ec->owned;

		ec->owned = o->next;
		o->release(o->ptr);
		free(o);
	}
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

bool expr_config_own(struct config *cfg, void *ptr, void (*release)(void *ptr))
{
	struct expr_config *ec = expr_config_of(cfg);
	struct expr_owned *o = malloc(sizeof(*o));

	if (!o)
		return false;
	*o = (struct expr_owned){ .next = ec->owned, .ptr = ptr, .release = release };
	ec->owned = o;
	return true;
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
