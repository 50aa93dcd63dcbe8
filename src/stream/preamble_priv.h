/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preamble_priv.h - headers before a client's first byte: PROXY protocol, NetScaler's client
 * address insertion
 *
 * The header is peeked at in the socket and consumed as a whole: the mux above never sees a byte of
 * it, and what follows stays in the socket. Waiting is limited by `timeout client-hs`, else
 * `timeout client`.
 * Owns   : while it waits it owns the session's connection.
 * Threads: the session's.
 */
#ifndef STREAM_PREAMBLE_PRIV_H
#define STREAM_PREAMBLE_PRIV_H

#include <stdbool.h>
#include "net/conn.h"

struct session;

enum preamble_kind { PREAMBLE_PROXY, PREAMBLE_CIP };

bool preamble_init(void);
/* The operations of a connection that waits for a preamble, or has no user yet. */
extern const struct conn_ops preamble_ops;
/* Waits for the headers that the bind line or a rule announces, then calls session_start(), or
 * session_abort() if one does not come. True: waiting, or the session has ended; false: none is
 * announced.
 */
bool preamble_wait(struct session *s);

#endif
