/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol.h - names of functions, for dumps
 *
 * A module may register the names of its static handlers. Handlers of descriptors are known by
 * their kind (fd_kind_register()); others are looked up in the program's dynamic symbols (link with
 * -rdynamic). Threads: register at start-up; any thread may look up.
 */
#ifndef CORE_SYMBOL_H
#define CORE_SYMBOL_H

#include "base/strbuf.h"

struct symbol {
	const void *address;
	const char *name;
};

/* Registers <table>, which ends with a NULL address and must remain valid. False: no room. */
bool symbol_register(const struct symbol *table);
/* Appends "name", "name+0x1c" or, if unknown, "0x55...". False: unknown. */
bool symbol_add_name(struct strbuf *to, const void *address);

#endif
