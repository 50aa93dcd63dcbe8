/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_ctl.c - edge file: show quic
 *
 * Each thread writes its connections when the command's tour reaches it.
 * Manual: management 9.3.
 */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/module.h"
#include "congestion_priv.h"
#include "conn_priv.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "ctl/ctl.h"
#include "module_priv.h"
#include "net/conn.h"
#include "recovery_priv.h"
#include "stream_priv.h"
#include "udp_priv.h"

enum show_parts {
	SHOW_TP = 1 << 0, SHOW_SOCK = 1 << 1, SHOW_PKTNS = 1 << 2, SHOW_CC = 1 << 3,
	SHOW_MUX = 1 << 4, SHOW_STREAMS = 1 << 5, SHOW_ALL = (1 << 5) - 1,
};

enum show_filter { SHOW_FRONT, SHOW_CLOSING, SHOW_BACK, SHOW_EVERY, SHOW_ONE };

struct show {
	struct ctl_session *session;   /* NULL: it has gone meanwhile */
	unsigned parts;                /* enum show_parts; 0: one line each */
	enum show_filter filter;
	uintptr_t one;
	bool touring, done;
	struct strbuf text;
};

/* --- one connection --------------------------------------------------------------------------- */

/* Whose it is: a frontend, or a backend and its server. */
static void put_owner(const struct quic_conn *q, char *name, size_t size)
{
	char area[300];
	struct strbuf text;
	const char *at;
	size_t len;

	name[0] = '\0';
	if (!q->conn || !q->conn->ops || !q->conn->ops->describe)
		return;
	strbuf_init_fixed(&text, area, sizeof(area) - 1);
	q->conn->ops->describe(q->conn, &text);
	area[text.len] = '\0';
	at = strstr(area, " fe=");
	if (!at)
		at = strstr(area, " sv=");
	if (!at)
		return;
	len = strcspn(at + 4, " ");
	if (len >= size)
		len = size - 1;
	memcpy(name, at + 4, len);
	name[len] = '\0';
}

static void put_cid(const struct quic_cid *cid, char *out)
{
	for (unsigned i = 0; i < cid->len; i++)
		sprintf(out + 2 * i, "%02x", cid->bytes[i]);
	out[2 * cid->len] = '\0';
}

static unsigned packets_in_flight(const struct quic_conn *q)
{
	unsigned n = 0;

	for (unsigned i = 0; i < QUIC_LEVELS; i++)
		n += q->spaces[i]->eliciting_in_flight;
	return n;
}

static const struct quic_cid *peer_cid(const struct quic_conn *q)
{
	return &q->ids.peer[q->ids.active].cid;
}

static void put_line(const struct quic_conn *q, struct strbuf *out)
{
	static const char *const states[] = {
		[QUIC_HANDSHAKE] = "HDSHK", [QUIC_OPEN] = "ESTAB", [QUIC_CLOSING] = "CLOSING",
		[QUIC_DRAINING] = "DRAIN", [QUIC_DEAD] = "DEAD",
	};
	char local[ADDR_MAX], peer[ADDR_MAX], ours[2 * QUIC_CID_MAX + 1], its[2 * QUIC_CID_MAX + 1],
	     name[128];

	local[addr_put(&q->local, local, sizeof(local))] = '\0';
	peer[addr_put(&q->path.peer, peer, sizeof(peer))] = '\0';
	put_cid(&q->ids.ours, ours);
	put_cid(peer_cid(q), its);
	put_owner(q, name, sizeof(name));
	strbuf_printf(out, "%p[%02u]/%-17s %-7s %9llu %6u %6u %22s  %22s %s %s\n", (const void *)q,
		      thread_id + 1, name, states[q->state], (unsigned long long)q->in_flight,
		      packets_in_flight(q), q->counts.lost, local, peer, ours, its);
}

