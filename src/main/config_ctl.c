/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_ctl.c - edge file: show config: what is running, what was changed since, and how the files
 * differ from it
 */
#include <stdlib.h>
#include <string.h>
#include "codec/json_text.h"
#include "conf/kept.h"
#include "core/lock.h"
#include "ctl/ctl.h"
#include "expr/pattern.h"
#include "ext/compression.h"
#include "front/listen.h"
#include "proxy/check.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"
#include "stream/persist.h"
#include "stream/rule_list.h"
#include "stream/split.h"
#include "tls/tls.h"
#include "config_diff_priv.h"
#include "generation_priv.h"
#include "settings_priv.h"

struct config_dump {
	struct config *config;         /* counted */
	struct proxy_hold hold;
	const struct conf_kept *line;  /* the next one; NULL: no more */
	const struct proxy *px;        /* whose section it is in; NULL: of none */
	bool is_global;                /* it is in a section `global` */
	bool json, begun;
};

/* --- what was changed since the files were read ----------------------------------------------- */

/* The changes of one thing: "weight 5", "maintenance". */
struct changes {
	struct strbuf *out;
	const char *before, *between, *after; /* around each, as JSON has quotes */
	bool any;
};

static void say_change(struct changes *c, const char *what)
{
	strbuf_printf(c->out, "%s%s%s%s", c->any ? c->between : "", c->before, what, c->after);
	c->any = true;
}

static void say_number(struct changes *c, const char *what, int64_t value)
{
	char text[64];

	snprintf(text, sizeof(text), "%s %lld", what, (long long)value);
	say_change(c, text);
}

static void say_address(struct changes *c, const struct server *srv)
{
	char text[ADDR_IP_MAX + 32] = "address ";
	struct server_addr to;
	struct addr a;

	server_address(srv, &to);
	a = addr_from_sockaddr(&to.sa, to.len);
	addr_put(&a, text + strlen(text), sizeof(text) - strlen(text));
	say_change(c, text);
}

/* Health and agent of a server: where they look, and whether they do. What a command said of its
 * health stands only where no check says something else.
 */
static void check_changes(struct server *srv, bool agent, struct changes *c)
{
	const struct check_conf *conf = agent ? &srv->checks.agent : &srv->checks.health;
	struct check_state *cs = check_state_of(srv, agent);
	bool is_on = check_flags_of(cs) & CHECK_ENABLED;
	int port = __atomic_load_n(&cs->port, __ATOMIC_RELAXED);
	char text[ADDR_IP_MAX + 32];
	struct addr addr = { 0 };
	bool sends;

	lock_take(&srv->proxy->state->change_lock);
	if (cs->addr.sin6_family != AF_UNSPEC)
		addr = addr_from_sockaddr((const struct sockaddr *)&cs->addr, sizeof(cs->addr));
	sends = cs->send != NULL;
	lock_drop(&srv->proxy->state->change_lock);
	if (conf->on && !is_on)
		say_change(c, agent ? "agent disabled" : "health checks disabled");
	if (addr_is_inet(&addr)) {
		size_t len = (size_t)snprintf(text, sizeof(text), "%s-addr ",
					      agent ? "agent" : "check");

		addr_put_ip(&addr, text + len, sizeof(text) - len);
		say_change(c, text);
	}
	if (port)
		say_number(c, agent ? "agent-port" : "check-port", port);
	if (sends)
		say_change(c, "agent-send ***");
}

static void health_changes(const struct server *srv, struct changes *c)
{
	unsigned oper = __atomic_load_n(&srv->state->oper, __ATOMIC_RELAXED);

	if (srv->checks.track || srv->checks.track_name ||
	    check_flags_of(&srv->state->check) & CHECK_ENABLED ||
	    __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED) & SERVER_MAINT)
		return;
	if (oper == SERVER_STOPPED)
		say_change(c, "health down");
	if (oper == SERVER_STOPPING)
		say_change(c, "health stopping");
}

