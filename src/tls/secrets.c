/* SPDX-License-Identifier: GPL-2.0-or-later */
/* secrets.c - the end of what keylog.c keeps */
#include <stdlib.h>
#include <string.h>
#include "conn_priv.h"

void tls_secrets_free(char ***secrets)
{
	for (int i = 0; *secrets && i < TLS_SECRETS; i++) {
		char *text = (*secrets)[i];

		if (text)
			OPENSSL_cleanse(text, strlen(text));
		free(text);
	}
	free(*secrets);
	*secrets = NULL;
}
