/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_socket.c - edge file: stats socket, stats timeout, stats maxconn
 *
 * A line has the address and options of a bind line; each address becomes a socket of the
 * Runtime API.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/addr.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "front/listen.h"
#include "net/ctl_socket.h"
#include "net/handoff.h"
#include "net/netns.h"
#include "net/socket.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "generation_priv.h"
#include "settings_priv.h"

#define BACKLOG 10

/* One address of a line, in the generation's arena. */
struct stats_socket {
	struct list link;           /* of the generation */
	struct bind_conf *bind;
	struct listener_conf *address;
	struct ctl_socket *opened;  /* owned; NULL before the start */
};

static bool sockets_init(void *data)
{
	list_init(data);
	return true;
}

static void sockets_fini(void *data)
{
	struct list *sockets = data;
	struct stats_socket *s;

	list_for_each(s, sockets, link)
		ctl_socket_free(&s->opened);
}

static struct slot sockets_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct list), .init = sockets_init, .fini = sockets_fini,
};
static struct slot *const slots[] = { &sockets_slot, NULL };

/* List of struct stats_socket. */
static struct list *sockets_of(const struct config *cfg)
{
	return slot_of(&sockets_slot, config_slots(cfg));
}

unsigned stats_sockets_count(const struct config *cfg)
{
	struct stats_socket *s;
	unsigned n = 0;

	list_for_each(s, sockets_of(cfg), link)
		n++;
	return n;
}

/* --- keywords -------------------------------------------------------------------------------- */

/* Options of bind lines that mean nothing here, or would be lost in silence. */
static bool refuse_options(struct conf_line *l, const struct bind_conf *b)
{
	if (b->options & (BIND_ACCEPT_PROXY | BIND_ACCEPT_CIP))
		return conf_error(l, 0, NULL, "'stats socket' : PROXY and NetScaler headers are "
				  "not supported on these sockets.");
	return true;
}

static bool add_socket(struct conf_line *l, struct bind_conf *b, struct listener_conf *address)
{
	struct stats_socket *s = arena_zalloc(&l->cfg->arena, sizeof(*s));

	if (!s)
		return conf_error(l, 0, NULL, "'stats socket' : out of memory trying to allocate a "
				  "frontend");
	s->bind = b;
	s->address = address;
	list_append(sockets_of(l->cfg), &s->link);
	return true;
}

static bool parse_socket(struct conf_line *l)
{
	struct bind_conf *b;
	struct listener_conf *address;
	bool good;

	if (!conf_peek(l))
		return conf_error(l, 1, NULL, "'stats socket' in section 'global' expects an "
				  "address or a path to a UNIX socket.");
	b = bind_conf_new(l->cfg);
	if (!b)
		return conf_error(l, 0, NULL, "out of memory.");
	proxies_reserve_first_id(l->cfg);
	good = bind_conf_parse(l, b) && refuse_options(l, b);
	list_for_each(address, &b->listeners, link)
		good = add_socket(l, b, address) && good;
	return good;
}

static bool parse_timeout(struct conf_line *l)
{
	int64_t ms;

	if (!conf_take_time_ms(l, &ms))
		return false;
	if (!ms)
		return conf_error(l, l->at - 1, NULL, "'stats timeout' in section 'global' expects "
				  "a positive value.");
	settings_of(l->cfg)->stats_timeout_ms = ms;
	return true;
}

static bool parse_maxconn(struct conf_line *l)
{
	int64_t n;

	if (!conf_take_int(l, 1, INT32_MAX, &n))
		return false;
	settings_of(l->cfg)->stats_maxconn = (int)n;
	return true;
}

