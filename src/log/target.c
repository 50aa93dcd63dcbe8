/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.c - log targets: their names, their lists, and their parsing */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/door.h"
#include "base/num.h"
#include "log_priv.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

static const char *const level_names[] = { "emerg", "alert", "crit", "err", "warning", "notice",
					   "info", "debug" };
static const char *const facility_names[] = {
	"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "auth2",
	"ftp", "ntp", "audit", "alert", "cron2", "local0", "local1", "local2", "local3", "local4",
	"local5", "local6", "local7",
};

static int name_find(const char *const *names, unsigned count, struct slice name)
{
	for (unsigned i = 0; i < count; i++)
		if (name.len && slice_eq(name, slice_of(names[i])))
			return (int)i;
	return -1;
}

int log_level_find(struct slice name)
{
	return name_find(level_names, ARRAY_LEN(level_names), name);
}

const char *log_level_name(enum log_level level)
{
	return level < ARRAY_LEN(level_names) ? level_names[level] : "";
}

int log_facility_find(struct slice name)
{
	return name_find(facility_names, ARRAY_LEN(facility_names), name);
}

/* --- lists -------------------------------------------------------------------------------- */

void log_target_drop(struct log_target *t)
{
	if (!t || --t->refs)
		return;
	log_file_drop(t->file);
	free(t->ranges);
	free(t);
}

/* Appends, taking over the caller's reference. False: no memory (the reference is dropped). */
static bool log_targets_add(struct log_targets **list, struct log_target *t)
{
	unsigned count = *list ? (*list)->count : 0;
	struct log_targets *bigger = realloc(*list, sizeof(*bigger) +
					     (count + 1) * sizeof(bigger->list[0]));

	if (!bigger) {
		log_target_drop(t);
		return false;
	}
	bigger->list[count] = t;
	bigger->count = count + 1;
	*list = bigger;
	return true;
}

void log_targets_free(struct log_targets **list)
{
	for (unsigned i = 0; *list && i < (*list)->count; i++)
		log_target_drop((*list)->list[i]);
	free(*list);
	*list = NULL;
}

static void settings_fini(void *data)
{
	log_targets_free(&((struct log_settings *)data)->targets);
}

/* Targets are shared with the `defaults` section, the list is not. */
static bool settings_inherit(void *data, const void *from)
{
	struct log_settings *to = data;
	const struct log_settings *defaults = from;

	log_targets_free(&to->targets);
	*to = *defaults;
	to->targets = NULL;
	for (unsigned i = 0; defaults->targets && i < defaults->targets->count; i++) {
		struct log_target *t = defaults->targets->list[i];

		t->refs++;
		if (!log_targets_add(&to->targets, t))
			return false;
	}
	return true;
}

struct slot log_config_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct log_settings), .fini = settings_fini,
};
struct slot log_proxy_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct log_settings), .fini = settings_fini,
	.inherit = settings_inherit,
};

/* --- targets ------------------------------------------------------------------------------ */

static bool resolve(struct slice name, uint8_t family, struct addr *out, void *ctx)
{
	int wanted = family == ADDR_INET ? AF_INET : family == ADDR_INET6 ? AF_INET6 : AF_UNSPEC;
	char *text = slice_dup(name);
	struct sockaddr_storage found;
	socklen_t len;
	bool ok = text && door_host(text, wanted, &found, &len);

	free(text);
	if (!ok)
		return false;
	*out = addr_from_sockaddr(&found, len);
	return out->family != ADDR_NONE;
}

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static log_stream_fn *streams;

void log_set_streams(log_stream_fn *fn)
{
	streams = fn;
}

/* Over a connection: through a ring of its own. */
static bool take_stream(struct conf_line *l, const char *text, const struct addr_spec *spec,
			struct log_target *t)
{
	const char *ring;

