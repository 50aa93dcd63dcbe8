/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats.c - the figures of an object as the columns of `show stat` */
#include "manage/stats.h"
#include <stdio.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "proxy/address.h"
#include "proxy/balance.h"
#include "proxy/bind.h"
#include "proxy/check.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "stats_shared_priv.h"

struct field_info {
	const char *name, *help;
};

static const struct field_info base_fields[] = {
#define X(id, name, what) { name, what },
	STATS_FIELDS(X)
#undef X
};

static const struct {
	const char *name, *sides, *nature;
} extra_fields[] = {
#define X(name, sides, nature) { #name, sides, nature },
	STATS_EXTRA(X)
#undef X
};

static const struct field_info own_fields[] = {
#define X(id, name, sides, nature, what) { name, what },
	STATS_OWN(X)
#undef X
};

static stats_extra_fn *extra_hook;

static stats_cookie_fn *cookie_hook;
static stats_server_cookie_fn *server_cookie_hook;

void stats_set_cookie(stats_cookie_fn *fn, stats_server_cookie_fn *of_server)
{
	cookie_hook = fn;
	server_cookie_hook = of_server;
}

static stats_process_fn *process_hook;

void stats_set_process(stats_process_fn *fn)
{
	process_hook = fn;
}

void stats_each_process_field(const struct config *cfg, stats_process_emit_fn *emit, void *ctx)
{
	if (process_hook)
		process_hook(cfg, emit, ctx);
}

const char *stats_field_name(unsigned field)
{
	return field < STATS_BASE_COUNT ? base_fields[field].name
		: field < STATS_CSV_COUNT ? extra_fields[field - STATS_BASE_COUNT].name
		: own_fields[field - STATS_CSV_COUNT].name;
}

const char *stats_field_help(unsigned field)
{
	return field < STATS_BASE_COUNT ? base_fields[field].help
		: field < STATS_CSV_COUNT ? extra_fields[field - STATS_BASE_COUNT].name
		: own_fields[field - STATS_CSV_COUNT].help;
}

/* --- values --------------------------------------------------------------------------------- */

static void put(struct stats_row *r, unsigned f, enum stats_type type, const char *tag,
		int64_t number)
{
	struct stats_value *v = &r->values[f];

	v->type = type;
	memcpy(v->tag, tag, 4);
	v->number = number;
}

static void put_text(struct stats_row *r, enum stats_field f, const char *tag, const char *text)
{
	struct stats_value *v = &r->values[f];

	v->type = STATS_STR;
	memcpy(v->tag, tag, 4);
	v->text = text;
}

bool stats_is_gauge(unsigned i, bool front)
{
	static const unsigned fronts[] = { CNT_H2_CONNS, CNT_H2_STREAMS, CNT_H1_CONNS,
					   CNT_H1_STREAMS, CNT_QUIC_HALF_OPEN };
	static const unsigned backs[] = { CNT_QUEUE_CUR, CNT_IDLE_CUR, CNT_SAFE_CUR, CNT_USED_CUR,
					  CNT_PRIVATE_CUR, CNT_SLOTS_FREE, CNT_BACK_H2_CONNS,
					  CNT_BACK_H2_STREAMS, CNT_BACK_H1_CONNS,
					  CNT_BACK_H1_STREAMS, CNT_BACK_QUIC_HALF_OPEN };
	const unsigned *list = front ? fronts : backs;
	size_t count = front ? ARRAY_LEN(fronts) : ARRAY_LEN(backs);

	for (size_t n = 0; n < count; n++)
		if (list[n] == i)
			return true;
	return i == CNT_SESS_CUR;
}

/* With what other processes have counted. */
static int64_t total_read(const struct counter_set *set, unsigned i)
{
	return (int64_t)counter_read(set, i) + stats_shared_rest(set, i);
}

/* Which counter stands in which column. */
struct counter_column {
	enum stats_field field;
	unsigned counter;
};

static void put_counters(struct stats_row *r, const struct counter_set *set,
			 const struct counter_column *columns, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put(r, columns[i].field, STATS_U64, "MCP",
		    total_read(set, columns[i].counter));
}

