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
	unsigned encoding;     /* of all of it: LOGFORMAT_JSON or LOGFORMAT_CBOR, with options */
	struct slice constant; /* slice_none(): it varies */
	/* of a whole that is JSON, for each item: `, "name": `, and the alias as it is printed
	 * before it is encoded
	 */
	struct slice *keys;
	struct logformat_item *plain;
};

/* The value of an alias, or what stands for it where nothing has one. False: no room. */
bool logformat_put_alias(const struct logformat_item *item, struct expr_ctx *ctx,
			 struct strbuf *out);
/* The value of an item, encoded as its options say. False: no room. */
bool logformat_encode_item(const struct logformat_item *item, struct expr_ctx *ctx,
			   struct strbuf *out);
/* The map of the named items of a format that has an encoding. */
bool logformat_encode(const struct logformat *f, struct expr_ctx *ctx, struct strbuf *out);
/* Makes what the map of a format needs, once its items are complete. False: no memory. */
bool logformat_encode_prepare(struct logformat *f, struct arena *arena);
/* Frees the room of the calling thread. */
void logformat_encode_trim(void);

/* Frees this thread's scratch text. */
void logformat_trim_thread(void);

#endif
