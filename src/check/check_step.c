/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_step.c - runs the rules of a check, one after the other
 *
 * A step returns STEP_NEXT (continue with the next rule), STEP_WAIT (wait for an event of the
 * connection) or STEP_END (the run is over, its result complete).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/num.h"
#include "core/lock.h"
#include "core/task.h"
#include "net/dial.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "tls/tls.h"
#include "check_priv.h"
#include "check_trace.h"

#define VALUE_MAX 65536

enum step { STEP_NEXT, STEP_WAIT, STEP_END };

/* --- texts ---------------------------------------------------------------------------------- */

static void expect_text(const struct check_expect *e, char *out, size_t size)
{
	static const char *const names[] = {
		[EXPECT_REGEX] = "expect regex", [EXPECT_STRING_LF] = "expect log-format string",
		[EXPECT_BINARY_REGEX] = "expect binary regex",
		[EXPECT_BINARY_LF] = "expect log-format binary",
		[EXPECT_STATUS] = "expect HTTP status codes",
		[EXPECT_STATUS_REGEX] = "expect HTTP status regex",
		[EXPECT_FIELD] = "expect HTTP header pattern",
		[EXPECT_FULL_FIELD] = "expect HTTP header pattern",
		[EXPECT_FUNCTION] = "expect custom function",
	};
	size_t at;

	if (e->match == EXPECT_STRING) {
		snprintf(out, size, "expect string '%.*s'", SLICE_FMT(e->value.text));
		return;
	}
	if (e->match != EXPECT_BINARY) {
		snprintf(out, size, "%s", names[e->match]);
		return;
	}
	at = (size_t)snprintf(out, size, "expect binary '");
	for (size_t i = 0; i < e->value.text.len && at + 4 < size; i++, at += 2) {
		num_put_hex_bytes(out + at, e->value.text.ptr + i, 1);
		out[at] = ascii_upper(out[at]);
		out[at + 1] = ascii_upper(out[at + 1]);
	}
	snprintf(out + at, size - at, "'");
}

static void rule_text(const struct check_rule *rule, char *out, size_t size)
{
	if (rule->type == CHECK_EXPECT)
		expect_text(&rule->expect, out, size);
	else if (rule->type == CHECK_CONNECT && rule->connect.port)
		snprintf(out, size, "connect port %d", rule->connect.port);
	else
		snprintf(out, size, "%s", rule->type == CHECK_CONNECT ? "connect" : "send");
}

/* " at step 2 of tcp-check (expect string 'x') comment: 'y'", or nothing. */
static const char *step_text(const struct check *c, char *out, size_t size)
{
	const struct check_rule *rule = c->run->rule;
	char what[CHECK_TEXT_MAX / 2];

	out[0] = 0;
	if (c->kind != CHECK_KIND_TCPCHK || !rule)
		return out;
	if (!rule->step) {
		snprintf(out, size, " at initial connection step of tcp-check");
		return out;
	}
	rule_text(rule, what, sizeof(what));
	snprintf(out, size, " at step %d of tcp-check (%s)%s%s%s", rule->step, what,
		 rule->comment ? " comment: '" : "", rule->comment ? rule->comment : "",
		 rule->comment ? "'" : "");
	return out;
}

/* --- steps ---------------------------------------------------------------------------------- */

/* "ECONNRESET returned by OS (Connection reset by peer)" */
static const char *errno_text(int err, char *out, size_t size)
{
	const char *name = strerrorname_np(err);

	if (dial_is_socks4(dial_result_of(err)))
		snprintf(out, size, "%s", dial_text(dial_result_of(err)));
	else if (err == ECONNREFUSED || err == ECONNRESET || err == EPIPE || err == ETIMEDOUT)
		snprintf(out, size, "%s returned by OS (%s)", name ? name : "?", strerror(err));
	else if (err)
		snprintf(out, size, "General socket error (%s)", strerror(err));
	else
		out[0] = 0;
	return out;
}

/* Is TLS what it waits for? */
static bool is_shaking_hands(const struct check *c)
{
	return c->conn && !(c->conn->flags & CONN_CONNECTING) && tls_is_on(c->conn) &&
		c->conn->flags & CONN_HANDSHAKE;
}

