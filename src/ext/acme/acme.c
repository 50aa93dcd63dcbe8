/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acme.c - edge file: sections acme, acme.scheduler, acme renew, acme status
 *
 * Decides when certificates are due; acme_order.c gets them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/module.h"
#include "base/slot.h"
#include "client/http_client.h"
#include "conf/conf.h"
#include "core/task.h"
#include "core/thread.h"
#include "core/timer.h"
#include "ctl/ctl.h"
#include "expr/pattern.h"
#include "ext/acme.h"
#include "log/log.h"
#include "proxy/proxy.h"
#include "tls/tls.h"
#include "acme_priv.h"

#define DAY_S 86400
#define LOOK_S (12 * 3600)   /* between looks at all certificates */
#define RETRY_S 60           /* after the first failure; twice as long after each further one */
#define RETRY_MAX_S (6 * 3600)
#define REST_S 3600          /* between two certificates of one name, however short they last */

/* What a configuration says. */
struct acme_conf {
	struct list sections;
	bool is_off;             /* acme.scheduler off */
};

static void conf_slot_fini(void *data)
{
	struct acme_conf *c = data;
	struct acme_section *s;

	list_for_each(s, &c->sections, link)
		EVP_PKEY_free(s->account);
}

static bool conf_slot_init(void *data)
{
	list_init(&((struct acme_conf *)data)->sections);
	return true;
}

static struct slot acme_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct acme_conf), .init = conf_slot_init,
	.fini = conf_slot_fini,
};

static struct acme_conf *acme_of(const struct config *cfg)
{
	return slot_of(&acme_slot, config_slots(cfg));
}

static struct acme_section *section_find(const struct config *cfg, const char *name)
{
	struct acme_section *s;

	list_for_each(s, &acme_of(cfg)->sections, link)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

/* --- jobs: of the process; the lock is for commands of other threads ------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list jobs = { &jobs, &jobs };
static struct acme_job *running;
static struct task *work;      /* on thread 0; NULL before the start */
static struct timer timer;

static uint64_t now_s(void)
{
	return clock_wall_us() / 1000000;
}

static void say(enum log_level level, const char *name, const char *what, const char *more)
{
	log_printf(proxies_current(), NULL, level, "acme: %s: %s%s", name, what, more);
}

/* Under the lock. */
static struct acme_job *job_find(const char *name)
{
	struct acme_job *j;

	list_for_each(j, &jobs, link)
		if (strcmp(j->name, name) == 0)
			return j;
	return NULL;
}

static struct acme_job *job_get(const char *name)
{
	struct acme_job *j = job_find(name);

