/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log_forward.h - receives log messages of other programs and forwards them to log targets
 *
 * A section listens on stream sockets (both framings of RFC 6587) and datagram sockets. Each
 * message is parsed (codec/syslog.h) and sent to the section's log targets, each in the target's
 * format or else in its own. Bytes that are not a frame, and messages that are too long, end the
 * connection.
 * Owns   : sockets belong to the generation; connections hold it.
 * Threads: the threads of the bind line accept streams. Datagrams of an input are received by one
 *          of these threads: each input has the next thread.
 * Manual : configuration 12.6 log forwarding.
 */
#ifndef EXT_LOG_FORWARD_H
#define EXT_LOG_FORWARD_H

#include "base/module.h"

struct config;

/* Returns how many sockets its sections listen on. */
unsigned log_forward_count_inputs(const struct config *cfg);

extern const struct module mod_log_forward;

#endif
