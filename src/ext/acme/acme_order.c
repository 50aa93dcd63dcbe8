/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acme_order.c - ACME: one order, from the directory to the certificate (RFC 8555 7)
 *
 *   DIRECTORY --> NONCE --> ACCOUNT --> ORDER --> AUTH... --> (acme_dns.c waits, for DNS)
 *       --> [CHALLENGE --> POLL_AUTH]... --> FINALIZE --> POLL_ORDER --> CERTIFICATE
 *
 * Each step sends one request through the program's HTTP client and handles its answer. Answers of
 * the authority are not trusted: texts used in a message or a URL are validated first, counts and
 * sizes are bounded, and the whole order has a time limit.
 */
#include <openssl/crypto.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "codec/dns.h"
#include "codec/json.h"
#include "conf/conf.h"
#include "core/background.h"
#include "core/timer.h"
#include "expr/pattern.h"
#include "proxy/proxy.h"
#include "ask_priv.h"

#define NAMES_MAX 100         /* as many names as authorities take in one certificate */
#define ORDER_MS (10 * 60 * 1000)
#define POLL_MS 2000          /* unless Retry-After says more */
#define NONCE_TRIES 5

enum step { DIRECTORY, NONCE, ACCOUNT, ORDER, AUTH, CHALLENGE, POLL_AUTH, FINALIZE, POLL_ORDER,
	    CERTIFICATE };

struct authorization {
	char *url, *challenge, *token; /* the last two once it was read */
	bool in_map, is_valid;
	unsigned offer;                /* which of those that are offered is its challenge */
};

static struct {
	struct acme_want want;       /* its texts are owned */
	acme_done_fn *done;
	bool on;
	unsigned serial;             /* of the order: what was begun for another one is not ours */
	enum step step;
	struct acme_ask ask;
	bool is_pause;               /* nothing is under way: ask when the time is over */
	unsigned tries;
	struct timer limit;
	/* what is known so far */
	char *new_nonce, *new_account, *new_order, *kid, *order, *finalize;
	struct authorization auths[NAMES_MAX];
	unsigned auth_count, at;
	char thumbprint[64];
	EVP_PKEY *key;
	struct strbuf key_pem;
} me;

static const char *const challenge_names[] = {
	[ACME_HTTP] = "http-01", [ACME_DNS] = "dns-01", [ACME_PERSIST] = "dns-persist-01",
};

static void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* --- life ------------------------------------------------------------------------------------ */

/* Tokens are taken out of the map in force, whatever happened. */
static void leave_map(void)
{
	struct pattern_ref *map = NULL;

	if (me.want.section && me.want.section->map)
		map = pattern_ref_find(proxies_current(), me.want.section->map, false);
	for (unsigned i = 0; i < me.auth_count; i++)
		if (me.auths[i].in_map && map)
			pattern_ref_delete(map, PATTERN_NOW, slice_of(me.auths[i].token), 0);
}

static void forget(char **text)
{
	free(*text);
	*text = NULL;
}

static void end(void)
{
	leave_map();
	acme_dns_end();
	timer_cancel(&me.limit);
	acme_ask_fini(&me.ask);
	for (unsigned i = 0; i < me.auth_count; i++) {
		free(me.auths[i].url);
		free(me.auths[i].challenge);
		free(me.auths[i].token);
	}
	memset(me.auths, 0, sizeof(me.auths));
	me.auth_count = me.at = 0;
	forget(&me.new_nonce);
	forget(&me.new_account);
	forget(&me.new_order);
	forget(&me.kid);
	forget(&me.order);
	forget(&me.finalize);
	if (me.key_pem.ptr)
		OPENSSL_cleanse(me.key_pem.ptr, me.key_pem.len);
	strbuf_fini(&me.key_pem);
	EVP_PKEY_free(me.key);
	me.key = NULL;
	free((char *)(uintptr_t)me.want.name);
	free((char *)(uintptr_t)me.want.domains);
	free((char *)(uintptr_t)me.want.ips);
	config_drop(&me.want.config);
	me.want = (struct acme_want){ 0 };
	me.on = false;
}

