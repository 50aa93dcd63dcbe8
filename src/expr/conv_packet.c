/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_packet.c - converters that read the headers of a packet: Ethernet, IP, TCP
 *
 * A packet is the result of `fc_saved_syn`, or any other bytes: it is not trusted. Truncated or
 * inconsistent packets give no result. Numbers of protocols and options are IANA's; layouts are
 * those of IEEE 802.1Q, RFC 791, RFC 8200 and RFC 9293.
 * Manual: configuration 7.3.1 eth.*, ip.*, tcp.*.
 */
#include <string.h>
#include "expr/modules.h"
#include "expr_priv.h"

static bool give_int(struct sample *s, int64_t v)
{
	s->type = SMP_INT;
	s->integer = v;
	s->flags &= ~SMP_MAY_CHANGE;
	return true;
}

/* Bytes of the packet itself. */
static bool give_part(struct sample *s, size_t from, size_t to)
{
	s->type = SMP_BIN;
	s->text = slice_sub(s->text, from, to);
	s->flags |= SMP_CONST;
	s->flags &= ~SMP_MAY_CHANGE;
	return true;
}

static unsigned byte_at(struct slice p, size_t at)
{
	return (uint8_t)p.ptr[at];
}

static unsigned u16_at(struct slice p, size_t at)
{
	return byte_at(p, at) << 8 | byte_at(p, at + 1);
}

static uint32_t u32_at(struct slice p, size_t at)
{
	return (uint32_t)u16_at(p, at) << 16 | u16_at(p, at + 2);
}

/* --- Ethernet --------------------------------------------------------------------------------- */

#define ETH_VLAN 0x8100
#define MAC_LEN 6

/* Bytes of the header, its VLANs included; 0: nothing follows it. *vlan: the last one, or -1. */
static size_t eth_header(struct slice p, int *vlan)
{
	size_t at = 2 * MAC_LEN;

	*vlan = -1;
	while (p.len > at + 2 && u16_at(p, at) == ETH_VLAN) {
		if (p.len <= at + 4)
			return 0;
		*vlan = (int)(u16_at(p, at + 2) & 0xfff);
		at += 4;
	}
	return p.len > at + 2 ? at + 2 : 0;
}

static bool convert_eth_data(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int vlan;
	size_t len = eth_header(s->text, &vlan);

	return len && give_part(s, len, s->text.len);
}

static bool convert_eth_dst(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return s->text.len >= MAC_LEN && give_part(s, 0, MAC_LEN);
}

static bool convert_eth_hdr(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int vlan;
	size_t len = eth_header(s->text, &vlan);

	return len && give_part(s, 0, len);
}

static bool convert_eth_proto(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int vlan;
	size_t len = eth_header(s->text, &vlan);

	return len && give_int(s, u16_at(s->text, len - 2));
}

static bool convert_eth_src(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return s->text.len >= 2 * MAC_LEN && give_part(s, MAC_LEN, 2 * MAC_LEN);
}

static bool convert_eth_vlan(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int vlan;

	eth_header(s->text, &vlan);
	return vlan >= 0 && give_int(s, vlan);
}

/* --- IP --------------------------------------------------------------------------------------- */

#define IP4_LEN 20
#define IP6_LEN 40
#define PROTO_TCP 6

static unsigned ip_version(struct slice p)
{
	return p.len ? byte_at(p, 0) >> 4 : 0;
}

/* Is <next> an extension of IPv6 behind which other headers come? */
static bool is_extension(unsigned next)
{
	return next == 0 || next == 43 || next == 44 || next == 51 || next == 60;
}

/* Fragments have no length, authentication (RFC 4302) has one in words of 4. */
static size_t extension_len(unsigned kind, unsigned said)
{
	return kind == 44 ? 8 : kind == 51 ? (size_t)(said + 2) * 4 : (size_t)(said + 1) * 8;
}

/* Bytes of the header with its options or extensions; 0: it is none, or nothing follows it. *proto
 * is what follows.
 */
static size_t ip_header(struct slice p, unsigned *proto)
{
	size_t at = IP6_LEN;

	if (ip_version(p) == 4 && p.len >= IP4_LEN) {
		size_t len = (size_t)(byte_at(p, 0) & 0xf) * 4;

		*proto = byte_at(p, 9);
		return len >= IP4_LEN && p.len > len ? len : 0;
	}
	if (ip_version(p) != 6 || p.len < IP6_LEN)
		return 0;
	*proto = byte_at(p, 6);
	while (is_extension(*proto)) {
		unsigned was = *proto;

		if (p.len < at + 2)
			return 0;
		*proto = byte_at(p, at);
		at += extension_len(was, byte_at(p, at + 1));
	}
	return p.len > at ? at : 0;
}

