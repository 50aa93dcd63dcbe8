/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_file.c - edge file: states of servers which a process before this one has left in a file
 *
 * The file has the format of `show servers state`. A line applies to the server with the same
 * backend and name; a file with an invalid line is not applied at all. A reload in the process
 * needs none: states are passed on directly.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "conf/conf.h"
#include "proxy/balance.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"

#define FILE_MAX (64u << 20)
#define FIELDS_MIN 19
#define FIELDS_MAX 25

enum state_source { STATE_NONE, STATE_GLOBAL, STATE_LOCAL };

struct state_global {
	const char *base, *file;
};

struct state_proxy {
	enum state_source source;
	const char *file;      /* NULL: the backend's name */
};

static struct slot global_slot = { .of = SLOT_CONFIG, .size = sizeof(struct state_global) };
static struct slot proxy_slot = { .of = SLOT_PROXY, .size = sizeof(struct state_proxy) };

/* The columns that matter. */
enum column {
	COL_BACKEND = 1, COL_SERVER = 3, COL_ADDR = 4, COL_OPER = 5, COL_ADMIN = 6,
	COL_WEIGHT = 7, COL_INITIAL = 8, COL_AGE = 9, COL_NAME = 17, COL_PORT = 18,
	COL_STATUS = 10, COL_OUTCOME = 11, COL_HEALTH = 12, COL_CHECK = 13, COL_AGENT = 14,
	COL_SERVICE = 19, COL_CHECK_PORT = 21, COL_CHECK_ADDR = 22, COL_AGENT_ADDR = 23,
	COL_AGENT_PORT = 24,
};

/* --- configuration ---------------------------------------------------------------------------- */

static bool parse_source(struct conf_line *l)
{
	struct state_proxy *sp = slot_of(&proxy_slot, l->slots);
	const char *word = conf_next(l);

	if (word && strcmp(word, "global") == 0)
		sp->source = STATE_GLOBAL;
	else if (word && strcmp(word, "local") == 0)
		sp->source = STATE_LOCAL;
	else if (word && strcmp(word, "none") == 0)
		sp->source = STATE_NONE;
	else
		return conf_error(l, 1, NULL, "'load-server-state-from-file' expects 'global', "
				  "'local' or 'none'. Got '%s'", word ? word : "");
	return conf_take_end(l);
}

static bool parse_name(struct conf_line *l)
{
	struct state_proxy *sp = slot_of(&proxy_slot, l->slots);
	const char *word = conf_next(l);

	sp->file = word && strcmp(word, "use-backend-name") != 0 ? word : NULL;
	return conf_take_end(l);
}

static bool parse_global(struct conf_line *l)
{
	struct state_global *sg = slot_of(&global_slot, config_slots(l->cfg));

	return conf_take_string(l, l->keyword->min ? &sg->base : &sg->file) && conf_take_end(l);
}

static const struct conf_keyword keywords[] = {
	{ .words = "load-server-state-from-file", .where = CONF_DEF_BE, .max_args = -1,
	  .parse = parse_source, .syntax = "{ global | local | none }",
	  .help = "read states of servers from a file" },
	{ .words = "server-state-file-name", .where = CONF_DEF_BE, .max_args = -1,
	  .parse = parse_name, .syntax = "[{ use-backend-name | <file> }]",
	  .help = "the backend's own file of states" },
	{ .words = "server-state-base", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .parse = parse_global, .min = 1, .syntax = "<directory>",
	  .help = "where relative names of state files begin" },
	{ .words = "server-state-file", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .parse = parse_global, .syntax = "<file>",
	  .help = "states of the servers of all backends" },
	{ 0 }
};

/* --- reading ---------------------------------------------------------------------------------- */

static const struct diag_place nowhere = { .form = DIAG_BARE };

#define tell(level, ...) diag_add(diags, level, &nowhere, NULL, __VA_ARGS__)

/* Cuts a line at its blanks. Returns how many words there are, at most FIELDS_MAX + 1. */
static int line_cut(char *line, char **fields)
{
	char *rest = line, *word;
	int n = 0;

	while (n <= FIELDS_MAX && (word = strsep(&rest, " ")) != NULL)
		if (*word)
			fields[n++] = word;
	return n;
}

