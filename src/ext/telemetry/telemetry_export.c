/* SPDX-License-Identifier: GPL-2.0-or-later */
/* telemetry_export.c - sends recorded data to the collector
 *
 *	a stream's thread    telemetry_record --> open batch of its lane --> full ones
 *	thread 0             collect: takes those of all lanes --> waiting --> under way
 *	                         2xx: exported; 429, 502 to 504, no answer: again later;
 *	                         else refused
 *
 * The bytes of batches count from their creation: above the section's `queue` no batch is created,
 * and its data is dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/list.h"
#include "base/num.h"
#include "client/http_client.h"
#include "core/counter.h"
#include "core/lock.h"
#include "core/task.h"
#include "core/thread.h"
#include "ext/telemetry.h"
#include "proxy/proxy.h"
#include "telemetry_priv.h"

#define BATCH_BYTES 32768
#define REQUEST_BYTES (512 * 1024) /* of one export, about */
#define TRIES 6
#define PAUSE_MAX_MS 30000         /* before a retry */
#define RETRY_AFTER_MAX_S 300
#define ANSWER_MAX 4096            /* that is looked at */
#define FLUSH_MS 2000              /* that a soft stop waits for the collector */

struct batch {
	struct batch *next;
	unsigned count;
	bool json;
	size_t len, size;
	char data[];
};

struct batches {
	struct batch *first, *last;
};

/* What a thread has recorded. */
struct lane {
	unsigned lock;
	struct batches full[OTLP_SIGNALS];
	struct batch *open[OTLP_SIGNALS];
} __attribute__((aligned(64)));

struct telemetry_exporter {
	struct telemetry_exporter *next;
	unsigned refs;               /* atomic: those of sections, and the list's */
	char *name;                  /* owned */
	struct lane *lanes;
	uint64_t bytes;              /* atomic: of batches */
	struct counter_set counts;   /* of enum telemetry_count, for each signal */
	/* thread 0's: */
	const struct telemetry *conf;
	struct config *config;       /* of <conf>, counted */
	bool is_ending;              /* the live generation has no such section */
	struct task *task;
	uint64_t open_ms;            /* from then on batches are taken that are not full */
	struct batches waiting[OTLP_SIGNALS];
	/* the export under way, or that is tried again */
	struct batches sent;
	enum otlp_signal signal;
	unsigned tries;
	uint64_t due_ms;
	struct http_call *call;
	struct strbuf head, tail, answer;
	const struct batch *at;      /* the next part */
	bool has_begun;
	unsigned status, last_status;
	uint64_t retry_after_s;
	struct telemetry_round *round; /* of metrics; NULL: none is under way */
	uint64_t round_ms;           /* when the next one is due */
	uint64_t start_ns;           /* since 1970: when the exporter was made */
};

static struct telemetry_exporter *exporters; /* of thread 0 */
static uint64_t flushed_ms; /* when a soft stop has waited long enough; 0: there is none */

/* --- batches ---------------------------------------------------------------------------------- */

static void add(struct batches *to, struct batch *b)
{
	b->next = NULL;
	if (to->last)
		to->last->next = b;
	else
		to->first = b;
	to->last = b;
}

static struct batch *take(struct batches *from)
{
	struct batch *b = from->first;

	from->first = b->next;
	if (!from->first)
		from->last = NULL;
	return b;
}

static void join(struct batches *to, struct batches *from)
{
	if (!from->first)
		return;
	if (to->last)
		to->last->next = from->first;
	else
		to->first = from->first;
	to->last = from->last;
	*from = (struct batches){ 0 };
}

static void count(struct telemetry_exporter *x, enum otlp_signal signal,
		  enum telemetry_count which, int64_t n)
{
	counter_add(&x->counts, signal * TELEMETRY_COUNT + which, n);
}

uint64_t telemetry_figure(const struct telemetry_exporter *x, enum otlp_signal signal,
			  enum telemetry_count which)
{
	return counter_read(&x->counts, signal * TELEMETRY_COUNT + which);
}

