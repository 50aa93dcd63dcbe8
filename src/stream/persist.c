/* SPDX-License-Identifier: GPL-2.0-or-later */
/* persist.c - the server that a request asks for, and changes to its cookies
 *
 * A cookie's value is "<server>", "<server>|<last>|<first>" when it has dates, or, in prefix mode,
 * "<server>~<the application's value>". Dates are Unix times in units of 4 s, five digits of
 * base 64.
 */
#include "stream/persist.h"
#include "stream/rule.h"
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/hash.h"
#include "codec/cookie.h"
#include "expr/expr.h"
#include "proxy/walk.h"
#include "stream/stick.h"
#include "table/table.h"
#include "stream/stream.h"
#include "engine_priv.h"

#define DATE_DIGITS 5
#define FUTURE_MAX_S 86400 /* a date further ahead is no date of ours */

static void settings_fini(void *data)
{
	free(((struct persist_proxy *)data)->own_key);
}

struct slot persist_proxy_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct persist_proxy), .fini = settings_fini,
};
struct slot persist_stream_slot = { .of = SLOT_STREAM, .size = sizeof(struct persist) };

struct persist_proxy *persist_of_proxy(const struct proxy *px)
{
	return slot_of(&persist_proxy_slot, proxy_slots(px));
}

/* What a stream found out. */
static struct persist *persist_of(const struct stream *s)
{
	return slot_of(&persist_stream_slot, stream_slots((struct stream *)(uintptr_t)s));
}

void persist_see(const struct stream *s)
{
	server_see(persist_of(s)->wanted);
}

/* --- values ----------------------------------------------------------------------------------- */

static bool is_dynamic(const struct persist_proxy *pp)
{
	return __atomic_load_n(&pp->is_dynamic, __ATOMIC_RELAXED);
}

/* 16 hexadecimal digits of key, address and port; slice_none(): no key, or no such address. */
static struct slice dynamic_cookie(const struct persist_proxy *pp, const struct server *srv,
				   char *room)
{
	const char *key = __atomic_load_n(&pp->key, __ATOMIC_ACQUIRE);
	char text[PERSIST_KEY_MAX + 16 + 4 + 1];
	struct server_addr addr;
	uint32_t port;
	size_t len;

	if (!key)
		return slice_none();
	server_address(srv, &addr);
	len = slice_copy(slice_of(key), text, PERSIST_KEY_MAX + 1);
	if (addr.sa.ss_family == AF_INET) {
		const struct sockaddr_in *in = (struct sockaddr_in *)&addr.sa;

		memcpy(text + len, &in->sin_addr, 4);
		len += 4;
		port = htonl(ntohs(in->sin_port));
	} else if (addr.sa.ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr.sa;

		memcpy(text + len, &in6->sin6_addr, 16);
		len += 16;
		port = htonl(ntohs(in6->sin6_port));
	} else {
		return slice_none();
	}
	memcpy(text + len, &port, sizeof(port));
	len += sizeof(port);
	snprintf(room, 17, "%016llx", (unsigned long long)hash_bytes(text, len, 0));
	return slice_make(room, 16);
}

/* The value of the cookie that means <srv>, in <room> (17 bytes) when it is computed;
 * slice_none(): it has none.
 */
static struct slice persist_server_cookie(const struct server *srv, char *room)
{
	const struct persist_proxy *pp = persist_of_proxy(srv->proxy);

	if (srv->cookie)
		return slice_of(srv->cookie);
	return is_dynamic(pp) ? dynamic_cookie(pp, srv, room) : slice_none();
}

