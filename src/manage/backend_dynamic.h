/* SPDX-License-Identifier: GPL-2.0-or-later */
/* backend_dynamic.h - backends that are added and removed at run time
 *
 * Threads: any, between config_edit_begin() and _end(), so that the generation stays the live one.
 *          A new backend is not published. No look-up and no list leads to what is removed;
 *          its memory is given back when its last user has gone.
 * Manual : management 9.3, add backend, del backend, wait be-removable.
 */
#ifndef MANAGE_BACKEND_DYNAMIC_H
#define MANAGE_BACKEND_DYNAMIC_H

#include <stdbool.h>
#include "base/strbuf.h"
#include "proxy/proxy.h"

/* What `add backend` asks for; all texts borrowed. */
struct backend_want {
	const char *name;
	struct proxy *defaults; /* of the live generation */
	enum proxy_mode mode;
	const char *guid;       /* or NULL */
};

enum backend_removal {
	BACKEND_REMOVAL_NOW,
	BACKEND_REMOVAL_LATER, /* when its streams have ended */
	BACKEND_REMOVAL_NEVER, /* something else must change first */
};

/* Makes it; what the check phase warns of is added to <said>, a line each. NULL: <said> tells why
 * not, without a line feed behind it.
 */
struct proxy *backend_add(const struct backend_want *want, struct strbuf *said);
/* May it be removed, and if not, *why not (static). Without the edit lock too: then for now. */
enum backend_removal backend_removal_state(const struct proxy *be, const char **why);
/* Removes it; false: *why (static). */
bool backend_remove(struct proxy *be, const char **why);

#endif