	if (j)
		return j;
	j = calloc(1, sizeof(*j));
	if (j)
		j->name = strdup(name);
	if (!j || !j->name) {
		free(j);
		return NULL;
	}
	list_append(&jobs, &j->link);
	return j;
}

/* When the authority should be asked for another one: with a twelfth of its time left. */
static uint64_t due_of(const struct tls_acme_cert *c)
{
	int64_t early = c->not_before_s ? (c->not_after_s - c->not_before_s) / 12 : 7 * DAY_S;

	if (!c->not_after_s || c->not_after_s <= early)
		return 1;
	return (uint64_t)(c->not_after_s - early);
}

static void schedule_one(void *ctx, const struct tls_acme_cert *c)
{
	const struct acme_conf *conf = ctx;
	struct acme_job *j;

	pthread_mutex_lock(&lock);
	j = job_get(c->name);
	if (j)
		j->is_wanted = true;
	if (j && j->state != ACME_RUNNING && !j->failures) {
		j->due_s = conf->is_off ? 0
			: c->acme->is_temporary && !j->issued_crt ? 1 : due_of(c);
		if (j->due_s && j->due_s < j->rest_s)
			j->due_s = j->rest_s;
		j->state = conf->is_off ? ACME_STOPPED : ACME_SCHEDULED;
	}
	pthread_mutex_unlock(&lock);
}

/* --- one after the other, on thread 0 -------------------------------------------------------- */

/* The texts of a certificate live in its generation. */
static void search_one(void *ctx, const struct tls_acme_cert *c)
{
	struct tls_acme_cert *found = ctx;

	if (strcmp(c->name, found->name) != 0)
		return;
	found->acme = c->acme;
	found->not_before_s = c->not_before_s;
	found->not_after_s = c->not_after_s;
}

static void finished(const char *crt, const char *key, const char *why, int64_t pause_s);

/* False: there is no such certificate, or it cannot be begun. */
static bool job_begin(struct acme_job *j)
{
	struct config *cfg = proxies_current();
	struct tls_acme_cert found = { .name = j->name };
	struct acme_want want = { .config = cfg, .name = j->name };
	struct strbuf key;
	bool good;

	tls_acme_each(cfg, search_one, &found);
	want.section = found.acme ? section_find(cfg, found.acme->section) : NULL;
	if (!want.section || !want.section->account)
		return false;
	want.domains = found.acme->domains;
	want.ips = found.acme->ips;
	strbuf_init(&key);
	if (want.section->reuse_key && !(found.acme->is_temporary && !j->issued_crt) &&
	    tls_cert_key(cfg, j->name, &key) && strbuf_add_char(&key, 0))
		want.key = key.ptr;
	good = acme_order_begin(&want, finished);
	if (key.ptr)
		OPENSSL_cleanse(key.ptr, key.len);
	strbuf_fini(&key);
	return good;
}

static void job_failed(struct acme_job *j, const char *why, int64_t pause_s)
{
	uint64_t pause = (uint64_t)RETRY_S << (j->failures < 10 ? j->failures : 10);

	if (pause > RETRY_MAX_S)
		pause = RETRY_MAX_S;
	if (pause < (uint64_t)pause_s)
		pause = (uint64_t)pause_s;
	pthread_mutex_lock(&lock);
	j->failures++;
	j->due_s = acme_of(proxies_current())->is_off ? 0 : now_s() + pause;
	j->state = j->due_s ? ACME_SCHEDULED : ACME_STOPPED;
	pthread_mutex_unlock(&lock);
	say(LOG_LVL_ERR, j->name, "cannot get a certificate: ", why);
}

/* Puts what was issued in force. False: <why>. */
static bool put_in_force(struct config *cfg, const struct acme_job *j, char *why, size_t size)
{
	struct tls_cert_texts texts = { .crt = slice_of(j->issued_crt),
					.key = slice_of(j->issued_key) };

	return tls_cert_set(cfg, j->name, &texts, why, size);
}

/* A program that keeps certificates in files may fetch it now. */
static void tell_newcert(const char *name)
{
	struct strbuf event;

	strbuf_init(&event);
	if (strbuf_printf(&event, "acme newcert %s\n", name))
		acme_dns_tell(strbuf_slice(&event));
	strbuf_fini(&event);
}

static void look(void);

static void key_free(char *key)
{
	if (key)
		OPENSSL_cleanse(key, strlen(key));
	free(key);
}

static void finished(const char *crt, const char *key, const char *why, int64_t pause_s)
{
	struct acme_job *j = running;
	char *old_crt = j->issued_crt, *old_key = j->issued_key;
	char text[512] = "out of memory";
	bool good = false;

	running = NULL;
	if (crt) {
		j->issued_crt = strdup(crt);
		j->issued_key = strdup(key);
		good = j->issued_crt && j->issued_key &&
		       put_in_force(proxies_current(), j, text, sizeof(text));
		if (!good) {
			free(j->issued_crt);
			key_free(j->issued_key);
			j->issued_crt = old_crt;
			j->issued_key = old_key;
		} else {
			free(old_crt);
			key_free(old_key);
		}
	}
	if (good) {
		pthread_mutex_lock(&lock);
		j->failures = 0;
		j->state = ACME_STOPPED;
		j->rest_s = now_s() + REST_S;
		pthread_mutex_unlock(&lock);
		say(LOG_LVL_NOTICE, j->name, "Successful update of the certificate.", "");
		tell_newcert(j->name);
	} else {
		job_failed(j, crt ? text : why, pause_s);
	}
	look();
}

/* Begins what is due, and sleeps until something is. */
static void look(void)
{
	struct config *cfg = proxies_current();
	uint64_t now = now_s(), next = now + LOOK_S;
	struct acme_job *j, *first = NULL;

	pthread_mutex_lock(&lock);
	list_for_each(j, &jobs, link)
		j->is_wanted = false;
	pthread_mutex_unlock(&lock);
	tls_acme_each(cfg, schedule_one, acme_of(cfg));
	pthread_mutex_lock(&lock);
	list_for_each(j, &jobs, link) {
		if (!j->is_wanted) /* a reload has left it out */
			j->due_s = 0;
		if (!j->due_s)
			continue;
		if (j->due_s <= now && !first)
			first = j;
		else if (j->due_s < next)
			next = j->due_s > now ? j->due_s : now + 1;
	}
	if (first && !running && !acme_order_is_on()) {
		running = first;
		first->state = ACME_RUNNING;
		first->due_s = 0;
	} else {
		first = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (first)
		say(LOG_LVL_NOTICE, first->name, "Starting update of the certificate.", "");
	if (first && !job_begin(first)) {
		running = NULL;
		job_failed(first, "it has no section acme any more, or there is no memory", 0);
	}
	timer_set(&timer, clock_now_ms() + (next - now) * 1000);
}

static void timer_fires(struct timer *t)
{
	look();
}

static void work_runs(struct task *t, void *ctx, unsigned why)
{
	acme_dns_wake();
	look();
}

/* --- commands -------------------------------------------------------------------------------- */

/* Marks the job as due. False: no memory. */
static bool job_want(const char *name)
{
	struct acme_job *j;

	pthread_mutex_lock(&lock);
	j = job_get(name);
	if (j && j->state != ACME_RUNNING) {
		j->due_s = 1;
		j->failures = j->failures ? j->failures : 1; /* look() leaves its date as it is */
		j->state = ACME_SCHEDULED;
	}
	pthread_mutex_unlock(&lock);
	return j;
}

static enum ctl_step renew(struct ctl_request *rq)
{
	const char *name = rq->at < rq->count ? rq->words[rq->at++] : NULL;
	struct tls_acme_cert found = { .name = name };

	if (name)
		tls_acme_each(proxies_current(), search_one, &found);
	if (!name)
		ctl_error(rq, "'acme renew' expects a certificate name.");
	else if (!found.acme)
		ctl_error(rq, "Can't find the certificate '%s' among those of ACME.", name);
	else if (!job_want(name))
		ctl_error(rq, "Out of memory.");
	else
		task_wake(work, TASK_WOKEN_MSG);
	return CTL_DONE;
}

static enum ctl_step challenge_ready(struct ctl_request *rq)
{
	const char *cert, *domain;
	enum acme_said said;
	unsigned left;

	if (rq->count - rq->at < 3 || strcmp(rq->words[rq->at + 1], "domain") != 0) {
		ctl_error(rq, "Not enough parameters: \"acme challenge_ready <certfile> domain "
			  "<domain>\"");
		return CTL_DONE;
	}
	cert = rq->words[rq->at];
	domain = rq->words[rq->at + 2];
	rq->at += 3;
	said = acme_dns_ready(cert, domain, &left);
	if (said == ACME_SAID_NOTHING)
		ctl_error(rq, "Couldn't find an ACME task using crt \"%s\" and dns \"%s\" to "
			  "set as ready!", cert, domain);
	else if (said == ACME_SAID_BEFORE)
		ctl_error(rq, "ACME challenge for crt \"%s\" and dns \"%s\" was already "
			  "READY !", cert, domain);
	if (said != ACME_SAID_NOW)
		return CTL_DONE;
	task_wake(work, TASK_WOKEN_MSG);
	if (left)
		ctl_say(rq, "1 '%s' challenge(s) ready! Remaining challenges to deploy: %u", domain,
			 left);
	else
		ctl_say(rq, "1 '%s' challenge(s) ready! All challenges ready, starting challenges "
			 "validation!", domain);
	return CTL_DONE;
}

static void put_date(struct strbuf *out, uint64_t s)
{
	time_t t = (time_t)s;
	char text[32] = "-";
	struct tm tm;

	if (s && gmtime_r(&t, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	strbuf_add_str(out, text);
}

static void put_left(struct strbuf *out, uint64_t at, uint64_t now)
{
	uint64_t left = at > now ? at - now : 0;

	strbuf_printf(out, "%llud %lluh%02llum%02llus", (unsigned long long)(left / DAY_S),
		      (unsigned long long)(left / 3600 % 24), (unsigned long long)(left / 60 % 60),
		      (unsigned long long)(left % 60));
}

static void status_of(void *ctx, const struct tls_acme_cert *c)
{
	static const char *const states[] = {
		[ACME_STOPPED] = "Stopped", [ACME_SCHEDULED] = "Scheduled",
		[ACME_RUNNING] = "Running",
	};
	struct strbuf *out = ctx;
	uint64_t now = now_s(), due;
	const struct acme_job *j;
	enum acme_state state;

	pthread_mutex_lock(&lock);
	j = job_find(c->name);
	state = j ? j->state : ACME_STOPPED;
	due = j && state == ACME_SCHEDULED ? (j->due_s > 1 ? j->due_s : now) : 0;
	pthread_mutex_unlock(&lock);
	strbuf_printf(out, "%s\t%s\t%s\t", c->name, c->acme->section, states[state]);
	put_date(out, (uint64_t)c->not_after_s);
	strbuf_add_char(out, '\t');
	put_left(out, (uint64_t)c->not_after_s, now);
	strbuf_add_char(out, '\t');
	put_date(out, due);
	strbuf_add_char(out, '\t');
	put_left(out, due, now);
	strbuf_add_char(out, '\n');
}

static enum ctl_step status(struct ctl_request *rq)
{
	strbuf_add_str(rq->out, "# certificate\tsection\tstate\texpiration date (UTC)\texpires in"
				"\tscheduled date (UTC)\tscheduled in\n");
	tls_acme_each(proxies_current(), status_of, rq->out);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "acme renew", .level = CTL_ADMIN, .syntax = "<certificate>", .run = renew,
	  .help = "request a new certificate from its authority now" },
	{ .words = "acme challenge_ready", .level = CTL_ADMIN,
	  .syntax = "<certificate> domain <domain>", .run = challenge_ready,
	  .help = "report that the TXT record of a challenge exists" },
	{ .words = "acme status", .run = status,
	  .help = "list ACME certificates, and when they will be renewed" },
	{ 0 }
};

/* --- the section ----------------------------------------------------------------------------- */

static bool section_open(struct conf_line *l)
{
	struct acme_section *s;

	if (!conf_experimental(l->cfg))
		return conf_error(l, 0, NULL, "section 'acme' is experimental, must be allowed via "
				  "a global 'expose-experimental-directives'.");
	if (!*l->section_name)
		return conf_error(l, 0, NULL, "'acme' expects a name.");
	if (section_find(l->cfg, l->section_name))
		return conf_error(l, 1, NULL, "acme section '%s' already exists.", l->section_name);
	s = arena_zalloc(&l->cfg->arena, sizeof(*s));
	if (!s)
		return conf_error(l, 0, NULL, "out of memory.");
	s->name = conf_strdup(l->cfg, l->section_name);
	s->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : "";
	s->line = l->place.line;
	s->curves = "P-384";
	s->bits = 2048;
	s->eab_bits = 256;
	s->dns_delay_ms = 30000;
	s->dns_timeout_ms = 600000;
	s->account_key = arena_printf(&l->cfg->arena, "%s.account.key", s->name);
	list_append(&acme_of(l->cfg)->sections, &s->link);
	http_client_want_tls(l->cfg);
	l->object = s;
	return true;
}

/* keyword->offset: where the text goes; into JSON, so nothing that ends a string there. */
static bool parse_text(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word || !*word || strpbrk(word, "\"\\\n\r"))
		return conf_error(l, l->at - !!word, NULL, "'%s' expects a text without quotes.",
				  l->keyword->words);
	*(const char **)((char *)l->object + l->keyword->offset) = conf_strdup(l->cfg, word);
	return conf_take_end(l);
}

static bool parse_challenge(struct conf_line *l)
{
	static const char *const kinds[] = { "http-01", "dns-01", "dns-persist-01" };
	struct acme_section *s = l->object;
	const char *word = conf_next(l);

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i], word) == 0) {
			s->challenge = (enum acme_challenge)i;
			return conf_take_end(l);
		}
	return conf_error(l, l->at - 1, NULL, "'challenge' must be one of the following: http-01, "
			  "dns-01, dns-persist-01");
}