uint64_t telemetry_waiting(const struct telemetry_exporter *x)
{
	return __atomic_load_n(&x->bytes, __ATOMIC_RELAXED);
}

unsigned telemetry_last_status(const struct telemetry_exporter *x)
{
	return __atomic_load_n(&x->last_status, __ATOMIC_RELAXED);
}

/* A batch with room for <len> bytes. NULL: there are as many as there may be, or no memory. */
static struct batch *batch_new(struct telemetry_exporter *x, const struct telemetry *t, size_t len)
{
	size_t size = len > BATCH_BYTES ? len : BATCH_BYTES;
	struct batch *b = NULL;

	if (__atomic_add_fetch(&x->bytes, size, __ATOMIC_RELAXED) <= t->queue)
		b = malloc(sizeof(*b) + size);
	if (!b) {
		__atomic_sub_fetch(&x->bytes, size, __ATOMIC_RELAXED);
		return NULL;
	}
	*b = (struct batch){ .json = t->json, .size = size };
	return b;
}

static void batch_free(struct telemetry_exporter *x, struct batch *b)
{
	__atomic_sub_fetch(&x->bytes, b->size, __ATOMIC_RELAXED);
	free(b);
}

static void batches_free(struct telemetry_exporter *x, struct batches *all)
{
	while (all->first)
		batch_free(x, take(all));
}

/* --- recording -------------------------------------------------------------------------------- */

static bool has_room(const struct batch *b, const struct telemetry *t, size_t len)
{
	return b && b->json == t->json && b->size - b->len > len;
}

static void batch_append(struct batch *b, struct slice text, unsigned n)
{
	if (b->json && b->len)
		b->data[b->len++] = ',';
	memcpy(b->data + b->len, text.ptr, text.len);
	b->len += text.len;
	b->count += n;
}

void telemetry_record(const struct telemetry *t, enum otlp_signal signal, struct slice text,
		      unsigned n)
{
	struct telemetry_exporter *x = t->exporter;
	struct lane *l = &x->lanes[thread_id];
	bool is_full = false, added = false;
	struct batch *b;

	count(x, signal, TELEMETRY_RECORDED, n);
	lock_take(&l->lock);
	b = l->open[signal];
	if (!has_room(b, t, text.len)) {
		if (b)
			add(&l->full[signal], b);
		is_full = b != NULL;
		b = l->open[signal] = text.len ? batch_new(x, t, text.len) : NULL;
	}
	if (b && text.len) {
		batch_append(b, text, n);
		added = true;
	}
	lock_drop(&l->lock);
	if (!added)
		count(x, signal, TELEMETRY_DROPPED, n);
	if (is_full)
		task_wake(x->task, TASK_WOKEN_MSG);
}

/* --- an export -------------------------------------------------------------------------------- */

static unsigned count_of(const struct batches *all)
{
	unsigned n = 0;

	for (const struct batch *b = all->first; b; b = b->next)
		n += b->count;
	return n;
}

/* The export is over, for good. */
static void settle(struct telemetry_exporter *x, enum telemetry_count which)
{
	count(x, x->signal, which, count_of(&x->sent));
	batches_free(x, &x->sent);
	x->tries = 0;
	x->due_ms = 0;
}

static void put_off(struct telemetry_exporter *x)
{
	uint64_t pause = (uint64_t)x->conf->interval_ms << (x->tries - 1);

	count(x, x->signal, TELEMETRY_FAILURES, 1);
	if (x->tries >= TRIES) {
		settle(x, TELEMETRY_GIVEN_UP);
		return;
	}
	if (pause > PAUSE_MAX_MS)
		pause = PAUSE_MAX_MS;
	/* from its half on: many senders do not come back at the same moment */
	pause = pause / 2 + num_random() % (pause / 2 + 1);
	if (x->retry_after_s)
		pause = x->retry_after_s * 1000;
	x->due_ms = clock_now_ms() + pause;
}

static enum inside_result export_part(struct http_call *c, struct block_queue *to)
{
	struct telemetry_exporter *x = c->ctx;
	bool ok = true;

