/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sent.h - counts what this process sends
 *
 * Counts the bytes that sockets took: sent to clients and servers, by checks, peers and the Runtime
 * API; TLS bytes as encrypted, QUIC as datagrams. `show info` reports them as TotalBytesOut,
 * TotalSplicedBytesOut and BytesOutRate (management guide, chapter 9). Not counted: log messages
 * and DNS queries.
 *
 * Each thread group counts on a cache line of its own. Any thread may read.
 */
#ifndef NET_SENT_H
#define NET_SENT_H

#include <stddef.h>
#include <stdint.h>

/* Counts <bytes> that a socket of this thread took. */
void sent_add(size_t bytes);
/* As sent_add(), for bytes that went through a pipe. */
void sent_add_spliced(size_t bytes);

/* Return the bytes since the start: all, and spliced ones. */
uint64_t sent_total(void);
uint64_t sent_total_spliced(void);
/* Returns the bytes of the last second; counted in units of 32. */
uint64_t sent_rate(void);

#endif