/* A file's text (free()); NULL: told. <whose> begins the messages, "config: " or "Proxy 'be': ". */
static char *text_read(const char *path, const char *whose, const char *kind,
		       struct diag_list *diags)
{
	int fd = file_open(path, O_RDONLY | O_CLOEXEC, 0);
	char *text;
	size_t len;

	if (fd < 0) {
		tell(DIAG_NOTICE, "%sCan't open %sserver state file '%s': %s", whose, kind, path,
		     strerror(errno));
		return NULL;
	}
	text = file_read_all(fd, FILE_MAX, &len);
	close(fd);
	if (!text || !len) {
		tell(DIAG_NOTICE, "%sEmpty %sserver state file '%s'.", whose, kind, path);
		free(text);
		return NULL;
	}
	return text;
}

/* --- applying --------------------------------------------------------------------------------- */

static bool field_number(const char *text, long max, long *out)
{
	char *end;

	*out = strtol(text, &end, 10);
	return end != text && !*end && *out >= 0 && *out <= max;
}

/* The address that its name had: unless it has another name now. */
static void name_apply(struct server *srv, char **fields, long admin)
{
	const char *service = fields[COL_SERVICE] ? fields[COL_SERVICE] : "-";
	const char *name = fields[COL_NAME];
	struct addr addr;
	int64_t port;

	if (srv->resolve.service && strcmp(service, srv->resolve.service) != 0)
		return;
	if (!srv->resolve.service && admin & SERVER_HMAINT)
		resolve_restore_name(srv, name);
	else if (!srv->resolve.service &&
		 (!srv->at.hostname || strcasecmp(name, srv->at.hostname) != 0))
		return;
	if (admin & SERVER_RMAINT || !resolve_takes_last(srv) ||
	    !addr_parse_ip(slice_of(fields[COL_ADDR]), ADDR_NONE, &addr) ||
	    !num_parse_range(slice_of(fields[COL_PORT]), 0, 65535, &port))
		return;
	if (srv->resolve.service)
		resolve_restore_name(srv, name);
	addr.port = (uint16_t)port;
	resolve_set_last(srv, &addr);
}

/* What a line says of checks. False: *what is the field that is wrong. */
static bool checks_read(char **fields, struct check_memory *m, const char **what,
			const char **value)
{
	static const struct { enum column at; long max; const char *name; } columns[] = {
		{ COL_STATUS, CHECK_STATUS_COUNT - 1, "srv_check_status" },
		{ COL_OUTCOME, CHECK_RES_CONDPASS, "srv_check_result" },
		{ COL_HEALTH, INT32_MAX, "srv_check_health" },
		{ COL_CHECK, 0x1f, "srv_check_state" },
		{ COL_AGENT, 0x1f, "srv_agent_state" },
	};
	long got[sizeof(columns) / sizeof(*columns)];

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		*what = columns[i].name, *value = fields[columns[i].at];
		if (!field_number(*value, columns[i].max, &got[i]))
			return false;
	}
	m->status = (enum check_status)got[0];
	m->outcome = (enum check_outcome)got[1];
	m->health = (int)got[2];
	m->flags = (unsigned)got[3];
	m->agent_flags = (unsigned)got[4];
	return true;
}

/* Addresses and ports that the Runtime API has set; a file of the first version has none. */
static void check_places_apply(struct server *srv, char **fields)
{
	for (int agent = 0; agent < 2; agent++) {
		const char *addr = fields[agent ? COL_AGENT_ADDR : COL_CHECK_ADDR];
		const char *port = fields[agent ? COL_AGENT_PORT : COL_CHECK_PORT];
		char message[320];

		if (!fields[COL_AGENT_PORT] ||
		    !(check_flags_of(check_state_of(srv, agent)) & CHECK_CONFIGURED))
			continue;
		if (strcmp(addr, "-") != 0)
			check_set_address(srv, agent, addr, NULL, message, sizeof(message));
		if (strcmp(port, "0") != 0)
			check_set_address(srv, agent, NULL, port, message, sizeof(message));
	}
}

