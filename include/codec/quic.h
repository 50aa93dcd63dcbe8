/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* quic.h - QUIC versions 1 and 2 on the wire: integers, packet headers, frames, parameters
 *
 * Purpose: converts bytes to structs and back, nothing else: the protected parts (packet numbers,
 *          payloads) are up to the QUIC floor, which has the keys.
 * Owns   : nothing. Pointers in structs refer to the parsed bytes, borrowed.
 * Threads: any; there is no state.
 * Errors : false, or an error of RFC 9000 20.1, for anything incomplete or not allowed.
 * See    : RFC 8999, RFC 9000 16 to 19, RFC 9368, RFC 9369.
 */
#ifndef CODEC_QUIC_H
#define CODEC_QUIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUIC_VERSION_1 1u
#define QUIC_VERSION_2 0x6b3343cfu
#define QUIC_CID_MAX 20
#define QUIC_RESET_TOKEN_LEN 16
/* Minimum size of a datagram with an Initial packet (RFC 9000 14.1). */
#define QUIC_INITIAL_MIN 1200
#define QUIC_VARINT_MAX ((UINT64_C(1) << 62) - 1)
#define QUIC_RETRY_TAG_LEN 16

/* RFC 9000 20.1 */
enum quic_error {
	QUIC_NO_ERROR = 0x0, QUIC_INTERNAL_ERROR = 0x1, QUIC_CONNECTION_REFUSED = 0x2,
	QUIC_FLOW_CONTROL_ERROR = 0x3, QUIC_STREAM_LIMIT_ERROR = 0x4, QUIC_STREAM_STATE_ERROR = 0x5,
	QUIC_FINAL_SIZE_ERROR = 0x6, QUIC_FRAME_ENCODING_ERROR = 0x7,
	QUIC_TRANSPORT_PARAMETER_ERROR = 0x8, QUIC_CONNECTION_ID_LIMIT_ERROR = 0x9,
	QUIC_PROTOCOL_VIOLATION = 0xa, QUIC_INVALID_TOKEN = 0xb, QUIC_APPLICATION_ERROR = 0xc,
	QUIC_CRYPTO_BUFFER_EXCEEDED = 0xd, QUIC_KEY_UPDATE_ERROR = 0xe,
	QUIC_AEAD_LIMIT_REACHED = 0xf, QUIC_NO_VIABLE_PATH = 0x10,
	QUIC_VERSION_NEGOTIATION_ERROR = 0x11, /* RFC 9368 10.2 */
	QUIC_CRYPTO_ERROR = 0x100, /* plus the TLS alert */
};

/* --- integers --------------------------------------------------------------------------------- */

struct quic_reader {
	const uint8_t *at, *end;
};

static inline size_t quic_left(const struct quic_reader *r)
{
	return (size_t)(r->end - r->at);
}

/* Returns the encoded length of <v>, at most QUIC_VARINT_MAX: 1, 2, 4 or 8. */
static inline size_t quic_varint_len(uint64_t v)
{
	return v < 64 ? 1 : v < 16384 ? 2 : v < 1073741824 ? 4 : 8;
}

/* Writes <v> in its shortest form; returns the end. */
uint8_t *quic_put_varint(uint8_t *p, uint64_t v);
/* Reads an integer. False: incomplete, nothing was taken. */
bool quic_read_varint(struct quic_reader *r, uint64_t *v);

/* --- packets ---------------------------------------------------------------------------------- */

struct quic_cid {
	uint8_t len;
	uint8_t bytes[QUIC_CID_MAX];
};

/* Are the ids equal? */
bool quic_cid_is(const struct quic_cid *a, const struct quic_cid *b);

enum quic_packet_type {
	QUIC_PACKET_INITIAL, QUIC_PACKET_EARLY, QUIC_PACKET_HANDSHAKE, QUIC_PACKET_RETRY,
	QUIC_PACKET_SHORT, QUIC_PACKET_OTHER, /* of an unknown version: only the ids are set */
};

/* Is it a version that we support: 1 or 2? */
static inline bool quic_version_is_known(uint32_t version)
{
	return version == QUIC_VERSION_1 || version == QUIC_VERSION_2;
}

struct quic_packet {
	uint8_t type;             /* enum quic_packet_type */
	uint32_t version;         /* of long headers */
	struct quic_cid dcid, scid;
	const uint8_t *token;     /* in Initial and Retry packets */
	size_t token_len;
	size_t pn_at;             /* offset of the packet number, from the first byte */
	/* of the whole packet: the datagram may have another one after it */
	size_t size;
};

/* Parses the unprotected part of the header at <p>, of a packet of at most <len> bytes.
 * <short_len>: length of our connection ids, which short headers do not contain. False: not a
 * packet.
 */
bool quic_packet_read(const uint8_t *p, size_t len, unsigned short_len, struct quic_packet *out);
/* Writes the first byte of a long header, whose lowest four bits are <low>, and the version, a
 * supported one; returns the end, after 5 bytes.
 */
uint8_t *quic_put_long(uint8_t *p, enum quic_packet_type type, uint32_t version, uint8_t low);
/* Writes the response to a packet of an unsupported version; returns its length. <room>: at least
 * 64 bytes; both ids may be up to QUIC_CID_MAX long.
 */
size_t quic_put_versions(uint8_t *room, const struct quic_packet *of, uint8_t random);
/* Writes a Retry packet of the same version, without its integrity tag; returns its length. <room>:
 * 64 bytes plus the token. <scid>: the id that the client must use for us.
 */