static bool convert_ip_data(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	unsigned proto;
	size_t len = ip_header(s->text, &proto);

	return len && give_part(s, len, s->text.len);
}

static bool convert_ip_hdr(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	unsigned proto;
	size_t len = ip_header(s->text, &proto);

	return len && give_part(s, 0, len);
}

static bool convert_ip_proto(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	unsigned proto;

	if (ip_version(s->text) == 4)
		return s->text.len > 9 && give_int(s, byte_at(s->text, 9));
	return ip_header(s->text, &proto) && give_int(s, proto);
}

static bool convert_ip_df(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice p = s->text;

	if (ip_version(p) == 6)
		return give_int(s, 1);
	return ip_version(p) == 4 && p.len > 6 && give_int(s, byte_at(p, 6) >> 6 & 1);
}

/* An address at <at4> or <at6>. */
static bool give_address(struct sample *s, size_t at4, size_t at6)
{
	struct slice p = s->text;

	if (ip_version(p) == 4 && p.len >= IP4_LEN) {
		s->type = SMP_IPV4;
		memcpy(&s->ipv4, p.ptr + at4, 4);
	} else if (ip_version(p) == 6 && p.len >= IP6_LEN) {
		s->type = SMP_IPV6;
		memcpy(s->ipv6, p.ptr + at6, 16);
	} else {
		return false;
	}
	s->flags &= ~SMP_MAY_CHANGE;
	return true;
}

static bool convert_ip_dst(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return give_address(s, 16, 24);
}

static bool convert_ip_src(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return give_address(s, 12, 8);
}

/* -1: not there. */
static int ip_tos(struct slice p)
{
	if (ip_version(p) == 4 && p.len > 1)
		return (int)byte_at(p, 1);
	return ip_version(p) == 6 && p.len > 1 ? (int)(u16_at(p, 0) >> 4 & 0xff) : -1;
}

static int ip_ttl(struct slice p)
{
	if (ip_version(p) == 4 && p.len >= IP4_LEN)
		return (int)byte_at(p, 8);
	return ip_version(p) == 6 && p.len >= IP6_LEN ? (int)byte_at(p, 7) : -1;
}

static bool convert_ip_tos(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int tos = ip_tos(s->text);

	return tos >= 0 && give_int(s, tos);
}

static bool convert_ip_ttl(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int ttl = ip_ttl(s->text);

	return ttl >= 0 && give_int(s, ttl);
}

static bool convert_ip_ver(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return s->text.len && give_int(s, ip_version(s->text));
}

/* --- TCP -------------------------------------------------------------------------------------- */

#define TCP_LEN 20
#define TCP_OPTIONS_MAX 40

enum tcp_option { OPT_END, OPT_NOP, OPT_MSS, OPT_WSCALE, OPT_SACK, OPT_TIMESTAMP = 8 };

/* What the options say. */
struct tcp_options {
	bool has[256];               /* by kind: it is there, and whole */
	unsigned mss, wscale;
	uint32_t tsval;
	unsigned count;              /* of <kinds> */
	uint8_t kinds[TCP_OPTIONS_MAX];
	unsigned good;               /* how many of these are whole */
};

static void read_option(struct slice p, size_t at, size_t len, struct tcp_options *o)
{
	unsigned kind = byte_at(p, at);

	o->has[kind] = true;
	if (kind == OPT_MSS && len >= 4)
		o->mss = u16_at(p, at + 2);
	else if (kind == OPT_WSCALE && len >= 3)
		o->wscale = byte_at(p, at + 2);
	else if (kind == OPT_TIMESTAMP && len >= 6)
		o->tsval = u32_at(p, at + 2);
}

