/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main_priv.h - what the files of the top floor share
 *
 * modules.c   the list of modules            options.c  the command line
 * version.c   -v, -vv                        dump.c     -dK
 * settings.c, settings_conf.c  global keywords
 * env.c       variables for the configuration
 * limits.c    connections, descriptors, pipes
 * start.c     from files to a generation     process.c  pid file, daemon, chroot, ids
 * stop.c      signals, soft and hard stop    info.c     show info, show env
 * stats_socket.c  stats socket lines
 */
#ifndef MAIN_MAIN_PRIV_H
#define MAIN_MAIN_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "base/diag.h"
#include "base/list.h"
#include "base/module.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "front/listen.h"
#include "stream/process.h"

/* --- modules.c */
/* Every module, in start-up order; ends with NULL. */
extern const struct module *const main_modules[];

/* --- options.c : what the command line says. All texts are borrowed from argv. */

/* --explain: which rules a request would meet. */
struct explain_options {
	const char *request;         /* a request line; NULL: not asked for */
	const char *src, *frontend;  /* --src, --frontend */
	const char **headers;        /* owned: --header */
	int header_count;
};

/* -dC: the lines of the configuration. */
struct show_options {
	bool lines, numbers;         /* -dC; -dC,line */
	uint32_t key;                /* -dC<key>: hide names and addresses; 0: do not */
};

/* The processes that this one takes over from. */
struct takeover_options {
	pid_t *pids;                 /* owned: -sf, -st */
	int pid_count;
	int signal;                  /* SIGUSR1 or SIGTERM, 0 none */
	const char *donor;           /* -x: path of the old process's Runtime API */
};

/* -W and -S. */
struct master_options {
	bool wanted;                 /* -W, -Ws */
	bool notifies;               /* -Ws */
	const char **sockets;        /* -S; owned array, ends with NULL */
	int socket_count;
};

struct main_options {
	const char *program;         /* argv[0] */
	struct conf_source *sources; /* owned */
	int source_count;
	const char *chdir;           /* -C */
	const char *pidfile;         /* -p */
	const char *localpeer;       /* -L */
	const char *condition;       /* -cc */
	const char *dump_classes;    /* -dK */
	const char *traces;          /* -dt */
	const char *help_keyword;    /* --help-keyword */
	struct explain_options explain;
	struct show_options show;
	struct takeover_options old;
	struct master_options master;
	int compat_version;          /* --compat: 206 for 2.6; 0: not asked for */
	bool json_diagnostics;       /* --diagnostics=json */
	bool check_only;             /* -c */
	bool version, version_long;  /* -v, -vv */
	bool usage;                  /* -h */
	bool daemon;                 /* -D */
	bool foreground;             /* -db, -d */
	bool debug;                  /* -d */
	bool verbose, quiet;         /* -V, -q */
	bool zero_warning;           /* -dW */
	bool diagnostics;            /* -dD */
	bool no_epoll, no_poll;      /* -de, -dp */
	bool no_splice;              /* -dS */
	bool show_cpus;              /* -dc */
	bool version_word, version_short, version_branch; /* -vq, -vqs, -vqb */
	const char *archive;         /* -dA: a file to write; or NULL */
	bool no_verify;              /* -dV */
	bool no_reuseport;           /* -dR */
	bool list_libraries;         /* -dL */
	bool may_lack_addresses;     /* -dr */
	bool only_ipv4;              /* -4: of names that are resolved at run time */
	bool may_fork;               /* -dI */
	int64_t maxconn;             /* -n; 0 unset */
	int64_t proxy_maxconn;       /* -N; 0 unset */
	int64_t memory_mb;           /* -m; 0 none */
	const char *ask_path, *ask_command; /* --ask */
	const char *misunderstood;   /* the word that the usage is shown for */
};

enum options_result { OPTIONS_OK, OPTIONS_USAGE, OPTIONS_ERROR };
/* Reads the command line; what is wrong was said. options_fini() in any case. */
enum options_result options_parse(struct main_options *o, int argc, char **argv);
void options_fini(struct main_options *o);
void options_print_usage(FILE *out, const char *program);

/* --- version.c */
const char *version_text(void);
const char *version_date(void);
void version_print(FILE *out);
/* -vq; <parts> of the numbers only: 3 for -vqs, 2 for -vqb. */
void version_print_word(FILE *out, int parts);
/* -vv. */
void version_print_build(FILE *out);
/* The last part of it, which -V shows too. */
void version_print_filters(FILE *out);
/* Tells the configuration engine about version and features. */
void version_publish_facts(void);