	if (spec->mptcp)
		return conf_error(l, l->at, NULL, "log : '%s': MPTCP is not built", text);
	if (!addr_spec_to_any(spec, spec->port ? spec->port : 514, &t->addr))
		return conf_error(l, l->at, NULL, "log : '%s' is no address that logs can be sent "
				  "to", text);
	ring = streams ? streams(l, &t->addr) : NULL;
	t->is_named = true;
	return ring ? log_outlet_want(l, t, false, ring)
		    : conf_error(l, l->at, NULL, "log : no ring could be made for '%s'", text);
}

/* "journal", or "journal@" with the path of its socket. */
static bool take_journal(struct conf_line *l, const char *path, struct log_target *t)
{
	struct addr_spec spec;
	struct addr_parse ap = { .options = ADDR_OPT_DGRAM | ADDR_OPT_DEFAULT_DGRAM };

	if (*path != '/')
		return conf_error(l, l->at, "journal, journal@/run/systemd/journal/socket",
				  "log : 'journal@' expects the path of a socket");
	if (!addr_parse(&ap, slice_of(path), &spec))
		return conf_error(l, l->at, NULL, "log : %s", ap.error);
	t->is_journal = true;
	t->len = LOG_LEN_MAX;
	return addr_spec_to_any(&spec, 0, &t->addr);
}

static bool parse_address(struct conf_line *l, const char *text, struct log_target *t)
{
	static const struct addr_resolver resolver = { .run = resolve };
	struct addr_parse ap = {
		.options = ADDR_OPT_PORT | ADDR_OPT_DGRAM | ADDR_OPT_STREAM |
			   ADDR_OPT_DEFAULT_DGRAM | ADDR_OPT_FD,
		.resolver = &resolver,
	};
	struct addr_spec spec;

	t->fd = -1;
	if (strcmp(text, "stdout") == 0 || strcmp(text, "stderr") == 0) {
		t->fd = text[3] == 'o' ? 1 : 2;
		return true;
	}
	if (starts_with(text, "ring@") || starts_with(text, "backend@")) {
		t->is_named = true;
		return log_outlet_want(l, t, *text == 'b', strchr(text, '@') + 1);
	}
	if (starts_with(text, "file@")) {
		t->len = LOG_LEN_MAX;
		t->format = SYSLOG_RAW;
		return log_outlet_want_file(l, t, strchr(text, '@') + 1);
	}
	if (strcmp(text, "journal") == 0)
		return take_journal(l, JOURNAL_SOCKET, t);
	if (starts_with(text, "journal@"))
		return take_journal(l, strchr(text, '@') + 1, t);
	if (!addr_parse(&ap, slice_of(text), &spec))
		return conf_error(l, l->at, NULL, "log : %s", ap.error);
	if (spec.kind == ADDR_KIND_FD) {
		t->fd = spec.fd;
		return true;
	}
	if (!spec.dgram)
		return take_stream(l, text, &spec, t);
	if (addr_spec_to_any(&spec, spec.port ? spec.port : 514, &t->addr))
		return true;
	return conf_error(l, l->at, NULL, "log : '%s' is no address that logs can be sent to",
			  text);
}

static bool parse_length(struct conf_line *l, struct log_target *t)
{
	const char *text = conf_peek(l) ? conf_peek(l) : "";
	int64_t len;

	if (!num_parse_range(slice_of(text), LOG_LEN_MIN, LOG_LEN_MAX, &len))
		return conf_error(l, l->at, NULL,
				  "log : invalid log length '%s', must be between %d "
				  "and %d",
				  text, LOG_LEN_MIN, LOG_LEN_MAX);
	t->len = (unsigned)len;
	l->at++;
	return true;
}

static bool parse_format(struct conf_line *l, struct log_target *t)
{
	const char *text = conf_peek(l) ? conf_peek(l) : "";
	enum syslog_format format = syslog_format_find(slice_of(text));

	if (t->is_journal)
		return conf_error(l, l->at - 1, NULL, "log : the journal has fields instead of a "
				  "header: 'format' means nothing there");
	if (format == SYSLOG_FORMATS)
		return conf_error(l, l->at,
				  "local, rfc3164, rfc5424, priority, short, timed, iso, raw",
				  "log : unknown log format '%s'", text);
	t->format = format;
	l->at++;
	return true;
}

