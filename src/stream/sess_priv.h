/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sess_priv.h - how streams look in `show sess` */
#ifndef STREAM_SESS_PRIV_H
#define STREAM_SESS_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/strbuf.h"

struct conn;
struct ctl_connection_info;
struct endpoint;
struct stream;

/* All on the thread of what they describe. */

struct sess_view {
	struct strbuf *out;
	bool uri;      /* with the request line, where there is one */
	uint32_t anon; /* the key which hides names and addresses, 0: none; see ctl_hide() */
};

/* One line. */
void sess_dump_line(struct stream *s, const struct sess_view *view);
/* Several lines. */
void sess_dump_full(struct stream *s, const struct sess_view *view);
/* A connection of the Runtime API, which is no stream, in the same columns. */
void sess_dump_ctl(const struct ctl_connection_info *info, const struct sess_view *view, bool full);
/* "[20/Nov/2026:22:46:58.660846]", with <digits> of the second, in local time. */
void sess_put_date(struct strbuf *out, uint64_t wall_us, int digits);


/* --- sess_dump.c, for sess_full.c */

/* "127.0.0.1:80"; a UNIX socket has the number of its listener. */
void sess_put_address(const struct sess_view *view, const struct addr *a, unsigned listener);
const char *sess_family_name(const struct addr *a);
/* NULL: none. */
const struct conn *sess_conn_of(struct endpoint *ep);
/* Of the peer, or our own; ADDR_NONE: none. */
struct addr sess_address_of(const struct conn *c, bool peer);
bool sess_has_backend(const struct stream *s);
/* The state of the server's side, in the reference's numbers and words. */
const char *sess_back_state(const struct stream *s, int *number);
uint64_t sess_connect_deadline(const struct stream *s);
/* The request line, with what could disturb a terminal made visible. */
void sess_put_uri(struct strbuf *out, const struct stream *s);
void sess_put_age(struct strbuf *out, uint64_t since_ns);

/* --- sess_full.c */

void sess_dump_ctl_full(const struct ctl_connection_info *info, const struct sess_view *view);

#endif
