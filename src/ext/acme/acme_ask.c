/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acme_ask.c - ACME: one question to the authority, and its answer (RFC 8555 6) */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/block.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/num.h"
#include "client/http_client.h"
#include "codec/date.h"
#include "codec/json.h"
#include "proxy/proxy.h"
#include "ask_priv.h"

#define BODY_MAX (256 * 1024) /* of an answer, bytes */
#define RETRY_MAX_S 86400     /* what is said of a longer time is taken for this */

/* --- texts of the authority ------------------------------------------------------------------ */

/* Printable, and nothing that would end a string of JSON. */
static bool is_plain(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] <= 32 || (unsigned char)s.ptr[i] >= 127 ||
		    s.ptr[i] == '"' || s.ptr[i] == '\\')
			return false;
	return s.len > 0 && s.len < ACME_TEXT_MAX;
}

static bool is_url(struct slice s)
{
	return is_plain(s) && (slice_starts(s, SLICE("https://")) ||
			       slice_starts(s, SLICE("http://")));
}

bool acme_is_token(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!isalnum((unsigned char)s.ptr[i]) && s.ptr[i] != '-' && s.ptr[i] != '_')
			return false;
	return s.len > 0 && s.len < ACME_TEXT_MAX;
}

char *acme_text_at(const struct acme_ask *a, const char *path)
{
	struct slice value;
	char *out;
	long len;

	if (json_find(strbuf_slice(&a->body), slice_of(path), &value) != JSON_STRING)
		return NULL;
	out = malloc(value.len + 1);
	len = out ? json_unescape(value, out) : -1;
	if (len < 0) {
		free(out);
		return NULL;
	}
	out[len] = 0;
	return out;
}

bool acme_take_url(const struct acme_ask *a, const char *path, char **out)
{
	free(*out);
	*out = acme_text_at(a, path);
	return *out && is_url(slice_of(*out));
}

bool acme_text_is(const struct acme_ask *a, const char *path, const char *wanted)
{
	char *text = acme_text_at(a, path);
	bool same = text && strcmp(text, wanted) == 0;

	free(text);
	return same;
}

/* --- the answer ------------------------------------------------------------------------------ */

static enum inside_result call_part(struct http_call *c, struct block_queue *to)
{
	const struct acme_ask *a = c->ctx;

	return block_queue_add_copy(to, strbuf_slice(&a->body)) ? INSIDE_DONE : INSIDE_ERROR;
}

static void keep_field(const struct http_msg *m, uint8_t id, struct slice name, char *out,
		       bool (*good)(struct slice s))
{
	const struct h1_field *f = http_field_find(&m->fields, id, name);

	if (f && good(f->value))
		snprintf(out, ACME_TEXT_MAX, "%.*s", SLICE_FMT(f->value));
}

/* Retry-After: seconds, or a date (RFC 9110 10.2.3). */
static int64_t retry_ms(const struct http_msg *m)
{
	const struct h1_field *f =
		http_field_find(&m->fields, FIELD_RETRY_AFTER, slice_none());
	int64_t s = 0;

	if (!f)
		return 0;
	if (date_parse(f->value, &s))
		s -= (int64_t)(clock_wall_us() / 1000000);
	else if (!num_parse_range(f->value, 0, INT32_MAX, &s))
		return 0;
	return s <= 0 ? 0 : s < RETRY_MAX_S ? s * 1000 : (int64_t)RETRY_MAX_S * 1000;
}

static void call_head(struct http_call *c, const struct http_msg *m)
{
	struct acme_ask *a = c->ctx;

	if (m->flags & HTTP_MSG_INTERIM)
		return;
	a->status = m->status;
	a->body.len = 0; /* what was sent is not needed any more */
	keep_field(m, FIELD_OTHER, SLICE("replay-nonce"), a->nonce, acme_is_token);
	keep_field(m, FIELD_LOCATION, SLICE("location"), a->location, is_url);
	a->retry_ms = retry_ms(m);
}

static void call_data(struct http_call *c, struct block_queue *from)
{
	struct acme_ask *a = c->ctx;

	for (const struct piece *p = from->first; p && !a->too_large; p = p->next)
		a->too_large = a->body.len + p->len > BODY_MAX ||
			       !strbuf_add(&a->body, slice_make(p->ptr, p->len));
	block_queue_clear(from);
}

static void call_end(struct http_call *c, bool whole, enum stream_end why)
{
	struct acme_ask *a = c->ctx;

	a->call = NULL;
	a->whole = whole && !a->too_large;
	acme_ask_pause(a, 0); /* the next step is not for this call's stack */
}

static const struct http_call_kind call_kind = {
	.name = "ACME", .part = call_part, .head = call_head, .data = call_data, .end = call_end,
};

static void timer_fires(struct timer *t)
{
	struct acme_ask *a = container_of(t, struct acme_ask, timer);

	if (!a->call)
		a->answered(a);
}

/* --- the question ---------------------------------------------------------------------------- */

const char *acme_ask_again(struct acme_ask *a)
{
	static const char *const methods[] = {
		[ACME_GET] = "GET", [ACME_HEAD] = "HEAD", [ACME_POST] = "POST",
	};
	bool is_post = a->method == ACME_POST, good = true;
	const char *why = "out of memory";

	a->body.len = 0;
	a->status = 0;
	a->too_large = a->whole = false;
	a->location[0] = 0;
	if (is_post)
		good = acme_sign(&a->body, a->account, a->kid, a->nonce, a->url,
				 strbuf_slice(&a->payload));
	a->nonce[0] = 0; /* once only */
	a->call = good ? http_call_new(proxies_current(), &call_kind, a,
				       slice_of(methods[a->method]), slice_of(a->url), &why)
		       : NULL;
	if (!a->call)
		return why;
	http_call_be_silent(a->call);
	if (is_post && (!http_call_has_body(a->call, a->body.len) ||
			!http_msg_add_field(a->call->request, SLICE("content-type"),
					    SLICE("application/jose+json"))))
		return why;
	http_call_start(a->call);
	return NULL;
}

const char *acme_ask(struct acme_ask *a, const char *url, enum acme_method method)
{
	char *copy = strdup(url);

	free(a->url);
	a->url = copy;
	a->method = method;
	return copy ? acme_ask_again(a) : "out of memory";
}

void acme_ask_pause(struct acme_ask *a, int64_t ms)
{
	timer_set(&a->timer, clock_now_ms() + (uint64_t)ms);
}

/* --- life ------------------------------------------------------------------------------------ */

void acme_ask_init(struct acme_ask *a, void (*answered)(struct acme_ask *a))
{
	*a = (struct acme_ask){ .answered = answered };
	strbuf_init(&a->payload);
	strbuf_init(&a->body);
	timer_init(&a->timer, timer_fires);
}

void acme_ask_fini(struct acme_ask *a)
{
	timer_cancel(&a->timer);
	if (a->call)
		http_call_cancel(a->call);
	a->call = NULL;
	free(a->url);
	a->url = NULL;
	strbuf_fini(&a->payload);
	strbuf_fini(&a->body);
}