/* One "3" or "2-4"; *highest follows. */
static bool parse_range(struct conf_line *l, struct log_target *t, struct slice text,
			unsigned *highest)
{
	size_t dash = slice_find_char(text, 0, '-');
	struct slice low = dash == SIZE_MAX ? text : slice_sub(text, 0, dash);
	struct slice high = dash == SIZE_MAX ? text : slice_sub(text, dash + 1, text.len);
	struct log_range *bigger;
	int64_t a, b;

	if (!num_parse_range(low, 1, UINT32_MAX, &a) || !num_parse_range(high, 1, UINT32_MAX, &b) ||
	    b < a)
		return conf_error(l, l->at, NULL, "log : wrong sample range '%.*s'",
				  SLICE_FMT(text));
	for (unsigned i = 0; i < t->range_count; i++)
		if (a <= t->ranges[i].high && b >= t->ranges[i].low)
			return conf_error(l, l->at, NULL, "log : ranges are overlapping");
	bigger = realloc(t->ranges, (t->range_count + 1) * sizeof(*bigger));
	if (!bigger)
		return conf_error(l, l->at, NULL, "log : out of memory");
	t->ranges = bigger;
	t->ranges[t->range_count++] = (struct log_range){ (unsigned)a, (unsigned)b };
	if (b > *highest)
		*highest = (unsigned)b;
	return true;
}

/* "<range>[,<range>...]:<size>" */
static bool parse_sample(struct conf_line *l, struct log_target *t)
{
	struct slice text = slice_of(conf_peek(l) ? conf_peek(l) : "");
	size_t colon = slice_find_char(text, 0, ':'), at = 0;
	unsigned highest = 0;
	int64_t size;

	if (colon == SIZE_MAX)
		return conf_error(l, l->at, NULL, "log : Missing sample size");
	while (at <= colon) {
		size_t comma = slice_find_char(text, at, ',');

		if (comma > colon)
			comma = colon;
		if (!parse_range(l, t, slice_sub(text, at, comma), &highest))
			return false;
		at = comma + 1;
	}
	if (!num_parse_range(slice_sub(text, colon + 1, text.len), 1, UINT32_MAX, &size))
		return conf_error(l, l->at, NULL, "log : wrong sample size '%s'",
				  text.ptr + colon + 1);
	if (size < highest)
		return conf_error(l, l->at, NULL,
				  "log : sample size %u should be greater or equal to "
				  "%u the maximum of the high ranges limits",
				  (unsigned)size, highest);
	t->sample_size = (unsigned)size;
	l->at++;
	return true;
}

static bool parse_profile(struct conf_line *l, struct log_target *t)
{
	const char *name = conf_next(l);

	if (!name || !*name)
		return conf_error(l, l->at, NULL, "log : missing name of the profile");
	return log_profile_want(l, t, name);
}

/* rotate {<size> | hourly | daily | weekly} */
static bool parse_rotate(struct conf_line *l, struct log_target *t)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} periods[] = { { "hourly", 3600 }, { "daily", 86400 }, { "weekly", 7 * 86400 } };
	const char *word = conf_peek(l);

	if (!t->path)
		return conf_error(l, l->at - 1, "file@<path>", "log : only files can be rotated");
	t->rotation.keep = t->rotation.keep ? t->rotation.keep : LOG_KEEP_DEFAULT;
	for (unsigned i = 0; word && i < ARRAY_LEN(periods); i++) {
		if (strcmp(word, periods[i].name) != 0)
			continue;
		t->rotation.period_s = periods[i].seconds;
		l->at++;
		return true;
	}
	return conf_take_size(l, &t->rotation.bytes) &&
	       (t->rotation.bytes || conf_error(l, l->at - 1, "10m, hourly, daily, weekly",
						"log : 'rotate' expects a size or a period"));
}

