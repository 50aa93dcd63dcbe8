/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* give.h - fills the results of fetches
 *
 * Purpose: fills a sample from a C value, for files that implement fetches.
 * Threads: that of the evaluation.
 */
#ifndef EXPR_GIVE_H
#define EXPR_GIVE_H

#include "expr/expr.h"

static inline enum expr_result smp_give_int(struct sample *out, int64_t value)
{
	out->type = SMP_INT;
	out->flags = SMP_VOLATILE;
	out->integer = value;
	return EXPR_FOUND;
}

static inline enum expr_result smp_give_bool(struct sample *out, bool value)
{
	out->type = SMP_BOOL;
	out->flags = 0;
	out->boolean = value;
	return EXPR_FOUND;
}

#endif
