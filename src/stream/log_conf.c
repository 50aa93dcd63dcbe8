/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_conf.c - which format a frontend logs with: log-format, option httplog and their kin */
#include "base/module.h"
#include "expr/logformat.h"
#include "engine_priv.h"
#include "log_priv.h"
#include "stream_conf_priv.h"

/* Of a generation: what `option httplog` and its kin mean in backends, made for the first of each.
 */
struct log_formats {
	struct logformat *of_backends[PROXY_LOG_KINDS];
};

static struct slot log_formats_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct log_formats),
};

/* Compiles a format named on this line. */
static bool take_format(struct conf_line *l, struct logformat **out)
{
	const char *text;

	if (!conf_take_string(l, &text))
		return false;
	l->at--;
	*out = logformat_parse(l, text, EXPR_FE_LOG_END, LOGFORMAT_LOG);
	l->at++;
	return *out != NULL;
}

static bool parse_log_format(struct conf_line *l)
{
	struct stream_proxy *px = slot_of(&stream_proxy_slot, l->slots);
	struct proxy *proxy = l->object;

	/* the last one wins, be it a format or an option */
	proxy->log_option.kind = PROXY_LOG_NONE;
	proxy_log_format_said(l, "log-format");
	return take_format(l, &px->log_format);
}

/* Structured data of RFC 5424 lines, brackets included. */
static bool parse_log_format_sd(struct conf_line *l)
{
	struct stream_proxy *px = slot_of(&stream_proxy_slot, l->slots);

	return take_format(l, &px->log_format_sd);
}

static bool parse_error_log_format(struct conf_line *l)
{
	struct stream_proxy *px = slot_of(&stream_proxy_slot, l->slots);
	const struct proxy *proxy = l->object;

	if (px->error_format && proxy->caps & PROXY_DEFAULTS)
		conf_warn(l, 0, NULL, "'error-log-format' overrides previous "
			  "'error-log-format' in 'defaults' section.");
	return take_format(l, &px->error_format);
}

static const char *tcp_instead(enum proxy_log_kind kind)
{
	return kind == PROXY_LOG_HTTP_JSON || kind == PROXY_LOG_HTTPS_JSON ? logformat_tcp_json
									   : logformat_tcp;
}

/* With option log-slow a line of a usual format tells why and by which way; and there is a line, as
 * for frontends whose lines are exported.
 */
static const char *slow_format(struct config *cfg, const struct proxy *px, const char *text)
{
	const struct stream_proxy *sp = stream_proxy(px);
	enum proxy_log_kind kind = px->log_option.kind;
	bool json = kind == PROXY_LOG_TCP_JSON || kind == PROXY_LOG_HTTP_JSON ||
		    kind == PROXY_LOG_HTTPS_JSON;

	if (!(px->caps & PROXY_FE))
		return text;
	if (!text && !sp->log_format && (sp->log_slow_ms || sp->lines_traced))
		text = px->mode == PROXY_MODE_HTTP ? logformat_http : logformat_tcp;
	if (!sp->log_slow_ms)
		return text;
	return text ? arena_printf(&cfg->arena, "%s%s", text,
				   json ? " %(trail)trail" : " %endreason %{+Q}trail") : NULL;
}

/* The format of `option httplog` and its kin, unless log-format says another. Backends in mode http
 * need it for the streams that the program begins, and share one of a kind.
 */
static void choose_format(struct config *cfg, struct diag_list *diags, struct proxy *px)
{
	static const char *const texts[] = {
		[PROXY_LOG_NONE] = NULL, [PROXY_LOG_TCP] = logformat_tcp,
		[PROXY_LOG_TCP_CLF] = logformat_tcp_clf,
		[PROXY_LOG_HTTP] = logformat_http, [PROXY_LOG_HTTP_CLF] = logformat_clf,
		[PROXY_LOG_HTTPS] = logformat_https, [PROXY_LOG_TCP_JSON] = logformat_tcp_json,
		[PROXY_LOG_HTTP_JSON] = logformat_http_json,
		[PROXY_LOG_HTTPS_JSON] = logformat_https_json,
	};
	struct stream_proxy *sp = stream_proxy(px);
	char *words[] = { (char *)"option", (char *)"httplog", NULL };
	int columns[] = { 1, 8 };
	struct conf_line l = { .cfg = cfg, .diags = diags, .words = words, .columns = columns,
			       .count = 2, .object = px, .slots = proxy_slots(px),
			       .place = { .file = px->log_option.file,
					  .line = px->log_option.line } };
	const char *text = texts[px->log_option.kind];
	struct log_formats *formats = slot_of(&log_formats_slot, config_slots(cfg));
	struct logformat *known = NULL;

	if (px->caps & PROXY_FE)
		text = px->mode == PROXY_MODE_TCP && px->log_option.kind >= PROXY_LOG_HTTP
			? tcp_instead(px->log_option.kind) : text;
	else if (px->caps & PROXY_BE && px->mode == PROXY_MODE_HTTP)
		known = formats->of_backends[px->log_option.kind];
	else
		return;
	text = slow_format(cfg, px, text);
	if (text && !known)
		known = logformat_parse(&l, text, EXPR_FE_LOG_END, LOGFORMAT_LOG);
	if (text)
		sp->log_format = known;
	if (!(px->caps & PROXY_FE))
		formats->of_backends[px->log_option.kind] = known;
}

