/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/un.h>
#include "base/addr.h"
#include "tap.h"

#define BIND (ADDR_OPT_PORT_REQUIRED | ADDR_OPT_PORT_RANGE | ADDR_OPT_STREAM | ADDR_OPT_FD)
#define SERVER (ADDR_OPT_PORT | ADDR_OPT_PORT_OFFSET | ADDR_OPT_STREAM | ADDR_OPT_NAME)

/* What was parsed, as one text. */
static const char *parsed(unsigned options, const char *text)
{
	static const char *const kinds[] = { "ip", "name", "unix", "abns", "abnsz", "fd",
					     "sockpair" };
	static struct addr_parse p;
	static char out[512];
	struct addr_spec s;
	char ip[ADDR_IP_MAX];
	int len;

	p.options = options;
	if (!addr_parse(&p, slice_of(text), &s))
		return p.error;
	addr_put_ip(&s.addr, ip, sizeof(ip));
	len = snprintf(out, sizeof(out), "%s %s%.*s", kinds[s.kind], ip, SLICE_FMT(s.text));
	if (s.fd >= 0)
		len += snprintf(out + len, sizeof(out) - len, "%d", s.fd);
	if (s.port_form == ADDR_PORT_FIXED)
		len += snprintf(out + len, sizeof(out) - len, " %u", s.port);
	if (s.port_form == ADDR_PORT_RANGE)
		len += snprintf(out + len, sizeof(out) - len, " %u-%u", s.port, s.port_high);
	if (s.port_form == ADDR_PORT_OFFSET)
		len += snprintf(out + len, sizeof(out) - len, " %+d", s.port_offset);
	if (s.dgram || s.mptcp)
		snprintf(out + len, sizeof(out) - len, s.dgram ? " dgram" : " mptcp");
	return out;
}

