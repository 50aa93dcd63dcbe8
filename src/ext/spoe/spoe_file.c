/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoe_file.c - the line `filter spoe`, and the file that it names
 *
 * The file is read when its line is parsed, in a dialect of its own: sections spoe-agent,
 * spoe-message and spoe-group. Names are resolved in the check phase, with those of all backends.
 * Manual: SPOE chapter 2.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "conf/conf.h"
#include "expr/vars.h"
#include "spoe_priv.h"

#define DIALECT "spoe"

/* What is being read. Configurations are read by one thread at a time. */
static struct {
	struct spoe_engine *engine;
	struct spoe_message *message;
	struct spoe_group *group;
} reading;

/* --- what is freed with a configuration ------------------------------------------------------- */

struct spoe_config {
	struct spoe_agent_list {
		struct spoe_agent_list *next;
		struct spoe_agent *agent;
	} *agents;
};

static void config_fini(void *data)
{
	struct spoe_config *sc = data;

	for (struct spoe_agent_list *i = sc->agents; i; i = i->next)
		log_targets_free(&i->agent->log.targets);
}

struct slot spoe_config_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct spoe_config), .fini = config_fini,
};

/* --- helpers ---------------------------------------------------------------------------------- */

static void *take_memory(struct conf_line *l, size_t size)
{
	void *p = arena_zalloc(&l->cfg->arena, size);

	if (!p)
		conf_error(l, 0, NULL, "out of memory.");
	return p;
}

/* The name of a section of its own line; NULL: reported. */
static const char *take_section_name(struct conf_line *l)
{
	const char *name = conf_next(l);

	if (!name || !*name) {
		conf_error(l, l->at, NULL, "missing name for %s section.", l->words[0]);
		return NULL;
	}
	for (const char *c = name; *c; c++) {
		if (ascii_is_digit(*c) || (ascii_lower(*c) >= 'a' && ascii_lower(*c) <= 'z') ||
		    *c == '_' || *c == '-' || *c == '.' || *c == ':')
			continue;
		conf_error(l, l->at - 1, NULL, "character '%c' is not permitted in '%s' name '%s'.",
			   *c, l->words[0], name);
		return NULL;
	}
	return conf_take_end(l) ? name : NULL;
}

/* The rest of the line. */
static bool take_names(struct conf_line *l, struct spoe_name **list)
{
	const char *word;

	while (*list)
		list = &(*list)->next;
	while ((word = conf_next(l)) != NULL) {
		struct spoe_name *n = take_memory(l, sizeof(*n));

		if (!n)
			return false;
		n->text = word;
		*list = n;
		list = &n->next;
	}
	return true;
}

/* A word that may be a part of a variable's name. */
static const char *take_var_name(struct conf_line *l)
{
	const char *word = conf_next(l);

	for (const char *c = word; *c; c++) {
		if (ascii_is_digit(*c) || (ascii_lower(*c) >= 'a' && ascii_lower(*c) <= 'z') ||
		    *c == '_' || *c == '.')
			continue;
		conf_error(l, l->at - 1, NULL, "'%s' only supports [a-zA-Z0-9_.] chars.",
			   l->words[l->at - 2]);
		return NULL;
	}
	return word;
}

/* --- spoe-agent ------------------------------------------------------------------------------- */

/* A version 4 UUID. */
static void make_id(char out[40])
{
	unsigned r[4] = { 0 };

	/* (without chance, it is the same for all) */
	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		r[0] = (unsigned)getpid();
	snprintf(out, 40, "%08x-%04x-4%03x-%04x-%04x%08x", r[0], r[1] >> 16, r[1] & 0xfff,
		 (r[2] >> 16 & 0x3fff) | 0x8000, r[2] & 0xffff, r[3]);
}

