/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* peers.h - encodes and decodes messages of the peers protocol, for sharing stick tables
 *
 * Purpose: parses and builds the messages between two peers: the hello and its response, then
 *          messages. Knows neither tables nor connections: higher floors define what messages mean
 *          for them.
 * Owns   : nothing. Slices point into the input; output is appended to the caller's buffer.
 *          Definitions, switches, acks and updates are appended completely or not at all.
 * Threads: pure, any.
 * Units  : milliseconds.
 * Errors : enum peers_status: PEERS_MORE: more bytes are needed; PEERS_ERROR: a fault of the other
 *          side. Building fails when out of memory, or out of room in a fixed buffer.
 * Manual : peers-v2.0.txt; what it does not describe (version 2.1: timed updates, what follows the
 *          data of a definition, texts) is as the reference sends it.
 *
 *    hello -->            class, type                            of class 0 and 1
 *          <-- 200        class, type >= 128, length, body       of tables: class 10
 *
 *    body of a definition  id, name, type of key, its length, data, expire, parameters of data
 *    body of an update     [number] [expire] key, values in the order of the data
 *
 * Integers have variable length: below 240 they take one byte; otherwise the first byte has the
 * lowest 4 bits, and 7 more bits follow per byte. The numbers of updates, and their remaining
 * lifetime, have 4 bytes in network order. Bytes after the known part of a body are ignored: later
 * versions may add to it.
 */
#ifndef CODEC_PEERS_H
#define CODEC_PEERS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"
#include "codec/varint.h"

struct strbuf;

enum peers_status { PEERS_DONE, PEERS_MORE, PEERS_ERROR };

/* --- integers --------------------------------------------------------------------------------- */

/* Length of the longest integer, in bytes. */
#define PEERS_INT_MAX VARINT_MAX

/* Reads an integer from the start of *in, which is left unchanged unless PEERS_DONE. */
enum peers_status peers_int(struct slice *in, uint64_t *out);
bool peers_put_int(struct strbuf *to, uint64_t v);

/* --- the hello -------------------------------------------------------------------------------- */

#define PEERS_MINOR 1          /* our minor version of version 2 */
#define PEERS_HELLO_MAX 1024   /* bytes of a hello */

/* X(NAME, code): responses to a hello. */
#define PEERS_ANSWERS(X) \
	X(WELCOME, 200) X(LATER, 300) X(INTERNAL, 500) X(PROTOCOL, 501) X(VERSION, 502) \
	X(NOT_ME, 503) X(WHO, 504)
enum peers_answer {
#define X(name, code) PEERS_ANSWER_##name = code,
	PEERS_ANSWERS(X)
#undef X
};

struct peers_hello {
	unsigned minor;      /* of version 2 */
	struct slice to;     /* name of the peer that it is sent to */
	struct slice from;   /* name of the peer that sends it */
	uint64_t pid, relative;
	size_t length;       /* bytes of all lines */
};

/* Parses a hello. PEERS_ERROR: *why is the response to send. */
enum peers_status peers_hello_read(struct slice in, struct peers_hello *out,
				   enum peers_answer *why);
bool peers_hello_put(struct strbuf *to, const struct peers_hello *h);
/* Parses the response at the start of <in>; *length: its bytes. An unknown one is an error. */
enum peers_status peers_answer_read(struct slice in, enum peers_answer *out, size_t *length);
bool peers_answer_put(struct strbuf *to, enum peers_answer a);

/* --- messages --------------------------------------------------------------------------------- */

enum peers_class { PEERS_CONTROL = 0, PEERS_FAULT = 1, PEERS_TABLE = 10 };
enum peers_control {
	PEERS_RESYNC_REQUEST, PEERS_RESYNC_FINISHED, PEERS_RESYNC_PARTIAL, PEERS_RESYNC_CONFIRM,
	PEERS_HEARTBEAT
};
enum peers_fault { PEERS_FAULT_PROTOCOL, PEERS_FAULT_SIZE };
/* In any class, types from PEERS_HAS_BODY on are followed by a length and a body. */
#define PEERS_HAS_BODY 128
enum peers_about_table {
	PEERS_UPDATE = PEERS_HAS_BODY,
	PEERS_NEXT,          /* an update with the number of the previous one plus 1 */
	PEERS_DEFINE, PEERS_SWITCH, PEERS_ACK,
	PEERS_UPDATE_TIMED,  /* as the first two, with the remaining lifetime of the entry */
	PEERS_NEXT_TIMED
};

