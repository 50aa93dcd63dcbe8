/* SPDX-License-Identifier: GPL-2.0-or-later */
/* telemetry_trace.c - a stream that is traced: the context of its request, its tries
 *
 * The context is read before any rule runs. A request to a server has the context of its try
 * instead, and of the received fields only a valid tracestate: malformed fields are dropped here.
 * The texts are added once; another try writes its span into them.
 *
 * Most traces begin here and are not sampled. The first 8 bytes of their id are the thread's; the
 * other 8 are random, and are also the id of the first span, which is unique within its trace; the
 * span of a try has the same bytes with the halves exchanged. So only 16 digits are computed per
 * request, and the rest is copied. Such a trace is light: only that number is stored, and the field
 * is written when the head is, until a rule, a fetch or a failure needs more.
 */
#include <string.h>
#include "base/clock.h"
#include "base/hash.h"
#include "base/num.h"
#include "proxy/server.h"
#include "telemetry_priv.h"

/* --- fields ----------------------------------------------------------------------------------- */

/* X(symbol, name) */
#define CONTEXT_FIELDS(X) \
	X(TRACEPARENT, "traceparent") X(TRACESTATE, "tracestate") X(B3, "b3") \
	X(TRACE_ID, "x-b3-traceid") X(SPAN_ID, "x-b3-spanid") X(SAMPLED, "x-b3-sampled") \
	X(FLAGS, "x-b3-flags") X(PARENT_ID, "x-b3-parentspanid")

enum context_field {
#define X(symbol, name) CONTEXT_##symbol,
	CONTEXT_FIELDS(X)
#undef X
	CONTEXT_COUNT
};

static const struct slice context_names[CONTEXT_COUNT] = {
#define X(symbol, name) [CONTEXT_##symbol] = { name, sizeof(name) - 1 },
	CONTEXT_FIELDS(X)
#undef X
};

/* May it be one of them, by the length of its name? */
static inline bool may_be_context(const struct h1_field *f)
{
	const unsigned lengths = 1 << 2 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 17;

	return !f->id && f->name.len < 32 && lengths >> f->name.len & 1;
}

/* Which of them is it? CONTEXT_COUNT: none. */
static enum context_field field_of(const struct h1_field *f)
{
	if (!may_be_context(f) || !f->name.ptr)
		return CONTEXT_COUNT;
	for (unsigned i = 0; i < CONTEXT_COUNT; i++)
		if (slice_eq(f->name, context_names[i]))
			return (enum context_field)i;
	return CONTEXT_COUNT;
}

/* What was received. A field that is there twice is malformed, but for tracestate. */
struct received {
	struct slice values[CONTEXT_COUNT];
	unsigned seen;        /* bits */
	unsigned twice;
	size_t state_len;
	unsigned state_members;
	bool is_bad_state;
};

static void note_field(struct received *r, enum context_field which, struct slice value)
{
	if (r->seen >> which & 1)
		r->twice |= 1u << which;
	r->seen |= 1u << which;
	r->values[which] = value;
	if (which != CONTEXT_TRACESTATE)
		return;
	r->state_len += value.len + 1;
	r->is_bad_state |= r->state_len > TRACESTATE_MAX + 1 ||
			   !tracestate_is_good(value, &r->state_members);
}

/* The first field from <i> on that is one of them; m->fields.count: there is none. */
static unsigned next_field(const struct http_msg *m, unsigned i)
{
	while (i < m->fields.count && field_of(&m->fields.list[i]) == CONTEXT_COUNT)
		i++;
	return i;
}

static struct slice value_of(const struct received *r, enum context_field which)
{
	return r->seen >> which & 1 ? r->values[which] : slice_none();
}

#define BIT(which) (1u << CONTEXT_##which)

static bool read_b3_fields(const struct received *r, struct trace_context *out)
{
	const unsigned all = BIT(TRACE_ID) | BIT(SPAN_ID) | BIT(SAMPLED) | BIT(FLAGS);
	struct b3_fields f = {
		value_of(r, CONTEXT_TRACE_ID), value_of(r, CONTEXT_SPAN_ID),
		value_of(r, CONTEXT_SAMPLED), value_of(r, CONTEXT_FLAGS),
	};

	return r->seen & all && !(r->twice & all) && b3_fields_read(&f, out);
}

