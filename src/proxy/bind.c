/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind.c - a bind line's addresses, the states of its listeners, sets of threads */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "mux/mux.h"
#include "proxy/address.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "tls/tls.h"
#include "proxy_priv.h"

#define SLOTS_OFFSET ((sizeof(struct bind_conf) + 15) & ~(size_t)15)

struct slot_area *bind_slots(const struct bind_conf *b)
{
	return (struct slot_area *)((char *)(uintptr_t)b + SLOTS_OFFSET);
}

struct bind_conf *bind_conf_new(struct config *cfg)
{
	char *p = arena_zalloc(&cfg->arena, SLOTS_OFFSET + slot_class_size(SLOT_BIND) + 15);
	struct bind_conf *b;

	if (!p)
		return NULL;
	b = (struct bind_conf *)(((uintptr_t)p + 15) & ~(uintptr_t)15);
	list_init(&b->link);
	list_init(&b->listeners);
	b->mode = (mode_t)-1;
	b->uid = (uid_t)-1;
	b->gid = (gid_t)-1;
	b->level = BIND_LEVEL_OPERATOR;
	return slot_area_init(SLOT_BIND, bind_slots(b)) ? b : NULL;
}

static bool has_kind(const struct bind_conf *b, bool quic)
{
	const struct listener_conf *lc;

	list_for_each(lc, &b->listeners, link)
		if (lc->is_quic == quic)
			return true;
	return false;
}

bool bind_has_quic(const struct bind_conf *b)
{
	return has_kind(b, true);
}

bool bind_is_reverse(const struct bind_conf *b)
{
	return !list_is_empty(&b->listeners) &&
	       list_first(&b->listeners, struct listener_conf, link)->reverse;
}

static bool has_streams(const struct bind_conf *b)
{
	return has_kind(b, false);
}

/* --- states --------------------------------------------------------------------------------- */

static struct listener_state *listener_state_new(const struct listener_conf *lc)
{
	struct listener_state *st = calloc(1, sizeof(*st));
	char text[160];

	if (!st)
		return NULL;
	st->refs = 1;
	address_text((const struct sockaddr *)&lc->address, text, sizeof(text));
	if (asprintf(&st->identity, "%s#%d@%s", lc->bind->proxy ? lc->bind->proxy->name : "",
		     lc->id, lc->reverse ? lc->reverse : lc->inherited_fd >= 0 ? "fd" : text) < 0)
		st->identity = NULL;
	if (!st->identity || !counter_set_init(&st->counters, CNT_FRONT_COUNT))
		listener_state_drop(&st);
	return st;
}

struct listener_state *listener_state_take(struct listener_state *st)
{
	__atomic_add_fetch(&st->refs, 1, __ATOMIC_RELAXED);
	return st;
}

void listener_state_drop(struct listener_state **pst)
{
	struct listener_state *st = *pst;

	*pst = NULL;
	if (!st || __atomic_sub_fetch(&st->refs, 1, __ATOMIC_ACQ_REL))
		return;
	counter_set_fini(&st->counters);
	free(st->identity);
	free(st);
}

bool bind_make_states(struct bind_conf *b)
{
	struct listener_conf *lc;

	list_for_each(lc, &b->listeners, link) {
		if (!lc->state)
			lc->state = listener_state_new(lc);
		if (!lc->state)
			return false;
	}
	return true;
}

/* --- addresses ------------------------------------------------------------------------------ */

static bool add_listener(struct conf_line *l, struct bind_conf *b, const struct address *a,
			 int port)
{
	struct listener_conf *lc = arena_zalloc(&l->cfg->arena, sizeof(*lc));

	if (!lc)
		return conf_error(l, 0, NULL, "out of memory.");
	lc->bind = b;
	lc->address = a->addr.sa;
	lc->address_len = a->addr.len;
	lc->inherited_fd = a->fd;
	lc->is_sockpair = a->is_sockpair;
	lc->is_quic = a->is_quic;
	address_set_port((struct sockaddr *)&lc->address, port);
	list_append(&b->listeners, &lc->link);
	return true;
}

/* rhttp@: the only one of its line. */
static bool add_reverse(struct conf_line *l, struct bind_conf *b, const struct address *a,
			int word)
{
	if (!conf_experimental(l->cfg))
		return conf_error(l, word, NULL, "'bind' : Address '%s' is experimental, must be "
				  "allowed via a global 'expose-experimental-directives'",
				  l->words[word]);
	if (!list_is_empty(&b->listeners))
		return conf_error(l, word, NULL, "'bind' : Cannot mix reverse HTTP bind with "
				  "others.");
	if (!add_listener(l, b, a, 0))
		return false;
	list_first(&b->listeners, struct listener_conf, link)->reverse =
		conf_strdup(l->cfg, a->name);
	return bind_is_reverse(b) || conf_error(l, word, NULL, "out of memory.");
}

/* One address of the line, possibly a range of ports. */
static bool add_address(struct conf_line *l, struct bind_conf *b, const char *text, int word)
{
	unsigned flags = ADDRESS_RANGE | ADDRESS_FD | ADDRESS_UNIX | ADDRESS_EMPTY_IS_ANY |
			 (b->proxy ? ADDRESS_QUIC | ADDRESS_REVERSE : 0u);
	struct address a;

	if (!address_parse(text, flags, &a))
		return conf_error(l, word, NULL, "'%s' : %s", l->words[0], a.error);
	if (a.is_reverse)
		return add_reverse(l, b, &a, word);
	if (bind_is_reverse(b))
		return conf_error(l, word, NULL, "'bind' : Cannot mix reverse HTTP bind with "
				  "others.");
	if (b->proxy && a.addr.sa.ss_family == AF_UNIX &&
	    !unix_bind_add_prefix(l->cfg, &a.addr.sa))
		return conf_error(l, word, NULL, "'%s' : socket path '%s' too long behind the "
				  "prefix of 'unix-bind'", l->words[0], text);
	if (a.fd < 0 && a.addr.sa.ss_family != AF_UNIX && !a.port_low)
		return conf_error(l, word, NULL, "'%s' : missing port specification in '%s'",
				  l->words[0], text);
	for (int port = a.port_low; port <= a.port_high; port++)
		if (!add_listener(l, b, &a, port))
			return false;
	return true;
}