static const struct {
	unsigned options;
	const char *text, *wanted;
} rows[] = {
	{ BIND, ":80", "ip 0.0.0.0 80" },
	{ BIND, "*:80", "ip 0.0.0.0 80" },
	{ BIND, "127.0.0.1:080", "ip 127.0.0.1 80" },
	{ BIND, "127.0.0.1:80-90", "ip 127.0.0.1 80-90" },
	{ BIND, "::1:80", "ip ::1 80" },
	{ BIND, "[::1]:80", "ip ::1 80" },
	{ BIND, ":::80", "ip :: 80" },
	{ BIND, "ipv4@:80", "ip 0.0.0.0 80" },
	{ BIND, "ipv6@:80", "ip :: 80" },
	{ BIND, "ip@:80", "ip 0.0.0.0 80" },
	{ BIND, "stream+ipv4@1.2.3.4:80", "ip 1.2.3.4 80" },
	{ BIND, "tcp6@[::1]:80", "ip ::1 80" },
	{ BIND, "mptcp4@:80", "ip 0.0.0.0 80 mptcp" },
	{ BIND, "/tmp/x", "unix /tmp/x" },
	{ BIND, "unix@x", "unix x" },
	{ BIND, "abns@x", "abns x" },
	{ BIND, "abnsz@x", "abnsz x" },
	{ BIND, "fd@3", "fd 3" },
	{ BIND, "sockpair@4", "sockpair 4" },
	{ BIND, "80", "missing port specification in '80'" },
	{ BIND, "127.0.0.1", "missing port specification in '127.0.0.1'" },
	{ BIND, "127.0.0.1:", "missing port specification in '127.0.0.1:'" },
	{ BIND, "[::1]", "missing port specification in '[::1]'" },
	{ BIND, "127.0.0.1:0", "invalid port '0'" },
	{ BIND, "127.0.0.1:65536", "invalid port '65536'" },
	{ BIND, "127.0.0.1:90-80", "invalid port range '90-80'" },
	{ BIND, "127.0.0.1:+80", "port offset not permitted here in '127.0.0.1:+80'" },
	{ BIND, "127.0.0.1:80x",
	  "invalid character 'x' in port number '80x' in '127.0.0.1:80x'" },
	{ BIND, "[::1:80", "invalid address: '[::1' in '[::1:80'" },
	{ BIND, "::1", "invalid address: ':' in '::1'" },
	{ BIND, "ipv4@::1:80", "invalid address: '::1' in 'ipv4@::1:80'" },
	{ BIND, "ipv6@127.0.0.1:80", "invalid address: '127.0.0.1' in 'ipv6@127.0.0.1:80'" },
	{ BIND, "foo@1.2.3.4:80", "invalid address: 'foo@1.2.3.4' in 'foo@1.2.3.4:80'" },
	{ BIND, "IPV4@:80", "invalid address: 'IPV4@' in 'IPV4@:80'" },
	{ BIND, "udp@:80", "dgram-type address not acceptable in 'udp@:80'" },
	{ BIND, "stream+udp@:80", "dgram-type address not acceptable in 'stream+udp@:80'" },
	{ BIND, "fd@x", "file descriptor 'x' is not a valid integer in 'fd@x'" },
	{ BIND, "quic4@:443", "QUIC addresses are not supported in 'quic4@:443'" },
	{ SERVER, "127.0.0.1", "ip 127.0.0.1" },
	{ SERVER, "127.0.0.1:", "ip 127.0.0.1" },
	{ SERVER, "127.0.0.1:0", "ip 127.0.0.1 0" },
	{ SERVER, "127.0.0.1:+80", "ip 127.0.0.1 +80" },
	{ SERVER, "127.0.0.1:-80", "ip 127.0.0.1 -80" },
	{ SERVER, "[::1]:+1", "ip ::1 +1" },
	{ SERVER, "some.host:80", "name some.host 80" },
	{ SERVER, "localhost", "name localhost" },
	{ SERVER, "127.0.0.1:80-81", "port range not permitted here in '127.0.0.1:80-81'" },
	{ SERVER, "fd@3", "a file descriptor is not acceptable here in 'fd@3'" },
	{ ADDR_OPT_DGRAM | ADDR_OPT_DEFAULT_DGRAM | ADDR_OPT_PORT, "1.2.3.4:514",
	  "ip 1.2.3.4 514 dgram" },
	{ ADDR_OPT_DGRAM | ADDR_OPT_DEFAULT_DGRAM | ADDR_OPT_PORT, "tcp@1.2.3.4:514",
	  "stream-type address not acceptable in 'tcp@1.2.3.4:514'" },
	{ 0, "1.2.3.4:1", "port specification not permitted here in '1.2.3.4:1'" },
};

static bool resolve_ten(struct slice name, uint8_t family, struct addr *out, void *ctx)
{
	*out = addr_from_v4("\12\0\0\1", 0);
	return slice_eq(name, SLICE("ten"));
}

static void check_networks(void)
{
	static const struct { const char *text, *net; int bits; } nets[] = {
		{ "10.1.2.3/8", "10.0.0.0", 8 }, { "10.1.2.3", "10.1.2.3", 32 },
		{ "10.1.2.3/255.255.254.0", "10.1.2.0", 23 }, { "1.2.3.4/0", "0.0.0.0", 0 },
		{ "fe80::1/10", "fe80::", 10 }, { "::1", "::1", 128 },
		{ "1.2.3.4/33", NULL, 0 }, { "1.2.3.4/255.0.255.0", NULL, 0 },
		{ "1.2.3.4/", NULL, 0 }, { "1.2.3/8", NULL, 0 }, { "::/129", NULL, 0 },
	};
	char text[ADDR_IP_MAX];
	struct addr net;
	unsigned bits;

	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		bool good = addr_parse_network(slice_of(nets[i].text), &net, &bits);

		if (good)
			addr_put_ip(&net, text, sizeof(text));
		ok(good == !!nets[i].net && (!good || (strcmp(text, nets[i].net) == 0 &&
						       (int)bits == nets[i].bits)),
		   "network %s", nets[i].text);
	}
}

