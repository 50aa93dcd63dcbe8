/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoe_link.c - connections to agents, and the requests under way on them
 *
 *     pool.queue --> link.requests --NOTIFY--> agent --ACK--> done()
 *
 * A link is a stream that the program starts, in the agent's backend: balancing, queue, TLS,
 * timeouts and counters are the usual ones. It says hello first, and takes requests when the agent
 * has answered. A link is opened when none is ready, when all ready ones are busy, or when there
 * are fewer than servers. An idle link ends with its configuration.
 */
#include <stdlib.h>
#include "base/clock.h"
#include "proxy/balance.h"
#include "stream/inside.h"
#include "spoe_priv.h"

#define LINKS_MAX 64          /* of a thread, to one agent */
#define MUCH 20               /* requests on a link: others get a new one, if they can */
#define HELLO_MS 5000
#define LOOK_MS 1000          /* how often a link looks whether it is needed */

enum link_state { LINK_HELLO, LINK_READY, LINK_CLOSING };

struct spoe_link {
	struct list link;
	struct spoe_agent *agent;
	struct spoe_pool *pool;
	struct inside *inside;
	enum link_state state;
	bool pipelining;
	size_t max_size;           /* of frames */
	uint64_t next_id;
	struct list requests;
	unsigned in_flight;        /* answers to come, also to requests that were cancelled */
	bool is_heard;             /* one has come since the last look */
	struct strbuf in, out;
	struct timer timer;
};

static size_t frame_max(const struct spoe_agent *agent)
{
	size_t most = block_size() - SPOP_LENGTH_SIZE;

	return agent->frame_size && agent->frame_size < most ? (size_t)agent->frame_size : most;
}

size_t spoe_payload_max(const struct spoe_agent *agent)
{
	return frame_max(agent) - SPOE_FRAME_HEAD;
}

/* --- ends ------------------------------------------------------------------------------------- */

static void request_end(struct spoe_request *rq, unsigned status, struct slice actions)
{
	list_remove(&rq->link);
	rq->agent = NULL;
	rq->on = NULL;
	rq->done(rq, status, actions);
}

static void fail_all(struct list *requests, unsigned status)
{
	while (!list_is_empty(requests))
		request_end(list_entry(requests->next, struct spoe_request, link), status,
			    slice_none());
}

/* Takes the link out of its pool: nothing is sent over it any more. */
static void link_leave(struct spoe_link *l)
{
	if (l->state == LINK_CLOSING)
		return;
	if (l->state == LINK_HELLO)
		l->pool->opening--;
	l->state = LINK_CLOSING;
	l->pool->link_count--;
	list_remove(&l->link);
	timer_cancel(&l->timer);
}

static bool link_open(struct spoe_agent *agent, struct spoe_pool *pool);

/* The link serves no more: requests that wait on it are told why; so does the queue, when nothing
 * else will come for it.
 */
static void link_fail(struct spoe_link *l, unsigned status)
{
	struct spoe_pool *pool = l->pool;
	bool was_hello = l->state == LINK_HELLO;

	link_leave(l);
	fail_all(&l->requests, status);
	if (pool->link_count || list_is_empty(&pool->queue))
		return;
	/* an agent that breaks off is asked once more, one that does not say hello is not */
	if (!was_hello && link_open(l->agent, pool))
		return;
	pool->queued = 0;
	fail_all(&pool->queue, status);
}

static void link_free(struct spoe_link *l)
{
	strbuf_fini(&l->in);
	strbuf_fini(&l->out);
	free(l);
}

/* Says why, and closes once that is sent. */
static void link_disconnect(struct spoe_link *l, enum spop_error why)
{
	if (l->state == LINK_CLOSING)
		return;
	spop_add_disconnect(&l->out, why);
	link_fail(l, why ? SPOE_ERR_SPOP + why : SPOE_ERR_INTERRUPTED);
	inside_continue(l->inside);
}

/* --- requests --------------------------------------------------------------------------------- */

static bool link_has_room(const struct spoe_link *l)
{
	return l->state == LINK_READY && (l->pipelining ? l->in_flight < MUCH : !l->in_flight);
}