/* Connection ids are shown as wide as they may be. */
static void put_wide_cid(struct strbuf *out, const char *what, const struct quic_cid *cid)
{
	char text[2 * QUIC_CID_MAX + 1];

	put_cid(cid, text);
	strbuf_printf(out, " %s=%s", what, text);
	for (unsigned i = cid->len; i < QUIC_CID_MAX; i++)
		strbuf_add_str(out, "..");
}

static void put_params(const char *side, const struct quic_params *p, struct strbuf *out)
{
	char text[2 * QUIC_CID_MAX + 1];

	strbuf_printf(out, "  %s TPs:", side);
	if (p->has_odcid) {
		put_cid(&p->odcid, text);
		strbuf_printf(out, " odcid=%s", text);
	}
	if (p->has_scid) {
		put_cid(&p->scid, text);
		strbuf_printf(out, " iscid=%s", text);
	}
	strbuf_printf(out, "\n    midle_timeout=%llums mudp_payload_sz=%llu ack_delay_exp=%llu "
		      "mack_delay=%llums act_cid_limit=%llu\n", (unsigned long long)p->idle_ms,
		      (unsigned long long)p->udp_payload_max, (unsigned long long)p->ack_exponent,
		      (unsigned long long)p->ack_delay_ms, (unsigned long long)p->cid_limit);
	strbuf_printf(out, "    md=%llu msd_bidi_l=%llu msd_bidi_r=%llu msd_uni=%llu ms_bidi=%llu "
		      "ms_uni=%llu\n", (unsigned long long)p->data_max,
		      (unsigned long long)p->stream_local, (unsigned long long)p->stream_remote,
		      (unsigned long long)p->stream_uni, (unsigned long long)p->streams_bidi,
		      (unsigned long long)p->streams_uni);
	if (p->no_migration || p->has_token)
		strbuf_printf(out, "    (%s%s%s)\n", p->no_migration ? "no_act_migr" : "",
			      p->no_migration && p->has_token ? "," : "",
			      p->has_token ? "stless_rst_tok" : "");
}

static void put_state(const struct quic_conn *q, struct strbuf *out)
{
	static const char *const states[] = {
		[QUIC_HANDSHAKE] = "handshake", [QUIC_OPEN] = "opened", [QUIC_CLOSING] = "closing",
		[QUIC_DRAINING] = "draining", [QUIC_DEAD] = "dead",
	};
	uint64_t at = q->state >= QUIC_CLOSING ? q->end.until_ns : q->idle_ns, now = clock_now_ns();

	strbuf_printf(out, "  st=%-16s mux=%-41s ", states[q->state],
		      q->events ? "ready" : q->state <= QUIC_OPEN ? "not-initialized" : "released");
	if (at == UINT64_MAX)
		strbuf_add_str(out, "expire=never\n");
	else
		strbuf_printf(out, "expire=%02llus \n",
			      (unsigned long long)(at > now ? (at - now) / NS_PER_SEC : 0));
}

static void put_socket(const struct quic_conn *q, struct strbuf *out)
{
	char local[ADDR_MAX], peer[ADDR_MAX];

	local[addr_put(&q->local, local, sizeof(local))] = '\0';
	peer[addr_put(&q->path.peer, peer, sizeof(peer))] = '\0';
	strbuf_printf(out, "  fd=%-16d local_addr=%s foreign_addr=%s\n",
		      q->socket ? q->socket->fd : -1, local, peer);
}

static void put_spaces(const struct quic_conn *q, struct strbuf *out)
{
	static const char *const names[] = { "initl", "hndshk", "01rtt" };

	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		const struct quic_space *s = q->spaces[i];

		if (!s->tx.aead && !s->rx.aead)
			continue;
		strbuf_printf(out, "  [%s] rx.ackrng=%-6u tx.inflight=%-6llu(%llu%%)\n", names[i],
			      s->received.count, (unsigned long long)q->in_flight,
			      (unsigned long long)(q->cc.window ? q->in_flight * 100 / q->cc.window
								: 0));
	}
}

