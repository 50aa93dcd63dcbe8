/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ring_conf.c - edge file: sections ring
 *
 * Manual: configuration 12.5
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/block.h"
#include "base/bug.h"
#include "base/num.h"
#include "log/log.h"
#include "mux/mux.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "tls/tls.h"
#include "ring_priv.h"

/* Of rings and maxlen: what memory maps can be asked for. */
#define SIZE_LIMIT (UINT64_C(1) << 40)
/* Below this, no message would fit. */
#define SIZE_LEAST 256
/* Timeouts of what `log` lines make. */
#define LOG_CONNECT_MS 1000
#define LOG_SERVER_MS 5000

/* The sections of a generation. */
struct rings {
	struct ring_conf *first;
	unsigned of_logs;      /* how many `log` lines made: the next one is "ring#<n + 1>" */
};

static void rings_fini(void *data)
{
	for (struct ring_conf *r = ((struct rings *)data)->first; r; r = r->next) {
		ring_drop(&r->ring);
		proxy_close(r->proxy);
	}
}

static struct slot rings_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct rings), .fini = rings_fini,
};

static struct rings *rings_of(const struct config *cfg)
{
	return slot_of(&rings_slot, config_slots(cfg));
}

static struct ring_conf *ring_of(const struct conf_line *l)
{
	const struct proxy *px = l->object;

	for (struct ring_conf *r = rings_of(l->cfg)->first; r; r = r->next)
		if (r->proxy == px)
			return r;
	return NULL;
}

/* --- the section ----------------------------------------------------------------------------- */

static bool name_is_good(struct conf_line *l, const char *name)
{
	char bad = conf_name_bad_char(name);

	return !bad || conf_error(l, 1, NULL, "invalid ring name '%s' (character '%c' is "
					"not permitted).", name, bad);
}

static bool ring_open(struct conf_line *l)
{
	struct rings *all = rings_of(l->cfg);
	const char *name = conf_next(l);
	struct ring_conf *r;

	if (!name)
		return conf_error(l, 0, NULL, "missing ring name.");
	if (!name_is_good(l, name))
		return false;
	r = arena_zalloc(&l->cfg->arena, sizeof(*r));
	if (r)
		r->proxy = proxy_new(l->cfg, name, PROXY_BE, NULL);
	if (!r || !r->proxy)
		return conf_error(l, 0, NULL, "out of memory.");
	r->name = r->description = name;
	r->format = SYSLOG_RAW;
	r->file = r->proxy->file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	r->line = r->proxy->line = l->place.line;
	r->proxy->mode = PROXY_MODE_TCP;
	r->next = all->first;
	all->first = r;
	l->object = r->proxy;
	l->slots = proxy_slots(r->proxy);
	r->is_wrong = sink_of_config(l->cfg, name) != NULL;
	if (r->is_wrong)
		return conf_error(l, 1, NULL, "sink named '%s' already exists.", name);
	return conf_take_end(l);
}

/* The ring that this process has already under the same name, size and file, so that a reload keeps
 * what it holds; a reference, or NULL.
 */
static struct ring *ring_of_before(const struct ring_conf *r, const char *path, size_t bytes)
{
	struct sink *old = sink_find(r->name);
	struct ring *ring = NULL;
	bool same;

	if (!old)
		return NULL;
	same = old->ring && (path ? old->path && strcmp(old->path, path) == 0 : !old->path);
	if (same && ring_max_len(old->ring) == bytes - sizeof(struct ring_area) - RING_OVERHEAD)
		ring = ring_take(old->ring);
	sink_drop(&old);
	return ring;
}

static size_t ring_bytes(const struct ring_conf *r)
{
	size_t bytes = r->size ? (size_t)r->size : block_size();

	return bytes < SIZE_LEAST ? SIZE_LEAST : bytes;
}

static void ring_limit(struct conf_line *l, struct ring_conf *r)
{
	size_t most = ring_max_len(r->ring);

	if (r->max_len <= most)
		return;
	conf_warn(l, 0, NULL, "ring '%s' event max length '%llu' exceeds max payload size, forced "
		  "to '%zu'.", r->name, (unsigned long long)r->max_len, most);
	r->max_len = most;
}