static void link_send(struct spoe_link *l, struct spoe_request *rq)
{
	size_t start;

	if (rq->payload.len + SPOE_FRAME_HEAD > l->max_size) {
		list_append(&l->requests, &rq->link);
		request_end(rq, SPOE_ERR_TOO_BIG, slice_none());
		return;
	}
	rq->on = l;
	rq->id = l->next_id;
	l->next_id += 2;
	list_append(&l->requests, &rq->link);
	l->in_flight++;
	start = spop_begin(&l->out, SPOP_NOTIFY, rq->id, 1);
	strbuf_add(&l->out, rq->payload);
	spop_end(&l->out, start);
	/* the next one goes to another, if there is another as good */
	list_remove(&l->link);
	list_append(&l->pool->links, &l->link);
	inside_continue(l->inside);
}

/* What waits goes to a link that has become ready, or has room again. */
static void link_take(struct spoe_link *l)
{
	struct spoe_pool *pool = l->pool;

	while (link_has_room(l) && !list_is_empty(&pool->queue)) {
		struct spoe_request *rq = list_entry(pool->queue.next, struct spoe_request, link);

		list_remove(&rq->link);
		pool->queued--;
		link_send(l, rq);
	}
}

static struct spoe_link *pool_best(struct spoe_pool *pool)
{
	struct spoe_link *l, *best = NULL;

	list_for_each(l, &pool->links, link)
		if (link_has_room(l) && (!best || l->in_flight < best->in_flight))
			best = l;
	return best;
}

/* --- frames of the agent ---------------------------------------------------------------------- */

static enum spop_error take_hello(struct spoe_link *l, struct slice payload)
{
	struct spop_hello hello;
	enum spop_error why = spop_hello_read(payload, frame_max(l->agent), &hello);

	if (why != SPOP_ERR_NONE)
		return why;
	l->max_size = hello.max_size;
	l->pipelining = hello.pipelining && !(l->agent->options & SPOE_NO_PIPELINING);
	l->state = LINK_READY;
	l->pool->opening--;
	timer_set(&l->timer, clock_now_ms() + LOOK_MS);
	link_take(l);
	return SPOP_ERR_NONE;
}

static enum spop_error take_ack(struct spoe_link *l, const struct spop_frame *f)
{
	struct spoe_request *rq;

	if (!(f->flags & SPOP_FIN))
		return SPOP_ERR_FRAGMENTED;
	if (!l->in_flight || f->frame != 1 || !(f->stream & 1) || f->stream >= l->next_id)
		return SPOP_ERR_NO_FRAME_ID;
	l->in_flight--;
	l->is_heard = true;
	list_for_each(rq, &l->requests, link) {
		if (rq->id != f->stream)
			continue;
		request_end(rq, 0, f->payload);
		break;
	}
	link_take(l);
	return SPOP_ERR_NONE;
}

static enum spop_error take_frame(struct spoe_link *l, const struct spop_frame *f)
{
	struct slice message;

	if (f->type == SPOP_AGENT_DISCONNECT) {
		unsigned status = spop_disconnect_read(f->payload, &message);

		link_fail(l, SPOE_ERR_SPOP + (status ? status : (unsigned)SPOP_ERR_IO));
		inside_continue(l->inside); /* it ends */
		return SPOP_ERR_NONE;
	}
	if (l->state == LINK_HELLO)
		return f->type == SPOP_AGENT_HELLO && !f->stream && !f->frame ?
			take_hello(l, f->payload) : SPOP_ERR_INVALID;
	return f->type == SPOP_ACK ? take_ack(l, f) :
	       f->type == SPOP_AGENT_HELLO ? SPOP_ERR_INVALID : SPOP_ERR_NONE;
}

/* All frames that have come. */
static void take_frames(struct spoe_link *l)
{
	struct slice in = strbuf_slice(&l->in), rest;
	enum spop_error why = SPOP_ERR_NONE;
	struct spop_frame f;

	while (l->state != LINK_CLOSING && why == SPOP_ERR_NONE) {
		enum spop_result r = spop_frame_take(&in, frame_max(l->agent), &f);

		if (r == SPOP_MORE)
			break;
		why = r == SPOP_TOO_BIG ? SPOP_ERR_TOO_BIG :
		      r == SPOP_INVALID ? SPOP_ERR_INVALID : take_frame(l, &f);
	}
	rest = in;
	memmove(l->in.ptr, rest.ptr, rest.len);
	l->in.len = rest.len;
	if (why != SPOP_ERR_NONE)
		link_disconnect(l, why);
}

/* --- the stream ------------------------------------------------------------------------------- */

static enum inside_result on_part(struct inside *x, struct block_queue *to)
{
	struct spoe_link *l = x->ctx;
	bool fine = !l->out.overflow && block_queue_add_copy(to, strbuf_slice(&l->out));

