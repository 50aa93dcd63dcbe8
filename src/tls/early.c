/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early.c - data that clients send before the handshake is over (RFC 8446 2.3, RFC 8470)
 *
 * It is read into memory of the connection, at most TLS_EARLY_MAX, whether the layer above wants it
 * or not: the end of the handshake comes behind it.
 */
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include "core/task.h"
#include "tls_priv.h"

struct tls_early {
	struct list waiters;         /* struct tls_waiter.link */
	size_t len, at;
	char bytes[TLS_EARLY_MAX];
};

static struct tls_early *early_of(struct tls_conn *t)
{
	if (!t->early) {
		t->early = malloc(sizeof(*t->early));
		if (!t->early)
			return NULL;
		t->early->len = t->early->at = 0;
		list_init(&t->early->waiters);
	}
	return t->early;
}

bool tls_early_read(struct tls_conn *t)
{
	struct tls_early *e = early_of(t);
	size_t n = 0;
	int r = SSL_READ_EARLY_DATA_SUCCESS;

	while (e && r == SSL_READ_EARLY_DATA_SUCCESS) {
		/* (it is never full: OpenSSL refuses more than TLS_EARLY_MAX) */
		r = SSL_read_early_data(t->ssl, e->bytes + e->len, sizeof(e->bytes) - e->len, &n);
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

bool tls_early_is_kept(const struct tls_conn *t)
{
	return t->early && t->early->at < t->early->len;
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