/* All of the section is known: its sink is made. */
static void ring_close(struct conf_line *l)
{
	struct ring_conf *r = ring_of(l);
	struct sink *s;

	if (!r || r->is_wrong)
		return;
	if (!r->ring)
		r->ring = ring_of_before(r, NULL, ring_bytes(r));
	if (!r->ring)
		r->ring = ring_new(ring_bytes(r));
	s = r->ring ? sink_new(r->name, r->description, -1, ring_take(r->ring)) : NULL;
	if (s && r->path)
		s->path = strdup(r->path);
	if (!s || (r->path && !s->path)) {
		sink_drop(&s);
		conf_error(l, 0, NULL, "out of memory for ring '%s'.", r->name);
		return;
	}
	ring_limit(l, r);
	s->format = r->format;
	s->max_len = r->max_len ? r->max_len : SIZE_MAX;
	r->sink = s;
	if (!sink_announce(l->cfg, s)) {
		r->sink = NULL;
		conf_error(l, 0, NULL, "out of memory for ring '%s'.", r->name);
	}
}

/* --- its lines ------------------------------------------------------------------------------- */

static bool take_size(struct conf_line *l, uint64_t *out)
{
	const char *word = conf_peek(l) ? conf_peek(l) : "";

	if (num_parse_size(slice_of(word), out, NULL) != NUM_OK || !*out || *out > SIZE_LIMIT)
		return conf_error(l, l->at, NULL, "invalid size '%s' for new sink buffer.", word);
	l->at++;
	return conf_take_end(l);
}

static bool parse_size(struct conf_line *l)
{
	struct ring_conf *r = ring_of(l);

	if (r->is_wrong)
		return conf_error(l, 0, NULL, "'size' directive not usable with this type of "
				  "sink.");
	if (r->ring)
		return conf_error(l, 0, NULL, "cannot resize an already mapped file, please "
				  "specify 'size' before 'backing-file'.");
	return take_size(l, &r->size);
}

static bool parse_maxlen(struct conf_line *l)
{
	return take_size(l, &ring_of(l)->max_len);
}

static bool parse_format(struct conf_line *l)
{
	const char *word = conf_next(l);
	enum syslog_format format = word ? syslog_format_find(slice_of(word)) : SYSLOG_FORMATS;

	if (format == SYSLOG_FORMATS)
		return conf_error(l, 1, "local, rfc3164, rfc5424, priority, short, timed, iso, raw",
				  "unknown format '%s'.", word ? word : "");
	ring_of(l)->format = format;
	return conf_take_end(l);
}

static bool parse_description(struct conf_line *l)
{
	struct ring_conf *r = ring_of(l);
	const char *text = conf_next(l);

	if (!text || !*text)
		return conf_error(l, 0, NULL, "missing ring description text.");
	while (text && conf_peek(l))
		text = arena_printf(&l->cfg->arena, "%s %s", text, conf_next(l));
	r->description = text;
	return text != NULL || conf_error(l, 0, NULL, "out of memory.");
}

static bool parse_backing_file(struct conf_line *l)
{
	struct ring_conf *r = ring_of(l);
	const char *word = conf_next(l);
	const char *path = word ? conf_path(l->cfg, word) : NULL;

	if (r->is_wrong || r->ring)
		return conf_error(l, 0, NULL, "'backing-file' directive not usable with this type "
				  "of sink.");
	if (!path || !*path)
		return conf_error(l, 0, NULL, "cannot open backing-file '' for ring '%s': %s.",
				  r->name, strerror(ENOENT));
	r->path = path;
	r->ring = ring_of_before(r, path, ring_bytes(r));
	if (!r->ring)
		r->ring = ring_open_file(path, ring_bytes(r));
	if (!r->ring)
		return conf_error(l, 1, NULL, "cannot open backing-file '%s' for ring '%s': %s.",
				  word, r->name, strerror(errno));
	return conf_take_end(l);
}

