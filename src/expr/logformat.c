/* SPDX-License-Identifier: GPL-2.0-or-later */
/* logformat.c - compiling formats: text, %aliases, %[expressions] (manual 8.2.6)
 *
 * An item is: %  [(name[:type])]  [{flags}]  alias  or  [expression]
 * "%{flags}o" sets the flags of all items after it. "%%" is a percent sign.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "expr/logformat.h"
#include "expr_priv.h"
#include "logformat_priv.h"

const char logformat_tcp[] =
	"%ci:%cp [%t] %ft %b/%s %Tw/%Tc/%Tt %B %ts %ac/%fc/%bc/%sc/%rc %sq/%bq";
const char logformat_tcp_clf[] =
	"%{+Q}o %{-Q}ci - - [%T] \"TCP \" 000 %B \"\" \"\" %cp %ms %ft %b %s %Th %Tw %Tc %Tt %U "
	"%ts-- %ac %fc %bc %sc %rc %sq %bq \"\" \"\" ";
const char logformat_http[] = "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc "
			      "%ac/%fc/%bc/%sc/%rc %sq/%bq "
			      "%hr %hs %{+Q}r";
const char logformat_clf[] =
	"%{+Q}o %{-Q}ci - - [%trg] %r %ST %B \"\" \"\" %cp %ms %ft %b %s %TR %Tw %Tc %Tr %Ta %tsc "
	"%ac %fc %bc %sc %rc %sq %bq %CC %CS %hrl %hsl";
const char logformat_https[] =
	"%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc "
	"%sq/%bq "
	"%hr %hs %{+Q}r %[fc_err]/%[ssl_fc_err,hex]/%[ssl_c_err]/%[ssl_c_ca_err]/"
	"%[ssl_fc_is_resumed] %[ssl_fc_sni]/%sslv/%sslc";

/* The key log format of NSS, as OpenSSL and Wireshark have it. */
#define KEY_LINE(side, label, secret) \
	label " %[ssl_" side "_client_random,hex] %[ssl_" side "_" secret "]"
