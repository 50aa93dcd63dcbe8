/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acme_dns.c - challenges that a TXT record meets: the writers that are told, and when it is there
 *
 * The records are written by others: an order announces which records are needed (log, events of
 * the ring dpapi), and its challenges are answered when challenge-ready is met:
 *
 *	PEEK --> CLI --> DELAY --> DNS --> ready          CLI: `acme challenge_ready` for each name
 *	  |                         | ^                   DELAY: dns-delay
 *	  +-> ready                 +-+ every dns-delay   DNS: the records are resolved, for
 *	                            +--> given up              dns-timeout
 *
 * PEEK is for dns-persist-01, whose records are permanent: usually they exist. Steps that are not
 * configured are skipped. Everything except acme_dns_ready() belongs to thread 0.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "conf/conf.h"
#include "core/sink.h"
#include "core/timer.h"
#include "dns/resolvers.h"
#include "log/log.h"
#include "proxy/proxy.h"
#include "acme_priv.h"

#define RECORDS_MAX 100 /* as the names of an order */
#define CLI_MS (24 * 3600 * 1000) /* other certificates wait meanwhile */

enum step { NONE, PEEK, CLI, DELAY, DNS };

struct record {
	char *domain, *name, *value;  /* owned; <value> NULL: it is enough that there is one */
	bool is_ready;                /* it was reported as written */
};

static struct {
	pthread_mutex_t lock;         /* of cert, records and their flags, which commands look at */
	const struct acme_section *section;
	const char *cert;             /* borrowed from the order */
	struct record records[RECORDS_MAX];
	unsigned count;
	enum step step;
	acme_dns_done_fn *done;
	struct timer timer;
	bool has_timer;
	/* DNS, PEEK */
	struct resolve_asker asker;
	unsigned at;                  /* the record that is asked for */
	bool has_failed;              /* it was not there */
	uint64_t since_ms;
} me = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void go(enum step step);

static const char *kind_name(void)
{
	return me.section->challenge == ACME_DNS ? "dns-01" : "dns-persist-01";
}

#define SAY(fmt, ...) \
	log_printf(proxies_current(), NULL, LOG_LVL_NOTICE, "acme: %s: %s" fmt, me.cert, \
		   kind_name(), __VA_ARGS__)

/* --- records --------------------------------------------------------------------------------- */

void acme_dns_begin(const struct acme_section *s, const char *cert)
{
	pthread_mutex_lock(&me.lock);
	me.section = s;
	me.cert = cert;
	pthread_mutex_unlock(&me.lock);
}

bool acme_dns_add(const char *domain, const char *value)
{
	struct record *r = &me.records[me.count];
	struct record made = { .domain = strdup(domain), .value = value ? strdup(value) : NULL };

	if (me.count < RECORDS_MAX && made.domain && (!value || made.value) &&
	    asprintf(&made.name, "%s.%s", value ? "_acme-challenge" : "_validation-persist",
		     domain) > 0) {
		pthread_mutex_lock(&me.lock);
		*r = made;
		me.count++;
		pthread_mutex_unlock(&me.lock);
		return true;
	}
	free(made.domain);
	free(made.value);
	return false;
}

void acme_dns_end(void)
{
	resolution_leave(&me.asker);
	if (me.has_timer)
		timer_cancel(&me.timer);
	me.has_timer = false;
	me.step = NONE;
	pthread_mutex_lock(&me.lock);
	for (unsigned i = 0; i < me.count; i++) {
		free(me.records[i].domain);
		free(me.records[i].name);
		free(me.records[i].value);
	}
	memset(me.records, 0, sizeof(me.records));
	me.count = 0;
	me.cert = NULL;
	pthread_mutex_unlock(&me.lock);
}

/* --- telling the writers --------------------------------------------------------------------- */

/* As one event of the ring dpapi, which may have several lines. */
void acme_dns_tell(struct slice event)
{
	struct syslog_header h = { .format = SYSLOG_TIMED };
	struct sink *sink = sink_find("dpapi");

	if (sink)
		sink_write(sink, &h, event, 0);
	if (sink)
		sink_drop(&sink);
}

/* A text in quotes, with those that are in it marked. */
static bool put_quoted(struct strbuf *out, const char *word, const char *text)
{
	bool good = strbuf_printf(out, "%s \"", word);

	for (; *text && good; text++)
		good = (*text != '"' && *text != '\\' ? true : strbuf_add_char(out, '\\')) &&
		       strbuf_add_char(out, *text);
	return good && strbuf_add_str(out, "\"\n");
}

void acme_dns_announce(const char *domain, const char *value, const char *thumbprint,
		       struct slice authorization)
{
	const struct acme_section *s = me.section;
	bool is_persist = s->challenge == ACME_PERSIST;
	struct strbuf event;

	strbuf_init(&event);
	if (strbuf_printf(&event, "acme deploy %s thumbprint %s\n", me.cert, thumbprint) &&
	    (!s->provider || put_quoted(&event, "provider-name", s->provider)) &&
	    (!s->vars || put_quoted(&event, "acme-vars", s->vars)) &&
	    put_quoted(&event, is_persist ? "dns-persist-01-record" : "dns-01-record", value) &&
	    strbuf_add(&event, authorization) && strbuf_add_char(&event, '\n'))
		acme_dns_tell(strbuf_slice(&event));
	strbuf_fini(&event);
	if (s->ready & ACME_READY_CLI)
		SAY(" requires to set the \"%s.%s\" TXT record to \"%s\" and use the \"acme "
		    "challenge_ready %s domain %s\" command over the CLI",
		    is_persist ? "_validation-persist" : "_acme-challenge", domain, value, me.cert,
		    domain);
}