static bool parse_timeout_connect(struct conf_line *l)
{
	return conf_take_time_ms(l, &ring_of(l)->connect_ms) && conf_take_end(l);
}

static bool parse_timeout_server(struct conf_line *l)
{
	return conf_take_time_ms(l, &ring_of(l)->server_ms) && conf_take_end(l);
}

/* Parses a line `server` as a backend does. */
static bool parse_server(struct conf_line *l)
{
	const struct conf_keyword *k = mod_server.keywords;

	while (strcmp(k->words, "server") != 0 || !(k->where & CONF_BE))
		k++;
	return k->parse(l);
}

/* --- rings of `log` lines -------------------------------------------------------------------- */

/* What a section would have said: "server log <address>". */
static bool add_log_server(struct conf_line *l, struct ring_conf *r, const struct addr_any *to)
{
	char *words[] = { (char *)"server", (char *)"log", (char *)"127.0.0.1:514", NULL };
	static const int columns[] = { 1, 1, 1 };
	struct sockaddr *copy = arena_alloc(&l->cfg->arena, to->len);
	struct conf_line line = *l;
	struct server *srv;

	line.words = words;
	line.columns = columns;
	line.count = 3;
	line.at = 1;
	line.where = CONF_OTHER;
	line.object = r->proxy;
	line.slots = proxy_slots(r->proxy);
	if (!copy || !parse_server(&line))
		return false;
	memcpy(copy, &to->ss, to->len);
	srv = list_entry(r->proxy->servers.prev, struct server, link);
	server_set_line_address(srv, copy, to->len);
	return true;
}

/* A ring of the same line before goes on: it may hold what its server has not got. */
static struct sink *log_sink(const struct ring_conf *r)
{
	struct sink *old = sink_find(r->name);
	bool same = old && old->ring && !old->path && strcmp(old->description, r->description) == 0;
	struct ring *ring = same ? ring_of_before(r, NULL, ring_bytes(r)) : NULL;

	sink_drop(&old);
	if (!ring)
		ring = ring_new(ring_bytes(r));
	return ring ? sink_new(r->name, r->description, -1, ring) : NULL;
}

/* Lines have the form and the length that the `log` line says. */
static const char *ring_of_log(struct conf_line *l, const struct addr_any *to)
{
	struct rings *all = rings_of(l->cfg);
	struct ring_conf *r = arena_zalloc(&l->cfg->arena, sizeof(*r));

	if (!r)
		return NULL;
	r->file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	r->line = l->place.line;
	r->name = arena_printf(&l->cfg->arena, "ring#%u", ++all->of_logs);
	r->description = arena_printf(&l->cfg->arena, "created from log directive declared into "
				      "'%s' at line %d", r->file, r->line);
	r->proxy = r->name && r->description ? proxy_new(l->cfg, r->name, PROXY_BE, NULL) : NULL;
	if (!r->proxy)
		return NULL;
	r->proxy->file = r->file;
	r->proxy->line = r->line;
	r->proxy->mode = PROXY_MODE_TCP;
	r->connect_ms = LOG_CONNECT_MS;
	r->server_ms = LOG_SERVER_MS;
	r->next = all->first;
	all->first = r;
	r->sink = add_log_server(l, r, to) ? log_sink(r) : NULL;
	if (!r->sink)
		return NULL;
	r->sink->format = SYSLOG_UNSET;
	r->sink->max_len = SIZE_MAX;
	return sink_announce(l->cfg, r->sink) ? r->name : NULL;
}

static bool rings_init(void)
{
	log_set_streams(ring_of_log);
	return ring_forward_init();
}

/* --- module ---------------------------------------------------------------------------------- */

/* Warns of options of <srv> that have an effect on streams only. */
static void ring_check_server(const struct ring_conf *r, const struct server *srv,
			      struct diag_list *diags)
{
	struct diag_place place = { .file = srv->place.file, .line = srv->place.line };

