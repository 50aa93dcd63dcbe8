/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spoe.h - Stream Processing Offload Engine: agents that decide about streams
 *
 *     filter spoe engine NAME config FILE         an engine on the way of a proxy's streams
 *         events of a stream  --NOTIFY-->  agent  --ACK-->  variables that rules read
 *     http-request send-spoe-group NAME GROUP     the same, when a rule says so
 *
 * Purpose: the file describes the agent and its messages: expressions, conditions, the event of
 *          each. A stream waits at the event until the agent has answered, or `timeout processing`.
 * Links  : each thread has connections of its own to the backend of an agent, streams begun by the
 *          program (stream/inside.h), over which many requests are under way at once.
 * Owns   : engines belong to the configuration. A request lies in its stream's arena, and is
 *          cancelled when the stream ends.
 * Threads: all of a stream, its requests and their links is on one thread.
 * Errors : what fails sets the variable of `option set-on-error`, and the stream goes on; further
 *          events of the stream are passed over but with `option continue-on-error`.
 * Manual : configuration 9.3, SPOE.
 */
#ifndef EXT_SPOE_H
#define EXT_SPOE_H

extern const struct module mod_spoe;

#endif
