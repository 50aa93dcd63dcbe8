/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mux_init.h - start-up of the muxes */
#ifndef MUX_MUX_INIT_H
#define MUX_MUX_INIT_H

#include <stdbool.h>
#include "conf/conf.h"
#include "mux/mux.h"

/* Create the pools; <fields_max>: tune.http.maxhdr. Call once. False: out of memory. */
bool h1_init(unsigned fields_max);
bool pass_init(void);
bool fcgi_init(void);
/* Per thread: begin and end. False: out of memory. */
bool h1_thread_init(void);
void h1_thread_fini(void);
bool pass_thread_init(void);
bool fcgi_thread_init(void);

/* Keywords of h1-case-adjust and its file, and the slot of their table. */
extern const struct conf_keyword h1_case_keywords[];
extern struct slot h1_case_slot;

/* The rows of this folder, for module.muxes. */
extern const struct mux_kind *const mux_rows[];

extern struct trace_source trace_h1, trace_h2, trace_pass; /* core/trace.h */

#endif