static bool parse_ready(struct conf_line *l)
{
	static const struct {
		const char *word;
		unsigned bit;
	} kinds[] = {
		{ "cli", ACME_READY_CLI }, { "delay", ACME_READY_DELAY }, { "dns", ACME_READY_DNS },
		{ "none", 0 },
	};
	struct acme_section *s = l->object;
	const char *at = conf_next(l);
	bool none = false;

	s->ready = 0;
	s->ready_is_set = true;
	do {
		struct slice word = slice_make(at, strcspn(at, ","));
		size_t i = 0;

		while (i < ARRAY_LEN(kinds) && !slice_eq(word, slice_of(kinds[i].word)))
			i++;
		if (i == ARRAY_LEN(kinds))
			return conf_error(l, l->at - 1, NULL, "'challenge-ready' requires "
					  "parameters separated by commas: 'cli', 'dns', 'delay' "
					  "or 'none'");
		s->ready |= kinds[i].bit;
		none |= !kinds[i].bit;
		at += word.len;
	} while (*at++ == ',');
	if (none && s->ready)
		return conf_error(l, l->at - 1, NULL, "'challenge-ready' can't combine 'none' with "
				  "other keywords.");
	return conf_take_end(l);
}

/* keyword->offset: of the milliseconds. */
static bool parse_time(struct conf_line *l)
{
	return conf_take_time_ms(l, (int64_t *)((char *)l->object + l->keyword->offset)) &&
	       conf_take_end(l);
}

