/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_dial.c - opens a connection of QUIC to a server: socket, connection, TLS in it */
#include <errno.h>
#include "net/conn.h"
#include "net/socket.h"
#include "tls/tls.h"
#include "h3_priv.h"

/* Puts TLS into the connection, and begins. NULL: it has failed, and is gone. */
static struct conn *begin(struct quic_conn *q, struct dial_want *w, const struct conn_ops *ops,
			  void *owner)
{
	struct tls_quic_start how = {
		.user = &quic_conn_tls_user, .owner = q,
	};
	struct conn *c = conn_new(-1, ops, owner,
				  CONN_BACKEND | CONN_CONNECTING | CONN_HANDSHAKE);

	if (!c || !tls_quic_dial(c, w, &how)) {
		conn_close(&c);
		quic_conn_drop(q);
		return NULL;
	}
	quic_conn_secure(q, c, &tls_quic_ops);
	return quic_dial_start(q) ? c : NULL;
}

enum dial_result h3_dial(struct dial_want *w, const struct conn_ops *ops, void *owner,
			 struct conn **out)
{
	struct quic_conn *q;
	int fd;

	*out = NULL;
	if (w->to->ss_family == AF_UNSPEC) {
		errno = EADDRNOTAVAIL;
		return DIAL_NO_ADDRESS;
	}
	fd = socket_connect_datagram_from(w->to, w->to_len, &w->set);
	if (fd < 0)
		return dial_result_of(errno);
	q = quic_dial(fd, quic_back_tunes_of(w->config), w->line);
	if (q)
		*out = begin(q, w, ops, owner);
	if (!*out)
		errno = ENOMEM;
	return *out ? DIAL_DONE : DIAL_NO_MEMORY;
}