static void server_changes(struct server *srv, struct changes *c)
{
	const struct server_state *st = srv->state;
	unsigned admin = __atomic_load_n(&st->admin, __ATOMIC_RELAXED);
	int64_t maxconn = __atomic_load_n(&st->maxconn, __ATOMIC_RELAXED);

	if (server_weight(srv) != srv->uweight)
		say_number(c, "weight", server_weight(srv));
	if (maxconn != srv->limits.maxconn)
		say_number(c, "maxconn", maxconn);
	if (st->address_len)
		say_address(c, srv);
	if (admin & SERVER_FMAINT && !srv->disabled)
		say_change(c, "maintenance");
	if (admin & SERVER_FDRAIN)
		say_change(c, "drain");
	if (srv->disabled && !(admin & SERVER_MAINT))
		say_change(c, "enabled");
	if (tls_server_is_on(server_slots(srv)) != tls_server_is_given(server_slots(srv)))
		say_change(c, tls_server_is_on(server_slots(srv)) ? "ssl on" : "ssl off");
	health_changes(srv, c);
	check_changes(srv, false, c);
	check_changes(srv, true, c);
}

/* Cookies of servers; a client that knows the key can make them. */
static void cookie_changes(const struct proxy *px, struct changes *c)
{
	const struct persist_proxy *pp = persist_of_proxy(px);
	bool dynamic = __atomic_load_n(&pp->is_dynamic, __ATOMIC_RELAXED);

	if (__atomic_load_n(&pp->own_key, __ATOMIC_RELAXED))
		say_change(c, "dynamic-cookie-key ***");
	if (dynamic != ((pp->options & COOKIE_DYNAMIC) != 0))
		say_change(c, dynamic ? "dynamic cookies" : "no dynamic cookies");
}

static void proxy_changes(const struct proxy *px, struct changes *c)
{
	int64_t maxconn = __atomic_load_n(&px->state->maxconn, __ATOMIC_RELAXED);

	if (px->caps & PROXY_FE && maxconn != px->maxconn)
		say_number(c, "maxconn", maxconn);
	if (px->caps & PROXY_FE && !px->disabled &&
	    __atomic_load_n(&px->state->disabled, __ATOMIC_RELAXED))
		say_change(c, "disabled");
	if (__atomic_load_n(&px->state->unpublished, __ATOMIC_RELAXED) !=
	    px->balancing.unpublished)
		say_change(c, px->balancing.unpublished ? "published" : "unpublished");
	if (px->caps & PROXY_BE)
		cookie_changes(px, c);
}

/* --- limits of the process */

static int64_t now_maxconn(void)
{
	return __atomic_load_n(&main_limits.maxconn, __ATOMIC_RELAXED);
}

static int64_t now_conn_rate(void)
{
	struct listen_figures figures;

	listen_get_figures(&figures);
	return figures.conn_rate_limit;
}

static int64_t now_session_rate(void)
{
	struct listen_figures figures;

	listen_get_figures(&figures);
	return figures.session_rate_limit;
}

static int64_t now_tls_rate(void)
{
	struct tls_figures t;

	tls_get_figures(&t);
	return (int64_t)t.rate_limit;
}

static int64_t now_compression_rate(void)
{
	return (int64_t)(compression_rate_limit() >> 10);
}

/* What `set maxconn global` and `set rate-limit` change. */
static const struct global_limit {
	const char *keyword;
	int64_t (*now)(void);
} limits[] = {
	{ "maxconn", now_maxconn }, { "maxconnrate", now_conn_rate },
	{ "maxsessrate", now_session_rate }, { "maxsslrate", now_tls_rate },
	{ "maxcomprate", now_compression_rate },
};

