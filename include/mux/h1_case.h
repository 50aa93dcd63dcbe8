/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h1_case.h - names of header fields as bogus HTTP/1 peers want them
 *
 * Purpose: field names are in lower case everywhere; a few peers need another case of some of them.
 * Owns   : the table belongs to the generation.
 * Threads: immutable once read; any thread.
 * Manual : configuration 3.2 h1-case-adjust, h1-case-adjust-file.
 */
#ifndef MUX_H1_CASE_H
#define MUX_H1_CASE_H

#include "base/slice.h"

struct config;
struct h1_case;

/* The names of a generation; NULL: none. Lives as long as <cfg>. */
const struct h1_case *h1_case_of(const struct config *cfg);
/* The spelling to send for <name> (lower case): <name> itself when nothing else is asked. */
struct slice h1_case_adjust(const struct h1_case *c, struct slice name);

#endif