	if (!x->has_begun) {
		ok = block_queue_add_copy(to, strbuf_slice(&x->head));
		x->has_begun = true;
		return ok ? INSIDE_MORE : INSIDE_ERROR;
	}
	if (x->at) {
		if (x->at != x->sent.first && x->at->json)
			ok = block_queue_add_copy(to, SLICE(","));
		ok = ok && block_queue_add_copy(to, slice_make(x->at->data, x->at->len));
		x->at = x->at->next;
		return !ok ? INSIDE_ERROR : x->at || x->tail.len ? INSIDE_MORE : INSIDE_DONE;
	}
	return block_queue_add_copy(to, strbuf_slice(&x->tail)) ? INSIDE_DONE : INSIDE_ERROR;
}

static void export_head(struct http_call *c, const struct http_msg *m)
{
	struct telemetry_exporter *x = c->ctx;
	const struct h1_field *f = http_field_find(&m->fields, FIELD_RETRY_AFTER, slice_none());

	if (m->flags & HTTP_MSG_INTERIM)
		return;
	x->status = m->status;
	x->retry_after_s = 0;
	if (f && num_parse_u64(f->value, &x->retry_after_s) &&
	    x->retry_after_s > RETRY_AFTER_MAX_S)
		x->retry_after_s = RETRY_AFTER_MAX_S;
}

static void export_data(struct http_call *c, struct block_queue *from)
{
	struct telemetry_exporter *x = c->ctx;
	char bytes[ANSWER_MAX];
	size_t n = block_queue_peek(from, 0, bytes, sizeof(bytes));

	if (x->answer.len < ANSWER_MAX)
		strbuf_add(&x->answer, slice_make(bytes, n));
	block_queue_clear(from);
}

static void exported(struct telemetry_exporter *x)
{
	uint64_t all = count_of(&x->sent), rejected;

	rejected = otlp_rejected(x->signal, x->sent.first->json, strbuf_slice(&x->answer));
	if (rejected > all)
		rejected = all;
	count(x, x->signal, TELEMETRY_REJECTED, (int64_t)rejected);
	count(x, x->signal, TELEMETRY_EXPORTED, -(int64_t)rejected);
	settle(x, TELEMETRY_EXPORTED);
}

static void export_end(struct http_call *c, bool whole, enum stream_end why)
{
	struct telemetry_exporter *x = c->ctx;
	unsigned status = whole ? x->status : 0;

	x->call = NULL;
	__atomic_store_n(&x->last_status, status, __ATOMIC_RELAXED);
	if (status >= 200 && status < 300)
		exported(x);
	else if (!status || status == 429 || (status >= 502 && status <= 504))
		put_off(x);
	else
		settle(x, TELEMETRY_REFUSED);
	task_wake(x->task, TASK_WOKEN_MSG);
}

static const struct http_call_kind export_kind = {
	.name = "TELEMETRY", .part = export_part, .head = export_head, .data = export_data,
	.end = export_end,
};

static bool add_headers(struct http_call *c, const struct telemetry *t, bool json)
{
	if (!http_msg_add_field(c->request, SLICE("content-type"), otlp_content_type(json)))
		return false;
	for (const struct telemetry_pair *h = t->headers; h; h = h->next)
		if (!http_msg_add_field(c->request, h->key, h->value))
			return false;
	return true;
}

/* The length of the export's body; its head and tail are made. */
static uint64_t make_envelope(struct telemetry_exporter *x)
{
	bool json = x->sent.first->json;
	struct strbuf resource;
	struct slice version;
	size_t len = 0;

	strbuf_init(&resource);
	version = telemetry_put_resource(x->conf, json, &resource);
	for (const struct batch *b = x->sent.first; b; b = b->next)
		len += b->len + (json && b->next);
	strbuf_reset(&x->head);
	strbuf_reset(&x->tail);
	otlp_envelope(x->signal, json, strbuf_slice(&resource), version, len, &x->head, &x->tail);
	x->head.overflow |= resource.overflow;
	strbuf_fini(&resource);
	return x->head.len + len + x->tail.len;
}

