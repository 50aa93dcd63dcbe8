/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_conf.c - edge file: tune.h2.*, limits of glitches, and the start-up of the HTTP/2 mux */
#include <stdlib.h>
#include <string.h>
#include "base/module.h"
#include "conf/conf.h"
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_out_priv.h"
#include "h2_stream_priv.h"
#include "h2_tune_priv.h"
#include "trace_priv.h"

static struct h2_tunes *tunes_of(struct conf_line *l)
{
	return slot_of(&h2_tune_slot, config_slots(l->cfg));
}

static bool parse_log_errors(struct conf_line *l)
{
	const char *word = conf_next(l);
	struct h2_tunes *t = tunes_of(l);

	if (strcmp(word, "none") == 0)
		t->log_errors = H2_LOG_NONE;
	else if (strcmp(word, "connection") == 0)
		t->log_errors = H2_LOG_CONNECTION;
	else if (strcmp(word, "stream") == 0)
		t->log_errors = H2_LOG_STREAM;
	else
		return conf_error(l, 1, NULL, "'tune.h2.log-errors' expects 'none', 'connection', "
				  "or 'stream'");
	return true;
}

/* 0, or a percentage from 100 on. */
static bool parse_elasticity(struct conf_line *l)
{
	const char *word = conf_next(l);
	char *end;
	long v = word ? strtol(word, &end, 10) : -1;

	if (v < 0 || *end || (v && v < 100) || v > 1000000)
		return conf_error(l, word ? 1 : 0, NULL, "'tune.streams-elasticity' expects 0 or a "
				  "positive percentage value of 100 or above");
	tunes_of(l)->elasticity = (int)v;
	return conf_take_end(l);
}

#define NUMBER(text, member, low, high, what) \
	{ .words = text, .where = CONF_GLOBAL, .min_args = 1, .max_args = 1, .type = CONF_INT, \
	  .slot = &h2_tune_slot, .offset = offsetof(struct h2_tunes, member), .min = low, \
	  .max = high, .syntax = "<number>", .help = what }
#define SIZE(text, member, what) \
	{ .words = text, .where = CONF_GLOBAL, .min_args = 1, .max_args = 1, .type = CONF_SIZE, \
	  .slot = &h2_tune_slot, .offset = offsetof(struct h2_tunes, member), .min = 0, \
	  .max = INT32_MAX, .syntax = "<size>", .help = what }

static const struct conf_keyword keywords[] = {
	{ .words = "h2-workaround-bogus-websocket-clients", .where = CONF_GLOBAL, .type = CONF_FLAG,
	  .flags = CONF_CAN_NO, .slot = &h2_tune_slot,
	  .offset = offsetof(struct h2_tunes, no_websockets),
	  .help = "clients are not offered WebSockets over HTTP/2" },
	NUMBER("tune.h1.be.glitches-threshold", h1_be_glitches, 0, INT32_MAX,
	       "oddities of a server of HTTP/1 that end its connection"),
	NUMBER("tune.h1.fe.glitches-threshold", h1_fe_glitches, 0, INT32_MAX,
	       "oddities of a client of HTTP/1 that end its connection"),
	NUMBER("tune.h2.fe.glitches-threshold", fe.glitches, 0, INT32_MAX,
	       "oddities of a client that end its connection"),
	NUMBER("tune.h2.fe.initial-window-size", fe.window, 0, INT32_MAX,
	       "bytes that a stream may upload unasked"),
	NUMBER("tune.h2.fe.max-concurrent-streams", fe.streams, 0, INT32_MAX,
	       "requests at once on a client's connection"),
	NUMBER("tune.h2.fe.max-frames-at-once", fe.frames_at_once, 0, INT32_MAX,
	       "frames of a client handled before others get their turn"),
	NUMBER("tune.h2.fe.max-rst-at-once", fe.rst_at_once, 0, INT32_MAX,
	       "resets by a client handled before others get their turn"),
	NUMBER("tune.h2.fe.max-total-streams", fe.total_streams, 0, INT32_MAX,
	       "requests that a client's connection may carry"),
	SIZE("tune.h2.fe.rxbuf", fe.rxbuf, "bytes that a client may upload at once"),
	NUMBER("tune.h2.be.glitches-threshold", be.glitches, 0, INT32_MAX,
	       "oddities of a server that end its connection"),
	NUMBER("tune.h2.be.initial-window-size", be.window, 0, INT32_MAX,
	       "bytes that a server may send on a stream unasked"),
	NUMBER("tune.h2.be.max-concurrent-streams", be.streams, 0, INT32_MAX,
	       "requests at once on a connection to a server"),
	NUMBER("tune.h2.be.max-frames-at-once", be.frames_at_once, 0, INT32_MAX,
	       "frames of a server handled before others get their turn"),
	SIZE("tune.h2.be.rxbuf", be.rxbuf, "bytes that a server may send at once"),
	NUMBER("tune.h2.header-table-size", table_size, HPACK_TABLE_SIZE, 65536,
	       "bytes of the table of header fields"),
	NUMBER("tune.h2.initial-window-size", window, 0, INT32_MAX,
	       "initial window of streams, both sides"),
	{ .words = "tune.h2.log-errors", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .parse = parse_log_errors, .syntax = "{ none | connection | stream }",
	  .help = "which HTTP/2 errors are logged" },
	NUMBER("tune.h2.max-concurrent-streams", streams, 0, INT32_MAX,
	       "requests at once on a connection, both sides"),
	NUMBER("tune.h2.max-frame-size", frame_size, H2_FRAME_SIZE_MIN, H2_FRAME_SIZE_MAX,
	       "largest frame to receive"),
	{ .words = "tune.streams-elasticity", .where = CONF_GLOBAL, .max_args = -1,
	  .parse = parse_elasticity, .syntax = "<percent>",
	  .help = "streams for each client's connection when all are there, 0: no matter" },
	NUMBER("tune.glitches.kill.cpu-usage", kill_cpu_percent, 0, 100,
	       "CPU usage from which odd connections are ended"),
	{ 0 }
};

static bool h2_start(struct config *cfg, struct diag_list *diags)
{
	h2_tunes_fill(cfg);
	return h2_conn_init() && h2_stream_init();
}

static bool h2_thread_init(void)
{
	return h2_out_thread_init(h2_flush_one) && h2_head_thread_init();
}

static void h2_thread_fini(void)
{
	h2_head_thread_fini();
	h2_out_thread_fini();
}

static struct slot *const slots[] = { &h2_tune_slot, NULL };

static struct trace_source *const traces[] = { &trace_h2, NULL };

const struct module mod_h2 = {
	.name = "h2", .keywords = keywords, .slots = slots, .start = h2_start,
	.thread_init = h2_thread_init, .thread_fini = h2_thread_fini, .traces = traces,
};
