/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_wire.c - converters that read messages of other protocols: FIX, MQTT, Protocol Buffers */
#include <string.h>
#include "base/num.h"
#include "codec/fix.h"
#include "codec/mqtt.h"
#include "codec/protobuf.h"
#include "expr/modules.h"
#include "expr_priv.h"

static bool give_bool(struct sample *s, bool v)
{
	s->type = SMP_BOOL;
	s->boolean = v;
	s->flags &= ~SMP_MAY_CHANGE;
	return true;
}

static bool give_int(struct sample *s, int64_t v)
{
	s->type = SMP_INT;
	s->integer = v;
	s->flags &= ~SMP_MAY_CHANGE;
	return true;
}

static bool give_bytes(struct sample *s, struct slice v)
{
	s->type = SMP_BIN;
	s->text = v;
	s->flags |= SMP_CONST;
	s->flags &= ~SMP_MAY_CHANGE;
	return v.ptr != NULL;
}

/* --- FIX ---------------------------------------------------------------------------------- */

static bool convert_fix_is_valid(struct expr_ctx *ctx, const struct expr_arg *args,
				 struct sample *s)
{
	enum fix_verdict verdict = fix_check(s->text);

	if (verdict == FIX_INCOMPLETE)
		return false; /* more bytes may come */
	return give_bool(s, verdict == FIX_VALID);
}

