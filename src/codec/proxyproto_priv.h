/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxyproto_priv.h - constants of the PROXY protocol, for parser and writer */
#ifndef CODEC_PROXYPROTO_PRIV_H
#define CODEC_PROXYPROTO_PRIV_H

#define V1_SIGNATURE SLICE("PROXY ")
#define V2_SIGNATURE SLICE("\r\n\r\n\0\r\nQUIT\n")

/* Family, in the high half of the 14th byte, and transport, in its low half. */
#define V2_FAMILY_INET 1
#define V2_FAMILY_INET6 2
#define V2_FAMILY_UNIX 3
#define V2_STREAM 1

/* Size of both addresses. */
#define V2_INET 12
#define V2_INET6 36
#define V2_UNIX 216

#endif
