/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sent.h - how much this process sends
 *
 * Bytes that sockets took, counted where they are handed over: to clients and to servers, of
 * checks, of peers and of the Runtime API; TLS as it is encrypted, QUIC by its datagrams.
 * `show info` tells them as TotalBytesOut, TotalSplicedBytesOut and BytesOutRate (management guide,
 * chapter 9). Not among them: what is logged, and what DNS asks.
 *
 * Each thread group counts on a cache line of its own. Any thread may read.
 */
#ifndef NET_SENT_H
#define NET_SENT_H

#include <stddef.h>
#include <stdint.h>

/* A socket of this thread took <bytes>. */
void sent_add(size_t bytes);
/* The same, of bytes that went through a pipe. */
void sent_add_spliced(size_t bytes);

/* Bytes since the start. */
uint64_t sent_total(void);
uint64_t sent_total_spliced(void);
/* Bytes of the second that just passed, in units of 32. */
uint64_t sent_rate(void);

#endif
