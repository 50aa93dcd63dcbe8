/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* haterm.h - the service haterm: a dummy server; the request describes the response
 *
 * Purpose: responses of any size, status and delay for tests and measurements: "/?s=16k&t=100" is
 *          16 kB after 100 ms. The parameters are those of httpterm; the program `haterm`
 *          (main/haterm.c) is this service with a configuration around it.
 * Owns   : nothing: bodies are pieces of one constant text, sent without a copy.
 * Threads: any.
 * Manual : doc/haterm.1
 */
#ifndef EXT_HATERM_H
#define EXT_HATERM_H

#include "base/module.h"

extern const struct module mod_haterm;

#endif
