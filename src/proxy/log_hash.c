/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_hash.c - `balance log-hash`: the hashed part of a line */
#include <stdbool.h>
#include "base/arena.h"
#include "expr/expr.h"
#include "proxy/proxy.h"
#include "log_backend.h"

bool log_backend_parse_hash(struct conf_line *l, struct proxy *px, const char *word)
{
	const char *text = conf_next(l);
	size_t end = 0;

	if (!text)
		return conf_error(l, 1, NULL, "balance log-hash requires a converter list.");
	/* a line stands where the bytes of a check do */
	text = arena_printf(&l->cfg->arena, "res.payload(0,0),%s", text);
	if (!text)
		return conf_error(l, 1, NULL, "out of memory.");
	px->balancing.log_hash = expr_parse(l, text, &end, EXPR_BE_CHK_RUL);
	if (px->balancing.log_hash && text[end])
		return conf_error(l, 2, NULL, "balance log-hash : unexpected '%s'.", text + end);
	return px->balancing.log_hash != NULL;
}
