/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crypt_none.c - without libcrypt no hashed password is ever right */
#include "auth_priv.h"

bool crypt_matches(const char *password, const char *hash)
{
	return false;
}
