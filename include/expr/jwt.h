/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jwt.h - JSON Web Tokens read with keys that another floor has
 *
 * Owns   : nothing; results are in the arena of the context.
 * Threads: any; keys are only read.
 * Errors : malformed tokens, keys that do not fit, and no memory, give the same: no result.
 * RFC 7515, 7516, 7518. Manual: configuration 7.3.1, jwt_verify and jwt_decrypt_*. There with OpenSSL only.
 */
#ifndef EXPR_JWT_H
#define EXPR_JWT_H

#include "expr/expr.h"

struct evp_pkey_st; /* EVP_PKEY of OpenSSL */

/* What decrypts: a private key (RSA, EC), or the bytes of a symmetric one. */
struct jwt_key {
	struct evp_pkey_st *key; /* borrowed; NULL: the secret */
	struct slice secret;
};

/* Puts the content of the encrypted token *s, binary and of at least 0 bytes, in its place, if the
 * algorithms that its header names are allowed by <cfg> and good for the key. False: no result.
 */
bool jwt_decrypt(struct expr_ctx *ctx, const struct config *cfg, const struct jwt_key *with,
		 struct sample *s);

#endif