/* What the files say of it; the last line counts. */
static int64_t configured_limit(const struct config *cfg, const struct global_limit *g)
{
	int64_t value = 0, most = g == limits ? main_limits.hard_maxconn : INT64_MAX;
	bool is_global = false;

	for (const struct conf_kept *k = conf_kept_first(cfg); k; k = k->next) {
		if (k->opens)
			is_global = strcmp(conf_kept_word(k, 0), "global") == 0;
		else if (is_global && strcmp(conf_kept_word(k, 0), g->keyword) == 0)
			value = strtoll(conf_kept_word(k, 1), NULL, 10);
	}
	if (g == limits && (!value || value > most))
		return most;
	return value;
}

static void limit_changes(const struct config *cfg, const struct global_limit *g,
			  struct changes *c)
{
	int64_t now = g->now();

	if (now != configured_limit(cfg, g))
		say_number(c, g->keyword, now);
}

/* --- maps and lists of patterns */

/* Does this word of a line name the file: alone, or as an argument? */
static bool word_has_file(const char *word, const char *file)
{
	const char *at = strstr(word, file);
	size_t len = strlen(file);

	while (at) {
		char before = at > word ? at[-1] : '(', after = at[len] ? at[len] : ')';

		if (strchr("(@ ,\"'", before) && strchr("), \"'", after))
			return true;
		at = strstr(at + 1, file);
	}
	return false;
}

static void file_changes(const struct config *cfg, const struct conf_kept *k, struct changes *c)
{
	struct pattern_ref *ref = NULL;

	while ((ref = pattern_ref_next_file(cfg, ref)) != NULL) {
		const char *file = pattern_ref_file(ref);

		if (!pattern_ref_changes(ref))
			continue;
		for (int i = 1; i < k->count; i++)
			if (word_has_file(conf_kept_word(k, i), file)) {
				say_change(c, "entries of its file");
				return;
			}
	}
}

/* --- certificates and their lists */

/* Which files of TLS a line names, and what was changed in them. */
struct tls_marks {
	const struct conf_kept *line;
	struct changes *changes;
};

/* A name of a command: that of a line, behind crt-base perhaps, or in the folder that it has. */
static bool word_means_file(const char *word, const char *file)
{
	size_t len = strlen(word), all = strlen(file);

	while (len > 1 && word[len - 1] == '/')
		len--;
	if (!len || len > all)
		return false;
	if (strncmp(word, file, len) == 0 && (!file[len] || file[len] == '/'))
		return true;
	return all > len && file[all - len - 1] == '/' && strncmp(file + all - len, word, len) == 0;
}

static void mark_tls(void *data, const char *file, const char *what)
{
	struct tls_marks *m = data;
	char text[100];

	snprintf(text, sizeof(text), "%s of its file", what);
	for (int i = 1; i < m->line->count; i++)
		if (word_means_file(conf_kept_word(m->line, i), file)) {
			say_change(m->changes, text);
			return;
		}
}

/* --- lines */

static const struct proxy *proxy_of_line(const struct config *cfg, const struct conf_kept *k)
{
	static const struct { const char *word; unsigned caps; } kinds[] = {
		{ "frontend", PROXY_FE }, { "backend", PROXY_BE }, { "listen", PROXY_LISTEN },
	};

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (k->opens && strcmp(conf_kept_word(k, 0), kinds[i].word) == 0)
			return proxy_find(cfg, conf_kept_word(k, 1), kinds[i].caps);
	return NULL;
}

/* Of a `use_backends` line; the file's name and the number of the line tell its rule. */
static void split_changes(const struct proxy *px, const struct conf_kept *k, struct changes *c)
{
	const struct switch_rule *sr = NULL;

	while ((sr = split_next(px, sr)) != NULL) {
		const struct split *sp = sr->split;

		if (sr->line != k->line || !sr->file || strcmp(sr->file, k->file) != 0)
			continue;
		for (unsigned i = 0; i < sp->count; i++)
			if (split_weight(sp, i) != sp->targets[i].weight)
				say_number(c, sp->targets[i].name, split_weight(sp, i));
	}
}