static const struct conf_keyword keywords[] = {
	{ .words = "stats socket", .where = CONF_GLOBAL, .max_args = -1, .parse = parse_socket,
	  .syntax = "<address> [options]*", .help = "a socket for the Runtime API" },
	{ .words = "stats timeout", .where = CONF_GLOBAL, .max_args = 1, .parse = parse_timeout,
	  .syntax = "<time>", .help = "longest silence on a socket of the Runtime API" },
	{ .words = "stats maxconn", .where = CONF_GLOBAL, .max_args = 1, .parse = parse_maxconn,
	  .syntax = "<number>", .help = "most connections to the Runtime API" },
	{ 0 }
};

/* --- sockets --------------------------------------------------------------------------------- */

static enum ctl_level level_of(const struct bind_conf *b)
{
	switch (b->level) {
	case BIND_LEVEL_USER:
		return CTL_USER;
	case BIND_LEVEL_ADMIN:
		return CTL_ADMIN;
	default:
		return CTL_OPERATOR;
	}
}

static void fill_settings(const struct stats_socket *s, struct socket_settings *set)
{
	const struct bind_conf *b = s->bind;

	*set = (struct socket_settings){
		.options = b->options & BIND_V6ONLY ? SOCKET_V6ONLY
			   : b->options & BIND_V4V6 ? SOCKET_V4V6 : 0,
		.backlog = b->backlog ? (int)b->backlog : BACKLOG, .interface = b->interface,
		.netns = b->netns, .mode = b->mode, .uid = b->uid, .gid = b->gid,
	};
}

/* A copy of the descriptor that <prev> listens on in the same way; -1: none. */
static int share_descriptor(const struct stats_socket *s, const struct config *prev)
{
	struct socket_settings mine, its;
	struct stats_socket *was;

	fill_settings(s, &mine);
	list_for_each(was, sockets_of(prev), link) {
		const struct listener_conf *a = s->address, *b = was->address;

		fill_settings(was, &its);
		if (was->opened && a->inherited_fd == b->inherited_fd &&
		    a->address_len == b->address_len &&
		    memcmp(&a->address, &b->address, a->address_len) == 0 &&
		    socket_settings_are_equal(&mine, &its))
			return ctl_socket_dup(was->opened);
	}
	return -1;
}

static int open_descriptor(const struct stats_socket *s, const struct config *prev, char *error,
			   size_t size)
{
	int fd = s->address->inherited_fd;
	struct socket_settings set;

	if (fd >= 0)
		return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	fd = prev ? share_descriptor(s, prev) : -1;
	if (fd >= 0)
		return fd;
	fill_settings(s, &set);
	return socket_listen(&s->address->address, s->address->address_len, &set, error, size);
}

bool stats_sockets_open(struct config *cfg, const struct config *prev, struct diag_list *diags)
{
	struct stats_socket *s;
	bool good = true;

	list_for_each(s, sockets_of(cfg), link) {
		char error[256] = "out of resources";
		int fd = s->opened ? -1 : open_descriptor(s, prev, error, sizeof(error));

		if (fd >= 0)
			s->opened = ctl_socket_new(fd, level_of(s->bind), s->bind->severity_output);
		if (s->opened && s->bind->options & BIND_EXPOSE_FD)
			ctl_socket_set_exposing(s->opened);
		if (s->opened)
			continue;
		if (fd >= 0)
			close(fd);
		good = listen_report(diags, s->address, error);
	}
	return good;
}

unsigned stats_sockets_collect(const struct config *cfg, int *sockets,
			       struct socket_origin *origins, unsigned max)
{
	struct stats_socket *s;
	unsigned n = 0;

	list_for_each(s, sockets_of(cfg), link) {
		if (!s->opened || ctl_socket_fd(s->opened) < 0)
			continue;
		if (n < max) {
			sockets[n] = ctl_socket_fd(s->opened);
			origins[n].netns = netns_name(s->bind->netns);
			origins[n].interface = s->bind->interface;
		}
		n++;
	}
	return n < max || !max ? n : max;
}

