/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spop.h - frames of the Stream Processing Offload Protocol 2.0
 *
 *     length <4>, then: type <1>, flags <4>, stream <varint>, frame <varint>, payload
 *
 * Making: spop_begin(), what belongs into the payload, spop_end(). Reading: spop_frame_take() gives
 * a frame whose payload is then taken apart by the other _take functions.
 * Pure: no state, no input or output; what is read is borrowed. Any thread.
 * Errors: every length is checked; a false of a _take function is SPOP_INVALID.
 * Source: SPOE chapter 3.
 */
#ifndef CODEC_SPOP_H
#define CODEC_SPOP_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"
#include "base/strbuf.h"

#define SPOP_FRAME_MIN 256   /* the least that an agent may ask for */
#define SPOP_LENGTH_SIZE 4   /* in front of each frame, not a part of its size */

enum spop_type {
	SPOP_HELLO = 1, SPOP_DISCONNECT = 2, SPOP_NOTIFY = 3,
	SPOP_AGENT_HELLO = 101, SPOP_AGENT_DISCONNECT = 102, SPOP_ACK = 103,
};

enum { SPOP_FIN = 1 << 0 }; /* (ABORT, 1 << 1, changes nothing: actions beside it count) */

/* X(name, number, what a DISCONNECT says) */
#define SPOP_ERRORS(X) \
	X(NONE, 0, "normal") \
	X(IO, 1, "I/O error") \
	X(TIMEOUT, 2, "a timeout occurred") \
	X(TOO_BIG, 3, "frame is too big") \
	X(INVALID, 4, "invalid frame received") \
	X(NO_VERSION, 5, "version value not found") \
	X(NO_FRAME_SIZE, 6, "max-frame-size value not found") \
	X(NO_CAPABILITIES, 7, "capabilities value not found") \
	X(BAD_VERSION, 8, "unsupported version") \
	X(BAD_FRAME_SIZE, 9, "max-frame-size too big or too small") \
	X(FRAGMENTED, 10, "fragmentation not supported") \
	X(INTERLACED, 11, "invalid interlaced frames") \
	X(NO_FRAME_ID, 12, "frame-id not found") \
	X(RESOURCES, 13, "resource allocation error") \
	X(UNKNOWN, 99, "an unknown error occurred")

enum spop_error {
#define X(name, number, text) SPOP_ERR_##name = number,
	SPOP_ERRORS(X)
#undef X
};

enum spop_value_type {
	SPOP_NULL, SPOP_BOOL, SPOP_INT32, SPOP_UINT32, SPOP_INT64, SPOP_UINT64, SPOP_IPV4,
	SPOP_IPV6, SPOP_STRING, SPOP_BINARY
};

struct spop_value {
	enum spop_value_type type;
	bool boolean;
	int64_t integer;       /* of all integers */
	struct slice bytes;    /* of addresses (4, 16), texts and binaries */
};

struct spop_frame {
	enum spop_type type;   /* may be none that is known */
	uint32_t flags;
	uint64_t stream, frame;
	struct slice payload;
};

/* --- making: what does not fit the memory leaves b->overflow ---------------------------------- */

/* Begins a frame at the end of <b>; returns where, for spop_end(). */
size_t spop_begin(struct strbuf *b, enum spop_type type, uint64_t stream, uint64_t frame);
/* Writes its length. Returns its size, without the four bytes of the length. */
size_t spop_end(struct strbuf *b, size_t start);
void spop_add_text(struct strbuf *b, struct slice text);
void spop_add_value(struct strbuf *b, const struct spop_value *v);

/* The first frame: versions, <max_size>, whether frames may overtake each other. */
void spop_add_hello(struct strbuf *b, size_t max_size, bool pipelining, struct slice engine_id,
		    bool is_check);
void spop_add_disconnect(struct strbuf *b, enum spop_error why);

/* --- reading ---------------------------------------------------------------------------------- */

enum spop_result { SPOP_TAKEN, SPOP_MORE, SPOP_INVALID, SPOP_TOO_BIG };

/* Takes the frame at the start of *in, if it is there as a whole; <max>: of its size. */
enum spop_result spop_frame_take(struct slice *in, size_t max, struct spop_frame *out);
/* A value of a type that is not used yet (10 to 15) has no bytes of its own. */
bool spop_value_take(struct slice *in, struct spop_value *out);

struct spop_hello {
	size_t max_size;
	bool pipelining;
	bool says_size, says_capabilities; /* were they there? */
};

/* The payload of an AGENT-HELLO that answers one of ours with <max_size>. Only the version must be
 * there, as for HAProxy: else frames may be as large as ours, and nothing else can be done.
 */
enum spop_error spop_hello_read(struct slice payload, size_t max_size, struct spop_hello *out);
/* That of an AGENT-DISCONNECT: why; SPOP_ERR_INVALID when it does not say. */
unsigned spop_disconnect_read(struct slice payload, struct slice *message);

/* One action of an ACK. */
struct spop_action {
	bool is_unset;
	uint8_t scope;         /* 0 to 4: proc, sess, txn, req, res */
	struct slice name;
	struct spop_value value;
};
/* Takes the first of *in, which is not empty. */
bool spop_action_take(struct slice *in, struct spop_action *out);

#endif
