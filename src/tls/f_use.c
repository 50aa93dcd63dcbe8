/* SPDX-License-Identifier: GPL-2.0-or-later */
/* f_use.c - certificates of a frontend as a whole, on each of its TLS lines (ssl-f-use) */
#include <string.h>
#include "bind_priv.h"
#include "global_priv.h"

bool tls_f_use_add(struct tls_bind *b, struct diag_list *diags)
{
	struct diag_place bare = { .form = DIAG_BARE };
	struct tls_f_use *f;

	list_for_each(f, &tls_global_of(b->cfg)->f_uses, link) {
		struct tls_add a = f->add;

		if (strcmp(f->list + 1, b->where.proxy) != 0)
			continue;
		a.cfg = b->cfg;
		a.bind = b;
		a.list = f->list;
		if (tls_bind_add_path(&a, f->crt))
			continue;
		diag_add(diags, DIAG_ALERT, &bare, NULL, "config : parsing [%s:%d] : %s", f->file,
			 f->line, a.why);
		return false;
	}
	return true;
}
