/* SPDX-License-Identifier: GPL-2.0-or-later */
/* haload.c - the program called by the name of haload: a plan, and a configuration with its server
 *
 *	haload -c 100 http://127.0.0.1:8000/   ->   haproxy -f <backend haload>, no listener
 *
 * Options are those that users of h1load know.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "codec/uri.h"
#include "ext/load.h"
#include "options_priv.h"

/* Bytes that a server may have under way on a connection of HTTP/3: what 100 streams have. */
#define H3_WINDOW "1600k"

#define FIELDS_MAX 64

static struct haload {
	struct load_plan plan;
	const char *fields[FIELDS_MAX + 1];
	unsigned field_count, threads;
	struct strbuf global;
	char file_path[32], *words[8];
} haload = {
	.plan = { .method = "GET", .conns = 1, .streams = 1 }, .threads = 1,
};

static const char usage[] =
"Usage: haload [option ...] http[s]://<host>[:<port>]/<path>\n"
"  -c   connections (1)                    -m   requests at once on each (1)\n"
"  -t   threads (1)                        -d   duration in seconds (0: no limit)\n"
"  -n   requests in all (0: no limit)      -r   requests of a connection (0: no limit)\n"
"  -R   requests a second (0: no limit)    -s   seconds until all connections, and the whole\n"
"  -T   pause after an answer, ms (0)           rate, are there: ramp (0)\n"
"  -w   longest wait for an answer, ms     -H   adds a field: \"name: value\"\n"
"  -2   HTTP/2 ; -3 HTTP/3, of https://    -I   HEAD instead of GET ; -M another method\n"
"  -e   ends at the first error            -l   lines of plain numbers ; -q no lines\n"
"  -o   draws the run into this file (SVG) -G   adds a line to the section global\n"
"  -h   shows this text\n"
"Lines: time, connections open and made, requests, bytes of bodies and errors so far;\n"
"connections, requests and bits in this second; mean time to the first byte.\n"
"Certificates are not verified.\n";

/* --- the command line ------------------------------------------------------------------------- */

static bool take_count(const char *text, uint64_t most, uint64_t *out)
{
	int64_t v;

	if (!num_parse_range(slice_of(text), 0, (int64_t)most, &v))
		return false;
	*out = (uint64_t)v;
	return true;
}

static bool take_unsigned(const char *text, unsigned most, unsigned *out)
{
	uint64_t v;

	if (!take_count(text, most, &v) || !v)
		return false;
	*out = (unsigned)v;
	return true;
}

/* Bare numbers are of <unit_us>; others have a unit. */
static bool take_time(const char *text, uint64_t unit_us, int64_t *out_ms)
{
	uint64_t us;

	if (num_parse_time(slice_of(text), unit_us, &us, NULL) != NUM_OK || us > 1ull << 50)
		return false;
	*out_ms = (int64_t)num_us_to_ms(us);
	return true;
}

static bool take_rate(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && *out >= 0 && *out < 1e9;
}

static bool take_value(struct haload *h, char letter, const char *text)
{
	struct load_plan *p = &h->plan;

	switch (letter) {
	case 'c': return take_unsigned(text, 10000000, &p->conns);
	case 'm': return take_unsigned(text, 100000, &p->streams);
	case 't': return take_unsigned(text, 1024, &h->threads);
	case 'd': return take_time(text, NUM_SEC, &p->duration_ms);
	case 's': return take_time(text, NUM_SEC, &p->ramp_ms);
	case 'T': return take_time(text, NUM_MS, &p->think_ms);
	case 'w': return take_time(text, NUM_MS, &p->timeout_ms);
	case 'n': return take_count(text, INT64_MAX, &p->requests);
	case 'r': return take_count(text, INT64_MAX, &p->per_conn);
	case 'R': return take_rate(text, &p->rate);
	case 'G': return strbuf_printf(&h->global, "\t%s\n", text);
	case 'M':
		p->method = text;
		return *text;
	case 'o':
		p->curve = text;
		return true;
	case 'H':
		if (h->field_count == FIELDS_MAX || !strchr(text, ':'))
			return false;
		h->fields[h->field_count++] = text;
		return true;
	}
	return false;
}

