/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forwarded.c - option forwarded: the field of RFC 7239 */
#include "base/strbuf.h"
#include "engine_priv.h"

/* A node as RFC 7239 6 writes it: IPv6 in brackets and quotes. */
static void put_node(struct strbuf *b, const struct addr *a)
{
	char ip[ADDR_IP_MAX];

	addr_put_ip(a, ip, sizeof(ip));
	if (a->family == ADDR_INET6)
		strbuf_printf(b, "\"[%s]\"", ip);
	else
		strbuf_add_str(b, a->family == ADDR_INET ? ip : "unknown");
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

bool stream_add_forwarded(struct stream *s)
{
	const char *what = *s->be->http.forwarded ? s->be->http.forwarded : "proto for";
	struct h1_field *host = http_field_find(&s->req.fields, FIELD_HOST, SLICE("host"));
	char text[1024];
	struct strbuf b;

	strbuf_init_fixed(&b, text, sizeof(text));
	if (has_word(what, "proto"))
		strbuf_add_str(&b, "proto=http;");
	if (has_word(what, "host") && host)
		strbuf_printf(&b, "host=\"%.*s\";", SLICE_FMT(host->value));
	if (has_word(what, "by")) {
		strbuf_add_str(&b, "by=");
		put_node(&b, stream_dst(s));
		strbuf_add_char(&b, ';');
	}
	if (has_word(what, "for")) {
		strbuf_add_str(&b, "for=");
		put_node(&b, stream_src(s));
		strbuf_add_char(&b, ';');
	}
	if (b.overflow || !b.len)
		return !b.overflow;
	b.len--;
	return http_msg_add_field(&s->req, SLICE("forwarded"), strbuf_slice(&b));
}
