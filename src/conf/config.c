/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config.c - generations: made, referenced, finished */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "conf_priv.h"
#include "base/bug.h"

#define SLOTS_OFFSET ((sizeof(struct config) + 15) & ~(size_t)15)

static unsigned last_generation; /* atomic */

struct slot_area *config_slots(const struct config *cfg)
{
	return (struct slot_area *)((char *)(uintptr_t)cfg + SLOTS_OFFSET);
}

static struct conf_state *config_state_new(void)
{
	struct conf_state *s = calloc(1, sizeof(*s));

	if (s && !conf_env_init(s)) {
		free(s);
		return NULL;
	}
	return s;
}

static void state_free(struct conf_state *s)
{
	conf_env_fini(s);
	free(s->origin);
	free(s->base);
	free(s);
}

struct config *config_new(void)
{
	struct config *cfg;

	cfg = aligned_alloc(16, SLOTS_OFFSET + ((slot_class_size(SLOT_CONFIG) + 15) & ~(size_t)15));
	if (!cfg)
		return NULL;
	memset(cfg, 0, sizeof(*cfg));
	cfg->refs = 1;
	cfg->generation = __atomic_add_fetch(&last_generation, 1, __ATOMIC_RELAXED);
	arena_init(&cfg->arena, 65536);
	cfg->state = config_state_new();
	if (!cfg->state) {
		free(cfg);
		return NULL;
	}
	if (!slot_area_init(SLOT_CONFIG, config_slots(cfg))) {
		state_free(cfg->state);
		arena_fini(&cfg->arena);
		free(cfg);
		return NULL;
	}
	return cfg;
}

struct config *config_take(struct config *cfg)
{
	__atomic_add_fetch(&cfg->refs, 1, __ATOMIC_RELAXED);
	return cfg;
}

void config_drop(struct config **pcfg)
{
	struct config *cfg = *pcfg;

	*pcfg = NULL;
	if (!cfg || __atomic_sub_fetch(&cfg->refs, 1, __ATOMIC_ACQ_REL))
		return;
	slot_area_fini(SLOT_CONFIG, config_slots(cfg));
	state_free(cfg->state);
	arena_fini(&cfg->arena);
	free(cfg);
}

static pthread_mutex_t editing = PTHREAD_MUTEX_INITIALIZER;

void config_edit_begin(void)
{
	pthread_mutex_lock(&editing);
}

void config_edit_end(void)
{
	pthread_mutex_unlock(&editing);
}

void config_lend(struct config *cfg, const struct arena *arena)
{
	BUG_ON(cfg->is_lent);
	cfg->own = cfg->arena;
	cfg->arena = *arena;
	cfg->is_lent = true;
}

void config_unlend(struct config *cfg, struct arena *arena)
{
	BUG_ON(!cfg->is_lent);
	*arena = cfg->arena;
	cfg->arena = cfg->own;
	cfg->is_lent = false;
}

struct arena *config_lasting(struct config *cfg)
{
	return cfg->is_lent ? &cfg->own : &cfg->arena;
}

char *conf_strdup(struct config *cfg, const char *str)
{
	struct slice copy = arena_copy(&cfg->arena, slice_of(str));

	return (char *)(uintptr_t)copy.ptr;
}

bool conf_experimental(const struct config *cfg)
{
	cfg->state->needs_experimental = true;
	return cfg->state->experimental;
}

bool conf_deprecated(const struct config *cfg)
{
	return cfg->state->deprecated;
}

bool conf_check(struct config *cfg, struct diag_list *diags)
{
	int alerts = diags->alerts;

	for (const struct module *const *m = conf_modules; m && *m; m++)
		if ((*m)->check)
			(*m)->check(cfg, diags);
	cfg->is_checked = true;
	return diags->alerts == alerts;
}

bool conf_check_backend(struct proxy *be, struct diag_list *diags)
{
	int alerts = diags->alerts;

	for (const struct module *const *m = conf_modules; m && *m; m++)
		if ((*m)->check_backend && diags->alerts == alerts)
			(*m)->check_backend(be, diags);
	return diags->alerts == alerts;
}
