/* SPDX-License-Identifier: GPL-2.0-or-later */
/* backend_dynamic.c - backends that are added and removed at run time
 *
 * A backend is made from a named defaults section like a section of the file without lines of its
 * own, and goes through the check_backend hooks of the modules. It belongs to the live generation:
 * a reload reads the file, which does not have it.
 */
#include "backend_dynamic.h"
#include <string.h>
#include "base/diag.h"
#include "conf/conf.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "proxy/walk.h"
#include "table/table.h"

/* Warnings, a line each. */
static void say_warnings(const struct diag_list *diags, struct strbuf *out)
{
	const struct diag *d;

	list_for_each(d, &diags->diags, link)
		if (d->level == DIAG_WARNING)
			strbuf_printf(out, "%s\n", d->message);
}

/* The first alert, without a full stop. */
static void say_alert(const struct diag_list *diags, struct strbuf *out)
{
	const struct diag *d;

	list_for_each(d, &diags->diags, link)
		if (d->level == DIAG_ALERT) {
			size_t len = strlen(d->message);

			strbuf_add(out, slice_make(d->message,
						   len - (len && d->message[len - 1] == '.')));
			return;
		}
}

static const struct proxy *same_name(const struct config *cfg, const char *name)
{
	const struct proxy *px = proxy_find(cfg, name, 0);

	return px ? px : proxy_find_kept_defaults(cfg, name);
}

/* Is there nothing against the name and the guid? */
static bool is_free(struct config *cfg, const struct backend_want *want, struct strbuf *said)
{
	const struct proxy *other = same_name(cfg, want->name);
	char why[512];

	if (other) {
		strbuf_printf(said, "name is already used by other proxy '%s %s'",
			      proxy_kind_name(other), other->name);
		return false;
	}
	if (!want->guid || proxy_guid_is_free(cfg, want->guid, why, sizeof(why)))
		return true;
	strbuf_printf(said, "GUID insertion : %s", why);
	return false;
}

static void take_away(struct proxy *be)
{
	proxy_withdraw(be);
	proxy_leaves(be);
}

static struct proxy *make(struct config *cfg, const struct backend_want *want)
{
	struct proxy *be = proxy_new_added(cfg, want->name, want->defaults);

	if (!be)
		return NULL;
	be->guid = want->guid ? arena_copy(proxy_arena(be), slice_of(want->guid)).ptr : NULL;
	be->mode = want->mode;
	be->file = want->defaults->file;
	be->line = want->defaults->line;
	be->balancing.unpublished = true;
	if (!want->guid || be->guid)
		return be;
	take_away(be);
	return NULL;
}

struct proxy *backend_add(const struct backend_want *want, struct strbuf *said)
{
	struct config *cfg = want->defaults->config;
	struct diag_list diags;
	struct proxy *be;

	if (!is_free(cfg, want, said))
		return NULL;
	be = make(cfg, want);
	if (!be) {
		strbuf_add_str(said, "out of memory");
		return NULL;
	}
	diag_list_init(&diags);
	if (conf_check_backend(be, &diags)) {
		say_warnings(&diags, said);
		proxy_publish_added(be);
	} else {
		say_alert(&diags, said);
		take_away(be);
		be = NULL;
	}
	diag_list_fini(&diags);
	return be;
}

static bool has_direct(const struct proxy *be)
{
	return be->direct || be->dispatch || be->options & PROXY_OPT_TRANSPARENT;
}

/* What the file says that speaks against it; NULL: nothing. */
static const char *obstacle(const struct proxy *be)
{
	if (be->mode != PROXY_MODE_TCP && be->mode != PROXY_MODE_HTTP)
		return "Only TCP or HTTP proxies can be removed at runtime.";
	if (be->caps & PROXY_FE)
		return "Cannot delete a listen section.";
	if (be->run.is_referenced)
		return "This proxy cannot be removed at runtime due to other configuration "
			"elements pointing to it.";
	if (has_direct(be))
		return "Deletion of backend with deprecated dispatch/transparent options is not "
			"supported.";
	if (table_lookup(be->config, be->name))
		return "Cannot remove a backend with stick-table.";
	return NULL;
}

enum backend_removal backend_removal_state(const struct proxy *be, const char **why)
{
	*why = obstacle(be);
	if (*why)
		return BACKEND_REMOVAL_NEVER;
	*why = "Backend must be unpublished prior to its deletion.";
	if (be->disabled || !__atomic_load_n(&be->state->unpublished, __ATOMIC_RELAXED))
		return BACKEND_REMOVAL_NEVER;
	*why = "Only a backend without server can be deleted.";
	if (server_first(be))
		return BACKEND_REMOVAL_NEVER;
	*why = "Backend still has attached streams on it.";
	if (proxy_be_sessions(be) || queue_length_backend(be))
		return BACKEND_REMOVAL_LATER;
	return BACKEND_REMOVAL_NOW;
}

bool backend_remove(struct proxy *be, const char **why)
{
	if (backend_removal_state(be, why) != BACKEND_REMOVAL_NOW)
		return false;
	take_away(be);
	return true;
}