static void global_changes(const struct config_dump *d, const struct conf_kept *k,
			   struct changes *c)
{
	for (unsigned i = 0; i < ARRAY_LEN(limits); i++)
		if (strcmp(conf_kept_word(k, 0), limits[i].keyword) == 0)
			limit_changes(d->config, &limits[i], c);
}

/* What is not as the line of a proxy says. */
static void line_changes(const struct proxy *px, const struct conf_kept *k, struct changes *c)
{
	struct server *srv;

	if (k->opens && px)
		proxy_changes(px, c);
	if (k->opens || !px)
		return;
	if (strcmp(conf_kept_word(k, 0), "use_backends") == 0)
		split_changes(px, k, c);
	if (strcmp(conf_kept_word(k, 0), "server") != 0)
		return;
	srv = server_find(px, conf_kept_word(k, 1));
	if (!srv || srv->life.is_dynamic)
		say_change(c, "removed");
	else
		server_changes(srv, c);
}

/* For `show config`: what the other sections have, too. */
static void all_changes(const struct config_dump *d, const struct conf_kept *k, struct changes *c)
{
	if (!k->opens && d->is_global)
		global_changes(d, k, c);
	line_changes(d->px, k, c);
	if (k->opens)
		return;
	file_changes(d->config, k, c);
	tls_each_change(d->config, mark_tls, &(struct tls_marks){ .line = k, .changes = c });
}

/* --- show config ------------------------------------------------------------------------------ */

static void put_line(struct config_dump *d, const struct conf_kept *k, struct strbuf *out)
{
	struct changes c = { .out = out, .before = "", .between = ", ", .after = "" };
	char text[512];
	struct strbuf said;

	strbuf_init_fixed(&said, text, sizeof(text));
	c.out = &said;
	all_changes(d, k, &c);
	if (!k->opens)
		strbuf_add_char(out, '\t');
	conf_kept_put(k, out);
	if (c.any)
		strbuf_printf(out, "  # changed: %.*s", SLICE_FMT(strbuf_slice(&said)));
	strbuf_add_char(out, '\n');
}

static void put_line_json(struct config_dump *d, const struct conf_kept *k, struct strbuf *out)
{
	struct changes c = { .out = out, .before = "\"", .between = ",", .after = "\"" };
	struct strbuf text;

	strbuf_init(&text);
	conf_kept_put(k, &text);
	strbuf_add_str(out, d->begun ? ",{\"file\":" : "{\"file\":");
	json_put_string(out, slice_of(k->file));
	strbuf_printf(out, ",\"line\":%d,\"opens\":%s,\"text\":", k->line,
		      k->opens ? "true" : "false");
	json_put_string(out, strbuf_slice(&text));
	strbuf_add_str(out, ",\"changed\":[");
	all_changes(d, k, &c);
	strbuf_add_str(out, "]}");
	strbuf_fini(&text);
	d->begun = true;
}

/* A line that no file has. */
static void put_added(struct config_dump *d, const char *text, bool opens, struct strbuf *out)
{
	if (!d->json) {
		strbuf_printf(out, "%s%s  # added\n", opens ? "" : "\t", text);
		return;
	}
	strbuf_printf(out, "%s{\"file\":null,\"line\":0,\"opens\":%s,\"text\":",
		      d->begun ? "," : "", opens ? "true" : "false");
	json_put_string(out, slice_of(text));
	strbuf_add_str(out, ",\"changed\":[\"added\"]}");
	d->begun = true;
}

static void put_added_servers(struct config_dump *d, const struct proxy *px, struct strbuf *out)
{
	for (const struct server *srv = px ? server_first(px) : NULL; srv; srv = server_next(srv)) {
		char text[512], address[ADDR_IP_MAX + 32];
		struct server_addr to;
		struct addr a;

		if (!srv->life.is_dynamic)
			continue;
		server_address(srv, &to);
		a = addr_from_sockaddr(&to.sa, to.len);
		address[addr_put(&a, address, sizeof(address))] = '\0';
		snprintf(text, sizeof(text), "server %s %s weight %u", srv->name, address,
			 server_weight(srv));
		put_added(d, text, false, out);
	}
}

