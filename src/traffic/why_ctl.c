/* SPDX-License-Identifier: GPL-2.0-or-later */
/* why_ctl.c - edge file: why, which tells how requests came to a bad end */
#include <stdlib.h>
#include <string.h>
#include "codec/json_text.h"
#include "ctl/ctl.h"
#include "proxy/proxy.h"
#include "proxy/walk.h"
#include "stream/end.h"
#include "stream/sess_dump.h"
#include "stream/trail.h"

#define COLUMNS "# number date frontend client status state end id\n"

struct why {
	struct proxy_walk walk;
	const char *id;           /* only those; NULL: all, a line each */
	bool json, any;
	struct failure f;         /* the one being shown */
};

static struct slice hidden(const struct ctl_request *rq, struct slice text, char out[CTL_HIDE_MAX])
{
	char plain[CTL_HIDE_MAX * 16];

	if (!ctl_anon_key(rq) || !text.len)
		return text;
	slice_copy(text, plain, sizeof(plain));
	return slice_of(ctl_hide(ctl_anon_key(rq), plain, out));
}

static struct slice or_dash(struct slice text)
{
	return text.len ? text : SLICE("-");
}

/* Why it ended, for people. */
static void put_reason(const struct failure *f, struct strbuf *out)
{
	if (f->end == END_NONE && f->server.len)
		strbuf_printf(out, "the server answered %u", f->status);
	else
		strbuf_add_str(out, stream_ends[f->end].text);
}

/* What a try came to: "CONNECT_FAILED (Connection refused)", "status 503". */
static void put_try(const struct failure_try *t, struct strbuf *out)
{
	if (t->why == END_NONE)
		strbuf_printf(out, "status %u", t->status);
	else
		strbuf_add_str(out, stream_ends[t->why].name);
	if (t->error)
		strbuf_printf(out, " (%s)", strerror(t->error));
}

/* --- text ------------------------------------------------------------------------------------- */

/* Bytes of clients, harmless for a terminal. */
static void put_safely(struct strbuf *out, struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c >= ' ' && c < 0x7f && c != '\\')
			strbuf_add_char(out, (char)c);
		else if (c == '\r' || c == '\n')
			strbuf_add_str(out, c == '\r' ? "\\r" : "\\n");
		else
			strbuf_printf(out, "\\x%02X", c);
	}
}

static void put_line(struct ctl_request *rq, const struct failure *f)
{
	char name[CTL_HIDE_MAX], client[CTL_HIDE_MAX];
	struct strbuf *out = rq->out;

	strbuf_printf(out, "#%llu ", (unsigned long long)f->serial);
	sess_put_date(out, f->wall_us, 3);
	strbuf_printf(out, " %.*s %.*s %d %.2s %s ",
		      SLICE_FMT(hidden(rq, failure_slice(f, f->frontend), name)),
		      SLICE_FMT(hidden(rq, failure_slice(f, f->client), client)),
		      f->status ? f->status : -1, f->letters, stream_ends[f->end].name);
	put_safely(out, or_dash(failure_slice(f, f->id)));
	strbuf_add_char(out, '\n');
}

static void put_names(struct ctl_request *rq, const struct failure *f)
{
	char fe[CTL_HIDE_MAX], be[CTL_HIDE_MAX], srv[CTL_HIDE_MAX], client[CTL_HIDE_MAX];
	struct strbuf *out = rq->out;

	strbuf_printf(out, "  frontend %.*s, backend %.*s, server %.*s",
		      SLICE_FMT(hidden(rq, failure_slice(f, f->frontend), fe)),
		      SLICE_FMT(or_dash(hidden(rq, failure_slice(f, f->backend), be))),
		      SLICE_FMT(or_dash(hidden(rq, failure_slice(f, f->server), srv))));
	if (f->how.len)
		strbuf_printf(out, " (chosen by %.*s)", SLICE_FMT(failure_slice(f, f->how)));
	strbuf_printf(out, "\n  client %.*s, %llu bytes received, %llu sent\n",
		      SLICE_FMT(hidden(rq, failure_slice(f, f->client), client)),
		      (unsigned long long)f->received, (unsigned long long)f->sent);
	if (f->request.len && !ctl_anon_key(rq)) {
		strbuf_add_str(out, "  request: ");
		put_safely(out, failure_slice(f, f->request));
		strbuf_add_char(out, '\n');
	}
}

static void put_rules(const struct failure *f, struct strbuf *out)
{
	strbuf_add_str(out, "  rules that applied:");
	if (f->rules_before)
		strbuf_printf(out, " (%u more before)", f->rules_before);
	strbuf_add_str(out, f->rule_count || f->rules_before ? "\n" : " none\n");
	for (unsigned i = 0; i < f->rule_count; i++) {
		const struct failure_rule *r = &f->rules[i];

		strbuf_printf(out, "    %.*s (%.*s:%d)%s\n",
			      SLICE_FMT(failure_slice(f, r->words)),
			      SLICE_FMT(failure_slice(f, r->file)), r->line,
			      (int)i == f->decided ? ": this one ended the request" : "");
	}
}