/* False: the header is cut short. What is wrong among the options ends them. */
static bool tcp_options(struct slice p, struct tcp_options *o)
{
	size_t end = p.len >= TCP_LEN ? (size_t)(byte_at(p, 12) >> 4) * 4 : 0, len;

	*o = (struct tcp_options){ 0 };
	if (end < TCP_LEN || end > p.len)
		return false;
	for (size_t at = TCP_LEN; at < end && byte_at(p, at) != OPT_END; at += len) {
		o->kinds[o->count++] = (uint8_t)byte_at(p, at);
		len = byte_at(p, at) == OPT_NOP ? 1 : at + 1 < end ? byte_at(p, at + 1) : 0;
		if (!len || (len == 1 && byte_at(p, at) != OPT_NOP) || at + len > end)
			break;
		read_option(p, at, len, o);
		o->good++;
	}
	return true;
}

#define TCP_NUMBER(name, from, value) \
static bool convert_tcp_##name(struct expr_ctx *ctx, const struct expr_arg *args, \
			       struct sample *s) \
{ \
	return s->text.len >= (from) && give_int(s, value); \
}
TCP_NUMBER(src, TCP_LEN, u16_at(s->text, 0))
TCP_NUMBER(dst, TCP_LEN, u16_at(s->text, 2))
TCP_NUMBER(seq, TCP_LEN, u32_at(s->text, 4))
TCP_NUMBER(flags, TCP_LEN, byte_at(s->text, 13))
TCP_NUMBER(win, TCP_LEN, u16_at(s->text, 14))

#define TCP_OPTION(name, value) \
static bool convert_tcp_##name(struct expr_ctx *ctx, const struct expr_arg *args, \
			       struct sample *s) \
{ \
	struct tcp_options o; \
\
	return tcp_options(s->text, &o) && give_int(s, value); \
}
TCP_OPTION(mss, o.mss)
TCP_OPTION(sack, o.has[OPT_SACK])
TCP_OPTION(tsopt, o.has[OPT_TIMESTAMP])
TCP_OPTION(tsval, o.tsval)
TCP_OPTION(wscale, o.wscale)
TCP_OPTION(wsopt, o.has[OPT_WSCALE])

static bool convert_tcp_list(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct tcp_options o;
	char *copy;

	if (!tcp_options(s->text, &o) || !(copy = arena_alloc(ctx->arena, sizeof(o.kinds))))
		return false;
	memcpy(copy, o.kinds, o.count);
	s->text = slice_make(copy, o.count);
	return give_part(s, 0, o.count);
}

/* --- fingerprints ----------------------------------------------------------------------------- */

enum fp_mode { FP_TTL = 1, FP_OPTIONS = 2, FP_SOURCE = 4 };
#define FP_LEN 8
#define FP_MAX (FP_LEN + 1 + TCP_OPTIONS_MAX + 16)

static unsigned fp_ip(struct slice p, size_t header)
{
	unsigned ttl = (unsigned)ip_ttl(p), v6 = ip_version(p) == 6;
	unsigned df = v6 || byte_at(p, 6) >> 6 & 1;

	return v6 << 7 | df << 6 | (ttl <= 32 ? 0u : ttl <= 64 ? 1u : ttl <= 128 ? 2u : 3u) << 4 |
	       (header > (v6 ? IP6_LEN : IP4_LEN) ? 8 : 0);
}

/* One bit for each option from 2 to 8, one for all others. */
static uint8_t fp_options(const struct tcp_options *o)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < o->good; i++)
		if (o->kinds[i] > OPT_NOP)
			bits |= o->kinds[i] <= 8 ? 1u << (o->kinds[i] - 2) : 0x80u;
	return (uint8_t)bits;
}

static void fp_fill(struct slice p, size_t header, const struct tcp_options *o, char *out)
{
	struct slice t = slice_sub(p, header, p.len);
	unsigned words = byte_at(t, 12) >> 4, flags = byte_at(t, 13), scale = o->wscale + 1;

	out[0] = (char)ip_tos(p);
	out[1] = (char)(fp_ip(p, header) | (t.len > (size_t)words * 4 ? 4 : 0) | flags >> 6);
	out[2] = (char)(words << 4 | (!o->has[OPT_WSCALE] ? 0 : scale > 15 ? 15 : scale));
	memcpy(out + 3, t.ptr + 14, 2);
	out[5] = (char)(o->mss >> 8);
	out[6] = (char)o->mss;
	out[7] = (char)fp_options(o);
}

