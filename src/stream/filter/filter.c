/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter.c - kinds of filters; the chain of a stream: attaching, waking, leaving */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/module.h"
#include "conf/conf.h"
#include "filter_priv.h"
#include "../stream_conf_priv.h"

#define KINDS_MAX 64

static const struct filter_kind *kinds[KINDS_MAX];
static unsigned kind_count;
static filter_script_fn *script_find;

/* --- kinds ------------------------------------------------------------------------------------ */

static int kind_compare(const void *a, const void *b)
{
	const struct filter_kind *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

bool filters_register(const struct module *const *modules)
{
	kind_count = 0;
	for (; *modules; modules++) {
		const struct filter_kind *k = (*modules)->filters;

		for (; k && k->name; k++) {
			if (kind_count == KINDS_MAX)
				return false;
			kinds[kind_count++] = k;
		}
	}
	qsort(kinds, kind_count, sizeof(*kinds), kind_compare);
	return true;
}

void filters_set_scripts(filter_script_fn *find)
{
	script_find = find;
}

const struct filter_kind *filter_kind_of_script(const struct config *cfg, const char *name)
{
	return script_find ? script_find(cfg, name) : NULL;
}

const struct filter_kind *filter_kind_next(unsigned *at)
{
	return *at < kind_count ? kinds[(*at)++] : NULL;
}

void filters_dump(FILE *out)
{
	for (unsigned i = 0; i < kind_count; i++)
		fprintf(out, "%s [%s]\n", kinds[i]->name, kinds[i]->group);
}

void filters_print(FILE *out)
{
	for (unsigned i = 0; i < kind_count; i++)
		fprintf(out, "\t[%4s] %s\n", kinds[i]->group, kinds[i]->name);
}

enum filter_side filter_point_side(enum filter_point point)
{
	static const uint8_t sides[FILTER_POINT_COUNT] = {
#define X(name, side, text) FILTER_##side,
		FILTER_POINTS(X)
#undef X
	};

	return (enum filter_side)sides[point];
}

/* --- lines of the configuration --------------------------------------------------------------- */

const struct filter_conf *filter_confs(const struct proxy *px)
{
	return stream_proxy(px)->filters;
}

const struct filter_conf *filter_conf_find(const struct proxy *px, const struct filter_kind *kind,
					   const char *name)
{
	const struct filter_conf *c = filter_confs(px);

	while (c && (c->kind != kind || !c->name || strcmp(c->name, name) != 0))
		c = c->next;
	return c;
}

void filter_conf_append(struct stream_proxy *sp, struct filter_conf *c)
{
	struct filter_conf **at = &sp->filters;

	while (*at)
		at = &(*at)->next;
	*at = c;
}

bool filter_conf_add(struct proxy *px, const struct filter_kind *kind)
{
	struct filter_conf *c = arena_zalloc(proxy_arena(px), sizeof(*c));

	if (!c)
		return false;
	c->kind = kind;
	c->proxy = px;
	c->file = px->file;
	c->line = px->line;
	filter_conf_append(stream_proxy(px), c);
	return true;
}

/* --- a stream's ------------------------------------------------------------------------------- */

static void filters_fire(struct timer *t)
{
	struct filters *fs = container_of(t, struct filters, timer);

	fs->timed_out = true;
	stream_run(fs->stream);
}

static void filters_hook(struct turn_hook *h)
{
	stream_run(container_of(h, struct filters, hook)->stream);
}

static struct filters *filters_new(struct stream *s)
{
	struct filters *fs = arena_zalloc(&s->arena, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->stream = s;
	fs->tail = &fs->first;
	fs->stage = STAGE_COUNT;
	timer_init(&fs->timer, filters_fire);
	turn_hook_init(&fs->hook, filters_hook);
	s->filters = fs;
	s->flags |= STRM_FILTERED;
	return fs;
}

uint32_t filters_idle_stages(const struct filters *fs)
{
	static const uint32_t quiet = 1u << STAGE_MONITOR | 1u << STAGE_BODY_FE |
		1u << STAGE_HTTP_REQUEST_FE | 1u << STAGE_TCP_CONTENT_BE | 1u << STAGE_BODY_BE |
		1u << STAGE_HTTP_REQUEST_BE | 1u << STAGE_TARPIT | 1u << STAGE_UPGRADE |
		1u << STAGE_RESPONSE_RULES_BE;

	return fs->has_points ? 0 : fs->has_calls ? quiet : fs->quiet;
}

/* Those around which nothing is to be called. What leads to the stages of heads is always run with
 * the filters, and so are these.
 */
static uint32_t quiet_stages(const struct filters *fs)
{
	static const uint32_t heads = 1u << STAGE_SWITCH | 1u << STAGE_PREPARE |
		1u << STAGE_FILTER_REQUEST | 1u << STAGE_RESPONSE_RULES_FE |
		1u << STAGE_FILTER_RESPONSE;
	static const uint32_t few = 1u << STAGE_MONITOR | 1u << STAGE_BODY_FE |
		1u << STAGE_HTTP_REQUEST_FE | 1u << STAGE_BODY_BE | 1u << STAGE_RESPONSE_RULES_BE |
		1u << STAGE_REPLY | 1u << STAGE_FORWARD | STAGES_OF_TRIES;

	return fs->has_points ? 0 : fs->has_calls ? few : ~heads;
}

static bool is_called_around_stages(const struct filter_kind *k)
{
	return k->before || k->after || k->begin || k->finish || k->reset || k->timeout;
}

/* One more at the end of the chain, if it wants to. False: no memory. */
static bool filter_attach(struct filters *fs, const struct filter_conf *conf, bool is_backend)
{
	struct stream *s = fs->stream;
	struct filter *f = arena_zalloc(&s->arena, sizeof(*f));

	if (!f)
		return false;
	f->kind = conf->kind;
	f->conf = conf;
	f->stream = s;
	f->is_backend = is_backend;
	if (f->kind->state_size) {
		f->state = arena_zalloc(&s->arena, f->kind->state_size);
		if (!f->state)
			return false;
	}
	if (f->kind->attach && !f->kind->attach(f))
		return true;
	*fs->tail = f;
	fs->tail = &f->next;
	return true;
}

bool filters_attach(struct stream *s, const struct proxy *px)
{
	struct filters *fs = s->filters ? s->filters : filters_new(s);
	bool is_backend = px != s->fe;
	const struct filter_conf *c;

	if (!fs)
		return false;
	for (c = filter_confs(px); c; c = c->next)
		if (!filter_attach(fs, c, is_backend))
			return false;
	for (struct filter *f = fs->first; f; f = f->next) {
		fs->has_points = fs->has_points || f->kind->before || f->kind->after;
		fs->has_calls = fs->has_calls || is_called_around_stages(f->kind);
	}
	fs->quiet = quiet_stages(fs);
	fs->begun = 0;
	s->run.idle_stages &= filters_idle_stages(fs);
	for (struct filter *f = fs->first; f && !is_backend; f = f->next)
		if (f->kind->stream_start)
			f->kind->stream_start(f);
	return true;
}

enum filter_result filters_call(struct filters *fs, struct filter **resume, filter_call *call,
				unsigned arg)
{
	struct filter *f = *resume ? *resume : fs->first;
	enum filter_result r;

	*resume = fs->waiting = NULL;
	for (; f; f = f->next) {
		r = call(f, arg);
		if (r == FILTER_NEXT)
			continue;
		if (r == FILTER_WAIT)
			*resume = fs->waiting = f;
		else
			fs->ended_by = f;
		return r;
	}
	return FILTER_NEXT;
}

void filters_call_all(struct filters *fs, filter_call *call, unsigned arg)
{
	struct filter *from = NULL;

	filters_call(fs, &from, call, arg);
}

static enum filter_result call_backend(struct filter *f, unsigned arg)
{
	if (f->kind->backend)
		f->kind->backend(f);
	return FILTER_NEXT;
}

bool filters_tell_backend(struct filters *fs)
{
	fs->has_backend = true;
	filters_call_all(fs, call_backend, 0);
	return true;
}

void filters_finish(struct filters *fs, enum filter_side side)
{
	if (fs->ways[side].finished)
		return;
	fs->ways[side].finished = true;
	for (struct filter *f = fs->first; f; f = f->next)
		if (f->begun && f->kind->finish)
			f->kind->finish(f, side);
}

enum step filters_open(struct stream *s, const struct proxy *px, enum step step)
{
	bool is_backend = s->stage != STAGE_BEGIN;

	if (!filters_attach(s, px))
		step = stream_fail(s, END_FILTER_NO_MEMORY);
	if (step == STEP_NEXT)
		s->stage++;
	if (is_backend && s->filters)
		filters_tell_backend(s->filters);
	/* the driver takes its steps of filter_stages from now on */
	s->flags |= STRM_AGAIN;
	return STEP_WAIT;
}

/* Of the backend's filters, or of the frontend's. */
static void detach_all(struct filters *fs, bool is_backend)
{
	struct filter *f;

	for (f = fs->first; f && !is_backend; f = f->next)
		if (!f->is_backend && f->kind->stream_stop)
			f->kind->stream_stop(f);
	for (f = fs->first; f; f = f->next) {
		if (f->is_backend != is_backend)
			continue;
		if (f->kind->detach)
			f->kind->detach(f);
		for (int side = 0; side < FILTER_SIDES; side++)
			block_queue_clear(&f->in[side]);
	}
}

void filters_end(struct stream *s)
{
	struct filters *fs = s->filters;

	stream_cancel_waits(s); /* what a rule waits for may be in a filter's state */
	detach_all(fs, true);
	detach_all(fs, false);
	timer_cancel(&fs->timer);
	turn_hook_cancel(&fs->hook);
	s->filters = NULL;
	s->flags &= ~STRM_FILTERED;
}

const char *filter_waiting(const struct stream *s)
{
	return s->filters && s->filters->waiting ? s->filters->waiting->kind->id : NULL;
}

const char *filter_that_ended(const struct stream *s)
{
	return s->filters && s->filters->ended_by ? s->filters->ended_by->kind->id : NULL;
}

/* --- for filters ------------------------------------------------------------------------------ */

struct filter *filters_of_stream(const struct stream *s)
{
	return s->filters ? s->filters->first : NULL;
}

struct filter *filter_of_stream(const struct stream *s, const struct filter_conf *conf)
{
	struct filter *f = s->filters ? s->filters->first : NULL;

	while (f && f->conf != conf)
		f = f->next;
	return f;
}

void filter_watch(struct filter *f, enum filter_side side)
{
	f->stream->filters->watched |= FILTER_SIDE_BIT(side);
	f->watches |= FILTER_SIDE_BIT(side);
}

void filter_unwatch(struct filter *f, enum filter_side side)
{
	f->watches &= (uint8_t)~FILTER_SIDE_BIT(side);
}

void filter_wake(struct filter *f)
{
	turn_hook_add(&f->stream->filters->hook);
}

void filter_wake_ms(struct filter *f, int64_t ms)
{
	struct timer *t = &f->stream->filters->timer;
	uint64_t at = clock_now_ms() + (uint64_t)(ms > 0 ? ms : 0);

	if (at < t->expire_ms)
		timer_set(t, at);
}

bool filter_set_length(struct http_msg *msg, uint64_t len)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)len);

	if (!http_msg_set_field(msg, SLICE("content-length"), slice_make(text, (size_t)n)))
		return false;
	http_msg_del_field_of(msg, FIELD_TRANSFER_ENCODING, SLICE("transfer-encoding"));
	msg->body = HTTP_BODY_LENGTH;
	msg->content_length = len;
	return true;
}

bool filter_set_chunked(struct http_msg *msg)
{
	if (!http_msg_set_field(msg, SLICE("transfer-encoding"), SLICE("chunked")))
		return false;
	http_msg_del_field_of(msg, FIELD_CONTENT_LENGTH, SLICE("content-length"));
	msg->body = HTTP_BODY_CHUNKED;
	msg->content_length = 0;
	return true;
}

size_t filters_held(const struct stream *s, enum filter_side side)
{
	size_t held = 0;

	if (!s->filters || !(s->filters->watched & FILTER_SIDE_BIT(side)))
		return 0;
	for (const struct filter *f = s->filters->first; f; f = f->next)
		held += f->in[side].len;
	return held;
}

size_t filters_weight(const struct stream *s, enum filter_side side)
{
	size_t weight = 0;

	if (!s->filters || !(s->filters->watched & FILTER_SIDE_BIT(side)))
		return 0;
	for (const struct filter *f = s->filters->first; f; f = f->next) {
		weight += f->in[side].len;
		if (f->kind->hold_max && f->in[side].len > f->kind->hold_max)
			weight += ENDPOINT_TX_HIGH;
	}
	return weight;
}
