/* SPDX-License-Identifier: GPL-2.0-or-later */
/* generation_priv.h - configurations, one after the other: start, reload, stop, stats sockets */
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
/* Reads and checks; what is to be said goes to <diags>. NULL: errors. From any thread. */
struct config *generation_read(const struct main_options *o, struct diag_list *diags);
/* Only keeps the lines of the files as they are now (conf/kept.h) in <cfg>, a new one. False:
 * reported. From any thread.
 */
bool generation_read_files(struct config *cfg, const struct main_options *o,
			   struct diag_list *diags);
/* As generation_read(), and prints what is to be said. *warned: there were warnings. */
struct config *generation_load(const struct main_options *o, bool *warned);
/* Opens sockets and starts the modules; takes over the reference. False: said. */
bool generation_start(const struct module *const *modules, struct config *cfg,
		      const struct main_options *o);
/* Calls the modules' start hooks. False: reported. */
bool generation_start_modules(const struct module *const *modules, struct config *cfg,
			      struct diag_list *diags);
/* Opens the sockets of frontends and of the Runtime API; <prev> (NULL: none) shares those that it
 * has. False: reported; what could be opened stays open for another try.
 */
bool generation_open_sockets(struct config *cfg, const struct config *prev,
			     struct diag_list *diags);
/* Lets go of the live generation, once the loops have ended. */
void generation_end(void);
/* Bind addresses of frontends, without those of stats sockets. */
unsigned generation_count_listeners(const struct config *cfg);
extern const struct module mod_start;

/* --- reload.c : a new generation in the running process */
enum reload_result { RELOAD_DONE, RELOAD_FAILED, RELOAD_BUSY, RELOAD_STOPPING };
/* What a reload ended with; <text>: its diagnostics, as printed, borrowed for the call. */
typedef void reload_done_fn(void *ctx, enum reload_result result, const char *text);
/* How the process was started: what later reloads read again. Borrowed. */
void reload_init(const struct module *const *modules, const struct main_options *o);
/* What a reload would read: the lines of the files go to <cfg>, a new one. False: reported. */
bool generation_read_lines(struct config *cfg, struct diag_list *diags);
/* Begins a reload. <done> is called on the calling thread, never before this function returns;
 * <ctx> may be NULL.
 */
void reload_request(reload_done_fn *done, void *ctx);
/* After the loops: waits for a reload that goes on. */
void reload_fini(void);
/* `reload-mode in-process`: SIGUSR2 reloads. */
void reload_on_signal(int sig, void *ctx);

/* What is known of a generation that still exists. */
struct generation_info {
	unsigned number;
	uint64_t since_us;    /* wall clock: when it became the live one */
	unsigned references;
	bool live;
};
/* Fills <out> with the <n>th, oldest first; false: there are not that many. From any thread. */
bool generation_get_info(unsigned n, struct generation_info *out);
/* The reloads that were done and those that failed, since the start. */
void reload_get_counts(unsigned *done, unsigned *failed);
extern const struct module mod_reload, mod_reload_ctl;

/* --- trim.c */
/* Asks the C library to give back to the system what it can, soon. From any thread. */
void trim_later(void);
extern const struct module mod_trim;

/* --- stop.c */
bool stop_install(struct config *cfg);
bool stop_is_stopping(void);
/* The exit status of the process once the loops have ended. */
int stop_status(void);

/* --- stats_socket.c */
extern const struct module mod_stats_socket;
/* Those that the generation <prev> (NULL: none) has too are shared with it. */
bool stats_sockets_open(struct config *cfg, const struct config *prev, struct diag_list *diags);
void stats_sockets_start_thread(struct config *cfg);
void stats_sockets_pause(struct config *cfg, bool on);
/* Like listen_look_again_all(), for these. */
void stats_sockets_look_again(struct config *cfg);
/* <drain>: clients in the backlogs are served first; from a thread of the loops. */
void stats_sockets_close(struct config *cfg, bool drain);
unsigned stats_sockets_count(const struct config *cfg);
/* Like listen_collect(), for these. */
struct socket_origin;
unsigned stats_sockets_collect(const struct config *cfg, int *sockets,
			       struct socket_origin *origins, unsigned max);
/* Opens the <n>th for another process: its descriptor, and the rights of its clients. -1:
 * <error>.
 */
int stats_socket_listen(const struct config *cfg, unsigned n, enum ctl_level *level, char *error,
			size_t size);

/* Like listen_open_named(). */
struct sockaddr_storage;
int stats_socket_open_named(const struct config *cfg, const struct sockaddr_storage *addr,
			    unsigned len, char *error, size_t size);

/* The path of the <n>th; "": it has none. NULL: there are not that many. */
const char *stats_socket_path(const struct config *cfg, unsigned n);

#endif