static bool agent_open(struct conf_line *l)
{
	struct spoe_engine *e = reading.engine;
	struct spoe_config *sc = slot_of(&spoe_config_slot, config_slots(l->cfg));
	struct spoe_agent_list *entry;
	struct spoe_agent *a;
	const char *name = take_section_name(l);

	l->object = e->proxy;
	if (!name)
		return false;
	if (e->agent)
		return conf_error(l, 0, NULL, "spoe-agent '%s' is already defined: an engine has "
				  "one.", e->agent->id);
	a = take_memory(l, sizeof(*a));
	entry = take_memory(l, sizeof(*entry));
	if (!a || !entry)
		return false;
	a->id = a->prefix = name;
	a->config = l->cfg;
	a->file = conf_strdup(l->cfg, l->place.file);
	a->line = l->place.line;
	make_id(a->engine_id);
	entry->agent = e->agent = a;
	entry->next = sc->agents;
	sc->agents = entry;
	return true;
}

static struct spoe_agent *agent_of(const struct conf_line *l)
{
	static struct spoe_agent nobody; /* where its section is wrong: lines are checked only */

	return reading.engine->agent ? reading.engine->agent : &nobody;
}

static bool parse_messages(struct conf_line *l)
{
	return take_names(l, &agent_of(l)->messages);
}

static bool parse_groups(struct conf_line *l)
{
	return take_names(l, &agent_of(l)->groups);
}

static bool parse_names(struct conf_line *l)
{
	return take_names(l, &agent_of(l)->names);
}

static bool parse_backend(struct conf_line *l)
{
	return conf_take_string(l, &agent_of(l)->backend_name);
}

static bool parse_timeout(struct conf_line *l)
{
	return conf_take_time_ms(l, &agent_of(l)->timeout_ms);
}

static bool parse_frame_size(struct conf_line *l)
{
	int64_t size;

	if (!conf_take_int(l, SPOP_FRAME_MIN, INT32_MAX, &size))
		return false;
	agent_of(l)->frame_size = (uint64_t)size;
	return true;
}

static bool parse_prefix(struct conf_line *l)
{
	const char *name = take_var_name(l);

	if (name)
		agent_of(l)->prefix = name;
	return name != NULL;
}

static bool parse_var(struct conf_line *l)
{
	static const struct {
		const char *word;
		size_t offset;
	} vars[] = {
		{ "set-on-error", offsetof(struct spoe_agent, error_var) },
		{ "set-process-time", offsetof(struct spoe_agent, process_var) },
		{ "set-total-time", offsetof(struct spoe_agent, total_var) },
	};
	const char *name = take_var_name(l);

	for (size_t i = 0; name && i < sizeof(vars) / sizeof(*vars); i++)
		if (strcmp(l->words[1], vars[i].word) == 0)
			*(const char **)((char *)agent_of(l) + vars[i].offset) = name;
	return name != NULL;
}

static bool parse_option(struct conf_line *l)
{
	unsigned bit = (unsigned)l->keyword->min;
	/* pipelining is an option to have, and its bit says that it is not wanted */
	bool on = bit == SPOE_NO_PIPELINING ? l->no : !l->no;

	agent_of(l)->options = on ? agent_of(l)->options | bit : agent_of(l)->options & ~bit;
	return true;
}

static bool parse_log(struct conf_line *l)
{
	struct log_settings *s = &agent_of(l)->log;

	if (l->no) {
		log_targets_free(&s->targets);
		s->use_global = false;
		return true;
	}
	if (conf_peek(l) && strcmp(conf_peek(l), "global") == 0 && l->at + 1 == l->count) {
		l->at++;
		s->use_global = true;
		return true;
	}
	return log_target_parse(l, &s->targets);
}

/* --- spoe-message ----------------------------------------------------------------------------- */