static const struct counter_column http_columns[] = {
	{ STATS_HRSP_1XX, CNT_HRSP_1XX }, { STATS_HRSP_2XX, CNT_HRSP_2XX },
	{ STATS_HRSP_3XX, CNT_HRSP_3XX }, { STATS_HRSP_4XX, CNT_HRSP_4XX },
	{ STATS_HRSP_5XX, CNT_HRSP_5XX }, { STATS_HRSP_OTHER, CNT_HRSP_OTHER },
};

static const struct counter_column cache_columns[] = {
	{ STATS_CACHE_LOOKUPS, CNT_CACHE_LOOKUPS }, { STATS_CACHE_HITS, CNT_CACHE_HITS },
};

static const struct counter_column compression_columns[] = {
	{ STATS_COMP_IN, CNT_COMP_IN }, { STATS_COMP_OUT, CNT_COMP_OUT },
	{ STATS_COMP_BYP, CNT_COMP_BYPASS }, { STATS_COMP_RSP, CNT_COMP_RESP },
};

/* frontends and listeners */
static const struct counter_column accept_columns[] = {
	{ STATS_STOT, CNT_SESS_TOT }, { STATS_BIN, CNT_BYTES_IN }, { STATS_BOUT, CNT_BYTES_OUT },
	{ STATS_REQBIN, CNT_BYTES_IN }, { STATS_REQBOUT, CNT_FRONT_REQ_OUT },
	{ STATS_RESBIN, CNT_FRONT_RES_IN }, { STATS_RESBOUT, CNT_FRONT_RES_OUT },
	{ STATS_DREQ, CNT_DENIED_REQ }, { STATS_DRESP, CNT_DENIED_RESP },
	{ STATS_EREQ, CNT_REQ_ERRORS }, { STATS_CONN_TOT, CNT_CONN_TOT },
	{ STATS_DCON, CNT_DENIED_CONN }, { STATS_DSES, CNT_DENIED_SESS },
	{ STATS_WREW, CNT_FAILED_REWRITES }, { STATS_EINT, CNT_INTERNAL_ERRORS },
};

static const struct counter_column frontend_columns[] = {
	{ STATS_REQ_TOT, CNT_REQ_TOT },
	{ STATS_SESS_OTHER, CNT_SESS_OTHER }, { STATS_H1SESS, CNT_SESS_H1 },
	{ STATS_H2SESS, CNT_SESS_H2 }, { STATS_H3SESS, CNT_SESS_H3 },
	{ STATS_REQ_OTHER, CNT_REQ_OTHER }, { STATS_H1REQ, CNT_REQ_H1 },
	{ STATS_H2REQ, CNT_REQ_H2 }, { STATS_H3REQ, CNT_REQ_H3 },
};

/* backends and servers */
static const struct counter_column serve_columns[] = {
	{ STATS_STOT, CNT_SESS_TOT }, { STATS_BIN, CNT_BYTES_IN }, { STATS_BOUT, CNT_BYTES_OUT },
	{ STATS_REQBIN, CNT_BYTES_IN }, { STATS_REQBOUT, CNT_BACK_REQ_OUT },
	{ STATS_RESBIN, CNT_BACK_RES_IN }, { STATS_RESBOUT, CNT_BACK_RES_OUT },
	{ STATS_DRESP, CNT_DENIED_RESP }, { STATS_ECON, CNT_CONN_ERRORS },
	{ STATS_ERESP, CNT_RESP_ERRORS }, { STATS_WRETR, CNT_RETRIES },
	{ STATS_WREDIS, CNT_REDISPATCHES }, { STATS_LBTOT, CNT_LB_TOT },
	{ STATS_CLI_ABRT, CNT_CLIENT_ABORTS }, { STATS_SRV_ABRT, CNT_SERVER_ABORTS },
	{ STATS_WREW, CNT_FAILED_REWRITES }, { STATS_CONNECT, CNT_CONNECTS },
	{ STATS_REUSE, CNT_REUSES }, { STATS_EINT, CNT_INTERNAL_ERRORS },
};

#define PUT_COUNTERS(r, set, table) put_counters(r, set, table, ARRAY_LEN(table))

/* A gauge may be seen below zero while shards are read one after the other. */
static int64_t gauge_read(const struct counter_set *set, unsigned i)
{
	int64_t v = total_read(set, i);

	return v > 0 ? v : 0;
}

static uint64_t atomic_read(const uint64_t *v)
{
	return __atomic_load_n(v, __ATOMIC_RELAXED);
}

