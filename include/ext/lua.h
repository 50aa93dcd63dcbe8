/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lua.h - Lua 5.4 scripts of the configuration
 *
 *     lua-load FILE             -> one state that all threads share, under a lock
 *     lua-load-per-thread FILE  -> a state for each thread
 *     core.register_action("a", {"http-req"}, fn) -> http-request lua.a
 *
 * Purpose: scripts register functions while the configuration is read; rules, expressions, tasks
 *          and commands call them. An action, a service, a task or a command is a coroutine: when
 *          it sleeps, and after tune.lua.forced-yield instructions, it yields its thread and is
 *          resumed by a timer. Fetches, converters and init functions cannot wait.
 * Owns   : the states belong to the configuration (a slot) and end with it. A coroutine belongs to
 *          the stream, command or task that began it, and is closed when that ends, wherever the
 *          script is. Objects in scripts refer to a handle, never to the stream: after the stream
 *          has ended, they report that they have expired.
 * Threads: each state has a lock, which its caller takes to run a piece of script and releases
 *          before it waits. The shared state runs on whatever thread has the stream.
 * Errors : loading errors are diagnostics with file and line. A run-time error is logged with a
 *          traceback; evaluation continues with the next rule, as in HAProxy.
 * Manual : lua, lua-api; configuration 3.2 tune.lua.
 */
#ifndef EXT_LUA_H
#define EXT_LUA_H

#include <stdio.h>

extern const struct module mod_lua, mod_lua_sockets;

/* The line of -vv about Lua. */
void lua_print_build(FILE *out);

#endif