/* keyword->offset: where the text goes, which may have any character that is printed. */
static bool parse_words(struct conf_line *l)
{
	const char *word = conf_next(l);

	for (const char *p = word; *p; p++)
		if ((unsigned char)*p < 32 || *p == 127)
			return conf_error(l, l->at - 1, NULL, "'%s' expects a text of one line.",
					  l->keyword->words);
	*(const char **)((char *)l->object + l->keyword->offset) = conf_strdup(l->cfg, word);
	return conf_take_end(l);
}

static bool parse_keytype(struct conf_line *l)
{
	struct acme_section *s = l->object;
	const char *word = conf_next(l);

	if (strcmp(word, "RSA") != 0 && strcmp(word, "ECDSA") != 0)
		return conf_error(l, l->at - 1, NULL, "'keytype' expects 'RSA' or 'ECDSA'.");
	s->type = *word == 'R' ? ACME_RSA : ACME_ECDSA;
	return conf_take_end(l);
}

static bool parse_bits(struct conf_line *l)
{
	struct acme_section *s = l->object;

	return conf_take_int(l, 1024, 16384, &s->bits) && conf_take_end(l);
}

static bool parse_curves(struct conf_line *l)
{
	static const char *const known[] = { "P-256", "P-384", "P-521" };
	struct acme_section *s = l->object;
	const char *word = conf_next(l);

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i], word) == 0) {
			s->curves = known[i];
			return conf_take_end(l);
		}
	return conf_error(l, l->at - 1, NULL, "'curves' expects 'P-256', 'P-384' or 'P-521'.");
}

