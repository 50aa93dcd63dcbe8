/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_dynamic_priv.h - adding and removing servers at run time
 *
 * Threads: any. A new server is in maintenance. A removed server is no longer found by look-ups.
 * Manual : management 9.3, add server, del server, wait srv-removable.
 */
#ifndef PROXY_SERVER_DYNAMIC_PRIV_H
#define PROXY_SERVER_DYNAMIC_PRIV_H

#include <stdbool.h>
#include <stddef.h>

struct proxy;
struct server;

enum server_removal {
	SERVER_REMOVAL_NOW,
	SERVER_REMOVAL_LATER, /* when its connections are gone */
	SERVER_REMOVAL_NEVER, /* something else must change first */
};

/* Adds a server to <be> from the words of a `server` line ("server", name, address, options), which
 * are copied; words[count] is NULL. Must be called between config_edit_begin() and _end(), so that
 * <be> stays in the live generation. Returns false with the reason in <error>.
 */
bool server_add(struct proxy *be, char **words, int count, char *error, size_t size);
/* Returns if it may be removed, otherwise with *why set (static). */
enum server_removal server_removal_state(const struct server *srv, const char **why);
/* Closes its idle connections on all threads, then calls <done> on this one. Returns false: there
 * are none, or no memory, and <done> will not be called.
 */
bool server_flush(struct server *srv, void (*done)(void *ctx), void *ctx);
/* Removes it. Returns false with *error set (static). */
bool server_remove(struct server *srv, const char **error);
/* Parses such words and checks them; the server is not linked and has no state. Same conditions as
 * server_add(). Returns NULL with the reason in <error>.
 */
struct server *server_dynamic_parse(struct proxy *be, char **words, int count, char *error,
				    size_t size);
/* Returns the options that server_add() accepts, one per call, incrementing *i from 0; NULL at the
 * end.
 */
const char *server_dynamic_option(unsigned *i);

#endif