static void check_short(void)
{
	static const struct { const char *text, *ip; } short_ips[] = {
		{ "127.0.0.1", "127.0.0.1" }, { "127.1", "127.0.0.1" }, { "10.1.2", "10.1.0.2" },
		{ "10", "0.0.0.10" }, { "0", "0.0.0.0" }, { "0.0", "0.0.0.0" },
		{ "", NULL }, { ".", NULL }, { "10.", NULL }, { ".10", NULL }, { "010.1", NULL },
		{ "00", NULL }, { "256", NULL }, { "1.2.3.4.5", NULL }, { "1..2", NULL },
		{ "1.x", NULL },
	};
	char text[ADDR_IP_MAX];
	struct addr a;

	for (unsigned i = 0; i < sizeof(short_ips) / sizeof(*short_ips); i++) {
		bool good = addr_parse_short_ip(slice_of(short_ips[i].text), &a);

		if (good)
			addr_put_ip(&a, text, sizeof(text));
		ok(good == !!short_ips[i].ip && (!good || strcmp(text, short_ips[i].ip) == 0),
		   "short address '%s'", short_ips[i].text);
	}
}

static void check_values(void)
{
	struct addr a, b, c;
	struct addr_any any;
	char text[ADDR_MAX];

	addr_parse_ip(SLICE("1.2.3.4"), 0, &a);
	addr_parse_ip(SLICE("1.2.3.5"), 0, &b);
	ok(addr_cmp(&a, &b) < 0 && addr_cmp(&b, &a) > 0 && addr_cmp(&a, &a) == 0, "order");
	ok(!addr_is_in(&b, &a, 32) && addr_is_in(&b, &a, 31), "networks");
	c = addr_to_v6(&a);
	addr_put(&c, text, sizeof(text));
	is_str(text, "[::ffff:1.2.3.4]:0", "mapped");
	c = addr_unmapped(&c);
	ok(addr_eq(&a, &c) && addr_hash_ip(&a, 1) == addr_hash_ip(&c, 1), "and back");
	ok(!addr_parse_ip(SLICE("1.2.3.4"), ADDR_INET6, &c) && !addr_parse_ip(SLICE(""), 0, &c) &&
	   !addr_parse_ip(SLICE("1.2.3.4 "), 0, &c), "no addresses");
	ok(addr_is_any(&(struct addr){ .family = ADDR_INET }) && !addr_is_any(&a), "any");
	any.len = addr_to_sockaddr(&a, &any.ss);
	c = addr_from_sockaddr(&any.ss, any.len);
	ok(addr_eq(&a, &c), "through the kernel's form");
}

static void check_paths(void)
{
	struct addr_spec s = { .kind = ADDR_KIND_ABNSZ, .text = SLICE("name") };
	struct sockaddr_un *un;
	struct addr_any any;
	char path[120];

	un = (struct sockaddr_un *)&any.ss;
	ok(addr_spec_to_any(&s, 0, &any) && any.len == offsetof(struct sockaddr_un, sun_path) + 5 &&
	   un->sun_path[0] == 0 && memcmp(un->sun_path + 1, "name", 4) == 0, "abnsz");
	s.kind = ADDR_KIND_ABNS;
	ok(addr_spec_to_any(&s, 0, &any) && any.len == sizeof(*un), "abns");
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[108] = 0;
	ok(strstr(parsed(BIND, path), "too long") != NULL, "path too long");
	path[107] = 0;
	ok(strncmp(parsed(BIND, path), "unix /a", 7) == 0, "longest path");
}

int main(void)
{
	struct addr_resolver resolver = { .run = resolve_ten };
	struct addr_parse p = { .options = ADDR_OPT_PORT, .resolver = &resolver };
	struct addr_spec s;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		is_str(parsed(rows[i].options, rows[i].text), rows[i].wanted, "%s", rows[i].text);
	ok(addr_parse(&p, SLICE("ten:80"), &s) && s.kind == ADDR_KIND_IP && s.addr.port == 80,
	   "resolved");
	ok(!addr_parse(&p, SLICE("eleven:80"), &s), "not resolved");
	check_networks();
	check_short();
	check_values();
	check_paths();
	return done_testing();
}
