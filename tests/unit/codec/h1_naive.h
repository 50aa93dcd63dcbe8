/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_naive.h - a second HTTP/1 request head parser, slow and plain, to check the first against
 *
 * Written from RFC 9112 and the manual without looking at the other: it copies lines to
 * strings, one rule per line of code. Only complete strict requests: no violation is accepted.
 * Also here: what the unit test and the fuzzer share to compare both.
 */
#ifndef TESTS_CODEC_H1_NAIVE_H
#define TESTS_CODEC_H1_NAIVE_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codec/h1.h"

#define NAIVE_FIELDS 100 /* more than fit in the fuzzer's longest text */
#define NAIVE_TEXT 4096
#define NAIVE_LIST 256 /* elements of a list and bytes of one */

struct naive {
	enum { NAIVE_INCOMPLETE, NAIVE_BAD, NAIVE_GOOD } verdict;
	char method[NAIVE_TEXT], uri[NAIVE_TEXT];
	int major, minor;
	char name[NAIVE_FIELDS + 1][NAIVE_TEXT], value[NAIVE_FIELDS + 1][NAIVE_TEXT];
	int fields;
	bool has_length, chunked;
	unsigned long long length;
	size_t used;
};

/* Takes a line off *at, without CRLF or LF. -1: no whole line; -2: it has a stray CR or NUL. */
static int naive_line(const char **at, const char *end, char *line)
{
	const char *lf = memchr(*at, '\n', (size_t)(end - *at));
	size_t len;

	if (!lf)
		return -1;
	len = (size_t)(lf - *at);
	memcpy(line, *at, len);
	*at = lf + 1;
	if (len && line[len - 1] == '\r')
		len--;
	line[len] = 0;
	if (memchr(line, '\r', len) || memchr(line, 0, len))
		return -2;
	return (int)len;
}

static void naive_trim(char *s)
{
	size_t from = strspn(s, " \t"), len = strlen(s);

	memmove(s, s + from, len - from + 1);
	len -= from;
	while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		s[--len] = 0;
}

static bool naive_token(const char *s)
{
	for (const char *c = s; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("!#$%&'*+-.^_`|~", *c))
			return false;
	return *s != 0;
}

static bool naive_start(struct naive *n, const char *line)
{
	static char version[NAIVE_TEXT];
	size_t used = strcspn(line, " \t");

	memcpy(n->method, line, used);
	n->method[used] = 0;
	line += used;
	line += strspn(line, " \t");
	used = strcspn(line, " \t");
	memcpy(n->uri, line, used);
	n->uri[used] = 0;
	line += used;
	line += strspn(line, " \t");
	snprintf(version, sizeof(version), "%s", line);
	if (!naive_token(n->method) || !strcmp(n->method, "PRI") || !n->uri[0] ||
	    strlen(version) != 8)
		return false;
	for (const char *c = n->uri; *c; c++)
		if (*c < 33 || *c > 126 || *c == '#')
			return false;
	if (strncmp(version, "HTTP/", 5) != 0 || !isdigit((unsigned char)version[5]) ||
	    version[6] != '.' || !isdigit((unsigned char)version[7]))
		return false;
	n->major = version[5] - '0';
	n->minor = version[7] - '0';
	return true;
}

/* Splits a comma-separated list; returns how many elements, empty ones included. */
static int naive_split(const char *value, char elements[][NAIVE_LIST], int room)
{
	int count = 0;

	for (;;) {
		size_t len = strcspn(value, ",");

		if (count == room)
			return room + 1;
		snprintf(elements[count], NAIVE_LIST, "%.*s", (int)len, value);
		naive_trim(elements[count++]);
		if (!value[len])
			return count;
		value += len + 1;
	}
}

static bool naive_length(struct naive *n, const char *value)
{
	static char elements[NAIVE_LIST][NAIVE_LIST];
	int count = naive_split(value, elements, NAIVE_LIST);

	if (count > NAIVE_LIST)
		abort(); /* the fuzzer keeps inputs short enough */
	for (int i = 0; i < count; i++) {
		unsigned long long got = 0;

		if (!elements[i][0])
			return false;
		for (const char *c = elements[i]; *c; c++) {
			unsigned __int128 next = (unsigned __int128)got * 10 + (*c - '0');

			if (!isdigit((unsigned char)*c) || next > ~0ull)
				return false;
			got = (unsigned long long)next;
		}
		if (n->has_length && n->length != got)
			return false;
		n->has_length = true;
		n->length = got;
	}
	return true;
}

