/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol.h - names of functions, for dumps
 *
 * A module may register the names of its static handlers; those of descriptors are known by their
 * kind (fd_kind_register), others are looked up in the program's dynamic symbols (link with
 * -rdynamic). Threads: register at start-up; look up from any.
 */
#ifndef CORE_SYMBOL_H
#define CORE_SYMBOL_H

#include "base/strbuf.h"

struct symbol {
	const void *address;
	const char *name;
};

/* <table> ends with a NULL address; it must stay. False: no room. */
bool symbol_register(const struct symbol *table);
/* "name", "name+0x1c", or "0x55..." when nothing is known. Returns false in the last case. */
bool symbol_add_name(struct strbuf *to, const void *address);

#endif