/* The first format that has a good context counts. */
static bool read_context(const struct received *r, struct telemetry_trace *t,
			 struct trace_context *out)
{
	unsigned accept = t->conf->accept;

	if (accept & TELEMETRY_W3C && r->seen & BIT(TRACEPARENT) &&
	    !(r->twice & BIT(TRACEPARENT)) &&
	    traceparent_read(r->values[CONTEXT_TRACEPARENT], out)) {
		t->has_state = r->seen & BIT(TRACESTATE) && !r->is_bad_state;
		return true;
	}
	if (!(accept & TELEMETRY_B3))
		return false;
	if (r->seen & BIT(B3) && !(r->twice & BIT(B3)) && b3_read(r->values[CONTEXT_B3], out))
		return true;
	return read_b3_fields(r, out);
}

/* --- decisions -------------------------------------------------------------------------------- */

uint64_t telemetry_threshold(double percent)
{
	double part = percent / 100 * (double)TELEMETRY_NEVER;

	if (percent <= 0)
		return TELEMETRY_NEVER;
	return part < (double)TELEMETRY_NEVER ? TELEMETRY_NEVER - (uint64_t)part : 0;
}

/* The random part of an id. */
static inline uint64_t random_of(uint64_t id)
{
	return id & (TELEMETRY_NEVER - 1);
}

static inline void decide(struct telemetry_trace *t, uint64_t threshold)
{
	t->ours.decision = random_of(t->ours.id[1]) >= threshold ? TRACE_SAMPLED : TRACE_DROPPED;
}

/* Tells the engine what it wants to hear of it. No server is told of what is silent, but has a
 * field to be kept from it.
 */
static inline void want(struct stream *s, const struct telemetry_trace *t)
{
	bool is_sampled = t->ours.decision == TRACE_SAMPLED;

	stream_trace_wants(s, is_sampled || !t->conf->is_silent || t->was_told, is_sampled);
}

void telemetry_decide(struct telemetry_trace *t, struct stream *s, uint64_t threshold)
{
	decide(t, threshold);
	t->decider = BY_RULE;
	want(s, t);
}

static inline uint64_t with_halves_exchanged(uint64_t id)
{
	return id << 32 | id >> 32;
}

/* What traces that begin on this thread have in common: the first half of their ids, and a field
 * with it. <half> is 0 before the first one.
 */
#define FIRST_LEN 32 /* "traceparent: 00-" and 16 digits */
static __thread struct {
	uint64_t half;
	char field[FIRST_LEN];
} first;
static __thread uint64_t serial;
#define SERIAL_STEP 0x9e3779b97f4a7c15ull

static __attribute__((noinline)) void begin_thread(void)
{
	serial = num_random();
	first.half = num_random() | 1;
	memcpy(first.field, "traceparent: 00-", FIRST_LEN - SPAN_ID_HEX);
	span_id_write(first.field + FIRST_LEN - SPAN_ID_HEX, first.half);
}

/* Never zero, nor the same with its halves exchanged: a random number of the thread's, counted up
 * and mixed, so none comes twice.
 */
static inline uint64_t new_id(void)
{
	uint64_t id = hash_u64(serial += SERIAL_STEP);

	return likely(id != with_halves_exchanged(id)) ? id : hash_u64(serial += SERIAL_STEP);
}

/* The span of a try: another one of the same trace. */
static inline uint64_t try_span(const struct telemetry_trace *t)
{
	uint64_t id = with_halves_exchanged(t->ours.span) + t->tries * 0x9e3779b97f4a7c15;

	return id ? id : 1;
}

/* A trace that begins here, by its number. NULL: no memory. */
static struct telemetry_trace *new_trace(struct stream *s, const struct telemetry *conf,
					 uint64_t id)
{
	struct telemetry_trace *t = arena_alloc(&s->arena, sizeof(*t));

	if (!t)
		return NULL;
	t->conf = conf;
	t->first = NULL;
	t->parent = 0;
	t->tries = 0;
	t->ours.flags = t->ours.decision = t->decider = 0;
	t->has_state = t->was_told = t->is_told = false;
	t->ours.id[0] = first.half;
	t->ours.id[1] = t->ours.span = id;
	stream_trace_set(s, t);
	return t;
}