static bool check_fix_tag(struct conf_line *l, struct expr_arg *args, const char **error)
{
	static const struct { const char *name; unsigned tag; } tags[] = {
		{ "BeginString", FIX_TAG_BEGIN_STRING }, { "BodyLength", FIX_TAG_BODY_LENGTH },
		{ "CheckSum", FIX_TAG_CHECK_SUM }, { "MsgType", FIX_TAG_MSG_TYPE },
		{ "SenderCompID", FIX_TAG_SENDER }, { "TargetCompID", FIX_TAG_TARGET },
	};
	uint64_t tag = 0;

	args[0].type = ARG_INT;
	for (unsigned i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (slice_eq_nocase(args[0].name, slice_of(tags[i].name)))
			tag = tags[i].tag;
	if (!tag && (!num_parse_u64(args[0].name, &tag) || !tag)) {
		*error = arena_printf(&l->cfg->arena, "Unknown FIX tag name '%s'",
				      args[0].name.ptr);
		return false;
	}
	args[0].integer = (int64_t)tag;
	return true;
}

static bool convert_fix_tag_value(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *s)
{
	struct slice value = fix_find(s->text, (uint64_t)args[0].integer);

	return value.ptr && give_bytes(s, value);
}

/* --- MQTT --------------------------------------------------------------------------------- */

static bool convert_mqtt_is_valid(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *s)
{
	struct mqtt_packet packet;
	enum mqtt_verdict verdict = mqtt_parse(s->text, &packet);

	if (verdict == MQTT_INCOMPLETE)
		return false;
	return give_bool(s, verdict == MQTT_VALID);
}

/* (<type>,<field>): both become numbers. */
static bool check_mqtt_field(struct conf_line *l, struct expr_arg *args, const char **error)
{
	unsigned type = mqtt_type_find(args[0].name);
	unsigned field = type ? mqtt_field_find(type, args[1].name) : 0;

	args[0].type = args[1].type = ARG_INT;
	args[0].integer = type;
	args[1].integer = field;
	if (!type)
		*error = arena_printf(&l->cfg->arena, "Unknown MQTT type '%s'", args[0].name.ptr);
	else if (!field)
		*error = arena_printf(&l->cfg->arena,
				      "Unknown MQTT field name '%s' for packet type '%s'",
				      args[1].name.ptr, args[0].name.ptr);
	return field != 0;
}

static bool convert_mqtt_field(struct expr_ctx *ctx, const struct expr_arg *args,
			       struct sample *s)
{
	unsigned field = (unsigned)args[1].integer;
	struct mqtt_packet packet;

	if (mqtt_parse(s->text, &packet) != MQTT_VALID || packet.type != args[0].integer)
		return false;
	/* numbers of properties that are not there are zero */
	if (field < MQTT_PROPERTIES && !mqtt_may_have(&packet, field))
		return false;
	if (mqtt_field_is_number(field))
		return give_int(s, packet.fields[field].number);
	/* an empty text is no text */
	return packet.fields[field].text.len && give_bytes(s, packet.fields[field].text);
}

/* --- Protocol Buffers --------------------------------------------------------------------- */

#define PATH_MAX_DEPTH 32

struct protobuf_path {
	unsigned depth;
	uint64_t numbers[];
};

/* "3.1" */
static struct protobuf_path *path_parse(struct config *cfg, struct slice text)
{
	struct protobuf_path *path = arena_alloc(&cfg->arena, sizeof(*path) +
						 PATH_MAX_DEPTH * sizeof(path->numbers[0]));

	for (unsigned n = 0; path && n < PATH_MAX_DEPTH; n++) {
		size_t dot = slice_find_char(text, 0, '.');

		if (!num_parse_u64(slice_sub(text, 0, dot), &path->numbers[n]))
			return NULL;
		path->depth = n + 1;
		if (dot == SIZE_MAX)
			return path;
		text = slice_sub(text, dot + 1, text.len);
	}
	return NULL;
}

/* (<path>[,<type>]) */
static bool check_protobuf(struct conf_line *l, struct expr_arg *args, const char **error)
{
	enum protobuf_type type = PROTOBUF_RAW;
	struct protobuf_path *path = path_parse(l->cfg, args[0].name);

	if (!path) {
		*error = arena_printf(&l->cfg->arena, "'%s' is not a path of field numbers",
				      args[0].name.ptr);
		return false;
	}
	if (args[1].type == ARG_STR && !protobuf_type_find(args[1].name, &type)) {
		*error = arena_printf(&l->cfg->arena, "Wrong protocol buffer type '%s'",
				      args[1].name.ptr);
		return false;
	}
	args[0].object = path;
	args[1].type = ARG_INT;
	args[1].integer = type;
	return true;
}

static bool find_protobuf(const struct expr_arg *args, struct slice message, struct sample *s)
{
	const struct protobuf_path *path = args[0].object;
	enum protobuf_type type = (enum protobuf_type)args[1].integer;
	enum protobuf_wire wire;
	struct slice value;
	int64_t number;

	if (!protobuf_find(message, path->numbers, path->depth, &wire, &value))
		return false;
	if (type == PROTOBUF_RAW)
		return give_bytes(s, value);
	return protobuf_number(type, wire, value, &number) && give_int(s, number);
}

static bool convert_protobuf(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return find_protobuf(args, s->text, s);
}

static bool convert_ungrpc(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice message, rest = s->text;

	while (protobuf_grpc_message(&rest, &message))
		if (find_protobuf(args, message, s))
			return true;
	return false;
}

static const struct expr_converter converters[] = {
	{ .name = "fix_is_valid", .in = SMP_BIN, .out = SMP_BOOL, .convert = convert_fix_is_valid,
	  .help = "is it a whole and valid FIX message?" },
	{ .name = "fix_tag_value", .args_min = 1, .args = { ARG_STR }, .in = SMP_BIN,
	  .out = SMP_BIN, .convert = convert_fix_tag_value, .check = check_fix_tag,
	  .syntax = "(<tag>)", .help = "the value of a tag of a FIX message" },
	{ .name = "mqtt_field_value", .args_min = 2, .args = { ARG_STR, ARG_STR }, .in = SMP_BIN,
	  .out = SMP_ANY, .convert = convert_mqtt_field, .check = check_mqtt_field,
	  .syntax = "(<packet type>,<field or property>)",
	  .help = "a field of an MQTT CONNECT or CONNACK packet" },
	{ .name = "mqtt_is_valid", .in = SMP_BIN, .out = SMP_BOOL,
	  .convert = convert_mqtt_is_valid, .help = "is it a whole and valid MQTT packet?" },
	{ .name = "protobuf", .args_min = 1, .args = { ARG_STR, ARG_STR }, .in = SMP_BIN,
	  .out = SMP_BIN, .convert = convert_protobuf, .check = check_protobuf,
	  .syntax = "(<field number>[.<field number>]*[,<type>])",
	  .help = "a field of a Protocol Buffers message" },
	{ .name = "ungrpc", .args_min = 1, .args = { ARG_STR, ARG_STR }, .in = SMP_BIN,
	  .out = SMP_BIN, .convert = convert_ungrpc, .check = check_protobuf,
	  .syntax = "(<field number>[.<field number>]*[,<type>])",
	  .help = "a field of the messages of a gRPC body" },
	{ 0 }
};

const struct module mod_conv_wire = { .name = "conv_wire", .converters = converters };
