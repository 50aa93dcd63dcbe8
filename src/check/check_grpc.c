/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_grpc.c - the health service of gRPC: `option grpc-check [<service>]` (an extension)
 *
 * One call of grpc.health.v1.Health/Check over HTTP/2, in clear text or over TLS:
 *
 *	request   the field 1 of a message: the service that is asked for, "" for the whole server
 *	answer    the field 1 of a message: 1 when it serves; then the trailer grpc-status, 0 when
 *	          the call went well (5: it knows no such service, 12: it has no health service)
 *
 * The server is healthy when both say so. The result has grpc-status as its code and any other
 * message as its text. See grpc/doc/health-checking.md and PROTOCOL-HTTP2.md of gRPC.
 */
#include <string.h>
#include "base/num.h"
#include "codec/protobuf.h"
#include "conf/conf.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "check_priv.h"

#define PREFIX 5         /* flags and length in front of a message */
#define SERVICE_MAX 120  /* its length is one byte of a varint */
#define SERVING 1

/* --- the answer ----------------------------------------------------------------------------- */

/* Of the trailers, or of the head of an answer without a message. */
static struct slice find(const struct check_run *r, const char *name)
{
	const struct http_fields *trailers = check_mux_trailers(r);
	struct http_fields head = { .list = (struct h1_field *)r->fields,
				    .count = r->head.field_count };
	const struct h1_field *f = trailers ? http_field_find(trailers, 0, slice_of(name)) : NULL;

	if (!f)
		f = http_field_find(&head, 0, slice_of(name));
	return f ? f->value : slice_none();
}

static enum expect_verdict fail(struct check_result *r, enum check_status status, int code,
				const char *text)
{
	*r = (struct check_result){ .status = status, .code = code, .text = text };
	return VERDICT_FAIL;
}

/* The call itself has failed: what the server says of it. */
static enum expect_verdict call_failed(struct check *c, struct slice code, struct check_result *r)
{
	struct slice message = find(c->run, "grpc-message");
	uint64_t number = 0;

	num_parse_u64(code, &number);
	if (!message.len)
		return fail(r, CHECK_L7STS, (int)number, "gRPC call failed");
	return fail(r, CHECK_L7STS, (int)number,
		    arena_printf(&c->run->arena, "%.*s", SLICE_FMT(message)));
}

static enum expect_verdict judge_message(struct check *c, struct slice body,
					 struct check_result *r)
{
	static const char *const states[] = { "UNKNOWN", "SERVING", "NOT_SERVING",
					      "SERVICE_UNKNOWN" };
	static const uint64_t path[] = { 1 };
	struct slice message, value;
	enum protobuf_wire wire;
	int64_t state = 0;

	if (!protobuf_grpc_message(&body, &message))
		return fail(r, CHECK_L7RSP, 0, "gRPC answer without a message");
	if (protobuf_find(message, path, 1, &wire, &value) &&
	    !protobuf_number(PROTOBUF_INT, wire, value, &state))
		return fail(r, CHECK_L7RSP, 0, "gRPC answer is not that of the health service");
	if (state == SERVING) {
		*r = (struct check_result){ .status = CHECK_L7OK, .text = "SERVING" };
		return VERDICT_OK;
	}
	return fail(r, CHECK_L7STS, 0, state >= 0 && state < 4 ? states[state] : "UNKNOWN");
}

static enum expect_verdict judge_grpc(struct check *c, struct slice in, bool is_last,
				      struct check_result *r)
{
	struct check_run *run = c->run;
	struct slice code;

	if (!is_last && !run->body_end)
		return VERDICT_WAIT;
	if (!run->head_done)
		return fail(r, CHECK_L7RSP, 0, "no HTTP/2 answer");
	if (run->head.status != 200)
		return fail(r, CHECK_L7STS, run->head.status, "wrong HTTP status");
	code = find(run, "grpc-status");
	if (!code.ptr)
		return fail(r, CHECK_L7RSP, 0, "no gRPC status");
	return slice_eq(code, SLICE("0")) ? judge_message(c, in, r) : call_failed(c, code, r);
}

/* --- the question --------------------------------------------------------------------------- */

static bool add_field(struct conf_line *l, struct check_http_send *h, const char *name,
		      const char *value)
{
	struct check_field *f = arena_zalloc(&l->cfg->arena, sizeof(*f));

	if (!f)
		return false;
	f->name = name;
	f->value = logformat_parse(l, value, EXPR_BE_CHK_RUL, 0);
	if (!h->last_field)
		h->last_field = &h->fields;
	*h->last_field = f;
	h->last_field = &f->next;
	return f->value != NULL;
}

/* The message, behind its prefix: without a service it is empty. */
static struct slice request_message(struct arena *a, const char *service)
{
	size_t name = strlen(service), len = name ? name + 2 : 0;
	char *p = arena_zalloc(a, PREFIX + len);

	if (!p)
		return slice_none();
	p[PREFIX - 1] = (char)len;
	if (name) {
		p[PREFIX] = 1 << 3 | 2; /* field 1, bytes */
		p[PREFIX + 1] = (char)name;
		memcpy(p + PREFIX + 2, service, name);
	}
	return slice_make(p, PREFIX + len);
}

bool check_grpc_parse(struct conf_line *l)
{
	struct check_proxy *cp = check_proxy_of_line(l);
	struct arena *a = &l->cfg->arena;
	const char *service = conf_peek(l) ? conf_next(l) : "";
	struct check_rules rules = { 0 };
	struct check_rule *send = check_rule_add(a, &rules, CHECK_HTTP_SEND);
	struct check_rule *expect = send ? check_rule_add(a, &rules, CHECK_EXPECT) : NULL;

	if (strlen(service) > SERVICE_MAX)
		return conf_error(l, l->at - 1, NULL, "'%s grpc-check' : the name of a service "
				  "has %d characters at most.", l->words[0], SERVICE_MAX);
	if (!expect)
		return conf_error(l, 0, NULL, "out of memory.");
	send->http.method = "POST";
	send->http.uri.text = SLICE("/grpc.health.v1.Health/Check");
	send->http.body.text = request_message(a, service);
	expect->expect = (struct check_expect){ .match = EXPECT_FUNCTION, .judge = judge_grpc };
	if (!send->http.body.text.ptr ||
	    !add_field(l, &send->http, "content-type", "application/grpc") ||
	    !add_field(l, &send->http, "te", "trailers"))
		return conf_error(l, 0, NULL, "out of memory.");
	cp->kind = CHECK_KIND_GRPC;
	cp->proto = rules.first;
	return conf_take_end(l);
}
