/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.c - the request target cut into pieces, and put together again
 *
 * http://user@host:80/a/b?x=1      /a/b?x=1      *      host:443
 *            ^authority  ^path^query   ^path^query
 *
 * The query begins after the first '?' whatever precedes it. A target in neither origin nor
 * absolute form has no path; setting one replaces everything up to the query.
 */
#include "http/msg.h"

#include "base/bug.h"

struct target {
	size_t authority; /* where it starts; the same as path: none */
	size_t path;      /* where the path starts, or would */
	size_t query;     /* where the '?' is, or the end */
	bool has_path;
};

static bool char_is_scheme(char c)
{
	char l = ascii_lower(c);

	return (l >= 'a' && l <= 'z') || ascii_is_digit(c) || c == '+' || c == '-' || c == '.';
}

/* The offset of what follows "scheme://", or 0 when the target does not start so. */
static size_t target_scheme_end(struct slice uri)
{
	size_t i = 0;

	while (i < uri.len && char_is_scheme(uri.ptr[i]))
		i++;
	if (i == 0 || uri.len - i < 3 || memcmp(uri.ptr + i, "://", 3) != 0)
		return 0;
	return i + 3;
}

static struct target target_split(struct slice uri)
{
	struct target t = { .query = uri.len };
	const char *mark = uri.len ? memchr(uri.ptr, '?', uri.len) : NULL;

	if (mark)
		t.query = mark - uri.ptr;
	if (uri.len && uri.ptr[0] == '/') {
		t.has_path = true;
		return t;
	}
	t.authority = target_scheme_end(slice_sub(uri, 0, t.query));
	t.path = t.authority;
	if (t.authority) {
		while (t.path < t.query && uri.ptr[t.path] != '/' && uri.ptr[t.path] != '#')
			t.path++;
		t.has_path = t.path < t.query && uri.ptr[t.path] == '/';
	}
	return t;
}

struct slice http_msg_path(const struct http_msg *m)
{
	struct target t = target_split(m->uri);

	return t.has_path ? slice_sub(m->uri, t.path, t.query) : slice_none();
}

struct slice http_msg_pathq(const struct http_msg *m)
{
	struct target t = target_split(m->uri);

	if (!t.has_path && !(t.authority && t.query < m->uri.len))
		return slice_none();
	return slice_sub(m->uri, t.path, m->uri.len);
}

struct slice http_msg_query(const struct http_msg *m)
{
	struct target t = target_split(m->uri);

	return t.query < m->uri.len ? slice_sub(m->uri, t.query + 1, m->uri.len) : slice_none();
}

struct slice http_msg_upgrade(const struct http_msg *m)
{
	const struct h1_field *f = m->flags & HTTP_MSG_UPGRADE
		? http_field_find(&m->fields, FIELD_UPGRADE, SLICE("upgrade")) : NULL;
	struct slice list = f ? f->value : slice_none(), first = slice_none();

	return f && h1_list_next(&list, &first) ? first : slice_none();
}

struct slice http_msg_authority(const struct http_msg *m)
{
	struct target t = target_split(m->uri);

	if (t.authority)
		return slice_sub(m->uri, t.authority, t.path);
	return m->method == HTTP_METH_CONNECT && !t.has_path ?
		slice_sub(m->uri, 0, t.query) : slice_none();
}

/* Sets the target to the first <keep> bytes of the present one, then <a>, <b> and <c>. */
static bool target_join(struct http_msg *m, size_t keep, struct slice a, struct slice b,
			struct slice c)
{
	size_t len = keep + a.len + b.len + c.len;
	char *text = arena_alloc(m->arena, len + 1), *at = text;
	const struct slice parts[] = { slice_sub(m->uri, 0, keep), a, b, c };
	unsigned i;

	if (!text)
		return false;
	for (i = 0; i < ARRAY_LEN(parts); i++) {
		if (parts[i].len)
			memcpy(at, parts[i].ptr, parts[i].len);
		at += parts[i].len;
	}
	*at = '\0';
	m->uri = slice_make(text, len);
	m->flags |= HTTP_MSG_EDITED;
	if (!target_scheme_end(m->uri))
		m->flags &= ~HTTP_MSG_ABSOLUTE;
	return true;
}

/* What stays in front of a path that is set. */
static size_t kept_before_path(const struct http_msg *m, const struct target *t)
{
	return t->authority && t->path == m->uri.len ? 0 : t->path;
}

bool http_msg_set_path(struct http_msg *m, struct slice path)
{
	struct target t = target_split(m->uri);

	return target_join(m, kept_before_path(m, &t), path,
			   slice_sub(m->uri, t.query, m->uri.len), slice_none());
}

bool http_msg_set_pathq(struct http_msg *m, struct slice pathq)
{
	struct target t = target_split(m->uri);

	return target_join(m, kept_before_path(m, &t), pathq, slice_none(), slice_none());
}

bool http_msg_set_query(struct http_msg *m, struct slice query)
{
	struct target t = target_split(m->uri);
	bool present = t.query < m->uri.len;

	return target_join(m, t.query, present || query.len ? SLICE("?") : slice_none(), query,
			   slice_none());
}

/* Replaces the host of an absolute form, keeping the rest; any other form is left alone. */
static bool set_authority(struct http_msg *m, struct slice authority)
{
	struct target t = target_split(m->uri);

	if (!t.authority)
		return true;
	return target_join(m, t.authority, authority, slice_sub(m->uri, t.path, m->uri.len),
			   slice_none());
}

bool http_msg_target_follows(struct http_msg *m, uint8_t id, struct slice value)
{
	return id != FIELD_HOST || m->flags & HTTP_MSG_RESPONSE ||
	       set_authority(m, value);
}

/* Each Host that there is stays where it is, with another value: a server that is told two hosts
 * may take either. None is added.
 */
static bool hosts_rewrite(struct http_msg *m, struct slice host)
{
	struct h1_field *f;
	int at = -1;

	while ((f = http_field_next(&m->fields, &at, FIELD_HOST, slice_none())))
		if (!slice_eq(f->value, host) && !http_msg_set_value(m, f, host))
			return false;
	return true;
}

bool http_msg_set_uri(struct http_msg *m, struct slice uri)
{
	struct slice old = m->uri, host;
	unsigned flags = m->flags;
	const char *at;

	if (!target_join(m, 0, uri, slice_none(), slice_none()))
		return false;
	m->flags &= ~HTTP_MSG_NORMALIZED; /* a server gets it as it was given */
	if (!target_scheme_end(m->uri))
		return true;
	m->flags |= HTTP_MSG_ABSOLUTE;
	host = http_msg_authority(m);
	at = host.len ? memrchr(host.ptr, '@', host.len) : NULL;
	if (at)
		host = slice_sub(host, at + 1 - host.ptr, host.len);
	if (host.len && hosts_rewrite(m, host)) /* RFC 9110, 4.2.1: without a host it is none */
		return true;
	m->uri = old;
	m->flags = flags;
	return false;
}
