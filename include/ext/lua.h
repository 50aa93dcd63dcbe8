/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lua.h - scripts of the configuration in Lua 5.4
 *
 *     lua-load FILE             -> one state that all threads share, under a lock
 *     lua-load-per-thread FILE  -> a state for each thread
 *     core.register_action("a", {"http-req"}, fn) -> http-request lua.a
 *
 * Purpose: scripts register functions while the configuration is read; rules, expressions, tasks
 *          and commands call them. An action, a service, a task or a command is a coroutine: where
 *          it sleeps, and after tune.lua.forced-yield instructions, it gives its thread back and
 *          is resumed by a timer. Fetches, converters and init functions cannot wait.
 * Owns   : the states belong to the configuration (a slot) and end with it. A coroutine belongs to
 *          the stream, command or task that began it, and is closed when that ends, wherever the
 *          script was. Objects of scripts point to a handle, never to the stream: kept for longer
 *          they say that they have expired.
 * Threads: each state has a lock, which its caller takes to run a piece of script and drops before
 *          it waits. The shared state runs on whatever thread has the stream.
 * Errors : those of loading are diagnostics with file and line. One at run time is logged with a
 *          traceback; the rule goes on with the next one, as HAProxy does.
 * Manual : lua, lua-api; configuration 3.2 tune.lua.
 */
#ifndef EXT_LUA_H
#define EXT_LUA_H

#include <stdio.h>

extern const struct module mod_lua, mod_lua_sockets;

/* The line of -vv about Lua. */
void lua_print_build(FILE *out);

#endif
