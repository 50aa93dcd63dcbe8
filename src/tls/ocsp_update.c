/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ocsp_update.c - OCSP answers fetched again before they expire
 *
 *     timer, command --> look --> fetcher->start() --> fetched --> look
 *
 * Thread 0 fetches one answer after another for the live generation. A fetch refers to its
 * certificate by name and identifier only: both may have changed when it ends.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "cert_priv.h"
#include "core/mailbox.h"
#include "core/timer.h"
#include "global_priv.h"
#include "ocsp_priv.h"
#include "shown_priv.h"
#include "store_priv.h"
#include "tls/tls.h"

/* After a failure: a minute, doubled each time. */
#define RETRY_S 60
/* How long the timer sleeps at most: dates are wall clock, which may be set. */
#define SLEEP_S 60

static struct {
	struct timer timer;
	char *name, *key;            /* of what is fetched; owned */
	bool started;
} me;

static const struct tls_event_log *event_log;
static const struct tls_fetcher *fetcher; /* or NULL: no responder is asked */

void tls_set_fetcher(const struct tls_fetcher *f)
{
	fetcher = f;
}

void tls_set_event_log(const struct tls_event_log *log)
{
	event_log = log;
}

void tls_event(struct config *cfg, const char *text)
{
	if (event_log)
		event_log->notice(cfg, text);
}

const char *tls_ocsp_outcome_text(enum ocsp_outcome o)
{
	static const char *const texts[] = {
#define X(symbol, text) text,
		OCSP_OUTCOMES(X)
#undef X
	};

	return texts[o];
}

/* --- what is known ---------------------------------------------------------------------------- */

static struct tls_global *live_global(void)
{
	return tls_live() ? tls_global_of(tls_live()) : NULL;
}

void tls_ocsp_forget(struct tls_entry *e)
{
	struct tls_ocsp *o = e->ocsp;

	e->ocsp = NULL;
	if (!o)
		return;
	list_remove(&o->link);
	free(o->key);
	free(o->uri);
	free(o);
}

static bool is_updated(const struct config *cfg, const struct tls_entry *e)
{
	const struct tls_global *g = tls_global_of(cfg);

	if (e->ocsp_update == TLS_OCSP_UPDATE_UNSET)
		return g->ocsp_mode;
	return e->ocsp_update == TLS_OCSP_UPDATE_ON;
}

/* When an answer that is there is asked for again: as the manual says, not before mindelay. */
static int64_t next_after(const struct tls_global *g, const struct tls_cert *c, int64_t now)
{
	int64_t next = now + g->ocsp_max_s;
	time_t expires = 0;

	if (!tls_ocsp_check(c, c->ocsp, c->ocsp_len, &expires) && expires < next)
		next = expires;
	return next < now + g->ocsp_min_s ? now + g->ocsp_min_s : next;
}

bool tls_ocsp_know(struct config *cfg, struct tls_entry *e)
{
	bool updated = is_updated(cfg, e), had = e->ocsp;
	struct tls_ocsp *o;
	char *uri;

	tls_ocsp_forget(e);
	if (!e->cert || (!updated && !e->cert->ocsp_len && !had))
		return true;
	uri = updated ? tls_ocsp_uri(e->cert) : NULL;
	if (updated && !uri && !e->cert->ocsp_len)
		return true; /* no responder to ask */
	o = calloc(1, sizeof(*o));
	if (o)
		o->key = tls_ocsp_key(e->cert);
	if (!o || !o->key) {
		free(o);
		free(uri);
		return !updated;
	}
	o->entry = e;
	o->uri = uri ? uri : tls_ocsp_uri(e->cert);
	o->is_updated = updated && o->uri;
	o->next_s = time(NULL);
	if (e->cert->ocsp_len)
		o->next_s = next_after(tls_global_of(cfg), e->cert, o->next_s);
	list_append(&tls_global_of(cfg)->ocsps, &o->link);
	e->ocsp = o;
	return true;
}

/* --- a fetch ---------------------------------------------------------------------------------- */

static void look(void);

static void report(struct config *cfg, const struct tls_ocsp *o)
{
	char text[4096];

	snprintf(text, sizeof(text), "<OCSP-UPDATE> %s %d \"%s\" %u %u", o->entry->name,
		 o->outcome, tls_ocsp_outcome_text(o->outcome), o->failures, o->successes);
	tls_event(cfg, text);
}

static void count(struct tls_ocsp *o, enum ocsp_outcome outcome)
{
	const struct tls_global *g = live_global();
	int64_t now = time(NULL), wait;

	o->outcome = outcome;
	if (outcome == OCSP_SUCCESS) {
		o->successes++;
		o->failed = 0;
		o->last_s = now;
		o->next_s = next_after(g, o->entry->cert, now);
		return;
	}
	o->failures++;
	wait = (int64_t)RETRY_S << (o->failed < 10 ? ++o->failed : 10);
	o->next_s = now + (wait < g->ocsp_max_s ? wait : g->ocsp_max_s);
}

