/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options_priv.h - the command line's options, and the tables used to read it */
#ifndef MAIN_OPTIONS_PRIV_H
#define MAIN_OPTIONS_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "base/module.h"
#include "base/slice.h"
#include "conf/conf.h"
#include "tools/tools.h"

/* --- modules.c */
/* Every module, in start-up order; ends with NULL. */
extern const struct module *const main_modules[];

/* --- options.c: options of the command line. All texts are borrowed from argv. */

/* --explain: the rules that a request would meet. */
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

/* Output about the version. */
struct version_options {
	bool line, build;            /* -v, -vv */
	bool word, numbers, branch;  /* -vq, -vqs, -vqb */
};

/* System features that are disabled. */
struct without_options {
	bool epoll, poll;            /* -de, -dp */
	bool splice;                 /* -dS */
	bool reuseport;              /* -dR */
};

/* Queries answered without a configuration; NULL: not requested. */
struct question {
	const char *condition;       /* -cc */
	const char *help_keyword;    /* --help-keyword */
	const char *ask_path, *ask_command; /* --ask */
};

/* --format, --lint, --language-server. */
struct file_tools {
	const char **paths;          /* owned; of one of the first two */
	int path_count;
	bool is_lint;                /* else --format */
	bool check, write, serve;    /* --check, --write, --language-server */
	enum tools_output output;    /* --output= */
};

struct main_options {
	const char *program;         /* argv[0] */
	struct conf_source *sources; /* owned */
	int source_count;
	const char *chdir;           /* -C */
	const char *pidfile;         /* -p */
	const char *localpeer;       /* -L */
	const char *dump_classes;    /* -dK */
	const char *traces;          /* -dt */
	struct question question;
	struct explain_options explain;
	struct file_tools tools;
	struct show_options show;
	struct takeover_options old;
	struct master_options master;
	int compat_version;          /* --compat: 206 for 2.6; 0: not asked for */
	bool json_diagnostics;       /* --diagnostics=json */
	bool check_only;             /* -c */
	struct version_options version;
	bool usage;                  /* -h */
	bool daemon;                 /* -D */
	bool foreground;             /* -db, -d */
	bool debug;                  /* -d */
	bool verbose, quiet;         /* -V, -q */
	bool list_places;            /* -dL with addresses: -V without -q */
	bool zero_warning;           /* -dW */
	bool diagnostics;            /* -dD */
	struct without_options without;
	bool show_cpus;              /* -dc */
	const char *archive;         /* -dA: a file to write; or NULL */
	bool no_verify;              /* -dV */
	bool list_libraries;         /* -dL */
	bool may_lack_addresses;     /* -dr */
	bool only_ipv4;              /* -4: for names resolved at run time */
	bool may_fork;               /* -dI */
	int64_t maxconn;             /* -n; 0 unset */
	int64_t proxy_maxconn;       /* -N; 0 unset */
	int64_t memory_mb;           /* -m; 0 none */
	const char *misunderstood;   /* the word because of which the usage is shown */
};

enum options_result { OPTIONS_OK, OPTIONS_USAGE, OPTIONS_ERROR };
/* Reads the command line; errors were reported. options_fini() must be called in any case. */
enum options_result options_parse(struct main_options *o, int argc, char **argv);
void options_fini(struct main_options *o);
void options_print_usage(FILE *out, const char *program);

/* --- file_tools.c */
/* Runs --format, --lint or --language-server; returns the exit status, -1: none was requested. */
int file_tools_run(const struct file_tools *t, const struct module *const *modules);

/* --- env.c: HAPROXY_* variables for the configuration, from the command line. False: no memory. */
bool environment_publish(const struct main_options *o);
/* Returns true if -L named this process among its peers. */
bool environment_names_peer(void);
/* Called after everything is read: removes variables that are only useful in the configuration. */
void environment_forget(struct config *cfg);

/* --- other_name.c: the program called by another name is another tool */
/* Replaces its command line with one of this program. Returns false: reported, exit with *status.
 */
bool other_name_enter(int *argc, char ***argv, int *status);
/* Creates a file without a name that holds <text>; <path> is the path to open it. Returns false:
 * reported.
 */
bool memory_file(struct slice text, const char *name, char *path, size_t size);
/* haterm.c, haload.c */
bool haterm_enter(int *argc, char ***argv, int *status);
bool haload_enter(int *argc, char ***argv, int *status);

/* --- ask.c */
/* Sends <command> to the Runtime API at UNIX socket <path> and writes its answer to <out>. Returns
 * the exit status: 0 if there was an answer.
 */
int ask_run(const char *path, const char *command, FILE *out);

#endif
