/* SPDX-License-Identifier: GPL-2.0-or-later */
/* locate.c - from the context of an expression to the connection that it is about */
#include "conn_priv.h"
#include "smp_priv.h"
#include "tls/tls.h"

static const struct tls_locator *locator;

void tls_set_locator(const struct tls_locator *l)
{
	locator = l;
}

struct tls_conn *tls_smp_conn(const struct expr_ctx *ctx, enum tls_side side)
{
	if (!locator)
		return NULL;
	return tls_of(side == TLS_BACK ? locator->back(ctx) : locator->front(ctx));
}

bool tls_smp_error(const struct expr_ctx *ctx, uint32_t *error)
{
	const struct tls_conn *t = tls_smp_own(ctx);

	if (!t)
		return locator && tls_smp_side(ctx) == TLS_BACK &&
			locator->back_failed(ctx, error);
	*error = t->error;
	return true;
}
