/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stick.h - stick rules: a backend remembers in a stick table which server a key was sent to
 *
 * Purpose: stick on, match, store-request, store-response; non-stick.
 * Owns   : rules belong to the generation; the keys of a request belong to its stream.
 * Threads: the stream's.
 * Fails  : out of memory, or with a full table, nothing is stored and the request is balanced.
 * Manual : configuration 4.2 stick match, stick on, stick store-request, stick store-response; 5.2
 *          non-stick.
 */
#ifndef STREAM_STICK_H
#define STREAM_STICK_H

#include <stdbool.h>
#include "base/module.h"

struct server;
struct stream;

/* Runs the rules on the request, once its backend is known. Returns the server of the first key
 * that is known and whose server may be used. NULL: none, or <matches> is false and nothing was
 * looked up.
 */
struct server *stick_request(struct stream *s, bool matches);
/* Stores the server of <s> under the keys that the request noted, then under those of the rules on
 * the answer. To be called once: in mode http when the head of the final answer has come, before
 * http-response rules; in mode tcp when the tcp-response rules have let the connection pass. A
 * server that refuses, times out or breaks the protocol is thus never stored.
 */
void stick_store(struct stream *s);

extern const struct module mod_stick;

#endif
