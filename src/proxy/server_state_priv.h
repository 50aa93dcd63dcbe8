/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_state_priv.h - copies the address of a server, which may change while it is read */
#ifndef PROXY_SERVER_STATE_PRIV_H
#define PROXY_SERVER_STATE_PRIV_H

/* Copies the 28 bytes of an address word by word, since another thread may be writing or reading
 * them. A reader that sees a new word also sees that the turn has changed.
 */
void server_address_copy(void *to, const void *from);

#endif
