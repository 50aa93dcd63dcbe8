/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ring_priv.h - sends the contents of rings to servers
 *
 * A *forwarder* reads a ring from its first message on and sends everything to one server over TCP
 * or TLS. It keeps the ring from losing unread messages: while the server is away the ring fills
 * up, and messages without room are dropped and counted. If the connection breaks in the middle of
 * a message, the whole message is sent again.
 * Owns   : a forwarder outlives its generation if the next one has the same server on the same
 *          ring; it holds the generation whose settings it uses.
 * Threads: each works on one thread, the next one on the next thread; started and ended by thread
 *          0.
 */
#ifndef SRC_PROXY_RING_H
#define SRC_PROXY_RING_H

#include "conf/conf.h"
#include "core/sink.h"
#include "proxy/server.h"

struct ring_conf {
	struct ring_conf *next;
	/* has its servers; not among the proxies, except for a log backend */
	struct proxy *proxy;
	struct server *only;   /* for a log backend: the server it sends to; else NULL */
	struct sink *sink;     /* of the generation, after the section was read */
	const char *file;
	int line;
	/* while the section is read */
	const char *name, *description;
	struct ring *ring;     /* counted: with the backing file */
	const char *path;
	uint64_t size, max_len;
	enum syslog_format format;
	bool is_wrong;         /* its name is already used */
	int64_t connect_ms, server_ms;
};

/* Call once. */
bool ring_forward_init(void);
/* Starts, or continues, sending the rings of <cfg>. False: out of memory, reported. */
bool ring_forward_start(struct config *cfg, struct ring_conf *rings, struct diag_list *diags);
/* Ends the forwarders that still use <cfg>. */
void ring_forward_stop(const struct config *cfg);
/* For the calling thread before and after its loop; the latter ends all its forwarders. */
bool ring_forward_thread_init(void);
void ring_forward_thread_fini(void);

#endif