static void put_extra(struct stats_row *r, const void *object)
{
	static const char side[] = { 'F', 'B', 'S', 'L' };

	for (unsigned i = 0; i < STATS_EXTRA_COUNT; i++) {
		if (!strchr(extra_fields[i].sides, side[r->kind]))
			continue;
		put(r, STATS_BASE_COUNT + i, STATS_U64,
		    *extra_fields[i].nature == 'G' ? "MGP" : "MCP",
		    extra_hook ? (int64_t)extra_hook(r->kind, object, (enum stats_extra)i) : 0);
	}
}

/* The counters of the HTTP/2 mux stand together, in the order of their columns. */
static void put_h2(struct stats_row *r, const struct counter_set *set, unsigned first)
{
	for (unsigned i = 0; i <= CNT_H2_STREAMS_TOTAL - CNT_H2_HEADERS; i++) {
		enum stats_field f = STATS_BASE_COUNT + STATS_EXTRA_h2_headers_rcvd + i;

		r->values[f].number = gauge_read(set, first + i);
	}
}

/* Puts the gauges of the HTTP/1 mux; <first> of the set. */
static void put_h1(struct stats_row *r, const struct counter_set *set, unsigned first)
{
	struct stats_value *v = &r->values[STATS_BASE_COUNT + STATS_EXTRA_h1_open_connections];

	for (unsigned i = 0; i <= CNT_H1_SPLICED_OUT - CNT_H1_CONNS; i++)
		v[i].number = gauge_read(set, first + i);
}

_Static_assert(STATS_EXTRA_quic_ncbuf_gap_limit - STATS_EXTRA_h3_data + 1 == QUIC_COUNTS_COUNT,
	       "the columns of QUIC and HTTP/3 are those that are counted");

/* Puts those of QUIC and HTTP/3. */
static void put_quic(struct stats_row *r, const struct counter_set *set, unsigned first)
{
	struct stats_value *v = &r->values[STATS_BASE_COUNT + STATS_EXTRA_h3_data];

	for (unsigned i = 0; i < QUIC_COUNTS_COUNT; i++)
		v[i].number = gauge_read(set, first + i);
}

/* Puts the figures of TLS. */
static void put_tls(struct stats_row *r, const struct counter_set *set)
{
	for (unsigned i = 0; i <= CNT_TLS_STAPLED - CNT_TLS_SESS; i++)
		r->values[STATS_BASE_COUNT + STATS_EXTRA_ssl_sess + i].number =
			total_read(set, CNT_TLS_SESS + i);
}

/* What every row has. */
static void begin_row(struct stats_row *r, enum stats_kind kind, const struct proxy *px,
		      const char *name, unsigned id)
{
	static const unsigned types[] = { 0, 1, 2, 3 };

	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->proxy_id = (unsigned)px->id;
	r->id = id;
	put_text(r, STATS_PXNAME, "KNS", px->name);
	put_text(r, STATS_SVNAME, "KNS", name);
	put(r, STATS_PID, STATS_U32, "KGP", 1);
	put(r, STATS_IID, STATS_U32, "KGS", px->id);
	put(r, STATS_SID, STATS_U32, "KGS", id);
	put(r, STATS_TYPE, STATS_U32, "CGS", types[kind]);
	put_text(r, STATS_MODE, "CGS", proxy_mode_name(px->mode));
}

static int64_t seconds_since_us(uint64_t then_us)
{
	uint64_t now = clock_read_wall_us();

	return now > then_us ? (int64_t)((now - then_us) / 1000000) : 0;
}

static int64_t last_session(const int64_t *last_s)
{
	int64_t second = __atomic_load_n(last_s, __ATOMIC_RELAXED);
	int64_t now = (int64_t)(clock_read_wall_us() / 1000000);

	return second ? now > second ? now - second : 0 : -1;
}

static void put_times(struct stats_row *r, const struct time_set *t)
{
	for (unsigned k = 0; k < TIME_KINDS; k++) {
		put(r, STATS_QTIME + k, STATS_U32, "MaP", time_set_average(t, k));
		put(r, STATS_QTIME_MAX + k, STATS_U32, "MMP", time_set_max(t, k));
	}
}

/* --- rows ----------------------------------------------------------------------------------- */

