/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sess_priv.h - what sess_dump.c gives sess_full.c. All on the stream's thread. */
#ifndef STREAM_SESS_PRIV_H
#define STREAM_SESS_PRIV_H

#include "base/addr.h"
#include "stream/sess_dump.h"

struct conn;
struct endpoint;

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