/* --- waiting --------------------------------------------------------------------------------- */

static void is_over(const char *why)
{
	acme_dns_done_fn *done = me.done;

	acme_dns_end();
	done(why);
}

static void wait_ms(int64_t ms)
{
	timer_set(&me.timer, clock_now_ms() + (uint64_t)ms);
}

/* The next step that is wanted behind <step>. */
static void go_behind(enum step step)
{
	unsigned ready = me.section->ready;

	if (step < CLI && ready & ACME_READY_CLI)
		go(CLI);
	else if (step < DELAY && ready & ACME_READY_DELAY)
		go(DELAY);
	else if (step < DNS && ready & ACME_READY_DNS)
		go(DNS);
	else
		is_over(NULL);
}

static bool all_are_ready(void)
{
	bool all = true;

	pthread_mutex_lock(&me.lock);
	for (unsigned i = 0; i < me.count; i++)
		all = all && me.records[i].is_ready;
	pthread_mutex_unlock(&me.lock);
	return all;
}

/* Asks for the record at hand. */
static void probe(void)
{
	struct resolvers *section = resolvers_find(proxies_current(), "default");

	if (me.at == me.count) {
		if (me.step == PEEK)
			is_over(NULL); /* all are there */
		else
			go_behind(DNS);
	} else if (!section && me.step == PEEK) {
		go_behind(PEEK);
	} else if (!section) {
		is_over("there is no section 'resolvers default' to ask for TXT records");
	} else if (!resolution_join(&me.asker, section, me.records[me.at].name, DNS_TXT)) {
		is_over("out of memory for the resolution of a TXT record");
	}
}

/* It is not there, or not what it should be. */
static void probe_failed(void)
{
	const struct acme_section *s = me.section;
	int64_t next_ms = (int64_t)clock_now_ms() + s->dns_delay_ms;

	if (me.step == PEEK) {
		go_behind(PEEK);
		return;
	}
	SAY(": Couldn't get the TXT record for \"%s\"", me.records[me.at].name);
	if (next_ms > (int64_t)me.since_ms + s->dns_timeout_ms) {
		char why[100];

		snprintf(why, sizeof(why), "the TXT records are not there after %llds",
			 (long long)s->dns_timeout_ms / 1000);
		is_over(why);
		return;
	}
	SAY(": retrying the resolution in %llds", (long long)s->dns_delay_ms / 1000);
	wait_ms(s->dns_delay_ms);
}

/* A name has one record a token where it is in several orders, so any of them may be ours. */
static bool is_met(const struct resolution *r, const struct record *wanted)
{
	const struct list *items = resolution_items(r);
	const struct resolve_item *it;

	if (resolution_status(r) != RESOLVE_VALID)
		return false;
	list_for_each(it, items, link)
		if (!it->is_obsolete && (!wanted->value || strcmp(it->name, wanted->value) == 0))
			return true;
	return false;
}

/* The next probe, and whatever ends the order, is not for the stack of the resolution. */
static void told(struct resolve_asker *a, enum resolve_round round)
{
	bool met = is_met(a->resolution, &me.records[me.at]);

	resolution_leave(a);
	if (met)
		me.at++;
	timer_set(&me.timer, clock_now_ms());
	me.has_failed = !met;
}

static void timer_fires(struct timer *t)
{
	bool failed = me.has_failed;

	me.has_failed = false;
	if (me.step == CLI)
		is_over("no 'acme challenge_ready' has come for a day");
	else if (me.step == DELAY)
		go_behind(DELAY);
	else if (failed)
		probe_failed();
	else
		probe();
}

static void go(enum step step)
{
	me.step = step;
	me.at = 0;
	me.has_failed = false;
	me.since_ms = clock_now_ms();
	switch (step) {
	case CLI:
		wait_ms(CLI_MS);
		acme_dns_wake(); /* it may have been said meanwhile */
		break;
	case DELAY:
		SAY(": waiting %llds", (long long)me.section->dns_delay_ms / 1000);
		wait_ms(me.section->dns_delay_ms);
		break;
	case PEEK:
	case DNS:
		probe();
		break;
	case NONE:
		break;
	}
}

void acme_dns_wait(acme_dns_done_fn *done)
{
	me.done = done;
	me.asker.told = told;
	timer_init(&me.timer, timer_fires);
	me.has_timer = true;
	if (me.section->challenge == ACME_PERSIST)
		go(PEEK);
	else
		go_behind(NONE);
}

void acme_dns_wake(void)
{
	if (me.step == CLI && all_are_ready())
		go_behind(CLI);
}

enum acme_said acme_dns_ready(const char *cert, const char *domain, unsigned *left)
{
	enum acme_said said = ACME_SAID_NOTHING;

	*left = 0;
	pthread_mutex_lock(&me.lock);
	for (unsigned i = 0; me.cert && strcmp(me.cert, cert) == 0 && i < me.count; i++) {
		struct record *r = &me.records[i];

		if (strcmp(r->domain, domain) == 0) {
			said = r->is_ready ? ACME_SAID_BEFORE : ACME_SAID_NOW;
			r->is_ready = true;
		}
		*left += !r->is_ready;
	}
	pthread_mutex_unlock(&me.lock);
	return said;
}
