/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* websocket.h - the proof that a server understood a WebSocket handshake (RFC 6455 4)
 *
 * Over HTTP/1 the client sends a random key and the server answers with a digest of it; over HTTP/2
 * (RFC 8441) there is neither. The translator between them makes the one that is missing, and
 * checks the answer to a key of its own.
 * Owns    : nothing. Pure; any thread.
 * Note    : the digest is SHA-1 because the RFC says so; nothing is kept secret by it.
 */
#ifndef CODEC_WEBSOCKET_H
#define CODEC_WEBSOCKET_H

#include "base/slice.h"

#define WEBSOCKET_KEY_LEN 24
#define WEBSOCKET_ACCEPT_LEN 28
/* Random bytes that a key is made of. */
#define WEBSOCKET_NONCE_LEN 16

/* Writes Sec-WebSocket-Key made of <nonce>. */
void websocket_key(const uint8_t nonce[WEBSOCKET_NONCE_LEN], char out[WEBSOCKET_KEY_LEN]);
/* Writes the Sec-WebSocket-Accept that answers <key>, of any length. */
void websocket_accept(struct slice key, char out[WEBSOCKET_ACCEPT_LEN]);

#endif
