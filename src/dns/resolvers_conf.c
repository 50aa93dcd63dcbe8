/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolvers_conf.c - edge file: sections resolvers, dns-accept-family
 * Manual: configuration 5.3.2, 3.1 dns-accept-family
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/door.h"
#include "base/file.h"
#include "base/num.h"
#include "conf/conf.h"
#include "dns_priv.h"

#define RESOLV_CONF "/etc/resolv.conf"
#define RESOLV_CONF_MAX (1u << 20)
#define DNS_PORT 53

/* --- sections ------------------------------------------------------------------------------- */

static struct resolvers *section_new(struct config *cfg, const char *name)
{
	struct resolvers *r = arena_zalloc(&cfg->arena, sizeof(*r));

	if (!r)
		return NULL;
	r->name = name;
	r->servers_end = &r->servers;
	for (unsigned i = 0; i < RESOLVE_STATUS_COUNT; i++)
		r->set.hold_ms[i] = 30000;
	r->set.hold_ms[RESOLVE_VALID] = 10000;
	r->set.resolve_ms = r->set.retry_ms = 1000;
	r->set.tries = 3;
	r->set.payload = 512;
	return r;
}

static void section_link(struct config *cfg, struct resolvers *r)
{
	struct resolvers_config *rc = resolvers_config_of(cfg);

	*rc->end = r;
	rc->end = &r->next;
}

static bool section_open(struct conf_line *l)
{
	const char *name = conf_next(l);
	struct resolvers *r, *same;
	char bad;

	if (!name || !*name)
		return conf_error(l, 0, NULL, "missing name for resolvers section.");
	bad = conf_name_bad_char(name);
	if (bad)
		return conf_error(l, l->at - 1, NULL, "character '%c' is not permitted in "
				  "'resolvers' name '%s'.", bad, name);
	if (conf_peek(l))
		return conf_error(l, l->at, NULL, "'resolvers' cannot handle unexpected argument "
				  "'%s'.", conf_peek(l));
	r = section_new(l->cfg, name);
	if (!r)
		return conf_error(l, 0, NULL, "out of memory.");
	r->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : "";
	r->line = l->place.line;
	l->object = r;
	l->slots = NULL;
	if (!dns_is_built_in())
		return conf_error(l, 0, NULL, "names cannot be resolved at run time: the program "
				  "was made without c-ares (USE_CARES).");
	same = resolvers_find(l->cfg, name);
	if (same)
		return conf_report(l, l->at - 1, DIAG_ALERT, DIAG_BARE, "config : Parsing [%s:%d]: "
				   "resolvers '%s' has same name as another resolvers (declared "
				   "at %s:%d).", r->file, r->line, name, same->file, same->line);
	section_link(l->cfg, r);
	return true;
}

/* --- name servers --------------------------------------------------------------------------- */

static const struct nameserver_conf *nameserver_find(const struct resolvers *r, const char *name)
{
	const struct nameserver_conf *ns = r->servers;

	while (ns && strcmp(ns->name, name) != 0)
		ns = ns->next;
	return ns;
}

/* NULL: no memory. */
static struct nameserver_conf *nameserver_add(struct config *cfg, struct resolvers *r,
					      const char *name)
{
	struct nameserver_conf *ns = arena_zalloc(&cfg->arena, sizeof(*ns));

	if (!ns)
		return NULL;
	ns->name = name;
	ns->links_max = LINKS_MAX;
	*r->servers_end = ns;
	r->servers_end = &ns->next;
	r->server_count++;
	return ns;
}

/* Names of name servers are asked of the system, once. */
static bool host_of(struct slice name, uint8_t family, struct addr *out, void *ctx)
{
	int wanted = family == ADDR_INET ? AF_INET : family == ADDR_INET6 ? AF_INET6 : AF_UNSPEC;
	struct sockaddr_storage found;
	char text[DNS_NAME_MAX + 1];
	socklen_t len;

	if (name.len > DNS_NAME_MAX)
		return false;
	memcpy(text, name.ptr, name.len);
	text[name.len] = 0;
	if (!door_host(text, wanted, &found, &len))
		return false;
	*out = addr_from_sockaddr(&found, len);
	return true;
}