const char *persist_server_cookie_text(const struct server *srv, char room[17])
{
	return persist_server_cookie(srv, room).ptr;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void date_put(uint32_t date, char *out)
{
	for (int i = DATE_DIGITS - 1; i >= 0; i--, date >>= 6)
		out[i] = digits[date & 63];
}

/* 0: no date. */
static uint32_t date_read(struct slice text)
{
	uint32_t date = 0;

	if (text.len != DATE_DIGITS)
		return 0;
	for (int i = 0; i < DATE_DIGITS; i++) {
		const char *at = text.ptr[i] ? strchr(digits, text.ptr[i]) : NULL;

		if (!at)
			return 0;
		date = date << 6 | (uint32_t)(at - digits);
	}
	return date;
}

static uint32_t date_now(void)
{
	return (uint32_t)(clock_wall_us() / 4000000);
}

/* Is <date> more than <limit_s> ago, or in a far future? */
static bool date_is_over(uint32_t date, int64_t limit_s)
{
	int64_t age_s = ((int64_t)date_now() - date) * 4;

	return limit_s && date && (age_s > limit_s || age_s < -FUTURE_MAX_S);
}

/* The server's part of a cookie's value; the dates behind go to <p>. */
static struct slice value_read(const struct persist_proxy *pp, struct persist *p,
			       struct slice value)
{
	size_t end, more;

	if (pp->options & COOKIE_PREFIX) {
		end = slice_find_char(value, 0, '~');
		return end == SIZE_MAX ? value : slice_sub(value, 0, end);
	}
	end = slice_find_char(value, 0, '|');
	if (end == SIZE_MAX)
		return value;
	more = slice_find_char(value, end + 1, '|');
	p->last = date_read(slice_sub(value, end + 1, more == SIZE_MAX ? value.len : more));
	if (more != SIZE_MAX)
		p->first = date_read(slice_sub(value, more + 1, value.len));
	return slice_sub(value, 0, end);
}

/* --- requests --------------------------------------------------------------------------------- */

static bool is_bound(const struct stream *s, const struct persist *p)
{
	return p->forced || s->be->options & PROXY_OPT_PERSIST;
}

/* The first server of that name that may serve, else, if the request is bound to it, one that may
 * not.
 */
static void choose_by_value(struct stream *s, struct persist *p, struct slice value)
{
	struct server *srv;
	char room[17];

	if (!p->request)
		p->request = 'I';
	for (srv = server_first(s->be); srv; srv = server_next(srv)) {
		struct slice own = persist_server_cookie(srv, room);

		if (!own.ptr || !slice_eq(own, value))
			continue;
		p->request = server_is_willing(srv) ? 'V' : 'D';
		if (p->request == 'D' && !is_bound(s, p))
			continue;
		p->wanted = srv;
		p->by_cookie = true;
		return;
	}
}

/* What the cookie that was found means. */
static void cookie_read(struct stream *s, struct persist *p, struct slice value)
{
	const struct persist_proxy *pp = persist_of_proxy(s->be);

	p->last = p->first = 0;
	value = value_read(pp, p, value);
	if (p->by_rule || p->ignored)
		p->request = 'U';
	else if (date_is_over(p->last, pp->max_idle_s))
		p->request = 'E';
	else if (date_is_over(p->first, pp->max_life_s))
		p->request = 'O';
	else
		choose_by_value(s, p, value);
	if (p->request == 'E' || p->request == 'O')
		p->last = p->first = 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The list without <cut>, which is a cookie; between others the delimiter before it stays, and one
 * blank behind that.
 */
static struct slice list_without(struct stream *s, struct slice list, struct slice cut, size_t *end)
{
	size_t at = (size_t)(cut.ptr - list.ptr), from = at + cut.len, before = at, len;
	char *text = arena_alloc(&s->arena, list.len + 2);

	if (!text)
		return slice_none();
	while (before > 0 && is_blank(list.ptr[before - 1]))
		before--;
	if (before == 0 || from == list.len) {
		memcpy(text, list.ptr, at);
		len = at;
	} else {
		char delimiter = list.ptr[--before];

		while (before > 0 && is_blank(list.ptr[before - 1]))
			before--;
		memcpy(text, list.ptr, before);
		text[before] = delimiter;
		text[before + 1] = ' ';
		len = before + 2;
	}
	memcpy(text + len, list.ptr + from, list.len - from);
	*end = len;
	return slice_make(text, len + list.len - from);
}

/* What is left of the list when the server's view of one cookie was made; *end is where to go on.
 * slice_none(): no memory.
 */
static struct slice cookie_take_out(struct stream *s, struct slice list, const struct cookie *c,
				    size_t *end)
{
	const struct persist_proxy *pp = persist_of_proxy(s->be);
	struct slice cut;
	size_t at, delimiter;
	char *text;

	if (!(pp->options & COOKIE_PREFIX))
		return list_without(s, list, cookie_extent(list, c), end);
	delimiter = slice_find_char(c->value, 0, '~');
	cut = slice_make(c->value.ptr, delimiter == SIZE_MAX ? 0 : delimiter + 1);
	at = (size_t)(cut.ptr - list.ptr);
	text = arena_alloc(&s->arena, list.len - cut.len + 1);
	if (!text)
		return slice_none();
	memcpy(text, list.ptr, at);
	memcpy(text + at, cut.ptr + cut.len, list.len - cut.len - at);
	*end = at + c->value.len - cut.len;
	return slice_make(text, list.len - cut.len);
}

/* The first cookie whose server may serve counts. Is there none so far? */
static bool is_sought(const struct persist *p)
{
	return !p->by_cookie && p->request != 'U';
}

/* Reads the cookies in one field and edits the field if the server shall see another one. */
static void field_read(struct stream *s, struct persist *p, struct h1_field *f)
{
	const struct persist_proxy *pp = persist_of_proxy(s->be);
	bool take_out = pp->options & COOKIE_PREFIX ||
		(pp->options & COOKIE_INSERT && pp->options & COOKIE_INDIRECT);
	struct slice list = f->value, rest = list;
	bool edited = false;
	struct cookie c;
	size_t end = 0;

	while (cookie_next(&rest, &c)) {
		struct slice shorter;

		if (!slice_eq(c.name, pp->cookie) || slice_is_none(c.value))
			continue;
		if (is_sought(p))
			cookie_read(s, p, c.value);
		if (!take_out && !is_sought(p))
			return;
		if (!take_out)
			continue;
		shorter = cookie_take_out(s, list, &c, &end);
		if (slice_is_none(shorter))
			break;
		edited = true;
		list = shorter;
		rest = slice_sub(list, end, list.len);
	}
	if (!edited)
		return;
	if (slice_trim(list).len)
		http_msg_set_value(&s->req, f, list);
	else
		http_msg_drop_field(&s->req, f);
}

static void cookies_read(struct stream *s, struct persist *p)
{
	struct h1_field *f;
	int at = -1;

	while ((f = http_field_next(&s->req.fields, &at, FIELD_COOKIE, slice_none())) != NULL)
		field_read(s, p, f);
	if (!p->request)
		p->request = 'N';
}

/* "<address>.<port>.<reserved>": the numbers as they lie in memory of a little-endian machine. */
static void rdp_cookie_read(struct stream *s, struct persist *p, const struct expr *cookie)
{
	unsigned address, port;
	struct server_addr addr;
	struct server *srv;
	struct slice value;
	char text[64];

	if (p->wanted || p->ignored ||
	    expr_eval_string(cookie, stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL), &value) !=
	    EXPR_FOUND)
		return;
	slice_copy(value, text, sizeof(text));
	if (sscanf(text, "%u.%u.", &address, &port) != 2)
		return;
	for (srv = server_first(s->be); srv; srv = server_next(srv)) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&addr.sa;

		server_address(srv, &addr);
		if (addr.sa.ss_family != AF_INET || in->sin_addr.s_addr != htole32(address) ||
		    in->sin_port != htole16((uint16_t)port))
			continue;
		if (!server_is_willing(srv) && !is_bound(s, p))
			continue;
		p->wanted = srv;
		p->by_cookie = true;
		return;
	}
}