/* What is particular to an algorithm: its line is how to see which one it is. */
static void put_algorithm(const struct quic_conn *q, struct strbuf *out)
{
	const struct quic_cc *cc = &q->cc;
	const struct quic_bbr *b = &cc->bbr;

	if (cc->algo == QUIC_CC_CUBIC)
		strbuf_printf(out, "  cc: state=%s ssthresh=%llu K=%lld last_w_max=%llu "
			      "wdiff=%llu\n",
			      cc->window < cc->threshold ? "ss" : "ca",
			      (unsigned long long)(cc->threshold < UINT32_MAX ? cc->threshold
									      : UINT32_MAX),
			      (long long)(cc->k * 1000), (unsigned long long)cc->w_max,
			      (unsigned long long)(cc->window > q->in_flight
						   ? cc->window - q->in_flight : 0));
	else if (cc->algo == QUIC_CC_BBR)
		strbuf_printf(out, "  bbr: st=%c max_bw=%llu min_rtt=%llu pacing_rate=%llu\n",
			      "sdwr"[b->state], (unsigned long long)(b->bw * NS_PER_SEC),
			      (unsigned long long)(b->min_rtt_ns == UINT64_MAX
						   ? 0 : b->min_rtt_ns / NS_PER_MS),
			      (unsigned long long)(b->pace * NS_PER_SEC));
}

static void put_congestion(const struct quic_conn *q, struct strbuf *out)
{
	const struct quic_cc *cc = &q->cc;

	put_algorithm(q, out);
	strbuf_printf(out, "  srtt=%-5llu rttvar=%-6llu rttmin=%-4llu ptoc=%-4u\n",
		      (unsigned long long)(q->rtt.smoothed / NS_PER_MS),
		      (unsigned long long)(q->rtt.var / NS_PER_MS),
		      (unsigned long long)(q->rtt.min / NS_PER_MS), q->pto_count);
	strbuf_printf(out, "  cwnd=%-17llu cwnd_last_max=%-6llu\n", (unsigned long long)cc->window,
		      (unsigned long long)cc->window_max);
	strbuf_printf(out, "  sentbytes=%-12llu sentpkts=%-6llu\n",
		      (unsigned long long)q->counts.bytes, (unsigned long long)q->counts.packets);
	strbuf_printf(out, "  lostpkts=%-13u reorderedpkts=%-6u\n", q->counts.lost,
		      q->counts.reordered);
}

static void put_streams(const struct quic_conn *q, struct strbuf *out)
{
	strbuf_printf(out, "  qcc=%p flags=0x%x sc=%llu bwnd=%llu/%llu\n", q->owner, q->flags,
		      (unsigned long long)(q->streams.bidi_next - q->streams.bidi_closed),
		      (unsigned long long)q->in_flight, (unsigned long long)q->cc.window);
	for (struct tree_node *n = tree_first(&q->streams.all); n; n = tree_next(n)) {
		const struct quic_stream *s = list_entry(n, struct quic_stream, node);

		strbuf_printf(out, "    qcs=%p id=%llu flags=0x%x st=%s", (const void *)s,
			      (unsigned long long)s->id, s->flags,
			      s->flags & QUIC_SFL_TX_RESET ? "RST"
			      : s->flags & QUIC_SFL_RX_END ? "HCR" : "OPN");
		if (s->flags & QUIC_SFL_RX)
			strbuf_printf(out, " rxb=%u rxoff=%llu", s->rx.ready.len,
				      (unsigned long long)s->rx.at);
		if (s->flags & QUIC_SFL_TX)
			strbuf_printf(out, " txb=%u txoff=%llu msd=%llu", s->tx.data.len,
				      (unsigned long long)s->tx.sent,
				      (unsigned long long)s->tx_max);
		strbuf_add_char(out, '\n');
	}
}

