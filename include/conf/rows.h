/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rows.h - table rows for keywords of the global section that set one member of a slot
 *
 * Purpose: for the .c file of a module with such keywords. Before its table, it defines AT(member)
 *          as `.slot` and `.offset` of the member.
 * Types  : the member is a bool for SWITCH, an int for NUMBER, SIZE and SOCKET.
 */
#ifndef CONF_ROWS_H
#define CONF_ROWS_H

#include "conf/conf.h"

#define GLOBAL(name) .words = name, .where = CONF_GLOBAL
#define SWITCH(name, member, text) \
	{ GLOBAL(name), .type = CONF_FLAG, AT(member), .help = text }
#define NUMBER(name, member, low, high, text) \
	{ GLOBAL(name), .min_args = 1, .max_args = 1, .type = CONF_INT, AT(member), .min = low, \
	  .max = high, .syntax = "<number>", .help = text }
#define SIZE(name, member, low, high, text) \
	{ GLOBAL(name), .min_args = 1, .max_args = 1, .parse = conf_parse_size, AT(member), \
	  .min = low, .max = high, .syntax = "<size>", .help = text }
/* The size of a kernel buffer. */
#define SOCKET(name, member, text) SIZE(name, member, 0, INT32_MAX / 2, text)

#endif
