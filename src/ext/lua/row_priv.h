/* SPDX-License-Identifier: GPL-2.0-or-later */
/* row_priv.h - rows of registered functions in the engines of rules, expressions, services, filters
 * and commands (action.c, expr.c, service.c, service_tcp.c, filter.c, cli.c)
 *
 * Owns   : nothing; a row is part of its struct script_function.
 * Threads: rows are filled at start-up, then looked up by any.
 */
#ifndef SCRIPT_ROW_PRIV_H
#define SCRIPT_ROW_PRIV_H

struct config;
struct ctl_command;
struct expr_scripts;
struct filter_kind;
struct rule_action;
struct script_function;
struct service_kind;

void script_service_row(struct script_function *fn);
void script_service_tcp_row(struct script_function *fn); /* service_tcp.c */
const struct service_kind *script_service_find(const struct config *cfg, const char *name);

const struct ctl_command *script_command_next(const struct ctl_command *c);

const struct filter_kind *script_filter_find(const struct config *cfg, const char *name);

/* Fill the rows of registered functions: expr.c, action.c. */
void script_fetch_row(struct script_function *fn);
void script_converter_row(struct script_function *fn);
/* Makes <fn> the action for the sets in <sets>, replacing one with the same name there. */
void script_action_row(struct script_function *fn);
extern const struct expr_scripts script_exprs;
const struct rule_action *script_action_find(const struct config *cfg, const char *name,
					     unsigned sets);

#endif
