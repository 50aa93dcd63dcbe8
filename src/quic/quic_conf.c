/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_conf.c - edge file: QUIC's settings, and its start
 *
 * Manual: configuration 3.1 limited-quic, cluster-secret, harden.reject-privileged-ports.quic; 3.2
 * tune.quic.*; 5.1 quic-*
 */
#include <stdlib.h>
#include <string.h>
#include "base/module.h"
#include "base/num.h"
#include "conf/conf.h"
#include "conn_priv.h"
#include "module_priv.h"
#include "quic_trace.h"
#include "recovery_priv.h"
#include "stream_priv.h"
#include "token_priv.h"
#include "udp_priv.h"

#define WINDOW_LEAST 10240
#define WINDOW_MOST (INT64_C(4) << 30)

/* The member that the keyword sets. */
static void *tune_of(struct conf_line *l)
{
	return (char *)slot_of(&quic_tune_slot, config_slots(l->cfg)) + l->keyword->offset;
}

/* keyword->offset: a bool; keyword->min: what "on" makes of it. */
static bool parse_switch(struct conf_line *l)
{
	bool *value = (bool *)tune_of(l);
	const char *word = conf_next(l);

	if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' expects 'on' or 'off'.",
				  l->keyword->words);
	*value = (strcmp(word, "on") == 0) == (l->keyword->min != 0);
	return true;
}

static bool is_window(uint64_t n)
{
	return n >= WINDOW_LEAST && n <= (uint64_t)WINDOW_MOST;
}

static bool parse_window(struct conf_line *l)
{
	uint64_t n;

	if (!conf_take_size(l, &n))
		return false;
	if (!is_window(n))
		return conf_error(l, l->at - 1, NULL, "'%s' : should be between 10k and 4g",
				  l->keyword->words);
	*(uint64_t *)tune_of(l) = n;
	return true;
}

/* Both sides share it. */
static bool parse_tx_max(struct conf_line *l)
{
	struct quic_both_tunes *both = slot_of(&quic_tune_slot, config_slots(l->cfg));
	uint64_t n;

	if (!conf_take_size(l, &n))
		return false;
	if (!n)
		return conf_error(l, l->at - 1, NULL, "'%s' expects a positive integer.",
				  l->keyword->words);
	both->fe.tx_max = both->be.tx_max = n;
	return true;
}

/* --- bind and server lines -------------------------------------------------------------------- */

static struct quic_line *line_of(struct conf_line *l)
{
	return slot_of(l->keyword->where & CONF_BIND ? &quic_line_slot : &quic_server_slot,
		       l->slots);
}

static bool parse_force_retry(struct conf_line *l)
{
	line_of(l)->force_retry = true;
	return true;
}

/* "(<size>)", which may be empty. */
static bool parse_algo_window(struct conf_line *l, const char *text)
{
	size_t len = strlen(text), at;
	uint64_t n;

	if (len < 2 || text[0] != '(' || text[len - 1] != ')')
		return conf_error(l, l->at - 1, NULL,
				  "'quic-cc-algo' : '(<size>)' is expected behind the algorithm");
	if (len == 2)
		return true;
	if (num_parse_size(slice_make(text + 1, len - 2), &n, &at) != NUM_OK || !is_window(n))
		return conf_error(l, l->at - 1, NULL,
				  "'quic-cc-algo' : should be between 10k and 4g");
	line_of(l)->window_max = n;
	return true;
}

static bool parse_algo(struct conf_line *l)
{
	static const char *const names[] = {
		[QUIC_CC_CUBIC] = "cubic", [QUIC_CC_NEWRENO] = "newreno", [QUIC_CC_NONE] = "nocc",
		[QUIC_CC_BBR] = "bbr",
	};
	const char *word = conf_next(l);
	size_t len = strcspn(word, "(");

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == len && memcmp(names[i], word, len) == 0) {
			if (i == QUIC_CC_NONE && !conf_experimental(l->cfg))
				return conf_error(l, l->at - 1, NULL,
						  "'nocc' algo is experimental, must be allowed "
						  "via a global 'expose-experimental-directives'");
			line_of(l)->algo = (uint8_t)i;
			return !word[len] || parse_algo_window(l, word + len);
		}
	return conf_error(l, l->at - 1, NULL, "'%s' : unknown control congestion algorithm, "
			  "use 'cubic', 'newreno', 'bbr' or 'nocc'", word);
}