/* --- env.c : HAPROXY_* for the configuration, from the command line. False: no memory. */
bool environment_publish(const struct main_options *o);
/* Did -L say who this process is among peers? */
bool environment_names_peer(void);
/* Once all is read: those that are of use in the configuration only. */
void environment_forget(struct config *cfg);

/* --- dump.c */
/* -dL: the program's file, then those of its libraries. */
void libraries_dump(const char *program, FILE *out);
/* The same files, each behind the addresses where it is mapped. */
void libraries_dump_places(FILE *out);
/* -dA: writes the same files, with all their bytes, to <path>, in the format of tar. False: why was said. */
bool libraries_archive(const char *program, const char *path);
/* -dK. False: unknown class, or help was asked for. */
bool keyword_dump(const char *classes, const struct module *const *modules, FILE *out);

/* --- help.c */
/* --help-keyword: all that the tables tell of a word. False: nothing. */
bool keyword_help(const struct module *const *modules, const char *name, FILE *out);
/* --explain: what the rules would do with a request, on stdout. False: said why not. */
bool request_explain(struct config *cfg, const struct main_options *o);

/* --- compat.c : what lines meant in older versions */
/* The number of a version ("2.6": 206), as of struct main_options; 0: it is none that is known. */
int compat_version(const char *text);
/* Collects the lines while a configuration is read, where --compat or -dD asks for them; else
 * NULL.
 */
struct compat *compat_begin(struct config *cfg, const struct main_options *o);
/* Tells what was found, to stdout (--compat) and <diags> (-dD), frees <c>, which may be NULL. */
void compat_end(struct compat *c, struct config *cfg, const struct main_options *o,
		struct diag_list *diags);

/* --- vocabulary.c : -dKdoc, everything that the tables tell, for the manual's tables */
void vocabulary_dump(const struct module *const *modules, FILE *out);

/* --- settings.c : global keywords of this floor */

/* What the process may do once it is set up. */
struct rights_settings {
	const char *chroot_dir;
	int uid, gid;                 /* 0 unset */
	uint64_t caps;                /* setcap: bits by numbers */
	bool set_dumpable, insecure_setuid;
};

/* Idle connections to servers among the descriptors. */
struct idle_settings {
	int low_percent;              /* tune.pool-low-fd-ratio */
	int high_percent;             /* tune.pool-high-fd-ratio */
	bool apart;                   /* tune.idle-pool.shared off */
};

struct main_settings {
	struct rights_settings rights;
	struct idle_settings idle;
	bool daemon, quiet, zero_warning;
	bool strict_limits, no_splice, no_reuseport;
	bool sandbox;                 /* sandbox on */
	bool reject_privileged;       /* harden.reject-privileged-ports.tcp */
	int64_t close_spread_ms;      /* 0 at once, -1 never */
	const char *pidfile, *node, *description, *localpeer;
	int maxconn;                  /* 0 unset: computed */
	int maxconnrate, maxsessrate; /* 0 none */
	int maxpipes;                 /* -1 unset */
	int descriptors;              /* ulimit-n; 0 unset */
	int descriptors_max;          /* fd-hard-limit; 0 unset */
	int64_t hard_stop_ms;         /* 0 none */
	int64_t grace_ms;
	int64_t stats_timeout_ms;
	int stats_maxconn, payload_max; /* of the Runtime API */
	bool master_worker;
	bool no_exit_on_failure;      /* old workers outlive one that died */
	bool reload_in_process;       /* reload-mode in-process */
	int max_reloads;              /* of workers; 0 no limit */
	struct listen_tunes listen;   /* pushed down to the front floor */
	struct stream_tunes stream;   /* pushed down to the stream floor */
	int log_uri_max, pipe_size;   /* 0 unset */
	uint64_t anon_key;            /* of anonymised sessions of the Runtime API; 0 none */
	int renice_runtime;           /* -20..19, or RENICE_UNSET */
	int bufsize, maxrewrite, fields_max, maxaccept;
};

extern struct slot settings_slot;
extern const struct module mod_settings; /* settings_conf.c */
struct main_settings *settings_of(const struct config *cfg);
/* tune.renice.startup: until settings_apply(), and never again after it. */
void settings_change_priority(int value);
#define RENICE_UNSET INT32_MIN
/* Pushes what lower floors need down to them, before memory blocks and sockets are made. */
void settings_apply(const struct config *cfg, const struct main_options *o);

