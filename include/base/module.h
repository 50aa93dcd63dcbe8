/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* module.h - the descriptor of a module, listed once in main/modules.c
 *
 * All vocabulary of the program (configuration keywords, commands, fetches, ...) comes from these
 * tables and from nowhere else. The types of the tables belong to the engines that read them and
 * are opaque here. Tables end with an all-zero record. Descriptors and tables are constants.
 */
#ifndef BASE_MODULE_H
#define BASE_MODULE_H

#include <stdbool.h>

struct config;
struct diag_list;
struct proxy;

struct module {
	const char *name;
	const struct conf_section *sections;      /* conf/conf.h */
	const struct conf_keyword *keywords;      /* conf/conf.h */
	const struct ctl_command *commands;       /* ctl/ctl.h */
	const struct expr_fetch *fetches;         /* expr/expr.h */
	const struct expr_converter *converters;  /* expr/expr.h */
	const struct expr_acl_keyword *acl_keywords; /* expr/expr.h: hdr_beg etc. */
	const struct expr_alias *aliases;         /* expr/logformat.h: %ci etc. */
	const struct rule_action *actions;        /* stream/rule.h */
	const struct filter_kind *filters;        /* stream/filter.h */
	const struct service_kind *services;      /* stream/service.h */
	const struct mux_kind *const *muxes;      /* mux/mux.h, NULL-terminated */
	struct trace_source *const *traces;       /* core/trace.h, NULL-terminated */
	struct slot *const *slots;                /* base/slot.h, NULL-terminated */

	/* All optional, called in the order of the list. */
	bool (*init)(void);                       /* once, before any configuration is read */
	/* After parsing, before the generation is published: resolves names, computes defaults.
	 * Problems go to <diags>. Called in list order for the whole configuration.
	 */
	void (*check)(struct config *cfg, struct diag_list *diags);
	/* As check(), for one backend without servers that is created at run time. Its generation
	 * is live: other threads read all of it except <be>. In list order, under
	 * config_edit_begin().
	 */
	void (*check_backend)(struct proxy *be, struct diag_list *diags);
	/* The generation goes live: opens sockets and files. False: reported in <diags>, the start
	 * is refused. On thread 0, for each generation: before the loops, or in a turn of its loop.
	 */
	bool (*start)(struct config *cfg, struct diag_list *diags);
	/* A reload: <next> is about to replace <prev>, and takes over what outlives a generation.
	 * On thread 0; cannot fail.
	 */
	void (*adopt)(struct config *next, struct config *prev);
	/* <prev> is no longer the live generation; its sessions continue. On thread 0. */
	void (*retire)(struct config *prev);
	/* On each thread, before and after its loop. */
	bool (*thread_init)(void);
	void (*thread_fini)(void);
	void (*fini)(void);                       /* at exit, reverse order */
};

#endif
