/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core.h - the module descriptors of core, for the list of modules
 *
 * mod_core must be the first module of the list that has a check hook: it decides the number of
 * threads and groups, which other hooks may need.
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "base/module.h"

extern const struct module mod_core;     /* global keywords */
extern const struct module mod_place_ctl; /* debug counters */
extern const struct module mod_debug_ctl; /* debug dev */
extern const struct module mod_core_ctl; /* show activity, profiling, pools, tasks, threads; wait */
extern const struct module mod_fd_ctl;   /* show fd */

#endif