static bool parse_reuse(struct conf_line *l)
{
	struct acme_section *s = l->object;
	const char *word = conf_next(l);

	s->reuse_key = strcmp(word, "on") == 0;
	return s->reuse_key || strcmp(word, "off") == 0 ||
	       conf_error(l, l->at - 1, NULL, "'reuse-key' expects 'on' or 'off'.");
}

static bool parse_mac(struct conf_line *l)
{
	struct acme_section *s = l->object;
	const char *word = conf_next(l);

	s->eab_bits = strcmp(word, "HS256") == 0 ? 256 : strcmp(word, "HS384") == 0 ? 384
		      : strcmp(word, "HS512") == 0 ? 512 : 0;
	return s->eab_bits || conf_error(l, l->at - 1, NULL, "'eab-mac-alg' expects 'HS256', "
					 "'HS384' or 'HS512'.");
}

static bool parse_scheduler(struct conf_line *l)
{
	const char *word = conf_next(l);

	acme_of(l->cfg)->is_off = strcmp(word, "off") == 0;
	return acme_of(l->cfg)->is_off || strcmp(word, "auto") == 0 ||
	       conf_error(l, l->at - 1, NULL, "'acme.scheduler' expects 'auto' or 'off'.");
}

#define IN .where = CONF_OTHER, .section = "acme"
#define ONE .min_args = 1, .max_args = 1
#define TEXT(word, member, what, text) \
	{ .words = word, IN, ONE, .parse = parse_text, \
	  .offset = offsetof(struct acme_section, member), .syntax = what, .help = text }