	server_sends_no_header(srv, diags);
	if (srv->datagrams)
		diag_add(diags, DIAG_ALERT, &place, NULL, "'server %s/%s' : unsupported transport "
			 "for server address in 'tcp' backend.", r->name, srv->name);
	if (srv->redir)
		diag_add(diags, DIAG_ALERT, &place, NULL, "'server %s/%s' : 'redir' is for servers "
			 "of mode http.", r->name, srv->name);
	if (srv->cookie)
		diag_add(diags, DIAG_WARNING, &place, NULL, "'server %s/%s' : 'cookie' has no "
			 "effect in a ring.", r->name, srv->name);
	if (!server_proto_fits(srv))
		diag_add(diags, DIAG_ALERT, &place, NULL, "'server %s/%s' : MUX protocol '%s' "
			 "cannot carry a ring's messages.", r->name, srv->name,
			 server_proto_name(srv));
}

static void rings_check(struct config *cfg, struct diag_list *diags)
{
	struct server *srv;

	for (struct ring_conf *r = rings_of(cfg)->first; r; r = r->next) {
		struct diag_place place = { .file = r->file, .line = r->line };

		list_for_each(srv, &r->proxy->servers, link) {
			struct tls_place where = {
				r->name, srv->name, srv->place.file, srv->place.line, slice_none(),
			};

			if (tls_server_is_on(server_slots(srv)))
				tls_server_check(cfg, server_slots(srv), &where, diags);
			if (srv->at.hostname || srv->resolve.service)
				server_resolve_once(cfg, srv, diags);
			ring_check_server(r, srv, diags);
		}
		if (!list_is_empty(&r->proxy->servers) && (!r->connect_ms || !r->server_ms))
			diag_add(diags, DIAG_DIAG, &place, NULL, "missing timeouts for ring "
				 "'%s': a server that does not answer stops it for good; set "
				 "'timeout connect' and 'timeout server'.", r->name);
	}
}

static bool rings_start(struct config *cfg, struct diag_list *diags)
{
	return ring_forward_start(cfg, rings_of(cfg)->first, diags);
}

static void rings_retire(struct config *prev)
{
	ring_forward_stop(prev);
}

#define RING .where = CONF_OTHER, .section = "ring"

static const struct conf_keyword keywords[] = {
	{ .words = "description", RING, .max_args = -1, .parse = parse_description,
	  .syntax = "<text>", .help = "what it is, for lists" },
	{ .words = "format", RING, .max_args = -1, .parse = parse_format, .syntax = "<format>",
	  .help = "what stands before the text of its events" },
	{ .words = "maxlen", RING, .max_args = -1, .parse = parse_maxlen, .syntax = "<length>",
	  .help = "longest event, the rest is cut" },
	{ .words = "size", RING, .max_args = -1, .parse = parse_size, .syntax = "<size>",
	  .help = "bytes that it takes" },
	{ .words = "backing-file", RING, .max_args = -1, .parse = parse_backing_file,
	  .syntax = "<path>", .help = "keeps the events in a file" },
	{ .words = "timeout connect", RING, .max_args = -1, .parse = parse_timeout_connect,
	  .syntax = "<delay>", .help = "for a connection to its server" },
	{ .words = "timeout server", RING, .max_args = -1, .parse = parse_timeout_server,
	  .syntax = "<delay>", .help = "for its server to take what is sent" },
	{ .words = "server", RING, .max_args = -1, .parse = parse_server,
	  .syntax = "<name> <address>[:<port>] [<options>]",
	  .help = "a server that gets its events, over TCP or TLS" },
	{ 0 }
};

static const struct conf_section sections[] = {
	{ .name = "ring", .where = CONF_OTHER, .open = ring_open, .close = ring_close,
	  .syntax = "<name>", .help = "keeps events in memory, and sends them to servers" },
	{ 0 }
};

static struct slot *const slots[] = { &rings_slot, NULL };

const struct module mod_ring = {
	.name = "ring", .sections = sections, .keywords = keywords, .slots = slots,
	.init = rings_init, .check = rings_check, .start = rings_start,
	.retire = rings_retire, .thread_init = ring_forward_thread_init,
	.thread_fini = ring_forward_thread_fini,
};