/* Is all that the format tells known once the server has answered? */
static bool is_early(const struct logformat *f)
{
	return f && !(logformat_needs(f) & STREAM_NEEDS_END) &&
	       !(logformat_uses(f) & (EXPR_USE_TRANSACTION | EXPR_USE_TRANSACTION_RESPONSE |
				      EXPR_USE_SESSION_END));
}

/* Warns of a format that is never used. */
static void warn_unused(struct config *cfg, struct diag_list *diags, const struct proxy *px)
{
	static const struct diag_place bare = { .form = DIAG_BARE };
	const struct stream_proxy *sp = stream_proxy(px);

	if (!(px->caps & PROXY_FE) || px->caps & PROXY_DEFAULTS ||
	    !(sp->log_format || sp->log_format_sd) ||
	    sp->lines_traced || log_is_wanted(cfg, slot_of(&log_proxy_slot, proxy_slots(px))))
		return;
	diag_add(diags, DIAG_WARNING, &bare, NULL, "log format ignored for frontend '%s' since it "
		 "has no log address.", px->name);
}

static void log_check(struct config *cfg, struct diag_list *diags)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		choose_format(cfg, diags, px);
		stream_proxy(px)->log_early = is_early(stream_proxy(px)->log_format);
		warn_unused(cfg, diags, px);
	}
}

static void log_check_added(struct proxy *be, struct diag_list *diags)
{
	choose_format(be->config, diags, be);
	stream_proxy(be)->log_early = is_early(stream_proxy(be)->log_format);
}

/* option log-slow <time> */
static bool parse_log_slow(struct conf_line *l)
{
	struct stream_proxy *px = slot_of(&stream_proxy_slot, l->slots);

	px->log_slow_ms = 0;
	if (l->no || l->dflt)
		return conf_take_end(l);
	if (!conf_peek(l))
		return conf_error(l, l->at, NULL, "'option log-slow' expects a time: requests that "
				  "take less and do not fail are not logged.");
	if (!conf_take_time_ms(l, &px->log_slow_ms))
		return false;
	if (!px->log_slow_ms)
		return conf_error(l, l->at - 1, NULL, "'option log-slow' expects a time above 0.");
	return conf_take_end(l);
}

/* log-steps {all | <step>[,...]} */
static bool parse_log_steps(struct conf_line *l)
{
	struct stream_proxy *px = slot_of(&stream_proxy_slot, l->slots);
	const char *words = conf_next(l);
	unsigned bits = 0;

	if (!words || !*words)
		return conf_error(l, l->at, NULL, "'log-steps' expects 'all' or steps separated "
				  "by commas.");
	px->log_steps = ~0u;
	if (strcmp(words, "all") == 0)
		return conf_take_end(l);
	while (*words) {
		struct slice word = slice_make(words, strcspn(words, ","));
		enum log_step step = log_step_find(word);

		if (step < LOG_STEP_ACCEPT || step > LOG_STEP_CLOSE)
			return conf_error(l, l->at - 1, NULL, "invalid log step name (%.*s). "
					  "Expected values are: accept, request, connect, "
					  "response, close", SLICE_FMT(word));
		bits |= 1u << step;
		words += word.len + (words[word.len] == ',');
	}
	px->log_steps = bits;
	return conf_take_end(l);
}

static const struct conf_keyword keywords[] = {
	{ .words = "log-format", .where = CONF_DEF_FE, .min_args = 1, .max_args = 1,
	  .parse = parse_log_format, .syntax = "<fmt>", .help = "format of log lines" },
	{ .words = "error-log-format", .where = CONF_DEF_FE, .min_args = 1, .max_args = 1,
	  .parse = parse_error_log_format, .syntax = "<fmt>",
	  .help = "format of the log lines of errors" },
	{ .words = "log-format-sd", .where = CONF_DEF_FE, .min_args = 1, .max_args = 1,
	  .parse = parse_log_format_sd, .syntax = "<fmt>",
	  .help = "structured data of rfc5424 log lines" },
	{ .words = "option log-slow", .where = CONF_DEF_FE, .max_args = 1,
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT, .parse = parse_log_slow, .syntax = "<time>",
	  .help = "log only what takes so long or fails, with the rules that applied" },
	{ .words = "log-steps", .where = CONF_DEF_FE, .max_args = -1, .parse = parse_log_steps,
	  .syntax = "{all|<step>[,...]}", .help = "log at each of these steps" },
	{ 0 }
};

static struct slot *const slots[] = { &log_formats_slot, NULL };

const struct module mod_stream_log = {
	.name = "stream-log", .keywords = keywords, .slots = slots, .check = log_check,
	.check_backend = log_check_added,
	.thread_fini = stream_log_thread_fini,
};