/* The first rule that holds decides. */
static void rules_apply(struct stream *s, struct persist *p)
{
	const struct persist_rule *r;

	for (r = persist_of_proxy(s->be)->first; r; r = r->next) {
		struct expr_ctx *ctx = stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL);

		if (condition_eval(r->condition, ctx) != EXPR_FOUND)
			continue;
		p->forced = r->force;
		p->ignored = !r->force;
		return;
	}
}

bool persist_may_act(const struct proxy *be)
{
	const struct persist_proxy *pp = persist_of_proxy(be);

	return pp->first || pp->cookie.ptr || pp->rdp_cookie || pp->options;
}

void persist_request(struct stream *s)
{
	const struct persist_proxy *pp = persist_of_proxy(s->be);
	struct persist *p = persist_of(s);
	struct server *found;

	if (!(s->be->caps & PROXY_BE))
		return;
	if (pp->first)
		rules_apply(s, p);
	rules_server(s->be, stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL), is_bound(s, p),
		     &p->wanted);
	p->by_rule = p->wanted != NULL;
	if (s->flags & STRM_HTTP && pp->cookie.ptr)
		cookies_read(s, p);
	else if (!(s->flags & STRM_HTTP) && pp->rdp_cookie)
		rdp_cookie_read(s, p, pp->rdp_cookie);
	/* ignore-persist is about cookies; a client whose server a table chose gets no cookie */
	found = tables_are_used() ? stick_request(s, !p->wanted) : NULL;
	if (found) {
		p->wanted = found;
		p->by_rule = true;
	}
}

