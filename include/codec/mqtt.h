/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mqtt.h - the first packets of MQTT 3.1, 3.1.1 and 5.0: CONNECT and CONNACK
 *
 * A parsed packet borrows the bytes that it was read from. Pure, any thread.
 * Manual : configuration 7.3.1 mqtt_is_valid, mqtt_field_value; MQTT 5.0 sections 3.1, 3.2.
 */
#ifndef CODEC_MQTT_H
#define CODEC_MQTT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"

enum mqtt_type { MQTT_CONNECT = 1, MQTT_CONNACK = 2 };

enum mqtt_verdict { MQTT_VALID, MQTT_INVALID, MQTT_INCOMPLETE };

/* Properties of version 5 have numbers below this one. */
#define MQTT_PROPERTIES 43

enum mqtt_field {
	/* 1 to 42: the property with that number */
	MQTT_FLAGS = MQTT_PROPERTIES, MQTT_PROTOCOL_NAME, MQTT_PROTOCOL_VERSION, MQTT_CLIENT,
	MQTT_WILL_TOPIC, MQTT_WILL_PAYLOAD, MQTT_USERNAME, MQTT_PASSWORD, MQTT_KEEPALIVE,
	MQTT_REASON_CODE,
	MQTT_FIELDS,
};

struct mqtt_packet {
	uint8_t type;      /* enum mqtt_type */
	uint8_t version;   /* 3, 4 (3.1.1) or 5; for CONNACK 4 or 5 */
	uint64_t present;  /* bits of enum mqtt_field */
	struct { int64_t number; struct slice text; } fields[MQTT_FIELDS];
};

/* Parses the packet at the start of <in>. */
enum mqtt_verdict mqtt_parse(struct slice in, struct mqtt_packet *out);
/* Returns the number of a type, 1 to 15, from "connect", in any case, or "1". 0: unknown. */
unsigned mqtt_type_find(struct slice name);
/* Returns the field called "username", in any case, or the property "17". 0: that type of packet
 * has no such field.
 */
unsigned mqtt_field_find(unsigned type, struct slice name);
/* Could the packet have this property, given its version and flags? */
bool mqtt_may_have(const struct mqtt_packet *p, unsigned property);
/* Are the field's values numbers? */
bool mqtt_field_is_number(unsigned field);

#endif
