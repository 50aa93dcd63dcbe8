/* SPDX-License-Identifier: GPL-2.0-or-later */
/* generation_priv.h - generations of the configuration: start, reload, stop, stats sockets */
#ifndef MAIN_GENERATION_PRIV_H
#define MAIN_GENERATION_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/diag.h"
#include "base/module.h"
#include "conf/conf.h"
#include "ctl/ctl.h"

struct main_options;

/* --- start.c */
struct config *generation_current(void);
/* Reads and checks the configuration; messages go to <diags>. Returns NULL on errors. Any thread.
 */
struct config *generation_read(const struct main_options *o, struct diag_list *diags);
/* Only stores the current lines of the files (conf/kept.h) in <cfg>, a new configuration. Returns
 * false: reported. Any thread.
 */
bool generation_read_files(struct config *cfg, const struct main_options *o,
			   struct diag_list *diags);
/* Does the same as generation_read(), and prints the messages. *warned: there were warnings. */
struct config *generation_load(const struct main_options *o, bool *warned);
/* Opens sockets and starts the modules; takes over the reference. Returns false: reported. */
bool generation_start(const struct module *const *modules, struct config *cfg,
		      const struct main_options *o);
/* Calls the modules' start hooks. Returns false: reported. */
bool generation_start_modules(const struct module *const *modules, struct config *cfg,
			      struct diag_list *diags);
/* Opens the sockets of frontends and of the Runtime API, sharing those of <prev> (NULL: none).
 * Returns false: reported; sockets that could be opened stay open for a retry.
 */
bool generation_open_sockets(struct config *cfg, const struct config *prev,
			     struct diag_list *diags);
/* Releases the live generation, after the loops have ended. */
void generation_end(void);
/* Returns the number of bind addresses of frontends, without those of stats sockets. */
unsigned generation_count_listeners(const struct config *cfg);
extern const struct module mod_start;

/* --- reload.c: a new generation in the running process */
enum reload_result { RELOAD_DONE, RELOAD_FAILED, RELOAD_BUSY, RELOAD_STOPPING };
/* Called with the result of a reload; <text>: its diagnostics, as printed, borrowed for the call.
 */
typedef void reload_done_fn(void *ctx, enum reload_result result, const char *text);
/* Stores how the process was started, for later reloads. Borrowed. */
void reload_init(const struct module *const *modules, const struct main_options *o);
/* Reads the lines that a reload would read into <cfg>, a new configuration. Returns false:
 * reported.
 */
bool generation_read_lines(struct config *cfg, struct diag_list *diags);
/* Starts a reload. <done> is called on the calling thread, never before this function returns;
 * <ctx> may be NULL.
 */
void reload_request(reload_done_fn *done, void *ctx);
/* Called after the loops: waits for a reload in progress. */
void reload_fini(void);
/* `reload-mode in-process`: SIGUSR2 reloads. */
void reload_on_signal(int sig, void *ctx);

/* Information about a generation that still exists. */
struct generation_info {
	unsigned number;
	uint64_t since_us;    /* wall clock: when it became the live one */
	unsigned references;
	bool live;
};
/* Fills <out> for the <n>th generation, oldest first. Returns false: there are not that many. Any
 * thread.
 */
bool generation_get_info(unsigned n, struct generation_info *out);
/* Returns the numbers of successful and failed reloads since the start. */
void reload_get_counts(unsigned *done, unsigned *failed);
extern const struct module mod_reload, mod_reload_ctl;

/* --- trim.c */
/* Makes the C library return unused memory to the system, soon. Any thread. */
void trim_later(void);
extern const struct module mod_trim;

/* --- stop.c */
bool stop_install(struct config *cfg);
bool stop_is_stopping(void);
/* Returns the exit status of the process after the loops have ended. */
int stop_status(void);

/* --- stats_socket.c */
extern const struct module mod_stats_socket;
/* Opens the stats sockets, sharing those that the generation <prev> (NULL: none) has, too. Returns
 * false: reported.
 */
bool stats_sockets_open(struct config *cfg, const struct config *prev, struct diag_list *diags);
void stats_sockets_start_thread(struct config *cfg);
void stats_sockets_pause(struct config *cfg, bool on);
/* Does the same as listen_look_again_all() for stats sockets. */
void stats_sockets_look_again(struct config *cfg);
/* <drain>: first serves the clients in the backlogs; from a thread with a loop. */
void stats_sockets_close(struct config *cfg, bool drain);
unsigned stats_sockets_count(const struct config *cfg);
/* Does the same as listen_collect() for stats sockets. */
struct socket_origin;
unsigned stats_sockets_collect(const struct config *cfg, int *sockets,
			       struct socket_origin *origins, unsigned max);
/* Opens the <n>th stats socket for another process: returns its descriptor and the level of its
 * clients. Returns -1 with the reason in <error>.
 */
int stats_socket_listen(const struct config *cfg, unsigned n, enum ctl_level *level, char *error,
			size_t size);

/* Does the same as listen_open_named(). */
struct sockaddr_storage;
int stats_socket_open_named(const struct config *cfg, const struct sockaddr_storage *addr,
			    unsigned len, char *error, size_t size);

/* Returns the path of the <n>th stats socket, "" if it has none; NULL: there are not that many. */
const char *stats_socket_path(const struct config *cfg, unsigned n);

#endif
