/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcgi.c - edge file: sections fcgi-app, use-fcgi-app, fetches fcgi.*
 *
 * Manual: configuration 9.5, 10
 */
#include <string.h>
#include "base/num.h"
#include "base/regex.h"
#include "expr/logformat.h"
#include "ext/fcgi.h"
#include "mux/mux.h"
#include "stream/sample.h"
#include "fcgi_priv.h"

/* --- sections --------------------------------------------------------------------------------- */

static void apps_fini(void *data)
{
	for (struct fcgi_app *a = *(struct fcgi_app **)data; a; a = a->next) {
		regex_free(&a->path_info);
		log_targets_free(&a->log.targets);
	}
}

static struct slot apps_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct fcgi_app *), .fini = apps_fini,
};

struct slot fcgi_proxy_slot = { .of = SLOT_PROXY, .size = sizeof(struct fcgi_proxy) };

static struct fcgi_app **first_of(const struct config *cfg)
{
	return slot_of(&apps_slot, config_slots(cfg));
}

static struct fcgi_app *app_find(const struct config *cfg, const char *name)
{
	struct fcgi_app *a = *first_of(cfg);

	while (a && strcmp(a->name, name) != 0)
		a = a->next;
	return a;
}

/* One line of stderr, or several: control characters do not get through. */
static void app_say(const struct fcgi_peer *peer, struct slice text)
{
	const struct fcgi_app *app = (const struct fcgi_app *)peer;
	struct strbuf b;
	struct log_message m = { .level = LOG_LVL_ERR, .tag = slice_of(app->name) };
	unsigned max;

	if (!log_is_wanted(app->config, &app->log))
		return;
	max = log_max_len(app->config, &app->log);
	strbuf_init(&b);
	strbuf_add(&b, slice_sub(text, 0, text.len < max ? text.len : max));
	for (size_t i = 0; i < b.len; i++)
		if ((unsigned char)b.ptr[i] < ' ' && b.ptr[i] != '\t')
			b.ptr[i] = '.';
	m.text = strbuf_slice(&b);
	log_send(app->config, &app->log, &m);
	strbuf_fini(&b);
}

static bool name_is_good(struct conf_line *l, const char *name)
{
	char bad = conf_name_bad_char(name);

	if (!bad)
		return true;
	return conf_report(l, 1, DIAG_ALERT, DIAG_TIGHT, "character '%c' is not permitted in "
			   "'fcgi-app' name '%s'.", bad, name);
}

static bool app_open(struct conf_line *l)
{
	const char *name = conf_next(l);
	const struct fcgi_app *other;
	struct fcgi_app *a;

	if (!name || !*name)
		return conf_report(l, 0, DIAG_ALERT, DIAG_TIGHT, "'fcgi-app' expects <name> as "
				   "argument.");
	if (!name_is_good(l, name))
		return false;
	a = arena_zalloc(&l->cfg->arena, sizeof(*a));
	if (!a)
		return conf_error(l, 0, NULL, "out of memory.");
	*a = (struct fcgi_app){
		.peer = { .keep_conn = true, .max_reqs = 1, .params = fcgi_app_params,
			  .say = app_say },
		.name = conf_strdup(l->cfg, name), .config = l->cfg,
		.file = conf_strdup(l->cfg, l->place.file ? l->place.file : ""),
		.line = l->place.line, .acls = acl_set_new(l->cfg), .rules_end = &a->rules,
	};
	l->object = a;
	l->slots = config_slots(l->cfg);
	other = app_find(l->cfg, name);
	if (other)
		return conf_report(l, 1, DIAG_ALERT, DIAG_TIGHT, "fcgi-app section '%s' has the "
				   "same name as another one declared at %s:%d.", name,
				   other->file, other->line);
	a->next = *first_of(l->cfg);
	*first_of(l->cfg) = a;
	return a->acls ? conf_take_end(l) : conf_error(l, 0, NULL, "out of memory.");
}

static bool parse_text(struct conf_line *l, const char *what, struct slice *out)
{
	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "'%s' expects <%s> as argument.", l->words[0], what);
	*out = slice_of(conf_next(l));
	return conf_take_end(l);
}

static bool parse_docroot(struct conf_line *l)
{
	return parse_text(l, "path", &((struct fcgi_app *)l->object)->docroot);
}

static bool parse_index(struct conf_line *l)
{
	return parse_text(l, "filename", &((struct fcgi_app *)l->object)->index);
}

