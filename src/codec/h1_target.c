/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_target.c - methods and request targets (RFC 9112 3): which form a target has, and whether
 * its authority is the one that Host names
 */
#include "h1_priv.h"

uint8_t h1_method_of(struct slice name)
{
	switch (name.len) {
	case 3:
		if (memcmp(name.ptr, "GET", 3) == 0)
			return H1_METHOD_GET;
		if (memcmp(name.ptr, "PUT", 3) == 0)
			return H1_METHOD_PUT;
		break;
	case 4:
		if (memcmp(name.ptr, "POST", 4) == 0)
			return H1_METHOD_POST;
		if (memcmp(name.ptr, "HEAD", 4) == 0)
			return H1_METHOD_HEAD;
		break;
	case 5:
		if (memcmp(name.ptr, "TRACE", 5) == 0)
			return H1_METHOD_TRACE;
		if (memcmp(name.ptr, "PATCH", 5) == 0)
			return H1_METHOD_PATCH;
		break;
	case 6:
		if (memcmp(name.ptr, "DELETE", 6) == 0)
			return H1_METHOD_DELETE;
		break;
	case 7:
		if (memcmp(name.ptr, "OPTIONS", 7) == 0)
			return H1_METHOD_OPTIONS;
		if (memcmp(name.ptr, "CONNECT", 7) == 0)
			return H1_METHOD_CONNECT;
		break;
	}
	return H1_METHOD_OTHER;
}

