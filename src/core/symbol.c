/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol.c - the registry of names, then the dynamic linker */
#include <dlfcn.h>
#include <stddef.h>
#include "core/fd.h"
#include "core/symbol.h"

#define TABLES_MAX 64

static const struct symbol *tables[TABLES_MAX];
static unsigned table_count;

bool symbol_register(const struct symbol *table)
{
	if (table_count == TABLES_MAX)
		return false;
	tables[table_count++] = table;
	return true;
}

bool symbol_add_name(struct strbuf *to, const void *address)
{
	const struct fd_kind *kind;
	Dl_info info;

	for (unsigned i = 0; i < table_count; i++) {
		for (const struct symbol *s = tables[i]; s->address; s++) {
			if (s->address == address)
				return strbuf_add_str(to, s->name);
		}
	}
	kind = fd_kind_find((fd_handler_fn *)(uintptr_t)address);
	if (kind)
		return strbuf_add_str(to, kind->name);
	if (dladdr(address, &info) && info.dli_sname) {
		ptrdiff_t offset = (const char *)address - (const char *)info.dli_saddr;

		strbuf_add_str(to, info.dli_sname);
		if (offset)
			strbuf_printf(to, "+%#tx", offset);
		return true;
	}
	strbuf_printf(to, "%p", address);
	return false;
}
