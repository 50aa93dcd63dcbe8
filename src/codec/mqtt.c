/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mqtt.c - see mqtt.h */
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "codec/mqtt.h"

/* How a property is written. */
enum shape { NONE, BYTE, TWO, FOUR, TEXT, PAIR };

#define IN_CONNECT 1
#define IN_CONNACK 2
#define IN_WILL 4

static const struct { uint8_t shape, where; } properties[MQTT_PROPERTIES] = {
	[1] = { BYTE, IN_WILL }, [2] = { FOUR, IN_WILL }, [3] = { TEXT, IN_WILL },
	[8] = { TEXT, IN_WILL }, [9] = { TEXT, IN_WILL }, [24] = { FOUR, IN_WILL },
	[17] = { FOUR, IN_CONNECT | IN_CONNACK }, [18] = { TEXT, IN_CONNACK },
	[19] = { TWO, IN_CONNACK }, [21] = { TEXT, IN_CONNECT | IN_CONNACK },
	[22] = { TEXT, IN_CONNECT | IN_CONNACK }, [23] = { BYTE, IN_CONNECT },
	[25] = { BYTE, IN_CONNECT }, [26] = { TEXT, IN_CONNACK }, [28] = { TEXT, IN_CONNACK },
	[31] = { TEXT, IN_CONNACK }, [33] = { TWO, IN_CONNECT | IN_CONNACK },
	[34] = { TWO, IN_CONNECT | IN_CONNACK }, [36] = { BYTE, IN_CONNACK },
	[37] = { BYTE, IN_CONNACK }, [38] = { PAIR, IN_CONNECT | IN_CONNACK | IN_WILL },
	[39] = { FOUR, IN_CONNECT | IN_CONNACK }, [40] = { BYTE, IN_CONNACK },
	[41] = { BYTE, IN_CONNACK }, [42] = { BYTE, IN_CONNACK },
};

static const struct { const char *name; uint8_t field, where; } names[] = {
	{ "flags", MQTT_FLAGS, IN_CONNECT | IN_CONNACK },
	{ "protocol_name", MQTT_PROTOCOL_NAME, IN_CONNECT },
	{ "protocol_version", MQTT_PROTOCOL_VERSION, IN_CONNECT | IN_CONNACK },
	{ "client_identifier", MQTT_CLIENT, IN_CONNECT },
	{ "will_topic", MQTT_WILL_TOPIC, IN_CONNECT },
	{ "will_payload", MQTT_WILL_PAYLOAD, IN_CONNECT },
	{ "username", MQTT_USERNAME, IN_CONNECT },
	{ "password", MQTT_PASSWORD, IN_CONNECT },
	{ "keepalive", MQTT_KEEPALIVE, IN_CONNECT },
	{ "reason_code", MQTT_REASON_CODE, IN_CONNACK },
};

/* Types that are only told apart. */
#define MQTT_PUBLISH 3
#define MQTT_PUBREL 6
#define MQTT_SUBSCRIBE 8
#define MQTT_UNSUBSCRIBE 10

/* Bits of the flags of CONNECT. */
#define FLAG_RESERVED 0x01
#define FLAG_WILL 0x04
#define FLAG_PASSWORD 0x40
#define FLAG_USERNAME 0x80

unsigned mqtt_type_find(struct slice name)
{
	static const char *const types[] = {
		"", "connect", "connack", "publish", "puback", "pubrec", "pubrel", "pubcomp",
		"subscribe", "suback", "unsubscribe", "unsuback", "pingreq", "pingresp",
		"disconnect", "auth",
	};
	uint64_t number;

	if (num_parse_u64(name, &number))
		return number < ARRAY_LEN(types) ? (unsigned)number : 0;
	for (unsigned i = 1; i < ARRAY_LEN(types); i++)
		if (slice_eq_nocase(name, slice_of(types[i])))
			return i;
	return 0;
}

