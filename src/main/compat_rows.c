/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compat_rows.c - changes between versions: a row for each default, keyword and meaning
 *
 * A row is a fact stated in the manuals of 3.2 and 3.4 or in messages of these versions, or one
 * that was observed while 2.6, 3.2 and 3.4 ran side by side (tests/system/changed_defaults.py).
 * Each row has its case in tests/system/compat.py, and its line in doc/configuration/upgrades.md.
 */
#include <stddef.h>
#include <string.h>
#include "base/num.h"
#include "conf/conf.h"
#include "compat_priv.h"

/* --- what rows ask ----------------------------------------------------------------------- */

static const char *mode_of(const struct compat_section *s)
{
	const struct compat_line *mode = compat_says(s, "mode");

	return mode && mode->count > 1 ? mode->words[1] : "tcp";
}

static bool is_http(const struct compat_section *s)
{
	return strcmp(mode_of(s), "http") == 0;
}

/* Are there two servers to choose from? */
static bool has_choice(const struct compat_section *s)
{
	int count = 0;

	for (const struct compat_line *l = s->first; l; l = l->next)
		count += compat_line_is(l, "server") ? 1 : compat_line_is(l, "server-template") * 2;
	return count > 1;
}

static bool has_no_balance(const struct compat_site *at)
{
	return has_choice(at->section) && !compat_says(at->section, "balance") &&
	       strcmp(mode_of(at->section), "spop") != 0;
}

static bool says_no_abort(const struct compat_site *at)
{
	return is_http(at->section) && !compat_says(at->section, "option abortonclose");
}

/* Does an option stand on the line, or among the defaults of such lines above it? */
static bool option_stands(const struct compat_site *at, const char *defaults, const char *word)
{
	if (compat_line_has(at->line, 1, word))
		return true;
	for (const struct compat_section *s = at->section; s; s = s->defaults)
		for (const struct compat_line *l = s->first; l; l = l->next)
			if (compat_line_is(l, defaults) && compat_line_has(l, 1, word))
				return true;
	return false;
}

static bool server_says(const struct compat_site *at, const char *word)
{
	return option_stands(at, "default-server", word);
}

static bool bind_lacks_alpn(const struct compat_site *at)
{
	return is_http(at->section) && compat_line_has(at->line, 2, "ssl") &&
	       !compat_line_has(at->line, 2, "alpn") && !compat_line_has(at->line, 2, "no-alpn") &&
	       !compat_line_has(at->line, 2, "npn");
}

static bool bind_lacks_abort(const struct compat_site *at)
{
	return compat_line_has(at->line, 2, "ssl") &&
	       !compat_says(at->section, "option abortonclose");
}

static bool bind_lacks_version(const struct compat_site *at)
{
	const struct compat_line *all = compat_global(at, "ssl-default-bind-options");
	static const char *const words[] = { "ssl-min-ver", "force-sslv3", "force-tlsv10",
					     "force-tlsv11", "force-tlsv12", "force-tlsv13" };

	if (!compat_line_has(at->line, 2, "ssl"))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (compat_line_has(at->line, 2, words[i]) ||
		    (all && compat_line_has(all, 1, words[i])))
			return false;
	return true;
}

static bool server_lacks_sni(const struct compat_site *at)
{
	return is_http(at->section) && server_says(at, "ssl") && !server_says(at, "sni") &&
	       !server_says(at, "no-sni-auto");
}

static bool check_lacks_sni(const struct compat_site *at)
{
	const struct compat_line *send = compat_says(at->section, "http-check send");

	return (server_says(at, "check-ssl") || (server_says(at, "ssl") &&
						  server_says(at, "check"))) &&
	       !server_says(at, "check-sni") && !server_says(at, "no-check-sni-auto") &&
	       !compat_says(at->section, "http-check connect") &&
	       compat_says(at->section, "option httpchk") && send &&
	       (compat_line_has(send, 2, "Host") || compat_line_has(send, 2, "host"));
}

/* A section of the same name above, that is no `defaults`. */
static bool name_is_taken(const struct compat_site *at)
{
	if (at->line->count < 2)
		return false;
	for (const struct compat_section *s = at->sections; s != at->section; s = s->next)
		if (s->place & (IN_FE | IN_BE) && s->opening.count > 1 &&
		    strcmp(s->opening.words[1], at->line->words[1]) == 0)
			return true;
	return false;
}