static bool parse_path_info(struct conf_line *l)
{
	struct fcgi_app *a = l->object;
	struct slice text;
	char error[200];

	if (!parse_text(l, "regex", &text))
		return false;
	regex_free(&a->path_info);
	a->path_info = regex_new(text, 0, error, sizeof(error));
	return a->path_info || conf_error(l, 1, NULL, "'path-info' : %s", error);
}

static bool parse_log(struct conf_line *l)
{
	struct fcgi_app *a = l->object;

	if (l->count == 2 && strcmp(l->words[1], "global") == 0) {
		l->at++;
		a->log.use_global = true;
		return true;
	}
	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "log-stderr : expects <address> and <facility> or "
				  "global as arguments");
	return log_target_parse(l, &a->log.targets) && conf_take_end(l);
}

static bool parse_option(struct conf_line *l)
{
	struct fcgi_peer *p = &((struct fcgi_app *)l->object)->peer;
	bool *which[] = { &p->keep_conn, &p->get_values, &p->mpxs_conns };

	*which[l->keyword->min] = l->dflt ? l->keyword->min == 0 : !l->no;
	return conf_take_end(l);
}

static bool parse_max_reqs(struct conf_line *l)
{
	struct fcgi_app *a = l->object;
	uint64_t n;

	if (!conf_peek(l))
		return conf_report(l, 0, DIAG_ALERT, DIAG_TIGHT, "option 'max-reqs' expects an "
				   "integer argument.");
	if (!num_parse_u64(slice_of(conf_next(l)), &n) || !n || n > INT32_MAX)
		return conf_report(l, l->at - 1, DIAG_ALERT, DIAG_TIGHT, "option 'max-reqs' "
				   "expects a strictly positive integer argument.");
	a->max_reqs = (int64_t)n;
	return conf_take_end(l);
}

static bool parse_acl(struct conf_line *l)
{
	return acl_parse(l, ((struct fcgi_app *)l->object)->acls, 0);
}

/* The condition that may follow, and the rule. */
static bool take_rule(struct conf_line *l, struct fcgi_rule *r)
{
	struct fcgi_app *a = l->object;
	const char *word = conf_peek(l);

	if (word && strcmp(word, "if") != 0 && strcmp(word, "unless") != 0)
		return conf_error(l, l->at, NULL, "'%s' : expects 'if' or 'unless', not '%s'.",
				  l->words[0], word);
	if (!condition_parse(l, a->acls, ~0u, &r->condition))
		return false;
	*a->rules_end = r;
	a->rules_end = &r->next;
	return true;
}

static struct slice name_text(struct conf_line *l, const char *word)
{
	struct strbuf b;
	struct slice name;

	strbuf_init(&b);
	cgi_add_name(&b, slice_of(word));
	name = b.overflow ? slice_none() : arena_copy(&l->cfg->arena, strbuf_slice(&b));
	strbuf_fini(&b);
	return name;
}

static bool parse_set_param(struct conf_line *l)
{
	struct fcgi_rule *r = arena_zalloc(&l->cfg->arena, sizeof(*r));

	if (!r)
		return conf_error(l, 0, NULL, "out of memory.");
	if (l->count < 3)
		return conf_error(l, 0, NULL, "'set-param' expects <name> and <value> as "
				  "arguments.");
	r->name = name_text(l, conf_next(l));
	r->value = logformat_parse(l, conf_peek(l), EXPR_BE_HRQ_HDR, 0);
	if (!r->name.ptr || !r->value)
		return false;
	l->at++;
	return take_rule(l, r);
}

static bool parse_pass_header(struct conf_line *l)
{
	struct fcgi_rule *r = arena_zalloc(&l->cfg->arena, sizeof(*r));
	char *name;

	if (!r)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "'pass-header' expects <name> as arguments.");
	name = conf_strdup(l->cfg, conf_next(l));
	if (!name)
		return conf_error(l, 0, NULL, "out of memory.");
	for (char *c = name; *c; c++)
		*c = ascii_lower(*c);
	r->name = slice_of(name);
	return take_rule(l, r);
}

static bool parse_use(struct conf_line *l)
{
	struct fcgi_proxy *fp = slot_of(&fcgi_proxy_slot, l->slots);

	if (!(l->where & CONF_BE))
		return conf_error(l, 0, NULL, "'use-fcgi-app' only available in backend or listen "
				  "section");
	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "'use-fcgi-app' expects <name> as argument");
	if (fp->name)
		return conf_error(l, 0, NULL, "'use-fcgi-app' : only one fcgi-app supported per "
				  "backend");
	fp->name = conf_next(l);
	l->at = l->count; /* (as the reference does, what follows means nothing) */
	return true;
}

