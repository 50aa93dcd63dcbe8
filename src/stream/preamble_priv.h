/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preamble_priv.h - what a client's connection says of itself before its first byte: the PROXY
 * protocol, NetScaler's client address insertion
 *
 * The header is looked at in the socket without taking it, and taken as a whole: the mux above
 * never sees a byte of it, and what follows stays in the socket. Waiting is bounded by `timeout
 * client-hs`, else `timeout client`.
 * Owns   : while it waits it is the owner of the session's connection.
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
 * session_abort() when one does not come. True: it waits, or has ended the session; false: none is
 * announced.
 */
bool preamble_wait(struct session *s);

#endif
