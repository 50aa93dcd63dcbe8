/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page.c - error pages as text, for connections that have no stream */
#include "base/strbuf.h"
#include "http/error_page.h"
#include "engine_priv.h"

static __thread struct strbuf text;

void stream_page_thread_fini(void)
{
	strbuf_fini(&text);
}

/* The pages that are built in have a head of their own here: this case and order of the fields, and
 * Connection only where the page says that the connection ends.
 */
static void add_builtin_head(const struct http_page *p)
{
	strbuf_printf(&text, "Content-length: %zu\r\nCache-Control: no-cache\r\n", p->body.len);
	if (p->flags & HTTP_MSG_CONN_CLOSE)
		strbuf_add_str(&text, "Connection: close\r\n");
	strbuf_add_str(&text, "Content-Type: text/html\r\n\r\n");
}

static void add_head(const struct http_page *p)
{
	for (unsigned i = 0; i < p->field_count; i++)
		strbuf_printf(&text, "%.*s: %.*s\r\n", SLICE_FMT(p->fields[i].name),
			      SLICE_FMT(p->fields[i].value));
	strbuf_add_str(&text, "connection: close\r\n\r\n");
}

struct slice stream_page_text(struct proxy *fe, unsigned status)
{
	const struct http_page *p = http_page_find(NULL, proxy_slots(fe), status);

	if (!p || p->silent)
		return slice_none();
	strbuf_reset(&text);
	strbuf_printf(&text, "HTTP/1.1 %u %.*s\r\n", p->status, SLICE_FMT(p->reason));
	if (p == http_page_builtin(status))
		add_builtin_head(p);
	else
		add_head(p);
	strbuf_add(&text, p->body);
	return text.overflow ? slice_none() : strbuf_slice(&text);
}
