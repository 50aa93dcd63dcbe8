/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handshake_priv.h - the TLS handshake between a client's preambles and its mux */
#ifndef STREAM_HANDSHAKE_PRIV_H
#define STREAM_HANDSHAKE_PRIV_H

#include <stdbool.h>

struct session;

bool handshake_init(void);
/* Starts a handshake, if the bind line asks for it, for a session whose preambles are over, then
 * calls session_start() or session_abort(). <readable>: bytes may be waiting. May free <s>.
 */
void session_secure(struct session *s, bool readable);

#endif