static bool parse_socket(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (strcmp(word, "listener") == 0)
		line_of(l)->sockets = QUIC_SOCKETS_SHARED;
	else if (strcmp(word, "connection") == 0)
		line_of(l)->sockets = QUIC_SOCKETS_OWN;
	else
		return conf_error(l, l->at - 1, NULL, "'quic-socket' : unknown argument '%s', use "
				  "either 'connection' or 'listener'", word);
	return true;
}

static bool parse_socket_owner(struct conf_line *l)
{
	bool old = l->keyword->flags & CONF_RENAMED;
	const char *word = conf_next(l), *shared = old ? "listener" : "force-off",
		   *own = old ? "connection" : "default-on";

	if (strcmp(word, shared) == 0 || strcmp(word, own) == 0) {
		*(uint8_t *)tune_of(l) = strcmp(word, own) == 0 ? QUIC_SOCKETS_OWN
								: QUIC_SOCKETS_SHARED;
		return true;
	}
	return conf_error(l, l->at - 1, NULL, "'%s' expects either '%s' or '%s' but got '%s'.",
			  l->keyword->words, old ? shared : own, old ? own : shared, word);
}

#define TUNE(text, member) .words = text, .where = CONF_GLOBAL, .min_args = 1, .max_args = 1, \
	.slot = &quic_tune_slot, .offset = offsetof(struct quic_both_tunes, member)
#define NUMBER_OF(text, member, low, high) \
	TUNE(text, member), .type = CONF_INT, .min = low, .max = high, .syntax = "<number>"
#define NUMBER(text, member, low, high, what) \
	{ NUMBER_OF(text, member, low, high), .help = what }

#define RENAMED(new) .flags = CONF_RENAMED, .hint = new
#define SWITCH(text, member, on) \
	TUNE(text, member), .parse = parse_switch, .min = on, .syntax = "{ on | off }"

