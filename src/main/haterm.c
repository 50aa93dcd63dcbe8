/* SPDX-License-Identifier: GPL-2.0-or-later */
/* haterm.c - the program called by the name of haterm: a configuration made of its command line
 *
 *	haterm -L 127.0.0.1:8000:8443   ->   haproxy -db -f <frontend with use-service haterm>
 *
 * The configuration, and the certificate when none is given, are stored in unnamed files.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "tls/tls.h"
#include "options_priv.h"

#define BINDS_MAX 32
#define WORDS_MAX 16

struct haterm {
	const char *binds[BINDS_MAX];
	unsigned bind_count;
	struct strbuf global;       /* lines of the section */
	const char *bind_options, *cert;
	char cert_path[32], file_path[32];
	char *words[WORDS_MAX];     /* the command line that it becomes */
	int count;
};

static const char usage[] =
"Usage: haterm -L [<ip>]:<port>[:<TLS port>] [-L ...] [option ...]\n"
"  -L   listens there, in the clear (HTTP/1 and HTTP/2), and with TLS on the second port\n"
"  -c   the certificate and key of the TLS port (PEM); else one is made\n"
"  -t   threads (default: one per CPU)\n"
"  -G   adds a line to the section global ; -F adds options to the bind lines\n"
"  -D   goes to the background ; -p writes the process's id to this file\n"
"  -d, -q, -V as in haproxy ; -v shows the version ; -h shows this text\n"
"Targets, e.g. /?s=16k&t=100: s=<size>[k|m|g] r=<status> t=<ms> c=0 not cacheable\n"
"  C=1 close, k=1 chunked, R=1 random bytes, X=<n> more fields\n";

/* --- the configuration ------------------------------------------------------------------------ */

static bool is_port(struct slice text)
{
	int64_t port;

	return num_parse_range(text, 1, 65535, &port);
}

/* "[ip]:port[:tls]" */
static bool put_binds(struct strbuf *out, const struct haterm *h, const char *text)
{
	const char *end = text[0] == '[' ? strchr(text, ']') : text;
	struct slice ip, port, tls = slice_none();
	const char *colon = end ? strchr(end, ':') : NULL;

	if (!colon)
		return false;
	ip = slice_make(text, (size_t)(colon - text));
	port = slice_of(colon + 1);
	colon = strchr(port.ptr, ':');
	if (colon) {
		port.len = (size_t)(colon - port.ptr);
		tls = slice_of(colon + 1);
	}
	if ((port.len || !tls.len) && !is_port(port))
		return false;
	if (port.len)
		strbuf_printf(out, "\tbind \"%.*s:%.*s\" %s\n", SLICE_FMT(ip), SLICE_FMT(port),
			      h->bind_options);
	if (!tls.ptr)
		return true;
	strbuf_printf(out, "\tbind \"%.*s:%.*s\" ssl crt %s alpn h2,http/1.1 %s\n", SLICE_FMT(ip),
		      SLICE_FMT(tls), h->cert, h->bind_options);
	return is_port(tls);
}

static bool needs_cert(const struct haterm *h)
{
	struct strbuf none;
	bool tls;

	strbuf_init(&none);
	for (unsigned i = 0; i < h->bind_count; i++)
		put_binds(&none, h, h->binds[i]);
	tls = none.len && strstr(none.ptr, " ssl ") != NULL;
	strbuf_fini(&none);
	return tls;
}

static bool make_cert(struct haterm *h)
{
	struct strbuf pem;
	bool good;

	strbuf_init(&pem);
	good = tls_self_signed("haterm", &pem);
	if (!good)
		diag_say(DIAG_ALERT, "haterm: cannot make a certificate: no TLS in this program?");
	good = good && memory_file(strbuf_slice(&pem), "haterm.pem", h->cert_path,
				   sizeof(h->cert_path));
	h->cert = h->cert_path;
	strbuf_fini(&pem);
	return good;
}

static bool make_configuration(struct haterm *h)
{
	struct strbuf text;
	bool good = true;

	if (!h->cert && needs_cert(h) && !make_cert(h))
		return false;
	strbuf_init(&text);
	strbuf_printf(&text, "global\n%.*s\n"
		      "defaults\n\tmode http\n\ttimeout client 1m\n"
		      "\ttimeout server 2h\n\ttimeout http-keep-alive 10m\n"
		      "frontend haterm\n", SLICE_FMT(strbuf_slice(&h->global)));
	for (unsigned i = 0; good && i < h->bind_count; i++) {
		good = put_binds(&text, h, h->binds[i]);
		if (!good)
			diag_say(DIAG_ALERT, "haterm: '%s' is no address: [<ip>]:<port>[:<TLS "
				 "port>]",
				 h->binds[i]);
	}
	strbuf_add_str(&text, "\thttp-request use-service haterm direct\n");
	good = good && !text.overflow &&
	       memory_file(strbuf_slice(&text), "haterm.cfg", h->file_path,
			   sizeof(h->file_path));
	strbuf_fini(&text);
	return good;
}

/* --- the command line ------------------------------------------------------------------------- */

static bool take_value(struct haterm *h, char letter, char *value)
{
	switch (letter) {
	case 'L':
		if (h->bind_count == BINDS_MAX)
			return false;
		h->binds[h->bind_count++] = value;
		return true;
	case 'c':
		h->cert = value;
		return true;
	case 't':
		return strbuf_printf(&h->global, "\tnbthread %s\n", value);
	case 'G':
		return strbuf_printf(&h->global, "\t%s\n", value);
	case 'F':
		h->bind_options = value;
		return true;
	case 'p':
		h->words[h->count++] = "-p";
		h->words[h->count++] = value;
		return true;
	}
	return false;
}

/* False: it is not to be served; *status tells how to exit. */
static bool read_words(struct haterm *h, int argc, char **argv)
{
	static const char *const same[] = { "-D", "-d", "-q", "-V", "-v", "-vv" };
	bool known;

	for (int i = 1; i < argc; i++) {
		if (h->count > WORDS_MAX - 8)
			return false;
		known = false;
		for (size_t j = 0; j < ARRAY_LEN(same); j++)
			if (strcmp(argv[i], same[j]) == 0) {
				h->words[h->count++] = argv[i];
				known = true;
			}
		if (known)
			continue;
		if (argv[i][0] != '-' || !argv[i][1] || argv[i][2] || i + 1 == argc ||
		    !take_value(h, argv[i][1], argv[i + 1]))
			return false;
		i++;
	}
	return true;
}

static bool only_version(const struct haterm *h)
{
	for (int i = 1; i < h->count; i++)
		if (strncmp(h->words[i], "-v", 2) == 0)
			return true;
	return false;
}

bool haterm_enter(int *argc, char ***argv, int *status)
{
	static struct haterm h = { .bind_options = "" };

	strbuf_init(&h.global);
	h.words[h.count++] = (*argv)[0];
	if (!read_words(&h, *argc, *argv) || (!h.bind_count && !only_version(&h))) {
		bool asked = *argc == 2 && strcmp((*argv)[1], "-h") == 0;

		fputs(usage, asked ? stdout : stderr);
		*status = asked ? 0 : 1;
		strbuf_fini(&h.global);
		return false;
	}
	*status = 1;
	if (h.bind_count) {
		if (!make_configuration(&h)) {
			strbuf_fini(&h.global);
			return false;
		}
		h.words[h.count++] = "-f";
		h.words[h.count++] = h.file_path;
	}
	strbuf_fini(&h.global);
	*argc = h.count;
	*argv = h.words;
	return true;
}
