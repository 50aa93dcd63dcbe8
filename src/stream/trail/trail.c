/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trail.c - describes a stream's way when asked */
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "proxy/balance.h"
#include "proxy/bind.h"
#include "stream/log.h"
#include "stream/rule_list.h"
#include "stream/service.h"
#include "stream/split.h"
#include "stream/timing.h"
#include "stream/trail.h"
#include "trail_priv.h"

#define ID_MAX 128
#define REQUEST_MAX 512

/* --- texts ------------------------------------------------------------------------------------ */

/* As much of <text> as <max> and the room allow. */
static struct failure_text keep(struct failure *f, struct slice text, size_t max)
{
	size_t room = FAILURE_TEXT - f->text_len, len = text.len < max ? text.len : max;
	struct failure_text t = { .at = f->text_len };

	t.len = (uint16_t)(len < room ? len : room);
	if (t.len)
		memcpy(f->text + t.at, text.ptr, t.len);
	f->text_len = (uint16_t)(f->text_len + t.len);
	return t;
}

static struct failure_text keep_name(struct failure *f, const char *name)
{
	return name ? keep(f, slice_of(name), 256) : (struct failure_text){ 0 };
}

/* "10.0.0.1:4711" */
static struct failure_text keep_client(struct failure *f, struct stream *s)
{
	const struct addr *a = stream_src(s);
	char text[ADDR_IP_MAX + 8];
	size_t len;

	if (!addr_is_inet(a))
		return keep_name(f, a->family == ADDR_UNIX ? "unix" : "-");
	len = addr_put_ip(a, text, sizeof(text));
	len += (size_t)snprintf(text + len, sizeof(text) - len, ":%u", a->port);
	return keep(f, slice_make(text, len), sizeof(text));
}

/* "GET /path HTTP/1.1" */
static struct failure_text keep_request(struct failure *f, const struct stream *s)
{
	struct failure_text t;
	uint16_t from = f->text_len;

	if (slice_is_none(s->log.uri))
		return (struct failure_text){ 0 };
	t = keep(f, s->log.method, 32);
	keep(f, SLICE(" "), 1);
	keep(f, s->log.uri, REQUEST_MAX);
	keep(f, SLICE(" "), 1);
	keep(f, s->log.version, 16);
	t.len = (uint16_t)(f->text_len - from);
	return t;
}

/* --- rules ------------------------------------------------------------------------------------ */

/* What a number in a proxy stands for, see rule_hits.c. */
struct found {
	const char *set, *words, *file;
	int line;
};

static bool find_switch(const struct list *rules, unsigned number, struct found *out)
{
	const struct switch_rule *sr;

	list_for_each(sr, rules, link) {
		unsigned at = number - sr->number; /* behind a split stand its targets */

		if (number < sr->number || at > (sr->split ? sr->split->count : 0))
			continue;
		*out = (struct found){ sr->word, at ? sr->split->targets[at - 1].name : sr->name,
				       sr->file, sr->line };
		return true;
	}
	return false;
}

static bool find_rule(const struct proxy *px, unsigned number, struct found *out)
{
	const struct rule_proxy *rp = rule_proxy_of(px);
	const struct redirect_rule *rr;

	for (int set = 0; set < RULES_COUNT; set++) {
		const struct rule *r;

		if (number < rp->first_number[set] ||
		    number - rp->first_number[set] >= rp->count[set])
			continue;
		r = rp->all[set][number - rp->first_number[set]];
		*out = (struct found){ ruleset_name(r->set), r->action->words, r->file, r->line };
		return true;
	}
	list_for_each(rr, &rp->redirects, link) {
		if (rr->number != number)
			continue;
		*out = (struct found){ "redirect", "", rr->rule.file, rr->rule.line };
		return true;
	}
	return find_switch(&rp->backends, number, out) || find_switch(&rp->servers, number, out);
}

/* The rule with this mark; a file that the rule before has named is not kept twice. */
static void describe_rule(struct failure *f, const struct stream *s, uint32_t mark,
			  const char **last_file)
{
	struct failure_rule *r = &f->rules[f->rule_count], *before = r - 1;
	struct found found;
	uint16_t from = f->text_len;

	r->of_backend = (mark & TRAIL_OF_BACKEND) != 0;
	if (!find_rule(r->of_backend ? s->be : s->fe, mark & ~TRAIL_OF_BACKEND, &found))
		return;
	r->words = keep_name(f, found.set);
	if (*found.words) {
		keep(f, SLICE(" "), 1);
		keep_name(f, found.words);
	}
	r->words.len = (uint16_t)(f->text_len - from);
	r->file = f->rule_count && found.file == *last_file ? before->file
							    : keep_name(f, found.file);
	r->line = found.line;
	*last_file = found.file;
	f->rule_count++;
}

/* Is it a rule that ends a stream this way? */
static bool is_end_of_rule(enum stream_end why)
{
	switch (why) {
	case END_RULE_DENY: case END_RULE_TARPIT: case END_RULE_REJECT: case END_RULE_CLOSE:
	case END_RULE_ANSWER: case END_RULE_BAD_REQUEST: case END_RULE_TIMEOUT:
	case END_RULE_ERROR: case END_TCP_RESPONSE_DENY: case END_TCP_RESPONSE_CUT:
	case END_TCP_RESPONSE_CLOSE: case END_TCP_RESPONSE_ERROR: case END_RESPONSE_DENY:
	case END_RESPONSE_CLOSE: case END_RESPONSE_ANSWER: case END_RESPONSE_RULE_TIMEOUT:
	case END_RESPONSE_RULE_ERROR:
		return true;
	default:
		return false;
	}
}