static void export(struct telemetry_exporter *x)
{
	struct slice path = otlp_path(x->signal);
	char url[1024];
	const char *why;
	uint64_t len = make_envelope(x);
	struct http_call *c;
	int n = snprintf(url, sizeof(url), "%s%.*s", x->conf->url, SLICE_FMT(path));

	c = n > 0 && (size_t)n < sizeof(url)
	    ? http_call_new(proxies_current(), &export_kind, x, SLICE("POST"),
			    slice_make(url, (size_t)n), &why)
	    : NULL;
	x->tries++;
	x->status = 0;
	x->retry_after_s = 0;
	x->at = x->sent.first;
	x->has_begun = false;
	strbuf_reset(&x->answer);
	count(x, x->signal, TELEMETRY_REQUESTS, 1);
	if (c && !x->head.overflow && http_call_set_timeout(c, x->conf->timeout_ms) &&
	    add_headers(c, x->conf, x->sent.first->json) && http_call_has_body(c, len)) {
		http_call_be_silent(c);
		x->call = c;
		http_call_start(c);
		return;
	}
	if (c)
		http_call_cancel(c);
	put_off(x);
}

/* --- the exporter's task ---------------------------------------------------------------------- */

/* Takes what the lanes have: what is full, <all>: what is not, too. */
static void collect(struct telemetry_exporter *x, bool all)
{
	for (unsigned i = 0; i < thread_count(); i++) {
		struct lane *l = &x->lanes[i];

		lock_take(&l->lock);
		for (unsigned k = 0; k < OTLP_SIGNALS; k++) {
			join(&x->waiting[k], &l->full[k]);
			if (!all || !l->open[k])
				continue;
			add(&x->waiting[k], l->open[k]);
			l->open[k] = NULL;
		}
		lock_drop(&l->lock);
	}
}

/* What goes out next: of one signal and encoding, in turn. False: there is nothing. */
static bool choose(struct telemetry_exporter *x)
{
	size_t len = 0;
	unsigned k, n = 1;

	if (x->sent.first)
		return true;
	while (n <= OTLP_SIGNALS && !x->waiting[(x->signal + n) % OTLP_SIGNALS].first)
		n++;
	if (n > OTLP_SIGNALS)
		return false;
	k = (x->signal + n) % OTLP_SIGNALS;
	x->signal = (enum otlp_signal)k;
	do {
		len += x->waiting[k].first->len;
		add(&x->sent, take(&x->waiting[k]));
	} while (x->waiting[k].first && x->waiting[k].first->json == x->sent.last->json &&
		 len + x->waiting[k].first->len <= REQUEST_BYTES);
	return true;
}

static void exporter_end(struct telemetry_exporter *x)
{
	struct telemetry_exporter **at = &exporters;

	while (*at != x)
		at = &(*at)->next;
	*at = x->next;
	task_free(&x->task);
	config_drop(&x->config);
	telemetry_exporter_drop(&x);
}

/* Is there no other generation with such a section, and does nothing but the exporter hold its own?
 * Then nothing is recorded any more. The references left are the list's and that section's.
 */
static bool is_unused(const struct telemetry_exporter *x)
{
	return __atomic_load_n(&x->refs, __ATOMIC_ACQUIRE) == 2 &&
	       __atomic_load_n(&x->config->refs, __ATOMIC_ACQUIRE) == 1;
}

static void exporter_run(struct task *task, void *ctx, unsigned why)
{
	struct telemetry_exporter *x = ctx;
	uint64_t now_ms = clock_now_ms(), next_ms = now_ms + (uint64_t)x->conf->interval_ms;
	bool all = now_ms >= x->open_ms || x->is_ending || flushed_ms;

	if (x->conf->metrics_ms && !x->is_ending && !flushed_ms && now_ms >= x->round_ms) {
		x->round_ms = now_ms + (uint64_t)x->conf->metrics_ms;
		telemetry_round_begin(&x->round, x->conf, x->start_ns);
	}
	if (!x->call && now_ms >= x->due_ms) {
		collect(x, all);
		if (all)
			x->open_ms = next_ms;
		if (choose(x))
			export(x);
		else if (x->is_ending && is_unused(x))
			return exporter_end(x);
	}
	if (x->open_ms > now_ms && x->open_ms < next_ms)
		next_ms = x->open_ms;
	if (x->due_ms && x->due_ms < next_ms)
		next_ms = x->due_ms;
	task_schedule(x->task, next_ms);
}