static void put_tries(struct ctl_request *rq, const struct failure *f)
{
	char srv[CTL_HIDE_MAX];
	struct strbuf *out = rq->out;

	if (f->server_queue || f->backend_queue)
		strbuf_printf(out, "  queue: behind %u of the server, %u of the backend\n",
			      f->server_queue, f->backend_queue);
	if (f->retries || f->try_count)
		strbuf_printf(out, "  tried again: %u times\n", f->retries);
	for (unsigned i = 0; i < f->try_count; i++) {
		strbuf_printf(out, "    %.*s: ",
			      SLICE_FMT(hidden(rq, failure_slice(f, f->tries[i].server), srv)));
		put_try(&f->tries[i], out);
		strbuf_add_char(out, '\n');
	}
}

static void put_times(const struct failure *f, struct strbuf *out)
{
	const struct { const char *name; int64_t ms; } times[] = {
		{ "handshake", f->handshake_ms }, { "idle", f->idle_ms },
		{ "request", f->request_ms }, { "queue", f->queue_ms },
		{ "connect", f->connect_ms }, { "response", f->response_ms },
		{ "active", f->active_ms },
	};
	const char *comma = "";

	strbuf_add_str(out, "  times in ms: ");
	for (unsigned i = 0; i < ARRAY_LEN(times); i++) {
		if (times[i].ms < 0)
			continue;
		strbuf_printf(out, "%s%s %lld", comma, times[i].name, (long long)times[i].ms);
		comma = ", ";
	}
	strbuf_add_char(out, '\n');
}

static void put_bytes(const struct failure_bytes *b, struct strbuf *out)
{
	size_t at = b->at < b->len ? b->at : b->len;

	if (!b->len)
		return;
	strbuf_printf(out, "  received, wrong at byte %zu, marked >>> <<<:\n    ",
		      (size_t)b->from + at);
	put_safely(out, slice_make(b->text, at));
	strbuf_add_str(out, ">>>");
	put_safely(out, slice_make(b->text + at, at < b->len));
	strbuf_add_str(out, "<<<");
	if (at < b->len)
		put_safely(out, slice_make(b->text + at + 1, b->len - at - 1));
	strbuf_add_char(out, '\n');
}

