/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxy_tlv_smp.c - edge file: fetches of what a PROXY protocol header said beside addresses
 *
 * Manual: configuration 7.3.3 fc_pp_tlv, fc_pp_authority, fc_pp_unique_id.
 */
#include "stream/sample.h"

#include <stdlib.h>
#include "base/bug.h"
#include "codec/proxyproto.h"
#include "stream/proxy_tlv.h"

static const struct { const char *name; uint8_t type; } names[] = {
	{ "ALPN", PROXYPROTO_TLV_ALPN }, { "AUTHORITY", PROXYPROTO_TLV_AUTHORITY },
	{ "CRC32", PROXYPROTO_TLV_CRC32C }, { "CRC32C", PROXYPROTO_TLV_CRC32C },
	{ "NETNS", PROXYPROTO_TLV_NETNS }, { "NOOP", PROXYPROTO_TLV_NOOP },
	{ "SSL", PROXYPROTO_TLV_SSL }, { "SSL_CIPHER", PROXYPROTO_TLV_SSL_CIPHER },
	{ "SSL_CN", PROXYPROTO_TLV_SSL_CN }, { "SSL_KEY_ALG", PROXYPROTO_TLV_SSL_KEY_ALG },
	{ "SSL_SIG_ALG", PROXYPROTO_TLV_SSL_SIG_ALG },
	{ "SSL_VERSION", PROXYPROTO_TLV_SSL_VERSION },
	{ "UNIQUE_ID", PROXYPROTO_TLV_UNIQUE_ID },
};

/* fc_pp_tlv(<type>): a name or a number; args[0].integer. */
static bool check_type(struct conf_line *l, struct expr_arg *args, const char **error)
{
	unsigned long number;
	char *end;

	proxy_tlv_want(l->cfg);
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		if (!slice_eq_nocase(args[0].name, slice_of(names[i].name)))
			continue;
		args[0].type = ARG_INT;
		args[0].integer = names[i].type;
		return true;
	}
	args[0].type = ARG_INT;
	number = strtoul(args[0].name.ptr, &end, 0);
	if (end == args[0].name.ptr || *end || args[0].name.ptr[0] == '-') {
		*error = arena_printf(&l->cfg->arena, "Could not convert type '%s'",
				      args[0].name.ptr);
		return false;
	}
	args[0].integer = (int64_t)number;
	if (number > 255)
		*error = arena_printf(&l->cfg->arena, "Invalid TLV Type '%s'", args[0].name.ptr);
	return number <= 255;
}

static bool check_fixed(struct conf_line *l, struct expr_arg *args, const char **error)
{
	proxy_tlv_want(l->cfg);
	return true;
}

/* The first TLV of the type; a caller that iterates gets each. */
static enum expr_result give_tlv(struct expr_ctx *ctx, uint8_t wanted, struct sample *out)
{
	struct slice all = ctx->session ? proxy_tlv_of(ctx->session) : slice_none();
	bool iterates = ctx->flags & EXPR_ITERATE;
	struct slice rest = all, value;
	uint8_t type;

	if (iterates)
		rest = slice_sub(all, ctx->cursor[0], all.len);
	while (rest.len && proxyproto_tlv_next(&rest, &type, &value)) {
		if (type != wanted || value.len > PROXY_TLV_MAX)
			continue;
		smp_give_text(out, value);
		if (iterates && rest.len) {
			ctx->cursor[0] = all.len - rest.len;
			out->flags |= SMP_NOT_LAST;
		}
		return EXPR_FOUND;
	}
	return EXPR_NONE;
}

static enum expr_result fetch_tlv(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	return give_tlv(ctx, (uint8_t)args[0].integer, out);
}

static enum expr_result fetch_authority(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	return give_tlv(ctx, PROXYPROTO_TLV_AUTHORITY, out);
}

static enum expr_result fetch_unique_id(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	return give_tlv(ctx, PROXYPROTO_TLV_UNIQUE_ID, out);
}

static const struct expr_fetch fetches[] = {
	{ .name = "fc_pp_authority", .out = SMP_STR, .use = EXPR_USE_L4_CLIENT,
	  .fetch = fetch_authority, .check = check_fixed,
	  .help = "the host name that a PROXY protocol header tells" },
	{ .name = "fc_pp_tlv", .args_min = 1, .args = { ARG_STR }, .out = SMP_STR,
	  .use = EXPR_USE_L5_CLIENT, .fetch = fetch_tlv, .check = check_type,
	  .syntax = "<type>", .help = "a TLV of a PROXY protocol header" },
	{ .name = "fc_pp_unique_id", .out = SMP_STR, .use = EXPR_USE_L4_CLIENT,
	  .fetch = fetch_unique_id, .check = check_fixed,
	  .help = "the unique id that a PROXY protocol header tells" },
	{ 0 }
};

static struct slot *const slots[] = { &proxy_tlv_slot, NULL };

const struct module mod_proxy_tlv_smp = {
	.name = "proxy-tlv-fetches", .fetches = fetches, .slots = slots,
};