size_t quic_put_retry(uint8_t *room, const struct quic_packet *of, const struct quic_cid *scid,
		      const uint8_t *token, size_t token_len, uint8_t random);

/* Returns the full number of a packet of which the lowest <bits> bits were sent. <largest>: the
 * largest number received so far, UINT64_MAX: none (RFC 9000 A.3).
 */
uint64_t quic_pn_decode(uint64_t largest, uint64_t truncated, unsigned bits);

/* --- frames ----------------------------------------------------------------------------------- */

enum quic_frame_type {
	QUIC_FT_PADDING = 0x00, QUIC_FT_PING = 0x01, QUIC_FT_ACK = 0x02, QUIC_FT_ACK_ECN = 0x03,
	QUIC_FT_RESET_STREAM = 0x04, QUIC_FT_STOP_SENDING = 0x05, QUIC_FT_CRYPTO = 0x06,
	QUIC_FT_NEW_TOKEN = 0x07, QUIC_FT_STREAM = 0x08, QUIC_FT_STREAM_LAST = 0x0f,
	QUIC_FT_MAX_DATA = 0x10, QUIC_FT_MAX_STREAM_DATA = 0x11, QUIC_FT_MAX_STREAMS_BIDI = 0x12,
	QUIC_FT_MAX_STREAMS_UNI = 0x13, QUIC_FT_DATA_BLOCKED = 0x14,
	QUIC_FT_STREAM_DATA_BLOCKED = 0x15, QUIC_FT_STREAMS_BLOCKED_BIDI = 0x16,
	QUIC_FT_STREAMS_BLOCKED_UNI = 0x17, QUIC_FT_NEW_CONNECTION_ID = 0x18,
	QUIC_FT_RETIRE_CONNECTION_ID = 0x19, QUIC_FT_PATH_CHALLENGE = 0x1a,
	QUIC_FT_PATH_RESPONSE = 0x1b, QUIC_FT_CLOSE = 0x1c, QUIC_FT_CLOSE_APP = 0x1d,
	QUIC_FT_HANDSHAKE_DONE = 0x1e,
};
/* Bits of STREAM. */
#define QUIC_STREAM_FIN 0x01
#define QUIC_STREAM_LEN 0x02
#define QUIC_STREAM_OFF 0x04

/* One frame. The type determines which members are set; they are named as in RFC 9000 19. */
struct quic_frame {
	/* STREAM: QUIC_FT_STREAM, its bits are in <fin> and other members */
	uint64_t type;
	uint64_t id;              /* stream id; sequence number of a connection id */
	uint64_t offset;          /* of <data>; final size of RESET_STREAM */
	uint64_t value;           /* a maximum, a limit, an error code, retire_prior_to */
	bool fin;
	const uint8_t *data;      /* bytes of CRYPTO and STREAM; reason; token; 8 bytes of PATH_* */
	size_t len;
	struct quic_cid cid;      /* NEW_CONNECTION_ID */
	const uint8_t *reset_token; /* NEW_CONNECTION_ID: QUIC_RESET_TOKEN_LEN bytes */
	/* ACK */
	uint64_t largest, delay, first;
	uint64_t ranges;          /* after the first; they are valid */
	struct quic_reader acked; /* their bytes: see quic_ack_next() */
	uint64_t ecn[3];          /* ACK_ECN: packets that came with ECT(0), ECT(1), CE */
};

/* Parses the next frame; <r> must not be empty. A run of PADDING is one frame. Returns
 * QUIC_NO_ERROR, or the error.
 */
enum quic_error quic_frame_read(struct quic_reader *r, struct quic_frame *f);
/* Iterates over the ranges of an ACK, from the largest packet number on: *low and *high must be
 * those of the previous range (at first f->largest - f->first and f->largest). False: no more.
 */
bool quic_ack_next(struct quic_frame *f, uint64_t *low, uint64_t *high);

/* --- transport parameters (RFC 9000 18) ------------------------------------------------------- */

struct quic_params {
	uint64_t idle_ms;                 /* 0: none */
	uint64_t udp_payload_max;
	uint64_t data_max;                /* initial_max_data */
	uint64_t stream_local, stream_remote, stream_uni; /* initial_max_stream_data_* */
	uint64_t streams_bidi, streams_uni;
	uint64_t ack_exponent, ack_delay_ms;
	uint64_t cid_limit;
	bool no_migration;
	bool has_scid, has_odcid, has_retry, has_token, has_versions;
	/* version_information (RFC 9368 3): the version in use, and the first of the list that we
	 * support, 0: none. For writing: the first of our two, 0: <version> is the only one.
	 */
	uint32_t version, version_preferred;
	struct quic_cid scid, odcid, retry; /* initial_source, original_destination, retry_source */
	uint8_t token[QUIC_RESET_TOKEN_LEN];
};

/* Sets the defaults for parameters that are not sent. */
void quic_params_init(struct quic_params *p);
/* Parses a client's parameters. False: TRANSPORT_PARAMETER_ERROR. */
bool quic_params_read(const uint8_t *bytes, size_t len, struct quic_params *p);
/* Parses a server's parameters, likewise. */
bool quic_params_read_server(const uint8_t *bytes, size_t len, struct quic_params *p);
/* Writes our parameters to <room>, QUIC_PARAMS_ROOM bytes; returns the length. */
size_t quic_params_put(const struct quic_params *p, uint8_t *room);
#define QUIC_PARAMS_ROOM 256

#endif