void stats_fill_frontend(struct stats_row *r, const struct proxy *px)
{
	struct proxy_state *st = px->state;
	const char *status = "OPEN";

	begin_row(r, STATS_FRONTEND, px, "FRONTEND", 0);
	PUT_COUNTERS(r, &st->fe, accept_columns);
	PUT_COUNTERS(r, &st->fe, frontend_columns);
	PUT_COUNTERS(r, &st->fe, compression_columns);
	if (px->mode == PROXY_MODE_HTTP) {
		PUT_COUNTERS(r, &st->fe, http_columns);
		PUT_COUNTERS(r, &st->fe, cache_columns);
		put(r, STATS_INTERCEPTED, STATS_U64, "MCP",
		    total_read(&st->fe, CNT_INTERCEPTED));
	}
	put(r, STATS_SCUR, STATS_U32, "MGP", gauge_read(&st->fe, CNT_SESS_CUR));
	put(r, STATS_SMAX, STATS_U32, "MMP", (int64_t)atomic_read(&st->fe_session_max));
	put(r, STATS_SLIM, STATS_U32, "CLP", __atomic_load_n(&st->maxconn, __ATOMIC_RELAXED));
	if (__atomic_load_n(&st->stopped, __ATOMIC_RELAXED))
		status = "STOP";
	else if (__atomic_load_n(&st->disabled, __ATOMIC_RELAXED))
		status = "PAUSED";
	put_text(r, STATS_STATUS, "SGP", status);
	put(r, STATS_RATE, STATS_U32, "MRP", rate_set_read(&st->fe_session_rate));
	put(r, STATS_RATE_LIM, STATS_U32, "CLP", px->session_rate_limit);
	put(r, STATS_RATE_MAX, STATS_U32, "MMP", rate_set_max(&st->fe_session_rate));
	put(r, STATS_REQ_RATE, STATS_U32, "MRP", rate_set_read(&st->fe_request_rate));
	put(r, STATS_REQ_RATE_MAX, STATS_U32, "MMP", rate_set_max(&st->fe_request_rate));
	put(r, STATS_CONN_RATE, STATS_U32, "MRP", rate_set_read(&st->fe_conn_rate));
	put(r, STATS_CONN_RATE_MAX, STATS_U32, "MMP", rate_set_max(&st->fe_conn_rate));
	put_extra(r, px);
	put_h2(r, &st->fe, CNT_H2_HEADERS);
	put_h1(r, &st->fe, CNT_H1_CONNS);
	put_quic(r, &st->fe, CNT_H3_DATA);
	put_tls(r, &st->fe);
}

static void put_backend_status(struct stats_row *r, const struct proxy *px, bool with_counts)
{
	bool up = balance_has_usable(px) || !server_first(px);

	if (with_counts && server_first(px))
		snprintf(r->status, sizeof(r->status), "%s (%u/%u)", up ? "UP" : "DOWN",
			 balance_usable_count(px),
			 __atomic_load_n(&px->server_count, __ATOMIC_RELAXED));
	else
		snprintf(r->status, sizeof(r->status), "%s", up ? "UP" : "DOWN");
	if (__atomic_load_n(&px->state->unpublished, __ATOMIC_RELAXED))
		strncat(r->status, " (UNPUB)", sizeof(r->status) - strlen(r->status) - 1);
	put_text(r, STATS_STATUS, "SGP", r->status);
	put(r, STATS_WEIGHT, STATS_U32, "MaP", balance_total_weight(px));
	put(r, STATS_UWEIGHT, STATS_U32, "MaP", balance_total_weight(px));
	put(r, STATS_ACT, STATS_U32, "MGP", balance_active_count(px));
	put(r, STATS_BCK, STATS_U32, "MGP", balance_backup_count(px));
	put(r, STATS_AGG_SERVER_STATUS, STATS_U32, "MGP", 0);
	put(r, STATS_AGG_SERVER_CHECK_STATUS, STATS_U32, "MGP", 0);
	put(r, STATS_AGG_CHECK_STATUS, STATS_U32, "MGP", 0);
}

