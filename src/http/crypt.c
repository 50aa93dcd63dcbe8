/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crypt.c - passwords hashed by crypt(3) */
#include <crypt.h>
#include <stdlib.h>
#include <string.h>
#include "auth_priv.h"

bool crypt_matches(const char *password, const char *hash)
{
	struct crypt_data *data = calloc(1, sizeof(*data)); /* too large for a stack */
	const char *made = data ? crypt_r(password, hash, data) : NULL;
	bool right = made && made[0] != '*' && strcmp(made, hash) == 0;

	free(data);
	return right;
}