static void fail(const char *fmt, ...)
{
	int64_t pause_s = (me.ask.retry_ms + 999) / 1000;
	char why[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	for (char *p = why; *p; p++) /* a log line is one line */
		if ((unsigned char)*p < 32 || *p == 127)
			*p = ' ';
	end();
	me.done(NULL, NULL, why, pause_s);
}

bool acme_order_is_on(void)
{
	return me.on;
}

void acme_order_stop(void)
{
	if (me.on)
		end();
}

/* --- asking ---------------------------------------------------------------------------------- */

static char *text_at(const char *path)
{
	return acme_text_at(&me.ask, path);
}

static bool take_url(const char *path, char **out)
{
	return acme_take_url(&me.ask, path, out);
}

static bool text_is(const char *path, const char *wanted)
{
	return acme_text_is(&me.ask, path, wanted);
}

/* What the authority says is wrong, with the step where it did. */
static void refused(const char *what)
{
	char *detail = text_at("$.detail");
	char *error = detail ? NULL : text_at("$.error.detail");

	fail("%s: %u%s%.500s", what, me.ask.status, detail || error ? " " : "",
	     detail ? detail : error ? error : "");
	free(detail);
	free(error);
}

static void ask(enum step step, const char *url, enum acme_method method)
{
	const char *why;

	me.step = step;
	me.tries = 0;
	why = acme_ask(&me.ask, url, method);
	if (why)
		fail("%.300s: %s", url, why);
}

/* POST-as-GET. */
static void ask_empty(enum step step, const char *url)
{
	me.ask.payload.len = 0;
	ask(step, url, ACME_POST);
}

/* Other certificates wait for the end of the order: one that has to wait longer than an order may
 * take ends, and is begun again when the authority wants to be asked.
 */
static void ask_later(enum step step)
{
	int64_t ms = me.ask.retry_ms > POLL_MS ? me.ask.retry_ms : POLL_MS;

	if (ms >= ORDER_MS) {
		fail("the authority wants to be asked again in %llds only", (long long)ms / 1000);
		return;
	}
	me.step = step;
	me.is_pause = true;
	acme_ask_pause(&me.ask, ms);
}

/* --- the steps ------------------------------------------------------------------------------- */

static void take_directory(void)
{
	if (me.ask.status != 200 || !take_url("$.newNonce", &me.new_nonce) ||
	    !take_url("$.newAccount", &me.new_account) || !take_url("$.newOrder", &me.new_order))
		refused("the directory is none");
	else
		ask(NONCE, me.new_nonce, ACME_HEAD);
}

static void take_nonce(void)
{
	const struct acme_section *s = me.want.section;
	char why[300] = "out of memory";
	bool good;

	if (me.ask.status / 100 != 2 || !me.ask.nonce[0]) {
		refused("no nonce");
		return;
	}
	me.ask.payload.len = 0;
	good = strbuf_add_str(&me.ask.payload, "{\"termsOfServiceAgreed\":true") &&
	       (!s->contact || strbuf_printf(&me.ask.payload, ",\"contact\":[\"mailto:%s\"]",
					     s->contact)) &&
	       acme_bind(&me.ask.payload, s, me.new_account, why, sizeof(why)) &&
	       strbuf_add_char(&me.ask.payload, '}');
	if (good)
		ask(ACCOUNT, me.new_account, ACME_POST);
	else
		fail("the account: %s", why);
}

static bool add_identifiers(const char *kind, const char *list)
{
	while (list && *list) {
		size_t len = strcspn(list, ",");
		bool first = me.ask.payload.ptr[me.ask.payload.len - 1] == '[';

		if (len && !strbuf_printf(&me.ask.payload, "%s{\"type\":\"%s\",\"value\":\"%.*s\"}",
					  first ? "" : ",", kind, (int)len, list))
			return false;
		list += len;
		list += *list == ',';
	}
	return true;
}

static void take_account(void)
{
	const struct acme_section *s = me.want.section;

	if (me.ask.status / 100 != 2 || !me.ask.location[0]) {
		refused("the account is refused");
		return;
	}
	me.ask.kid = me.kid = strdup(me.ask.location);
	me.ask.payload.len = 0;
	if (me.kid && strbuf_add_str(&me.ask.payload, "{\"identifiers\":[") &&
	    add_identifiers("dns", me.want.domains) && add_identifiers("ip", me.want.ips) &&
	    strbuf_add_char(&me.ask.payload, ']') &&
	    (!s->profile || strbuf_printf(&me.ask.payload, ",\"profile\":\"%s\"", s->profile)) &&
	    strbuf_add_char(&me.ask.payload, '}'))
		ask(ORDER, me.new_order, ACME_POST);
	else
		fail("out of memory");
}

static void finalize(void);

/* Answers the challenges that are left, one after the other. */
static void next_challenge(void)
{
	while (me.at < me.auth_count && me.auths[me.at].is_valid)
		me.at++;
	if (me.at == me.auth_count) {
		finalize();
		return;
	}
	me.ask.payload.len = 0;
	if (strbuf_add_str(&me.ask.payload, "{}"))
		ask(CHALLENGE, me.auths[me.at].challenge, ACME_POST);
	else
		fail("out of memory");
}

static void records_are_there(const char *why)
{
	if (why) {
		fail("%s: %s", challenge_names[me.want.section->challenge], why);
		return;
	}
	timer_set(&me.limit, clock_now_ms() + ORDER_MS);
	next_challenge();
}

static void next_authorization(void)
{
	if (me.at < me.auth_count) {
		ask_empty(AUTH, me.auths[me.at].url);
		return;
	}
	me.at = 0;
	if (me.want.section->challenge == ACME_HTTP) {
		next_challenge();
		return;
	}
	timer_cancel(&me.limit); /* the writer of records takes the time that it takes */
	acme_dns_wait(records_are_there);
}

static void take_order(void)
{
	struct slice value;
	char path[64];
	bool good;

	if (me.ask.status != 201 || !me.ask.location[0] || !take_url("$.finalize", &me.finalize)) {
		refused("the order is refused");
		return;
	}
	me.order = strdup(me.ask.location);
	good = me.order != NULL;
	for (unsigned i = 0; good && i < NAMES_MAX; i++) {
		snprintf(path, sizeof(path), "$.authorizations[%u]", i);
		if (json_find(strbuf_slice(&me.ask.body), slice_of(path), &value) == JSON_NONE)
			break;
		me.auth_count = i + 1; /* end() frees what it has, whatever that is */
		good = take_url(path, &me.auths[i].url);
	}
	if (good && me.auth_count)
		next_authorization();
	else
		refused("the order has no authorizations");
}

/* The challenge of the answer that we can meet: its URL and token. */
static bool take_challenge(struct authorization *a)
{
	char path[64];

	for (unsigned i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "$.challenges[%u].type", i);
		if (!text_is(path, challenge_names[me.want.section->challenge]))
			continue;
		snprintf(path, sizeof(path), "$.challenges[%u].token", i);
		free(a->token);
		a->token = text_at(path);
		if (me.want.section->challenge != ACME_PERSIST &&
		    !(a->token && acme_is_token(slice_of(a->token))))
			return false;
		a->offer = i;
		snprintf(path, sizeof(path), "$.challenges[%u].url", i);
		return take_url(path, &a->challenge);
	}
	return false;
}

