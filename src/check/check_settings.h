/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_settings.h - settings of checks in the `global` section: a slot of the configuration */
#ifndef CHECK_CHECK_SETTINGS_H
#define CHECK_CHECK_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct check_rule;
struct check_section;
struct config;

struct check_settings {
	int spread_percent;           /* spread-checks */
	int64_t max_spread_ms;        /* max-spread-checks; 0: none */
	int max_per_thread;           /* tune.max-checks-per-thread; 0: none */
	bool external, keep_env;      /* external-check [preserve-env] */
	bool may_fork;                /* insecure-fork-wanted */
	bool never_local;             /* pp2-never-send-local */
	const char *node;             /* or NULL: the host name */
	unsigned count;               /* checks of the servers in the file */
	struct check_section *sections; /* `healthcheck`: see check_section.c */
	struct check_rule *agent_rules; /* the rules of agent checks: made in the check phase */
};

struct check_settings *check_settings_of(const struct config *cfg);

#endif