static enum ocsp_outcome take_answer(struct tls_ocsp *o, unsigned status, bool is_wanted,
				     struct slice body)
{
	const unsigned char *der = (const unsigned char *)body.ptr;
	struct tls_cert *c = o->entry->cert;
	char why[256];

	if (status != 200 || !body.len)
		return OCSP_HTTP;
	if (!is_wanted)
		return OCSP_HEADER;
	if (!tls_ocsp_is_signed(c, der, body.len))
		return OCSP_CHECK;
	return tls_ocsp_replace(c, der, body.len, why, sizeof(why)) ? OCSP_SUCCESS : OCSP_INSERT;
}

static void fetched(unsigned status, bool is_wanted, struct slice body)
{
	struct tls_entry *e;

	tls_store_lock();
	e = tls_live() ? tls_store_find(tls_store_of(tls_live()), me.name) : NULL;
	if (e && e->ocsp && e->cert && strcmp(e->ocsp->key, me.key) == 0) {
		count(e->ocsp, take_answer(e->ocsp, status, is_wanted, body));
		report(tls_live(), e->ocsp);
	}
	tls_store_unlock();
	free(me.name);
	free(me.key);
	me.name = me.key = NULL;
	look();
}

static bool begin(struct tls_ocsp *o)
{
	const struct tls_global *g = live_global();
	char *url = o->uri ? tls_ocsp_url(o->entry->cert, o->uri) : NULL;
	bool good = false;

	o->asked = false;
	me.name = strdup(o->entry->name);
	me.key = strdup(o->key);
	if (url && me.name && me.key)
		good = fetcher->start(url, "application/ocsp-response", &g->ocsp_proxy, fetched);
	free(url);
	if (!good) {
		count(o, OCSP_HTTP);
		report(tls_live(), o);
		free(me.name);
		free(me.key);
		me.name = me.key = NULL;
	}
	return good;
}

/* Begins what is due, else sleeps until something is. Thread 0. */
static void look(void)
{
	struct tls_global *g;
	struct tls_ocsp *o;
	int64_t now = time(NULL), next = now + SLEEP_S;
	bool any = false;

	if (!fetcher || fetcher->is_busy())
		return;
	tls_store_lock();
	g = live_global();
	if (g && !g->ocsp_off) {
		list_for_each(o, &g->ocsps, link) {
			if (!o->asked && !o->is_updated)
				continue;
			any = true;
			if ((o->asked || o->next_s <= now) && begin(o))
				break;
			if (o->next_s < next)
				next = o->next_s;
		}
	}
	tls_store_unlock();
	if (any && !fetcher->is_busy())
		timer_set(&me.timer, clock_now_ms() +
			  (uint64_t)(next > now ? next - now : 1) * 1000);
}

/* --- life ------------------------------------------------------------------------------------- */

static void timer_fired(struct timer *t)
{
	look();
}

static void kicked(struct message *m)
{
	free(m);
	look();
}

void tls_ocsp_kick(void)
{
	struct message *m = calloc(1, sizeof(*m));

	if (!m)
		return; /* it looks again by itself */
	m->run = kicked;
	mailbox_post(0, m);
}

/* What <from> learnt, if it is about the same certificate. */
static void inherit(struct tls_ocsp *to, const struct tls_ocsp *from)
{
	const struct tls_cert *old = from->entry->cert;
	char why[256];

	if (strcmp(to->key, from->key) != 0 || !old)
		return;
	to->successes = from->successes;
	to->failures = from->failures;
	to->failed = from->failed;
	to->outcome = from->outcome;
	to->last_s = from->last_s;
	if (from->last_s && old->ocsp_len &&
	    tls_ocsp_replace(to->entry->cert, old->ocsp, old->ocsp_len, why, sizeof(why)))
		to->next_s = from->next_s;
}

void tls_ocsp_start(struct config *cfg, struct config *prev)
{
	struct tls_global *g = tls_global_of(cfg);
	struct tls_entry *old;
	struct tls_ocsp *o;

	tls_store_lock();
	list_for_each(o, &g->ocsps, link) {
		old = prev ? tls_store_find(tls_store_of(prev), o->entry->name) : NULL;
		if (old && old->ocsp)
			inherit(o, old->ocsp);
	}
	tls_store_unlock();
	if (!me.started)
		timer_init(&me.timer, timer_fired);
	me.started = true;
	if (!list_is_empty(&g->ocsps))
		tls_ocsp_kick();
}

void tls_ocsp_stop(void)
{
	if (me.started)
		timer_cancel(&me.timer);
	if (fetcher)
		fetcher->stop();
	free(me.name);
	free(me.key);
	me.name = me.key = NULL;
}