unsigned mqtt_field_find(unsigned type, struct slice name)
{
	unsigned where = type == MQTT_CONNECT ? IN_CONNECT | IN_WILL :
			 type == MQTT_CONNACK ? IN_CONNACK : 0;
	uint64_t number;

	if (num_parse_u64(name, &number) && number < MQTT_PROPERTIES)
		return properties[number].where & where && properties[number].shape != PAIR ?
		       (unsigned)number : 0;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].where & where && slice_eq_nocase(name, slice_of(names[i].name)))
			return names[i].field;
	return 0;
}

bool mqtt_may_have(const struct mqtt_packet *p, unsigned property)
{
	return p->version == 5 && (properties[property].where != IN_WILL ||
				   p->fields[MQTT_FLAGS].number & FLAG_WILL);
}

bool mqtt_field_is_number(unsigned field)
{
	if (field < MQTT_PROPERTIES)
		return properties[field].shape == BYTE || properties[field].shape == TWO ||
		       properties[field].shape == FOUR;
	return field == MQTT_FLAGS || field == MQTT_PROTOCOL_VERSION || field == MQTT_KEEPALIVE ||
	       field == MQTT_REASON_CODE;
}

/* --- reading ------------------------------------------------------------------------------ */

static bool take(struct slice *in, size_t len, struct slice *out)
{
	if (in->len < len)
		return false;
	*out = slice_make(in->ptr, len);
	*in = slice_make(in->ptr + len, in->len - len);
	return true;
}

static bool take_number(struct slice *in, size_t len, int64_t *out)
{
	struct slice bytes;

	if (!take(in, len, &bytes))
		return false;
	*out = 0;
	for (size_t i = 0; i < len; i++)
		*out = *out << 8 | (uint8_t)bytes.ptr[i];
	return true;
}

static bool take_text(struct slice *in, struct slice *out)
{
	int64_t len;

	return take_number(in, 2, &len) && take(in, (size_t)len, out);
}

/* One to four bytes, seven bits each, the lowest first. */
static enum mqtt_verdict take_length(struct slice *in, size_t *out)
{
	*out = 0;
	for (size_t i = 0; i < 4; i++) {
		if (i == in->len)
			return MQTT_INCOMPLETE;
		*out |= (size_t)(in->ptr[i] & 0x7f) << (7 * i);
		if (in->ptr[i] & 0x80)
			continue;
		*in = slice_make(in->ptr + i + 1, in->len - i - 1);
		return MQTT_VALID;
	}
	return MQTT_INVALID;
}

static void set_number(struct mqtt_packet *p, unsigned field, int64_t v)
{
	p->present |= 1ull << field;
	p->fields[field].number = v;
}

static bool set_text(struct mqtt_packet *p, unsigned field, struct slice *in)
{
	p->present |= 1ull << field;
	return take_text(in, &p->fields[field].text);
}

static bool take_property(struct mqtt_packet *p, struct slice *in, unsigned id)
{
	static const uint8_t sizes[] = { [BYTE] = 1, [TWO] = 2, [FOUR] = 4 };
	struct slice ignored;
	int64_t number;

	switch (properties[id].shape) {
	case TEXT:
		return set_text(p, id, in);
	case PAIR:
		return take_text(in, &ignored) && take_text(in, &ignored);
	default:
		if (!take_number(in, sizes[properties[id].shape], &number))
			return false;
		set_number(p, id, number);
		return true;
	}
}

/* A length and that much of properties; each but those of pairs may come once. */
static bool take_properties(struct mqtt_packet *p, struct slice *in, unsigned where)
{
	struct slice list;
	int64_t id;
	size_t len;

	if (take_length(in, &len) != MQTT_VALID || !take(in, len, &list))
		return false;
	while (list.len) {
		if (!take_number(&list, 1, &id) || id >= MQTT_PROPERTIES ||
		    !(properties[id].where & where) || p->present >> id & 1 ||
		    !take_property(p, &list, (unsigned)id))
			return false;
	}
	return true;
}