#define APP .where = CONF_OTHER, .section = "fcgi-app", .max_args = -1
#define OPTION(text, number, about) \
	{ .words = "option " text, APP, .flags = CONF_CAN_NO | CONF_CAN_DEFAULT, \
	  .parse = parse_option, .min = number, .help = about }

static const struct conf_keyword keywords[] = {
	{ .words = "acl", APP, .parse = parse_acl, .syntax = "<name> <criterion> <value>...",
	  .help = "name a test, for this application" },
	{ .words = "docroot", APP, .parse = parse_docroot, .syntax = "<path>",
	  .help = "where the scripts are on the server" },
	{ .words = "index", APP, .parse = parse_index, .syntax = "<name>",
	  .help = "the script that is meant by a path that ends with '/'" },
	{ .words = "log-stderr", APP, .parse = parse_log,
	  .syntax = "global | <target> <facility> [<level> [<minlevel>]]",
	  .help = "where what the application writes to stderr is logged" },
	OPTION("get-values", 1, "ask the application for its limits"),
	OPTION("keep-conn", 0, "connections stay open behind a request; on by default"),
	{ .words = "option max-reqs", APP, .parse = parse_max_reqs, .syntax = "<number>",
	  .help = "requests at once on one connection, 1 by default" },
	OPTION("mpxs-conns", 2, "several requests at once on one connection"),
	{ .words = "pass-header", APP, .parse = parse_pass_header,
	  .syntax = "<name> [{ if | unless } <condition>]",
	  .help = "pass on a field that applications do not get otherwise" },
	{ .words = "path-info", APP, .parse = parse_path_info, .syntax = "<regex>",
	  .help = "which part of a path is the script, and which its PATH_INFO" },
	{ .words = "set-param", APP, .parse = parse_set_param,
	  .syntax = "<name> <fmt> [{ if | unless } <condition>]",
	  .help = "give the application a parameter" },
	{ .words = "use-fcgi-app", .where = CONF_PROXY, .max_args = -1, .parse = parse_use,
	  .syntax = "<name>", .help = "the application of the servers with proto fcgi" },
	{ 0 }
};

static const struct conf_section sections[] = {
	{ .name = "fcgi-app", .where = CONF_OTHER, .open = app_open, .syntax = "<name>",
	  .help = "a FastCGI application" },
	{ 0 }
};

/* --- check ------------------------------------------------------------------------------------ */

static const struct diag_place nowhere = { .form = DIAG_BARE };

#define alert(d, ...) diag_add(d, DIAG_ALERT, &nowhere, NULL, __VA_ARGS__)

/* What all its requests have in common, unless a line sets some of it. */
static void make_fixed(struct config *cfg, struct fcgi_app *a, struct diag_list *d)
{
	struct strbuf b;

	for (const struct fcgi_rule *r = a->rules; r; r = r->next)
		if (r->value && cgi_is_fixed(r->name))
			return;
	strbuf_init(&b);
	cgi_add_fixed(&b, a->docroot, a->software);
	a->fixed = arena_copy(&cfg->arena, strbuf_slice(&b));
	if (b.overflow || !a->fixed.ptr)
		alert(d, "out of memory.");
	strbuf_fini(&b);
}

static void check_app(struct config *cfg, struct fcgi_app *a, struct diag_list *d)
{
	const char *version = conf_getenv(cfg, "HAPROXY_STARTUP_VERSION");

	a->software = slice_of(arena_printf(&cfg->arena, "HAProxy %s", version ? version : ""));
	if (!a->docroot.len)
		alert(d, "fcgi-app '%s': no docroot configured.", a->name);
	if (a->max_reqs > 1 && !a->peer.mpxs_conns)
		alert(d, "fcgi-app '%s': multiplexing not supported, ignore the option "
		      "'max-reqs'.", a->name);
	if (a->max_reqs)
		a->peer.max_reqs = (unsigned)a->max_reqs;
	make_fixed(cfg, a, d);
}

/* The application that the lines of <px> name; NULL: none, or reported. */
static struct fcgi_app *app_of(struct config *cfg, const struct proxy *px, struct diag_list *d)
{
	const struct filter_conf *c;
	const char *name = fcgi_proxy_of(px)->name;
	struct fcgi_app *a;