/* The last colon outside brackets and the digits behind it: cut off as the port. */
static const char *naive_port(char *host)
{
	char *colon = strrchr(host, ':');

	if (!colon || strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return "";
	*colon = 0;
	return colon + 1;
}

/* Of known characters; brackets are one pair around all but a port. */
static bool naive_host(const char *host)
{
	const char *open = strchr(host, '['), *close = strchr(host, ']');

	for (const char *c = host; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-._~!$&'()*+;=%:[]", *c))
			return false;
	if (!open && !close)
		return true;
	if (open != host || strchr(host + 1, '[') || !close || strchr(close + 1, ']'))
		return false;
	return !close[1] || close[1] == ':';
}

static bool naive_target(struct naive *n, const char *host)
{
	static char authority[NAIVE_TEXT], other[NAIVE_TEXT];
	bool connect = strcmp(n->method, "CONNECT") == 0;
	const char *port, *host_port, *standard = "", *at = n->uri;

	if (!connect && n->uri[0] == '/')
		return true;
	if (!connect && n->uri[0] == '*')
		return !n->uri[1] && strcmp(n->method, "OPTIONS") == 0;
	if (connect) {
		snprintf(authority, sizeof(authority), "%s", n->uri);
		if (strchr(n->uri, '/'))
			return false;
		port = naive_port(authority);
		if (!authority[0] || !port[0])
			return false;
	} else {
		at = strstr(n->uri, "://");
		if (!at || !isalpha((unsigned char)n->uri[0]))
			return false;
		for (const char *c = n->uri; c < at; c++)
			if (!isalnum((unsigned char)*c) && !strchr("+-.", *c))
				return false;
		if (at - n->uri == 4 && strncasecmp(n->uri, "http", 4) == 0)
			standard = "80";
		if (at - n->uri == 5 && strncasecmp(n->uri, "https", 5) == 0)
			standard = "443";
		at += 3;
		if (!strcspn(at, "/?"))
			return false;
	}
	if (!host)
		return true;
	snprintf(authority, sizeof(authority), "%.*s", (int)strcspn(at, "/?"), at);
	if (strrchr(authority, '@'))
		memmove(authority, strrchr(authority, '@') + 1,
			strlen(strrchr(authority, '@') + 1) + 1);
	snprintf(other, sizeof(other), "%s", host);
	port = naive_port(authority);
	host_port = naive_port(other);
	if (strcasecmp(authority, other) != 0)
		return false;
	if (strcmp(port, host_port) == 0)
		return true;
	if (*port && *host_port)
		return false;
	port = *port ? port : host_port;
	if (connect)
		return strcmp(port, "80") == 0 || strcmp(port, "443") == 0;
	return strcmp(port, standard) == 0;
}

static bool naive_meaning(struct naive *n)
{
	bool te = false, upgrade = false, websocket = false, key = false;
	static char elements[NAIVE_LIST][NAIVE_LIST];
	const char *host = NULL;
	bool v11 = n->major > 1 || (n->major == 1 && n->minor > 0);

	for (int i = 0; i < n->fields; i++) {
		const char *name = n->name[i], *value = n->value[i];
		int count = naive_split(value, elements, NAIVE_LIST);

		if (count > NAIVE_LIST)
			abort();
		if (strcmp(name, "host") == 0) {
			if (!naive_host(value))
				return false;
			if (host && strcasecmp(host, value) != 0)
				return false;
			host = host ? host : value;
		} else if (strcmp(name, "content-length") == 0) {
			if (!naive_length(n, value))
				return false;
		} else if (strcmp(name, "transfer-encoding") == 0) {
			/* "chunked" alone, once */
			if (te || count != 1 || strcasecmp(elements[0], "chunked") != 0)
				return false;
			te = n->chunked = true;
		} else if (strcmp(name, "connection") == 0) {
			for (int e = 0; e < count; e++)
				upgrade |= strcasecmp(elements[e], "upgrade") == 0;
		} else if (strcmp(name, "upgrade") == 0) {
			for (int e = 0; e < count; e++)
				websocket |= strcasecmp(elements[e], "websocket") == 0;
		} else if (strcmp(name, "sec-websocket-key") == 0) {
			key |= strlen(value) == 24;
		}
	}
	if (n->chunked)
		n->has_length = false;
	if (!n->has_length)
		n->length = 0;
	if (!v11 && (n->chunked || n->length) &&
	    (!strcmp(n->method, "GET") || !strcmp(n->method, "HEAD") ||
	     !strcmp(n->method, "DELETE")))
		return false;
	if (!strcmp(n->method, "CONNECT") && (n->chunked || n->length))
		return false;
	if (upgrade && websocket && !key)
		return false;
	return naive_target(n, host);
}

/* Reads a request head of less than NAIVE_TEXT bytes. */
static void naive_parse(struct naive *n, const char *text, size_t len)
{
	static char line[NAIVE_TEXT], *colon;
	const char *at = text, *end = text + len;
	bool bad = false, started = false;
	int got;

	n->verdict = NAIVE_INCOMPLETE;
	n->method[0] = n->uri[0] = 0;
	n->fields = n->major = n->minor = 0;
	n->has_length = n->chunked = false;
	n->length = 0;
	for (;;) {
		got = naive_line(&at, end, line);
		if (got == -1)
			return; /* incomplete, whatever else */
		if (got == 0 && !started)
			continue;
		if (got == 0)
			break;
		if (!started) {
			started = true;
			bad |= got < 0 || !naive_start(n, line);
			continue;
		}
		if (got < 0 || bad) {
			bad = true;
			continue;
		}
		if (line[0] == ' ' || line[0] == '\t') { /* folded */
			if (n->fields == 0) {
				bad = true;
				continue;
			}
			strcat(n->value[n->fields - 1], line);
			continue;
		}
		colon = strchr(line, ':');
		if (!colon || n->fields == NAIVE_FIELDS) {
			bad = true;
			continue;
		}
		*colon = 0;
		bad |= !naive_token(line);
		for (size_t i = 0; line[i]; i++)
			n->name[n->fields][i] = (char)tolower((unsigned char)line[i]);
		n->name[n->fields][strlen(line)] = 0;
		strcpy(n->value[n->fields++], colon + 1);
	}
	n->used = (size_t)(at - text);
	for (int i = 0; i < n->fields; i++)
		naive_trim(n->value[i]);
	n->verdict = bad || !naive_meaning(n) ? NAIVE_BAD : NAIVE_GOOD;
}

static bool naive_same(struct slice s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.ptr, text, s.len) == 0;
}

/* Text with runs of blanks made one: joined lines have other numbers of blanks in both parsers. */
static void naive_squeeze(struct slice s, char *out)
{
	size_t len = 0;

	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i] == '\t' ? ' ' : s.ptr[i];

		if (c != ' ' || (len && out[len - 1] != ' '))
			out[len++] = c;
	}
	out[len] = 0;
}

