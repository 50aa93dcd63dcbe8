/* SPDX-License-Identifier: GPL-2.0-or-later */
/* req_ssl_smp.c - edge file: fetches that read a TLS hello or an RDP cookie in bytes not yet sent
 *
 * Manual: configuration 7.3.5 req.ssl_*, req.rdp_cookie.
 */
#include "stream/sample.h"

#include "codec/rdp.h"
#include "codec/tls_hello.h"
#include "expr/pattern.h"

/* The hello of the client. False: *ret tells whether it may still come. */
static bool read_hello(struct expr_ctx *ctx, struct tls_hello *h, enum expr_result *ret)
{
	struct stream *s = ctx->stream;
	enum tls_hello_status status;

	*ret = EXPR_NONE;
	if (!s || (s->flags & STRM_HTTP))
		return false;
	status = tls_hello_parse(smp_bytes(s, &s->front.rx), h);
	if (status == TLS_HELLO_MORE && !(ctx->flags & EXPR_FINAL))
		*ret = EXPR_WAIT;
	/* SSLv3 has none of what is asked for */
	return status == TLS_HELLO_DONE && (h->major > 3 || h->minor);
}

static enum expr_result fetch_hello_type(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	struct stream *s = ctx->stream;
	enum tls_hello_status status;
	uint8_t type;

	if (!s || (s->flags & STRM_HTTP))
		return EXPR_NONE;
	status = tls_hello_type(smp_bytes(s, ctx->data ? &s->back.rx : &s->front.rx), &type);
	if (status == TLS_HELLO_DONE)
		return smp_give_int(out, type);
	return status == TLS_HELLO_MORE && !(ctx->flags & EXPR_FINAL) ? EXPR_WAIT : EXPR_NONE;
}

static enum expr_result fetch_version(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	struct stream *s = ctx->stream;
	enum tls_hello_status status;
	uint32_t version;

	if (!s || (s->flags & STRM_HTTP))
		return EXPR_NONE;
	status = tls_hello_version(smp_bytes(s, &s->front.rx), &version);
	if (status == TLS_HELLO_DONE)
		return smp_give_int(out, version);
	return status == TLS_HELLO_MORE && !(ctx->flags & EXPR_FINAL) ? EXPR_WAIT : EXPR_NONE;
}

static enum expr_result fetch_sni(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	enum expr_result ret;
	struct tls_hello h;

	return read_hello(ctx, &h, &ret) ? smp_give_text(out, h.server_name) : ret;
}

/* An ACL sees all protocols of the list, one after the other; elsewhere the first one counts. */
static enum expr_result fetch_alpn(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	enum expr_result ret;
	struct tls_hello h;
	struct slice list;
	size_t len;

	if (!read_hello(ctx, &h, &ret))
		return ret;
	list = slice_sub(h.alpn, (ctx->flags & EXPR_ITERATE) ? ctx->cursor[0] : 0, h.alpn.len);
	if (!list.len || (uint8_t)list.ptr[0] >= list.len)
		return EXPR_NONE;
	len = (uint8_t)list.ptr[0];
	ret = smp_give_text(out, slice_make(list.ptr + 1, len));
	if ((ctx->flags & EXPR_ITERATE) && list.len > len + 1) {
		ctx->cursor[0] += len + 1;
		out->flags |= SMP_NOT_LAST;
	}
	return ret;
}

static enum expr_result fetch_ec(struct expr_ctx *ctx, const struct expr_arg *args,
				 struct sample *out)
{
	enum expr_result ret;
	struct tls_hello h;

	if (!read_hello(ctx, &h, &ret))
		return ret;
	return h.groups.ptr ? smp_give_bool(out, true) : EXPR_NONE;
}

static enum expr_result fetch_ticket(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	enum expr_result ret;
	struct tls_hello h;

	if (!read_hello(ctx, &h, &ret))
		return ret;
	return smp_give_int(out, h.ticket.len ? 2 : h.ticket.ptr ? 1 : 0);
}

/* A list of the hello: <data> says which, as an offset. */
static enum expr_result fetch_list(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	const size_t *offset = ctx->data;
	enum expr_result ret;
	struct tls_hello h;

	if (!read_hello(ctx, &h, &ret))
		return ret;
	ret = smp_give_text(out, *(struct slice *)((char *)&h + *offset));
	out->type = SMP_BIN;
	return ret;
}

/* The groups of the key shares, without the keys. */
static enum expr_result fetch_key_shares(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	enum expr_result ret;
	struct tls_hello h;
	size_t at = 0, len = 0;
	char *groups;

	if (!read_hello(ctx, &h, &ret))
		return ret;
	groups = h.key_shares.ptr ? arena_alloc(ctx->arena, h.key_shares.len + 1) : NULL;
	if (!groups)
		return EXPR_NONE;
	while (at + 4 <= h.key_shares.len) {
		const uint8_t *share = (const uint8_t *)h.key_shares.ptr + at;

		groups[len++] = (char)share[0];
		groups[len++] = (char)share[1];
		at += 4 + ((size_t)share[2] << 8 | share[3]);
	}
	smp_give_text(out, slice_make(groups, len));
	out->type = SMP_BIN;
	return EXPR_FOUND;
}

/* --- RDP ---------------------------------------------------------------------------------- */