static bool convert_ip_fp(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int64_t mode = args[0].type == ARG_INT ? args[0].integer : 0;
	struct slice p = s->text;
	struct tcp_options o;
	unsigned proto = 0;
	size_t header = ip_header(p, &proto), len = FP_LEN, source;
	char *out;

	if (!header || proto != PROTO_TCP || !tcp_options(slice_sub(p, header, p.len), &o) ||
	    !(out = arena_alloc(ctx->arena, FP_MAX)))
		return false;
	fp_fill(p, header, &o, out);
	if (mode & FP_TTL)
		out[len++] = (char)ip_ttl(p);
	if (mode & FP_OPTIONS) {
		memcpy(out + len, o.kinds, o.good);
		len += o.good;
	}
	if (mode & FP_SOURCE) {
		source = ip_version(p) == 4 ? 4 : 16;
		memcpy(out + len, p.ptr + (source == 4 ? 12 : 8), source);
		len += source;
	}
	s->text = slice_make(out, len);
	return give_part(s, 0, len);
}

/* --- tables ----------------------------------------------------------------------------------- */

#define PACKET(word, result, function, text) \
	{ .name = word, .in = SMP_BIN, .out = result, .convert = convert_##function, .help = text }

static const struct expr_converter converters[] = {
	PACKET("eth.data", SMP_BIN, eth_data, "what follows the Ethernet header of a frame"),
	PACKET("eth.dst", SMP_BIN, eth_dst, "the destination address of a frame"),
	PACKET("eth.hdr", SMP_BIN, eth_hdr, "the Ethernet header of a frame, with its VLANs"),
	PACKET("eth.proto", SMP_INT, eth_proto, "the EtherType of a frame, behind its VLANs"),
	PACKET("eth.src", SMP_BIN, eth_src, "the source address of a frame"),
	PACKET("eth.vlan", SMP_INT, eth_vlan, "the last VLAN of a frame"),
	PACKET("ip.data", SMP_BIN, ip_data, "what follows the IP header of a packet"),
	PACKET("ip.df", SMP_INT, ip_df, "1 for a packet that must not be fragmented"),
	PACKET("ip.dst", SMP_ADDR, ip_dst, "the destination address of a packet"),
	{ .name = "ip.fp", .args = { ARG_INT }, .in = SMP_BIN, .out = SMP_BIN,
	  .convert = convert_ip_fp, .syntax = "([<mode>])",
	  .help = "a fingerprint of the host that sent a TCP packet" },
	PACKET("ip.hdr", SMP_BIN, ip_hdr, "the IP header of a packet, with options or extensions"),
	PACKET("ip.proto", SMP_INT, ip_proto, "the protocol behind the IP header of a packet"),
	PACKET("ip.src", SMP_ADDR, ip_src, "the source address of a packet"),
	PACKET("ip.tos", SMP_INT, ip_tos, "type of service, or traffic class, of a packet"),
	PACKET("ip.ttl", SMP_INT, ip_ttl, "time to live, or hop limit, of a packet"),
	PACKET("ip.ver", SMP_INT, ip_ver, "the version of IP of a packet"),
	PACKET("tcp.dst", SMP_INT, tcp_dst, "the destination port in a TCP header"),
	PACKET("tcp.flags", SMP_INT, tcp_flags, "the flags of a TCP header"),
	PACKET("tcp.options.mss", SMP_INT, tcp_mss, "the MSS in a TCP header, else 0"),
	PACKET("tcp.options.sack", SMP_INT, tcp_sack, "1 for a TCP header that permits SACK"),
	PACKET("tcp.options.tsopt", SMP_INT, tcp_tsopt, "1 for a TCP header with a timestamp"),
	PACKET("tcp.options.tsval", SMP_INT, tcp_tsval, "the timestamp in a TCP header"),
	PACKET("tcp.options.wscale", SMP_INT, tcp_wscale, "window scaling in a TCP header"),
	PACKET("tcp.options.wsopt", SMP_INT, tcp_wsopt, "1 for a TCP header with window scaling"),
	PACKET("tcp.options_list", SMP_BIN, tcp_list, "the kinds of the options of a TCP header"),
	PACKET("tcp.seq", SMP_INT, tcp_seq, "the sequence number in a TCP header"),
	PACKET("tcp.src", SMP_INT, tcp_src, "the source port in a TCP header"),
	PACKET("tcp.win", SMP_INT, tcp_win, "the window in a TCP header, not scaled"),
	{ 0 }
};

const struct module mod_conv_packet = { .name = "conv_packet", .converters = converters };