static bool parse_keep(struct conf_line *l, struct log_target *t)
{
	int64_t n = 0;

	if (!t->path)
		return conf_error(l, l->at - 1, "file@<path>", "log : only files can be rotated");
	if (!conf_take_int(l, 0, LOG_KEEP_MAX, &n))
		return false;
	t->rotation.keep = (unsigned)n;
	return true;
}

/* len, format, sample and profile, rotate and keep: in this order, each at most once. */
static bool parse_options(struct conf_line *l, struct log_target *t)
{
	static const struct {
		const char *name;
		bool (*parse)(struct conf_line *l, struct log_target *t);
	} options[] = { { "len", parse_length }, { "format", parse_format },
			{ "sample", parse_sample }, { "profile", parse_profile },
			{ "rotate", parse_rotate }, { "keep", parse_keep } };

	for (unsigned i = 0; i < ARRAY_LEN(options); i++) {
		if (!conf_peek(l) || strcmp(conf_peek(l), options[i].name) != 0)
			continue;
		l->at++;
		if (!options[i].parse(l, t))
			return false;
	}
	return true;
}

static bool parse_level(struct conf_line *l, const char *what, enum log_level *out)
{
	const char *text = conf_next(l);
	int level;

	if (!text)
		return true;
	level = log_level_find(slice_of(text));
	if (level < 0)
		return conf_error(l, l->at - 1,
				  "emerg, alert, crit, err, warning, notice, info, debug",
				  "log : unknown optional %s '%s'", what, text);
	*out = (enum log_level)level;
	return true;
}

static bool parse_facility(struct conf_line *l, struct log_target *t)
{
	const char *text = conf_next(l);

	if (!text)
		return conf_error(l, l->at - 1, NULL,
				  "log : expects <address> and <facility>  as arguments");
	t->facility = log_facility_find(slice_of(text));
	if (t->facility < 0)
		return conf_error(l, l->at - 1, NULL, "log : unknown log facility '%s'", text);
	if (!parse_level(l, "log level", &t->max_level) ||
	    !parse_level(l, "minimum log level", &t->min_level))
		return false;
	if (conf_peek(l))
		return conf_error(l, l->at, NULL, "log : cannot handle unexpected argument '%s'",
				  conf_peek(l));
	return true;
}

bool log_target_parse(struct conf_line *l, struct log_targets **targets)
{
	const char *address = conf_peek(l);
	struct log_target *t = calloc(1, sizeof(*t));
	bool ok;

	if (!t)
		return conf_error(l, l->at, NULL, "log : out of memory");
	*t = (struct log_target){ .refs = 1, .fd = -1, .len = LOG_LEN_DEFAULT,
				  .max_level = LOG_LVL_DEBUG, .min_level = LOG_LVL_EMERG };
	if (!address || l->at + 1 >= l->count) {
		log_target_drop(t);
		return conf_error(l, l->at, NULL,
				  "log : expects <address> and <facility>  as arguments");
	}
	address = conf_expand(l->cfg, address);
	ok = address ? parse_address(l, address, t) : conf_error(l, l->at, NULL, "out of memory");
	if (ok) {
		l->at++;
		ok = parse_options(l, t) && parse_facility(l, t);
	}
	if (!ok) {
		log_target_drop(t);
		return false;
	}
	return log_targets_add(targets, t) || conf_error(l, l->at, NULL, "log : out of memory");
}

bool log_line_parse(struct conf_line *l)
{
	struct log_settings *s = slot_of(l->where == CONF_GLOBAL ? &log_config_slot
								 : &log_proxy_slot, l->slots);

	if (l->no) {
		if (conf_peek(l))
			return conf_error(l, l->at, NULL,
					  "log : 'no log' does not expect arguments");
		log_targets_free(&s->targets);
		s->use_global = false;
		return true;
	}
	if (conf_peek(l) && strcmp(conf_peek(l), "global") == 0 && l->at + 1 == l->count) {
		if (l->where == CONF_GLOBAL)
			return conf_error(l, l->at, NULL,
					  "log : 'global' is not supported for a global "
					  "syslog server");
		l->at++;
		s->use_global = true;
		return true;
	}
	return log_target_parse(l, &s->targets);
}
