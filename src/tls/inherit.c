/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inherit.c - settings as a whole: unset ones, and the versions they leave */
#include "ctx_priv.h"
#include "line_priv.h"

/* What a line says, or says no to: no default counts there. */
static uint16_t decided(uint16_t flags)
{
	static const uint16_t opposites[] = {
		TLS_SET_TICKETS | TLS_SET_NO_TICKETS,
		TLS_SET_STRICT_SNI | TLS_SET_NO_STRICT_SNI,
		TLS_SET_RENEGOTIATE | TLS_SET_NO_RENEGOTIATE,
	};
	uint16_t all = 0;

	for (size_t i = 0; i < sizeof(opposites) / sizeof(*opposites); i++)
		if (flags & opposites[i])
			all |= opposites[i];
	return all;
}

void tls_settings_inherit(struct tls_settings *s, const struct tls_settings *from)
{
#define TEXT(m) \
	if (!s->m) \
		s->m = from->m
	TEXT(ciphers);
	TEXT(ciphersuites);
	TEXT(curves);
	TEXT(sigalgs);
	TEXT(client_sigalgs);
	TEXT(ca_file);
	TEXT(ca_verify_file);
	TEXT(crl_file);
	TEXT(verify);
	if (!s->alpn.ptr && !(s->flags & TLS_SET_NO_ALPN))
		s->alpn = from->alpn;
	/* a line that says which versions it wants has them, whatever the defaults switch off */
	if (!s->min && !s->max)
		s->off |= from->off;
	TEXT(min);
	TEXT(max);
#undef TEXT
	s->flags |= from->flags & (uint16_t)~decided(s->flags);
}

/* --- versions --------------------------------------------------------------------------------- */

static const struct {
	int version;
	uint64_t off;
} versions[] = {
	{ TLS1_VERSION, SSL_OP_NO_TLSv1 }, { TLS1_1_VERSION, SSL_OP_NO_TLSv1_1 },
	{ TLS1_2_VERSION, SSL_OP_NO_TLSv1_2 }, { TLS1_3_VERSION, SSL_OP_NO_TLSv1_3 },
};

bool tls_max_is_ambiguous(const struct tls_settings *set)
{
	return !set->min && set->max && set->max < TLS1_2_VERSION;
}

const char *tls_version_text(uint16_t version)
{
	switch (version) {
	case SSL3_VERSION: return "SSLv3";
	case TLS1_VERSION: return "TLSv1.0";
	case TLS1_1_VERSION: return "TLSv1.1";
	case TLS1_2_VERSION: return "TLSv1.2";
	default: return "TLSv1.3";
	}
}

/* The SSL_OP_NO_ bits of the versions that the settings leave out. */
uint64_t tls_versions_off(const struct tls_settings *set)
{
	uint16_t min = set->min;
	uint64_t off = 0;

	if (!min)
		min = tls_max_is_ambiguous(set) ? set->max : TLS1_2_VERSION;
	for (int i = 0; i < 4; i++)
		if (versions[i].version < min || (set->max && versions[i].version > set->max) ||
		    set->off & 1 << i)
			off |= versions[i].off;
	return off;
}

uint16_t tls_lowest_version(const struct tls_settings *set)
{
	uint16_t lowest = 0;

	for (int i = 3; i >= 0; i--) {
		bool is_off = set->off & 1 << i || (set->max && versions[i].version > set->max);

		if (is_off && lowest)
			break;
		if (!is_off)
			lowest = versions[i].version;
	}
	return lowest ? lowest : TLS1_VERSION;
}

void tls_set_versions(SSL *ssl, const struct tls_settings *set)
{
	SSL_clear_options(ssl, TLS_VERSIONS_OFF);
	SSL_set_options(ssl, tls_versions_off(set));
}