static bool target_is_disabled(const struct compat_site *at)
{
	if (at->line->count < 2)
		return false;
	for (const struct compat_section *s = at->sections; s; s = s->next)
		if (s->place & IN_BE && s->opening.count > 1 &&
		    strcmp(s->opening.words[1], at->line->words[1]) == 0 &&
		    compat_says(s, "disabled") && !compat_says(s, "enabled"))
			return true;
	return false;
}

static bool page_hides_version(const struct compat_site *at)
{
	return compat_says(at->section, "stats enable|stats uri") == at->line &&
	       !compat_says(at->section, "stats show-version") &&
	       !compat_says(at->section, "stats hide-version");
}

static bool threads_are_chosen(const struct compat_site *at)
{
	return !compat_global(at, "nbthread") && !compat_global(at, "cpu-map") &&
	       !compat_global(at, "cpu-policy") && !compat_global(at, "thread-groups");
}

/* Groups were of 64 threads, where nothing else was said. */
static bool threads_are_many(const struct compat_site *at)
{
	const struct compat_line *l = compat_global(at, "nbthread");

	return l && l->count > 1 && num_prefix_int(l->words[1], NULL) > 16 &&
	       !compat_global(at, "thread-groups") && !compat_global(at, "thread-group") &&
	       !compat_global(at, "max-threads-per-group") && !compat_global(at, "cpu-map");
}

static bool is_all_there_is(const struct compat_site *at)
{
	return at->line->count == 1;
}

static bool names_any_family(const struct compat_site *at)
{
	return compat_line_is(&at->section->opening, "resolvers") &&
	       !compat_global(at, "dns-accept-family");
}

static bool keeps_idle(const struct compat_site *at)
{
	return is_http(at->section) && !compat_says(at->section, "option idle-close-on-response");
}

static bool is_http_section(const struct compat_site *at)
{
	return is_http(at->section);
}

static bool is_program(const struct compat_site *at)
{
	return compat_line_is(at->line, "program");
}

static bool names_process(const struct compat_site *at)
{
	return compat_line_has(at->line, 2, "process");
}

/* A number below 100 without a unit: of milliseconds? */
static bool is_small_time(const struct compat_site *at)
{
	return at->line->count > 2 && conf_is_small_time(at->line->words[2]);
}

static bool hides_headers(const struct compat_site *at)
{
	for (int i = 2; i < at->line->count; i++)
		if (strpbrk(at->line->words[i], "\r\n"))
			return true;
	return false;
}

static bool has_no_strict_limits(const struct compat_site *at)
{
	return compat_global(at, "maxconn|ulimit-n") && !compat_global(at, "strict-limits");
}

static bool maps_threads(const struct compat_site *at)
{
	return at->line->count > 1 && strchr(at->line->words[1], '/') &&
	       !compat_global(at, "thread-groups");
}

static bool is_cut(const struct compat_site *at)
{
	return at->line->is_cut;
}

static bool has_colon(const struct compat_site *at)
{
	return at->line->count > 2 && strchr(at->line->words[2], ':');
}

/* --- rows -------------------------------------------------------------------------------- */

#define GONE(row, version, where, words, instead) \
	{ .name = row, .since = version, .kind = COMPAT_REFUSED, .places = where, .lines = words, \
	  .was = "it was accepted", .is = "it is an error", .keep = instead }
#define RENAMED(row, words, instead) \
	{ .name = row, .since = 303, .kind = COMPAT_TOLD, .places = IN_GLOBAL, .lines = words, \
	  .was = "the name of the setting", \
	  .is = "an older name of the setting: a warning, and an error from 3.5 on", \
	  .keep = instead }

