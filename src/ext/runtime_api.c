/* SPDX-License-Identifier: GPL-2.0-or-later */
/* runtime_api.c - the service runtime-api
 *
 *    {"command": "show info"}  ->  ctl session of the rule's level  ->  {"results": [{...}]}
 *
 * Each command gets a session of its own, as for a script that connects for each, followed by
 * "quit": whatever the command does to the session, it ends. Its output is converted to JSON while
 * it comes, so that an answer of megabytes needs some kilobytes.
 *
 * GET of .../v1/requests, .../v1/config and paths below them stand for `why` and `show config`,
 * whose JSON is the body as it is.
 *
 * Pages of other sites can make their readers' browsers send forms: so only requests with the type
 * application/json are executed, for which browsers ask for permission first.
 */
#include "ext/runtime_api.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "codec/json.h"
#include "codec/uri.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "codec/json_text.h"
#include "stream/rule.h"
#include "stream/service.h"
#include "stream/stream.h"

#define BODY_MAX 65536
#define COMMANDS_MAX 64
#define READ_MAX 512       /* of a command made of a path */
#define BYTES_A_PART 8192

struct api_rule {
	enum ctl_level level;
};

struct api {
	struct service_call *call;
	struct slice commands[COMMANDS_MAX]; /* unescaped, in the arena */
	struct slice payload;                /* of the only command; or none */
	unsigned count, at;
	const char *error;                   /* the request is refused; what is wrong with it */
	unsigned status;
	struct ctl_session *session;         /* of commands[at]; NULL: it has not begun */
	struct json_writer writer;           /* of what it says */
	bool begun, running, again;
	bool is_get;                         /* one command, whose JSON is the whole answer */
};

/* --- the request ------------------------------------------------------------------------------ */

static bool refuse(struct api *a, unsigned status, const char *why)
{
	a->status = status;
	a->error = why;
	return false;
}

static bool is_json(const struct stream *s)
{
	const struct h1_field *f = http_field_find(&s->req.fields, http_field_id(SLICE(
						   "content-type")), SLICE("content-type"));
	struct slice type = f ? f->value : slice_none();
	size_t end = slice_find_char(type, 0, ';');

	return slice_eq_nocase(slice_trim(end == SIZE_MAX ? type : slice_sub(type, 0, end)),
			       SLICE("application/json"));
}

/* A string of the body. False: refused. */
static bool take_string(struct api *a, struct slice raw, struct slice *out)
{
	char *text = arena_alloc(&a->call->stream->arena, raw.len + 1);
	long len = text ? json_text_decode(raw, text) : -1;

	if (len < 0)
		return refuse(a, 400, "a string is not valid");
	*out = slice_make(text, (size_t)len);
	return true;
}

/* One line, without what a line could hide: other lines, or a payload that does not come. */
static bool command_is_clean(struct slice c)
{
	size_t last = c.len;

	for (size_t i = 0; i < c.len; i++)
		if (((unsigned char)c.ptr[i] < ' ' && c.ptr[i] != '\t') || c.ptr[i] == 127)
			return false;
	while (last > 0 && c.ptr[last - 1] != ' ' && c.ptr[last - 1] != '\t')
		last--;
	return !slice_starts(slice_sub(c, last, c.len), SLICE("<<"));
}

static bool take_command(struct api *a, struct slice raw)
{
	if (a->count == COMMANDS_MAX)
		return refuse(a, 400, "too many commands");
	if (!take_string(a, raw, &a->commands[a->count]))
		return false;
	if (!command_is_clean(a->commands[a->count]))
		return refuse(a, 400, "a command is one line, its payload stands in \"payload\"");
	a->count++;
	return true;
}

static bool read_list(struct api *a, struct slice body)
{
	enum json_type type;
	struct slice raw;
	char path[32];

	for (unsigned i = 0;; i++) {
		snprintf(path, sizeof(path), "$.commands[%u]", i);
		type = json_find(body, slice_of(path), &raw);
		if (type == JSON_NONE)
			return a->count || refuse(a, 400, "\"commands\" is empty");
		if (type != JSON_STRING)
			return refuse(a, 400, "\"commands\" holds something else than strings");
		if (!take_command(a, raw))
			return false;
	}
}

static bool read_body(struct api *a, struct slice body)
{
	enum json_type one, list, payload;
	struct slice raw, raw_list, raw_payload;

	if (json_find(body, SLICE("$"), &raw) != JSON_OBJECT)
		return refuse(a, 400, "the body is no JSON object");
	one = json_find(body, SLICE("$.command"), &raw);
	list = json_find(body, SLICE("$.commands"), &raw_list);
	payload = json_find(body, SLICE("$.payload"), &raw_payload);
	if (payload != JSON_NONE && (payload != JSON_STRING || one != JSON_STRING))
		return refuse(a, 400, "\"payload\" is a string beside \"command\"");
	if (payload != JSON_NONE && !take_string(a, raw_payload, &a->payload))
		return false;
	if (one == JSON_STRING && list == JSON_NONE)
		return take_command(a, raw);
	if (one == JSON_NONE && list == JSON_ARRAY)
		return read_list(a, body);
	return refuse(a, 400, "either \"command\", a string, or \"commands\", an array of them");
}