static bool parse_payload(struct mqtt_packet *p, struct slice *in, int64_t flags)
{
	if (!set_text(p, MQTT_CLIENT, in))
		return false;
	if (flags & FLAG_WILL && ((p->version == 5 && !take_properties(p, in, IN_WILL)) ||
				  !set_text(p, MQTT_WILL_TOPIC, in) ||
				  !set_text(p, MQTT_WILL_PAYLOAD, in)))
		return false;
	if (flags & FLAG_USERNAME && !set_text(p, MQTT_USERNAME, in))
		return false;
	if (flags & FLAG_PASSWORD && !set_text(p, MQTT_PASSWORD, in))
		return false;
	return !in->len;
}

static bool parse_connect(struct mqtt_packet *p, struct slice in)
{
	int64_t version, flags, keepalive;
	struct slice *name = &p->fields[MQTT_PROTOCOL_NAME].text;

	if (!set_text(p, MQTT_PROTOCOL_NAME, &in) || !take_number(&in, 1, &version))
		return false;
	if (slice_eq(*name, SLICE("MQIsdp")) ? version != 3 :
	    !slice_eq(*name, SLICE("MQTT")) || (version != 4 && version != 5))
		return false;
	p->version = (uint8_t)version;
	set_number(p, MQTT_PROTOCOL_VERSION, version);
	if (!take_number(&in, 1, &flags) || flags & FLAG_RESERVED ||
	    !take_number(&in, 2, &keepalive))
		return false;
	set_number(p, MQTT_FLAGS, flags);
	set_number(p, MQTT_KEEPALIVE, keepalive);
	if (p->version == 5 && !take_properties(p, &in, IN_CONNECT))
		return false;
	return parse_payload(p, &in, flags);
}

/* Version 5 has properties, at least their length; the others do not say which they are. */
static bool parse_connack(struct mqtt_packet *p, struct slice in)
{
	int64_t flags, reason;

	if (!take_number(&in, 1, &flags) || flags & ~1 || !take_number(&in, 1, &reason))
		return false;
	p->version = in.len ? 5 : 4;
	set_number(p, MQTT_FLAGS, flags);
	set_number(p, MQTT_REASON_CODE, reason);
	set_number(p, MQTT_PROTOCOL_VERSION, p->version);
	return !in.len || (take_properties(p, &in, IN_CONNACK) && !in.len);
}

/* The flags that go with each type are fixed, but for those of PUBLISH. */
static bool first_byte_is_valid(uint8_t c)
{
	unsigned type = c >> 4, flags = c & 15;

	if (type == MQTT_PUBLISH)
		return true;
	return flags == (type == MQTT_PUBREL || type == MQTT_SUBSCRIBE ||
			 type == MQTT_UNSUBSCRIBE ? 2 : 0);
}

enum mqtt_verdict mqtt_parse(struct slice in, struct mqtt_packet *out)
{
	enum mqtt_verdict verdict;
	struct slice body;
	int64_t first;
	size_t len;

	memset(out, 0, sizeof(*out));
	if (!take_number(&in, 1, &first))
		return MQTT_INCOMPLETE;
	out->type = (uint8_t)(first >> 4);
	if (!in.len) /* (of one byte alone nothing is said) */
		return MQTT_INCOMPLETE;
	if (!first_byte_is_valid((uint8_t)first))
		return MQTT_INVALID;
	verdict = take_length(&in, &len);
	if (verdict != MQTT_VALID)
		return verdict;
	if (!take(&in, len, &body))
		return MQTT_INCOMPLETE;
	if (out->type != MQTT_CONNECT && out->type != MQTT_CONNACK)
		return MQTT_INVALID;
	return (out->type == MQTT_CONNECT ? parse_connect : parse_connack)(out, body) ?
	       MQTT_VALID : MQTT_INVALID;
}