static bool enter_map(struct authorization *a)
{
	const char *name = me.want.section->map;
	struct pattern_ref *map = name ? pattern_ref_find(proxies_current(), name, false) : NULL;
	struct pattern_error error;

	if (!name)
		return true; /* the answer does not need it */
	a->in_map = map && pattern_ref_insert(map, PATTERN_NOW, slice_of(a->token),
					      slice_of(me.thumbprint), &error);
	return a->in_map;
}

/* The value for dns-persist-01: the first issuer that is offered, and the account. */
static bool persist_value(const struct authorization *a, struct strbuf *out)
{
	char path[80], *issuer;
	struct slice value;
	bool good;

	snprintf(path, sizeof(path), "$.challenges[%u].issuer-domain-names[0]", a->offer);
	issuer = text_at(path);
	good = issuer && dns_name_is_valid(slice_of(issuer)) &&
	       strbuf_printf(out, "%s; accounturi=%s", issuer, me.kid) &&
	       (json_find(strbuf_slice(&me.ask.body), SLICE("$.wildcard"), &value) != JSON_TRUE ||
		strbuf_add_str(out, "; policy=wildcard"));
	free(issuer);
	return good;
}

/* Is it a name of the order, without the "*." of a wildcard? The authority shall not have records
 * of other names written.
 */
static bool is_ordered(struct slice domain)
{
	const char *list = me.want.domains;

	while (*list) {
		struct slice name = slice_make(list, strcspn(list, ","));

		list += name.len;
		list += *list == ',';
		if (slice_starts(name, SLICE("*.")))
			name = slice_sub(name, 2, name.len);
		if (slice_eq_nocase(name, domain))
			return true;
	}
	return false;
}