void stats_fill_backend(struct stats_row *r, const struct proxy *px, bool with_counts)
{
	struct proxy_state *st = px->state;
	uint64_t down_s = atomic_read(&st->down_ms) / 1000;

	begin_row(r, STATS_BACKEND, px, "BACKEND", 0);
	PUT_COUNTERS(r, &st->be, serve_columns);
	PUT_COUNTERS(r, &st->be, compression_columns);
	put(r, STATS_DREQ, STATS_U64, "MCP", total_read(&st->be, CNT_DENIED_REQ));
	if (px->mode == PROXY_MODE_HTTP) {
		PUT_COUNTERS(r, &st->be, http_columns);
		PUT_COUNTERS(r, &st->be, cache_columns);
		put(r, STATS_REQ_TOT, STATS_U64, "MCP",
		    total_read(&st->be, CNT_REQ_TOT));
	}
	put(r, STATS_QCUR, STATS_U32, "MGP", gauge_read(&st->be, CNT_QUEUE_CUR));
	put(r, STATS_QMAX, STATS_U32, "MMP", (int64_t)atomic_read(&st->be_queue_max));
	put(r, STATS_SCUR, STATS_U32, "MGP", gauge_read(&st->be, CNT_SESS_CUR));
	put(r, STATS_SMAX, STATS_U32, "MMP", (int64_t)atomic_read(&st->be_session_max));
	put(r, STATS_SLIM, STATS_U32, "CLP", px->fullconn);
	put_backend_status(r, px, with_counts);
	if (cookie_hook && cookie_hook(px))
		put_text(r, STATS_COOKIE, "CNS", cookie_hook(px));
	put(r, STATS_CHKDOWN, STATS_U64, "MCP", total_read(&st->be, CNT_CHECK_DOWNS));
	put(r, STATS_LASTCHG, STATS_U32, "MAP", seconds_since_us(atomic_read(&st->changed_us)));
	if (!__atomic_load_n(&st->was_up, __ATOMIC_RELAXED))
		down_s += (uint64_t)seconds_since_us(atomic_read(&st->changed_us));
	if (server_first(px))
		put(r, STATS_DOWNTIME, STATS_U32, "MCP", (int64_t)down_s);
	put(r, STATS_RATE, STATS_U32, "MRP", rate_set_read(&st->be_session_rate));
	put(r, STATS_RATE_MAX, STATS_U32, "MGP", rate_set_max(&st->be_session_rate));
	put(r, STATS_LASTSESS, STATS_S32, "MAP", last_session(&st->last_session_s));
	if (px->balancing.algorithm)
		put_text(r, STATS_ALGO, "CGS", px->balancing.algorithm->name);
	put_times(r, &st->times);
	put_extra(r, px);
	put_h2(r, &st->be, CNT_BACK_H2_HEADERS);
	put_h1(r, &st->be, CNT_BACK_H1_CONNS);
	put_quic(r, &st->be, CNT_BACK_H3_DATA);
	put_tls(r, &st->be);
}

static void put_pool(struct stats_row *r, const struct server *srv)
{
	const struct counter_set *set = &srv->state->counters;
	int64_t idle = gauge_read(set, CNT_IDLE_CUR), safe = gauge_read(set, CNT_SAFE_CUR);
	struct server_conn_figures f;

	put(r, STATS_SRV_ICUR, STATS_U32, "MGP", idle + safe);
	if (srv->pool.max_conn >= 0)
		put(r, STATS_SRC_ILIM, STATS_U32, "CLP", srv->pool.max_conn);
	put(r, STATS_IDLE_CONN_CUR, STATS_U32, "MGP", idle);
	put(r, STATS_SAFE_CONN_CUR, STATS_U32, "MGP", safe);
	put(r, STATS_USED_CONN_CUR, STATS_U32, "MGP", gauge_read(set, CNT_USED_CUR));
	put(r, STATS_PRIV_IDLE_CUR, STATS_U32, "MGP", gauge_read(set, CNT_PRIVATE_CUR));
	server_conn_figures(srv, 0, &f);
	put(r, STATS_NEED_CONN_EST, STATS_U32, "MGP", f.needed);
}

/* The columns of one check. */
struct check_columns {
	enum stats_field status, code, duration, desc, last, rise, fall, health;
};

static const struct check_columns health_columns = {
	STATS_CHECK_STATUS, STATS_CHECK_CODE, STATS_CHECK_DURATION, STATS_CHECK_DESC,
	STATS_LAST_CHK, STATS_CHECK_RISE, STATS_CHECK_FALL, STATS_CHECK_HEALTH,
};
static const struct check_columns agent_columns = {
	STATS_AGENT_STATUS, STATS_AGENT_CODE, STATS_AGENT_DURATION, STATS_AGENT_DESC,
	STATS_LAST_AGT, STATS_AGENT_RISE, STATS_AGENT_FALL, STATS_AGENT_HEALTH,
};

