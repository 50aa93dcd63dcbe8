/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_none.c - QUIC without OpenSSL: lines that ask for it are refused, so none of it is called */
#include "base/module.h"
#include "conf/conf.h"
#include "quic/quic.h"

const struct quic_tls_user quic_conn_tls_user;

const struct quic_tunes *quic_tunes_of(const struct config *cfg)
{
	static const struct quic_tunes off = { .off = true };

	return &off;
}

const struct quic_tunes *quic_back_tunes_of(const struct config *cfg)
{
	return quic_tunes_of(cfg);
}

const struct quic_line *quic_server_line_of(const struct slot_area *server)
{
	return NULL;
}

const struct quic_line *quic_line_of(const struct slot_area *bind)
{
	return NULL;
}

bool quic_listen(int fd, const struct quic_listener *l, enum quic_listen how)
{
	return false;
}

void quic_conn_secure(struct quic_conn *q, struct conn *c, const struct quic_tls_ops *tls)
{
}

struct conn *quic_conn_release(struct quic_conn *q)
{
	return NULL;
}

const struct addr *quic_conn_peer(const struct quic_conn *q)
{
	return NULL;
}

const struct addr *quic_conn_local(const struct quic_conn *q)
{
	return NULL;
}

uint64_t quic_conn_since_ns(const struct quic_conn *q)
{
	return 0;
}

bool quic_conn_figures(const struct conn *c, struct quic_figures *out)
{
	return false;
}

#define IGNORED(text, what, why) \
	{ .words = text, .where = CONF_GLOBAL, .min_args = 1, .max_args = 1, \
	  .flags = CONF_IGNORED, .syntax = what, .help = why, .hint = why }

static const struct conf_keyword keywords[] = {
	IGNORED("cluster-secret", "<secret>", "this program is built without QUIC"),
	IGNORED("harden.reject-privileged-ports.quic", "{ on | off }",
		"this program is built without QUIC"),
	{ 0 }
};

const struct module mod_quic = { .name = "quic", .keywords = keywords };
const struct module mod_h3 = { .name = "h3" };