static void put_whole(struct ctl_request *rq, const struct failure *f, bool again)
{
	struct strbuf *out = rq->out;

	strbuf_printf(out, "%srequest #%llu, id ", again ? "\n" : "",
		      (unsigned long long)f->serial);
	put_safely(out, or_dash(failure_slice(f, f->id)));
	strbuf_add_str(out, ", ");
	sess_put_date(out, f->wall_us, 3);
	strbuf_printf(out, "\n  %s: ", stream_ends[f->end].name);
	put_reason(f, out);
	if (f->error > 0)
		strbuf_printf(out, " (%s)", strerror(f->error));
	strbuf_printf(out, "\n  status %d, state %.2s, in stage %s\n",
		      f->status ? f->status : -1, f->letters, stream_stage_names[f->stage]);
	put_names(rq, f);
	put_rules(f, out);
	put_tries(rq, f);
	put_times(f, out);
	if (!ctl_anon_key(rq))
		put_bytes(&f->bytes, out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void member(struct strbuf *out, const char *name, struct slice value)
{
	strbuf_printf(out, ",\"%s\":", name);
	if (value.len)
		json_put_string(out, value);
	else
		strbuf_add_str(out, "null");
}

static void json_rules(const struct failure *f, struct strbuf *out)
{
	strbuf_printf(out, ",\"rules_before\":%u,\"rules\":[", f->rules_before);
	for (unsigned i = 0; i < f->rule_count; i++) {
		const struct failure_rule *r = &f->rules[i];

		strbuf_add_str(out, i ? ",{\"rule\":" : "{\"rule\":");
		json_put_string(out, failure_slice(f, r->words));
		member(out, "file", failure_slice(f, r->file));
		strbuf_printf(out, ",\"line\":%d,\"proxy\":\"%s\",\"decided\":%s}", r->line,
			      r->of_backend ? "backend" : "frontend",
			      (int)i == f->decided ? "true" : "false");
	}
	strbuf_add_char(out, ']');
}

static void json_tries(const struct failure *f, struct strbuf *out)
{
	strbuf_printf(out, ",\"retries\":%u,\"tries\":[", f->retries);
	for (unsigned i = 0; i < f->try_count; i++) {
		const struct failure_try *t = &f->tries[i];

		strbuf_add_str(out, i ? ",{\"server\":" : "{\"server\":");
		json_put_string(out, failure_slice(f, t->server));
		if (t->why == END_NONE)
			strbuf_printf(out, ",\"status\":%u", t->status);
		else
			member(out, "end", slice_of(stream_ends[t->why].name));
		if (t->error)
			member(out, "error", slice_of(strerror(t->error)));
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

static void json_times(const struct failure *f, struct strbuf *out)
{
	strbuf_printf(out, ",\"server_queue\":%u,\"backend_queue\":%u,\"times_ms\":{"
		      "\"handshake\":%lld,\"idle\":%lld,\"request\":%lld,\"queue\":%lld,"
		      "\"connect\":%lld,\"response\":%lld,\"active\":%lld}",
		      f->server_queue, f->backend_queue, (long long)f->handshake_ms,
		      (long long)f->idle_ms, (long long)f->request_ms, (long long)f->queue_ms,
		      (long long)f->connect_ms, (long long)f->response_ms,
		      (long long)f->active_ms);
}

static void json_details(const struct failure *f, struct strbuf *out)
{
	char text[256];
	struct strbuf reason;

	strbuf_init_fixed(&reason, text, sizeof(text));
	put_reason(f, &reason);
	member(out, "reason", strbuf_slice(&reason));
	member(out, "error", f->error > 0 ? slice_of(strerror(f->error)) : slice_none());
	member(out, "stage", slice_of(stream_stage_names[f->stage]));
	member(out, "backend", failure_slice(f, f->backend));
	member(out, "server", failure_slice(f, f->server));
	member(out, "chosen_by", failure_slice(f, f->how));
	member(out, "request", failure_slice(f, f->request));
	strbuf_printf(out, ",\"bytes_received\":%llu,\"bytes_sent\":%llu",
		      (unsigned long long)f->received, (unsigned long long)f->sent);
	json_rules(f, out);
	json_tries(f, out);
	json_times(f, out);
	if (!f->bytes.len)
		return;
	strbuf_printf(out, ",\"wrong\":{\"at\":%u,\"from\":%u",
		      f->bytes.from + f->bytes.at, f->bytes.from);
	member(out, "bytes", slice_make(f->bytes.text, f->bytes.len));
	strbuf_add_char(out, '}');
}

static void put_json(const struct why *w, struct strbuf *out)
{
	const struct failure *f = &w->f;

	strbuf_printf(out, "%s{\"number\":%llu", w->any ? "," : "",
		      (unsigned long long)f->serial);
	member(out, "id", failure_slice(f, f->id));
	strbuf_printf(out, ",\"time_ms\":%llu", (unsigned long long)(f->wall_us / 1000));
	member(out, "frontend", failure_slice(f, f->frontend));
	member(out, "client", failure_slice(f, f->client));
	strbuf_printf(out, ",\"status\":%d", f->status ? f->status : -1);
	member(out, "state", slice_make(f->letters, 2));
	member(out, "end", slice_of(stream_ends[f->end].name));
	if (w->id)
		json_details(f, out);
	strbuf_add_char(out, '}');
}

/* --- the command ------------------------------------------------------------------------------ */

/* why [<id> | #<number>] [json] */
static struct why *begin(struct ctl_request *rq)
{
	const char *word = rq->words[rq->at], *last = rq->count > rq->at ? rq->words[rq->count - 1]
									 : NULL;
	bool json = last && strcmp(last, "json") == 0;
	struct why *w;

	if (rq->count - rq->at > 1 + json) {
		ctl_error(rq, "Expects at most one id.");
		return NULL;
	}
	if (json && ctl_anon_key(rq)) {
		ctl_error(rq, "Not as JSON in an anonymized session.");
		return NULL;
	}
	w = proxy_walk_begin(rq, sizeof(*w));
	if (!w)
		return NULL;
	w->json = json;
	w->id = word && !(json && word == last) ? word : NULL;
	strbuf_add_str(rq->out, json ? "{\"requests\":[" : w->id ? "" : COLUMNS);
	rq->pos = 0;
	return w;
}

static bool is_meant(const struct why *w)
{
	char *end;

	if (!w->id)
		return true;
	if (w->id[0] == '#' && strtoull(w->id + 1, &end, 10) == w->f.serial && !*end)
		return true;
	return slice_eq(failure_slice(&w->f, w->f.id), slice_of(w->id));
}

static void put_one(struct ctl_request *rq, struct why *w)
{
	if (w->json)
		put_json(w, rq->out);
	else if (w->id)
		put_whole(rq, &w->f, w->any);
	else
		put_line(rq, &w->f);
	w->any = true;
}

static enum ctl_step run_why(struct ctl_request *rq)
{
	struct why *w = rq->state ? rq->state : begin(rq);

	if (!w)
		return CTL_DONE;
	for (; w->walk.at; w->walk.at = proxy_next(w->walk.at), rq->pos = 0) {
		for (; rq->pos < failure_room(w->walk.at); rq->pos++) {
			if (ctl_is_due(rq))
				return CTL_MORE;
			if (failure_read(w->walk.at, (unsigned)rq->pos, &w->f) && is_meant(w))
				put_one(rq, w);
		}
	}
	if (w->json)
		strbuf_printf(rq->out, "],\"missed\":%llu}\n",
			      (unsigned long long)failures_missed());
	else if (w->id && !w->any)
		ctl_error(rq, "No request that ended badly is known by this id.");
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "why", .level = CTL_OPERATOR, .syntax = "[<id>|#<number>] [json]",
	  .help = "list the last requests that ended badly, or tell how one did", .run = run_why,
	  .release = proxy_walk_release },
	{ 0 }
};

const struct module mod_why_ctl = { .name = "why_ctl", .commands = commands };
