/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ring_priv.h - servers that get what a ring holds
 *
 * A *forwarder* reads a ring from its first message on and sends all to one server over TCP or
 * TLS. It keeps the ring from losing what it has not read: while the server is away the ring fills
 * up, and what finds no room then is dropped and counted. A message is sent again, whole, when the
 * connection broke in its middle.
 * Owns   : a forwarder outlives its generation when the next one has the same server on the same
 *          ring; it holds the generation whose settings it uses.
 * Threads: it works on one thread, the next one on the next; begun and ended by thread 0.
 */
#ifndef SRC_PROXY_RING_H
#define SRC_PROXY_RING_H

#include "conf/conf.h"
#include "core/sink.h"
#include "proxy/server.h"

struct ring_conf {
	struct ring_conf *next;
	struct proxy *proxy;   /* its servers; not among the proxies, but for a log backend */
	struct server *only;   /* of a log backend: the one that it serves; else NULL */
	struct sink *sink;     /* of the generation, once the section is read */
	const char *file;
	int line;
	/* while it is read */
	const char *name, *description;
	struct ring *ring;     /* counted: of the backing file */
	const char *path;
	uint64_t size, max_len;
	enum syslog_format format;
	bool is_wrong;         /* its name is taken */
	int64_t connect_ms, server_ms;
};

/* Once. */
bool ring_forward_init(void);
/* Begins, or goes on, to serve the rings of <cfg>. False: no memory, reported. */
bool ring_forward_start(struct config *cfg, struct ring_conf *rings, struct diag_list *diags);
/* Ends the forwarders that still use <cfg>. */
void ring_forward_stop(const struct config *cfg);
/* The calling thread before and behind its loop; then all of its forwarders end. */
bool ring_forward_thread_init(void);
void ring_forward_thread_fini(void);

#endif
