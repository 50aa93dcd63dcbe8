/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crypto_priv.h - shared by the files that need OpenSSL */
#ifndef SRC_EXPR_CRYPTO_PRIV_H
#define SRC_EXPR_CRYPTO_PRIV_H

#include "expr/jwt.h"
#include "expr_priv.h"

/* Rows of the table in conv_openssl.c. */
bool crypto_jwt_check_query(struct conf_line *l, struct expr_arg *args, const char **error);
bool crypto_jwt_header(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s);
bool crypto_jwt_payload(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s);
bool crypto_jwt_check_verify(struct conf_line *l, struct expr_arg *args, const char **error);
bool crypto_jwt_verify(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s);

/* jwk_openssl.c: reads a JSON Web Key: a secret in the arena, or a private key that the caller must
 * free. False: not a key.
 */
bool crypto_jwk_read(struct arena *arena, struct slice json, struct jwt_key *out);
/* Returns the elliptic-curve public key at the path <at> of a JSON text, which the caller must
 * free; NULL: none.
 */
struct evp_pkey_st *crypto_jwk_public_ec(struct arena *arena, struct slice json, const char *at);
/* Returns the string at a path of a JSON text, in the arena; slice_none(): none. */
struct slice crypto_jwk_text(struct arena *arena, struct slice json, const char *path);
/* Returns the bytes of its base64url; slice_none(): none. */
struct slice crypto_jwk_bytes(struct arena *arena, struct slice json, const char *path);

/* jwe_openssl.c: jwt.decrypt_alg_list; with keyword->min, jwt.decrypt_enc_list. */
bool crypto_jwe_parse_list(struct conf_line *l);

#endif
