/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fetch.h - one small document by HTTP, for what TLS needs of others (OCSP answers)
 *
 * One fetch at a time, on thread 0: GET with HTTP/1.0, which ends with the connection; chunks are
 * understood all the same. Names are resolved on a thread of their own.
 */
#ifndef TLS_FETCH_H
#define TLS_FETCH_H

#include <stdbool.h>
#include "base/addr.h"
#include "base/slice.h"

/* The largest answer that is taken, bytes. */
#define FETCH_MAX (64 * 1024)
/* How long all of it may take. */
#define FETCH_MS 10000

/* Is one under way? */
bool fetch_is_busy(void);
/* Begins to get <url> ("http://host[:port]/path"), by way of <proxy> unless it is ADDR_NONE. When
 * it ends <done> is told the status and the body: 0 when there was no answer; never from within
 * this call. False: no memory, or no such URL; <done> is not called. Thread 0.
 */
bool fetch_start(const char *url, const struct addr *proxy,
		 void (*done)(unsigned status, struct slice body));
/* Gives up, without <done>. When the loops are over. */
void fetch_stop(void);

#endif