static bool message_open(struct conf_line *l)
{
	struct spoe_engine *e = reading.engine;
	const char *name = take_section_name(l);
	struct spoe_message *m;

	l->object = e->proxy;
	reading.message = NULL;
	if (!name)
		return false;
	for (m = e->messages; m; m = m->next)
		if (slice_eq(m->id, slice_of(name)))
			return conf_error(l, 1, NULL, "spoe-message section '%s' has the same name "
					  "as another one declared at %s:%d.", name, m->file,
					  m->line);
	m = take_memory(l, sizeof(*m));
	if (!m)
		return false;
	m->id = slice_of(name);
	m->args_end = &m->args;
	m->event = SPOE_EVENT_COUNT;
	m->acls = acl_set_new(l->cfg);
	m->file = conf_strdup(l->cfg, l->place.file);
	m->line = l->place.line;
	*e->messages_end = reading.message = m;
	e->messages_end = &m->next;
	return m->acls || conf_error(l, 0, NULL, "out of memory.");
}

/* [name=]expression */
static bool parse_arg(struct conf_line *l, struct spoe_message *m)
{
	const char *word = conf_peek(l);
	size_t len = strcspn(word, "=("), end;
	struct spoe_arg *a = take_memory(l, sizeof(*a));

	if (!a)
		return false;
	if (m->arg_count == UINT8_MAX)
		return conf_error(l, l->at, NULL, "a message has at most %d arguments.",
				  UINT8_MAX);
	a->name = slice_make(word, word[len] == '=' ? len : 0);
	a->expr = expr_parse(l, word + (word[len] == '=' ? len + 1 : 0), &end, ~0u);
	if (!a->expr)
		return false;
	l->at++;
	*m->args_end = a;
	m->args_end = &a->next;
	m->arg_count++;
	return true;
}

static bool parse_args(struct conf_line *l)
{
	while (reading.message && conf_peek(l))
		if (!parse_arg(l, reading.message))
			return false;
	l->at = l->count;
	return true;
}

static bool parse_acl(struct conf_line *l)
{
	return !reading.message || acl_parse(l, reading.message->acls, ~0u);
}

static unsigned event_phase(enum spoe_event event)
{
	static const unsigned phases[] = {
#define X(name, word, phase) phase,
		SPOE_EVENTS(X)
#undef X
	};

	return phases[event];
}

static bool parse_event(struct conf_line *l)
{
	const char *word = conf_next(l);
	struct spoe_message *m = reading.message;
	struct condition *condition = NULL;
	unsigned event = 0;

	while (event < SPOE_EVENT_COUNT && strcmp(word, spoe_event_word(event)) != 0)
		event++;
	if (event == SPOE_EVENT_COUNT)
		return conf_error(l, l->at - 1, NULL, "unknown event '%s'.", word);
	if (!m)
		return true;
	if (conf_peek(l) && strcmp(conf_peek(l), "if") != 0 && strcmp(conf_peek(l), "unless") != 0)
		return conf_error(l, l->at, NULL, "expects either 'if' or 'unless' followed by a "
				  "condition.");
	if (!condition_parse(l, m->acls, event_phase(event), &condition))
		return false;
	m->event = (enum spoe_event)event;
	m->condition = condition;
	return true;
}

/* Do all arguments exist where the message is sent? */
static void message_close(struct conf_line *l)
{
	const struct spoe_message *m = reading.message;

	reading.message = NULL;
	if (!m || m->event == SPOE_EVENT_COUNT)
		return;
	for (const struct spoe_arg *a = m->args; a; a = a->next)
		if (!(expr_phases(a->expr) & event_phase(m->event)))
			conf_report(l, 0, DIAG_ALERT, DIAG_PARSING, "SPOE message '%.*s' at %s:%d: "
				    "some args extract information from '%s', none of which is "
				    "available here ('%s').", SLICE_FMT(m->id), m->file, m->line,
				    expr_use_name(expr_uses(a->expr)),
				    expr_phase_name(event_phase(m->event)));
}

/* --- spoe-group ------------------------------------------------------------------------------- */

