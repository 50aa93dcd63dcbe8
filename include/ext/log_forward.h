/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log_forward.h - log messages of others: received, read and passed on to log targets
 *
 * A section listens for streams (both framings of RFC 6587) and datagrams. Each message is read
 * (codec/syslog.h) and given to the section's log targets, each in the form that it asks for or
 * else in its own. What is no frame ends its connection; what is too long, too.
 * Owns   : sockets of the generation; connections, which hold it.
 * Threads: streams are accepted by the threads of their bind line, datagrams of an input are
 *          received by one of these: the next input has the next thread.
 * Manual : configuration 12.6 log forwarding.
 */
#ifndef EXT_LOG_FORWARD_H
#define EXT_LOG_FORWARD_H

#include "base/module.h"

struct config;

/* How many sockets its sections listen on. */
unsigned log_forward_count_inputs(const struct config *cfg);

extern const struct module mod_log_forward;

#endif
