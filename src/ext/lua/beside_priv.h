/* SPDX-License-Identifier: GPL-2.0-or-later */
/* beside_priv.h - script activity outside of streams: events (events.c), tasks (task.c), sockets
 * (socket.c), data shared by threads (shared.c)
 *
 * Threads: each has its own subscriptions, tasks and sockets, which end with the configuration.
 */
#ifndef SCRIPT_BESIDE_PRIV_H
#define SCRIPT_BESIDE_PRIV_H

#include <lua.h>
#include <stdbool.h>

struct config;
struct script_box;
struct script_function;

enum script_events { SCRIPT_EVENTS_SERVER, SCRIPT_EVENTS_PATTERN };

/* Called once, at the start of the program. */
void script_events_init(void);
/* Subscribes the function after the table of names at <index> to events of <target>, a struct
 * server or pattern_ref (NULL: any server). Pushes the subscription and returns 1.
 */
int script_subscribe(lua_State *L, enum script_events family, const void *target, int index);
/* Starts the calling thread's subscriptions made at start-up. Returns false: no memory. */
bool script_events_start(const struct config *cfg);
/* Drops the subscriptions of a configuration that never started. */
void script_events_forget(const struct config *cfg);
/* Ends the subscriptions of a replaced configuration; frees those of the calling thread. */
void script_events_retire(const struct config *cfg);
void script_events_end(void);

/* Starts a task on the calling thread with a function of a box. Returns false: no memory. */
bool script_task_new(const struct script_function *fn, struct script_box *box, int fn_ref,
		     int args_ref);
void script_tasks_retire(const struct config *cfg);
void script_tasks_end(void);

/* Called at the start of the program and at its end. */
void script_shared_init(void);
void script_shared_fini(void);

/* Called when a thread starts and when it ends. */
void script_sockets_begin(void);
void script_sockets_end(void);
/* Closes the calling thread's sockets that no run waits for. */
void script_sockets_retire(const struct config *cfg);

#endif