static void put_all(const struct quic_conn *q, unsigned parts, struct strbuf *out)
{
	struct quic_params ours;
	uint8_t room[QUIC_PARAMS_ROOM];

	strbuf_printf(out, "* %p[%02u]:", (const void *)q, thread_id + 1);
	put_wide_cid(out, "scid", &q->ids.ours);
	put_wide_cid(out, "dcid", peer_cid(q));
	strbuf_add_char(out, '\n');
	if (parts & SHOW_TP) {
		quic_params_init(&ours);
		quic_params_read_server(room, quic_conn_tls_user.own_params(q, room), &ours);
		put_params("loc.", &ours, out);
		put_params("rem.", &q->params, out);
		strbuf_printf(out, "    versions:chosen=0x%08x,negotiated=0x%08x\n",
			      q->params.has_versions ? q->params.version : q->version.id,
			      q->version.id);
	}
	put_state(q, out);
	if (parts & SHOW_SOCK)
		put_socket(q, out);
	if (parts & SHOW_PKTNS)
		put_spaces(q, out);
	if (parts & SHOW_CC)
		put_congestion(q, out);
	if (parts & SHOW_MUX && q->events)
		put_streams(q, out);
	strbuf_add_char(out, '\n');
}

/* A request that is under way, by its stream. */
static void put_requests(const struct quic_conn *q, struct strbuf *out)
{
	for (struct tree_node *n = tree_first(&q->streams.all); n; n = tree_next(n)) {
		const struct quic_stream *s = list_entry(n, struct quic_stream, node);

		if (!quic_id_is_uni(s->id))
			strbuf_printf(out, "%p[%02u].%04llu: rxoff=%llu txoff=%llu\n",
				      (const void *)q, thread_id + 1, (unsigned long long)s->id,
				      (unsigned long long)s->rx.at,
				      (unsigned long long)s->tx.sent);
	}
}

/* --- the tour --------------------------------------------------------------------------------- */

static bool is_wanted(const struct show *s, const struct quic_conn *q)
{
	bool back = q->flags & QUIC_FL_CLIENT, closing = q->state >= QUIC_CLOSING;

	switch (s->filter) {
	case SHOW_FRONT:
		return !back && !closing;
	case SHOW_CLOSING:
		return !back && closing;
	case SHOW_BACK:
		return back;
	case SHOW_ONE:
		return (uintptr_t)q == s->one;
	case SHOW_EVERY:
		break;
	}
	return true;
}

static void visit_conn(void *ctx, struct quic_conn *q)
{
	struct show *s = ctx;

	if (!is_wanted(s, q))
		return;
	if (!s->parts)
		put_line(q, &s->text);
	else if (s->parts & SHOW_STREAMS)
		put_requests(q, &s->text);
	else
		put_all(q, s->parts, &s->text);
}

static void visit_thread(void *ctx)
{
	struct show *s = ctx;

	if (s->session)
		quic_conns_visit(visit_conn, s);
}

static void show_free(struct show *s)
{
	strbuf_fini(&s->text);
	free(s);
}

static void visited(void *ctx)
{
	struct show *s = ctx;

	s->touring = false;
	s->done = true;
	if (s->session)
		ctl_session_resume(s->session);
	else
		show_free(s);
}

/* --- the command ------------------------------------------------------------------------------ */

/* A list of levels. False: it is none, and *parts is 0. */
static bool take_levels(const char *word, unsigned *parts)
{
	static const struct { const char *name; unsigned part; } levels[] = {
		{ "tp", SHOW_TP }, { "sock", SHOW_SOCK }, { "pktns", SHOW_PKTNS },
		{ "cc", SHOW_CC }, { "mux", SHOW_MUX }, { "full", SHOW_ALL },
		{ "stream", SHOW_STREAMS },
	};

	*parts = 0;
	while (*word) {
		size_t len = strcspn(word, ",");
		unsigned i = 0;

		while (i < sizeof(levels) / sizeof(*levels) &&
		       (strlen(levels[i].name) != len || memcmp(levels[i].name, word, len) != 0))
			i++;
		if (i == sizeof(levels) / sizeof(*levels)) {
			*parts = 0;
			return false;
		}
		*parts |= levels[i].part;
		word += len + (word[len] == ',');
	}
	return *parts != 0;
}