static void put_check(struct stats_row *r, const struct server *srv, bool agent)
{
	const struct check_columns *at = agent ? &agent_columns : &health_columns;
	const struct check_state *cs = agent ? &srv->state->agent : &srv->state->check;
	char *status = agent ? r->agent_status : r->check_status;
	char *text = agent ? r->agent_text : r->check_text;
	enum check_status code = __atomic_load_n(&cs->status, __ATOMIC_RELAXED);
	unsigned flags = check_flags_of(cs);

	if ((flags & (CHECK_ENABLED | CHECK_PAUSED)) != CHECK_ENABLED)
		return;
	snprintf(status, sizeof(r->check_status), "%s%s", flags & CHECK_IN_PROGRESS ? "* " : "",
		 check_status_code(code));
	put_text(r, at->status, "MOP", status);
	if (check_status_has_code(code))
		put(r, at->code, STATS_U32, "MOP",
		    (uint32_t)__atomic_load_n(&cs->code, __ATOMIC_RELAXED));
	if (code >= CHECK_CHECKED)
		put(r, at->duration, STATS_U64, "MDP",
		    __atomic_load_n(&cs->duration_ms, __ATOMIC_RELAXED));
	put_text(r, at->desc, "MOP", check_status_text(code));
	check_text(srv, agent, text, sizeof(r->check_text));
	put_text(r, at->last, "MOP", text);
	put(r, at->rise, STATS_U32, "CGS", check_rise_of(cs));
	put(r, at->fall, STATS_U32, "CGS", check_fall_of(cs));
	put(r, at->health, STATS_U32, "CGS", check_health_of(cs));
}

static void put_checks(struct stats_row *r, const struct server *srv)
{
	const struct server *track = srv->checks.track;
	struct server_state *st = srv->state;
	uint64_t down_s = atomic_read(&st->down_ms) / 1000;
	unsigned oper = __atomic_load_n(&st->oper, __ATOMIC_RELAXED);

	if (check_flags_of(&st->check) & CHECK_ENABLED) {
		put(r, STATS_CHKFAIL, STATS_U64, "MCP",
		    total_read(&st->counters, CNT_CHECK_FAILS));
		put(r, STATS_CHKDOWN, STATS_U64, "MCP",
		    total_read(&st->counters, CNT_CHECK_DOWNS));
		if (oper == SERVER_STOPPED)
			down_s += (uint64_t)seconds_since_us(atomic_read(&st->changed_us));
		put(r, STATS_DOWNTIME, STATS_U32, "MCP", (int64_t)down_s);
	}
	if (check_decider(srv)->checks.observe != OBSERVE_NONE)
		put(r, STATS_HANAFAIL, STATS_U64, "MCP",
		    total_read(&st->counters, CNT_CHECK_HANA));
	if (oper == SERVER_STARTING)
		put(r, STATS_THROTTLE, STATS_U32, "MaP",
		    100 * (int64_t)__atomic_load_n(&st->warm, __ATOMIC_RELAXED) / SERVER_WARM);
	if (track) {
		snprintf(r->tracked, sizeof(r->tracked), "%s/%s", track->proxy->name, track->name);
		put_text(r, STATS_TRACKED, "CNS", r->tracked);
	}
	put_check(r, srv, false);
	put_check(r, srv, true);
}