/* FOUND with slice_none(): a request without that cookie. */
static enum expr_result find_rdp(struct expr_ctx *ctx, const struct expr_arg *args,
				 struct slice *value)
{
	struct stream *s = ctx->stream;
	enum rdp_status status;

	if (!s || (s->flags & STRM_HTTP))
		return EXPR_NONE;
	status = rdp_cookie_find(smp_bytes(s, &s->front.rx),
				 args[0].type == ARG_STR ? args[0].text : slice_none(), value);
	if (status == RDP_MORE && !(ctx->flags & EXPR_FINAL))
		return EXPR_WAIT;
	return status == RDP_FOUND || status == RDP_EMPTY ? EXPR_FOUND : EXPR_NONE;
}

static enum expr_result fetch_rdp(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	struct slice value;
	enum expr_result ret = find_rdp(ctx, args, &value);

	return ret == EXPR_FOUND ? smp_give_text(out, value) : ret;
}

static enum expr_result fetch_rdp_count(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	struct slice value;
	enum expr_result ret = find_rdp(ctx, args, &value);

	if (ctx->stream && ctx->stream->flags & STRM_HTTP)
		return smp_give_int(out, 0);
	return ret == EXPR_FOUND ? smp_give_int(out, value.ptr != NULL) : ret;
}

#define L6 EXPR_USE_L6_REQUEST
#define L6_RES EXPR_USE_L6_RESPONSE
#define HELLO(n, type, function, text) \
	{ .name = n, .out = type, .use = L6, .fetch = function, .help = text }
#define RDP(n, type, function, text) \
	{ .name = n, .args = { ARG_STR }, .out = type, .use = L6, .fetch = function, \
	  .syntax = "[<name>]", .help = text }
#define LIST(n, member, text) \
	{ .name = n, .out = SMP_BIN, .use = EXPR_USE_L4_CLIENT, .fetch = fetch_list, \
	  .data = &(const size_t){ offsetof(struct tls_hello, member) }, .help = text }

static const struct expr_fetch fetches[] = {
	RDP("rdp_cookie", SMP_STR, fetch_rdp, "the cookie of an RDP request"),
	RDP("rdp_cookie_cnt", SMP_INT, fetch_rdp_count, "1 when there is an RDP cookie"),
	{ .name = "rep_ssl_hello_type", .out = SMP_INT, .use = L6_RES, .fetch = fetch_hello_type,
	  .data = "response", .help = "the type of the server's first TLS message" },
	RDP("req.rdp_cookie", SMP_STR, fetch_rdp, "the cookie of an RDP request"),
	RDP("req.rdp_cookie_cnt", SMP_INT, fetch_rdp_count, "1 when there is an RDP cookie"),
	HELLO("req.ssl_alpn", SMP_STR, fetch_alpn, "the protocols of a ClientHello's ALPN"),
	LIST("req.ssl_cipherlist", ciphers, "the ciphers of a ClientHello"),
	HELLO("req.ssl_ec_ext", SMP_BOOL, fetch_ec, "does a ClientHello list elliptic curves?"),
	HELLO("req.ssl_hello_type", SMP_INT, fetch_hello_type,
	      "the type of the client's first TLS message"),
	{ .name = "req.ssl_keyshare_groups", .out = SMP_BIN, .use = EXPR_USE_L4_CLIENT,
	  .fetch = fetch_key_shares, .help = "the groups of a ClientHello's key shares" },
	LIST("req.ssl_sigalgs", signatures, "the signature algorithms of a ClientHello"),
	HELLO("req.ssl_sni", SMP_STR, fetch_sni, "the server name of a ClientHello"),
	HELLO("req.ssl_st_ext", SMP_INT, fetch_ticket,
	      "session ticket of a ClientHello: 0 none, 1 asked for, 2 given"),
	LIST("req.ssl_supported_groups", groups, "the groups of a ClientHello"),
	HELLO("req.ssl_ver", SMP_INT, fetch_version, "the version of a ClientHello"),
	HELLO("req_ssl_hello_type", SMP_INT, fetch_hello_type,
	      "the type of the client's first TLS message"),
	HELLO("req_ssl_sni", SMP_STR, fetch_sni, "the server name of a ClientHello"),
	HELLO("req_ssl_ver", SMP_INT, fetch_version, "the version of a ClientHello"),
	{ .name = "res.ssl_hello_type", .out = SMP_INT, .use = L6_RES, .fetch = fetch_hello_type,
	  .data = "response", .help = "the type of the server's first TLS message" },
	{ 0 }
};

static const struct expr_acl_keyword acl_keywords[] = {
	{ "req.ssl_ver", "req.ssl_ver", PATTERN_DOTTED },
	{ "req_rdp_cookie", "req.rdp_cookie", PATTERN_STR },
	{ "req_rdp_cookie_cnt", "req.rdp_cookie_cnt", PATTERN_INT },
	{ "req_ssl_sni", "req.ssl_sni", PATTERN_STR },
	{ "req_ssl_ver", "req.ssl_ver", PATTERN_DOTTED },
	{ 0 }
};

const struct module mod_req_ssl_smp = {
	.name = "tls-hello-fetches", .fetches = fetches, .acl_keywords = acl_keywords,
};
