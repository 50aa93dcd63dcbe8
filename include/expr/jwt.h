/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jwt.h - JSON Web Tokens read with keys that another floor has
 *
 * Owns   : nothing; results are in the arena of the context.
 * Threads: any; keys are only read.
 * Errors : malformed tokens, keys that do not fit, and no memory, give the same: no result.
 * RFC 7515, 7516, 7518. Manual: configuration 7.3.1, jwt_verify and jwt_decrypt_*. There with
 * OpenSSL only.
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

/* What verification gives: 1 the signature is right, 0 it is wrong, else an error of the manual's
 * list.
 */
enum jwt_verdict {
	JWT_UNAVAILABLE_KEY = -7, JWT_BAD_KEY = -5, JWT_NO_MEMORY = -4, JWT_BAD_TOKEN = -3,
	JWT_NOT_MANAGED = -2, JWT_BAD_ALGORITHM = -1, JWT_WRONG = 0, JWT_RIGHT = 1,
};

/* Finds the public key that a converter's second argument names: *key, borrowed up to the end of
 * jwt_verify(). NULL: the verdict that is returned says why.
 */
typedef enum jwt_verdict jwt_find_key_fn(void *data, struct evp_pkey_st **key);

/* Compares the signature of <token> by the algorithm that has the name <alg>, not one of HMAC,
 * and the key that <find> gives; it is called when the token is well-formed. <cfg> says whether
 * "none" will do.
 */
enum jwt_verdict jwt_verify(struct expr_ctx *ctx, const struct config *cfg, struct slice alg,
			    struct slice token, jwt_find_key_fn *find, void *data);
/* Makes two arguments that are texts or variables: those become ARG_VAR. */
void jwt_prepare_args(struct conf_line *l, struct expr_arg *args, int count);
/* Checks that a first argument of converters that verify, if it is a text, names an algorithm
 * that is no HMAC. False: *error.
 */
bool jwt_check_algorithm(struct conf_line *l, const struct expr_arg *arg, const char **error);
/* The text of an argument that is a text or a variable. False: the variable is not set. */
bool jwt_read_arg(const struct expr_arg *arg, struct expr_ctx *ctx, struct slice *out);

#endif