static void put_added_backends(struct config_dump *d, struct strbuf *out)
{
	for (const struct proxy *px = proxies_first(d->config); px; px = proxy_next(px)) {
		char text[300];

		if (!px->run.is_added)
			continue;
		snprintf(text, sizeof(text), "backend %s", px->name);
		put_added(d, text, true, out);
		put_added_servers(d, px, out);
	}
}

static void dump_release(struct ctl_request *rq)
{
	struct config_dump *d = rq->state;

	rq->state = NULL;
	if (!d)
		return;
	proxies_release(&d->hold);
	config_drop(&d->config);
	free(d);
}

/* [json]. False: said. */
static bool take_json(struct ctl_request *rq, bool *json)
{
	const char *word = rq->words[rq->at];

	*json = word && strcmp(word, "json") == 0;
	if (!word || (*json && !rq->words[rq->at + 1]))
		return true;
	ctl_error(rq, "Only 'json' may follow.");
	return false;
}

/* NULL: said. */
static struct config_dump *dump_begin(struct ctl_request *rq)
{
	struct config_dump *d;
	bool json;

	if (!take_json(rq, &json))
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d) {
		ctl_error(rq, "Out of memory.");
		return NULL;
	}
	d->config = config_take(generation_current());
	proxies_hold(&d->hold);
	d->json = json;
	d->line = conf_kept_first(d->config);
	rq->state = d;
	return d;
}

static enum ctl_step show_config(struct ctl_request *rq)
{
	struct config_dump *d = rq->state;

	if (!d) {
		d = dump_begin(rq);
		if (!d)
			return CTL_DONE;
		strbuf_add_str(rq->out, d->json ? "{\"lines\":[" : "");
	}
	for (; d->line; d->line = d->line->next) {
		const struct conf_kept *k = d->line;

		if (ctl_is_due(rq))
			return CTL_MORE;
		if (k->opens) {
			put_added_servers(d, d->px, rq->out);
			d->px = proxy_of_line(d->config, k);
			d->is_global = strcmp(conf_kept_word(k, 0), "global") == 0;
		}
		if (d->json)
			put_line_json(d, k, rq->out);
		else
			put_line(d, k, rq->out);
	}
	put_added_servers(d, d->px, rq->out);
	put_added_backends(d, rq->out);
	if (d->json)
		strbuf_add_str(rq->out, "]}\n");
	return CTL_DONE;
}

/* --- show config diff ------------------------------------------------------------------------- */

/* "!app/s1: weight 5". <server>: "", it is about the proxy. <what>: in quotes with JSON. */
static void put_change(struct config_dump *d, const struct proxy *px, const char *server,
		       struct slice what, struct strbuf *out)
{
	if (d->json)
		strbuf_printf(out, "%s{\"proxy\":\"%s\",\"server\":\"%s\",\"changed\":[%.*s]}",
			      d->begun ? "," : "", px->name, server, SLICE_FMT(what));
	else
		strbuf_printf(out, "!%s%s%s: %.*s\n", px->name, *server ? "/" : "", server,
			      SLICE_FMT(what));
	d->begun = true;
}

struct put_file {
	struct config_dump *dump;
	struct strbuf *out;
};

/* "!/etc/haproxy/site.pem: certificate" */
static void put_file_change(void *data, const char *file, const char *what)
{
	struct config_dump *d = ((struct put_file *)data)->dump;
	struct strbuf *out = ((struct put_file *)data)->out;

	if (!d->json) {
		strbuf_printf(out, "!%s: %s\n", file, what);
	} else {
		strbuf_add_str(out, d->begun ? ",{\"file\":" : "{\"file\":");
		json_put_string(out, slice_of(file));
		strbuf_printf(out, ",\"changed\":[\"%s\"]}", what);
	}
	d->begun = true;
}