static bool parse_server_address(struct conf_line *l, struct nameserver_conf *ns, const char *word)
{
	static const struct addr_resolver system = { .run = host_of };
	struct addr_parse p = { .resolver = &system, .options = ADDR_OPT_PORT |
				ADDR_OPT_PORT_REQUIRED | ADDR_OPT_DGRAM |
				ADDR_OPT_STREAM | ADDR_OPT_DEFAULT_DGRAM | ADDR_OPT_ONLY_IP };
	const char *text = conf_expand(l->cfg, word);
	struct addr_spec spec;

	if (!text)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!addr_parse(&p, slice_of(text), &spec) ||
	    !addr_spec_to_any(&spec, spec.port, &ns->addr))
		return conf_error(l, l->at - 1, NULL, "'nameserver %s' : %s", ns->name, p.error);
	ns->is_stream = !spec.dgram;
	return true;
}

/* What a server line may say, as far as it means something here. */
static bool parse_server_options(struct conf_line *l, struct nameserver_conf *ns)
{
	const char *word = conf_next(l);
	int64_t max;

	if (!word)
		return true;
	if (!ns->is_stream)
		return conf_error(l, l->at - 1, NULL, "'nameserver %s' : a name server over UDP "
				  "has no option '%s'.", ns->name, word);
	if (strcmp(word, "maxconn") != 0)
		return conf_error(l, l->at - 1, NULL, "'nameserver %s' : option '%s' is unknown "
				  "or not supported yet for name servers, only 'maxconn' is.",
				  ns->name, word);
	if (!conf_take_int(l, 0, 1024, &max))
		return false;
	ns->links_max = max ? (unsigned)max : LINKS_MAX;
	return conf_take_end(l);
}

static bool parse_nameserver(struct conf_line *l)
{
	const char *name = conf_next(l), *word = conf_next(l);
	struct resolvers *r = l->object;
	const struct nameserver_conf *same;
	struct nameserver_conf *ns;
	char bad;

	if (!word)
		return conf_error(l, l->count, NULL, "'nameserver' expects <name> and "
				  "<addr>[:<port>] as arguments.");
	bad = conf_name_bad_char(name);
	if (bad)
		return conf_error(l, 1, NULL, "character '%c' is not permitted in server name "
				  "'%s'.", bad, name);
	same = nameserver_find(r, name);
	if (same)
		return conf_report(l, 1, DIAG_ALERT, DIAG_BARE, "config : Parsing [%s:%d]: "
				   "nameserver '%s' has same name as another nameserver (declared "
				   "at %s:%d).",
				   l->place.file ? l->place.file : "", l->place.line, name,
				   same->file, same->line);
	if (r->server_count >= NAMESERVERS_MAX)
		return conf_error(l, 0, NULL, "more than %d name servers in section '%s'.",
				  NAMESERVERS_MAX, r->name);
	ns = nameserver_add(l->cfg, r, name);
	if (!ns)
		return conf_error(l, 0, NULL, "out of memory.");
	ns->file = r->file;
	ns->line = l->place.line;
	return parse_server_address(l, ns, word) && parse_server_options(l, ns);
}

/* The next line of *text, which loses it; false: none is left. */
static bool next_line(struct slice *text, struct slice *line)
{
	size_t end;

	if (!text->len)
		return false;
	end = slice_find_char(*text, 0, '\n');
	*line = slice_sub(*text, 0, end == SIZE_MAX ? text->len : end);
	*text = end == SIZE_MAX ? slice_none() : slice_sub(*text, end + 1, text->len);
	return true;
}

static struct slice next_word(struct slice *line)
{
	struct slice word;
	size_t n = 0, end;

	while (n < line->len && (line->ptr[n] == ' ' || line->ptr[n] == '\t'))
		n++;
	end = n;
	while (end < line->len && line->ptr[end] != ' ' && line->ptr[end] != '\t' &&
	       line->ptr[end] != '\r')
		end++;
	word = slice_sub(*line, n, end);
	*line = slice_sub(*line, end, line->len);
	return word;
}

/* "nameserver <address>"; what is none is passed over, as the system does. */
static bool take_system_server(struct config *cfg, struct resolvers *r, struct slice line)
{
	struct slice word = next_word(&line), text = next_word(&line), name;
	struct sockaddr_storage ss;
	struct nameserver_conf *ns;
	struct addr addr;

	if (!slice_eq(word, SLICE("nameserver")) || !addr_parse_ip(text, ADDR_NONE, &addr))
		return true;
	name = arena_copy(&cfg->arena, text);
	if (!name.ptr || r->server_count >= NAMESERVERS_MAX || nameserver_find(r, name.ptr))
		return name.ptr != NULL;
	ns = nameserver_add(cfg, r, name.ptr);
	if (!ns)
		return false;
	addr.port = DNS_PORT;
	ns->file = RESOLV_CONF;
	ns->addr.len = addr_to_sockaddr(&addr, &ss);
	ns->addr.ss = ss;
	return true;
}

