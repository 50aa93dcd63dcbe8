/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spoe.h - Stream Processing Offload Engine: agents that decide about streams
 *
 *     filter spoe engine NAME config FILE         inserts an engine into a proxy's streams
 *         events of a stream  --NOTIFY-->  agent  --ACK-->  variables that rules read
 *     http-request send-spoe-group NAME GROUP     likewise, when a rule applies
 *
 * Purpose: the file describes the agent and its messages: expressions, conditions, the event of
 *          each. A stream waits at the event until the agent has answered, or until `timeout
 *          processing`.
 * Links  : each thread has its own connections to an agent's backend, streams that the program
 *          begins (stream/inside.h), with many requests in progress on each.
 * Owns   : engines belong to the configuration. A request lies in its stream's arena, and is
 *          cancelled when the stream ends.
 * Threads: a stream, its requests and their links are on one thread.
 * Errors : a failure sets the variable of `option set-on-error`, and the stream continues; its
 *          further events are skipped unless `option continue-on-error` is set.
 * Manual : configuration 9.3, SPOE.
 */
#ifndef EXT_SPOE_H
#define EXT_SPOE_H

extern const struct module mod_spoe;

#endif
