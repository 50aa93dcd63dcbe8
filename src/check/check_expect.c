/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_expect.c - compares a server's answer with a rule's expectation
 *
 * A missing match may still appear with more bytes, and so may an unwanted one: the result is final
 * when the rule says so (min-recv 0), the server has closed, or the buffer is full.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "base/regex.h"
#include "proxy/server.h"
#include "check_priv.h"

/* --- tcp-check ------------------------------------------------------------------------------ */

/* What is received, as the rule looks at it: HTTP bodies are decoded. */
static struct slice content(const struct check_run *r)
{
	if (r->sent_http)
		return r->body;
	return r->in ? slice_make(r->in->data, r->in->used) : slice_none();
}

/* Will nothing more come? */
static bool is_final(const struct check_run *r)
{
	return r->in_end || (r->sent_http && r->body_end) || (r->in && !block_room(r->in));
}

/* Compares the bytes as hexadecimal digits. Not in the arena: it may happen for each byte. */
static bool hex_matches(const struct regex *re, struct slice in)
{
	char *hex = malloc(in.len * 2 + 1);
	bool matches;

	if (!hex)
		return false;
	num_put_hex_bytes(hex, in.ptr, in.len);
	for (size_t i = 0; i < in.len * 2; i++)
		hex[i] = ascii_upper(hex[i]);
	matches = regex_match(re, slice_make(hex, in.len * 2));
	free(hex);
	return matches;
}

/* The text to look for, made once. */
static struct slice wanted(struct check_run *r, const struct check_value *v)
{
	if (!v->format)
		return v->text;
	if (r->made_of != v) {
		r->made = check_value_make(r, v);
		r->made_of = v;
	}
	return r->made;
}

static bool content_matches(struct check *c, const struct check_expect *e, struct slice in)
{
	switch (e->match) {
	case EXPECT_REGEX:
		return regex_match(e->regex, in);
	case EXPECT_BINARY_REGEX:
		return hex_matches(e->regex, in);
	default:
		return slice_find(in, wanted(c->run, &e->value)) != SIZE_MAX;
	}
}

/* How many bytes an answer needs at least: what `min-recv` asks for, and as many as the text
 * has that is looked for.
 */
static size_t least(struct check *c, const struct check_expect *e)
{
	bool is_text = e->match != EXPECT_REGEX && e->match != EXPECT_BINARY_REGEX;
	size_t len = is_text ? wanted(c->run, &e->value).len : 0;
	size_t min = e->min_recv > 0 ? (size_t)e->min_recv : 0;

	return min > len ? min : len;
}

static const char *mismatch_text(struct check *c, const struct check_rule *rule)
{
	static const char *const kinds[] = {
		[EXPECT_REGEX] = "(regex)", [EXPECT_STRING_LF] = "(log-format string)",
		[EXPECT_BINARY] = "(binary)", [EXPECT_BINARY_REGEX] = "(binary regex)",
		[EXPECT_BINARY_LF] = "(log-format binary)",
	};
	const struct check_expect *e = &rule->expect;
	struct arena *a = &c->run->arena;
	const char *verb = e->negated ? "matched unwanted" : "did not match";
	const char *note = rule->comment ? " comment: " : "";
	const char *comment = rule->comment ? rule->comment : "";

	if (c->run->sent_http)
		return arena_printf(a, "HTTP %s %s%s%s", e->negated ? "check" : "content check",
				    e->negated ? "matched unwanted content" : "did not match",
				    note, comment);
	if (e->match == EXPECT_STRING)
		return arena_printf(a, "TCPCHK %s content '%.*s' at step %d%s%s", verb,
				    SLICE_FMT(e->value.text), rule->step, note, comment);
	return arena_printf(a, "TCPCHK %s content %s at step %d%s%s", verb, kinds[e->match],
			    rule->step, note, comment);
}

static enum expect_verdict expect_content(struct check *c, const struct check_rule *rule,
					  struct check_result *r)
{
	const struct check_expect *e = &rule->expect;
	struct slice in = content(c->run);
	const char *note = rule->comment ? " comment: " : "";
	bool final = is_final(c->run), matches;

	r->status = CHECK_L7RSP;
	if (!in.len && final) {
		r->text = c->run->sent_http ? "HTTP content check could not find a response body"
			: arena_printf(&c->run->arena, "TCPCHK got an empty response at step "
				       "%d%s%s", rule->step, note,
				       rule->comment ? rule->comment : "");
		return VERDICT_FAIL;
	}
	if (!in.len || (in.len < least(c, e) && !final))
		return VERDICT_WAIT;
	matches = content_matches(c, e, in);
	if (matches && !e->negated)
		return VERDICT_OK;
	/* with `min-recv` these bytes decide */
	if (!matches && !final && e->min_recv < 0)
		return VERDICT_WAIT;
	if (matches == !e->negated)
		return VERDICT_OK;
	r->text = mismatch_text(c, rule);
	return VERDICT_FAIL;
}