/* False: the file cannot be read, or no memory. */
static bool take_system_servers(struct config *cfg, struct resolvers *r)
{
	int fd = file_open(RESOLV_CONF, O_RDONLY | O_CLOEXEC, 0);
	struct slice text, line;
	bool good = true;
	char *bytes;
	size_t len;

	if (fd < 0)
		return false;
	bytes = file_read_all(fd, RESOLV_CONF_MAX, &len);
	close(fd);
	if (!bytes)
		return false;
	text = slice_make(bytes, len);
	while (good && next_line(&text, &line))
		good = take_system_server(cfg, r, line);
	free(bytes);
	return good;
}

static bool parse_system(struct conf_line *l)
{
	if (!conf_take_end(l))
		return false;
	return take_system_servers(l->cfg, l->object) ||
	       conf_error(l, 0, NULL, "'parse-resolv-conf' : cannot read '" RESOLV_CONF "'.");
}

/* --- settings ------------------------------------------------------------------------------- */

#define HOLD_EVENTS "'nx', 'timeout', 'valid', 'obsolete', 'refused' or 'other'"

/* The time behind the <event> of a line. */
static bool take_time(struct conf_line *l, const char *event, int64_t *ms)
{
	const char *word = conf_peek(l);

	if (!conf_take_time_ms(l, ms))
		return false;
	if (conf_is_small_time(word))
		conf_warn(l, l->at - 1, NULL,
			  "'%s %s %s' looks suspiciously small for a value in milliseconds. Please "
			  "use an explicit unit ('%sms') if that was the intent.", l->words[0],
			  event, word, word);
	return true;
}

static bool parse_hold(struct conf_line *l)
{
	static const char *const words[] = {
#define X(name, word) word,
		RESOLVE_STATUSES(X)
#undef X
	};
	struct resolvers *r = l->object;
	const char *event = conf_next(l);
	int64_t *to = NULL;

	if (!event || !conf_peek(l))
		return conf_error(l, l->count, NULL, "'hold' expects an <event> and a <time> as "
				  "arguments. <event> is one of " HOLD_EVENTS ".");
	for (unsigned i = 0; i < RESOLVE_STATUS_COUNT; i++)
		if (strcmp(event, words[i]) == 0)
			to = &r->set.hold_ms[i];
	if (strcmp(event, "obsolete") == 0)
		to = &r->set.hold_obsolete_ms;
	if (!to)
		return conf_error(l, 1, NULL, "'hold' unknown <event>: '%s', expects either "
				  HOLD_EVENTS ".", event);
	return take_time(l, event, to) && conf_take_end(l);
}

static bool parse_timeout(struct conf_line *l)
{
	struct resolvers *r = l->object;
	const char *event = conf_next(l);
	bool retry = event && strcmp(event, "retry") == 0;
	int64_t ms;

	if (!event)
		return conf_error(l, l->count, NULL, "'timeout' expects 'retry' or 'resolve' and "
				  "<time> as arguments.");
	if (!retry && strcmp(event, "resolve") != 0)
		return conf_error(l, 1, NULL, "'timeout' expects 'retry' or 'resolve' and <time> "
				  "as arguments got '%s'.", event);
	if (!conf_peek(l))
		return conf_error(l, l->count, NULL, "'timeout %s' expects <time> as argument.",
				  event);
	if (!take_time(l, event, &ms))
		return false;
	/* never round and round without a pause */
	*(retry ? &r->set.retry_ms : &r->set.resolve_ms) = ms ? ms : 1;
	return conf_take_end(l);
}

static bool parse_payload(struct conf_line *l)
{
	struct resolvers *r = l->object;
	const char *word = conf_next(l);
	int64_t size;

	if (!word)
		return conf_error(l, l->count, NULL, "'accepted_payload_size' expects <nb> as "
				  "argument.");
	if (!num_parse_range(slice_of(word), DNS_HEADER_SIZE, UINT16_MAX, &size))
		return conf_error(l, 1, NULL, "'accepted_payload_size' must be between %d and %d "
				  "inclusive (was %s).", DNS_HEADER_SIZE, UINT16_MAX, word);
	r->set.payload = (unsigned)size;
	return conf_take_end(l);
}