static bool take_filter(const char *word, struct show *s)
{
	char *end;

	if (strcmp(word, "all") == 0)
		s->filter = SHOW_EVERY;
	else if (strcmp(word, "clo") == 0)
		s->filter = SHOW_CLOSING;
	else if (strcmp(word, "be") == 0)
		s->filter = SHOW_BACK;
	else if (strncmp(word, "0x", 2) == 0)
		s->filter = SHOW_ONE;
	else
		return false;
	if (s->filter != SHOW_ONE)
		return true;
	s->one = strtoul(word, &end, 16);
	return !*end;
}

static bool parse(struct ctl_request *rq, struct show *s)
{
	int at = rq->at;

	if (at < rq->count && strcmp(rq->words[at], "oneline") == 0)
		at++;
	else if (at < rq->count && take_levels(rq->words[at], &s->parts))
		at++;
	return at >= rq->count || (take_filter(rq->words[at], s) && at + 1 == rq->count);
}

static const char help[] =
	"Usage: show quic [help|<format>] [<filter>]\n"
	"Lists the connections of QUIC. How much of each:\n"
	"  oneline    a line for each, as of netstat (default)\n"
	"  stream     a line for each request that is under way\n"
	"  full       all that is known\n"
	"  <levels>*  some of that, separated by commas: tp, sock, pktns, cc, mux\n"
	"  help       this text\n"
	"Which of them:\n"
	"  all        all\n"
	"  clo        those of frontends that end\n"
	"  be         those to servers\n"
	"  <id>       the one with this number (0x...)\n"
	"Without a filter, those of frontends that do not end.\n";

static struct show *begin(struct ctl_request *rq)
{
	struct show *s;

	if (rq->at < rq->count && strcmp(rq->words[rq->at], "help") == 0) {
		strbuf_add_str(rq->out, help);
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		ctl_error(rq, "Out of memory.");
		return NULL;
	}
	strbuf_init(&s->text);
	s->session = rq->session;
	rq->state = s;
	if (!parse(rq, s)) {
		ctl_error(rq, "Invalid %s, use 'help' for more options.",
			  rq->at < rq->count && strchr(rq->words[rq->at], ',') &&
			  !s->parts ? "field" : "argument");
		return NULL;
	}
	if (!s->parts)
		strbuf_add_str(&s->text, "# conn/frontend                     state   in_flight "
			       "infl_p lost_p         Local Address           Foreign Address      "
			       "local & remote CIDs\n");
	s->touring = thread_call_all(visit_thread, visited, s);
	if (!s->touring)
		ctl_error(rq, "Out of memory.");
	return s;
}

/* What was gathered leaves in portions. */
static enum ctl_step show_quic(struct ctl_request *rq)
{
	struct show *s = rq->state;
	size_t n;

	if (!s) {
		s = begin(rq);
		return s && s->touring ? CTL_WAIT : CTL_DONE;
	}
	if (!s->done)
		return CTL_WAIT;
	n = s->text.len - rq->pos < CTL_OUT_SOFT ? s->text.len - rq->pos : CTL_OUT_SOFT;
	strbuf_add(rq->out, slice_make(s->text.ptr + rq->pos, n));
	rq->pos += n;
	return rq->pos < s->text.len ? CTL_MORE : CTL_DONE;
}

static void release(struct ctl_request *rq)
{
	struct show *s = rq->state;

	if (!s)
		return;
	if (s->touring)
		s->session = NULL; /* visited() frees it */
	else
		show_free(s);
}

const struct ctl_command quic_commands[] = {
	{ .words = "show quic", .syntax = "[help|<format>] [<filter>]", .level = CTL_OPERATOR,
	  .help = "list connections of QUIC", .run = show_quic, .release = release },
	{ 0 }
};