/* A reload: what of <next> is applied in the running process, and a warning for what is not. */
void settings_compare(const struct config *next, const struct config *prev,
		      struct diag_list *diags);
void settings_apply_again(const struct config *next, const struct config *prev);

/* --- limits.c */
struct main_limits {
	int64_t maxconn;      /* effective */
	int64_t hard_maxconn; /* the same before `set maxconn global` */
	int64_t proxy_maxconn; /* of frontends that have none */
	int64_t maxsock;      /* descriptors needed */
	int64_t descriptors;  /* RLIMIT_NOFILE in effect */
	int64_t maxpipes;
	int64_t memory_mb;    /* -m; 0 none */
};
extern struct main_limits main_limits;
/* A reload: frontends of <next> get their limits. From any thread. */
void limits_prepare_again(struct config *next);
/* A reload: a maxconn that the file has changed is applied, as far as descriptors go. */
void limits_apply_again(const struct config *next, const struct config *prev,
			struct diag_list *diags);
/* Computes and sets the limits, sizes the descriptor table. False: said. */
bool limits_apply(struct config *cfg, const struct main_options *o);

/* --- start.c */
struct config *generation_current(void);
/* Reads and checks; what is to be said goes to <diags>. NULL: errors. From any thread. */
struct config *generation_read(const struct main_options *o, struct diag_list *diags);
/* The same, and prints what is to be said. *warned: there were warnings. */
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
/* Begins a reload. <done> is called on the calling thread, never at once; <ctx> may be NULL. */
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

/* --- reexec.c : a master that executes its program file again (master_priv.h) */
/* Before anything else looks at the environment: takes what the master of before has left there. */
void master_recall(void);
/* Is this the master of before? Its workers end with it: what is wrong fails the reload only. */
bool master_is_back(void);

/* --- master.c : the master process (master_priv.h) */
/* Notes the folder of the start, before another one is entered: a reload begins there. */
void master_note_folder(void);
/* This process is no master. */
void master_forget_folder(void);
/* Becomes the master: forks a worker. True in the worker, which goes on; false in the master, at
 * its end, with the status to exit with. <set>: of the early pass.
 */
bool master_run(const struct main_options *o, char **argv, const struct main_settings *set,
		int *status);

/* --- master_socket.c */
/* Listens where -S says ("path,mode,600"). False: said. */
bool master_open_socket(const char *text);

/* --- mode.c */
/* Becomes a master where that is asked for. True: go on, alone or as a worker; false: exit with
 * *status.
 */
bool mode_enter(const struct main_options *o, char **argv, int *status);
/* Is this a master at its end? Its exit status tells of its worker's death: it does not die so. */
bool mode_is_master(void);
/* Gets the listening sockets of an old process (-x), of the worker of before, of the service
 * manager, for socket_listen(). False: said.
 */
bool mode_take_sockets(const struct main_options *o);

/* --- worker.c : a process that a master has started */
/* Takes over the descriptors: the channel to the master, and a connection to the worker of before
 * (-1: none). <first>: it is the first one of this master.
 */
void worker_begin(int channel, int donor, bool first);
bool worker_has_master(void);
bool worker_is_first(void);
/* Gets the listening sockets of the worker of before, for socket_listen(). */
void worker_take_sockets(void);
extern const struct module mod_worker, mod_handoff_ctl, mod_master_ctl;

/* Asks the master for a reader, which gets descriptor <fd> (taken over). From any thread. */
bool worker_ask_reader(int fd);

/* --- door.c, reader.c : files and ports for a reload in a process without rights (door_priv.h) */
/* The process has given up rights that a new configuration may need. */
void door_need(void);
bool door_is_needed(void);
/* From here to door_end(), what is asked of the system by a name is asked of the master, if that is
 * needed and there is one. False: errno. From any thread, for one reload at a time.
 */
bool door_begin(void);
void door_end(void);
/* In a process that the master has forked: reads the configuration, answers on <fd>, ends. <user>:
 * of the worker that asks, -1 unknown.
 */
void reader_run(int fd, uid_t user, const struct main_options *o) __attribute__((noreturn));

/* --- notify.c : the service manager (sd_notify); without $NOTIFY_SOCKET nothing is said */
/* -Ws: it is wanted. */
void notify_enable(void);
/* <main_pid> 0: is not said. */
void notify_ready(const char *status, pid_t main_pid);
void notify_reloading(void);
void notify_stopping(void);
/* The loop turns: says so when the watchdog wants to hear it. */
void notify_alive(void);
/* How long the loop may wait, ms; -1: for ever. */
int notify_wait_ms(void);
/* This process says nothing: it is a worker. */
void notify_forget(void);

