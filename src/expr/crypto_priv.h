/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crypto_priv.h - what the files that need OpenSSL share */
#ifndef SRC_EXPR_CRYPTO_PRIV_H
#define SRC_EXPR_CRYPTO_PRIV_H

#include "expr_priv.h"

/* Rows of the table in conv_openssl.c. */
bool crypto_jwt_check_query(struct conf_line *l, struct expr_arg *args, const char **error);
bool crypto_jwt_header(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s);
bool crypto_jwt_payload(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s);
bool crypto_jwt_check_verify(struct conf_line *l, struct expr_arg *args, const char **error);
bool crypto_jwt_verify(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s);

#endif