static bool add_addresses(struct conf_line *l, struct bind_conf *b, int word)
{
	const char *text = conf_expand(l->cfg, l->words[word]);
	char *copy = text ? conf_strdup(l->cfg, text) : NULL, *next;
	bool valid = true;

	b->text = l->words[word];
	if (!copy)
		return conf_error(l, word, NULL, "out of memory.");
	for (char *one = copy; one; one = next) {
		next = strchr(one, ',');
		if (next)
			*next++ = 0;
		valid &= add_address(l, b, one, word);
	}
	return valid;
}

/* A line for QUIC has nothing else, and TLS. */
static bool quic_line(struct conf_line *l, struct bind_conf *b, int word)
{
	if (has_streams(b))
		return conf_error(l, word, NULL,
				  "'bind %s' : cannot mix datagram and stream protocols.", b->text);
	if (!tls_bind_is_on(bind_slots(b)))
		conf_warn(l, word, NULL, "'bind %s' : QUIC protocol detected, enabling ssl. Use "
			  "'ssl' to shut this warning.", b->text);
	tls_bind_want_quic(bind_slots(b));
	if (!b->proto)
		b->proto = mux_find("quic");
	return true;
}

bool bind_conf_parse(struct conf_line *l, struct bind_conf *b)
{
	struct listener_conf *lc;
	int word = l->at;
	bool valid;

	b->file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	b->line = l->place.line;
	l->at++;
	if (b->proxy)
		unix_bind_defaults(l->cfg, b);
	valid = add_addresses(l, b, word);
	l->reverse = bind_is_reverse(b);
	valid &= conf_take_options(l, CONF_BIND, b, bind_slots(b));
	l->reverse = false;
	if (bind_has_quic(b))
		valid &= quic_line(l, b, word);
	tls_bind_line(l->cfg, bind_slots(b));
	list_for_each(lc, &b->listeners, link) {
		lc->name = b->name;
		if (b->id && lc == list_first(&b->listeners, struct listener_conf, link))
			lc->id = b->id;
	}
	return valid;
}

/* --- thread sets ---------------------------------------------------------------------------- */

/* "all", "odd", "even", "3", "2-5", "-5", "2-" into *<low>..*<high> by steps; false: malformed.
 */
static bool parse_set(const char *text, size_t len, unsigned max, unsigned range[3])
{
	char copy[32], *end;

	if (len >= sizeof(copy) || !len)
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	range[0] = 1;
	range[1] = max;
	range[2] = 1;
	if (strcmp(copy, "all") == 0)
		return true;
	if (strcmp(copy, "odd") == 0 || strcmp(copy, "even") == 0) {
		range[0] = copy[0] == 'o' ? 1 : 2;
		range[2] = 2;
		return true;
	}
	end = copy;
	if (*end != '-')
		range[0] = (unsigned)strtoul(copy, &end, 10);
	if (end == copy && *end != '-')
		return false;
	if (!*end)
		range[1] = range[0];
	else if (*end != '-')
		return false;
	else if (end[1]) {
		char *last;

		range[1] = (unsigned)strtoul(end + 1, &last, 10);
		if (*last)
			return false;
	}
	if (range[0] > range[1]) { /* "3-2" */
		unsigned first = range[1];

		range[1] = range[0];
		range[0] = first;
	}
	return range[0] >= 1 && range[1] <= max;
}

/* One element "[<group>/]<set>". */
static bool parse_threads(struct thread_mask *m, const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);
	unsigned groups[3] = { 0 }, threads[3];

	if (slash && !parse_set(text, (size_t)(slash - text), GROUPS_MAX, groups))
		return false;
	if (slash) {
		len -= (size_t)(slash + 1 - text);
		text = slash + 1;
	}
	if (!parse_set(text, len, slash ? 64 : THREADS_MAX, threads))
		return false;
	for (unsigned t = threads[0]; t <= threads[1]; t += threads[2]) {
		if (!slash)
			m->absolute[(t - 1) / 64] |= (uint64_t)1 << ((t - 1) % 64);
		for (unsigned g = groups[0]; slash && g <= groups[1]; g += groups[2])
			m->of_group[g - 1] |= (uint64_t)1 << (t - 1);
	}
	if (m->restricted && m->is_absolute != !slash)
		return false;
	m->restricted = true;
	m->is_absolute = !slash;
	return true;
}

unsigned thread_mask_groups(const struct thread_mask *m)
{
	unsigned n = 0;

	for (unsigned g = 0; g < GROUPS_MAX; g++)
		n += m->of_group[g] != 0;
	return n;
}

bool thread_mask_parse(struct thread_mask *m, const char *text, const char **error)
{
	if (strcmp(text, "all") == 0)
		return true;
	while (*text) {
		size_t len = strcspn(text, ",");

		if (!parse_threads(m, text, len)) {
			*error = "invalid thread set, expects [<group>/]{ all | odd | even | "
				"<number>[-<number>] }[,...], all absolute or all with a group";
			return false;
		}
		text += len;
		text += *text == ',';
	}
	return true;
}
