/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gcm_none.c - built without ipsec-mb: OpenSSL's own AES-GCM */
#include <stddef.h>
#include "gcm_priv.h"

const char *tls_gcm_properties(void)
{
	return NULL;
}

void tls_gcm_forget(void)
{
}

void tls_gcm_thread_fini(void)
{
}