/* --- GET: what there is to read by a name ----------------------------------------------------- */

/* What stands behind "<words> <id>" in a command, so that no byte of the id is anything else.
 * <text> is of the path, still encoded. False: no memory, or no id.
 */
static bool put_id(struct api *a, struct slice text, struct strbuf *out)
{
	char *id = arena_alloc(&a->call->stream->arena, text.len + 1);
	size_t len = id ? uri_decode(text, false, id) : SIZE_MAX;

	if (len == SIZE_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)id[i] <= ' ' || id[i] == 127)
			return false;
		strbuf_add_char(out, '\\');
		strbuf_add_char(out, id[i]);
	}
	return len > 0;
}

/* What stands below /v1/ as a command. False: nothing does. */
static bool put_command(struct api *a, struct slice what, struct strbuf *out)
{
	static const struct { const char *path, *command; } known[] = {
		{ "requests", "why" }, { "config", "show config" },
		{ "config/diff", "show config diff" },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (slice_eq(what, slice_of(known[i].path)))
			return strbuf_add_str(out, known[i].command);
	return slice_starts(what, SLICE("requests/")) && strbuf_add_str(out, "why ") &&
	       put_id(a, slice_sub(what, 9, what.len), out);
}

/* The command that a path below /v1/ stands for. */
static bool read_path(struct api *a)
{
	struct stream *s = a->call->stream;
	const struct api_rule *rule = a->call->arg;
	struct slice path = http_msg_path(&s->req), what;
	size_t at = slice_find(path, SLICE("/v1/"));
	char text[READ_MAX];
	struct strbuf b;
	bool good;

	if (at == SIZE_MAX)
		return refuse(a, 405, "POST is expected");
	what = slice_sub(path, at + 4, path.len);
	strbuf_init_fixed(&b, text, sizeof(text));
	good = put_command(a, what, &b);
	strbuf_add_str(&b, " json");
	if (!good || b.overflow)
		return refuse(a, 404, "there is no such thing");
	if (rule->level < CTL_OPERATOR)
		return refuse(a, 403, "the level 'operator' is needed");
	a->is_get = true;
	a->commands[a->count++] = arena_copy(&s->arena, strbuf_slice(&b));
	return !slice_is_none(a->commands[0]) || refuse(a, 500, "out of memory");
}

static bool read_request(struct api *a)
{
	struct service_call *c = a->call;
	size_t len = c->body.len;
	char *text;

	if (c->stream->req.method == HTTP_METH_GET)
		return read_path(a);
	if (c->stream->req.method != HTTP_METH_POST)
		return refuse(a, 405, "POST is expected");
	if (!is_json(c->stream))
		return refuse(a, 415, "content-type: application/json is expected");
	if (c->body_is_cut)
		return refuse(a, 413, "the body is too long");
	text = arena_alloc(&c->stream->arena, len + 1);
	if (!text)
		return refuse(a, 500, "out of memory");
	return read_body(a, slice_make(text, block_queue_peek(&c->body, 0, text, len)));
}

/* --- a command -------------------------------------------------------------------------------- */

static void api_wake(void *owner)
{
	struct api *a = owner;

	if (a->running)
		a->again = true;
	else
		service_continue(a->call);
}

/* Without expose: no listening socket goes this way. */
static const struct ctl_session_owner owner_ops = { .wake = api_wake };

static bool has_line(struct slice text, const char *line)
{
	size_t from = 0, len = strlen(line);

	while (from <= text.len) {
		size_t end = slice_find_char(text, from, '\n');
		struct slice l = slice_sub(text, from, end == SIZE_MAX ? text.len : end);

		if (l.len && l.ptr[l.len - 1] == '\r')
			l.len--;
		if (l.len == len && memcmp(l.ptr, line, len) == 0)
			return true;
		if (end == SIZE_MAX)
			break;
		from = end + 1;
	}
	return false;
}

/* The payload ends with a line that it does not have. False: no memory. */
static bool feed_payload(struct api *a)
{
	char end[8], head[16];

	for (unsigned i = 0;; i++) {
		snprintf(end, sizeof(end), "E%u", i);
		if (!has_line(a->payload, end))
			break;
	}
	snprintf(head, sizeof(head), " <<%s\n", end);
	return ctl_session_feed(a->session, slice_of(head)) &&
	       ctl_session_feed(a->session, a->payload) &&
	       ctl_session_feed(a->session, SLICE("\n")) &&
	       ctl_session_feed(a->session, slice_of(end));
}

static bool begin_command(struct api *a, struct strbuf *out)
{
	const struct api_rule *rule = a->call->arg;
	struct slice command = a->commands[a->at];

	a->session = ctl_session_new(rule->level, &owner_ops, a);
	if (!a->session)
		return false;
	if (a->is_get)
		return ctl_session_feed(a->session, command) &&
		       ctl_session_feed(a->session, SLICE("\nquit\n"));
	/* not with several commands in one line: it would be unclear which one it belongs to */
	ctl_session_set_severity(a->session, slice_find_char(command, 0, ';') == SIZE_MAX);
	strbuf_add_str(out, a->at ? ",{\"command\":" : "{\"command\":");
	json_put_string(out, command);
	json_writer_begin(&a->writer, slice_find(command, SLICE("json")) != SIZE_MAX &&
			  slice_find_char(command, 0, ';') == SIZE_MAX);
	return ctl_session_feed(a->session, command) &&
	       (slice_is_none(a->payload) || feed_payload(a)) &&
	       ctl_session_feed(a->session, SLICE("\nquit\n"));
}

/* Lets the command go on. SERVICE_DONE: it is over. */
static enum service_result run_command(struct api *a, struct strbuf *out)
{
	struct slice said;

	a->again = false;
	a->running = true;
	ctl_session_run(a->session);
	a->running = false;
	said = ctl_session_output(a->session);
	if (a->is_get)
		strbuf_add(out, said);
	else
		json_writer_add(&a->writer, out, said);
	ctl_session_sent(a->session, said.len);
	if (ctl_session_is_over(a->session)) {
		if (!a->is_get) {
			json_writer_end(&a->writer, out);
			strbuf_add_char(out, '}');
		}
		ctl_session_free(&a->session);
		a->at++;
		return SERVICE_DONE;
	}
	return said.len || a->again ? SERVICE_MORE : SERVICE_WAIT;
}

/* --- the service ------------------------------------------------------------------------------ */

static bool api_start(struct service_call *c)
{
	struct api *a = c->state;

	a->call = c;
	if (!read_request(a) && !http_msg_set_status(c->head, a->status, slice_none()))
		return false;
	if (a->status == 405 && !http_msg_add_field(c->head, SLICE("allow"), SLICE("POST")))
		return false;
	return http_msg_add_field(c->head, SLICE("content-type"), SLICE("application/json")) &&
	       http_msg_add_field(c->head, SLICE("cache-control"), SLICE("no-store"));
}

static enum service_result api_part(struct service_call *c, struct strbuf *out)
{
	struct api *a = c->state;
	enum service_result r = SERVICE_DONE;

	if (a->error) {
		strbuf_add_str(out, "{\"error\":");
		json_put_string(out, slice_of(a->error));
		strbuf_add_str(out, "}\n");
		return SERVICE_DONE;
	}
	if (!a->begun && !a->is_get)
		strbuf_add_str(out, "{\"results\":[");
	a->begun = true;
	while (a->at < a->count && r == SERVICE_DONE && out->len < BYTES_A_PART) {
		if (!a->session && !begin_command(a, out))
			return SERVICE_ERROR;
		r = run_command(a, out);
	}
	if (out->overflow)
		return SERVICE_ERROR;
	if (a->at < a->count)
		return r == SERVICE_DONE ? SERVICE_MORE : r;
	if (!a->is_get)
		strbuf_add_str(out, "]}\n");
	return out->overflow ? SERVICE_ERROR : SERVICE_DONE;
}

static void api_end(struct service_call *c)
{
	ctl_session_free(&((struct api *)c->state)->session);
}

/* [level <level>] */
static bool api_parse(struct conf_line *l, const void **arg)
{
	static const char *const levels[] = { "user", "operator", "admin" };
	struct api_rule *rule = arena_zalloc(&l->cfg->arena, sizeof(*rule));
	const char *word = conf_peek(l);
	size_t i = 0;

	if (!rule)
		return conf_error(l, 0, NULL, "out of memory.");
	*arg = rule;
	rule->level = CTL_USER;
	if (!word || strcmp(word, "level") != 0)
		return true;
	l->at++;
	word = conf_next(l);
	while (i < ARRAY_LEN(levels) && (!word || strcmp(word, levels[i]) != 0))
		i++;
	if (i == ARRAY_LEN(levels))
		return conf_error(l, l->at - 1, NULL, "'level' expects 'user', 'operator' or "
				  "'admin'.");
	rule->level = (enum ctl_level)i;
	if (rule->level != CTL_USER && !conf_peek(l))
		conf_warn(l, l->at - 1, NULL, "'runtime-api level %s' without a condition: any "
			  "client of this proxy may change it.", word);
	return true;
}

static const struct service_kind services[] = {
	{ .name = "runtime-api", .shown = "<RUNTIME-API>", .state_size = sizeof(struct api),
	  .body_max = BODY_MAX, .parse = api_parse, .start = api_start, .part = api_part,
	  .end = api_end, .help = "the Runtime API, with JSON" },
	{ 0 }
};

const struct module mod_runtime_api = { .name = "runtime_api", .services = services };
