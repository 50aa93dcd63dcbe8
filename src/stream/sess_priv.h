/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sess_priv.h - functions of sess_dump.c for sess_full.c. All on the stream's thread. */
#ifndef STREAM_SESS_PRIV_H
#define STREAM_SESS_PRIV_H

#include "base/addr.h"
#include "stream/sess_dump.h"

struct conn;
struct endpoint;

/* Appends "127.0.0.1:80"; for a UNIX socket, the number of its listener. */
void sess_put_address(const struct sess_view *view, const struct addr *a, unsigned listener);
const char *sess_family_name(const struct addr *a);
/* Returns its connection; NULL: none. */
const struct conn *sess_conn_of(struct endpoint *ep);
/* Returns the address of the peer, or our own; ADDR_NONE: none. */
struct addr sess_address_of(const struct conn *c, bool peer);
bool sess_has_backend(const struct stream *s);
/* Returns the state of the server's side, in the reference's words; *number: its number. */
const char *sess_back_state(const struct stream *s, int *number);
uint64_t sess_connect_deadline(const struct stream *s);
/* Appends the request line, with bytes that could disturb a terminal made visible. */
void sess_put_uri(struct strbuf *out, const struct stream *s);
void sess_put_age(struct strbuf *out, uint64_t since_ns);

/* --- sess_full.c */

void sess_dump_ctl_full(const struct ctl_connection_info *info, const struct sess_view *view);

#endif