#define VERIFY_HOSTNAME_MISMATCH 62 /* X509_V_ERR_HOSTNAME_MISMATCH */

/* Did the server take the connection, and TLS came to nothing? */
static bool is_handshake_error(const struct check *c, int err)
{
	return tls_is_on(c->conn) && err != ECONNREFUSED && err != ETIMEDOUT &&
		err != EHOSTUNREACH && err != ENETUNREACH;
}

static enum step handshake_failed(struct check *c, struct check_result *r)
{
	const char *why = tls_verify_result(c->conn) == VERIFY_HOSTNAME_MISMATCH
		? "Server presented an SSL certificate different from the configured one"
		: "SSL handshake failure";
	char step[CHECK_TEXT_MAX];

	r->status = CHECK_L6RSP;
	r->text = arena_printf(&c->run->arena, "%s%s", why, step_text(c, step, sizeof(step)));
	return STEP_END;
}

/* The result of a failed system call: "ECONNREFUSED returned by OS (...) at step 1 of..." */
static enum step failed(struct check *c, int err, struct check_result *r)
{
	bool connecting = (!c->conn && !c->run->mux) ||
		(c->conn && c->conn->flags & CONN_CONNECTING) ||
		c->run->rule->type == CHECK_CONNECT;
	char why[128], step[CHECK_TEXT_MAX];

	if (err == ENOTCONN && c->server->is_reverse)
		connecting = false; /* (there is nothing to connect to) */
	r->status = connecting && !dial_is_socks4(dial_result_of(err)) ? CHECK_L4CON
								      : CHECK_SOCKERR;
	r->text = arena_printf(&c->run->arena, "%s%s",
			       errno_text(err, why, sizeof(why)),
			       step_text(c, step, sizeof(step)));
	return STEP_END;
}

void check_late(struct check *c, struct check_result *r)
{
	const struct check_rule *rule = c->run->rule;
	char step[CHECK_TEXT_MAX];

	r->status = CHECK_L7TOUT;
	if (c->kind == CHECK_KIND_EXTERNAL)
		r->status = CHECK_PROCTOUT;
	else if (rule->type == CHECK_CONNECT)
		r->status = is_shaking_hands(c) ? CHECK_L6TOUT : CHECK_L4TOUT;
	else if (rule->type == CHECK_EXPECT && rule->expect.timeout)
		r->status = rule->expect.timeout;
	if (r->status == CHECK_L4TOUT)
		resolve_hurry(c->server);
	r->text = arena_printf(&c->run->arena, "%s", step_text(c, step, sizeof(step)));
}

/* Sends what is in run->out. */
static enum step flush(struct check *c, struct check_result *res)
{
	enum io r;

	if (!c->run->out.len || c->run->mux)
		return STEP_NEXT;
	r = conn_send(c->conn, &c->run->out, false);
	if (r == IO_OK)
		return STEP_NEXT;
	if (r == IO_AGAIN)
		return STEP_WAIT;
	return failed(c, conn_take_error(c->conn), res);
}

/* The connection stands: a mux may take it; what follows has its own time. */
static enum step connected(struct check *c, struct check_result *res)
{
	int64_t more = c->server->proxy->timeout.check;

	if (c->conn && check_mux_is_due(c) && !check_mux_start(c))
		return failed(c, ENOMEM, res);
	if (more) {
		c->deadline_ms = clock_now_ms() + (uint64_t)more;
		task_schedule(c->task, c->deadline_ms);
	}
	return STEP_NEXT;
}

/* On a connection that is lent. */
static enum step lent_step(struct check *c, struct check_result *res)
{
	int err = check_mux_error(c->run);

	if (err)
		return failed(c, err, res);
	return check_mux_stands(c->run) ? connected(c, res) : STEP_WAIT;
}

static enum step connect_step(struct check *c, struct check_result *res)
{
	struct check_run *r = c->run;
	enum step s;
	int err = r->connect_rule != r->rule || r->lend_ms ? check_open(c) : 0;

	if (!err && r->lend_ms) {
		task_schedule(c->task, r->lend_ms < c->deadline_ms ? r->lend_ms : c->deadline_ms);
		return STEP_WAIT;
	}
	if (!err && r->mux)
		return lent_step(c, res);

