/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outlet.c - targets given by name: rings and log backends, which may be declared later */
#include <errno.h>
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

/* Files: opened when the generation starts, so that a check makes none. */
struct file_wanted {
	struct file_wanted *next;
	struct log_target *target; /* counted */
	const char *file;
	int line;
};

static void files_forget(void *data)
{
	for (struct file_wanted *w = *(struct file_wanted **)data; w; w = w->next)
		log_target_drop(w->target);
}

struct slot log_files_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct file_wanted *), .fini = files_forget,
};

bool log_outlet_want_file(struct conf_line *l, struct log_target *t, const char *path)
{
	struct file_wanted **list = slot_of(&log_files_slot, config_slots(l->cfg));
	struct file_wanted *w = arena_zalloc(&l->cfg->arena, sizeof(*w));

	if (!*path || path[strlen(path) - 1] == '/')
		return conf_error(l, l->at, "file@/var/log/haproxy.log",
				  "log : 'file@' expects the name of a file");
	t->path = conf_path(l->cfg, path);
	if (!w || !t->path)
		return conf_error(l, l->at, NULL, "log : out of memory");
	*w = (struct file_wanted){ .next = *list, .target = t, .line = l->place.line };
	w->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : "";
	t->refs++;
	*list = w;
	return true;
}

bool log_outlets_start(struct config *cfg, struct diag_list *diags)
{
	struct file_wanted **list = slot_of(&log_files_slot, config_slots(cfg));
	bool good = true;

	for (struct file_wanted *w = *list; w; w = w->next) {
		struct diag_place place = { .file = w->file, .line = w->line, .form = DIAG_BARE };
		struct log_target *t = w->target;

		t->file = log_file_open(t->path, &t->rotation);
		if (!t->file) {
			diag_add(diags, DIAG_ALERT, &place, NULL, "log directive declared in file "
				 "%s at line '%d' cannot open the file '%s': %s.", w->file, w->line,
				 t->path, strerror(errno));
			good = false;
		}
		log_target_drop(t);
	}
	*list = NULL;
	return good;
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