/* How it stood: a slow start that is not over yet begins again. */
static void oper_apply(struct server *srv, enum server_oper oper, long age)
{
	struct server_state *st = srv->state;
	bool slow = oper == SERVER_STARTING && srv->checks.slowstart_ms > age * 1000;

	st->oper = oper == SERVER_STARTING && !slow ? SERVER_RUNNING : oper;
	if (slow)
		st->warm = 1;
	if (oper == SERVER_STOPPED)
		counter_add(&st->counters, CNT_CHECK_DOWNS, 1);
	st->changed_us = clock_read_wall_us() - (slow ? 0 : (uint64_t)age * 1000000);
}

/* Maintenance and drain by command; its configuration's words are not those of ours. */
static void admin_apply(struct server *srv, unsigned admin)
{
	struct server_state *st = srv->state;

	if (srv->disabled && (admin & (SERVER_CMAINT | SERVER_FMAINT)) == SERVER_CMAINT) {
		/* it has been enabled */
		st->admin = (st->admin & ~(unsigned)SERVER_FMAINT) | (admin & SERVER_FDRAIN);
		if (!(st->admin & SERVER_MAINT)) {
			check_resume(srv);
			st->oper = SERVER_RUNNING;
			return;
		}
	} else if (!srv->disabled && !(admin & SERVER_CMAINT)) {
		st->admin |= admin & (SERVER_FMAINT | SERVER_FDRAIN);
	}
	if (st->admin & SERVER_MAINT) {
		st->oper = SERVER_STOPPED;
		if (!srv->disabled)
			check_suspend(srv);
	}
}

/* The state of <srv> as a line tells it. False: *what is the field that is wrong. */
static bool fields_apply(struct server *srv, char **fields, const char **what, const char **value)
{
	struct server_state *st = srv->state;
	long oper, admin, weight, initial, age;
	struct check_memory checks;
	char message[320];

	*what = "srv_op_state", *value = fields[COL_OPER];
	if (!field_number(*value, SERVER_STOPPING, &oper))
		return false;
	*what = "srv_admin_state", *value = fields[COL_ADMIN];
	if (!field_number(*value, 0x7f, &admin) ||
	    ((admin & SERVER_FMAINT) && (admin & SERVER_FDRAIN)))
		return false;
	*what = "srv_uweight", *value = fields[COL_WEIGHT];
	if (!field_number(*value, 256, &weight))
		return false;
	*what = "srv_iweight", *value = fields[COL_INITIAL];
	if (!field_number(*value, 256, &initial))
		return false;
	*what = "srv_last_time_change", *value = fields[COL_AGE];
	if (!field_number(*value, INT32_MAX, &age))
		return false;
	if (!checks_read(fields, &checks, what, value))
		return false;
	if (srv->at.hostname || srv->resolve.service || srv->resolve.resolvers_name)
		name_apply(srv, fields, admin);
	oper_apply(srv, (enum server_oper)oper, age);
	check_restore_health(srv, (enum server_oper)oper, &checks);
	admin_apply(srv, (unsigned)admin);
	check_restore_flags(srv, &checks);
	check_places_apply(srv, fields);
	if ((unsigned)initial == srv->uweight)
		st->uweight = (unsigned)weight;
	if (strcmp(fields[COL_PORT], "0") != 0 && !srv->port_is_mapped &&
	    srv->at.sa->sa_family != AF_UNIX)
		server_set_address(srv, NULL, fields[COL_PORT], "state file", message,
				   sizeof(message));
	return true;
}

static void line_apply(struct proxy *be, char **fields, struct diag_list *diags)
{
	const char *what = "", *value = "";
	struct server *srv = server_find(be, fields[COL_SERVER]);

	if (srv && !fields_apply(srv, fields, &what, &value))
		tell(DIAG_WARNING, "server-state application failed for server '%s/%s', invalid "
		     "%s value '%s'", be->name, srv->name, what, value);
}

/* Goes through the lines of <text>: counts those that are wrong, or applies them to <only> (NULL:
 * the backends that want the global file). Returns the number of the first wrong line, 0: none.
 */