int stats_socket_listen(const struct config *cfg, unsigned n, enum ctl_level *level, char *error,
			size_t size)
{
	struct stats_socket *s;

	list_for_each(s, sockets_of(cfg), link) {
		if (n--)
			continue;
		*level = level_of(s->bind);
		return open_descriptor(s, NULL, error, size);
	}
	snprintf(error, size, "no address");
	return -1;
}

int stats_socket_open_named(const struct config *cfg, const struct sockaddr_storage *addr,
			    socklen_t len, char *error, size_t size)
{
	struct stats_socket *s;

	list_for_each(s, sockets_of(cfg), link)
		if (s->address->inherited_fd < 0 && s->address->address_len == len &&
		    memcmp(&s->address->address, addr, len) == 0)
			return open_descriptor(s, NULL, error, size);
	*error = '\0';
	return -1;
}

const char *stats_socket_path(const struct config *cfg, unsigned n)
{
	struct stats_socket *s;

	list_for_each(s, sockets_of(cfg), link)
		if (!n--)
			return s->address->address.ss_family == AF_UNIX
				? ((const struct sockaddr_un *)&s->address->address)->sun_path : "";
	return NULL;
}

/* --- show cli sockets ------------------------------------------------------------------------- */

static void put_socket(struct strbuf *out, const struct stats_socket *s)
{
	static const char *const levels[] = {
		[CTL_USER] = "user", [CTL_OPERATOR] = "operator", [CTL_ADMIN] = "admin",
	};
	const struct sockaddr_un *un = (const struct sockaddr_un *)&s->address->address;
	struct addr a = addr_from_sockaddr(&s->address->address, s->address->address_len);
	char ip[ADDR_IP_MAX];

	if (addr_is_inet(&a)) {
		addr_put_ip(&a, ip, sizeof(ip));
		strbuf_printf(out, a.family == ADDR_INET ? "ipv4@%s:%u" : "ipv6@[%s]:%u", ip,
			      a.port);
	} else if (s->address->inherited_fd >= 0) {
		strbuf_printf(out, "sockpair@%d", s->address->inherited_fd);
	} else {
		strbuf_printf(out, "%s@%.107s", un->sun_path[0] ? "unix" : "abns",
			      un->sun_path + !un->sun_path[0]);
	}
	strbuf_printf(out, " %s all\n", levels[level_of(s->bind)]);
}

/* The master has none of these. */
static enum ctl_step show_sockets(struct ctl_request *rq)
{
	const struct config *cfg = generation_current(); /* once: a reload may change it */
	struct stats_socket *s;

	if (!cfg)
		return CTL_DONE;
	strbuf_add_str(rq->out, "# socket lvl processes\n");
	list_for_each(s, sockets_of(cfg), link)
		put_socket(rq->out, s);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show cli sockets", .flags = CTL_ANYWHERE, .run = show_sockets,
	  .help = "list the sockets of the Runtime API" },
	{ 0 }
};

/* --- life ------------------------------------------------------------------------------------- */

void stats_sockets_start_thread(struct config *cfg)
{
	struct stats_socket *s;

	list_for_each(s, sockets_of(cfg), link)
		if (s->opened)
			ctl_socket_start_thread(s->opened);
}

void stats_sockets_pause(struct config *cfg, bool on)
{
	struct stats_socket *s;

	list_for_each(s, sockets_of(cfg), link)
		if (s->opened)
			ctl_socket_pause(s->opened, on);
}

void stats_sockets_look_again(struct config *cfg)
{
	struct stats_socket *s;

	list_for_each(s, sockets_of(cfg), link)
		if (s->opened)
			ctl_socket_look_again(s->opened);
}

void stats_sockets_close(struct config *cfg, bool drain)
{
	struct stats_socket *s;

	list_for_each(s, sockets_of(cfg), link)
		if (s->opened)
			ctl_socket_close(s->opened, drain);
}

const struct module mod_stats_socket = {
	.name = "stats-socket", .keywords = keywords, .commands = commands, .slots = slots,
	.thread_init = ctl_socket_thread_init, .thread_fini = ctl_socket_thread_fini,
};