void stats_fill_server(struct stats_row *r, const struct server *srv)
{
	struct server_state *st = srv->state;
	int64_t maxconn = __atomic_load_n(&st->maxconn, __ATOMIC_RELAXED);
	struct server_addr addr;
	const char *cookie;

	begin_row(r, STATS_SERVER, srv->proxy, srv->name, (unsigned)srv->id);
	PUT_COUNTERS(r, &st->counters, serve_columns);
	if (srv->proxy->mode == PROXY_MODE_HTTP) {
		PUT_COUNTERS(r, &st->counters, http_columns);
		put(r, STATS_REQ_TOT, STATS_U64, "MCP",
		    total_read(&st->counters, CNT_REQ_TOT));
	}
	put(r, STATS_QCUR, STATS_U32, "MGP", gauge_read(&st->counters, CNT_QUEUE_CUR));
	put(r, STATS_QMAX, STATS_U32, "MMP", (int64_t)atomic_read(&st->queue_max));
	put(r, STATS_SCUR, STATS_U32, "MGP", gauge_read(&st->counters, CNT_SESS_CUR));
	put(r, STATS_SMAX, STATS_U32, "MMP", (int64_t)atomic_read(&st->session_max));
	if (maxconn)
		put(r, STATS_SLIM, STATS_U32, "CLP", maxconn);
	server_status(srv, r->status, sizeof(r->status));
	put_text(r, STATS_STATUS, "SGP", r->status);
	put(r, STATS_WEIGHT, STATS_U32, "MaP", srv->proxy->direct ? 0 :
	    (server_weight_sixteenths(srv) + SERVER_WARM - 1) / SERVER_WARM);
	put(r, STATS_UWEIGHT, STATS_U32, "MaP", server_weight(srv));
	put(r, STATS_ACT, STATS_U32, "SGP", !srv->backup);
	put(r, STATS_BCK, STATS_U32, "SGP", srv->backup);
	put(r, STATS_LASTCHG, STATS_U32, "MAP", seconds_since_us(atomic_read(&st->changed_us)));
	if (srv->limits.maxqueue)
		put(r, STATS_QLIMIT, STATS_U32, "CGS", srv->limits.maxqueue);
	put(r, STATS_RATE, STATS_U32, "MRP", rate_set_read(&st->session_rate));
	put(r, STATS_RATE_MAX, STATS_U32, "MMP", rate_set_max(&st->session_rate));
	put(r, STATS_LASTSESS, STATS_S32, "MAP", last_session(&st->last_session_s));
	server_address(srv, &addr);
	address_text((struct sockaddr *)&addr.sa, r->address, sizeof(r->address));
	put_text(r, STATS_ADDR, "CGS", r->address);
	cookie = server_cookie_hook ? server_cookie_hook(srv, r->cookie) : srv->cookie;
	if (cookie)
		put_text(r, STATS_COOKIE, "CNS", cookie);
	put(r, STATS_SRID, STATS_U32, "MCP", srv->life.revision);
	put_checks(r, srv);
	put_times(r, &st->times);
	put_pool(r, srv);
	put_extra(r, srv);
	if (srv->proxy->outlier.interval_ms)
		put(r, STATS_EJECTIONS, STATS_U64, "MCP",
		    total_read(&st->counters, CNT_EJECTIONS));
	put_tls(r, &st->counters);
}

/* Of limits only: what is disabled or stopped is told by the frontend's row. */
static const char *listener_status(const struct listener_conf *lc)
{
	const struct proxy_state *fe = lc->bind->proxy->state;
	uint64_t most = __atomic_load_n(&fe->maxconn, __ATOMIC_RELAXED);
	unsigned mine = __atomic_load_n(&lc->state->open_sessions, __ATOMIC_RELAXED);

	if (lc->bind->maxconn && mine >= lc->bind->maxconn)
		return "FULL";
	if (most && __atomic_load_n(&fe->open_sessions, __ATOMIC_RELAXED) >= most)
		return "WAITING";
	return atomic_read(&lc->state->late_ns) > clock_now_ns() ? "WAITING" : "OPEN";
}

void stats_fill_listener(struct stats_row *r, const struct listener_conf *lc)
{
	struct listener_state *st = lc->state;
	const struct sockaddr *sa = (const struct sockaddr *)&lc->address;

	begin_row(r, STATS_LISTENER, lc->bind->proxy, lc->name, (unsigned)lc->id);
	PUT_COUNTERS(r, &st->counters, accept_columns);
	put(r, STATS_SCUR, STATS_U32, "MGP", gauge_read(&st->counters, CNT_SESS_CUR));
	put(r, STATS_SMAX, STATS_U32, "MMP", (int64_t)atomic_read(&st->session_max));
	put(r, STATS_SLIM, STATS_U32, "CLP", lc->bind->maxconn);
	put_text(r, STATS_STATUS, "SGP", listener_status(lc));
	address_text(sa, r->address, sizeof(r->address));
	put_text(r, STATS_ADDR, "CGS", r->address);
	put_text(r, STATS_PROTO, "SGP", sa->sa_family == AF_INET ? "tcpv4"
		 : sa->sa_family == AF_INET6 ? "tcpv6" : "unix_stream");
	put_extra(r, lc);
	put_tls(r, &st->counters);
}
