/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* websocket.h - key and accept values of a WebSocket handshake (RFC 6455 4)
 *
 * Over HTTP/1 the client sends a random key and the server answers with a digest of it; over HTTP/2
 * (RFC 8441) there is neither. A translator between the two generates the missing value, and checks
 * the response to a key that it generated.
 * Owns    : nothing. Pure; any thread.
 * Note    : the digest is SHA-1 as the RFC requires; it protects no secret.
 */
#ifndef CODEC_WEBSOCKET_H
#define CODEC_WEBSOCKET_H

#include "base/slice.h"

#define WEBSOCKET_KEY_LEN 24
#define WEBSOCKET_ACCEPT_LEN 28
/* Number of random bytes that a key is made from. */
#define WEBSOCKET_NONCE_LEN 16

/* Writes the Sec-WebSocket-Key for <nonce>. */
void websocket_key(const uint8_t nonce[WEBSOCKET_NONCE_LEN], char out[WEBSOCKET_KEY_LEN]);
/* Writes the Sec-WebSocket-Accept for <key>, of any length. */
void websocket_accept(struct slice key, char out[WEBSOCKET_ACCEPT_LEN]);

#endif
