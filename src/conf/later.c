/* SPDX-License-Identifier: GPL-2.0-or-later */
/* later.c - keywords that wait for a part of the program that is not there yet
 *
 * Their error says what they wait for, instead of "unknown keyword". They are not keywords, so -dK,
 * the manual and suggestions do not show them. A row is removed when its keyword is implemented; a
 * table that has the word is searched first in any case.
 */
#include <string.h>
#include "conf_priv.h"

#define TLS "TLS"

static const struct {
	const char *words; /* one or several; "tune.h2.*": whatever begins so */
	unsigned where;
	const char *feature;
} later[] = {
	/* rows of words that TLS itself has not: before those of all its words */
	{ "ca-base", CONF_GLOBAL, TLS }, { "crt-base", CONF_GLOBAL, TLS },
	{ "key-base", CONF_GLOBAL, TLS }, { "issuers-chain-path", CONF_GLOBAL, TLS },
	{ "maxsslconn", CONF_GLOBAL, TLS }, { "maxsslrate", CONF_GLOBAL, TLS },
	{ "ocsp-update.*", CONF_GLOBAL, TLS }, { "ssl-*", CONF_GLOBAL, TLS },
	{ "tune.ssl.*", CONF_GLOBAL, TLS },
	/* where it is built without Lua */
	{ "lua-*", CONF_GLOBAL, "Lua" }, { "tune.lua.*", CONF_GLOBAL, "Lua" },
	{ "tune.pattern.*", CONF_GLOBAL, "a cache of patterns" },

	{ "ssl-f-use", CONF_PROXY, TLS },

	{ "ssl", CONF_BIND | CONF_SERVER, TLS }, { "allow-0rtt", CONF_BIND | CONF_SERVER, TLS },
	{ "alpn", CONF_BIND | CONF_SERVER, TLS }, { "npn", CONF_BIND | CONF_SERVER, TLS },
	{ "ca-*", CONF_BIND | CONF_SERVER, TLS }, { "ciphers", CONF_BIND | CONF_SERVER, TLS },
	{ "ciphersuites", CONF_BIND | CONF_SERVER, TLS },
	{ "client-sigalgs", CONF_BIND | CONF_SERVER, TLS },
	{ "crl-file", CONF_BIND | CONF_SERVER, TLS }, { "crt", CONF_BIND | CONF_SERVER, TLS },
	{ "crt-*", CONF_BIND, TLS }, { "default-crt", CONF_BIND, TLS },
	{ "curves", CONF_BIND | CONF_SERVER, TLS }, { "ecdhe", CONF_BIND, TLS },
	{ "force-*", CONF_BIND | CONF_SERVER, TLS },
	{ "generate-certificates", CONF_BIND, TLS },
	{ "no-alpn", CONF_BIND | CONF_SERVER, TLS }, { "no-ca-names", CONF_BIND, TLS },
	{ "no-ssl*", CONF_BIND | CONF_SERVER, TLS }, { "no-strict-sni", CONF_BIND, TLS },
	{ "no-tls*", CONF_BIND | CONF_SERVER, TLS },
	{ "prefer-client-ciphers", CONF_BIND, TLS },
	{ "sigalgs", CONF_BIND | CONF_SERVER, TLS },
	{ "ssl-*", CONF_BIND | CONF_SERVER, TLS }, { "strict-sni", CONF_BIND, TLS },
	{ "tls-*", CONF_BIND | CONF_SERVER, TLS }, { "verify", CONF_BIND | CONF_SERVER, TLS },
	{ "verifyhost", CONF_SERVER, TLS }, { "sni", CONF_SERVER, TLS },
	{ "sni-auto", CONF_SERVER, TLS }, { "no-sni-auto", CONF_SERVER, TLS },
	{ "send-proxy-v2-ssl*", CONF_SERVER, TLS },
};

/* Are the words the first ones of <pattern>'s? */
static bool words_fit(char *const *words, int count, const char *pattern)
{
	for (int i = 0; i < count; i++) {
		size_t len = strcspn(pattern, " ");

		if (len && pattern[len - 1] == '*')
			return strncmp(words[i], pattern, len - 1) == 0;
		if (strlen(words[i]) != len || strncmp(words[i], pattern, len) != 0)
			return false;
		if (!pattern[len])
			return true;
		pattern += len + 1;
	}
	return false;
}

const char *conf_later_feature(char *const *words, int count, unsigned where)
{
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (later[i].where & where && words_fit(words, count, later[i].words))
			return later[i].feature;
	return NULL;
}

const char *conf_later_section(const char *name)
{
	static const struct {
		const char *name, *why;
	} sections[] = {
		{ "acme", "needs OpenSSL, which this program is built without" },
		{ "program", "has gone with HAProxy 3.3: the service manager starts programs" },
	};

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (strcmp(name, sections[i].name) == 0)
			return sections[i].why;
	return NULL;
}
