/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_names.c - which certificate a host name leads to */
#include <stdlib.h>
#include "bind_priv.h"
#include "cert_priv.h"
#include "names_priv.h"
#include "store_priv.h"
#include "tap.h"

#define USES 6

static struct tls_entry entries[USES];
static struct tls_use uses[USES];
static struct tls_ctx ctx;
static struct tls_bind line;

static void make_use(int i, enum tls_key_type type, const char *filters)
{
	static struct slice area[64];
	static unsigned used;
	struct tls_cert *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->refs = 1;
	c->type = type;
	entries[i].cert = c;
	uses[i] = (struct tls_use){ .bind = &line, .entry = &entries[i], .ctx = &ctx,
				    .filters = area + used };
	while (*filters) {
		size_t len = strcspn(filters, " ");

		area[used++] = slice_make(filters, len);
		uses[i].filter_count++;
		filters += len + (filters[len] == ' ');
	}
	list_append(&line.uses, &uses[i].of_bind);
}

/* Which use serves <host>: its number, -1 none. <type>: the kind of key that is looked at. */
static int found(const char *host, bool strict, enum tls_key_type type)
{
	struct tls_choice c;

	if (!tls_names_find(tls_names_get(&line), slice_of(host), strict, &c) || !c.cert[type])
		return -1;
	for (int i = 0; i < USES; i++)
		if (entries[i].cert == c.cert[type])
			return i;
	return -1;
}

static void test_lookups(void)
{
	is_int(found("first.test", false, TLS_KEY_RSA), 0, "an exact name");
	is_int(found("FIRST.Test", false, TLS_KEY_RSA), 0, "in any case");
	is_int(found("a.wild.test", false, TLS_KEY_RSA), 1, "a wildcard");
	is_int(found("a.b.wild.test", true, TLS_KEY_RSA), -1, "stands for one label only");
	is_int(found("wild.test", true, TLS_KEY_RSA), -1, "and not for none");
	is_int(found("not.wild.test", true, TLS_KEY_RSA), -1, "an exclusion");
	is_int(found("not.wild.test", false, TLS_KEY_RSA), 0, "falls back to the first");
	is_int(found("own.wild.test", false, TLS_KEY_RSA), 2, "an exact name before a wildcard");
	is_int(found("own.wild.test", false, TLS_KEY_ECDSA), 3, "and its other kind of key");
	is_int(found("lone.wild.test", false, TLS_KEY_ECDSA), 4, "a name with one kind of key");
	is_int(found("lone.wild.test", false, TLS_KEY_RSA), 1, "has the other of its wildcard");
	is_int(found("lone.test", false, TLS_KEY_ECDSA), 5, "without a wildcard");
	is_int(found("lone.test", false, TLS_KEY_RSA), -1, "it has one kind only");
	is_int(found("unknown", false, TLS_KEY_RSA), 0, "an unknown name");
	is_int(found("unknown", true, TLS_KEY_RSA), -1, "is nobody's when strict");
	is_int(found("", false, TLS_KEY_RSA), 0, "no name at all");
	is_int(found("", true, TLS_KEY_RSA), -1, "is nobody's either");
	is_int(found(".wild.test", true, TLS_KEY_RSA), 1, "an empty label is a label");
}

static void test_long_name(void)
{
	char name[300];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	is_int(found(name, true, TLS_KEY_RSA), -1, "a name longer than any host's");
}

/* Another certificate for the same use, as a command makes it. */
static void test_replaced(void)
{
	struct tls_cert *old = entries[0].cert, *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->refs = 1;
	entries[0].cert = c;
	is_int(found("first.test", false, TLS_KEY_RSA), -1, "the old one until it is published");
	ok(tls_names_publish(&line), "published");
	is_int(found("first.test", false, TLS_KEY_RSA), 0, "the new one at once");
	is_int(old->refs, 1, "nobody holds the old one any more");
	tls_cert_drop(&old);
}

int main(void)
{
	list_init(&line.uses);
	line.cfg = config_new(); /* kept by the messages that tell threads of a new table */
	ctx.ssl = SSL_CTX_new(TLS_server_method());
	line.ctxs = &ctx;
	make_use(0, TLS_KEY_RSA, "first.test");
	make_use(1, TLS_KEY_RSA, "*.wild.test !not.wild.test");
	make_use(2, TLS_KEY_RSA, "own.wild.test");
	make_use(3, TLS_KEY_ECDSA, "own.wild.test");
	make_use(4, TLS_KEY_ECDSA, "lone.wild.test");
	make_use(5, TLS_KEY_ECDSA, "lone.test");
	ok(tls_names_publish(&line), "a table");
	test_lookups();
	test_long_name();
	test_replaced();
	tls_names_fini(&line);
	for (int i = 0; i < USES; i++)
		tls_cert_drop(&entries[i].cert);
	SSL_CTX_free(ctx.ssl);
	config_drop(&line.cfg);
	return done_testing();
}