/* Tells the writer of DNS records which one is wanted. False: fail() was told why. */
static bool want_record(const struct authorization *a)
{
	bool is_persist = me.want.section->challenge == ACME_PERSIST, good;
	char *domain = text_at("$.identifier.value");
	struct strbuf value;

	strbuf_init(&value);
	good = domain && dns_name_is_valid(slice_of(domain)) && is_ordered(slice_of(domain)) &&
	       (is_persist ? persist_value(a, &value)
			   : acme_dns_value(&value, a->token, me.thumbprint)) &&
	       strbuf_add_char(&value, 0);
	if (!good)
		refused("no record can meet the challenge");
	else if (!(good = acme_dns_add(domain, is_persist ? NULL : value.ptr)))
		fail("out of memory");
	else
		acme_dns_announce(domain, value.ptr, me.thumbprint, strbuf_slice(&me.ask.body));
	strbuf_fini(&value);
	free(domain);
	return good;
}

static void take_authorization(void)
{
	struct authorization *a = &me.auths[me.at];
	enum acme_challenge kind = me.want.section->challenge;

	a->is_valid = me.ask.status == 200 && text_is("$.status", "valid");
	if (!a->is_valid) {
		if (me.ask.status != 200 || !text_is("$.status", "pending") || !take_challenge(a)) {
			char what[64];

			snprintf(what, sizeof(what), "no challenge %s is offered",
				 challenge_names[kind]);
			refused(what);
			return;
		}
		if (kind == ACME_HTTP && !enter_map(a)) {
			fail("the map '%s' is not there: no rule uses it", me.want.section->map);
			return;
		}
		if (kind != ACME_HTTP && !want_record(a))
			return;
	}
	me.at++;
	next_authorization();
}

static void take_answer_to_challenge(void)
{
	if (me.ask.status / 100 == 2)
		ask_later(POLL_AUTH);
	else
		refused("the challenge is refused");
}

/* Why a challenge was not met stands with it. */
static void challenge_failed(void)
{
	char path[64], *detail = NULL;

	for (unsigned i = 0; i < 20 && !detail; i++) {
		snprintf(path, sizeof(path), "$.challenges[%u].error.detail", i);
		detail = text_at(path);
	}
	fail("the challenge failed: %.500s", detail ? detail : "no reason is told");
	free(detail);
}

static void take_poll_of_authorization(void)
{
	if (me.ask.status / 100 != 2)
		refused("the authorization is refused");
	else if (text_is("$.status", "valid")) {
		me.auths[me.at].is_valid = true;
		next_challenge();
	} else if (text_is("$.status", "pending") || text_is("$.status", "processing")) {
		ask_later(POLL_AUTH);
	} else {
		challenge_failed();
	}
}

/* --- the key --------------------------------------------------------------------------------- */

/* Made apart: RSA takes long. */
struct key_work {
	struct acme_section how;
	struct config *config; /* counted: its texts */
	unsigned serial;
	EVP_PKEY *key;
};

static void make_key(void *ctx)
{
	struct key_work *w = ctx;

	w->key = acme_key_new(&w->how);
}

static void send_request(void)
{
	me.ask.payload.len = me.key_pem.len = 0;
	if (me.key && acme_key_pem(&me.key_pem, me.key) &&
	    strbuf_add_str(&me.ask.payload, "{\"csr\":\"") &&
	    acme_csr(&me.ask.payload, me.key, me.want.domains, me.want.ips) &&
	    strbuf_add_str(&me.ask.payload, "\"}"))
		ask(FINALIZE, me.finalize, ACME_POST);
	else
		fail("cannot make the key and the request for the certificate");
}

static void key_is_made(void *ctx)
{
	struct key_work *w = ctx;

	if (me.on && me.serial == w->serial) {
		me.key = w->key;
		w->key = NULL;
		send_request();
	}
	EVP_PKEY_free(w->key);
	config_drop(&w->config);
	free(w);
}

static void finalize(void)
{
	struct key_work *w;

	if (me.key) { /* reuse-key */
		send_request();
		return;
	}
	w = calloc(1, sizeof(*w));
	if (w) {
		w->how = *me.want.section;
		w->config = config_take(me.want.config);
		w->serial = me.serial;
	}
	if (w && background_run(make_key, key_is_made, w))
		return;
	if (w)
		config_drop(&w->config);
	free(w);
	fail("out of memory");
}