/* One that was light: more is asked of it. */
static __attribute__((noinline)) struct telemetry_trace *grown(struct stream *s)
{
	struct telemetry_trace *t = new_trace(s, stream_trace_of_frontend(s->fe),
					      stream_trace_id(s));

	if (t) {
		t->ours.decision = TRACE_DROPPED;
		t->decider = BY_RATIO;
	}
	return t;
}

struct telemetry_trace *telemetry_trace(struct stream *s)
{
	struct telemetry_trace *t;

	if (!stream_is_traced(s))
		return NULL;
	t = stream_trace(s);
	return t ? t : grown(s);
}

void telemetry_trace_prepare(struct telemetry *conf)
{
	conf->light = conf->is_silent || conf->propagate == TELEMETRY_W3C ? conf->threshold : 0;
}

/* Becomes a part of the sender's trace, if what was received, from field <i> on, names one. */
static __attribute__((noinline)) void follow(struct telemetry_trace *t, const struct http_msg *m,
					     unsigned i)
{
	struct trace_context from = { .decision = TRACE_UNDECIDED };
	struct received r = { .seen = 0 };

	t->was_told = true;
	for (; i < m->fields.count; i = next_field(m, i + 1))
		note_field(&r, field_of(&m->fields.list[i]), m->fields.list[i].value);
	if (t->conf->ignores_parent || !read_context(&r, t, &from))
		return;
	t->parent = from.span;
	if (from.span) {
		t->ours = from;
		t->ours.span = new_id();
	}
	if (from.decision) {
		t->ours.decision = from.decision;
		t->decider = BY_PARENT;
	}
}

/* A trace that may be more than light: the sender has said something from field <i> on, it is
 * sampled, or the configuration wants more.
 */
static __attribute__((noinline)) void begin_full(struct stream *s, const struct telemetry *conf,
						 uint64_t id, unsigned i)
{
	struct telemetry_trace *t;

	i = next_field(&s->req, i);
	if (i == s->req.fields.count && random_of(id) < conf->light) {
		stream_trace_by_id(s, id, !conf->is_silent);
		return;
	}
	t = new_trace(s, conf, id);
	if (!t)
		return;
	if (i < s->req.fields.count)
		follow(t, &s->req, i);
	if (t->decider != BY_PARENT)
		decide(t, conf->threshold);
	want(s, t);
}

static void trace_begin(struct stream *s, const void *how)
{
	const struct telemetry *conf = how;
	uint64_t id;
	unsigned i = 0;

	if (unlikely(!first.half))
		begin_thread();
	id = new_id();
	while (i < s->req.fields.count && !may_be_context(&s->req.fields.list[i]))
		i++;
	if (unlikely(i < s->req.fields.count || random_of(id) >= conf->light))
		begin_full(s, conf, id, i);
	else
		stream_trace_by_id(s, id, !conf->is_silent);
}

/* --- a request that leaves -------------------------------------------------------------------- */

static void drop_received(struct http_msg *m, bool keeps_state)
{
	for (unsigned i = 0; i < m->fields.count; i++) {
		struct h1_field *f = &m->fields.list[i];
		enum context_field which = field_of(f);

		if (which != CONTEXT_COUNT && !(keeps_state && which == CONTEXT_TRACESTATE))
			http_msg_drop_field(m, f);
	}
}

/* A field of the context with room for <len> bytes, which the caller writes. NULL: no memory. */
static char *add_field(struct http_msg *m, enum context_field which, size_t len)
{
	char *text = arena_alloc(m->arena, len);

	if (text && http_msg_put_field(m, 0, context_names[which], slice_make(text, len)))
		return text;
	return NULL;
}

/* As one line of HTTP/1, which is what it mostly becomes. */
static inline void put_traceparent(struct http_msg *m, struct telemetry_trace *t)
{
	http_msg_put_field(m, 0, slice_make(t->field, context_names[CONTEXT_TRACEPARENT].len),
			   slice_make(t->field + PARENT_AT, TRACEPARENT_LEN));
}

