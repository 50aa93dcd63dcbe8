/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jwt.h - verifies and decrypts JSON Web Tokens with keys of another floor
 *
 * Owns   : nothing; results lie in the context's arena.
 * Threads: any; keys are only read.
 * Errors : malformed tokens, unsuitable keys and lack of memory all give no result.
 * RFC 7515, 7516, 7518. Manual: configuration 7.3.1, jwt_verify and jwt_decrypt_*. Only built with
 * OpenSSL.
 */
#ifndef EXPR_JWT_H
#define EXPR_JWT_H

#include "expr/expr.h"

struct evp_pkey_st; /* EVP_PKEY of OpenSSL */

/* A decryption key: a private key (RSA, EC), or the bytes of a symmetric key. */
struct jwt_key {
	struct evp_pkey_st *key; /* borrowed; NULL: use the secret */
	struct slice secret;
};

/* Replaces the encrypted token *s by its content, a binary of at least 0 bytes, if <cfg> allows the
 * algorithms named in its header and they suit the key. False: no result.
 */
bool jwt_decrypt(struct expr_ctx *ctx, const struct config *cfg, const struct jwt_key *with,
		 struct sample *s);

/* Result of a verification: 1 the signature is right, 0 it is wrong, else an error of the manual's
 * list.
 */
enum jwt_verdict {
	JWT_UNAVAILABLE_KEY = -7, JWT_BAD_KEY = -5, JWT_NO_MEMORY = -4, JWT_BAD_TOKEN = -3,
	JWT_NOT_MANAGED = -2, JWT_BAD_ALGORITHM = -1, JWT_WRONG = 0, JWT_RIGHT = 1,
};

/* Finds the public key named by a converter's second argument: *key, borrowed until jwt_verify()
 * returns. If it is NULL, the returned verdict says why.
 */
typedef enum jwt_verdict jwt_find_key_fn(void *data, struct evp_pkey_st **key);

/* Verifies the signature of <token> with the algorithm named <alg>, which must not be HMAC, and the
 * key of <find>, which is called if the token is well-formed. <cfg> tells whether "none" is
 * allowed.
 */
enum jwt_verdict jwt_verify(struct expr_ctx *ctx, const struct config *cfg, struct slice alg,
			    struct slice token, jwt_find_key_fn *find, void *data);
/* Prepares arguments that are texts or variables: the latter become ARG_VAR. */
void jwt_prepare_args(struct conf_line *l, struct expr_arg *args, int count);
/* Checks the first argument of verifying converters: a text must name an algorithm that is not
 * HMAC. False: see *error.
 */
bool jwt_check_algorithm(struct conf_line *l, const struct expr_arg *arg, const char **error);
/* Returns the text of an argument that is a text or a variable. False: the variable is not set. */
bool jwt_read_arg(const struct expr_arg *arg, struct expr_ctx *ctx, struct slice *out);

#endif