/* --- the end --------------------------------------------------------------------------------- */

static void take_poll_of_order(void)
{
	char *url = NULL;

	if (me.ask.status / 100 != 2)
		refused("the order fails");
	else if (text_is("$.status", "valid") && take_url("$.certificate", &url))
		ask_empty(CERTIFICATE, url);
	else if (text_is("$.status", "processing") || text_is("$.status", "ready") ||
		 text_is("$.status", "pending"))
		ask_later(POLL_ORDER);
	else
		refused("the order fails");
	free(url);
}

static void take_certificate(void)
{
	struct strbuf crt, key;

	if (me.ask.status != 200 || !strbuf_add_char(&me.ask.body, 0)) {
		refused("no certificate");
		return;
	}
	me.ask.body.len--;
	if (strlen(me.ask.body.ptr) != me.ask.body.len || !strbuf_add_char(&me.key_pem, 0)) {
		fail("what came is no certificate");
		return;
	}
	crt = me.ask.body;
	key = me.key_pem;
	strbuf_init(&me.ask.body);
	strbuf_init(&me.key_pem);
	end();
	me.done(crt.ptr, key.ptr, NULL, 0);
	OPENSSL_cleanse(key.ptr, key.len);
	strbuf_fini(&crt);
	strbuf_fini(&key);
}

static void (*const takes[])(void) = {
	[DIRECTORY] = take_directory, [NONCE] = take_nonce, [ACCOUNT] = take_account,
	[ORDER] = take_order, [AUTH] = take_authorization, [CHALLENGE] = take_answer_to_challenge,
	[POLL_AUTH] = take_poll_of_authorization, [FINALIZE] = take_poll_of_order,
	[POLL_ORDER] = take_poll_of_order, [CERTIFICATE] = take_certificate,
};

static bool is_bad_nonce(void)
{
	return me.ask.method == ACME_POST && me.ask.status == 400 && me.ask.nonce[0] &&
	       text_is("$.type", "urn:ietf:params:acme:error:badNonce") &&
	       ++me.tries < NONCE_TRIES;
}

static void ask_again(void)
{
	const char *why = acme_ask_again(&me.ask);

	if (why)
		fail("%.300s: %s", me.ask.url, why);
}

/* An answer is there, or the time to ask again. */
static void answered(struct acme_ask *a)
{
	if (!a->url) {
		ask(DIRECTORY, me.want.section->directory, ACME_GET);
	} else if (me.is_pause) {
		me.is_pause = false;
		ask_empty(me.step, me.step == POLL_AUTH ? me.auths[me.at].url : me.order);
	} else if (!a->whole || !a->status) {
		fail("%.300s: no whole answer%s", a->url, a->too_large ? ", it is too large" : "");
	} else if (is_bad_nonce()) {
		ask_again();
	} else if (me.step > NONCE && me.step != CERTIFICATE && !a->nonce[0]) {
		refused("an answer without nonce");
	} else {
		takes[me.step]();
	}
}

static void time_is_over(struct timer *t)
{
	fail("%.300s: the order takes too long", me.ask.url ? me.ask.url : "");
}

bool acme_order_begin(const struct acme_want *w, acme_done_fn *done)
{
	struct strbuf thumbprint;
	bool good;

	strbuf_init_fixed(&thumbprint, me.thumbprint, sizeof(me.thumbprint));
	good = acme_thumbprint(&thumbprint, w->section->account);
	me.want = (struct acme_want){
		.config = config_take(w->config), .section = w->section,
		.name = strdup(w->name), .domains = strdup(w->domains ? w->domains : ""),
		.ips = strdup(w->ips ? w->ips : ""),
	};
	me.done = done;
	me.on = true;
	me.serial++;
	acme_ask_init(&me.ask, answered);
	me.ask.account = w->section->account;
	me.is_pause = false;
	strbuf_init(&me.key_pem);
	timer_init(&me.limit, time_is_over);
	if (!good || !me.want.name || !me.want.domains || !me.want.ips) {
		end();
		return false;
	}
	acme_dns_begin(me.want.section, me.want.name);
	timer_set(&me.limit, clock_now_ms() + ORDER_MS);
	me.key = w->key ? acme_key_of_pem(slice_of(w->key)) : NULL;
	acme_ask_pause(&me.ask, 0);
	return true;
}
