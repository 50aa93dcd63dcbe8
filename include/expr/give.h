/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* give.h - what a fetch answers with
 *
 * Purpose: fills a sample from a C value, for the files that fetch.
 * Threads: the evaluation's.
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