	for (c = filter_confs(px); c; c = c->next) {
		const struct fcgi_filter *ff = c->kind == fcgi_filter_kinds ? c->data : NULL;

		if (!ff)
			continue;
		if (name && strcmp(name, ff->name) != 0) {
			alert(d, "proxy '%s' : only one fcgi-app supported per backend.", px->name);
			return NULL;
		}
		name = ff->name;
	}
	if (!name)
		return NULL;
	a = app_find(cfg, name);
	if (!a)
		alert(d, "proxy '%s' : fcgi-app '%s' not found.", px->name, name);
	return a;
}

static bool is_fcgi(const struct server *srv)
{
	return srv->mux.forced && strcmp(srv->mux.forced->name, "fcgi") == 0;
}

/* True: the servers of <px> go with its application. */
static bool check_servers(const struct proxy *px, const struct fcgi_app *a, bool is_named,
			  struct diag_list *d)
{
	const struct server *srv;
	bool any = false;

	list_for_each(srv, &px->servers, link) {
		any |= is_fcgi(srv);
		if (is_fcgi(srv) && !is_named)
			alert(d, "proxy '%s': FCGI server '%s' has no FCGI app configured.",
			      px->name, srv->name);
	}
	if (a && !any)
		alert(d, "proxy '%s': FCGI app configured but no FCGI server found.", px->name);
	return any;
}

/* A filter that is not in the file comes last; only some get along with that. */
static void check_filter(struct config *cfg, struct proxy *px, const struct fcgi_app *a,
			 struct diag_list *d)
{
	const struct filter_conf *c;
	bool others = false;

	for (c = filter_confs(px); c; c = c->next) {
		if (c->kind == fcgi_filter_kinds)
			return;
		others |= strcmp(c->kind->name, "cache") != 0 &&
			strncmp(c->kind->name, "comp", 4) != 0;
	}
	if (others)
		diag_add(d, DIAG_ALERT, &nowhere, "add a line `filter fcgi-app` where it belongs "
			 "among the others.", "config: proxy '%s': require an explicit filter "
			 "declaration to use the fcgi-app '%s'.", px->name, a->name);
	else if (!filter_conf_add(px, fcgi_filter_kinds))
		alert(d, "out of memory.");
}

static void check_proxy(struct proxy *px, struct diag_list *d)
{
	struct config *cfg = px->config;
	struct fcgi_proxy *fp = fcgi_proxy_of(px);
	int before = d->alerts;
	struct fcgi_app *a = app_of(cfg, px, d);

	if (a && px->mode != PROXY_MODE_HTTP) {
		alert(d, "proxy '%s': FCGI application cannot be used in non-HTTP mode.", px->name);
		return;
	}
	if (px->mode != PROXY_MODE_HTTP)
		return;
	check_servers(px, a, a || d->alerts != before, d);
	if (!a || d->alerts != before)
		return;
	check_filter(cfg, px, a, d);
	if (px->http.restrict_names == RESTRICT_UNSET)
		px->http.restrict_names = RESTRICT_DELETE;
	fp->app = a;
	px->http.fcgi = &a->peer;
}

static void fcgi_check(struct config *cfg, struct diag_list *d)
{
	for (struct fcgi_app *a = *first_of(cfg); a; a = a->next)
		check_app(cfg, a, d);
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		check_proxy(px, d);
}

/* --- fetches ---------------------------------------------------------------------------------- */

static const struct fcgi_app *app_of_ctx(const struct expr_ctx *ctx)
{
	return ctx->stream ? fcgi_proxy_of(ctx->stream->be)->app : NULL;
}

static enum expr_result fetch_docroot(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	const struct fcgi_app *a = app_of_ctx(ctx);

	return a ? smp_give_text(out, a->docroot) : EXPR_NONE;
}

static enum expr_result fetch_index(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	const struct fcgi_app *a = app_of_ctx(ctx);

	return a && a->index.len ? smp_give_text(out, a->index) : EXPR_NONE;
}

static const struct expr_fetch fetches[] = {
	{ .name = "fcgi.docroot", .out = SMP_STR, .use = EXPR_USE_HTTP_REQUEST_VOLATILE,
	  .fetch = fetch_docroot, .help = "docroot of the backend's FastCGI application" },
	{ .name = "fcgi.index", .out = SMP_STR, .use = EXPR_USE_HTTP_REQUEST_VOLATILE,
	  .fetch = fetch_index, .help = "index of the backend's FastCGI application" },
	{ 0 }
};

static struct slot *const slots[] = { &apps_slot, &fcgi_proxy_slot, NULL };

const struct module mod_fcgi = {
	.name = "fcgi", .sections = sections, .keywords = keywords, .fetches = fetches,
	.filters = fcgi_filter_kinds, .slots = slots, .check = fcgi_check,
	.check_backend = check_proxy,
};