/* Limits of the process; files whose entries are not those that were read. */
static void put_general_changes(struct config_dump *d, struct strbuf *out)
{
	struct pattern_ref *ref = NULL;
	struct put_file files = { .dump = d, .out = out };
	const char *quote = d->json ? "\"" : "";
	struct strbuf said;

	for (unsigned i = 0; i < ARRAY_LEN(limits); i++) {
		struct changes c = { .out = &said, .before = quote, .between = "", .after = quote };
		char text[100];

		strbuf_init_fixed(&said, text, sizeof(text));
		limit_changes(d->config, &limits[i], &c);
		if (!c.any)
			continue;
		strbuf_printf(out, d->json ? "%s{\"section\":\"global\",\"changed\":[%.*s]}" :
			      "%s!global: %.*s\n", d->json && d->begun ? "," : "",
			      SLICE_FMT(strbuf_slice(&said)));
		d->begun = true;
	}
	while ((ref = pattern_ref_next_file(d->config, ref)) != NULL)
		if (pattern_ref_changes(ref))
			put_file_change(&files, pattern_ref_file(ref), "entries");
	tls_each_change(d->config, put_file_change, &files);
}

/* What the files of the start do not have. */
static void put_additions(struct config_dump *d, struct strbuf *out)
{
	struct slice added = d->json ? SLICE("\"added\"") : SLICE("added");

	for (const struct proxy *px = proxies_first(d->config); px; px = proxy_next(px)) {
		if (px->run.is_added)
			put_change(d, px, "", added, out);
		for (struct server *srv = server_first(px); srv; srv = server_next(srv))
			if (srv->life.is_dynamic)
				put_change(d, px, srv->name, added, out);
	}
}

/* What of a proxy a line is about: a server, or what the line is. */
static const char *subject_of(const struct conf_kept *k)
{
	if (k->opens)
		return "";
	return conf_kept_word(k, strcmp(conf_kept_word(k, 0), "server") == 0);
}

/* The things that were changed on the Runtime API. */
static void put_changes(struct config_dump *d, struct strbuf *out)
{
	char text[512];
	struct strbuf said;

	for (const struct conf_kept *k = d->line; k; k = k->next) {
		struct changes c = { .before = d->json ? "\"" : "", .between = d->json ? "," : ", ",
				     .after = d->json ? "\"" : "" };

		strbuf_init_fixed(&said, text, sizeof(text));
		c.out = &said;
		if (k->opens)
			d->px = proxy_of_line(d->config, k);
		line_changes(d->px, k, &c);
		if (c.any)
			put_change(d, d->px, subject_of(k), strbuf_slice(&said), out);
	}
	put_additions(d, out);
	put_general_changes(d, out);
}

static enum ctl_step show_config_diff(struct ctl_request *rq)
{
	struct config *files = config_new();
	struct config_dump *d = files ? dump_begin(rq) : NULL;
	struct diag_list diags;

	diag_list_init(&diags);
	if (d && !generation_read_lines(files, &diags)) {
		const struct diag *first = list_first(&diags.diags, struct diag, link);

		ctl_error(rq, "%s", first->message);
	} else if (d) {
		strbuf_add_str(rq->out, d->json ? "{\"changed\":[" : "");
		put_changes(d, rq->out);
		if (d->json)
			strbuf_add_str(rq->out, "],\"differences\":[");
		config_diff_put(conf_kept_first(d->config), conf_kept_first(files), d->json,
				rq->out);
		if (d->json)
			strbuf_add_str(rq->out, "]}\n");
	}
	diag_list_fini(&diags);
	config_drop(&files);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show config", .level = CTL_OPERATOR, .syntax = "[json]",
	  .help = "show the running configuration, without secrets, and what was changed",
	  .run = show_config, .release = dump_release },
	{ .words = "show config diff", .level = CTL_OPERATOR, .syntax = "[json]",
	  .help = "show how the files differ from the running configuration",
	  .run = show_config_diff, .release = dump_release },
	{ 0 }
};

const struct module mod_config_ctl = { .name = "config_ctl", .commands = commands };
