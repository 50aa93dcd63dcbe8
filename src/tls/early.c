/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early.c - data sent before the handshake is over (RFC 8446 2.3, RFC 8470)
 *
 * From clients: it is read into memory of the connection, at most TLS_EARLY_MAX, whether the layer
 * above wants it or not, because the end of the handshake comes after it.
 *
 * To servers: the mux is told that the handshake is over before it has begun; the first bytes that
 * it sends leave with the hello. After the first answer of the server nothing more can be sent
 * early: the mux waits for room, as if the socket were full.
 */
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include "conn_priv.h"
#include "core/task.h"
#include "early_priv.h"
#include "facts_priv.h"
#include "tls/tls.h"

struct tls_early {
	struct list waiters;         /* struct tls_waiter.link */
	size_t len, at;
	char bytes[];                /* TLS_EARLY_MAX; none of QUIC */
};

static struct tls_early *early_of(struct tls_conn *t, size_t room)
{
	if (!t->early) {
		t->early = malloc(sizeof(*t->early) + room);
		if (!t->early)
			return NULL;
		t->early->len = t->early->at = 0;
		list_init(&t->early->waiters);
	}
	return t->early;
}

bool tls_early_read(struct tls_conn *t)
{
	struct tls_early *e = early_of(t, TLS_EARLY_MAX);
	size_t n = 0;
	int r = SSL_READ_EARLY_DATA_SUCCESS;

	while (e && r == SSL_READ_EARLY_DATA_SUCCESS) {
		/* (it is never full: OpenSSL refuses more than TLS_EARLY_MAX) */
		r = SSL_read_early_data(t->ssl, e->bytes + e->len, TLS_EARLY_MAX - e->len, &n);
		if (r == SSL_READ_EARLY_DATA_SUCCESS) {
			e->len += n;
			t->flags |= TLS_FL_HAD_EARLY;
		}
	}
	if (!e || r != SSL_READ_EARLY_DATA_FINISH)
		return false;
	t->flags |= TLS_FL_EARLY_END;
	if (!(t->flags & TLS_FL_HAD_EARLY))
		tls_early_free(t);
	return true;
}

bool tls_early_elsewhere(struct tls_conn *t)
{
	if (!early_of(t, 0))
		return false;
	t->flags |= TLS_FL_HAD_EARLY;
	return true;
}

size_t tls_early_take(struct tls_conn *t, char *p, size_t room)
{
	struct tls_early *e = t->early;
	size_t n = e ? e->len - e->at : 0;

	if (n > room)
		n = room;
	if (n) {
		memcpy(p, e->bytes + e->at, n);
		e->at += n;
	}
	if (e && e->at == e->len && t->flags & TLS_FL_DONE)
		tls_early_free(t);
	return n;
}

void tls_early_over(struct tls_conn *t)
{
	while (t->early && !list_is_empty(&t->early->waiters)) {
		struct tls_waiter *w = list_first(&t->early->waiters, struct tls_waiter, link);

		list_remove(&w->link);
		task_wake(w->task, TASK_WOKEN_RES);
	}
}

void tls_early_free(struct tls_conn *t)
{
	tls_early_over(t);
	free(t->early);
	t->early = NULL;
}

bool tls_is_early(const struct conn *c)
{
	const struct tls_conn *t = tls_of(c);

	return t && tls_early_goes_on(t);
}

void tls_wait_handshake(struct conn *c, struct tls_waiter *w)
{
	if (!list_is_linked(&w->link))
		list_append(&tls_of(c)->early->waiters, &w->link);
}

/* --- towards servers -------------------------------------------------------------------------- */

bool tls_early_begins(struct tls_conn *t)
{
	if ((t->flags & (TLS_FL_BACK | TLS_FL_EARLY | TLS_FL_HAD_EARLY)) !=
	    (TLS_FL_BACK | TLS_FL_EARLY))
		return false;
	t->flags |= TLS_FL_HAD_EARLY;
	return true;
}

size_t tls_early_room(const struct tls_conn *t)
{
	return t->early_room;
}

void tls_early_sent(struct tls_conn *t, size_t len)
{
	t->flags |= TLS_FL_EARLY_SENT;
	t->early_room -= (uint32_t)len;
}

bool tls_early_was_taken(struct tls_conn *t)
{
	if (SSL_get_early_data_status(t->ssl) == SSL_EARLY_DATA_ACCEPTED)
		return true;
	t->flags |= TLS_FL_EARLY_REFUSED;
	return false;
}

struct slice tls_alpn(const struct conn *c)
{
	const struct tls_conn *t = tls_of(c);
	const unsigned char *p = NULL;
	size_t size;

	if (!t)
		return slice_none();
	if (tls_early_goes_on(t) && t->flags & TLS_FL_BACK) {
		/* a server that takes early data keeps to the session's */
		SSL_SESSION_get0_alpn_selected(SSL_get0_session(t->ssl), &p, &size);
		return slice_make((const char *)p, size);
	}
	return tls_fact(t, TLS_FACT_ALPN, NULL);
}