static const struct conf_keyword keywords[] = {
	{ TUNE("cluster-secret", fe.secret), .type = CONF_STRING, .syntax = "<secret>",
	  .help = "what tokens of QUIC are made of, the same on all nodes" },
	{ TUNE("harden.reject-privileged-ports.quic", fe.any_port), .parse = parse_switch, .min = 0,
	  .syntax = "{ on | off }", .help = "drop QUIC clients whose port is below 1024" },
	{ .words = "limited-quic", .where = CONF_GLOBAL, .type = CONF_FLAG, .slot = &quic_tune_slot,
	  .offset = offsetof(struct quic_both_tunes, fe.limited),
	  .help = "QUIC with a TLS library that was not made for it" },
	{ TUNE("tune.quic.fe.cc.max-win-size", fe.window_max), .parse = parse_window,
	  .syntax = "<size>", .help = "largest congestion window of a client's connection" },
	{ TUNE("tune.quic.fe.max-idle-timeout", fe.idle_ms), .type = CONF_TIME_MS, .min = 0,
	  .max = INT32_MAX, .syntax = "<timeout>",
	  .help = "silence that ends a client's connection" },
	NUMBER("tune.quic.fe.sec.retry-threshold", fe.retry_threshold, 1, INT32_MAX,
	       "handshakes going on above which clients are sent a Retry"),
	NUMBER("tune.quic.fe.stream.data-ratio", fe.data_ratio, 1, 100,
	       "part of the received bytes that one stream may hold"),
	NUMBER("tune.quic.fe.stream.max-concurrent", fe.streams, 1, 1 << 20,
	       "requests at once on a client's connection"),
	NUMBER("tune.quic.fe.stream.max-total", fe.streams_total, 1, INT32_MAX,
	       "requests that a client's connection may carry"),
	{ TUNE("tune.quic.fe.stream.rxbuf", fe.rxbuf), .type = CONF_SIZE, .min = 1,
	  .max = UINT32_MAX, .syntax = "<size>", .help = "bytes that a client may upload at once" },
	{ TUNE("tune.quic.listen", fe.off), .parse = parse_switch, .min = 0,
	  .syntax = "{ on | off }", .help = "read datagrams of QUIC clients" },
	NUMBER("tune.quic.fe.cc.cubic-min-losses", fe.cubic_losses, 1, INT32_MAX,
	       "losses between two acknowledgements that CUBIC takes for congestion"),
	{ SWITCH("tune.quic.fe.cc.hystart", fe.hystart, 1),
	  .help = "slow start ends when round trips become longer (HyStart++)" },
	NUMBER("tune.quic.fe.sec.glitches-threshold", fe.glitches, 1, INT32_MAX,
	       "faults of a client that end its connection"),
	{ TUNE("tune.quic.fe.sock-per-conn", fe.sockets), .parse = parse_socket_owner,
	  .syntax = "{ default-on | force-off }", .help = "connections have sockets of their own" },
	{ SWITCH("tune.quic.fe.tx.pacing", fe.unpaced, 0),
	  .help = "datagrams leave one after the other, not in bursts" },
	{ SWITCH("tune.quic.fe.tx.udp-gso", fe.no_gso, 0),
	  .help = "several datagrams are given to the kernel at once" },

	NUMBER("tune.quic.be.cc.cubic-min-losses", be.cubic_losses, 1, INT32_MAX,
	       "the same, to servers"),
	NUMBER("tune.quic.be.cc.max-frame-loss", be.frame_losses, 1, INT32_MAX,
	       "the same, to servers"),
	NUMBER("tune.quic.be.cc.reorder-ratio", be.reorder_ratio, 1, 100, "the same, to servers"),
	NUMBER("tune.quic.fe.cc.max-frame-loss", fe.frame_losses, 1, INT32_MAX,
	       "losses of the same bytes that end a connection"),
	NUMBER("tune.quic.fe.cc.reorder-ratio", fe.reorder_ratio, 1, 100,
	       "packets that may be out of order, in percent of those under way"),
	{ TUNE("tune.quic.mem.tx-max", fe.tx_max), .parse = parse_tx_max, .syntax = "<size>",
	  .help = "bytes that all connections of QUIC may have under way" },
	{ SWITCH("tune.quic.be.cc.hystart", be.hystart, 1), .help = "the same, to servers" },
	{ TUNE("tune.quic.be.cc.max-win-size", be.window_max), .parse = parse_window,
	  .syntax = "<size>", .help = "largest congestion window of a server's connection" },
	{ TUNE("tune.quic.be.max-idle-timeout", be.idle_ms), .type = CONF_TIME_MS, .min = 0,
	  .max = INT32_MAX, .syntax = "<timeout>",
	  .help = "silence that ends a server's connection" },
	NUMBER("tune.quic.be.sec.glitches-threshold", be.glitches, 1, INT32_MAX,
	       "faults of a server that end its connection"),
	NUMBER("tune.quic.be.stream.data-ratio", be.data_ratio, 1, 100,
	       "part of the received bytes that one stream may hold"),
	NUMBER("tune.quic.be.stream.max-concurrent", be.streams, 1, 1 << 20,
	       "requests at once on a server's connection"),
	{ TUNE("tune.quic.be.stream.rxbuf", be.rxbuf), .type = CONF_SIZE, .min = 1,
	  .max = UINT32_MAX, .syntax = "<size>", .help = "bytes that a server may send at once" },
	{ SWITCH("tune.quic.be.tx.pacing", be.unpaced, 0), .help = "the same, to servers" },
	{ SWITCH("tune.quic.be.tx.udp-gso", be.no_gso, 0), .help = "the same, to servers" },

	{ NUMBER_OF("tune.quic.cc.cubic.min-losses", fe.cubic_losses, 1, INT32_MAX),
	  RENAMED("tune.quic.fe.cc.cubic-min-losses"), .help = "old name" },
	{ SWITCH("tune.quic.cc-hystart", fe.hystart, 1),
	  RENAMED("tune.quic.fe.cc.hystart"), .help = "old name" },
	{ .words = "tune.quic.disable-tx-pacing", .where = CONF_GLOBAL, .type = CONF_FLAG,
	  .slot = &quic_tune_slot, .offset = offsetof(struct quic_both_tunes, fe.unpaced),
	  RENAMED("tune.quic.fe.tx.pacing"), .help = "old name of its \"off\"" },
	{ .words = "tune.quic.disable-udp-gso", .where = CONF_GLOBAL, .type = CONF_FLAG,
	  .slot = &quic_tune_slot, .offset = offsetof(struct quic_both_tunes, fe.no_gso),
	  RENAMED("tune.quic.fe.tx.udp-gso"), .help = "old name of its \"off\"" },
	{ TUNE("tune.quic.frontend.default-max-window-size", fe.window_max), .parse = parse_window,
	  .syntax = "<size>", RENAMED("tune.quic.fe.cc.max-win-size"), .help = "old name" },
	{ NUMBER_OF("tune.quic.frontend.glitches-threshold", fe.glitches, 1, INT32_MAX),
	  RENAMED("tune.quic.fe.sec.glitches-threshold"), .help = "old name" },
	{ TUNE("tune.quic.frontend.max-data-size", fe.rxbuf), .type = CONF_SIZE, .min = 1,
	  .max = UINT32_MAX, .syntax = "<size>", RENAMED("tune.quic.fe.stream.rxbuf"),
	  .help = "old name" },
	{ TUNE("tune.quic.frontend.max-idle-timeout", fe.idle_ms), .type = CONF_TIME_MS, .min = 0,
	  .max = INT32_MAX, .syntax = "<timeout>", RENAMED("tune.quic.fe.max-idle-timeout"),
	  .help = "old name" },
	{ NUMBER_OF("tune.quic.frontend.max-streams-bidi", fe.streams, 1, 1 << 20),
	  RENAMED("tune.quic.fe.stream.max-concurrent"), .help = "old name" },
	{ NUMBER_OF("tune.quic.frontend.stream-data-ratio", fe.data_ratio, 1, 100),
	  RENAMED("tune.quic.fe.stream.data-ratio"), .help = "old name" },
	{ NUMBER_OF("tune.quic.retry-threshold", fe.retry_threshold, 1, INT32_MAX),
	  RENAMED("tune.quic.fe.sec.retry-threshold"), .help = "old name" },
	{ TUNE("tune.quic.frontend.max-tx-mem", fe.tx_max), .parse = parse_tx_max,
	  .syntax = "<size>", RENAMED("tune.quic.mem.tx-max"), .help = "old name" },
	{ NUMBER_OF("tune.quic.max-frame-loss", fe.frame_losses, 1, INT32_MAX),
	  RENAMED("tune.quic.fe.cc.max-frame-loss"), .help = "old name" },
	{ NUMBER_OF("tune.quic.reorder-ratio", fe.reorder_ratio, 1, 100),
	  RENAMED("tune.quic.fe.cc.reorder-ratio"), .help = "old name" },
	{ TUNE("tune.quic.socket-owner", fe.sockets), .parse = parse_socket_owner,
	  .syntax = "{ connection | listener }", RENAMED("tune.quic.fe.sock-per-conn"),
	  .help = "old name" },

	{ .words = "quic-cc-algo", .where = CONF_BIND, .min_args = 1, .max_args = 1,
	  .parse = parse_algo, .syntax = "{ cubic | newreno | bbr | nocc }[(<size>)]",
	  .help = "congestion control of QUIC" },
	{ .words = "quic-cc-algo", .where = CONF_SERVER, .min_args = 1, .max_args = 1,
	  .parse = parse_algo, .syntax = "{ cubic | newreno | bbr | nocc }[(<size>)]",
	  .help = "congestion control of QUIC" },
	{ .words = "quic-force-retry", .where = CONF_BIND, .parse = parse_force_retry,
	  .help = "QUIC clients prove their address first" },
	{ .words = "quic-socket", .where = CONF_BIND, .min_args = 1, .max_args = 1,
	  .parse = parse_socket, .syntax = "{ connection | listener }",
	  .help = "connections of QUIC have sockets of their own" },
	{ 0 }
};

static bool quic_start(struct config *cfg, struct diag_list *diags)
{
	const char *secret = quic_tunes_of(cfg)->secret;
	static bool done;

	if (done) /* another generation goes live: tokens stay good */
		return true;
	done = quic_secret_set(secret, secret ? strlen(secret) : 0) && quic_recovery_init() &&
	       quic_stream_init() && quic_conn_init() && quic_udp_init();
	return done;
}

static struct slot *const slots[] = {
	&quic_tune_slot, &quic_line_slot, &quic_server_slot, NULL,
};

static struct trace_source *const traces[] = { &trace_quic, NULL };

const struct module mod_quic = {
	.name = "quic", .keywords = keywords, .commands = quic_commands, .slots = slots,
	.traces = traces,
	.start = quic_start, .thread_init = quic_udp_thread_init,
	.thread_fini = quic_udp_thread_fini,
};
