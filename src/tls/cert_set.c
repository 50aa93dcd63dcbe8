/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cert_set.c - a certificate in memory replaced as a whole, for floors above */
#include <stdio.h>
#include "cert_priv.h"
#include "ctl_priv.h"
#include "global_priv.h"
#include "ocsp_priv.h"
#include "store_priv.h"
#include "tls/tls.h"

/* <old>, with the parts that are given. NULL: <why>; "" when none is given. */
static struct tls_cert *change(const struct tls_cert *old, const char *name,
			       const struct tls_cert_texts *t, char *why, size_t size)
{
	const struct {
		enum tls_part part;
		struct slice text;
	} parts[] = { { TLS_PART_CERT, t->crt }, { TLS_PART_KEY, t->key },
		      { TLS_PART_ISSUER, t->issuer }, { TLS_PART_OCSP, t->ocsp },
		      { TLS_PART_SCTL, t->sctl } };
	struct tls_cert *c = NULL, *next;

	why[0] = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (slice_is_none(parts[i].text))
			continue;
		next = tls_cert_change(c ? c : old, parts[i].part, parts[i].text, name, why, size);
		tls_cert_drop(&c);
		if (!next)
			return NULL;
		c = next;
	}
	return c;
}

bool tls_cert_set(struct config *cfg, const char *name, const struct tls_cert_texts *t, char *why,
		  size_t size)
{
	struct tls_entry *e;
	struct tls_cert *c = NULL;
	unsigned dots;
	bool good = false;

	tls_store_lock();
	e = tls_store_find(tls_store_of(cfg), name);
	if (!e)
		snprintf(why, size, "Can't replace a certificate which is not referenced by the "
			 "configuration!");
	else
		c = change(e->cert, name, t, why, size);
	good = e && !c && !why[0];
	if (c && tls_global_of(cfg)->chains)
		tls_chains_complete(tls_global_of(cfg)->chains, c);
	if (c && !tls_cert_is_usable(c, name, why, size))
		tls_cert_drop(&c);
	if (c)
		good = tls_ctl_replace(cfg, e, c, &dots, why, size);
	if (good)
		tls_ocsp_kick();
	tls_store_unlock();
	return good;
}