static void add_b3_fields(struct http_msg *m, struct telemetry_trace *t,
			  const struct trace_context *c)
{
	char *id = add_field(m, CONTEXT_TRACE_ID, TRACE_ID_HEX), *parent;

	if (id)
		trace_id_write(id, c->id);
	t->b3_span_text = add_field(m, CONTEXT_SPAN_ID, SPAN_ID_HEX);
	if (t->b3_span_text)
		span_id_write(t->b3_span_text, c->span);
	parent = add_field(m, CONTEXT_PARENT_ID, SPAN_ID_HEX);
	if (parent)
		span_id_write(parent, t->ours.span);
	http_msg_put_field(m, 0, context_names[CONTEXT_SAMPLED],
			   c->decision == TRACE_SAMPLED ? SLICE("1") : SLICE("0"));
}

/* The field of a trace that has begun here, at its first try, but for its last digit: most of it is
 * copied. LINE_LEN bytes.
 */
#define LINE_LEN (PARENT_AT + TRACEPARENT_LEN)
static inline void write_own(char *line, uint64_t id)
{
	char *digits = line + FIRST_LEN;

	memcpy(line, first.field, FIRST_LEN);
	span_id_write(digits, id);
	digits[16] = '-';
	memcpy(digits + 17, digits + 8, 8);
	memcpy(digits + 25, digits, 8);
	memcpy(digits + 33, "-00", 3);
}

/* The field of a trace that is light. */
static size_t write_light(const struct http_msg *m, char *at)
{
	const struct stream *s = container_of(m, const struct stream, req);

	write_own(at, stream_trace_id(s));
	memcpy(at + LINE_LEN, "\r\n", 2);
	return LINE_LEN + 2;
}

static void add_fields(struct http_msg *m, struct telemetry_trace *t,
		       const struct trace_context *c)
{
	unsigned propagate = t->conf->propagate;

	t->b3_text = t->b3_span_text = NULL;
	/* rules may have added some, too */
	if (unlikely(t->was_told || m->flags & (HTTP_MSG_EDITED | HTTP_MSG_ADDED)))
		drop_received(m, t->has_state && propagate & TELEMETRY_W3C);
	if (propagate & TELEMETRY_W3C) {
		memcpy(t->field, "traceparent: ", PARENT_AT);
		traceparent_write(t->field + PARENT_AT, c);
		put_traceparent(m, t);
	}
	if (propagate & TELEMETRY_B3) {
		t->b3_text = add_field(m, CONTEXT_B3, B3_LEN);
		if (t->b3_text)
			b3_write(t->b3_text, c);
	}
	if (propagate & TELEMETRY_B3_MULTI)
		add_b3_fields(m, t, c);
}

/* Does the request have nothing but the field that write_own() writes, to add? */
static inline bool is_plain(const struct stream *s, const struct telemetry_trace *t)
{
	return !((unsigned)t->was_told | t->tries | (t->conf->propagate ^ TELEMETRY_W3C) |
		 (s->req.flags & (HTTP_MSG_EDITED | HTTP_MSG_ADDED))) &&
	       t->ours.id[0] == first.half;
}

static __attribute__((noinline)) void tell(struct stream *s, struct telemetry_trace *t)
{
	struct trace_context c;

	if (!t)
		t = telemetry_trace(s);
	if (!t)
		return;
	s->req.flags &= ~HTTP_MSG_LATE;
	if (likely(is_plain(s, t) && !t->is_told)) {
		t->is_told = true;
		t->b3_text = t->b3_span_text = NULL;
		write_own(t->field, t->ours.id[1]);
		t->field[LINE_LEN - 1] = t->ours.decision == TRACE_SAMPLED ? '1' : '0';
		put_traceparent(&s->req, t);
		return;
	}
	if (t->conf->is_silent && t->ours.decision != TRACE_SAMPLED) {
		if (unlikely(t->was_told))
			drop_received(&s->req, false);
		return;
	}
	c = t->ours;
	c.span = try_span(t);
	if (!t->is_told) {
		t->is_told = true;
		add_fields(&s->req, t, &c);
		return;
	}
	traceparent_write(t->field + PARENT_AT, &c);
	if (t->b3_text)
		b3_write(t->b3_text, &c);
	if (t->b3_span_text)
		span_id_write(t->b3_span_text, c.span);
}