const struct compat_row compat_rows[] = {
	/* defaults */
	{ .name = "balance", .since = 303, .kind = COMPAT_DEFAULT, .places = IN_BE,
	  .applies = has_no_balance, .was = "requests go to the servers in turn (roundrobin)",
	  .is = "requests go to servers at random (random, the better of two)",
	  .keep = "balance roundrobin" },
	{ .name = "abortonclose", .since = 303, .kind = COMPAT_DEFAULT, .places = IN_BE,
	  .applies = says_no_abort,
	  .was = "a client that closes its side after the request still gets its response",
	  .is = "a waiting request is aborted when its client closes its side",
	  .keep = "no option abortonclose" },
	{ .name = "abortonclose-tls", .since = 303, .kind = COMPAT_DEFAULT, .places = IN_FE,
	  .lines = "bind", .applies = bind_lacks_abort,
	  .was = "the handshake of a client that has closed its side is completed",
	  .is = "the handshake of a client that has closed its side is not completed",
	  .keep = "no option abortonclose" },
	{ .name = "sni-auto", .since = 303, .kind = COMPAT_DEFAULT, .places = IN_BE,
	  .lines = "server|server-template", .applies = server_lacks_sni,
	  .was = "no name is sent in the TLS handshake",
	  .is = "the host of the request is sent as the name (SNI) in the TLS handshake",
	  .keep = "no-sni-auto" },
	{ .name = "check-sni-auto", .since = 303, .kind = COMPAT_DEFAULT, .places = IN_BE,
	  .lines = "server|server-template", .applies = check_lacks_sni,
	  .was = "checks send no name in the TLS handshake",
	  .is = "checks send the Host of 'http-check send' as the name (SNI)",
	  .keep = "no-check-sni-auto" },
	{ .name = "alpn", .before = 206, .since = 208, .kind = COMPAT_DEFAULT, .places = IN_FE,
	  .lines = "bind", .applies = bind_lacks_alpn, .was = "clients speak HTTP/1 over TLS",
	  .is = "HTTP/2 is offered to clients (alpn h2,http/1.1)", .keep = "no-alpn" },
	{ .name = "tls-version", .since = 202, .kind = COMPAT_DEFAULT, .places = IN_FE,
	  .lines = "bind", .applies = bind_lacks_version, .was = "TLS 1.0 and 1.1 are accepted",
	  .is = "TLS 1.2 is the oldest version that is accepted", .keep = "ssl-min-ver TLSv1.0" },
	{ .name = "stats-version", .before = 302, .since = 304, .kind = COMPAT_DEFAULT,
	  .places = IN_PROXY, .lines = "stats enable|stats uri", .applies = page_hides_version,
	  .was = "the page shows the program's version",
	  .is = "the page does not show the program's version", .keep = "stats show-version" },
	{ .name = "cpu-policy", .before = 302, .since = 304, .kind = COMPAT_DEFAULT,
	  .places = IN_GLOBAL, .applies = threads_are_chosen,
	  .was = "threads run on the CPUs of the first NUMA node",
	  .is = "threads run on the fastest CPUs of all nodes (cpu-policy performance)",
	  .keep = "cpu-policy first-usable-node" },
	{ .name = "thread-groups", .before = 302, .since = 304, .kind = COMPAT_DEFAULT,
	  .places = IN_GLOBAL, .lines = "nbthread", .applies = threads_are_many,
	  .was = "up to 64 threads make one group",
	  .is = "threads are in groups of at most 16, each with its own idle connections",
	  .keep = "max-threads-per-group 64" },
	{ .name = "dns-accept-family", .since = 303, .kind = COMPAT_DEFAULT, .places = IN_OTHER,
	  .applies = names_any_family, .was = "servers get IPv4 and IPv6 addresses",
	  .is = "servers get IPv6 addresses only where the system has a route for IPv6",
	  .keep = "dns-accept-family ipv4,ipv6" },
	{ .name = "idle-close", .since = 204, .kind = COMPAT_DEFAULT, .places = IN_FE,
	  .applies = keeps_idle,
	  .was = "a soft stop waits for one more request of idle clients",
	  .is = "a soft stop closes the connections of idle clients",
	  .keep = "option idle-close-on-response" },
	{ .name = "strict-limits", .since = 203, .kind = COMPAT_DEFAULT, .places = IN_GLOBAL,
	  .applies = has_no_strict_limits, .was = "limits that cannot be raised give a warning",
	  .is = "limits that cannot be raised prevent the start", .keep = "no strict-limits" },
	/* other meanings */
	{ .name = "use-backend-disabled", .before = 302, .since = 304, .kind = COMPAT_MEANING,
	  .places = IN_FE | IN_RULESET, .lines = "use_backend", .applies = target_is_disabled,
	  .was = "requests that the rule matches get a 503: the backend is disabled",
	  .is = "the rule is skipped as long as the backend is disabled",
	  .keep = "http-request deny deny_status 503, with the rule's condition" },
	{ .name = "h1-strict", .before = 206, .since = 302, .kind = COMPAT_MEANING, .places = IN_FE,
	  .applies = is_http_section,
	  .was = "NUL in a field, '/' in Host and a chunk size before a bare LF are forwarded",
	  .is = "NUL in a field, '/' in Host and a chunk size before a bare LF give 400",
	  .keep = NULL },
	{ .name = "upgrade-body", .before = 206, .since = 302, .kind = COMPAT_MEANING,
	  .places = IN_FE, .applies = is_http_section,
	  .was = "Upgrade of a request with a body is not forwarded",
	  .is = "Upgrade of a request with a body is forwarded",
	  .keep = "http-request del-header upgrade if { req.body_size gt 0 }" },
	/* what is told now */
	{ .name = "master-worker", .since = 303, .kind = COMPAT_TOLD, .places = IN_GLOBAL,
	  .lines = "master-worker", .applies = is_all_there_is,
	  .was = "a master and its worker",
	  .is = "the same, with a warning: it will be removed in 3.5",
	  .keep = "-W on the command line" },
	{ .name = "dispatch", .since = 303, .kind = COMPAT_TOLD, .places = IN_BE,
	  .lines = "dispatch", .was = "receives the requests that no server takes",
	  .is = "the same, with a warning: it will be removed in 3.5",
	  .keep = "server dispatch ADDRESS" },
	{ .name = "transparent", .since = 303, .kind = COMPAT_TOLD, .places = IN_PROXY,
	  .lines = "option transparent", .was = "connects to the client's destination",
	  .is = "the same, with a warning: it will be removed in 3.5",
	  .keep = "server transparent 0.0.0.0" },
	{ .name = "accept-invalid", .before = 206, .since = 302, .kind = COMPAT_TOLD,
	  .places = IN_PROXY,
	  .lines = "option accept-invalid-http-request|option accept-invalid-http-response",
	  .was = "accepts some messages that are not valid",
	  .is = "the same, with a warning: the option has another name",
	  .keep = "option accept-unsafe-violations-in-http-request (-response)" },
	{ .name = "small-timeout", .before = 206, .since = 302, .kind = COMPAT_TOLD,
	  .places = IN_PROXY, .lines = "timeout", .applies = is_small_time,
	  .was = "milliseconds", .is = "milliseconds, with a warning: were seconds meant?",
	  .keep = "the unit: 'ms'" },
	{ .name = "small-resolver-time", .before = 206, .since = 302, .kind = COMPAT_TOLD,
	  .places = IN_OTHER, .lines = "timeout|hold", .applies = is_small_time,
	  .was = "milliseconds", .is = "milliseconds, with a warning: were seconds meant?",
	  .keep = "the unit: 'ms'" },
	{ .name = "cpu-map-threads", .before = 206, .since = 302, .kind = COMPAT_TOLD,
	  .places = IN_GLOBAL, .lines = "cpu-map", .applies = maps_threads,
	  .was = "threads that are not mapped, or share a CPU, are not reported",
	  .is = "a warning about threads that are not mapped while others are, or share a CPU",
	  .keep = "a CPU for each thread" },
	{ .name = "header-colon", .before = 206, .since = 302, .kind = COMPAT_TOLD,
	  .places = IN_RULES,
	  .lines = "http-request set-header|http-request add-header|http-response set-header|"
		   "http-response add-header", .applies = has_colon,
	  .was = "the colon is sent as a part of the name",
	  .is = "the same, with a warning", .keep = "the name without ':'" },
	RENAMED("quic-idle", "tune.quic.frontend.max-idle-timeout",
		"tune.quic.fe.max-idle-timeout"),
	RENAMED("quic-streams", "tune.quic.frontend.max-streams-bidi",
		"tune.quic.fe.stream.max-concurrent"),
	RENAMED("quic-data", "tune.quic.frontend.max-data-size", "tune.quic.fe.stream.rxbuf"),
	RENAMED("quic-window", "tune.quic.frontend.default-max-window-size",
		"tune.quic.fe.cc.max-win-size"),
	RENAMED("quic-ratio", "tune.quic.frontend.stream-data-ratio",
		"tune.quic.fe.stream.data-ratio"),
	RENAMED("quic-glitches", "tune.quic.frontend.glitches-threshold",
		"tune.quic.fe.sec.glitches-threshold"),
	RENAMED("quic-retry", "tune.quic.retry-threshold", "tune.quic.fe.sec.retry-threshold"),
	RENAMED("quic-sockets", "tune.quic.socket-owner", "tune.quic.fe.sock-per-conn"),
	RENAMED("quic-hystart", "tune.quic.cc-hystart", "tune.quic.fe.cc.hystart"),
	RENAMED("quic-losses", "tune.quic.cc.cubic.min-losses",
		"tune.quic.fe.cc.cubic-min-losses"),
	RENAMED("quic-pacing", "tune.quic.disable-tx-pacing", "tune.quic.fe.tx.pacing off"),
	RENAMED("quic-gso", "tune.quic.disable-udp-gso", "tune.quic.fe.tx.udp-gso off"),
	RENAMED("quic-tx-memory", "tune.quic.frontend.max-tx-mem", "tune.quic.mem.tx-max"),
	RENAMED("quic-frame-loss", "tune.quic.max-frame-loss", "tune.quic.fe.cc.max-frame-loss"),
	RENAMED("quic-reorder", "tune.quic.reorder-ratio", "tune.quic.fe.cc.reorder-ratio"),
	/* what is refused now */
	{ .name = "same-name", .since = 303, .kind = COMPAT_REFUSED, .places = IN_FE | IN_BE,
	  .applies = name_is_taken, .was = "a frontend and a backend could have the same name",
	  .is = "an error: each section needs a name of its own", .keep = "another name" },
	{ .name = "empty-word", .since = 303, .kind = COMPAT_REFUSED, .places = IN_ANY,
	  .lines = "*", .applies = is_cut, .was = "an empty word ended the line, with a warning",
	  .is = "an empty word is an error", .keep = "the line without it and what follows" },
	{ .name = "program", .since = 303, .kind = COMPAT_REFUSED, .places = IN_OTHER,
	  .applies = is_program, .was = "the master starts a program beside its worker",
	  .is = "an error: the section was removed", .keep = "a unit of the service manager" },
	{ .name = "quic-buffers", .before = 302, .since = 304, .kind = COMPAT_REFUSED,
	  .places = IN_GLOBAL, .lines = "tune.quic.frontend.conn-tx-buffers.limit",
	  .was = "a warning: without effect", .is = "an error: the keyword was removed",
	  .keep = NULL },
	{ .name = "no-quic", .before = 302, .since = 304, .kind = COMPAT_REFUSED,
	  .places = IN_GLOBAL, .lines = "no-quic", .was = "QUIC listeners get no datagrams",
	  .is = "an error: the keyword was removed", .keep = "tune.quic.listen off" },
	{ .name = "httpchk-headers", .before = 206, .since = 302, .kind = COMPAT_REFUSED,
	  .places = IN_PROXY, .lines = "option httpchk", .applies = hides_headers,
	  .was = "headers after the version are sent by the check",
	  .is = "an error: headers need a line of their own",
	  .keep = "http-check send ... hdr Host NAME" },
	{ .name = "bind-process", .before = 206, .since = 302, .kind = COMPAT_REFUSED,
	  .places = IN_FE, .lines = "bind", .applies = names_process,
	  .was = "the line is for some processes or threads", .is = "an error",
	  .keep = "thread SET" },
	{ .name = "proxy-process", .before = 206, .since = 302, .kind = COMPAT_REFUSED,
	  .places = IN_PROXY, .lines = "bind-process", .was = "a warning: without effect",
	  .is = "an error", .keep = "thread SET on 'bind' lines" },
	{ .name = "stats-process", .before = 206, .since = 302, .kind = COMPAT_REFUSED,
	  .places = IN_GLOBAL, .lines = "stats socket", .applies = names_process,
	  .was = "a warning: without effect", .is = "an error", .keep = "thread SET" },
	GONE("nbproc", 205, IN_GLOBAL, "nbproc|stats bind-process", "nbthread NUMBER"),
	GONE("grace", 205, IN_PROXY, "grace", "'grace' or 'hard-stop-after' in 'global'"),
	GONE("http-proxy", 205, IN_PROXY, "option http_proxy", "http-request set-dst, set-uri"),
	GONE("debug", 202, IN_GLOBAL, "debug", "-d on the command line"),
	GONE("timeout-names", 201, IN_PROXY,
	     "contimeout|clitimeout|srvtimeout|timeout contimeout|timeout clitimeout|"
	     "timeout srvtimeout", "timeout connect, timeout client, timeout server"),
	GONE("redispatch", 201, IN_PROXY, "redispatch|redisp", "option redispatch"),
	GONE("block", 201, IN_RULES, "block", "http-request deny"),
	GONE("request-rewrite", 201, IN_RULES,
	     "reqadd|reqdel|reqidel|reqrep|reqirep|reqallow|reqiallow|reqdeny|reqideny|reqpass|"
	     "reqipass|reqtarpit|reqitarpit|reqsetbe|reqisetbe|cliexp",
	     "http-request add-header, del-header, replace-header, replace-uri, deny, tarpit"),
	GONE("response-rewrite", 201, IN_RULES,
	     "rspadd|rspdel|rspidel|rsprep|rspirep|rspdeny|rspideny|srvexp",
	     "http-response add-header, del-header, replace-header, deny"),
	GONE("http-tunnel", 201, IN_PROXY, "option http-tunnel", "no line at all"),
	{ .name = NULL }
};