static bool parse_retries(struct conf_line *l)
{
	struct resolvers *r = l->object;
	int64_t tries;

	if (!conf_peek(l))
		return conf_error(l, l->count, NULL, "'resolve_retries' expects <nb> as "
				  "argument.");
	if (!conf_take_int(l, 0, INT32_MAX, &tries))
		return false;
	r->set.tries = tries ? (unsigned)tries : 1;
	return conf_take_end(l);
}

static bool parse_family(struct conf_line *l)
{
	struct resolvers_config *rc = resolvers_config_of(l->cfg);
	const char *word = conf_next(l), *p = word ? word : "";
	bool v4 = false, v6 = false, automatic = false;

	do {
		size_t len = strcspn(p, ",");
		struct slice one = slice_make(p, len);

		if (slice_eq(one, SLICE("ipv4")))
			v4 = true;
		else if (slice_eq(one, SLICE("ipv6")))
			v6 = true;
		else if (slice_eq(one, SLICE("auto")))
			automatic = true;
		else
			return conf_error(l, 1, NULL, "'dns-accept-family' expects a "
					  "comma-delimited list of 'ipv4', 'ipv6' and 'auto' but "
					  "got '%.*s'.", SLICE_FMT(one));
		p += len;
	} while (*p++);
	rc->refuse[0] = !v4 && !automatic;
	rc->refuse[1] = !v6 && !automatic;
	rc->ipv6_by_route = automatic && !v6;
	if (conf_peek(l))
		return conf_error(l, l->at, NULL, "'dns-accept-family' cannot handle unexpected "
				  "argument '%s'.", conf_peek(l));
	return true;
}

/* --- check phase ---------------------------------------------------------------------------- */

/* The section that always exists, as far as the system knows name servers. It may stay unused. */
static void default_section(struct config *cfg)
{
	struct resolvers *r;

	if (!dns_is_built_in() || resolvers_find(cfg, "default"))
		return;
	r = section_new(cfg, "default");
	if (r && take_system_servers(cfg, r) && r->servers)
		section_link(cfg, r);
}

static void check(struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct resolvers_config *rc = resolvers_config_of(cfg);

	if (rc->only_ipv4) {
		rc->refuse[0] = false;
		rc->refuse[1] = true;
	}
	default_section(cfg);
	for (struct resolvers *r = rc->first; r; r = r->next) {
		r->set.accept[0] = !rc->refuse[0];
		r->set.accept[1] = !rc->refuse[1];
		r->set.ipv6_by_route = rc->ipv6_by_route;
		if (!r->servers)
			diag_add(diags, DIAG_WARNING, &nowhere, NULL, "resolvers '%s' [%s:%d] has "
				 "no nameservers configured!", r->name, r->file, r->line);
	}
}

#define KEYWORD(text, parser, what, say) \
	{ .words = text, .where = CONF_OTHER, .section = "resolvers", .max_args = -1, \
	  .parse = parser, .syntax = what, .help = say }

static const struct conf_section sections[] = {
	{ .name = "resolvers", .where = CONF_OTHER, .open = section_open, .syntax = "<name>",
	  .help = "name servers to ask at run time" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	KEYWORD("nameserver", parse_nameserver, "<name> <address>:<port> [maxconn <number>]",
		"a name server, over UDP or with tcp@ over TCP"),
	KEYWORD("parse-resolv-conf", parse_system, "", "the system's name servers"),
	KEYWORD("hold", parse_hold, "{nx|refused|timeout|other|valid|obsolete} <time>",
		"how long what was known is kept after such an answer"),
	KEYWORD("timeout", parse_timeout, "{resolve|retry} <time>",
		"time between two resolutions, or two tries"),
	KEYWORD("accepted_payload_size", parse_payload, "<bytes>", "largest answer over UDP"),
	KEYWORD("resolve_retries", parse_retries, "<number>", "tries before giving up"),
	{ .words = "dns-accept-family", .where = CONF_GLOBAL, .max_args = -1,
	  .parse = parse_family, .syntax = "{ipv4|ipv6|auto}[,...]",
	  .help = "families of addresses that names may have" },
	{ 0 }
};

static struct slot *const slots[] = { &resolvers_config_slot, NULL };

const struct module mod_resolvers = {
	.name = "resolvers", .sections = sections, .keywords = keywords, .slots = slots,
	.check = check,
};
