/* SPDX-License-Identifier: GPL-2.0-or-later */
/* transport_smp.c - edge file: fetches about connections as the kernel and the muxes see them
 *
 * Manual: configuration 7.3.3 fc_*, bc_*, fs.*, bs.*.
 */
#include "stream/sample.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include "base/bug.h"
#include "net/conn_facts.h"
#include "quic/quic.h"
#include "stream/conn_error.h"

/* The connection of a side (<data> of back fetches is not NULL). NULL: none. */
static const struct conn *conn_of(const struct expr_ctx *ctx, bool back)
{
	struct stream *s = ctx->stream;

	if (!back)
		return ctx->session ? ctx->session->conn : NULL;
	return s && s->back.ops ? s->back.ops->conn(&s->back) : NULL;
}

/* --- what the kernel measures, TCP_INFO, or QUIC ------------------------------------------ */

struct figure {
	bool back, is_time;
	int64_t (*get)(const struct tcp_info *info);
	int64_t (*of_quic)(const struct quic_figures *q); /* NULL: QUIC has no such figure */
};

static int64_t figure_rtt(const struct tcp_info *i)
{
	return i->tcpi_rtt;
}

static int64_t figure_rttvar(const struct tcp_info *i)
{
	return i->tcpi_rttvar;
}

static int64_t figure_unacked(const struct tcp_info *i)
{
	return i->tcpi_unacked;
}

static int64_t figure_sacked(const struct tcp_info *i)
{
	return i->tcpi_sacked;
}

static int64_t figure_lost(const struct tcp_info *i)
{
	return i->tcpi_lost;
}

static int64_t figure_retrans(const struct tcp_info *i)
{
	return i->tcpi_retrans;
}

static int64_t figure_fackets(const struct tcp_info *i)
{
	return i->tcpi_fackets;
}

static int64_t figure_reordering(const struct tcp_info *i)
{
	return i->tcpi_reordering;
}

static int64_t quic_rtt(const struct quic_figures *q)
{
	return (int64_t)q->rtt_us;
}

static int64_t quic_rttvar(const struct quic_figures *q)
{
	return (int64_t)q->rttvar_us;
}

static int64_t quic_lost(const struct quic_figures *q)
{
	return (int64_t)q->lost;
}

static int64_t quic_reordering(const struct quic_figures *q)
{
	return (int64_t)q->reordered;
}

/* False: there is none. */
static bool figure_of(const struct figure *f, const struct conn *c, int64_t *v)
{
	struct tcp_info info = { 0 };
	struct quic_figures q;

	if (c && conn_quic(c)) {
		if (!f->of_quic || !quic_conn_figures(c, &q))
			return false;
		*v = f->of_quic(&q);
		return true;
	}
	if (!c || !conn_tcp_info(c, &info))
		return false;
	*v = f->get(&info);
	return true;
}

/* Of times: the unit becomes how many microseconds it is. */
static bool check_figure(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *unit = args[0].type == ARG_STR ? args[0].name.ptr : "ms";

	args[0].type = ARG_INT;
	args[0].integer = strcmp(unit, "us") == 0 ? 1 : strcmp(unit, "ms") == 0 ? 1000 : 0;
	if (!args[0].integer)
		*error = arena_printf(&l->cfg->arena, "expects 'us' or 'ms', got '%s'", unit);
	return args[0].integer != 0;
}

static enum expr_result fetch_figure(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	const struct figure *f = ctx->data;
	const struct conn *c = conn_of(ctx, f->back);
	int64_t v;

	if (!figure_of(f, c, &v))
		return EXPR_NONE;
	return smp_give_int(out, f->is_time ? v / args[0].integer : v);
}

/* --- errors ------------------------------------------------------------------------------- */