static bool group_open(struct conf_line *l)
{
	struct spoe_engine *e = reading.engine;
	const char *name = take_section_name(l);
	struct spoe_group *g;

	l->object = e->proxy;
	reading.group = NULL;
	if (!name)
		return false;
	for (g = e->groups; g; g = g->next)
		if (strcmp(g->id, name) == 0)
			return conf_error(l, 1, NULL, "spoe-group section '%s' has the same name "
					  "as another one.", name);
	g = take_memory(l, sizeof(*g));
	if (!g)
		return false;
	g->id = name;
	g->next = e->groups;
	e->groups = reading.group = g;
	return true;
}

static bool parse_group_messages(struct conf_line *l)
{
	struct spoe_name *lost = NULL;

	return take_names(l, reading.group ? &reading.group->names : &lost);
}

/* --- check ------------------------------------------------------------------------------------ */

static struct spoe_message *message_find(const struct spoe_engine *e, const char *id)
{
	struct spoe_message *m = e->messages;

	while (m && !slice_eq(m->id, slice_of(id)))
		m = m->next;
	return m;
}

static bool problem(struct conf_line *l, const struct spoe_engine *e, const char *what,
		    const char *name)
{
	return conf_error(l, 1, NULL, "'filter' : SPOE agent '%s' (%s:%d): %s '%s'.",
			  e->agent->id, e->agent->file, e->agent->line, what, name);
}

/* The messages of a list of names, in its order, at the end of *to. <grouped>: they have no event.
 */
static bool link_messages(struct conf_line *l, struct spoe_engine *e,
			  const struct spoe_name *names, struct spoe_group *group)
{
	for (const struct spoe_name *n = names; n; n = n->next) {
		struct spoe_message *m = message_find(e, n->text), **to;

		if (!m)
			return problem(l, e, "there is no message", n->text);
		if (m->is_used)
			return problem(l, e, "it is listed twice: message", n->text);
		if (!group && m->event == SPOE_EVENT_COUNT)
			return problem(l, e, "there is no event for message", n->text);
		m->is_used = true;
		to = group ? &group->messages : &e->by_event[m->event];
		while (*to)
			to = &(*to)->next_here;
		*to = m;
	}
	return true;
}

static bool link_groups(struct conf_line *l, struct spoe_engine *e)
{
	for (const struct spoe_name *n = e->agent->groups; n; n = n->next) {
		struct spoe_group *g = e->groups;

		while (g && strcmp(g->id, n->text) != 0)
			g = g->next;
		if (!g)
			return problem(l, e, "there is no group", n->text);
		if (g->is_used)
			return problem(l, e, "it is listed twice: group", n->text);
		g->is_used = true;
		if (!link_messages(l, e, g->names, g))
			return false;
	}
	return true;
}

static bool register_name(struct conf_line *l, const struct spoe_engine *e, const char *name)
{
	const char *error, *text;

	if (!name)
		return true;
	text = arena_printf(&l->cfg->arena, "%s.%s", e->agent->prefix, name);
	return (text && var_name_register(l->cfg, slice_of(text), &error)) ||
	       problem(l, e, "this cannot be a variable:", name);
}

static bool register_names(struct conf_line *l, const struct spoe_engine *e)
{
	const struct spoe_agent *a = e->agent;

	for (const struct spoe_name *n = a->names; n; n = n->next)
		if (!register_name(l, e, n->text))
			return false;
	return register_name(l, e, a->error_var) &&
	       register_name(l, e, a->process_var) &&
	       register_name(l, e, a->total_var);
}

/* --- the line of the proxy -------------------------------------------------------------------- */

static bool engine_is_there(const struct filter_conf *conf, const char *id)
{
	for (const struct filter_conf *c = filter_confs(conf->proxy); c; c = c->next)
		if (c->kind == conf->kind && strcmp(((struct spoe_engine *)c->data)->id, id) == 0)
			return true;
	return false;
}

