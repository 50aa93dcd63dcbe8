/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key_update.c - KeyUpdate messages of a connection, counted: many a second are a flood
 *
 * Each makes both sides compute keys (RFC 8446 4.6.3), and OpenSSL limits them only between data.
 * Too many are marked by UINT32_MAX in tls_conn.updates; reading then fails (conn.c).
 */
#include "base/bug.h"
#include "base/clock.h"
#include "conn_priv.h"
#include "hello_priv.h"

void tls_message_seen(int sent, int version, int type, const void *bytes, size_t len,
		      SSL *ssl, void *rate)
{
	struct conn *c;
	struct tls_conn *t;
	uint32_t now;

	if (likely(sent || type != SSL3_RT_HANDSHAKE) || !len)
		return;
	if (*(const unsigned char *)bytes == SSL3_MT_CLIENT_HELLO)
		tls_hello_seen(bytes, len);
	if (*(const unsigned char *)bytes != SSL3_MT_KEY_UPDATE || !rate)
		return;
	c = tls_now();
	if (!c)
		return;
	t = c->transport_ctx;
	now = (uint32_t)(clock_now_ms() / 1000);
	if (t->updates_s != now && t->updates != UINT32_MAX) {
		t->updates_s = now;
		t->updates = 0;
	}
	if (t->updates >= (uintptr_t)rate)
		t->updates = UINT32_MAX;
	else
		t->updates++;
}
