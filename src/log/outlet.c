/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outlet.c - targets that are named: rings and log backends, which may be declared further down */
#include <string.h>
#include "base/bug.h"
#include "core/sink.h"
#include "log_priv.h"

/* A target whose ring or backend is still to be found. */
struct outlet_wanted {
	struct outlet_wanted *next;
	struct log_target *target; /* counted */
	bool backend;
	const char *name, *file;
	int line;
};

/* Of a configuration that was not checked. */
static void forget(void *data)
{
	for (struct outlet_wanted *w = *(struct outlet_wanted **)data; w; w = w->next)
		log_target_drop(w->target);
}

struct slot log_outlet_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct outlet_wanted *), .fini = forget,
};

static const struct log_backend_ops *backends;

void log_set_backends(const struct log_backend_ops *ops)
{
	backends = ops;
}

bool log_outlet_want(struct conf_line *l, struct log_target *t, bool backend, const char *name)
{
	struct outlet_wanted **list = slot_of(&log_outlet_slot, config_slots(l->cfg));
	struct outlet_wanted *w = arena_zalloc(&l->cfg->arena, sizeof(*w));

	if (!w)
		return conf_error(l, l->at, NULL, "log : out of memory");
	*w = (struct outlet_wanted){ .next = *list, .target = t, .backend = backend, .name = name,
				     .line = l->place.line };
	w->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : "";
	t->refs++;
	*list = w;
	return true;
}

static void resolve_ring(const struct config *cfg, struct outlet_wanted *w,
			 const char **problem)
{
	struct sink *s = sink_of_config(cfg, w->name);

	if (!s)
		*problem = "unknown ring named";
	else if (s->fd >= 0)
		*problem = "incompatible ring";
	else
		w->target->sink = s;
}

static void resolve_backend(const struct config *cfg, struct outlet_wanted *w,
			    const char **problem)
{
	*problem = "unknown log backend";
	if (backends)
		w->target->backend = backends->find(cfg, w->name, problem);
	if (w->target->backend)
		*problem = NULL;
}

void log_outlets_resolve(struct config *cfg, struct diag_list *diags)
{
	struct outlet_wanted **list = slot_of(&log_outlet_slot, config_slots(cfg));

	for (struct outlet_wanted *w = *list; w; w = w->next) {
		struct diag_place place = { .file = w->file, .line = w->line, .form = DIAG_BARE };
		const char *problem = NULL;

		if (w->backend)
			resolve_backend(cfg, w, &problem);
		else
			resolve_ring(cfg, w, &problem);
		if (problem)
			diag_add(diags, DIAG_ALERT, &place, NULL, "log directive declared in file "
				 "%s at line '%d' uses %s '%s'.", w->file, w->line, problem,
				 w->name);
		log_target_drop(w->target);
	}
	*list = NULL;
}

bool log_outlet_send(const struct log_target *t, const struct syslog_header *h, struct slice text)
{
	if (t->sink)
		return sink_write(t->sink, h, text, t->len - 1);
	return backends->send(t->backend, h, text, t->len);
}
