/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxyproto.h - PROXY protocol headers, versions 1 (text) and 2 (binary)
 *
 * Parsing needs contiguous bytes from the start of the connection, and may be repeated: it keeps
 * nothing between calls. Building writes to the caller's room. TLVs and UNIX paths are slices of
 * the input. A CRC32c TLV is always verified. Strict where the specification leaves a choice: one
 * blank between the fields of version 1, canonical ports, TLVs that fill their space exactly.
 * Owns: nothing. Threads: any. See: proxy-protocol.txt of the manuals.
 */
#ifndef CODEC_PROXYPROTO_H
#define CODEC_PROXYPROTO_H

#include "base/addr.h"
#include "base/slice.h"

enum proxyproto_status { PROXYPROTO_MORE, PROXYPROTO_DONE, PROXYPROTO_ERROR };

/* X(symbol, "meaning") */
#define PROXYPROTO_ERRORS(X) \
	X(NONE, "no error") \
	X(SIGNATURE, "not a PROXY protocol header") \
	X(TOO_LONG, "version 1 line longer than 107 bytes") \
	X(PROTOCOL, "unknown protocol in version 1 line") \
	X(ADDRESS, "malformed address") \
	X(PORT, "malformed port") \
	X(LINE_END, "version 1 line not ended by CRLF after its fields") \
	X(VERSION, "unsupported version") \
	X(COMMAND, "unsupported command") \
	X(LENGTH, "length too small for the address family") \
	X(TLV, "malformed TLV") \
	X(CRC, "wrong CRC32c")

enum proxyproto_error {
#define X(symbol, text) PROXYPROTO_ERR_##symbol,
	PROXYPROTO_ERRORS(X)
#undef X
};

/* The length of the longest version 1 line, and of the fixed part of version 2. */
#define PROXYPROTO_V1_MAX 107
#define PROXYPROTO_V2_FIXED 16

/* TLV types (specification 2.2). */
enum proxyproto_tlv {
	PROXYPROTO_TLV_ALPN = 0x01, PROXYPROTO_TLV_AUTHORITY = 0x02, PROXYPROTO_TLV_CRC32C = 0x03,
	PROXYPROTO_TLV_NOOP = 0x04, PROXYPROTO_TLV_UNIQUE_ID = 0x05, PROXYPROTO_TLV_SSL = 0x20,
	PROXYPROTO_TLV_SSL_VERSION = 0x21, PROXYPROTO_TLV_SSL_CN = 0x22,
	PROXYPROTO_TLV_SSL_CIPHER = 0x23, PROXYPROTO_TLV_SSL_SIG_ALG = 0x24,
	PROXYPROTO_TLV_SSL_KEY_ALG = 0x25, PROXYPROTO_TLV_NETNS = 0x30
};

/* Bits of the SSL TLV's client field. */
#define PROXYPROTO_CLIENT_SSL 0x01
#define PROXYPROTO_CLIENT_CERT_CONN 0x02
#define PROXYPROTO_CLIENT_CERT_SESS 0x04

struct proxyproto {
	uint8_t version;  /* 1 or 2 */
	bool local;       /* LOCAL (v2): addresses and TLVs must not be used */
	bool datagram;    /* v2: the proxied transport is a datagram one */
	uint8_t error;    /* enum proxyproto_error after PROXYPROTO_ERROR */
	size_t length;    /* bytes of the header */
	struct addr source, destination; /* ADDR_NONE: UNKNOWN, UNSPEC or local */
	struct slice source_path, destination_path; /* with ADDR_UNIX, without trailing NULs */
	struct slice tlvs; /* v2: for proxyproto_tlv_next() */
};

/* Parses the header at the start of <input>. MORE: valid so far. */
enum proxyproto_status proxyproto_parse(struct slice input, struct proxyproto *out);
const char *proxyproto_error_text(uint8_t error);

/* Iterates over TLVs: returns the next one and moves <tlvs> past it. False at the end. */
bool proxyproto_tlv_next(struct slice *tlvs, uint8_t *type, struct slice *value);
/* Returns the value of the first TLV of this type; slice_none(): none. */
struct slice proxyproto_tlv_find(struct slice tlvs, uint8_t type);
/* Parses an SSL TLV's value: the client bits, the verify result, and the inner TLVs. False:
 * malformed.
 */
bool proxyproto_ssl_open(struct slice value, uint8_t *client, uint32_t *verify,
			 struct slice *inner);

/* Writes a version 1 line for a pair of addresses: "UNKNOWN" unless both are internet addresses; if
 * one is IPv6, IPv4 is mapped to IPv6. Returns its length; 0: <room> is too small.
 */
size_t proxyproto_make_v1(char *out, size_t room, const struct addr *source,
			  const struct addr *destination);

/* Writes a version 2 header in steps: begin, TLVs, end. */
struct proxyproto_writer {
	uint8_t *out;
	size_t room, len;
	size_t nested;   /* offset of the open SSL TLV, 0: none */
	size_t crc;      /* offset of the checksum, 0: none */
	bool overflow;   /* room was too small; end returns 0 */
};

/* Starts a header in <out>. With two internet addresses: command PROXY, IPv4 mapped if the other is
 * IPv6. With <source> NULL: command LOCAL. Otherwise PROXY with an unspecified family.
 */
void proxyproto_v2_begin(struct proxyproto_writer *w, void *out, size_t room,
			 const struct addr *source, const struct addr *destination);
/* Adds a TLV, to the SSL TLV while that is open. */
void proxyproto_v2_tlv(struct proxyproto_writer *w, uint8_t type, struct slice value);
/* Open and close the SSL TLV; inner TLVs are added between. */
void proxyproto_v2_ssl_begin(struct proxyproto_writer *w, uint8_t client, uint32_t verify);
void proxyproto_v2_ssl_end(struct proxyproto_writer *w);
/* Adds a checksum TLV, which proxyproto_v2_end() computes. */
void proxyproto_v2_crc32c(struct proxyproto_writer *w);
/* Completes the header; returns its length; 0: <room> was too small. */
size_t proxyproto_v2_end(struct proxyproto_writer *w);

#endif
