/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile.c - log profiles: the lines that targets get, step by step */
#include <string.h>
#include "base/bug.h"
#include "log_priv.h"

/* Of a configuration that was not checked. */
static void forget(void *data)
{
	for (struct log_profile_wanted *w = ((struct log_profiles *)data)->wanted; w; w = w->next)
		log_target_drop(w->target);
}

struct slot log_profile_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct log_profiles), .fini = forget,
};

static const struct { const char *word, *origin; } steps[LOG_STEPS] = {
#define X(name, word, origin) [LOG_STEP_##name] = { word, origin },
	LOG_STEP_LIST(X)
#undef X
};

const char *log_step_word(enum log_step step)
{
	return steps[step].word;
}

const char *log_step_origin(enum log_step step)
{
	return steps[step].origin;
}

enum log_step log_step_find(struct slice word)
{
	for (unsigned i = LOG_STEP_ACCEPT; i < LOG_STEPS; i++)
		if (i != LOG_STEP_KILLED && slice_eq(slice_of(steps[i].word), word))
			return i;
	return LOG_STEPS;
}

struct log_profile *log_profile_find(const struct config *cfg, const char *name)
{
	struct log_profile *p = log_profiles_of(cfg)->first;

	while (p && strcmp(p->name, name) != 0)
		p = p->next;
	return p;
}

bool log_profile_want(struct conf_line *l, struct log_target *t, const char *name)
{
	struct log_profiles *all = log_profiles_of(l->cfg);
	struct log_profile_wanted *w = arena_zalloc(&l->cfg->arena, sizeof(*w));

	if (!w)
		return conf_error(l, l->at, NULL, "log : out of memory");
	*w = (struct log_profile_wanted){ .next = all->wanted, .target = t, .name = name,
					  .line = l->place.line };
	w->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : NULL;
	t->refs++;
	all->wanted = w;
	return true;
}

void log_profiles_resolve(struct config *cfg, struct diag_list *diags)
{
	struct log_profiles *all = log_profiles_of(cfg);

	for (struct log_profile_wanted *w = all->wanted; w; w = w->next) {
		struct diag_place place = { .file = w->file, .line = w->line };

		w->target->profile = log_profile_find(cfg, w->name);
		if (!w->target->profile)
			diag_add(diags, DIAG_ALERT, &place, NULL,
				 "log : unable to find the log-profile '%s'.", w->name);
		log_target_drop(w->target);
	}
	all->wanted = NULL;
}

const struct log_profile_step *log_profile_step(const struct log_profile *p, enum log_step step)
{
	if (step == LOG_STEP_KILLED)
		step = LOG_STEP_ERROR;
	return p->steps[step].is_set ? &p->steps[step]
	       : p->steps[LOG_STEP_ANY].is_set ? &p->steps[LOG_STEP_ANY] : NULL;
}
