/* SPDX-License-Identifier: GPL-2.0-or-later */
/* logformat_priv.h - a compiled format */
#ifndef SRC_EXPR_LOGFORMAT_PRIV_H
#define SRC_EXPR_LOGFORMAT_PRIV_H

#include "expr/logformat.h"

/* An item that is one space, not written after another. Beside enum logformat_options. */
#define LOGFORMAT_SEPARATOR (1u << 31)

struct logformat {
	struct logformat_item *items;
	unsigned count;
	unsigned needs, uses;
	struct slice constant; /* slice_none(): it varies */
};

/* Frees this thread's scratch text. */
void logformat_trim_thread(void);

#endif