struct peers_msg {
	uint8_t class, type;
	struct slice body;
	size_t length;       /* bytes of the whole message */
};

/* Parses the message at the start of <in>. A body longer than <max> is an error. */
enum peers_status peers_msg_read(struct slice in, size_t max, struct peers_msg *out);
/* Writes a message without a body. */
bool peers_msg_put(struct strbuf *to, uint8_t class, uint8_t type);

/* --- tables ----------------------------------------------------------------------------------- */

enum peers_key {
	PEERS_KEY_INTEGER = 2, PEERS_KEY_IPV4 = 4, PEERS_KEY_IPV6 = 5, PEERS_KEY_STRING = 6,
	PEERS_KEY_BINARY = 7
};

/* Number of known data types, whose bits are defined in peers-v2.0.txt. */
#define PEERS_DATA_COUNT 27
#define PEERS_CELLS_MAX 100    /* of an array */

struct peers_table {
	uint32_t id;           /* the sender's */
	struct slice name;
	uint8_t type;          /* enum peers_key, or an unknown one */
	uint32_t key_len;      /* for strings: maximum length plus 1 */
	uint64_t data;         /* bits, including unknown ones */
	uint32_t expire_ms;    /* 0: never */
	uint8_t cells[PEERS_DATA_COUNT];      /* of the data that are sent: 1 unless an array */
	uint32_t period_ms[PEERS_DATA_COUNT]; /* of rates */
};

/* Parses the body of a PEERS_DEFINE. False: malformed. */
bool peers_define_read(struct slice body, struct peers_table *out);
bool peers_define_put(struct strbuf *to, const struct peers_table *t);
/* PEERS_SWITCH: selects the table of the following updates. */
bool peers_switch_read(struct slice body, uint32_t *id);
bool peers_switch_put(struct strbuf *to, uint32_t id);
/* PEERS_ACK: <id> is the table's number at the peer that has sent the updates. */
bool peers_ack_read(struct slice body, uint32_t *id, uint32_t *number);
bool peers_ack_put(struct strbuf *to, uint32_t id, uint32_t number);

/* --- updates ---------------------------------------------------------------------------------- */

struct peers_update {
	uint8_t type;        /* enum peers_about_table */
	uint32_t number;     /* of PEERS_UPDATE and PEERS_UPDATE_TIMED */
	uint32_t left_ms;    /* of timed ones */
	struct slice key;    /* integers: 4 bytes in network order */
	struct slice values; /* see peers_value_read() */
	unsigned data, cell; /* position in the values: 0 to start */
};

struct peers_value {
	uint8_t data, cell;
	uint64_t number;
	uint32_t age_ms, current, previous; /* of a rate: age of its period, its counts */
	/* for a text: the sender's number for it, 0: none; and the text, unless it was sent before
	 */
	uint32_t word;
	struct slice text;
};

/* Parses the body of an update of <t>. Keys of any length are accepted as strings. */
bool peers_update_read(const struct peers_table *t, uint8_t type, struct slice body,
		       struct peers_update *out);
/* Reads the next value. PEERS_MORE: no more values. */
enum peers_status peers_value_read(const struct peers_table *t, struct peers_update *u,
				   struct peers_value *out);

/* Builds an update: open, then each value in order, then close. */
struct peers_maker {
	struct strbuf *to;
	size_t start;        /* start of the message */
	bool failed;
};
void peers_update_open(struct peers_maker *m, struct strbuf *to, const struct peers_table *t,
		       const struct peers_update *u);
void peers_value_put(struct peers_maker *m, const struct peers_value *v);
/* Completes the update. False: nothing was added. */
bool peers_update_close(struct peers_maker *m);

#endif
