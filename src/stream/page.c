/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page.c - error pages as text, for connections that have no stream */
#include "stream_priv.h"

static __thread struct strbuf text;

struct slice stream_page_text(struct proxy *fe, unsigned status)
{
	const struct http_page *p = http_page_find(NULL, proxy_slots(fe), status);

	if (!p || p->silent)
		return slice_none();
	strbuf_reset(&text);
	strbuf_printf(&text, "HTTP/1.1 %u %.*s\r\n", p->status, SLICE_FMT(p->reason));
	for (unsigned i = 0; i < p->field_count; i++)
		strbuf_printf(&text, "%.*s: %.*s\r\n", SLICE_FMT(p->fields[i].name),
			      SLICE_FMT(p->fields[i].value));
	strbuf_add_str(&text, "connection: close\r\n\r\n");
	strbuf_add(&text, p->body);
	return text.overflow ? slice_none() : strbuf_slice(&text);
}
