/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply.c - what commands have changed is given to bind lines and servers, as a whole or not at all
 */
#include <stdio.h>
#include <string.h>
#include "bind_priv.h"
#include "cert_priv.h"
#include "ctl_priv.h"
#include "global_priv.h"
#include "line_priv.h"
#include "names_priv.h"
#include "ocsp_priv.h"
#include "server_priv.h"
#include "store_priv.h"

/* Is <b> one that an earlier use of <e> had too? */
static bool was_before(const struct tls_entry *e, const struct tls_use *until)
{
	const struct tls_use *u;

	list_for_each(u, &e->uses, of_entry) {
		if (u == until)
			return false;
		if (u->bind == until->bind)
			return true;
	}
	return false;
}

/* Publishes the names of each bind line that uses <e>, and contexts of each server. *dots: how many
 * uses there were. False: <why>.
 */
static bool tls_ctl_apply(struct config *cfg, struct tls_entry *e, unsigned *dots, char *why,
			  size_t size)
{
	struct tls_server *s;
	struct tls_use *u;

	*dots = 0;
	list_for_each(u, &e->uses, of_entry) {
		(*dots)++;
		if (!was_before(e, u) && !tls_names_publish(u->bind)) {
			snprintf(why, size, "out of memory");
			return false;
		}
	}
	list_for_each(s, &tls_global_of(cfg)->servers, link)
		if (s->entry == e) {
			(*dots)++;
			if (!tls_server_renew(s, why, size))
				return false;
		}
	return true;
}

/* Is the file read for these settings? Not where certificates of the peer are not looked at. */
static bool names_it(const struct tls_settings *set, const char *name)
{
	const char *files[] = { set->ca_file, set->ca_verify_file, set->crl_file };

	if (set->verify != TLS_VERIFY_OPTIONAL && set->verify != TLS_VERIFY_REQUIRED)
		return false;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (files[i] && strcmp(files[i], name) == 0)
			return true;
	return false;
}

bool tls_ctl_ca_is_used(struct config *cfg, const struct tls_ca *ca)
{
	struct tls_global *g = tls_global_of(cfg);
	struct tls_server *s;
	struct tls_bind *b;

	list_for_each(b, &g->binds, link)
		for (struct tls_ctx *c = b->ctxs; c; c = c->next)
			if (names_it(&c->set, ca->name))
				return true;
	list_for_each(s, &g->servers, link)
		if (names_it(&s->set, ca->name))
			return true;
	return false;
}

/* How many certificates of <b> are shown with these settings. */
static unsigned uses_of(const struct tls_bind *b, const struct tls_ctx *c)
{
	const struct tls_use *u;
	unsigned n = 0;

	list_for_each(u, &b->uses, of_bind)
		n += u->ctx == c;
	return n;
}

/* New contexts for the sets of <b> that name the file; *dots counts the certificates. */
static bool renew_bind(struct tls_bind *b, const struct tls_ca *ca, unsigned *dots, char *why,
		       size_t size)
{
	bool changed = false;

	for (struct tls_ctx *c = b->ctxs; c; c = c->next) {
		if (!names_it(&c->set, ca->name))
			continue;
		if (!tls_bind_renew(b, c, why, size))
			return false;
		changed = true;
		*dots += uses_of(b, c);
	}
	return !changed || tls_names_publish(b);
}

/* Makes the contexts that use <ca> anew. False: <why>. */
static bool tls_ctl_apply_ca(struct config *cfg, const struct tls_ca *ca, unsigned *dots,
			     char *why, size_t size)
{
	struct tls_global *g = tls_global_of(cfg);
	struct tls_server *s;
	struct tls_bind *b;

	list_for_each(b, &g->binds, link)
		if (!renew_bind(b, ca, dots, why, size))
			return false;
	list_for_each(s, &g->servers, link)
		if (names_it(&s->set, ca->name)) {
			(*dots)++;
			if (!tls_server_renew(s, why, size))
				return false;
		}
	return true;
}

bool tls_ctl_replace(struct config *cfg, struct tls_entry *e, struct tls_cert *next,
		     unsigned *dots, char *why, size_t size)
{
	struct tls_cert *old = e->cert;
	char nothing[512];
	unsigned ignored;

	tls_store_set_cert(e, next);
	if (!tls_ctl_apply(cfg, e, dots, why, size)) {
		tls_store_set_cert(e, old);
		tls_cert_drop(&next);
		/* those that have taken it already */
		if (old)
			tls_ctl_apply(cfg, e, &ignored, nothing, sizeof(nothing));
		return false;
	}
	tls_cert_drop(&old);
	tls_ocsp_know(cfg, e);
	return true;
}

static bool swap_ca(struct tls_ca *ca, STACK_OF(X509) **certs, STACK_OF(X509_CRL) **crls)
{
	STACK_OF(X509) *old_certs = ca->certs;
	STACK_OF(X509_CRL) *old_crls = ca->crls;

	ca->certs = *certs;
	ca->crls = *crls;
	*certs = old_certs;
	*crls = old_crls;
	return tls_ca_sum(ca);
}

bool tls_ctl_replace_ca(struct tls_ca *ca, STACK_OF(X509) **certs, STACK_OF(X509_CRL) **crls,
			unsigned *dots, char *why, size_t size)
{
	char nothing[512];

	*dots = 0;
	snprintf(why, size, "out of memory");
	if (swap_ca(ca, certs, crls) && tls_ctl_apply_ca(tls_live(), ca, dots, why, size))
		return true;
	swap_ca(ca, certs, crls);
	tls_ctl_apply_ca(tls_live(), ca, dots, nothing, sizeof(nothing));
	return false;
}
