/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unique_id.c - unique-id-format, unique-id-header, %ID and the fetch unique-id
 *
 * The text is built once, the first time that it is asked for, and lives as long as the stream.
 * Streams have the format of their frontend, health checks that of their backend.
 */
#include "base/module.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "expr/logformat.h"
#include "stream/sample.h"
#include "engine_priv.h"
#include "stream_conf_priv.h"

/* As much as is worth telling apart requests by. */
#define UNIQUE_ID_MAX 128

struct slice stream_unique_id(struct stream *s)
{
	const struct logformat *f = stream_proxy(s->fe)->unique_format;
	/* its own context and buffer: it may be asked for amid another format of the stream */
	struct expr_ctx ctx = { .proxy = s->fe, .session = s->sess, .stream = s,
				.arena = &s->arena, .flags = EXPR_DIR_REQUEST | EXPR_FINAL };
	char text[UNIQUE_ID_MAX];
	struct strbuf b;

	if (f && slice_is_none(s->id.text)) {
		strbuf_init_fixed(&b, text, sizeof(text));
		logformat_build(f, &ctx, &b);
		s->id.text = arena_copy(&s->arena, strbuf_slice(&b));
	}
	return s->id.text;
}

bool stream_add_unique_id(struct stream *s)
{
	const char *name = stream_proxy(s->fe)->unique_header;
	struct slice id;

	if (!name || !stream_proxy(s->fe)->unique_format)
		return true;
	id = stream_unique_id(s);
	return !slice_is_none(id) && http_msg_add_field(&s->req, slice_of(name), id);
}

/* That of a health check: its backend's format, made anew each time. */
static struct slice check_id(const struct expr_ctx *check)
{
	const struct proxy *px = check->proxy;
	const struct logformat *f = px && !check->session ? stream_proxy(px)->unique_format : NULL;
	struct expr_ctx ctx = *check; /* amid another format */
	char text[UNIQUE_ID_MAX];
	struct strbuf b;

	if (!f)
		return slice_none();
	strbuf_init_fixed(&b, text, sizeof(text));
	logformat_build(f, &ctx, &b);
	return arena_copy(check->arena, strbuf_slice(&b));
}

static enum expr_result fetch_unique_id(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	struct slice id = ctx->stream ? stream_unique_id(ctx->stream) : check_id(ctx);

	return slice_is_none(id) ? EXPR_NONE : smp_give_text(out, id);
}

/* --- configuration --------------------------------------------------------------------------- */

static bool parse_format(struct conf_line *l)
{
	struct stream_proxy *px = slot_of(&stream_proxy_slot, l->slots);
	const char *text;

	if (!conf_take_string(l, &text))
		return false;
	l->at--;
	px->unique_format = logformat_parse(l, text, l->where == CONF_BACKEND ? EXPR_BE_CHK_RUL :
					    EXPR_FE_HRQ_HDR, LOGFORMAT_HTTP | LOGFORMAT_MERGE);
	l->at++;
	return px->unique_format != NULL;
}

static bool parse_header(struct conf_line *l)
{
	struct stream_proxy *px = slot_of(&stream_proxy_slot, l->slots);

	return conf_take_string(l, &px->unique_header);
}

static const struct conf_keyword keywords[] = {
	{ .words = "unique-id-format", .where = CONF_PROXY, .min_args = 1, .max_args = 1,
	  .parse = parse_format, .syntax = "<fmt>", .help = "format of the request's unique id" },
	{ .words = "unique-id-header", .where = CONF_DEF_FE, .min_args = 1, .max_args = 1,
	  .parse = parse_header, .syntax = "<name>",
	  .help = "field that carries the unique id to the server" },
	{ 0 }
};

static const struct expr_fetch fetches[] = {
	{ .name = "unique-id", .out = SMP_STR, .use = EXPR_USE_INTERNAL, .fetch = fetch_unique_id,
	  .help = "the request's unique id" },
	{ 0 }
};

const struct module mod_stream_unique_id = {
	.name = "stream-unique-id", .keywords = keywords, .fetches = fetches,
};