/* Are the results the same? NULL, or what differs. */
static const char *naive_differs(const struct naive *n, const struct h1_head *h)
{
	static char ours[NAIVE_TEXT], theirs[NAIVE_TEXT];
	int at = 0;

	if (n->used != h->length)
		return "length of the head";
	/* an absolute form may be written in another way: t_h1.c has a table of how */
	if (!naive_same(h->method, n->method) ||
	    (h->target != H1_TARGET_ABSOLUTE && !naive_same(h->uri, n->uri)))
		return "start line";
	if (h->major != n->major || h->minor != n->minor)
		return "version";
	if (n->chunked != (h->body == H1_BODY_CHUNKED) || n->length != h->content_length ||
	    n->has_length != !!(h->flags & H1_FL_CONTENT_LENGTH))
		return "framing";
	for (int i = 0; i < n->fields; i++) {
		/* these may be edited or removed: t_h1.c has a table of how */
		bool framing = strcmp(n->name[i], "host") == 0 || strcmp(n->name[i], "te") == 0 ||
			       strcmp(n->name[i], "content-length") == 0 ||
			       strcmp(n->name[i], "connection") == 0 ||
			       strcmp(n->name[i], "upgrade") == 0;

		if (at < h->field_count && naive_same(h->fields[at].name, n->name[i])) {
			naive_squeeze(h->fields[at].value, ours);
			naive_squeeze(slice_of(n->value[i]), theirs);
			if (!framing && strcmp(ours, theirs) != 0)
				return "value";
			at++;
		} else if (!framing) {
			return "name";
		}
	}
	return at == h->field_count ? NULL : "number of fields";
}

/* Parses <text> in steps of <step> bytes, each time at another place. Returns the last status;
 * <out>'s slices point to <buffers>[0 or 1], of <len> bytes each.
 */
static enum h1_status naive_feed(const char *text, size_t len, size_t step, uint8_t options,
				 char *buffers[2], struct h1_head *out, struct h1_parser *p)
{
	enum h1_status status = H1_MORE;
	size_t have = 0, old = 0;
	int turn = 0;

	h1_parser_init(p, options);
	while (status == H1_MORE && have < len) {
		have = len - have < step ? len : have + step;
		/* what was given before keeps its edits */
		memcpy(buffers[!turn], buffers[turn], old);
		memcpy(buffers[!turn] + old, text + old, have - old);
		turn = !turn;
		old = have;
		status = h1_parse_head(p, slice_make(buffers[turn], have), out);
	}
	return status;
}

#endif
