/* SPDX-License-Identifier: GPL-2.0-or-later */
/* smp_priv.h - shared by the files of TLS fetches. On the stream's thread. */
#ifndef TLS_SMP_PRIV_H
#define TLS_SMP_PRIV_H

#include <string.h>
#include "conn_priv.h"
#include "expr/expr.h"
#include "expr/give.h"

/* <data> of fetches that exist for both sides. */
enum tls_side { TLS_FRONT, TLS_BACK };

/* Returns the TLS state for a fetch; NULL: that side has none (locate.c). */
struct tls_conn *tls_smp_conn(const struct expr_ctx *ctx, enum tls_side side);

static inline enum tls_side tls_smp_side(const struct expr_ctx *ctx)
{
	return *(const enum tls_side *)ctx->data;
}

/* Returns OpenSSL's error on the context's side, also of a server's connection that is over. False:
 * there was no TLS connection.
 */
bool tls_smp_error(const struct expr_ctx *ctx, uint32_t *error);

/* Returns the TLS state of the fetch's own side. */
static inline struct tls_conn *tls_smp_own(const struct expr_ctx *ctx)
{
	return tls_smp_conn(ctx, tls_smp_side(ctx));
}

/* Gives bytes that live as long as the connection; without any: no sample. */
static inline enum expr_result tls_smp_bytes(struct sample *out, enum sample_type type,
					     const void *p, size_t len)
{
	if (!p || !len)
		return EXPR_NONE;
	out->type = type;
	out->flags = SMP_CONST;
	out->text = slice_make(p, len);
	return EXPR_FOUND;
}

static inline enum expr_result tls_smp_text(struct sample *out, const char *text)
{
	return tls_smp_bytes(out, SMP_STR, text, text ? strlen(text) : 0);
}

/* As tls_smp_bytes(), copied to the context's arena. */
static inline enum expr_result tls_smp_copy(struct expr_ctx *ctx, struct sample *out,
					    enum sample_type type, const void *p, size_t len)
{
	char *copy = p && len ? arena_alloc(ctx->arena, len) : NULL;

	if (!copy)
		return EXPR_NONE;
	memcpy(copy, p, len);
	return tls_smp_bytes(out, type, copy, len);
}

#endif
