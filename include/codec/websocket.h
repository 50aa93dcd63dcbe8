/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* websocket.h - the one sum of the WebSocket handshake (RFC 6455 4.2.2). Pure, any thread. */
#ifndef CODEC_WEBSOCKET_H
#define CODEC_WEBSOCKET_H

#include "base/slice.h"

/* Length of a Sec-WebSocket-Accept. No NUL is counted nor written. */
#define WEBSOCKET_ACCEPT_LEN 28

/* Writes the Sec-WebSocket-Accept that answers <key>, as it was sent. */
void websocket_accept(struct slice key, char out[WEBSOCKET_ACCEPT_LEN]);

#endif