/* --- http-check ----------------------------------------------------------------------------- */

static bool status_is_in(const struct check_expect *e, int status)
{
	for (int i = 0; i < e->range_count; i++)
		if (status >= e->ranges[i].low && status <= e->ranges[i].high)
			return true;
	return false;
}

static bool pattern_fits(struct check_run *r, const struct check_field_pattern *p, struct slice s,
			 bool nocase)
{
	struct slice want = p->match == FIELD_REG ? slice_none() : check_value_make(r, &p->value);

	switch (p->match) {
	case FIELD_REG:
		return regex_match(p->regex, s);
	case FIELD_BEG:
		return nocase ? slice_starts_nocase(s, want) : slice_starts(s, want);
	case FIELD_END:
		return s.len >= want.len &&
			(nocase ? slice_eq_nocase(slice_sub(s, s.len - want.len, s.len), want)
			 : slice_ends(s, want));
	case FIELD_SUB:
		return (nocase ? slice_find_nocase(s, want) : slice_find(s, want)) != SIZE_MAX;
	default:
		return nocase ? slice_eq_nocase(s, want) : slice_eq(s, want);
	}
}

/* The value of one field: whole, or element by element. */
static bool value_fits(struct check_run *r, const struct check_expect *e, struct slice value)
{
	struct slice element;

	if (!e->has_field_value)
		return true;
	if (e->match == EXPECT_FULL_FIELD)
		return pattern_fits(r, &e->field_value, value, false);
	while (h1_list_next(&value, &element))
		if (pattern_fits(r, &e->field_value, element, false))
			return true;
	return false;
}

static bool field_is_there(struct check_run *r, const struct check_expect *e)
{
	for (unsigned i = 0; i < r->head.field_count; i++)
		if (pattern_fits(r, &e->name, r->fields[i].name, true) &&
		    value_fits(r, e, r->fields[i].value))
			return true;
	return false;
}

static bool head_matches(struct check_run *r, const struct check_expect *e)
{
	char code[8];
	size_t n;

	if (e->match == EXPECT_STATUS)
		return status_is_in(e, r->head.status);
	if (e->match != EXPECT_STATUS_REGEX)
		return field_is_there(r, e);
	n = num_put_u64(code, r->head.status);
	return regex_match(e->regex, slice_make(code, n));
}

/* 404 asks for a soft stop of a server that serves. */
static bool is_soft_stop(const struct check *c)
{
	return c->proxy->disable_on_404 && c->run->head.status == 404 &&
		__atomic_load_n(&c->server_state->oper, __ATOMIC_RELAXED) != SERVER_STOPPED;
}

static enum expect_verdict expect_head(struct check *c, const struct check_rule *rule,
				       struct check_result *r)
{
	const struct check_expect *e = &rule->expect;

	if (head_matches(c->run, e) != e->negated)
		return VERDICT_OK;
	r->status = CHECK_L7STS;
	if (!c->run->head.reason.len && e->match == EXPECT_STATUS) {
		r->text = arena_printf(&c->run->arena, "TCPCHK did not match content(status codes) "
				       "at step %d", rule->step);
		return VERDICT_FAIL;
	}
	r->text = arena_printf(&c->run->arena, "%.*s%s%s", SLICE_FMT(c->run->head.reason),
			       rule->comment ? " comment: " : "",
			       rule->comment ? rule->comment : "");
	return VERDICT_FAIL;
}

static enum expect_verdict expect_http(struct check *c, const struct check_rule *rule,
				       struct check_result *r)
{
	struct check_run *run = c->run;

	if (!check_http_response(c) || (run->in_end && !run->head_done)) {
		r->status = CHECK_SOCKERR;
		return VERDICT_END;
	}
	if (!run->head_done)
		return VERDICT_WAIT;
	if (is_soft_stop(c)) {
		*r = (struct check_result){ .status = CHECK_L7OKC, .code = 404 };
		return VERDICT_END;
	}
	if (rule->expect.match >= EXPECT_STATUS)
		return expect_head(c, rule, r);
	return expect_content(c, rule, r);
}

enum expect_verdict check_expect(struct check *c, struct check_result *r)
{
	struct check_run *run = c->run;
	const struct check_rule *rule = run->rule;

	if (rule->expect.match == EXPECT_FUNCTION)
		return rule->expect.judge(c, content(run), is_final(run), r);
	if (run->sent_http)
		return expect_http(c, rule, r);
	return expect_content(c, rule, r);
}