/* Options without a value; false: it is none. */
static bool take_switch(struct load_plan *p, char letter)
{
	switch (letter) {
	case '2': p->proto = "h2"; return true;
	case '3': p->proto = "quic"; return true;
	case 'e': return p->stop_on_error = true;
	case 'l': return p->long_format = true;
	case 'q': return p->quiet = true;
	case 'I':
		p->method = "HEAD";
		return true;
	}
	return false;
}

/* NULL, or the word that is not understood. */
static const char *read_words(struct haload *h, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (word[0] != '-' && !h->plan.url) {
			h->plan.url = word;
			continue;
		}
		if (word[0] != '-' || !word[1] || word[2])
			return word;
		if (take_switch(&h->plan, word[1]))
			continue;
		if (i + 1 == argc || !take_value(h, word[1], argv[++i]))
			return word;
	}
	return NULL;
}

/* --- the configuration ------------------------------------------------------------------------ */

static bool has_quote(struct slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if (strchr("\"\\ $", text.ptr[i]))
			return true;
	return false;
}

/* One server, in the section that the load generator looks for. */
static bool make_configuration(struct haload *h)
{
	const struct load_plan *p = &h->plan;
	char h3[200];
	struct strbuf text;
	struct uri uri;
	bool tls, quic = p->proto && strcmp(p->proto, "quic") == 0, good;

	if (!uri_parse(slice_of(p->url), false, &uri) || !uri.host.len || has_quote(uri.host) ||
	    (!slice_eq(uri.scheme, SLICE("http")) && !slice_eq(uri.scheme, SLICE("https")))) {
		diag_say(DIAG_ALERT, "haload: '%s' is no URL: http[s]://<host>[:<port>]/<path>",
			 p->url);
		return false;
	}
	tls = slice_eq(uri.scheme, SLICE("https"));
	if (quic && !tls) {
		diag_say(DIAG_ALERT, "haload: HTTP/3 is for https:// only, not for '%s'",
			 p->url);
		return false;
	}
	/* (without it the window of a connection is as few buffers as it has streams) */
	snprintf(h3, sizeof(h3), "\tlimited-quic\n\texpose-experimental-directives\n"
		 "\ttune.quic.be.stream.max-concurrent %u\n"
		 "\ttune.quic.be.stream.rxbuf " H3_WINDOW "\n", p->streams);
	strbuf_init(&text);
	strbuf_printf(&text, "global\n\tnbthread %u\n\tmaxconn %u\n%.*s\n"
		      "\ttune.h2.be.max-concurrent-streams %u\n%s"
		      "defaults\n\tmode http\n\ttimeout connect 1m\n\ttimeout server 1h\n"
		      "backend " LOAD_BACKEND "\n\tserver target \"%s%.*s:%u\" %s\n", h->threads,
		      p->conns + 100, SLICE_FMT(strbuf_slice(&h->global)), p->streams,
		      quic ? h3 : "", quic ? "quic+ip@" : "",
		      SLICE_FMT(uri.host), uri.port ? uri.port : tls ? 443u : 80u,
		      tls ? "ssl verify none" : "");
	good = !text.overflow && memory_file(strbuf_slice(&text), "haload.cfg", h->file_path,
					     sizeof(h->file_path));
	strbuf_fini(&text);
	return good;
}

bool haload_enter(int *argc, char ***argv, int *status)
{
	struct haload *h = &haload;
	const char *bad;
	bool good, asked = *argc == 2 && strcmp((*argv)[1], "-h") == 0;

	strbuf_init(&h->global);
	bad = asked ? NULL : read_words(h, *argc, *argv);
	*status = asked ? 0 : 1;
	if (bad)
		fprintf(stderr, "haload: '%s' is not understood.\n", bad);
	if (bad || !h->plan.url) {
		fputs(usage, asked ? stdout : stderr);
		strbuf_fini(&h->global);
		return false;
	}
	if (h->plan.conns < h->threads)
		h->threads = h->plan.conns;
	h->plan.fields = h->fields;
	good = make_configuration(h);
	strbuf_fini(&h->global);
	if (!good)
		return false;
	load_set_plan(&h->plan);
	h->words[0] = (*argv)[0];
	h->words[1] = "-q";
	h->words[2] = "-f";
	h->words[3] = h->file_path;
	*argc = 4;
	*argv = h->words;
	return true;
}