static bool take_line(struct conf_line *l, struct spoe_engine *e)
{
	const char *word;

	while ((word = conf_next(l)) != NULL) {
		const char **to = strcmp(word, "engine") == 0 ? &e->id :
				  strcmp(word, "config") == 0 ? &e->path : NULL;

		if (!to)
			return conf_error(l, l->at - 1, NULL, "'filter spoe' : unknown keyword "
					  "'%s'.", word);
		*to = conf_next(l);
		if (!*to || !**to)
			return conf_error(l, l->at, NULL, "'filter' : 'spoe' : '%s' option without "
					  "value", word);
	}
	return e->path || conf_error(l, l->at, NULL, "'filter' : 'spoe' : missing config file");
}

/* What cannot be said before all of the file was read. */
static bool engine_complete(struct conf_line *l, struct spoe_engine *e)
{
	if (!e->agent)
		return conf_error(l, 1, NULL, "'filter' : No SPOE agent found in file '%s'",
				  e->path);
	if (!e->agent->backend_name)
		return conf_error(l, 1, NULL, "'filter' : No backend declared for SPOE agent '%s' "
				  "declared at %s:%d", e->agent->id, e->agent->file,
				  e->agent->line);
	if (!e->agent->messages && !e->agent->groups)
		return conf_error(l, 1, NULL, "'filter' : SPOE agent '%s' declared at %s:%d lists "
				  "neither messages nor groups", e->agent->id, e->agent->file,
				  e->agent->line);
	if (!e->id)
		e->id = e->agent->id;
	return link_messages(l, e, e->agent->messages, NULL) && link_groups(l, e) &&
	       register_names(l, e);
}

bool spoe_line_parse(struct conf_line *l, struct filter_conf *conf)
{
	struct spoe_engine *e = take_memory(l, sizeof(*e));
	bool fine;

	if (!e || !take_line(l, e))
		return false;
	e->proxy = conf->proxy;
	e->messages_end = &e->messages;
	if (e->id && engine_is_there(conf, e->id))
		return conf_error(l, 1, NULL, "'filter' : SPOE engine '%s' is already there.",
				  e->id);
	reading.engine = e;
	fine = conf_read_dialect(l, conf_path(l->cfg, e->path), DIALECT, e->id);
	reading.engine = NULL;
	if (!fine || !engine_complete(l, e))
		return false;
	conf->name = e->id;
	conf->data = e;
	return true;
}

/* --- check ------------------------------------------------------------------------------------ */

static bool check_problem(const struct filter_conf *conf, struct diag_list *diags,
			  const char *what)
{
	struct diag_place place = { .file = conf->file, .line = conf->line };
	const struct spoe_agent *a = ((const struct spoe_engine *)conf->data)->agent;

	diag_add(diags, DIAG_ALERT, &place, NULL, "SPOE agent '%s' (%s:%d): %s '%s'.", a->id,
		 a->file, a->line, what, a->backend_name);
	return false;
}

bool spoe_line_check(struct config *cfg, struct filter_conf *conf, struct diag_list *diags)
{
	struct spoe_agent *a = ((struct spoe_engine *)conf->data)->agent;

	a->backend = proxy_find_kept(cfg, a->backend_name, PROXY_BE);
	if (!a->backend)
		return check_problem(conf, diags, "there is no backend");
	if (a->backend->mode != PROXY_MODE_SPOP && a->backend->mode != PROXY_MODE_TCP)
		return check_problem(conf, diags, "this is none of mode spop, nor tcp: backend");
	return true;
}

/* --- tables ----------------------------------------------------------------------------------- */

#define SECTION(text, about) \
	.name = text, .dialect = DIALECT, .where = CONF_OTHER, .syntax = "<name>", .help = about

const struct conf_section spoe_sections[] = {
	{ SECTION("spoe-agent", "the agent that is asked, and about what"), .open = agent_open },
	{ SECTION("spoe-message", "what is sent"), .open = message_open, .close = message_close },
	{ SECTION("spoe-group", "messages that a rule sends"), .open = group_open },
	{ 0 }
};

