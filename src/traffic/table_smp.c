/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_smp.c - edge file: fetches and converters of stick tables: sc_*, src_*, table_*, in_table
 *
 * Each name combines a way to an entry (the tracked one, the client's address, the input sample)
 * and the wanted data: a row of WANTED.
 * Manual: configuration 7.3.1 table_*, 7.3.2 table_cnt, 7.3.3 sc_*, src_*.
 */
#include "base/bug.h"
#include "stream/sample.h"
#include "stream/track.h"
#include "table/part.h"

/* --- what is wanted --------------------------------------------------------------------------- */

enum want {
	WANT_READ, WANT_KILO, WANT_CLEAR, WANT_COUNT, WANT_HOLDERS, WANT_IS_THERE,
	WANT_EXPIRE, WANT_IDLE, WANT_KEY,
};

struct wanted {
	uint8_t what;  /* enum want */
	uint8_t data;  /* enum table_data */
	uint8_t rate;  /* what counts as well; TABLE_DATA_COUNT: nothing */
	int8_t number; /* of the tracker, for sc0_ to sc2_; -1: an argument */
	bool array;    /* the first argument is the cell */
};

/* X(name, what, data, rate, takes an index) */
#define WANTED(X) \
	X(bytes_in_rate, READ, BYTES_IN_RATE, DATA_COUNT, false) \
	X(bytes_out_rate, READ, BYTES_OUT_RATE, DATA_COUNT, false) \
	X(conn_cnt, READ, CONN_CNT, DATA_COUNT, false) \
	X(conn_cur, READ, CONN_CUR, DATA_COUNT, false) \
	X(conn_rate, READ, CONN_RATE, DATA_COUNT, false) \
	X(glitch_cnt, READ, GLITCH_CNT, DATA_COUNT, false) \
	X(glitch_rate, READ, GLITCH_RATE, DATA_COUNT, false) \
	X(gpc0_rate, READ, GPC0_RATE, DATA_COUNT, false) \
	X(gpc1_rate, READ, GPC1_RATE, DATA_COUNT, false) \
	X(http_err_cnt, READ, HTTP_ERR_CNT, DATA_COUNT, false) \
	X(http_err_rate, READ, HTTP_ERR_RATE, DATA_COUNT, false) \
	X(http_fail_cnt, READ, HTTP_FAIL_CNT, DATA_COUNT, false) \
	X(http_fail_rate, READ, HTTP_FAIL_RATE, DATA_COUNT, false) \
	X(http_req_cnt, READ, HTTP_REQ_CNT, DATA_COUNT, false) \
	X(http_req_rate, READ, HTTP_REQ_RATE, DATA_COUNT, false) \
	X(kbytes_in, KILO, BYTES_IN_CNT, DATA_COUNT, false) \
	X(kbytes_out, KILO, BYTES_OUT_CNT, DATA_COUNT, false) \
	X(sess_cnt, READ, SESS_CNT, DATA_COUNT, false) \
	X(sess_rate, READ, SESS_RATE, DATA_COUNT, false) \
	X(clr_gpc0, CLEAR, GPC0, DATA_COUNT, false) \
	X(clr_gpc1, CLEAR, GPC1, DATA_COUNT, false) \
	X(inc_gpc0, COUNT, GPC0, GPC0_RATE, false) \
	X(inc_gpc1, COUNT, GPC1, GPC1_RATE, false) \
	X(gpc0, READ, GPC0, DATA_COUNT, false) \
	X(gpc1, READ, GPC1, DATA_COUNT, false) \
	X(gpt0, READ, GPT0, DATA_COUNT, false) \
	X(array_gpc, READ, GPC, DATA_COUNT, true) \
	X(array_gpt, READ, GPT, DATA_COUNT, true) \
	X(array_gpc_rate, READ, GPC_RATE, DATA_COUNT, true) \
	X(array_clr_gpc, CLEAR, GPC, DATA_COUNT, true) \
	X(array_inc_gpc, COUNT, GPC, GPC_RATE, true) \
	X(updt_conn_cnt, COUNT, CONN_CNT, DATA_COUNT, false) \
	X(server_id, READ, SERVER_ID, DATA_COUNT, false) \
	X(trackers, HOLDERS, DATA_COUNT, DATA_COUNT, false) \
	X(tracked, IS_THERE, DATA_COUNT, DATA_COUNT, false) \
	X(expire, EXPIRE, DATA_COUNT, DATA_COUNT, false) \
	X(idle, IDLE, DATA_COUNT, DATA_COUNT, false) \
	X(key, KEY, DATA_COUNT, DATA_COUNT, false)

#define X(name, w, d, r, array) static const struct wanted \
	want_##name = { WANT_##w, TABLE_##d, TABLE_##r, -1, array }, \
	want0_##name __attribute__((unused)) = { WANT_##w, TABLE_##d, TABLE_##r, 0, false }, \
	want1_##name __attribute__((unused)) = { WANT_##w, TABLE_##d, TABLE_##r, 1, false }, \
	want2_##name __attribute__((unused)) = { WANT_##w, TABLE_##d, TABLE_##r, 2, false };
WANTED(X)
#undef X

/* The only one of an array whose name has the number of the counter. */
static const struct wanted want1_clear = { WANT_CLEAR, TABLE_GPC, TABLE_DATA_COUNT, 1, true };

/* What is said of an entry, as a number. False: its table does not store it. */
static bool entry_number(struct table_state *st, struct table_entry *e, const struct wanted *w,
			 unsigned cell, uint64_t *out)
{
	const struct table_shape *s = table_state_shape(st);
	enum table_data d = table_data_stored(s, (enum table_data)w->data, &cell);

	if (!table_read_sum(st, e, d, cell, out))
		return false;
	if (w->what == WANT_KILO)
		*out >>= 10;
	return true;
}

/* Counts in an entry, or clears: the same. */
static bool entry_change(struct table_state *st, struct table_entry *e, const struct wanted *w,
			 unsigned cell, uint64_t *out)
{
	const struct table_shape *s = table_state_shape(st);
	unsigned rate_cell = cell;
	enum table_data d = table_data_stored(s, (enum table_data)w->data, &cell), rate;
	bool changed = false;

	if (w->what == WANT_CLEAR) {
		changed = table_read(s, e, d, cell, out) && table_write(s, e, d, cell, 0);
	} else {
		if (w->rate != TABLE_DATA_COUNT) {
			rate = table_data_stored(s, (enum table_data)w->rate, &rate_cell);
			changed = table_add(s, e, rate, rate_cell, 1) &&
				table_read_sum(st, e, rate, rate_cell, out);
		}
		changed = (table_add(s, e, d, cell, 1) && table_read_sum(st, e, d, cell, out)) ||
			changed;
	}
	if (changed)
		table_changed(st, e);
	return changed;
}

/* The sample of an entry. */
static enum expr_result give_entry(struct table_state *st, struct table_entry *e,
				   const struct wanted *w, unsigned cell, struct sample *out)
{
	uint64_t n = 0;

	switch ((enum want)w->what) {
	case WANT_IS_THERE:
		return smp_give_bool(out, true);
	case WANT_KEY:
		table_key_sample(table_state_shape(st), e, out);
		return EXPR_FOUND;
	case WANT_HOLDERS:
		n = table_refs(e);
		break;
	case WANT_EXPIRE:
		n = table_expires_in(st, e);
		break;
	case WANT_IDLE:
		n = table_idle(e);
		break;
	case WANT_CLEAR:
	case WANT_COUNT:
		/* what is not stored is counted in vain, but for src_updt_conn_cnt */
		if (!entry_change(st, e, w, cell, &n) &&
		    (w->what == WANT_CLEAR || w->data == TABLE_CONN_CNT))
			return EXPR_NONE;
		break;
	default:
		if (!entry_number(st, e, w, cell, &n))
			return EXPR_NONE;
	}
	return smp_give_int(out, (int64_t)n);
}

/* The sample of what is no entry: as the reference, counting there gives 0 too. */
static enum expr_result give_nothing(const struct wanted *w, struct sample *out)
{
	if (w->what == WANT_IS_THERE)
		return smp_give_bool(out, false);
	return w->what == WANT_KEY ? EXPR_NONE : smp_give_int(out, 0);
}

/* The sample of an entry that the caller holds, and lets go of. */
static enum expr_result give_and_drop(struct table_state *st, struct table_entry *e,
				      const struct wanted *w, unsigned cell, struct sample *out)
{
	enum expr_result r = give_entry(st, e, w, cell, out);

	if (r == EXPR_FOUND && w->what == WANT_HOLDERS)
		out->integer--; /* that is us */
	table_drop(e);
	return r;
}

/* The sample of a key of <st>; to count or clear, its entry is made. */
static enum expr_result give_key(struct table_state *st, const struct table_key *key,
				 const struct wanted *w, unsigned cell, struct sample *out)
{
	bool makes = w->what == WANT_CLEAR || w->what == WANT_COUNT;
	struct table_entry *e = makes ? table_get(st, key) : table_find(st, key);

	return e ? give_and_drop(st, e, w, cell, out) : give_nothing(w, out);
}

/* The table that an argument names, else that of the section whose rules run. NULL: none. */
static const struct table *arg_table(const struct expr_ctx *ctx, const struct expr_arg *arg)
{
	if (arg->object)
		return arg->object;
	return ctx->proxy ? table_of_section(proxy_slots(ctx->proxy)) : NULL;
}

/* --- sc_*: what is tracked -------------------------------------------------------------------- */

static enum expr_result fetch_tracked(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	const struct wanted *w = ctx->data;
	unsigned cell = w->array ? (unsigned)(args++)->integer : 0;
	unsigned number = w->number < 0 ? (unsigned)(args++)->integer : (unsigned)w->number;
	const struct tracked *t = tracked_at(ctx, number);
	const struct table *other = args->type == ARG_TABLE ? args->object : NULL;
	struct table_entry *e;
	struct table_key key;
	struct sample smp;

	if (!t)
		return w->what == WANT_IS_THERE ? smp_give_bool(out, false) : EXPR_NONE;
	if (!other || other->state == t->table)
		return give_entry(t->table, t->entry, w, cell, out);
	if (!table_keys_agree(&other->shape, table_state_shape(t->table)))
		return w->what == WANT_IS_THERE ? smp_give_bool(out, false) : EXPR_NONE;
	table_key_sample(table_state_shape(t->table), t->entry, &smp);
	e = table_key_of_sample(&other->shape, &smp, ctx->arena, &key)
		? table_find(other->state, &key) : NULL;
	if (e)
		return give_and_drop(other->state, e, w, cell, out);
	/* as the reference: it would be tracked, and has counted nothing */
	return w->what == WANT_IS_THERE ? smp_give_bool(out, true) : smp_give_int(out, 0);
}

/* --- src_*: the client's address -------------------------------------------------------------- */

static enum expr_result fetch_source(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	const struct wanted *w = ctx->data;
	unsigned cell = w->array ? (unsigned)(args++)->integer : 0;
	const struct table *t = arg_table(ctx, args);
	struct table_key key;
	struct sample smp;

	if (!t || !t->state || smp_give_addr(&smp, context_src(ctx)) != EXPR_FOUND)
		return EXPR_NONE;
	if (!table_key_of_sample(&t->shape, &smp, ctx->arena, &key))
		return give_nothing(w, out);
	return give_key(t->state, &key, w, cell, out);
}

/* --- table_*: the sample in hand -------------------------------------------------------------- */

static bool convert_entry(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *smp)
{
	const struct wanted *w = ctx->data;
	unsigned cell = w->array ? (unsigned)(args++)->integer : 0;
	const struct table *t = arg_table(ctx, args);
	enum expr_result r;
	struct table_key key;
	struct sample out;

	if (!t || !t->state)
		return false;
	r = table_key_of_sample(&t->shape, smp, ctx->arena, &key)
		? give_key(t->state, &key, w, cell, &out) : give_nothing(w, &out);
	if (r == EXPR_FOUND)
		*smp = out;
	return r == EXPR_FOUND;
}

/* table_expire and table_idle have no 0 for what is not there: a second argument says what. */
static bool convert_time(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *smp)
{
	const struct table *t = arg_table(ctx, args);
	struct table_entry *e;
	struct table_key key;

	if (!t || !t->state)
		return false;
	e = table_key_of_sample(&t->shape, smp, ctx->arena, &key) ? table_find(t->state, &key)
								  : NULL;
	if (!e && args[1].type != ARG_INT)
		return false;
	if (e) {
		give_entry(t->state, e, ctx->data, 0, smp);
		table_drop(e);
	} else {
		smp_give_int(smp, args[1].integer);
	}
	return true;
}

/* --- tables ----------------------------------------------------------------------------------- */

static enum expr_result fetch_used(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	const struct table *t = arg_table(ctx, args);

	if (!t || !t->state)
		return EXPR_NONE;
	table_sweep(t->state, 16);
	return smp_give_int(out, table_state_used(t->state));
}

static enum expr_result fetch_room(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	const struct table *t = arg_table(ctx, args);

	if (fetch_used(ctx, args, out) != EXPR_FOUND)
		return EXPR_NONE;
	out->integer = (int64_t)table_state_limits(t->state).size - out->integer;
	return EXPR_FOUND;
}

/* --- words ------------------------------------------------------------------------------------ */

#define FETCH(text, min, out_type, from, function, want, what, about, ...) \
	{ .name = text, .args_min = min, .args = { __VA_ARGS__ }, .out = out_type, .use = from, \
	  .fetch = function, .data = &(want), .syntax = what, .help = about }
#define SC_ROW(text, out_type, want, about) \
	FETCH(text, 0, out_type, EXPR_USE_INTERNAL, fetch_tracked, want, "[<table>]", about, \
	      ARG_TABLE)
/* sc_X, sc0_X, sc1_X, sc2_X: as the names of WANTED, and with get_ in front. */
#define SC_ALL(text, out_type, want, about) \
	FETCH("sc_" text, 1, out_type, EXPR_USE_INTERNAL, fetch_tracked, want_##want, \
		"<counter>[,<table>]", about, ARG_INT, ARG_TABLE), \
	SC_ROW("sc0_" text, out_type, want0_##want, about), \
	SC_ROW("sc1_" text, out_type, want1_##want, about), \
	SC_ROW("sc2_" text, out_type, want2_##want, about)
#define SC(want, about) SC_ALL(#want, SMP_INT, want, about)
#define SC_TYPE(want, out_type, about) SC_ALL(#want, out_type, want, about)
#define SC_GET(want, about) SC_ALL("get_" #want, SMP_INT, want, about)
#define SC_ARRAY(text, want, about) \
	FETCH(text, 2, SMP_INT, EXPR_USE_INTERNAL, fetch_tracked, want_array_##want, \
		"<index>,<counter>[,<table>]", about, ARG_INT, ARG_INT, ARG_TABLE)
#define SC_KEY(text, arg, min, want, what) \
	FETCH(text, min, SMP_ANY, EXPR_USE_INTERNAL, fetch_tracked, want, what, \
		"the key of what is tracked", arg)
#define SRC(text, want, about) \
	FETCH(text, 1, SMP_INT, EXPR_USE_L4_CLIENT, fetch_source, want_##want, "[<table>]", about, \
	      ARG_TABLE)
#define SRC_ARRAY(text, want, about) \
	FETCH(text, 2, SMP_INT, EXPR_USE_L4_CLIENT, fetch_source, want_array_##want, \
		"<index>[,<table>]", about, ARG_INT, ARG_TABLE)
#define TABLE_ROW(text, min, function, want, what, about, ...) \
	{ .name = text, .args_min = min, .args = { __VA_ARGS__ }, .in = SMP_ANY, .out = SMP_INT, \
	  .context = true, .convert = function, .data = &(want), .syntax = what, .help = about }
#define TABLE(text, want, about) \
	TABLE_ROW(text, 1, convert_entry, want_##want, "[<table>]", about, ARG_TABLE)
#define TABLE_ARRAY(text, want, about) \
	TABLE_ROW(text, 2, convert_entry, want_array_##want, "<index>[,<table>]", about, ARG_INT, \
		  ARG_TABLE)
#define TABLE_TIME(text, want, about) \
	TABLE_ROW(text, 1, convert_time, want_##want, "[<table>[,<default>]]", about, ARG_TABLE, \
		  ARG_INT)

static const struct expr_fetch fetches[] = {
	SC(bytes_in_rate, "bytes from the client per period"),
	SRC("src_bytes_in_rate", bytes_in_rate, "bytes from the client per period"),
	SC(bytes_out_rate, "bytes to the client per period"),
	SRC("src_bytes_out_rate", bytes_out_rate, "bytes to the client per period"),
	SC(conn_cnt, "connections"),
	SRC("src_conn_cnt", conn_cnt, "connections"),
	SC(conn_cur, "connections now"),
	SRC("src_conn_cur", conn_cur, "connections now"),
	SC(conn_rate, "connections per period"),
	SRC("src_conn_rate", conn_rate, "connections per period"),
	SC(glitch_cnt, "glitches of clients' connections"),
	SRC("src_glitch_cnt", glitch_cnt, "glitches of clients' connections"),
	SC(glitch_rate, "glitches of clients' connections per period"),
	SRC("src_glitch_rate", glitch_rate, "glitches of clients' connections per period"),
	SC(gpc0_rate, "how fast the general purpose counter 0 grows"),
	SRC("src_gpc0_rate", gpc0_rate, "how fast the general purpose counter 0 grows"),
	SC(gpc1_rate, "how fast the general purpose counter 1 grows"),
	SRC("src_gpc1_rate", gpc1_rate, "how fast the general purpose counter 1 grows"),
	SC(http_err_cnt, "requests that were clients' errors"),
	SRC("src_http_err_cnt", http_err_cnt, "requests that were clients' errors"),
	SC(http_err_rate, "requests that were clients' errors per period"),
	SRC("src_http_err_rate", http_err_rate, "requests that were clients' errors per period"),
	SC(http_fail_cnt, "requests whose server failed"),
	SRC("src_http_fail_cnt", http_fail_cnt, "requests whose server failed"),
	SC(http_fail_rate, "requests whose server failed per period"),
	SRC("src_http_fail_rate", http_fail_rate, "requests whose server failed per period"),
	SC(http_req_cnt, "HTTP requests"),
	SRC("src_http_req_cnt", http_req_cnt, "HTTP requests"),
	SC(http_req_rate, "HTTP requests per period"),
	SRC("src_http_req_rate", http_req_rate, "HTTP requests per period"),
	SC(kbytes_in, "kilobytes from the client"),
	SRC("src_kbytes_in", kbytes_in, "kilobytes from the client"),
	SC(kbytes_out, "kilobytes to the client"),
	SRC("src_kbytes_out", kbytes_out, "kilobytes to the client"),
	SC(sess_cnt, "sessions"),
	SRC("src_sess_cnt", sess_cnt, "sessions"),
	SC(sess_rate, "sessions per period"),
	SRC("src_sess_rate", sess_rate, "sessions per period"),
	SC(clr_gpc0, "clears the general purpose counter 0, gives what it was"),
	SRC("src_clr_gpc0", clr_gpc0, "clears the general purpose counter 0, gives what it was"),
	SC(clr_gpc1, "clears the general purpose counter 1, gives what it was"),
	SRC("src_clr_gpc1", clr_gpc1, "clears the general purpose counter 1, gives what it was"),
	SC(inc_gpc0, "counts in the general purpose counter 0, gives what it is then"),
	SRC("src_inc_gpc0", inc_gpc0,
		"counts in the general purpose counter 0, gives what it is then"),
	SC(inc_gpc1, "counts in the general purpose counter 1, gives what it is then"),
	SRC("src_inc_gpc1", inc_gpc1,
		"counts in the general purpose counter 1, gives what it is then"),
	SC_GET(gpc0, "the general purpose counter 0"),
	SRC("src_get_gpc0", gpc0, "the general purpose counter 0"),
	SC_GET(gpc1, "the general purpose counter 1"),
	SRC("src_get_gpc1", gpc1, "the general purpose counter 1"),
	SC_GET(gpt0, "the general purpose tag 0"),
	SRC("src_get_gpt0", gpt0, "the general purpose tag 0"),
	SC_ARRAY("sc_get_gpc", gpc, "a general purpose counter"),
	SRC_ARRAY("src_get_gpc", gpc, "a general purpose counter"),
	SC_ARRAY("sc_get_gpt", gpt, "a general purpose tag"),
	SRC_ARRAY("src_get_gpt", gpt, "a general purpose tag"),
	SC_ARRAY("sc_gpc_rate", gpc_rate, "how fast a general purpose counter grows"),
	SRC_ARRAY("src_gpc_rate", gpc_rate, "how fast a general purpose counter grows"),
	SC_ARRAY("sc_clr_gpc", clr_gpc, "clears a general purpose counter, gives what it was"),
	FETCH("sc1_clr_gpc", 1, SMP_INT, EXPR_USE_INTERNAL, fetch_tracked, want1_clear,
		"<index>[,<table>]", "clears a general purpose counter, gives what it was",
		ARG_INT, ARG_TABLE),
	SRC_ARRAY("src_clr_gpc", clr_gpc, "clears a general purpose counter, gives what it was"),
	SC_ARRAY("sc_inc_gpc", inc_gpc,
		"counts in a general purpose counter, gives what it is then"),
	SRC_ARRAY("src_inc_gpc", inc_gpc,
		"counts in a general purpose counter, gives what it is then"),
	SC(trackers, "how many connections and requests track the entry now"),
	SC_TYPE(tracked, SMP_BOOL, "is anything tracked?"),
	SC_KEY("sc_key", ARG_INT, 1, want_key, "<counter>"), SC_KEY("sc0_key", 0, 0, want0_key, ""),
	SC_KEY("sc1_key", 0, 0, want1_key, ""), SC_KEY("sc2_key", 0, 0, want2_key, ""),
	SRC("src_updt_conn_cnt", updt_conn_cnt,
		"counts a connection of the client's address, gives how many there were"),
	{ .name = "table_avl", .args_min = 1, .args = { ARG_TABLE }, .out = SMP_INT,
	  .use = EXPR_USE_INTERNAL, .fetch = fetch_room, .syntax = "[<table>]",
	  .help = "entries that the table has room for" },
	{ .name = "table_cnt", .args_min = 1, .args = { ARG_TABLE }, .out = SMP_INT,
	  .use = EXPR_USE_INTERNAL, .fetch = fetch_used, .syntax = "[<table>]",
	  .help = "entries of the table" },
	{ 0 }
};

static const struct expr_converter converters[] = {
	{ .name = "in_table", .args_min = 1, .args = { ARG_TABLE }, .in = SMP_ANY, .out = SMP_BOOL,
	  .context = true, .convert = convert_entry, .data = &want_tracked, .syntax = "[<table>]",
	  .help = "is it a key of the table?" },
	TABLE("table_bytes_in_rate", bytes_in_rate, "bytes from the client per period"),
	TABLE("table_bytes_out_rate", bytes_out_rate, "bytes to the client per period"),
	TABLE("table_conn_cnt", conn_cnt, "connections"),
	TABLE("table_conn_cur", conn_cur, "connections now"),
	TABLE("table_conn_rate", conn_rate, "connections per period"),
	TABLE("table_glitch_cnt", glitch_cnt, "glitches of clients' connections"),
	TABLE("table_glitch_rate", glitch_rate, "glitches of clients' connections per period"),
	TABLE("table_gpc0_rate", gpc0_rate, "how fast the general purpose counter 0 grows"),
	TABLE("table_gpc1_rate", gpc1_rate, "how fast the general purpose counter 1 grows"),
	TABLE("table_http_err_cnt", http_err_cnt, "requests that were clients' errors"),
	TABLE("table_http_err_rate", http_err_rate,
		"requests that were clients' errors per period"),
	TABLE("table_http_fail_cnt", http_fail_cnt, "requests whose server failed"),
	TABLE("table_http_fail_rate", http_fail_rate, "requests whose server failed per period"),
	TABLE("table_http_req_cnt", http_req_cnt, "HTTP requests"),
	TABLE("table_http_req_rate", http_req_rate, "HTTP requests per period"),
	TABLE("table_kbytes_in", kbytes_in, "kilobytes from the client"),
	TABLE("table_kbytes_out", kbytes_out, "kilobytes to the client"),
	TABLE("table_sess_cnt", sess_cnt, "sessions"),
	TABLE("table_sess_rate", sess_rate, "sessions per period"),
	TABLE("table_clr_gpc0", clr_gpc0,
		"clears the general purpose counter 0, gives what it was"),
	TABLE("table_clr_gpc1", clr_gpc1,
		"clears the general purpose counter 1, gives what it was"),
	TABLE("table_inc_gpc0", inc_gpc0,
		"counts in the general purpose counter 0, gives what it is then"),
	TABLE("table_inc_gpc1", inc_gpc1,
		"counts in the general purpose counter 1, gives what it is then"),
	TABLE("table_gpc0", gpc0, "the general purpose counter 0"),
	TABLE("table_gpc1", gpc1, "the general purpose counter 1"),
	TABLE("table_gpt0", gpt0, "the general purpose tag 0"),
	TABLE_ARRAY("table_gpc", gpc, "a general purpose counter"),
	TABLE_ARRAY("table_gpt", gpt, "a general purpose tag"),
	TABLE_ARRAY("table_gpc_rate", gpc_rate, "how fast a general purpose counter grows"),
	TABLE_ARRAY("table_clr_gpc", clr_gpc,
		"clears a general purpose counter, gives what it was"),
	TABLE_ARRAY("table_inc_gpc", inc_gpc,
		"counts in a general purpose counter, gives what it is then"),
	TABLE("table_server_id", server_id, "the server that stick rules have stored"),
	TABLE("table_trackers", trackers, "how many connections and requests track the entry"),
	TABLE_TIME("table_expire", expire, "milliseconds until the entry expires"),
	TABLE_TIME("table_idle", idle, "milliseconds since the last use of the entry"),
	{ 0 }
};

const struct module mod_table_smp = {
	.name = "stick-table-samples", .fetches = fetches, .converters = converters,
};
