/* SPDX-License-Identifier: GPL-2.0-or-later */
/* backend_dynamic.h - adding and removing backends at run time
 *
 * Threads: any, between config_edit_begin() and _end(), so that the generation stays live. A new
 *          backend is not published. A removed backend is in no look-up and no list; its memory is
 *          freed after its last user has left.
 * Manual : management 9.3, add backend, del backend, wait be-removable.
 */
#ifndef MANAGE_BACKEND_DYNAMIC_H
#define MANAGE_BACKEND_DYNAMIC_H

#include <stdbool.h>
#include "base/strbuf.h"
#include "proxy/proxy.h"

/* The parameters of `add backend`; all texts are borrowed. */
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

/* Creates a backend; warnings of the check phase are appended to <said>, one per line. Returns NULL
 * with the reason in <said>, without a line feed at its end.
 */
struct proxy *backend_add(const struct backend_want *want, struct strbuf *said);
/* Returns if it may be removed, otherwise with *why set (static). Also without the edit lock: then
 * only valid for now.
 */
enum backend_removal backend_removal_state(const struct proxy *be, const char **why);
/* Removes it. Returns false with *why set (static). */
bool backend_remove(struct proxy *be, const char **why);

#endif
