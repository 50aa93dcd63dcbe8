/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* modules.h - the descriptors of the expr folder, in the order in which main lists them
 *
 * Purpose: a new file of fetches or converters adds its line here, and nothing else.
 * Owns   : constants.
 * Threads: any.
 */
#ifndef EXPR_MODULES_H
#define EXPR_MODULES_H

#include "base/module.h"

#define EXPR_MODULES(X) \
	X(expr)        /* the engine's own storage */ \
	X(expr_vars)   /* variables in rules and expressions; their limits */ \
	X(fetch_const) /* fetches of constants, dates, random numbers */ \
	X(conv_core)   /* types and numbers */ \
	X(conv_text)   /* case, parts, edits */ \
	X(conv_code)   /* encodings */ \
	X(conv_hash) X(conv_date) X(conv_json) X(conv_debug) \
	X(conv_wire)   /* messages of other protocols */ \
	X(conv_packet) /* headers of Ethernet, IP, TCP */ \
	X(conv_field)  /* values of HTTP fields */ \
	X(conv_crypto) /* digests, encryption, signatures; none without OpenSSL */ \
	X(conv_map)    /* look-ups in maps */ \
	X(pattern_ctl) /* show map, add acl... */ \
	X(var_ctl)     /* get var, set var */

#define X(name) extern const struct module mod_##name;
EXPR_MODULES(X)
#undef X

/* For lists in tests: all descriptors, each followed by a comma. */
#define EXPR_MODULE_LIST EXPR_MODULES(EXPR_MODULE_ADDRESS)
#define EXPR_MODULE_ADDRESS(name) &mod_##name,

#endif
