/* SPDX-License-Identifier: GPL-2.0-or-later */
/* logformat_priv.h - a compiled format */
#ifndef SRC_EXPR_LOGFORMAT_PRIV_H
#define SRC_EXPR_LOGFORMAT_PRIV_H

#include "expr/logformat.h"

/* An item that is one space, not repeated after another. An addition to enum logformat_options. */
#define LOGFORMAT_SEPARATOR (1u << 31)

struct logformat {
	struct logformat_item *items;
	unsigned count;
	unsigned needs, uses;
	unsigned encoding;     /* for the whole: LOGFORMAT_JSON or LOGFORMAT_CBOR, with options */
	struct slice constant; /* slice_none(): it varies */
	/* for a whole JSON, per item: `, "name": `, and the alias as printed before encoding */
	struct slice *keys;
	struct logformat_item *plain;
};

/* Writes the value of an alias, or its replacement if there is none. False: no room. */
bool logformat_put_alias(const struct logformat_item *item, struct expr_ctx *ctx,
			 struct strbuf *out);
/* Writes the value of an item, encoded according to its options. False: no room. */
bool logformat_encode_item(const struct logformat_item *item, struct expr_ctx *ctx,
			   struct strbuf *out);
/* Writes the map of the named items of a format with an encoding. */
bool logformat_encode(const struct logformat *f, struct expr_ctx *ctx, struct strbuf *out);
/* Prepares the map of a format, once its items are complete. False: out of memory. */
bool logformat_encode_prepare(struct logformat *f, struct arena *arena);
/* Frees the buffer of the calling thread. */
void logformat_encode_trim(void);

/* Frees this thread's scratch text. */
void logformat_trim_thread(void);

#endif
