/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_dynamic_priv.h - servers that are added and removed at run time
 *
 * Threads: any. A new server is in maintenance. What was removed is not found any more by look-ups.
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
 * are copied; words[count] is NULL. Between config_edit_begin() and _end(), so that
 * <be> is of the live generation until it is done. False: <error> tells why.
 */
bool server_add(struct proxy *be, char **words, int count, char *error, size_t size);
/* May it be removed, and if not, *why not (static). */
enum server_removal server_removal_state(const struct server *srv, const char **why);
/* Has its idle connections closed on all threads, and <done> called then on this one. False: there
 * are none, or no memory: <done> will not be called.
 */
bool server_flush(struct server *srv, void (*done)(void *ctx), void *ctx);
/* Removes it; false: *error tells why (static). */
bool server_remove(struct server *srv, const char **error);
/* Parses such words, and checks what they say; not linked, without a state. Under the same
 * conditions. NULL: <error> tells why.
 */
struct server *server_dynamic_parse(struct proxy *be, char **words, int count, char *error,
				    size_t size);
/* The options that server_add() takes, one by one, moving *i from 0; NULL behind the last. */
const char *server_dynamic_option(unsigned *i);

#endif