	if (!err && c->conn && c->conn->flags & CONN_ERROR) {
		err = conn_take_error(c->conn);
		if (is_handshake_error(c, err))
			return handshake_failed(c, res);
	}
	if (err)
		return failed(c, err, res);
	if (!c->conn)
		return STEP_NEXT;
	if (c->conn->flags & (CONN_CONNECTING | CONN_HANDSHAKE))
		return STEP_WAIT;
	s = flush(c, res);
	return s == STEP_NEXT ? connected(c, res) : s;
}

/* What came so far answers nothing that is sent now. */
static void forget_input(struct check_run *r)
{
	block_drop(r->in);
	r->in = NULL;
	r->head_begun = r->head_done = r->body_end = false;
	r->seen.response = NULL;
	r->seen.body = slice_none();
	r->body = slice_none();
	r->raw_at = 0;
}

/* The bytes to send of an agent check: those set at run time, or the file's. */
static struct slice agent_send_text(struct check *c)
{
	struct slice text = slice_of(c->conf->send);
	const struct check_state *cs = c->state;

	lock_take(&c->server->proxy->state->change_lock);
	if (cs->send)
		text = arena_copy(&c->run->arena, slice_of(cs->send));
	lock_drop(&c->server->proxy->state->change_lock);
	return text;
}

/* Puts the bytes of the current rule in run->out. False: no memory. */
static bool fill_out(struct check *c)
{
	struct check_run *r = c->run;
	struct slice text;
	bool good;

	forget_input(r);
	if (r->rule->type == CHECK_HTTP_SEND) {
		good = check_http_request(c, &r->rule->http);
	} else {
		text = c->agent ? agent_send_text(c) : check_value_make(r, &r->rule->send);
		good = text.ptr || c->agent;
		if (good && text.len)
			good = block_queue_add_copy(&r->out, text);
	}
	return good;
}

static enum step send_step(struct check *c, struct check_result *res)
{
	struct check_run *r = c->run;

	if (r->filled != r->rule) {
		if (!fill_out(c))
			return failed(c, ENOMEM, res);
		r->filled = r->rule;
	}
	return flush(c, res);
}

/* Is there something to read, or an end to be learnt? */
static bool may_receive(const struct check *c)
{
	return c->conn && c->conn->flags & CONN_CAN_RECV && !c->run->in_end &&
		block_room(c->run->in);
}

/* Reads once, if something may be there. Returns the error of the connection, 0: none. */
static int receive(struct check *c)
{
	struct check_run *r = c->run;
	enum io io = IO_OK;
	size_t got;

	if (r->mux)
		return 0;
	if (!r->in)
		r->in = block_new();
	if (!r->in)
		return ENOMEM;
	if (may_receive(c))
		io = conn_recv_block(c->conn, r->in, &got);
	if (io == IO_EOF)
		r->in_end = true;
	if (io == IO_ERR)
		return c->conn->error ? c->conn->error : conn_take_error(c->conn);
	return 0;
}

/* Rules behind this one that still ask the server something? */
static bool is_last(const struct check_rule *rule)
{
	for (rule = rule->next; rule; rule = rule->next)
		if (rule->type <= CHECK_EXPECT)
			return false;
	return true;
}

static int expect_code(struct check *c)
{
	const struct check_expect *e = &c->run->rule->expect;
	struct check_run *r = c->run;
	struct sample s;

	if (e->status_code && expr_eval(e->status_code, &r->ctx, &s) == EXPR_FOUND &&
	    sample_cast(&s, SMP_INT, &r->arena))
		return (int)s.integer;
	return r->sent_http && r->head_done ? r->head.status : 0;
}

/* The text of on-success and on-error instead of <text>. */
static const char *expect_message(struct check *c, const struct logformat *f, const char *text)
{
	struct slice s;

	if (!f)
		return text;
	s = logformat_make(f, &c->run->ctx, CHECK_TEXT_MAX - 1);
	return s.ptr ? arena_printf(&c->run->arena, "%.*s", SLICE_FMT(s)) : text;
}