/* --- other_name.c : the program called by another name is another tool */
/* Its command line becomes one of this program. False: exit with *status, said why. */
bool other_name_enter(int *argc, char ***argv, int *status);
/* A file without a name that holds <text>: the path by which to open it. False: said why not. */
bool memory_file(struct slice text, const char *name, char *path, size_t size);
/* haterm.c, haload.c */
bool haterm_enter(int *argc, char ***argv, int *status);
bool haload_enter(int *argc, char ***argv, int *status);

/* --- ask.c */
/* Sends <command> to the Runtime API at UNIX socket <path>, its answer to <out>; the exit status:
 * 0 when there was one.
 */
int ask_run(const char *path, const char *command, FILE *out);

/* --- rights.c */
/* Reads "cap_net_raw,cap_sys_admin" into <caps>, bits by their numbers. False: *bad is none. */
bool rights_parse(const char *text, uint64_t *caps, const char **bad, size_t *bad_len);
/* Before the change of user: they shall survive it. False: errno. */
bool rights_keep(uint64_t caps);
/* After it: these and no others. False: errno; EPERM: the process does not have them. */
bool rights_restrict(uint64_t caps);
/* No program is run from here on by this thread and those it starts, and no process started,
 * unless as root. As far as the kernel can: there is no error.
 */
void rights_forbid_programs(void);

/* --- sandbox_conf.c, sandbox_apply.c : `sandbox on` (sandbox.h) */
extern const struct module mod_sandbox;
/* A process without a master will be in one: what its configuration reads is noted from here on,
 * until sandbox_apply().
 */
void sandbox_prepare(void);
/* Enters it, if that is asked for; the last of all rights to go. False: said. */
bool sandbox_apply(const struct config *cfg, const struct main_options *o);

/* --- process.c */
/* Opens the pid file, before rights are dropped and the folder changes. -1: none, or *failed. */
int process_open_pid_file(const struct main_settings *set, const struct main_options *o,
			  bool *failed);
/* Writes and closes it; -1: none. */
void process_write_pid(int fd);
/* The child goes on; the parent leaves when the child says that it is ready, or ends. Returns the
 * descriptor to say it to; -1: failed, said.
 */
int process_go_background(const struct main_options *o);
void process_say_ready(int fd);
/* Standard descriptors lead nowhere, if <wanted>. */
void process_leave_terminal(bool wanted);
/* Pid file, root folder, background, rights; then the old processes are told to go. Returns in the
 * process that stays. False: said.
 */
bool process_settle(struct config *cfg, const struct main_options *o);

/* --- old_process.c */
/* Signals the processes of -sf and -st; their end is noticed from now on. */
void old_process_tell(const struct main_options *o, int sig);
/* A process that may have listening sockets in common with this one has ended. Thread 0. */
void old_process_ended(void);
extern const struct module mod_old_process;

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
/* <drain>: who has come already is served; from a thread of the loops. */
void stats_sockets_close(struct config *cfg, bool drain);
unsigned stats_sockets_count(const struct config *cfg);
/* Like listen_collect(), for these. */
struct socket_origin;
unsigned stats_sockets_collect(const struct config *cfg, int *sockets,
			       struct socket_origin *origins, unsigned max);
/* Opens the <n>th for somebody else: its descriptor, and the rights of its clients. -1: <error>. */
int stats_socket_listen(const struct config *cfg, unsigned n, enum ctl_level *level, char *error,
			size_t size);

/* Like listen_open_named(). */
struct sockaddr_storage;
int stats_socket_open_named(const struct config *cfg, const struct sockaddr_storage *addr,
			    unsigned len, char *error, size_t size);

/* The path of the <n>th; "": it has none. NULL: there are not that many. */
const char *stats_socket_path(const struct config *cfg, unsigned n);

/* --- info.c */
extern const struct module mod_info;
extern const struct module mod_process_ctl; /* set rate-limit, show dev, show libs */
extern uint64_t main_start_ns; /* monotonic */
extern uint64_t main_ready_ns;

/* Says at once, in the form of the reference's start-up messages. */
#define MAIN_ALERT(...) diag_say(DIAG_ALERT, __VA_ARGS__)

#endif
