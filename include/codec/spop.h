/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spop.h - frames of the Stream Processing Offload Protocol 2.0
 *
 *     length <4>, then: type <1>, flags <4>, stream <varint>, frame <varint>, payload
 *
 * Writing: spop_begin(), the payload, spop_end(). Reading: spop_frame_take() returns a frame, whose
 * payload is then parsed by the other _take functions.
 * Pure: no state, no input or output; input is borrowed. Any thread.
 * Errors: every length is checked; a false of a _take function is SPOP_INVALID.
 * Source: SPOE chapter 3.
 */
#ifndef CODEC_SPOP_H
#define CODEC_SPOP_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"
#include "base/strbuf.h"

#define SPOP_FRAME_MIN 256   /* minimum that an agent may ask for */
#define SPOP_LENGTH_SIZE 4   /* before each frame, not counted in its size */

enum spop_type {
	SPOP_HELLO = 1, SPOP_DISCONNECT = 2, SPOP_NOTIFY = 3,
	SPOP_AGENT_HELLO = 101, SPOP_AGENT_DISCONNECT = 102, SPOP_ACK = 103,
};

enum { SPOP_FIN = 1 << 0 }; /* ABORT, 1 << 1, has no effect: its actions count */

/* X(name, number, text of a DISCONNECT) */
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
	int64_t integer;       /* for all integer types */
	struct slice bytes;    /* of addresses (4 or 16), texts and binaries */
};

struct spop_frame {
	enum spop_type type;   /* may be unknown */
	uint32_t flags;
	uint64_t stream, frame;
	struct slice payload;
};

/* --- writing: if it does not fit, b->overflow is set ------------------------------------------ */

/* Begins a frame at the end of <b>; returns its position, for spop_end(). */
size_t spop_begin(struct strbuf *b, enum spop_type type, uint64_t stream, uint64_t frame);
/* Completes a frame. Returns its size, without the four bytes of the length. */
size_t spop_end(struct strbuf *b, size_t start);
void spop_add_text(struct strbuf *b, struct slice text);
void spop_add_value(struct strbuf *b, const struct spop_value *v);

/* Adds the first frame: versions, <max_size>, whether frames may overtake each other. */
void spop_add_hello(struct strbuf *b, size_t max_size, bool pipelining, struct slice engine_id,
		    bool is_check);
void spop_add_disconnect(struct strbuf *b, enum spop_error why);

/* --- reading ---------------------------------------------------------------------------------- */

enum spop_result { SPOP_TAKEN, SPOP_MORE, SPOP_INVALID, SPOP_TOO_BIG };

/* Takes the frame at the start of *in, if it is complete; <max>: limit of its size. */
enum spop_result spop_frame_take(struct slice *in, size_t max, struct spop_frame *out);
/* Reads a value. Values of unassigned types (10 to 15) have no bytes of their own. */
bool spop_value_take(struct slice *in, struct spop_value *out);

struct spop_hello {
	size_t max_size;
	bool pipelining;
	bool says_size, says_capabilities; /* were they present? */
};

/* Parses the payload of an AGENT-HELLO that answers our hello with <max_size>. As in HAProxy, only
 * the version is mandatory: without a size, frames may be as large as ours; without capabilities
 * there are none.
 */
enum spop_error spop_hello_read(struct slice payload, size_t max_size, struct spop_hello *out);
/* Returns the reason in the payload of an AGENT-DISCONNECT; SPOP_ERR_INVALID if there is none. */
unsigned spop_disconnect_read(struct slice payload, struct slice *message);

/* One action of an ACK. */
struct spop_action {
	bool is_unset;
	uint8_t scope;         /* 0 to 4: proc, sess, txn, req, res */
	struct slice name;
	struct spop_value value;
};
/* Reads the first action of *in, which must not be empty. */
bool spop_action_take(struct slice *in, struct spop_action *out);

#endif