static void trace_connected(struct stream *s)
{
	struct telemetry_trace *t = stream_trace(s);

	/* light: nothing is added to the head, nor copied, if that can be */
	if (likely(!t && !(s->req.flags & (HTTP_MSG_EDITED | HTTP_MSG_ADDED)) &&
		   s->back.ops && s->back.ops->late)) {
		s->req.late = write_light;
		s->req.flags |= HTTP_MSG_LATE;
		return;
	}
	tell(s, t);
}

/* --- tries ------------------------------------------------------------------------------------ */

bool telemetry_is_trying(const struct stream *s, uint8_t stage)
{
	return s->server && !s->service && stage >= STAGE_CONNECT && stage != STAGE_TURN_AROUND &&
	       s->end != END_SERVER_REDIRECT && s->end != END_SERVER_REDIRECT_NO_MEMORY;
}

void telemetry_describe_try(struct stream *s, const struct telemetry_trace *t,
			    struct telemetry_try *out)
{
	struct server_addr to = { .len = 0 };
	bool is_known = server_target(s, &to);
	uint64_t left_ns = t->first ? t->last->end_ns : 0;

	*out = (struct telemetry_try){
		.span = try_span(t), .server = slice_of(s->server->name),
		.host = s->server->at.hostname,
		.begin_ns = s->t.queued > left_ns ? s->t.queued : left_ns,
		.end_ns = clock_now_ns(), .is_reused = s->flags & STRM_REUSED_CONN,
		.error = s->answer.connection > 1 ? s->answer.connection - 1 : 0,
	};
	if (is_known)
		out->to = addr_from_sockaddr(&to.sa, to.len);
	/* dates of earlier tries are not this one's */
	if (s->t.connected >= out->begin_ns)
		out->connected_ns = s->t.connected;
	if (out->connected_ns && s->t.data >= out->connected_ns)
		out->answer_ns = s->t.data;
}

static void trace_left(struct stream *s, enum stream_end why, unsigned status)
{
	struct telemetry_trace *t;
	struct telemetry_try *over;

	if (!telemetry_is_trying(s, s->stage))
		return;
	t = telemetry_trace(s);
	over = t ? arena_alloc(&s->arena, sizeof(*over)) : NULL;
	if (!over)
		return;
	telemetry_describe_try(s, t, over);
	/* (the server may be removed before the stream ends) */
	over->server = arena_copy(&s->arena, over->server);
	if (over->host)
		over->host = arena_copy(&s->arena, slice_of(over->host)).ptr;
	over->why = (uint8_t)why;
	over->status = (uint16_t)status;
	if (why != END_CONNECT_FAILED)
		over->error = 0;
	if (t->first)
		t->last->next = over;
	else
		t->first = over;
	t->last = over;
	t->tries++;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* A failure that is worth looking at: not what a client is told that it did wrong. */
static bool has_failed(const struct stream *s)
{
	enum stream_cause cause = stream_cause(s);

	if (s->answer.status >= 500)
		return true;
	return cause != CAUSE_NONE && cause != CAUSE_LOCAL && s->answer.status < 400;
}

static __thread struct strbuf text;

void telemetry_text_fini(void)
{
	if (text.ptr)
		strbuf_fini(&text);
}

struct strbuf *telemetry_text(void)
{
	if (!text.ptr)
		strbuf_init(&text);
	strbuf_reset(&text);
	return &text;
}

static void trace_end(struct stream *s)
{
	const struct telemetry *conf = stream_trace_of_frontend(s->fe);
	struct telemetry_trace *t = stream_trace(s);
	struct strbuf *out;
	unsigned count;

	if (!t) {
		if (conf->ignores_errors || !has_failed(s))
			return;
		t = telemetry_trace(s);
	}
	if (!t)
		return;
	if (t->ours.decision != TRACE_SAMPLED && (t->conf->ignores_errors || !has_failed(s)))
		return;
	out = telemetry_text();
	count = telemetry_put_spans(s, t, out);
	telemetry_record(t->conf, OTLP_TRACES, out->overflow ? slice_none() : strbuf_slice(out),
			 count);
}

const struct stream_tracer telemetry_tracer = {
	.begin = trace_begin, .connected = trace_connected, .left = trace_left, .end = trace_end,
	.line = telemetry_log_line,
};