/* What the reference program numbers (one more than its manual): those that a system call gives. */
static const struct { int error; int number; const char *name, *text; } errors[] = {
	{ 0, 0, "", "Success" },
	{ ECONNREFUSED, 47, "EREFUSED", "ECONNREFUSED returned by OS" },
	{ ECONNRESET, 48, "ERESET", "ECONNRESET returned by OS" },
	{ ENETUNREACH, 49, "EUNREACH", "ENETUNREACH returned by OS" },
	{ ENOMEM, 50, "ENOMEM", "ENOMEM returned by OS" },
	{ EBADF, 51, "EBADF", "EBADF returned by OS" },
	{ EFAULT, 52, "EFAULT", "EFAULT returned by OS" },
	{ EINVAL, 53, "EINVAL", "EINVAL returned by OS" },
	{ ENOTCONN, 54, "ENCONN", "ENCONN returned by OS" },
	{ ENOTSOCK, 55, "ENSOCK", "ENSOCK returned by OS" },
	{ ENOBUFS, 56, "ENOBUFS", "ENOBUFS returned by OS" },
	{ EPIPE, 57, "EPIPE", "EPIPE returned by OS" },
	{ -1, 6, "SOCK_ERR", "General socket error" }, /* any other */
};

/* The row of the connection's error; -1: there is no connection, and was none. */
static int error_row(const struct expr_ctx *ctx)
{
	const struct conn *c = conn_of(ctx, ctx->data != NULL);
	int error = ctx->data && ctx->stream ? ctx->stream->answer.connection - 1 : -1;
	unsigned i = 0;

	if (c)
		error = c->error;
	if (error < 0)
		return -1;
	while (i < ARRAY_LEN(errors) - 1 && errors[i].error != error)
		i++;
	return (int)i;
}

/* Why the handshake with the server failed; NULL: it did not. */
static const struct conn_error *handshake_error(const struct expr_ctx *ctx)
{
	return ctx->data && ctx->stream && !conn_of(ctx, true) ?
		conn_error_find(ctx->stream->answer.handshake) : NULL;
}

static enum expr_result fetch_error(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	const struct conn_error *e = handshake_error(ctx);
	int row = error_row(ctx);

	if (e)
		return smp_give_int(out, e->id);
	return row < 0 ? EXPR_NONE : smp_give_int(out, errors[row].number);
}

static enum expr_result fetch_error_name(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	const struct conn_error *e = handshake_error(ctx);
	int row = error_row(ctx);

	if (e)
		return smp_give_text(out, slice_of(e->name));
	return row < 0 ? EXPR_NONE : smp_give_text(out, slice_of(errors[row].name));
}

static enum expr_result fetch_error_text(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	const struct conn_error *e = handshake_error(ctx);
	int row = error_row(ctx);

	if (e)
		return smp_give_text(out, slice_of(e->message));
	return row < 0 ? EXPR_NONE : smp_give_text(out, slice_of(errors[row].text));
}

/* --- the packet that opened it ------------------------------------------------------------ */

/* Its headers: Ethernet, IPv6 with extensions, TCP. */
#define SYN_MAX 512

static enum expr_result fetch_saved_syn(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	const struct conn *c = conn_of(ctx, false);
	char *bytes = c ? arena_alloc(ctx->arena, SYN_MAX) : NULL;
	size_t len = SYN_MAX;

	if (!bytes || !conn_saved_syn(c, bytes, &len))
		return EXPR_NONE;
	out->type = SMP_BIN;
	out->flags = 0;
	out->text = slice_make(bytes, len);
	return EXPR_FOUND;
}

/* --- is the address one of this machine? -------------------------------------------------- */

static bool same_address(const struct sockaddr *sa, const struct addr *a)
{
	if (sa->sa_family == AF_INET && a->family == ADDR_INET)
		return ((const struct sockaddr_in *)sa)->sin_addr.s_addr == a->v4;
	return sa->sa_family == AF_INET6 && a->family == ADDR_INET6 &&
	       memcmp(&((const struct sockaddr_in6 *)sa)->sin6_addr, a->v6, 16) == 0;
}

/* Loopback networks as a whole, and what interfaces have. */
static bool is_local(const struct addr *a)
{
	struct ifaddrs *list, *i;
	bool found = false;

	if (a->family == ADDR_UNIX || (a->family == ADDR_INET && ntohl(a->v4) >> 24 == 127))
		return true;
	if (getifaddrs(&list) < 0)
		return false;
	for (i = list; i && !found; i = i->ifa_next)
		found = i->ifa_addr && same_address(i->ifa_addr, a);
	freeifaddrs(list);
	return found;
}