#define KEY_LINES(side) \
	"CLIENT_RANDOM %[ssl_" side "_client_random,hex] %[ssl_" side "_session_key,hex]\n" \
	KEY_LINE(side, "CLIENT_EARLY_TRAFFIC_SECRET", "client_early_traffic_secret") "\n" \
	KEY_LINE(side, "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "client_handshake_traffic_secret") "\n" \
	KEY_LINE(side, "SERVER_HANDSHAKE_TRAFFIC_SECRET", "server_handshake_traffic_secret") "\n" \
	KEY_LINE(side, "CLIENT_TRAFFIC_SECRET_0", "client_traffic_secret_0") "\n" \
	KEY_LINE(side, "SERVER_TRAFFIC_SECRET_0", "server_traffic_secret_0") "\n" \
	KEY_LINE(side, "EXPORTER_SECRET", "exporter_secret") "\n" \
	KEY_LINE(side, "EARLY_EXPORTER_SECRET", "early_exporter_secret")

const char logformat_keylog_front[] = KEY_LINES("fc");
const char logformat_keylog_back[] = KEY_LINES("bc");

#define JSON_BEGIN \
	"%{+json,+utf8}o %(time)[accept_date(ms),ms_utime('%Y-%m-%dT%H:%M:%S.%3NZ')] " \
	"%(client_ip)ci %(client_port)cp %(frontend)f %(backend)b %(server)s "
#define JSON_END \
	"%(end)endreason %(retries)rc %(server_queue)sq %(backend_queue)bq " \
	"%(process_connections)ac %(frontend_connections)fc %(backend_connections)bc " \
	"%(server_connections)sc "
#define JSON_HTTP \
	JSON_BEGIN \
	"%(method)HM %(uri)HU %(version)HV %(status)ST %(bytes_uploaded)U %(bytes_read)B " \
	"%(time_request)TR %(time_queue)Tw %(time_connect)Tc %(time_response)Tr " \
	"%(time_active)Ta %(termination_state)tsc " JSON_END \
	"%(request_cookie)CC %(response_cookie)CS %(request_headers)hr %(response_headers)hs " \
	"%(unique_id)ID"

const char logformat_tcp_json[] =
	JSON_BEGIN "%(bytes_uploaded)U %(bytes_read)B %(time_handshake)Th %(time_queue)Tw "
	"%(time_connect)Tc %(time_total)Tt %(termination_state)ts " JSON_END "%(unique_id)ID";
const char logformat_http_json[] = JSON_HTTP;
const char logformat_https_json[] =
	JSON_HTTP " %(tls_version)sslv %(tls_cipher)sslc %(tls_sni)[ssl_fc_sni] "
	"%(tls_resumed)[ssl_fc_is_resumed] %(connection_error)[fc_err] "
	"%(tls_error)[ssl_fc_err,hex] %(client_certificate_error)[ssl_c_err] "
	"%(client_ca_error)[ssl_c_ca_err]";

/* What is being read. */
struct lf_parser {
	struct conf_line *l;
	struct logformat *f;
	struct expr_error error;
	const char *text, *at;
	unsigned phase;
	unsigned options;          /* of the items to come */
	struct slice name;         /* of the item being read */
	enum sample_type type;
	struct strbuf run;         /* text read and not yet an item */
	struct logformat_item *items; /* on the heap while it grows */
	unsigned count, room;
	bool has_global; /* a %o was seen */
};

static bool lf_fail_memory(struct lf_parser *p)
{
	expr_fail(&p->error, "out of memory");
	return false;
}

static struct logformat_item *lf_item(struct lf_parser *p)
{
	if (p->count == p->room) {
		unsigned room = p->room ? p->room * 2 : 16;
		struct logformat_item *bigger = realloc(p->items, room * sizeof(*bigger));

		if (!bigger) {
			lf_fail_memory(p);
			return NULL;
		}
		p->items = bigger;
		p->room = room;
	}
	memset(&p->items[p->count], 0, sizeof(*p->items));
	p->items[p->count].options = p->options;
	return &p->items[p->count++];
}

/* The text read so far becomes an item. */
static bool lf_flush(struct lf_parser *p)
{
	struct logformat_item *item;
	struct slice text;

	if (p->run.overflow)
		return lf_fail_memory(p);
	if (!p->run.len)
		return true;
	text = arena_copy(&p->l->cfg->arena, strbuf_slice(&p->run));
	item = text.ptr ? lf_item(p) : NULL;
	if (!item)
		return lf_fail_memory(p);
	item->text = text;
	strbuf_reset(&p->run);
	return true;
}

/* --- flags -------------------------------------------------------------------------------- */

static bool lf_flag(struct lf_parser *p, struct slice flag, unsigned *options)
{
	static const struct { const char *name; unsigned bit; } flags[] = {
		{ "Q", LOGFORMAT_QUOTE }, { "X", LOGFORMAT_HEX }, { "E", LOGFORMAT_ESCAPE },
		{ "bin", LOGFORMAT_BINARY }, { "json", LOGFORMAT_JSON },
		{ "cbor", LOGFORMAT_CBOR }, { "utf8", LOGFORMAT_UTF8 },
	};
	bool off = flag.len && flag.ptr[0] == '-';
	struct slice name = flag;

	if (name.len && (name.ptr[0] == '+' || name.ptr[0] == '-'))
		name = slice_sub(name, 1, name.len);
	for (unsigned i = 0; i < ARRAY_LEN(flags); i++) {
		if (!slice_eq(name, slice_of(flags[i].name)))
			continue;
		if (off)
			*options &= ~flags[i].bit;
		else
			*options |= flags[i].bit;
		return true;
	}
	if (name.len)
		conf_warn(p->l, p->l->at,
			  "the flags are Q, X, E, bin, json, utf8 and cbor, after '+' or '-'",
			  "unknown log-format flag '%.*s' is ignored.", SLICE_FMT(flag));
	return true;
}

/* "{+Q,-E}" at p->at. */
static bool lf_flags(struct lf_parser *p, unsigned *options)
{
	const char *end = strchr(p->at, '}'), *at = p->at + 1;

	if (!end) {
		expr_fail(&p->error, "truncated line after '%s'", at);
		return false;
	}
	while (at < end) {
		size_t len = strcspn(at, ",}");

		if (!lf_flag(p, slice_make(at, len), options))
			return false;
		at += len + 1;
	}
	p->at = end + 1;
	return true;
}

/* "(name:type)" at p->at. */
static bool lf_name(struct lf_parser *p)
{
	static const struct { const char *name; enum sample_type type; } types[] = {
		{ "str", SMP_STR }, { "sint", SMP_INT }, { "bool", SMP_BOOL },
	};
	const char *start = p->at + 1, *end = strchr(start, ')');
	struct slice both, type;
	size_t colon;

	if (!end) {
		expr_fail(&p->error, "truncated line after '%s'", start);
		return false;
	}
	p->at = end + 1;
	both = slice_make(start, (size_t)(end - start));
	colon = slice_find_char(both, 0, ':');
	p->name = colon == SIZE_MAX ? both : slice_sub(both, 0, colon);
	p->name = arena_copy(&p->l->cfg->arena, p->name);
	if (!p->name.ptr)
		return lf_fail_memory(p);
	if (colon == SIZE_MAX)
		return true;
	type = slice_sub(both, colon + 1, both.len);
	for (unsigned i = 0; i < ARRAY_LEN(types); i++)
		if (slice_eq(type, slice_of(types[i].name)))
			p->type = types[i].type;
	if (p->type == SMP_ANY)
		expr_fail(&p->error, "unknown type '%.*s' of item '%.*s': expects 'str', 'sint' or "
			  "'bool'", SLICE_FMT(type), SLICE_FMT(p->name));
	return p->type != SMP_ANY;
}

/* --- items -------------------------------------------------------------------------------- */

/* Bytes as they are: that is for whole formats. */
static unsigned lf_item_options(const struct lf_parser *p, unsigned options)
{
	return (options & ~(unsigned)LOGFORMAT_BINARY) | (p->options & LOGFORMAT_BINARY);
}

static bool lf_expression(struct lf_parser *p, unsigned options)
{
	struct expr_error error = { "" };
	struct expr_parser ep = { .line = p->l, .text = p->at + 1, .at = p->at + 1,
				  .phase = p->phase, .error = &error };
	struct expr *e = expr_compile(&ep, NULL);
	struct logformat_item *item;

	if (!e) {
		expr_fail(&p->error, "failed to parse sample expression <%.200s> : %.250s",
			  p->at + 1, error.text);
		return false;
	}
	if (*ep.at != ']') {
		int len = (int)(ep.at - p->at - 1);

		if (*ep.at)
			expr_fail(&p->error, "expected ']' after '%.*s', but found '%c'", len,
				  p->at + 1, *ep.at);
		else
			expr_fail(&p->error, "missing ']' after '%.*s'", len, p->at + 1);
		return false;
	}
	if (p->phase && !(expr_phases(e) & p->phase)) {
		expr_fail(&p->error,
			  "sample fetch <%s> may not be reliably used here because it needs "
			  "'%s' which is not available here",
			  expr_fetch_name(e), expr_use_name(expr_uses(e)));
		return false;
	}
	if (p->options & LOGFORMAT_HTTP &&
	    expr_uses(e) & (EXPR_USE_L6_REQUEST | EXPR_USE_L6_RESPONSE))
		conf_warn(p->l, p->l->at, NULL, "L6 sample fetch <%s> ignored in HTTP log-format "
			  "string.", expr_fetch_name(e));
	item = lf_flush(p) ? lf_item(p) : NULL;
	if (!item)
		return false;
	item->options = lf_item_options(p, options);
	if (p->options & LOGFORMAT_HTTP) /* as HAProxy has it, which quotes aliases there alone */
		item->options &= ~(unsigned)LOGFORMAT_QUOTE;
	item->name = p->name;
	item->type = p->type;
	item->expr = e;
	p->f->uses |= expr_uses(e);
	p->at = ep.at + 1;
	return true;
}

static struct slice lf_take_alias(struct lf_parser *p)
{
	const char *start = p->at;

	while ((*p->at >= 'a' && *p->at <= 'z') || (*p->at >= 'A' && *p->at <= 'Z') ||
	       ascii_is_digit(*p->at))
		p->at++;
	return slice_make(start, (size_t)(p->at - start));
}

static bool lf_alias(struct lf_parser *p, unsigned options)
{
	struct slice name = lf_take_alias(p);
	const struct expr_alias *alias = expr_alias_find(name);
	struct logformat_item *item;

	if (slice_eq(name, SLICE("o"))) {
		p->options = options;
		if (options & (LOGFORMAT_JSON | LOGFORMAT_CBOR) && !p->has_global)
			p->f->encoding = options;
		p->has_global = true; /* the first one decides for the line */
		return true;
	}
	if (!alias) {
		expr_fail(&p->error, "no such format alias '%.*s'. If you wanted to emit the '%%' "
			  "character verbatim, you need to use '%%%%'", SLICE_FMT(name));
		return false;
	}
	if (alias->phases && p->phase && !(alias->phases & p->phase)) {
		expr_fail(&p->error, "format alias '%s' may not be reliably used here",
			  alias->name);
		return false;
	}
	item = lf_flush(p) ? lf_item(p) : NULL;
	if (!item)
		return false;
	item->options = lf_item_options(p, options);
	item->name = p->name;
	item->type = p->type;
	item->alias = alias;
	p->f->needs |= alias->needs;
	return true;
}

/* What stands at p->at, a '%'. */
static bool lf_percent(struct lf_parser *p)
{
	unsigned options = p->options;
	const char *start = p->at++;
	bool plain = true;

	p->name = slice_none();
	p->type = SMP_ANY;
	if (*p->at == '%') {
		p->at++;
		return strbuf_add_char(&p->run, '%');
	}
	if (*p->at == '(') {
		plain = false;
		if (!lf_name(p))
			return false;
	}
	if (*p->at == '{') {
		plain = false;
		if (!lf_flags(p, &options))
			return false;
	}
	if (*p->at == '[')
		return lf_expression(p, options);
	if ((*p->at | 32) >= 'a' && (*p->at | 32) <= 'z')
		return lf_alias(p, options);
	if (!*p->at && plain)
		expr_fail(&p->error, "truncated line after '%%'");
	else if (!plain)
		expr_fail(&p->error, "parse argument modifier without alias name near '%.*s'",
			  (int)(p->at - start), start);
	else if (*p->at == ' ' || *p->at == '\t')
		expr_fail(&p->error,
			  "unexpected alias name near '%c' at position %d line : '%.200s'. "
			  "Maybe you want to write a single '%%', use the syntax '%%%%'",
			  *p->at, (int)(p->at - p->text), p->text);
	else
		return strbuf_add_char(&p->run, *p->at++); /* the sign is lost, as it always was */
	return false;
}

static bool lf_parse(struct lf_parser *p)
{
	while (*p->at) {
		if (*p->at == '%') {
			if (!lf_percent(p))
				return false;
		} else if (*p->at == ' ' && p->options & LOGFORMAT_MERGE) {
			struct logformat_item *item = lf_flush(p) ? lf_item(p) : NULL;

			if (!item)
				return false;
			item->text = SLICE(" "); /* known by its address: see logformat_build */
			item->options |= LOGFORMAT_SEPARATOR;
			p->at += strspn(p->at, " ");
		} else {
			strbuf_add_char(&p->run, *p->at++);
		}
	}
	return lf_flush(p);
}

/* A text that never changes is built now. */
static bool lf_fold(struct lf_parser *p)
{
	struct expr_ctx ctx = { .arena = &p->l->cfg->arena, .flags = EXPR_FINAL };
	struct strbuf out;
	bool ok;

	for (unsigned i = 0; i < p->f->count; i++) {
		const struct logformat_item *item = &p->f->items[i];

		if (item->alias || (item->expr && !expr_is_constant(item->expr)))
			return true;
	}
	strbuf_init(&out);
	ok = logformat_build(p->f, &ctx, &out);
	if (ok) {
		p->f->constant = arena_copy(&p->l->cfg->arena,
					    slice_make(out.ptr ? out.ptr : "", out.len));
		ok = p->f->constant.ptr;
	}
	strbuf_fini(&out);
	return ok || lf_fail_memory(p);
}

static bool lf_finish(struct lf_parser *p)
{
	size_t size = p->count * sizeof(*p->items);

	p->f->items = arena_alloc(&p->l->cfg->arena, size + 1);
	if (!p->f->items)
		return lf_fail_memory(p);
	if (size)
		memcpy(p->f->items, p->items, size);
	p->f->count = p->count;
	if (!logformat_encode_prepare(p->f, &p->l->cfg->arena))
		return lf_fail_memory(p);
	return lf_fold(p);
}

struct logformat *logformat_parse(struct conf_line *l, const char *text, unsigned phase,
				  unsigned options)
{
	struct lf_parser p = { .l = l, .text = text, .at = text, .phase = phase,
			       .options = options };
	bool ok;

	p.f = arena_zalloc(&l->cfg->arena, sizeof(*p.f));
	strbuf_init(&p.run);
	ok = p.f && lf_parse(&p) && lf_finish(&p);
	if (!ok) {
		const char *expression = strchr(p.error.text, '<');

		conf_error(l, l->at,
			   expression ? expr_suggest(l, p.error.text, expression + 1) : NULL, "%s.",
			   p.error.text[0] ? p.error.text : "out of memory");
	}
	strbuf_fini(&p.run);
	free(p.items);
	return ok ? p.f : NULL;
}

/* --- reading ------------------------------------------------------------------------------ */

struct slice logformat_constant(const struct logformat *f)
{
	return f->constant;
}

const struct logformat_item *logformat_item_at(const struct logformat *f, unsigned index)
{
	return index < f->count ? &f->items[index] : NULL;
}

unsigned logformat_needs(const struct logformat *f)
{
	return f->needs;
}

unsigned logformat_uses(const struct logformat *f)
{
	return f->uses;
}
