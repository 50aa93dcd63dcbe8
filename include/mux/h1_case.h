/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h1_case.h - the case of header field names for bogus HTTP/1 peers
 *
 * Purpose: field names are in lower case throughout the program; a few peers need another case for
 *          some of them.
 * Owns   : the table belongs to the generation.
 * Threads: immutable once read; any thread.
 * Manual : configuration 3.2 h1-case-adjust, h1-case-adjust-file.
 */
#ifndef MUX_H1_CASE_H
#define MUX_H1_CASE_H

#include "base/slice.h"

struct config;
struct h1_case;

/* Returns the names of a generation; NULL: none. They live as long as <cfg>. */
const struct h1_case *h1_case_of(const struct config *cfg);
/* Returns the spelling to send for <name> (lower case): <name> itself unless the table has it. */
struct slice h1_case_adjust(const struct h1_case *c, struct slice name);

#endif