	strbuf_reset(&l->out);
	if (!fine)
		return INSIDE_ERROR;
	return l->state == LINK_CLOSING ? INSIDE_DONE : INSIDE_WAIT;
}

static void on_data(struct inside *x, struct block_queue *from)
{
	struct spoe_link *l = x->ctx;
	size_t len = from->len;

	if (l->state != LINK_CLOSING && strbuf_reserve(&l->in, len)) {
		l->in.len += block_queue_peek(from, 0, l->in.ptr + l->in.len, len);
		take_frames(l);
	}
	block_queue_clear(from);
}

static void on_end(struct inside *x, bool whole, enum stream_end why)
{
	struct spoe_link *l = x->ctx;

	/* a frame of which a part has come will not be one */
	link_fail(l, SPOE_ERR_SPOP + (l->in.len ? SPOP_ERR_INVALID : SPOP_ERR_IO));
	link_free(l);
}

static const struct inside_kind link_kind = {
	.name = "SPOE", .part = on_part, .data = on_data, .end = on_end,
};

const struct spoe_agent *spoe_agent_of_stream(const struct stream *s)
{
	const struct inside *x = inside_of_stream(s);

	return x && x->kind == &link_kind ? ((const struct spoe_link *)x->ctx)->agent : NULL;
}

/* Is there anything left that could use the link? */
static bool is_needed(const struct spoe_link *l)
{
	return l->in_flight ||
	       (expr_config_in_force() == l->agent->config &&
		!__atomic_load_n(&l->agent->backend->state->stopped, __ATOMIC_RELAXED));
}

/* Full of requests that no stream waits for any more, and nothing comes? Then it is of no use. */
static bool is_stuck(const struct spoe_link *l)
{
	return list_is_empty(&l->requests) && !link_has_room(l) && !l->is_heard;
}

static void on_timer(struct timer *t)
{
	struct spoe_link *l = container_of(t, struct spoe_link, timer);
	bool stuck = is_stuck(l);

	l->is_heard = false;
	if (l->state == LINK_HELLO || stuck)
		link_disconnect(l, SPOP_ERR_TIMEOUT);
	else if (!is_needed(l))
		link_disconnect(l, SPOP_ERR_NONE);
	else
		timer_set(t, clock_now_ms() + LOOK_MS);
}

static bool link_open(struct spoe_agent *agent, struct spoe_pool *pool)
{
	struct spoe_link *l = calloc(1, sizeof(*l));

	if (!l)
		return false;
	l->inside = inside_new_bytes(agent->backend, &link_kind, l);
	if (!l->inside) {
		free(l);
		return false;
	}
	l->agent = agent;
	l->pool = pool;
	l->next_id = 1;
	list_init(&l->requests);
	strbuf_init(&l->in);
	strbuf_init(&l->out);
	spop_add_hello(&l->out, frame_max(agent), !(agent->options & SPOE_NO_PIPELINING),
		       slice_of(agent->engine_id), false);
	timer_init(&l->timer, on_timer);
	timer_set(&l->timer, clock_now_ms() + HELLO_MS);
	list_append(&pool->links, &l->link);
	pool->link_count++;
	pool->opening++;
	inside_start(l->inside);
	return true;
}

/* --- for streams ------------------------------------------------------------------------------ */

static struct spoe_pool *pool_of(struct spoe_agent *agent)
{
	struct spoe_pool *pool = &agent->pools[thread_id];

	if (!pool->links.next) {
		list_init(&pool->links);
		list_init(&pool->queue);
	}
	return pool;
}

/* One more link: for what waits, and so that each server has its share. */
static void open_more(struct spoe_agent *agent, struct spoe_pool *pool, bool must)
{
	if (pool->link_count >= LINKS_MAX || pool->opening > pool->queued / MUCH)
		return;
	if (must || pool->link_count < balance_usable_count(agent->backend))
		link_open(agent, pool);
}

void spoe_request_begin(struct spoe_agent *agent, struct spoe_request *rq)
{
	struct spoe_pool *pool = pool_of(agent);
	struct spoe_link *best = pool_best(pool);

	rq->agent = agent;
	rq->on = NULL;
	open_more(agent, pool, !best);
	if (best) {
		link_send(best, rq);
		return;
	}
	list_append(&pool->queue, &rq->link);
	pool->queued++;
}

void spoe_request_cancel(struct spoe_request *rq)
{
	if (!rq->agent)
		return;
	if (!rq->on)
		pool_of(rq->agent)->queued--;
	list_remove(&rq->link);
	rq->agent = NULL;
	rq->on = NULL;
}