static int lines_walk(struct config *cfg, char *text, struct proxy *only, struct diag_list *diags)
{
	char *rest = text, *line, *fields[FIELDS_MAX + 1] = { 0 };
	int number = 0;

	while ((line = strsep(&rest, "\n")) != NULL) {
		struct proxy *be;
		int n;

		if (++number == 1 || !*line || *line == '#')
			continue;
		memset(fields, 0, sizeof(fields));
		n = line_cut(line, fields);
		if (n < FIELDS_MIN || n > FIELDS_MAX)
			return number - 1; /* that of the version is not counted */
		if (!diags)
			continue;
		be = only ? only : proxy_find(cfg, fields[COL_BACKEND], PROXY_BE);
		if (!be || strcmp(be->name, fields[COL_BACKEND]) != 0)
			continue;
		if (only || ((struct state_proxy *)slot_of(&proxy_slot, proxy_slots(be)))->source ==
		    STATE_GLOBAL)
			line_apply(be, fields, diags);
	}
	return 0;
}

static void file_apply(struct config *cfg, const char *name, struct proxy *only,
		       struct diag_list *diags)
{
	const struct state_global *sg = slot_of(&global_slot, config_slots(cfg));
	const char *whose = only ? arena_printf(&cfg->arena, "Proxy '%s': ", only->name)
				 : "config: ";
	const char *kind = only ? "" : "global ";
	const char *path = name[0] == '/' || !sg->base ? name
		: arena_printf(&cfg->arena, "%s/%s", sg->base, name);
	char *text = path && whose ? text_read(path, whose, kind, diags) : NULL, *copy;
	int wrong;

	if (!text)
		return;
	copy = strdup(text);
	wrong = copy ? lines_walk(cfg, copy, only, NULL) : 0;
	if (strncmp(text, "1\n", 2) != 0)
		tell(DIAG_WARNING, "%sCan't get version of the %sserver state file '%s'.", whose,
		     kind, path);
	else if (wrong)
		tell(DIAG_WARNING, "%scorrupted %sserver state file '%s' at line %d.", whose, kind,
		     path, wrong);
	else
		lines_walk(cfg, text, only, diags);
	free(copy);
	free(text);
}

/* A server that tracks another one has the state of that one, whatever a line said. */
static void followers_apply(struct config *cfg)
{
	struct server *srv;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		for (srv = server_first(px); srv; srv = server_next(srv)) {
			const struct server_state *to = check_decider(srv)->state;
			struct server_state *st = srv->state;

			if (!srv->checks.track)
				continue;
			st->admin &= ~(unsigned)(SERVER_IMAINT | SERVER_IDRAIN);
			st->admin |= (to->admin & SERVER_MAINT ? SERVER_IMAINT : 0) |
				     (to->admin & SERVER_DRAIN ? SERVER_IDRAIN : 0);
			st->oper = st->admin & SERVER_MAINT ? SERVER_STOPPED
				: to->oper == SERVER_STARTING ? SERVER_RUNNING : to->oper;
		}
}

static void states_apply(struct config *cfg, struct diag_list *diags)
{
	const struct state_global *sg = slot_of(&global_slot, config_slots(cfg));
	bool applied = false;

	if (sg->file)
		file_apply(cfg, sg->file, NULL, diags);
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		const struct state_proxy *sp = slot_of(&proxy_slot, proxy_slots(px));

		if (!(px->caps & PROXY_BE) || !px->state || sp->source == STATE_NONE)
			continue;
		if (sp->source == STATE_LOCAL)
			file_apply(cfg, sp->file ? sp->file : px->name, px, diags);
		else if (!sg->file)
			tell(DIAG_WARNING, "backend '%s' configured to load server state file from "
			     "global section 'server-state-file' directive. Unfortunately, "
			     "'server-state-file' is not set!", px->name);
		applied = true;
	}
	if (!applied)
		return;
	followers_apply(cfg);
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (!(px->caps & PROXY_BE) || !px->state)
			continue;
		balance_update(px);
		if (px->state->was_up && !balance_has_usable(px))
			counter_add(&px->state->be, CNT_CHECK_DOWNS, 1);
		px->state->was_up = balance_has_usable(px);
	}
}

static struct slot *const slots[] = { &global_slot, &proxy_slot, NULL };

const struct module mod_state_file = {
	.name = "state_file", .keywords = keywords, .slots = slots, .check = states_apply,
};
