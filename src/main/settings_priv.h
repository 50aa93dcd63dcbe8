/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings_priv.h - global keywords of this layer, and the limits derived from them */
#ifndef MAIN_SETTINGS_PRIV_H
#define MAIN_SETTINGS_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"
#include "base/slot.h"
#include "conf/conf.h"

struct main_options;

/* --- settings.c: global keywords of this layer */

/* The rights of the process once it is set up. */
struct rights_settings {
	const char *chroot_dir;       /* "auto": an empty, unnamed directory; NULL: none */
	int uid, gid;                 /* uid: -1 unset; gid: 0 unset */
	uint64_t caps;                /* setcap: bits by numbers */
	bool set_dumpable, insecure_setuid;
};

struct main_settings {
	struct rights_settings rights;
	bool daemon, quiet, zero_warning;
	bool quick_exit;              /* nothing is freed at the end */
	bool prealloc_fd;             /* the kernel's table is enlarged immediately */
	bool strict_limits, no_splice;
	bool sandbox;                 /* sandbox on */
	int64_t close_spread_ms;      /* 0 immediately, -1 never */
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
	uint64_t anon_key;            /* key for anonymised sessions of the Runtime API; 0: none */
	int renice_runtime;           /* -20..19, or RENICE_UNSET */
	int bufsize;
};

extern struct slot settings_slot;
extern const struct module mod_settings; /* settings_conf.c */
struct main_settings *settings_of(const struct config *cfg);
/* tune.renice.startup: only until settings_apply(). */
void settings_change_priority(int value);
#define RENICE_UNSET INT32_MIN
/* Passes settings to lower layers, before memory blocks and sockets are made. */
void settings_apply(const struct config *cfg, const struct main_options *o);

/* For a reload: settings_apply_again() applies the settings of <next> that can change in the
 * running process; settings_compare() warns about the others.
 */
void settings_compare(const struct config *next, const struct config *prev,
		      struct diag_list *diags);
void settings_apply_again(const struct config *next, const struct config *prev);

/* --- limits.c */
struct main_limits {
	int64_t maxconn;      /* effective */
	int64_t hard_maxconn; /* the value before `set maxconn global` */
	int64_t proxy_maxconn; /* of frontends without their own */
	int64_t maxsock;      /* descriptors needed */
	int64_t descriptors;  /* RLIMIT_NOFILE in effect */
	int64_t told;         /* the part of these shown as Ulimit-n */
	int64_t maxpipes;
	int64_t memory_mb;    /* -m; 0 none */
};
extern struct main_limits main_limits;
/* For a reload: sets the limits of frontends of <next>. Any thread. */
void limits_prepare_again(struct config *next);
/* For a reload: applies a maxconn changed in the file, as far as descriptors allow. */
void limits_apply_again(const struct config *next, const struct config *prev,
			struct diag_list *diags);
/* Computes and sets the limits, sizes the descriptor table. Returns false: reported. */
bool limits_apply(struct config *cfg, const struct main_options *o);

#endif