#define AGENT(text) .words = text, .where = CONF_OTHER, .section = "spoe-agent"
#define NO_MORE "it has no effect: connections are made as they are needed"
#define IGNORED(text) \
	{ AGENT(text), .flags = CONF_IGNORED | CONF_CAN_NO, .min_args = 0, .max_args = -1, \
	  .help = "no effect", .hint = NO_MORE }
#define OPTION(text, bit, about) \
	{ AGENT("option " text), .flags = CONF_CAN_NO, .parse = parse_option, .min = bit, \
	  .help = about }
#define VARIABLE(text, about) \
	{ AGENT("option " text), .min_args = 1, .max_args = 1, .parse = parse_var, \
	  .syntax = "<name>", .help = about }
#define MESSAGE(text) .words = text, .where = CONF_OTHER, .section = "spoe-message"

const struct conf_keyword spoe_keywords[] = {
	{ AGENT("messages"), .max_args = -1, .parse = parse_messages, .syntax = "<name>...",
	  .help = "messages that are sent at their events" },
	{ AGENT("groups"), .max_args = -1, .parse = parse_groups, .syntax = "<name>...",
	  .help = "groups that rules may send" },
	{ AGENT("use-backend"), .min_args = 1, .max_args = 1, .parse = parse_backend,
	  .syntax = "<name>", .help = "the backend of the agent's servers" },
	{ AGENT("timeout processing"), .min_args = 1, .max_args = 1, .parse = parse_timeout,
	  .syntax = "<time>", .help = "how long a stream waits for an answer" },
	{ AGENT("max-frame-size"), .min_args = 1, .max_args = 1, .parse = parse_frame_size,
	  .syntax = "<number>", .help = "bytes of the largest frame" },
	{ AGENT("register-var-names"), .max_args = -1, .parse = parse_names,
	  .syntax = "<name>...", .help = "variables that the agent may set" },
	{ AGENT("log"), .flags = CONF_CAN_NO, .max_args = -1, .parse = parse_log,
	  .syntax = "{global | <target> ...}", .help = "where events are logged" },
	{ AGENT("option var-prefix"), .min_args = 1, .max_args = 1, .parse = parse_prefix,
	  .syntax = "<prefix>", .help = "what the names of its variables begin with" },
	VARIABLE("set-on-error", "a variable for what went wrong"),
	VARIABLE("set-process-time", "a variable for the time of the last answer, ms"),
	VARIABLE("set-total-time", "a variable for the time of all answers, ms"),
	OPTION("continue-on-error", SPOE_CONTINUE_ON_ERROR, "an error ends its event only"),
	OPTION("force-set-var", SPOE_FORCE_SET_VAR, "the agent may set any variable"),
	OPTION("pipelining", SPOE_NO_PIPELINING, "several requests at once on a connection"),
	OPTION("dontlog-normal", SPOE_DONTLOG_NORMAL, "log errors only"),
	IGNORED("maxconnrate"), IGNORED("maxerrrate"), IGNORED("max-waiting-frames"),
	IGNORED("option async"), IGNORED("option send-frag-payload"), IGNORED("timeout hello"),
	IGNORED("timeout idle"),

	{ MESSAGE("args"), .max_args = -1, .parse = parse_args, .syntax = "[<name>=]<expr>...",
	  .help = "what the message carries" },
	{ MESSAGE("acl"), .min_args = 2, .max_args = -1, .parse = parse_acl,
	  .syntax = "<name> <criterion> [<flags>] [<operator>] <value>...",
	  .help = "a condition for the event" },
	{ MESSAGE("event"), .min_args = 1, .max_args = -1, .parse = parse_event,
	  .syntax = "<event> [{if | unless} <condition>]", .help = "when it is sent" },

	{ .words = "messages", .where = CONF_OTHER, .section = "spoe-group", .max_args = -1,
	  .parse = parse_group_messages, .syntax = "<name>...", .help = "its messages" },
	{ 0 }
};
