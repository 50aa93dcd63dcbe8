/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* peers.h - messages of the peers protocol, by which processes share their stick tables
 *
 * Purpose: reads and makes what two peers say: the hello and its answer, then messages. Knows no
 *          tables and no connections: what a message means to them is told by the floors above.
 * Owns   : nothing. Slices point into the input; what is made is appended to the caller's buffer.
 *          Definitions, switches, acks and updates are so whole or not at all.
 * Threads: pure, any.
 * Units  : milliseconds.
 * Errors : enum peers_status: PEERS_MORE wants more bytes; PEERS_ERROR is the other side's fault.
 *          Making fails for lack of memory, or of room in a fixed buffer.
 * Manual : peers-v2.0.txt; what that does not tell (version 2.1: timed updates, what stands behind
 *          the data of a definition, texts) is as the reference sends it.
 *
 *    hello -->            class, type                            of class 0 and 1
 *          <-- 200        class, type >= 128, length, body       of tables: class 10
 *
 *    body of a definition  id, name, type of key, its length, data, expire, parameters of data
 *    body of an update     [number] [expire] key, values in the order of the data
 *
 * Integers are of a variable length: below 240 they are one byte; otherwise that has their lowest
 * 4 bits and more follows, 7 bits a byte. The numbers of updates, and how long they live, have 4
 * bytes in network order. Bytes behind what is known in a body are not looked at: later versions
 * may add to it.
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

/* The longest one, bytes. */
#define PEERS_INT_MAX VARINT_MAX

/* Takes an integer from the start of *in, which is left as it is unless PEERS_DONE. */
enum peers_status peers_int(struct slice *in, uint64_t *out);
bool peers_put_int(struct strbuf *to, uint64_t v);

/* --- the hello -------------------------------------------------------------------------------- */

#define PEERS_MINOR 1          /* of version 2, that we speak */
#define PEERS_HELLO_MAX 1024   /* bytes of a hello */

/* X(NAME, code): how a hello is answered. */
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
	struct slice to;     /* the peer that it is meant for */
	struct slice from;   /* the peer that says it */
	uint64_t pid, relative;
	size_t length;       /* bytes, of all lines */
};

/* PEERS_ERROR: *why is what to answer. */
enum peers_status peers_hello_read(struct slice in, struct peers_hello *out,
				   enum peers_answer *why);
bool peers_hello_put(struct strbuf *to, const struct peers_hello *h);
/* The answer at the start of <in>; *length: its bytes. One that is not known is an error. */
enum peers_status peers_answer_read(struct slice in, enum peers_answer *out, size_t *length);
bool peers_answer_put(struct strbuf *to, enum peers_answer a);

/* --- messages --------------------------------------------------------------------------------- */

enum peers_class { PEERS_CONTROL = 0, PEERS_FAULT = 1, PEERS_TABLE = 10 };
enum peers_control {
	PEERS_RESYNC_REQUEST, PEERS_RESYNC_FINISHED, PEERS_RESYNC_PARTIAL, PEERS_RESYNC_CONFIRM,
	PEERS_HEARTBEAT
};
enum peers_fault { PEERS_FAULT_PROTOCOL, PEERS_FAULT_SIZE };
/* Types from PEERS_HAS_BODY on are followed by a length and a body, in any class. */
#define PEERS_HAS_BODY 128
enum peers_about_table {
	PEERS_UPDATE = PEERS_HAS_BODY,
	PEERS_NEXT,          /* an update, whose number is that of the one before and 1 */
	PEERS_DEFINE, PEERS_SWITCH, PEERS_ACK,
	PEERS_UPDATE_TIMED,  /* as the first two, with the time that the entry has left */
	PEERS_NEXT_TIMED
};

struct peers_msg {
	uint8_t class, type;
	struct slice body;
	size_t length;       /* bytes, of all */
};

/* The message at the start of <in>. One whose body is longer than <max> is an error. */
enum peers_status peers_msg_read(struct slice in, size_t max, struct peers_msg *out);
/* A message without a body. */
bool peers_msg_put(struct strbuf *to, uint8_t class, uint8_t type);

/* --- tables ----------------------------------------------------------------------------------- */

enum peers_key {
	PEERS_KEY_INTEGER = 2, PEERS_KEY_IPV4 = 4, PEERS_KEY_IPV6 = 5, PEERS_KEY_STRING = 6,
	PEERS_KEY_BINARY = 7
};

/* Data that are known, by their bits: peers-v2.0.txt. */
#define PEERS_DATA_COUNT 27
#define PEERS_CELLS_MAX 100    /* of an array */

struct peers_table {
	uint32_t id;           /* the sender's */
	struct slice name;
	uint8_t type;          /* enum peers_key, or one that is not known */
	uint32_t key_len;      /* of strings: the most, and 1 */
	uint64_t data;         /* bits, also those that are not known */
	uint32_t expire_ms;    /* 0: never */
	uint8_t cells[PEERS_DATA_COUNT];      /* of those that are sent: 1 unless an array */
	uint32_t period_ms[PEERS_DATA_COUNT]; /* of rates */
};

/* The body of a PEERS_DEFINE. False: it is malformed. */
bool peers_define_read(struct slice body, struct peers_table *out);
bool peers_define_put(struct strbuf *to, const struct peers_table *t);
/* PEERS_SWITCH: the table that updates are about from now on. */
bool peers_switch_read(struct slice body, uint32_t *id);
bool peers_switch_put(struct strbuf *to, uint32_t id);
/* PEERS_ACK: <id> is the table's number at the peer that sent the updates. */
bool peers_ack_read(struct slice body, uint32_t *id, uint32_t *number);
bool peers_ack_put(struct strbuf *to, uint32_t id, uint32_t number);

/* --- updates ---------------------------------------------------------------------------------- */

struct peers_update {
	uint8_t type;        /* enum peers_about_table */
	uint32_t number;     /* of PEERS_UPDATE and PEERS_UPDATE_TIMED */
	uint32_t left_ms;    /* of timed ones */
	struct slice key;    /* of integers: 4 bytes in network order */
	struct slice values; /* see peers_value_read() */
	unsigned data, cell; /* where these begin: 0 */
};

struct peers_value {
	uint8_t data, cell;
	uint64_t number;
	uint32_t age_ms, current, previous; /* of a rate: when its period began, its counts */
	/* Of a text: the sender's number, 0: none; with the text, unless that was sent before. */
	uint32_t word;
	struct slice text;
};

/* The body of an update of <t>. A key of any length is taken for a string. */
bool peers_update_read(const struct peers_table *t, uint8_t type, struct slice body,
		       struct peers_update *out);
/* The next value. PEERS_MORE: that was all. */
enum peers_status peers_value_read(const struct peers_table *t, struct peers_update *u,
				   struct peers_value *out);

/* An update that is made: opened, then each value in its order, then closed. */
struct peers_maker {
	struct strbuf *to;
	size_t start;        /* where the message begins */
	bool failed;
};
void peers_update_open(struct peers_maker *m, struct strbuf *to, const struct peers_table *t,
		       const struct peers_update *u);
void peers_value_put(struct peers_maker *m, const struct peers_value *v);
/* False: nothing was added. */
bool peers_update_close(struct peers_maker *m);

#endif