static bool h1_is_alpha(char c)
{
	return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

/* The length of "scheme" when "://" follows it, else 0. */
static size_t h1_scheme_length(struct slice uri)
{
	size_t at = 0;

	if (!uri.len || !h1_is_alpha(uri.ptr[0]))
		return 0;
	while (at < uri.len && (h1_is_alpha(uri.ptr[at]) || ascii_is_digit(uri.ptr[at]) ||
				uri.ptr[at] == '+' || uri.ptr[at] == '-' || uri.ptr[at] == '.'))
		at++;
	if (uri.len - at < 3 || memcmp(uri.ptr + at, "://", 3) != 0)
		return 0;
	return at;
}

/* The authority of an absolute or authority-form target, user information included. */
static struct slice h1_authority_of(const struct h1_head *out)
{
	struct slice uri = out->uri;
	size_t start = 0, stop;

	if (out->target == H1_TARGET_ABSOLUTE)
		start = h1_scheme_length(uri) + 3;
	stop = start;
	while (stop < uri.len && uri.ptr[stop] != '/' && uri.ptr[stop] != '?' &&
	       uri.ptr[stop] != '#')
		stop++;
	return slice_make(uri.ptr + start, stop - start);
}

/* Cuts "host:port" in two; the port is none without a colon. Square brackets protect colons. */
static struct slice h1_cut_port(struct slice *host)
{
	struct slice port = slice_none();

	for (size_t at = host->len; at-- > 0;) {
		if (ascii_is_digit(host->ptr[at]))
			continue;
		if (host->ptr[at] == ':') {
			port = slice_make(host->ptr + at + 1, host->len - at - 1);
			host->len = at;
		}
		break;
	}
	return port;
}

static uint8_t h1_check_connect(struct h1_head *out)
{
	struct slice host = out->uri, port = h1_cut_port(&host);

	return host.len && port.len ? H1_ERR_NONE : H1_ERR_URI;
}

uint8_t h1_check_target(const struct h1_parser *p, struct h1_head *out)
{
	bool unsafe = p->options & H1_OPT_UNSAFE;
	struct slice uri = out->uri;

	if (memchr(uri.ptr, '#', uri.len)) {
		if (!unsafe)
			return H1_ERR_URI;
		out->flags |= H1_FL_VIOLATION;
	}
	if (out->method_id == H1_METHOD_CONNECT) {
		out->target = H1_TARGET_AUTHORITY;
		if (memchr(uri.ptr, '/', uri.len))
			return H1_ERR_URI;
		if (h1_check_connect(out) && !unsafe)
			return H1_ERR_URI;
		return H1_ERR_NONE;
	}
	if (uri.ptr[0] == '/') {
		out->target = H1_TARGET_ORIGIN;
		return H1_ERR_NONE;
	}
	if (uri.ptr[0] == '*') {
		out->target = H1_TARGET_ASTERISK;
		return uri.len == 1 && out->method_id == H1_METHOD_OPTIONS ? H1_ERR_NONE
									   : H1_ERR_URI;
	}
	if (!h1_scheme_length(uri))
		return H1_ERR_URI;
	out->target = H1_TARGET_ABSOLUTE;
	if (!h1_authority_of(out).len) {
		if (!unsafe)
			return H1_ERR_URI;
		out->flags |= H1_FL_VIOLATION;
	}
	return H1_ERR_NONE;
}

/* No port, or the scheme's own; a CONNECT has no scheme, both ports are taken as such. */
static bool h1_is_default_port(const struct h1_head *out, struct slice port)
{
	size_t scheme;

	if (!port.len)
		return true;
	if (out->target == H1_TARGET_AUTHORITY)
		return slice_eq(port, SLICE("80")) || slice_eq(port, SLICE("443"));
	scheme = h1_scheme_length(out->uri);
	if (scheme == 4 && strncasecmp(out->uri.ptr, "http", 4) == 0)
		return slice_eq(port, SLICE("80"));
	if (scheme == 5 && strncasecmp(out->uri.ptr, "https", 5) == 0)
		return slice_eq(port, SLICE("443"));
	return false;
}

bool h1_authority_matches(const struct h1_head *out)
{
	struct slice authority, host, port, host_port;
	const char *user;

	if (out->host_index < 0)
		return true;
	authority = h1_authority_of(out);
	user = memrchr(authority.ptr, '@', authority.len);
	if (user)
		authority = slice_make(user + 1, authority.len -
				       (size_t)(user + 1 - authority.ptr));
	host = out->fields[out->host_index].value;
	if (authority.len == host.len &&
	    strncasecmp(authority.ptr, host.ptr, host.len) == 0)
		return true;
	port = h1_cut_port(&authority);
	host_port = h1_cut_port(&host);
	if (authority.len != host.len || strncasecmp(authority.ptr, host.ptr, host.len) != 0)
		return false;
	/* the same name: an absent port on one side stands for the default on the other */
	if (slice_eq(port, host_port))
		return true;
	return (!port.len && h1_is_default_port(out, host_port)) ||
	       (!host_port.len && h1_is_default_port(out, port));
}

/* Host names the same port as the target, by leaving it out. A CONNECT's "name:" names none. */
static void h1_drop_default_port(struct h1_head *out)
{
	struct slice name, port;

	if (out->host_index < 0)
		return;
	name = out->fields[out->host_index].value;
	port = h1_cut_port(&name);
	if (!port.len && out->target == H1_TARGET_AUTHORITY)
		return;
	if (h1_is_default_port(out, port))
		out->fields[out->host_index].value = name;
}

void h1_tidy_target(struct h1_head *out)
{
	struct slice authority = h1_authority_of(out), host = authority;
	struct slice port = h1_cut_port(&host);
	size_t cut = authority.len - host.len;
	char *start = (char *)out->uri.ptr;

	if (cut && h1_is_default_port(out, port)) {
		h1_drop_default_port(out);
		if (out->target == H1_TARGET_ABSOLUTE) {
			memmove(start + cut, start, (size_t)(host.ptr + host.len - start));
			out->uri = slice_make(start + cut, out->uri.len - cut);
		}
	}
	out->flags |= H1_FL_UNTIDY;
	/* at least one byte stands behind a target: a blank or the end of the line */
	if (out->target == H1_TARGET_ABSOLUTE &&
	    authority.ptr + authority.len == out->uri.ptr + out->uri.len)
		start[(size_t)(out->uri.ptr - start) + out->uri.len++] = '/';
}