#define TIME(word, member, text) \
	{ .words = word, IN, ONE, .parse = parse_time, .syntax = "<time>", \
	  .offset = offsetof(struct acme_section, member), .help = text }
#define WORDS(word, member, text) \
	{ .words = word, IN, ONE, .parse = parse_words, .syntax = "<text>", \
	  .offset = offsetof(struct acme_section, member), .help = text }

static const struct conf_section sections[] = {
	{ .name = "acme", .where = CONF_OTHER, .open = section_open, .syntax = "<name>",
	  .help = "an authority that gives certificates (RFC 8555)" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	{ .words = "acme.scheduler", .where = CONF_GLOBAL, ONE, .parse = parse_scheduler,
	  .syntax = "{ auto | off }", .help = "ask for certificates that are about to expire" },
	TEXT("directory", directory, "<url>", "where the authority is"),
	TEXT("account-key", account_key, "<file>", "the account's key; made if it is not there"),
	TEXT("contact", contact, "<address>", "the mail address of the account"),
	TEXT("map", map, "<map>", "where the token of a challenge finds the thumbprint"),
	TEXT("profile", profile, "<name>", "the authority's kind of certificate"),
	TEXT("eab-key-id", eab_id, "<file>", "the identifier of an external account"),
	TEXT("eab-mac-key", eab_key, "<file>", "its key, in base64url"),
	{ .words = "eab-mac-alg", IN, ONE, .parse = parse_mac,
	  .syntax = "{ HS256 | HS384 | HS512 }", .help = "how that key signs" },
	{ .words = "challenge", IN, ONE, .parse = parse_challenge,
	  .syntax = "{ http-01 | dns-01 | dns-persist-01 }",
	  .help = "how control of the names is proven to the authority" },
	{ .words = "keytype", IN, ONE, .parse = parse_keytype, .syntax = "{ RSA | ECDSA }",
	  .help = "keys of the certificates" },
	{ .words = "bits", IN, ONE, .parse = parse_bits, .syntax = "<number>",
	  .help = "length of keys of RSA" },
	{ .words = "curves", IN, ONE, .parse = parse_curves, .syntax = "{ P-256 | P-384 | P-521 }",
	  .help = "curve of keys of ECDSA" },
	{ .words = "reuse-key", IN, ONE, .parse = parse_reuse, .syntax = "{ on | off }",
	  .help = "keep the key of the certificate before" },
	{ .words = "challenge-ready", IN, ONE, .parse = parse_ready,
	  .syntax = "{ none | { cli | delay | dns }[,...] }",
	  .help = "what a challenge of DNS waits for" },
	TIME("dns-delay", dns_delay_ms, "how long 'delay' is, and between resolutions (30s)"),
	TIME("dns-timeout", dns_timeout_ms, "how long TXT records are resolved (600s)"),
	WORDS("provider-name", provider, "for the program that writes DNS records: where"),
	WORDS("acme-vars", vars, "for the program that writes DNS records: anything else"),
	{ 0 }
};

/* --- generations ----------------------------------------------------------------------------- */

#define SAY(d, s, ...) \
	diag_add(d, DIAG_ALERT, &(struct diag_place){ .file = (s)->file, .line = (s)->line }, \
		 NULL, "acme section '%s': " __VA_ARGS__)

struct check {
	struct config *cfg;
	struct diag_list *diags;
};

static void check_section(void *ctx, const struct tls_acme_cert *c)
{
	const struct check *k = ctx;

	if (!section_find(k->cfg, c->acme->section))
		diag_add(k->diags, DIAG_ALERT, &(struct diag_place){ .form = DIAG_BARE }, NULL,
			 "certificate '%s': there is no acme section '%s'.", c->name,
			 c->acme->section);
}

static void acme_check(struct config *cfg, struct diag_list *diags)
{
	struct check k = { cfg, diags };
	struct acme_section *s;

	list_for_each(s, &acme_of(cfg)->sections, link) {
		if (!s->directory)
			SAY(diags, s, "'directory' is missing.", s->name);
		if (s->challenge == ACME_HTTP && s->ready_is_set)
			SAY(diags, s, "'http-01' is not compatible with 'challenge-ready'.",
			    s->name);
		if (!s->ready_is_set)
			s->ready = s->challenge == ACME_DNS ? ACME_READY_CLI
				 : s->challenge == ACME_HTTP ? 0
				 : ACME_READY_DNS | ACME_READY_DELAY;
		if (!s->eab_id != !s->eab_key)
			SAY(diags, s, "'eab-key-id' and 'eab-mac-key' go together.", s->name);
	}
	tls_acme_each(cfg, check_section, &k);
}

/* Account keys are read, or made, while files can be. */
static bool acme_start(struct config *cfg, struct diag_list *diags)
{
	struct acme_section *s;
	char why[300];
	bool good = true;

	list_for_each(s, &acme_of(cfg)->sections, link) {
		s->account = acme_account_load(s, why, sizeof(why));
		if (!s->account)
			SAY(diags, s, "%s.", s->name, why);
		good = good && s->account;
	}
	if (!work) {
		timer_init(&timer, timer_fires);
		work = task_new(work_runs, NULL);
	}
	if (good && work && !list_is_empty(&acme_of(cfg)->sections))
		task_wake(work, TASK_WOKEN_MSG);
	return good && work;
}

/* Is the file that <next> has read a certificate that lasts longer than the one in use? */
static bool file_is_newer(struct config *next, struct config *prev, const char *name)
{
	struct tls_acme_cert read = { .name = name }, used = { .name = name };

	tls_acme_each(next, search_one, &read);
	tls_acme_each(prev, search_one, &used);
	return read.acme && !read.acme->is_temporary && read.not_after_s > used.not_after_s;
}

/* What was issued is not in the files that the next generation has read, unless it was written
 * there, or a later one was.
 */
static void acme_adopt(struct config *next, struct config *prev)
{
	struct acme_job *j;
	char why[512];

	list_for_each(j, &jobs, link) {
		if (!j->issued_crt || file_is_newer(next, prev, j->name))
			continue;
		if (!put_in_force(next, j, why, sizeof(why)))
			say(LOG_LVL_WARNING, j->name, "what was issued is not in force: ", why);
	}
}

static void acme_thread_fini(void)
{
	if (thread_id)
		return;
	acme_order_stop();
	if (work)
		timer_cancel(&timer);
	task_free(&work);
}

static void acme_fini(void)
{
	while (!list_is_empty(&jobs)) {
		struct acme_job *j = list_first(&jobs, struct acme_job, link);

		list_remove(&j->link);
		free(j->name);
		free(j->issued_crt);
		key_free(j->issued_key);
		free(j);
	}
}

static struct slot *const slots[] = { &acme_slot, NULL };

const struct module mod_acme = {
	.name = "acme", .sections = sections, .keywords = keywords, .commands = commands,
	.slots = slots, .check = acme_check, .start = acme_start, .adopt = acme_adopt,
	.thread_fini = acme_thread_fini, .fini = acme_fini,
};