/* --- life ------------------------------------------------------------------------------------- */

static void exporter_free(struct telemetry_exporter *x)
{
	for (unsigned k = 0; k < OTLP_SIGNALS; k++) {
		for (unsigned i = 0; x->lanes && i < thread_count(); i++) {
			batches_free(x, &x->lanes[i].full[k]);
			free(x->lanes[i].open[k]);
		}
		batches_free(x, &x->waiting[k]);
	}
	batches_free(x, &x->sent);
	strbuf_fini(&x->head);
	strbuf_fini(&x->tail);
	strbuf_fini(&x->answer);
	counter_set_fini(&x->counts);
	free(x->lanes);
	free(x->name);
	free(x);
}

void telemetry_exporter_drop(struct telemetry_exporter **x)
{
	struct telemetry_exporter *old = *x;

	*x = NULL;
	if (old && !__atomic_sub_fetch(&old->refs, 1, __ATOMIC_ACQ_REL))
		exporter_free(old);
}

static struct telemetry_exporter *exporter_new(const char *name)
{
	struct telemetry_exporter *x = calloc(1, sizeof(*x));
	size_t size = thread_count() * sizeof(*x->lanes);

	if (!x)
		return NULL;
	strbuf_init(&x->head);
	strbuf_init(&x->tail);
	strbuf_init(&x->answer);
	x->name = strdup(name);
	x->lanes = aligned_alloc(__alignof__(*x->lanes), size);
	if (x->lanes)
		memset(x->lanes, 0, size);
	if (x->name && x->lanes && counter_set_init(&x->counts, OTLP_SIGNALS * TELEMETRY_COUNT))
		x->task = task_new(exporter_run, x);
	if (!x->task) {
		exporter_free(x);
		return NULL;
	}
	x->refs = 1;
	x->start_ns = clock_read_wall_us() * 1000;
	x->next = exporters;
	exporters = x;
	return x;
}

struct telemetry_exporter *telemetry_exporter_take(const char *name)
{
	struct telemetry_exporter *x = exporters;

	while (x && strcmp(x->name, name) != 0)
		x = x->next;
	if (!x)
		x = exporter_new(name);
	if (x)
		__atomic_add_fetch(&x->refs, 1, __ATOMIC_RELAXED);
	return x;
}

void telemetry_exporter_use(struct telemetry_exporter *x, const struct telemetry *t)
{
	struct config *old = x->config;

	x->config = config_take(t->config);
	x->conf = t;
	x->is_ending = false;
	config_drop(&old);
	task_wake(x->task, TASK_WOKEN_OTHER);
}

void telemetry_exporters_retire(const struct config *cfg)
{
	for (struct telemetry_exporter *x = exporters; x; x = x->next)
		if (x->config != cfg)
			x->is_ending = true;
}

bool telemetry_is_flushed(void)
{
	bool all = true;

	if (!flushed_ms)
		flushed_ms = clock_now_ms() + FLUSH_MS;
	for (struct telemetry_exporter *x = exporters; x; x = x->next) {
		all &= !telemetry_waiting(x);
		if (telemetry_waiting(x))
			task_wake(x->task, TASK_WOKEN_OTHER);
	}
	return all || clock_now_ms() >= flushed_ms;
}

unsigned telemetry_calls(void)
{
	unsigned n = 0;

	for (const struct telemetry_exporter *x = exporters; x; x = x->next)
		n += x->call != NULL;
	return n;
}

void telemetry_export_stop(void)
{
	for (struct telemetry_exporter *x = exporters; x && thread_id == 0; x = x->next) {
		if (x->call)
			http_call_cancel(x->call);
		x->call = NULL;
		telemetry_round_cancel(&x->round);
	}
}

void telemetry_export_fini(void)
{
	while (exporters)
		exporter_end(exporters);
}