static void describe_rules(struct failure *f, const struct stream *s)
{
	uint32_t count = s->trail.rules, first = count > TRAIL_RULES ? count - TRAIL_RULES : 0;
	bool decided = is_end_of_rule((enum stream_end)s->end) && s->trail.rules_at_end;
	const char *last_file = NULL;

	f->decided = -1;
	f->rules_before = first;
	for (uint32_t i = first; i < count; i++) {
		unsigned had = f->rule_count;

		describe_rule(f, s, s->trail.numbers[i % TRAIL_RULES], &last_file);
		if (decided && i + 1 == s->trail.rules_at_end && f->rule_count > had)
			f->decided = (int)had;
	}
}

/* --- servers ---------------------------------------------------------------------------------- */

static void describe_tries(struct failure *f, const struct stream *s)
{
	const struct trail_try *list[FAILURE_TRIES], *t;
	unsigned count = 0;

	for (t = s->trail.tries; t && count < FAILURE_TRIES; t = t->next)
		list[count++] = t;
	while (count) {
		struct failure_try *to = &f->tries[f->try_count++];

		t = list[--count];
		to->server = keep(f, t->server, 256);
		to->why = t->why;
		to->status = t->status;
		to->error = t->error;
	}
}

/* By what the server was chosen. */
static const char *choice_of(const struct stream *s)
{
	if (s->flags & STRM_FORCED_SERVER)
		return "a rule or a cookie";
	return s->be->balancing.algorithm ? s->be->balancing.algorithm->name : NULL;
}

static void describe_server(struct failure *f, struct stream *s)
{
	if (s->flags & STRM_BE_COUNTED)
		f->backend = keep_name(f, s->be->name);
	f->retries = s->retry.count;
	f->server_queue = s->queue.ahead;
	f->backend_queue = s->queue.be_ahead;
	f->error = s->answer.connection ? s->answer.connection - 1 : 0;
	if (stream_server(s)) {
		f->server = keep_name(f, s->server->name);
		f->how = keep_name(f, choice_of(s));
	} else if (s->service) {
		f->server = keep_name(f, s->service->shown);
	}
	describe_tries(f, s);
}

static void describe_times(struct failure *f, const struct stream *s)
{
	f->handshake_ms = timing_handshake(s);
	f->idle_ms = timing_idle(s);
	f->request_ms = timing_request(s);
	f->queue_ms = timing_queue(s);
	f->connect_ms = timing_connect(s);
	f->response_ms = timing_response(s);
	f->active_ms = s->flags & STRM_HTTP ? timing_active(s) : timing_total(s);
}

void trail_describe(struct stream *s, struct failure *f)
{
	memset(f, 0, offsetof(struct failure, bytes));
	f->bytes.len = 0;
	f->text_len = 0;
	f->wall_us = s->t.wall_us;
	f->status = s->answer.status;
	f->end = s->end;
	f->stage = s->end == END_NONE ? s->stage : s->trail.stage;
	f->received = s->front.rx_bytes;
	f->sent = stream_bytes_out(s);
	stream_end_letters(s, f->letters);
	f->id = keep(f, stream_unique_id(s), ID_MAX);
	f->frontend = keep_name(f, s->fe->name);
	f->client = keep_client(f, s);
	describe_server(f, s);
	f->request = keep_request(f, s);
	describe_rules(f, s);
	describe_times(f, s);
}

/* --- one line --------------------------------------------------------------------------------- */

static void put_tries(const struct failure *f, struct strbuf *out)
{
	for (unsigned i = 0; i < f->try_count; i++) {
		const struct failure_try *t = &f->tries[i];

		strbuf_add_str(out, i ? ", " : " after ");
		strbuf_add(out, failure_slice(f, t->server));
		if (t->why == END_NONE)
			strbuf_printf(out, " %u", t->status);
		else
			strbuf_printf(out, " %s", stream_ends[t->why].name);
	}
}

static void put_line(const struct failure *f, struct strbuf *out)
{
	for (unsigned i = 0; i < f->rule_count; i++) {
		const struct failure_rule *r = &f->rules[i];

		strbuf_printf(out, "%s%.*s (%.*s:%d)", i ? ", " : f->rules_before ? "... " : "",
			      SLICE_FMT(failure_slice(f, r->words)),
			      SLICE_FMT(failure_slice(f, r->file)), r->line);
	}
	if (!f->server.len && !f->try_count)
		return;
	strbuf_add_str(out, f->rule_count ? "; server " : "server ");
	strbuf_add(out, f->server.len ? failure_slice(f, f->server) : SLICE("none"));
	if (f->how.len)
		strbuf_printf(out, " by %.*s", SLICE_FMT(failure_slice(f, f->how)));
	put_tries(f, out);
}

void trail_put_line(struct stream *s, struct strbuf *out)
{
	struct failure f;

	trail_describe(s, &f);
	put_line(&f, out);
}