struct local_address { bool front, dst; }; /* front: whatever rules set */

static enum expr_result fetch_is_local(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	const struct local_address *which = ctx->data;
	const struct addr *a = NULL;

	if (!which->front)
		a = which->dst ? context_dst(ctx) : context_src(ctx);
	else if (ctx->session)
		a = which->dst ? session_conn_dst(ctx->session) : session_conn_src(ctx->session);
	return a && a->family != ADDR_NONE ? smp_give_bool(out, is_local(a)) : EXPR_NONE;
}

/* --- table --------------------------------------------------------------------------------- */

#define FC EXPR_USE_L4_CLIENT
#define BC EXPR_USE_L4_SERVER
#define BACK "back"
#define FETCH(n, type, uses, which, function, text) \
	{ .name = n, .out = type, .use = uses, .fetch = function, .data = which, .help = text }
#define FIGURE(n, member, quic, text) \
	{ .name = "fc_" n, .args = { ARG_STR }, .out = SMP_INT, .use = FC, \
	  .fetch = fetch_figure, .help = text, \
	  .data = &(const struct figure){ .get = member, .of_quic = quic } }
#define TIME(n, in_back, member, quic, text) \
	{ .name = n, .args = { ARG_STR }, .out = SMP_INT, .use = FC, .fetch = fetch_figure, \
	  .check = check_figure, .syntax = "[us|ms]", .help = text, \
	  .data = &(const struct figure){ .back = in_back, .is_time = true, .get = member, \
					  .of_quic = quic } }
#define ERRORS(side, uses, which) \
	FETCH(side "_err", SMP_INT, uses, which, fetch_error, "the number of its error"), \
	FETCH(side "_err_name", SMP_STR, uses, which, fetch_error_name, \
	      "the name of its error"), \
	FETCH(side "_err_str", SMP_STR, uses, which, fetch_error_text, "its error in words")
#define LOCAL(n, in_front, is_dst, text) \
	FETCH(n, SMP_BOOL, FC, (&(const struct local_address){ in_front, is_dst }), \
	      fetch_is_local, text)

static const struct expr_fetch fetches[] = {
	ERRORS("bc", BC, BACK),
	TIME("bc_rtt", true, figure_rtt, quic_rtt, "round trip time to the server"),
	TIME("bc_rttvar", true, figure_rttvar, quic_rttvar,
	     "variation of the round trip time to the server"),
	LOCAL("dst_is_local", false, true, "is the address that the client reached ours?"),
	LOCAL("fc_dst_is_local", true, true, "is the address that the client reached ours?"),
	FIGURE("fackets", figure_fackets, NULL, "forward acknowledgements, as the kernel counts"),
	FIGURE("lost", figure_lost, quic_lost, "segments lost, as the kernel, or QUIC, counts"),
	FIGURE("reordering", figure_reordering, quic_reordering,
	       "reordering, as the kernel, or QUIC, counts"),
	FIGURE("retrans", figure_retrans, NULL, "segments sent again, as the kernel counts"),
	TIME("fc_rtt", false, figure_rtt, quic_rtt, "round trip time to the client"),
	TIME("fc_rttvar", false, figure_rttvar, quic_rttvar,
	     "variation of the round trip time to the client"),
	FIGURE("sacked", figure_sacked, NULL, "segments acknowledged apart, as the kernel counts"),
	FETCH("fc_saved_syn", SMP_BIN, FC, NULL, fetch_saved_syn,
	      "the packet that opened the connection (`tcp-ss` of bind lines)"),
	LOCAL("fc_src_is_local", true, false, "is the client on this machine?"),
	FIGURE("unacked", figure_unacked, NULL, "segments not acknowledged, as the kernel counts"),
	LOCAL("src_is_local", false, false, "is the client on this machine?"),
	{ 0 }
};

const struct module mod_transport_smp = { .name = "transport-fetches", .fetches = fetches };
