/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxy_header.c - the PROXY protocol header for a server: send-proxy, proxy-v2-options
 *
 * Manual: configuration 5.2; the protocol's own specification for the layout.
 */
#include "codec/proxyproto.h"
#include "expr/logformat.h"
#include "net/conn.h"
#include "stream/stream.h"
#include "tls/tls.h"
#include "server_conn.h"

#define CLIENT_CERT_CONN 0x02
#define CLIENT_CERT_SESS 0x04

static void add(struct proxyproto_writer *w, uint8_t type, struct slice value)
{
	if (value.len)
		proxyproto_v2_tlv(w, type, value);
}

/* What the client's TLS connection was, or that it had none. */
static void add_tls(struct proxyproto_writer *w, const struct conn *c, unsigned options)
{
	char room[128];
	uint8_t client = PROXYPROTO_CLIENT_SSL;
	bool cert = tls_has_peer_cert(c);

	if (!tls_is_on(c)) {
		proxyproto_v2_ssl_begin(w, 0, 0);
		proxyproto_v2_ssl_end(w);
		return;
	}
	if (cert)
		client |= CLIENT_CERT_SESS | (tls_is_resumed(c) ? 0 : CLIENT_CERT_CONN);
	proxyproto_v2_ssl_begin(w, client, (uint32_t)tls_verify_result(c));
	add(w, PROXYPROTO_TLV_SSL_VERSION, slice_of(tls_version_name(c)));
	if (options & PROXY_V2_CERT_CN && cert)
		add(w, PROXYPROTO_TLV_SSL_CN, tls_peer_cn(c, room, sizeof(room)));
	if (options & PROXY_V2_CERT_KEY)
		add(w, PROXYPROTO_TLV_SSL_KEY_ALG, tls_peer_key_algorithm(c, room, sizeof(room)));
	if (options & PROXY_V2_CERT_SIG)
		add(w, PROXYPROTO_TLV_SSL_SIG_ALG, tls_peer_signature(c, room, sizeof(room)));
	if (options & PROXY_V2_SSL_CIPHER)
		add(w, PROXYPROTO_TLV_SSL_CIPHER, slice_of(tls_cipher_name(c)));
	proxyproto_v2_ssl_end(w);
}

#define WITH_TLS (PROXY_V2_SSL | PROXY_V2_CERT_CN | PROXY_V2_CERT_KEY | PROXY_V2_CERT_SIG | \
		  PROXY_V2_SSL_CIPHER)

/* Those of set-proxy-v2-tlv-fmt, also when they are empty. */
static void add_formatted(struct proxyproto_writer *w, struct stream *s, size_t max)
{
	const struct server_tlvs *tlvs = s->server->proxy_v2_tlvs;

	for (unsigned i = 0; tlvs && i < tlvs->count; i++) {
		struct expr_ctx *ctx = stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL);
		struct slice value = logformat_make(tlvs->list[i].value, ctx, max);

		proxyproto_v2_tlv(w, tlvs->list[i].type, value);
	}
}

size_t proxy_header_make(struct stream *s, char *out, size_t room)
{
	const struct addr *src = stream_src(s), *dst = stream_dst(s);
	unsigned options = s->server->proxy_v2_options;
	const struct conn *c = s->sess->conn;
	struct proxyproto_writer w;

	if (s->server->send_proxy == 1)
		return proxyproto_make_v1(out, room, src, dst);
	proxyproto_v2_begin(&w, out, room, src, dst);
	if (options & PROXY_V2_CRC32C)
		proxyproto_v2_crc32c(&w);
	if (c)
		add(&w, PROXYPROTO_TLV_ALPN, conn_alpn(c));
	if (options & PROXY_V2_AUTHORITY)
		add(&w, PROXYPROTO_TLV_AUTHORITY, tls_sni(c));
	if (options & PROXY_V2_UNIQUE_ID)
		add(&w, PROXYPROTO_TLV_UNIQUE_ID, stream_unique_id(s));
	if (options & WITH_TLS)
		add_tls(&w, c, options);
	add_formatted(&w, s, room);
	return proxyproto_v2_end(&w);
}