/* The verdict of a function is complete; that of a pattern is dressed as the rule asks. */
static void dress(struct check *c, bool passed, struct check_result *r)
{
	const struct check_expect *e = &c->run->rule->expect;
	const char *comment = c->run->rule->comment;

	if (e->match == EXPECT_FUNCTION)
		return;
	r->code = expect_code(c);
	if (!passed) {
		if (e->error)
			r->status = e->error;
		r->text = expect_message(c, e->on_error, r->text);
		if (e->on_error && comment)
			r->text = arena_printf(&c->run->arena, "%s comment: %s", r->text, comment);
		return;
	}
	r->status = e->ok ? e->ok : CHECK_L7OK;
	r->text = expect_message(c, e->on_success,
				 c->kind == CHECK_KIND_TCPCHK ? "(tcp-check)" : NULL);
}

static enum step expect_step(struct check *c, struct check_result *res)
{
	enum expect_verdict v;
	int err;

	/* not further than what is asked for: the end of a whole answer need not be seen */
	do {
		err = receive(c);
		v = check_expect(c, res);
		if (err && c->run->in && c->run->in->used && !c->run->in_end) {
			c->run->in_end = true; /* what came before counts */
			v = check_expect(c, res);
		}
	} while (v == VERDICT_WAIT && !err && may_receive(c));
	c->run->seen.body = c->run->sent_http ? c->run->body
		: c->run->in ? slice_make(c->run->in->data, c->run->in->used) : slice_none();
	if (v == VERDICT_WAIT)
		return err ? failed(c, err, res) : STEP_WAIT;
	if (v == VERDICT_OK && !is_last(c->run->rule))
		return STEP_NEXT;
	if (v != VERDICT_END)
		dress(c, v == VERDICT_OK, res);
	return STEP_END;
}

static enum step set_var_step(struct check *c, struct check_result *res)
{
	const struct check_var *v = &c->run->rule->var;
	struct check_run *r = c->run;
	struct sample s = { .type = SMP_STR };

	if (v->format)
		s.text = logformat_make(v->format, &r->ctx, VALUE_MAX);
	if (v->format ? s.text.ptr != NULL : expr_eval(v->expr, &r->ctx, &s) == EXPR_FOUND)
		var_set(v->ref, &r->ctx, &s);
	return STEP_NEXT;
}

static enum step unset_var_step(struct check *c, struct check_result *res)
{
	var_unset(c->run->rule->var.ref, &c->run->ctx);
	return STEP_NEXT;
}

static enum step comment_step(struct check *c, struct check_result *res)
{
	return STEP_NEXT;
}

static enum step (*const steps[])(struct check *c, struct check_result *res) = {
	[CHECK_CONNECT] = connect_step, [CHECK_SEND] = send_step, [CHECK_HTTP_SEND] = send_step,
	[CHECK_EXPECT] = expect_step, [CHECK_SET_VAR] = set_var_step,
	[CHECK_UNSET_VAR] = unset_var_step, [CHECK_COMMENT] = comment_step,
};

/* The result where no answer is awaited: the last connection stood, and took what was sent. Only
 * rules that are written are named in it.
 */
static void unanswered(const struct check *c, struct check_result *res)
{
	const struct check_rule *connect = c->run->connect_rule, *rule = connect;

	while (rule && rule->type != CHECK_SEND && rule->type != CHECK_HTTP_SEND)
		rule = rule->next;
	if (rule)
		res->status = CHECK_L7OK;
	else
		res->status = c->conn && tls_is_on(c->conn) ? CHECK_L6OK : CHECK_L4OK;
	if (rule || (connect && !connect->connect.implicit))
		res->text = "(tcp-check)";
}

bool check_steps(struct check *c, struct check_result *res)
{
	struct check_run *r = c->run;

	while (r->rule) {
		enum step s = steps[r->rule->type](c, res);

		CHECK_TRACE(DATA, c, CHECK_EV(RULE), "rule %u: %s", (unsigned)r->rule->type,
			    s == STEP_NEXT ? "done" : s == STEP_END ? "the last one" : "waits");
		if (s != STEP_NEXT)
			return s == STEP_END;
		*res = (struct check_result){ 0 };
		r->rule = r->rule->next;
	}
	unanswered(c, res);
	return true;
}