struct server *persist_server(struct stream *s)
{
	struct persist *p = persist_of(s);

	if (!p->wanted || server_is_willing(p->wanted) || is_bound(s, p))
		return p->wanted;
	persist_left(s);
	persist_moved(s);
	return NULL;
}

void persist_left(struct stream *s)
{
	struct persist *p = persist_of(s);

	p->wanted = NULL;
	p->by_cookie = p->by_rule = false;
}

void persist_moved(struct stream *s)
{
	struct persist *p = persist_of(s);

	if (p->request == 'V')
		p->request = 'D';
}

bool persist_is_forced(const struct stream *s)
{
	return persist_of(s)->forced && persist_of(s)->wanted;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* The answer's cookie with <value> in the place of its own (<keep>: before it). */
static bool cookie_replace(struct stream *s, struct h1_field *f, const struct cookie *c,
			   struct slice value, bool keep)
{
	size_t before = (size_t)(c->name.ptr + c->name.len - f->value.ptr);
	struct slice rest = keep ? c->value : slice_make(c->value.ptr + c->value.len, 0);
	size_t after = (size_t)(f->value.ptr + f->value.len - rest.ptr);
	size_t len = before + 1 + value.len + keep + after;
	char *text = arena_alloc(&s->arena, len + 1), *at = text;

	if (!text)
		return false;
	memcpy(at, f->value.ptr, before);
	at += before;
	*at++ = '=';
	memcpy(at, value.ptr, value.len);
	at += value.len;
	if (keep)
		*at++ = '~';
	memcpy(at, rest.ptr, after);
	return http_msg_set_value(&s->res, f, slice_make(text, len));
}

/* The server has set the cookie itself. */
static void server_cookie(struct stream *s, struct persist *p, struct h1_field *f,
			  const struct cookie *c)
{
	unsigned options = persist_of_proxy(s->be)->options;
	char room[17];
	struct slice own = persist_server_cookie(s->server, room);
	bool remove = options & COOKIE_INSERT || (options & COOKIE_INDIRECT && p->by_cookie);

	p->response = 'P';
	if (remove && !(options & COOKIE_PRESERVE)) {
		http_msg_drop_field(&s->res, f);
		p->response = 'D';
	} else if (options & (COOKIE_REWRITE | COOKIE_PREFIX) && own.ptr &&
		   cookie_replace(s, f, c, own, options & COOKIE_PREFIX)) {
		p->response = 'R';
	}
}

/* Do the dates of a cookie that the client has still hold? */
static bool dates_hold(const struct persist_proxy *pp, const struct persist *p)
{
	if (!pp->max_idle_s && !pp->max_life_s)
		return !p->last;
	return p->last == date_now() && (p->first || !pp->max_life_s);
}

/* Could a cache keep this answer, cookie and all? */
static bool answer_is_cacheable(const struct stream *s)
{
	const struct http_fields *f = &s->res.fields;
	struct slice value, rest = slice_none();
	bool fresh = false;
	int at = -1;

	if (!stream_is_cacheable(s))
		return false;
	if (http_field_find(f, http_field_id(SLICE("pragma")), SLICE("pragma")))
		return false;
	while (http_value_next(f, &at, &rest, http_field_id(SLICE("cache-control")),
			       SLICE("cache-control"), &value)) {
		if (slice_eq_nocase(value, SLICE("private")) ||
		    slice_eq_nocase(value, SLICE("no-cache")) ||
		    slice_eq_nocase(value, SLICE("no-store")) ||
		    slice_eq_nocase(value, SLICE("max-age=0")) ||
		    slice_eq_nocase(value, SLICE("s-maxage=0")))
			return false;
		fresh |= slice_starts_nocase(value, SLICE("max-age=")) ||
			slice_starts_nocase(value, SLICE("s-maxage="));
	}
	return fresh || http_field_find(f, http_field_id(SLICE("etag")), SLICE("etag")) ||
		http_field_find(f, http_field_id(SLICE("last-modified")), SLICE("last-modified")) ||
		http_field_find(f, http_field_id(SLICE("expires")), SLICE("expires"));
}

/* "|<last>|<first>", as far as there are limits. */
static void put_dates(const struct persist_proxy *pp, const struct persist *p, char *out)
{
	uint32_t now = date_now();

	if (pp->max_idle_s || pp->max_life_s) {
		*out++ = '|';
		date_put(now, out);
		out += DATE_DIGITS;
	}
	if (pp->max_life_s) {
		*out++ = '|';
		date_put(p->first ? p->first : now, out);
		out += DATE_DIGITS;
	}
	*out = 0;
}

/* Adds our cookie; for a server that has none, one that makes the client forget. */
static bool cookie_insert(struct stream *s, const struct persist *p)
{
	const struct persist_proxy *pp = persist_of_proxy(s->be);
	char room[17], dates[2 * (DATE_DIGITS + 1) + 1];
	struct slice own = persist_server_cookie(s->server, room);
	char *text;

	put_dates(pp, p, dates);
	text = arena_printf(&s->arena, "%.*s=%.*s%s; path=/%s%s%s%s", SLICE_FMT(pp->cookie),
			    SLICE_FMT(own),
			    own.ptr ? dates : "; Expires=Thu, 01-Jan-1970 00:00:01 GMT",
			    pp->domains ? pp->domains : "",
			    pp->options & COOKIE_HTTPONLY ? "; HttpOnly" : "",
			    pp->options & COOKIE_SECURE ? "; Secure" : "",
			    pp->attributes ? pp->attributes : "");
	if (!text || !http_msg_add_field(&s->res, SLICE("set-cookie"), slice_of(text)))
		return false;
	if (pp->options & COOKIE_NOCACHE && answer_is_cacheable(s))
		http_msg_add_field(&s->res, SLICE("cache-control"), SLICE("private"));
	return true;
}

/* Must the client get a cookie of ours? */
static bool cookie_is_due(const struct stream *s, const struct persist *p)
{
	const struct persist_proxy *pp = persist_of_proxy(s->be);

	if (!(pp->options & COOKIE_INSERT) || p->by_rule || p->ignored)
		return false;
	if (p->response == 'P' && pp->options & COOKIE_PRESERVE)
		return false;
	if (pp->options & COOKIE_POSTONLY && !slice_eq(s->log.method, SLICE("POST")))
		return false;
	return !p->by_cookie || !dates_hold(pp, p);
}

void persist_response(struct stream *s)
{
	const struct persist_proxy *pp = persist_of_proxy(s->be);
	struct persist *p = persist_of(s);
	struct cookie c;
	struct h1_field *f;
	struct slice attributes;
	int at = -1;

	if (!p->request || !stream_server(s) || !pp->options)
		return;
	p->response = 'N';
	while ((f = http_field_next(&s->res.fields, &at, FIELD_SET_COOKIE, slice_none())) != NULL)
		if (cookie_parse_set(f->value, &c, &attributes) && slice_eq(c.name, pp->cookie))
			server_cookie(s, p, f, &c);
	if (cookie_is_due(s, p) && cookie_insert(s, p))
		p->response = p->by_cookie ? 'U' : 'I';
}

void persist_letters(const struct stream *s, char letters[2])
{
	const struct persist *p = persist_of(s);
	bool any = s->be->caps & PROXY_BE && s->log.method.len && persist_of_proxy(s->be)->options;

	letters[0] = !any ? '-' : p->request ? p->request : 'N';
	letters[1] = !any ? '-' : p->response ? p->response : 'N';
}
