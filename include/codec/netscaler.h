/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* netscaler.h - NetScaler's client address insertion ("CIP"): the client's IP and TCP headers
 * before the first byte of a connection
 *
 *    magic (4) | length (4) | IP header, TCP header            the old form: <length> bytes follow
 *    magic (4) | total (4) | type (2) | length (2) | IP, TCP   the new one: <length> bytes follow
 *
 * Numbers are in network order. The forms are distinguished by the IP version, which is where the
 * new form has its type. A length that does not cover the announced headers is refused, so that no
 * part of them is ever taken for a request.
 * Owns: nothing. Threads: any. Manual: accept-netscaler-cip (the forms were found by asking the
 * reference).
 */
#ifndef CODEC_NETSCALER_H
#define CODEC_NETSCALER_H

#include "base/addr.h"
#include "base/slice.h"

enum netscaler_status {
	NETSCALER_MORE,     /* valid so far */
	NETSCALER_DONE,
	NETSCALER_MAGIC,    /* begins with another number */
	NETSCALER_PROTOCOL, /* neither TCP over IPv4 nor TCP over IPv6, or inconsistent lengths */
};

/* Maximum length of a header: longer ones are refused. */
#define NETSCALER_MAX 512

struct netscaler {
	size_t length; /* bytes of the header, including the magic number */
	struct addr source, destination;
};

/* Parses the header at the start of <input>; may be repeated. <out> is set with DONE only. */
enum netscaler_status netscaler_parse(struct slice input, uint32_t magic, struct netscaler *out);

#endif
