/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_names.c - peers whose addresses come from DNS: an extension
 *
 * Thread 0 resolves the name, and sends the resulting peers to the section's home whenever they
 * have changed.
 */
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include "dns/resolvers.h"
#include "net/conn.h"
#include "peers_priv.h"

struct peers_names {
	struct resolve_asker asker;
	struct peers *p;
	peers_told_fn *told;
	uint16_t port;
	unsigned count;                  /* of the last answer that was sent */
	struct addr last[PEERS_FOUND_MAX];
};

/* --- the name, on thread 0 -------------------------------------------------------------------- */

static void found_arrives(struct message *m)
{
	struct peers_found *f = container_of(m, struct peers_found, message);

	f->told(f->p, f);
}

/* False: no memory. */
static bool send_found(struct peers_names *n, bool is_anew)
{
	struct peers_found *f = calloc(1, sizeof(*f));

	if (!f)
		return false;
	f->message.run = found_arrives;
	f->told = n->told;
	f->p = n->p;
	f->is_anew = is_anew;
	f->count = n->count;
	memcpy(f->all, n->last, n->count * sizeof(n->last[0]));
	mailbox_post(n->p->home, &f->message);
	return true;
}

static int compare(const void *a, const void *b)
{
	return addr_cmp(a, b);
}

/* Lists the addresses of the answer, in order. */
static unsigned list_found(const struct peers_names *n, struct addr *all)
{
	const struct resolve_item *it;
	unsigned count = 0;

	list_for_each(it, resolution_items(n->asker.resolution), link) {
		if (it->is_obsolete || !addr_is_inet(&it->addr) || count == PEERS_FOUND_MAX)
			continue;
		all[count] = it->addr;
		all[count++].port = n->port;
	}
	qsort(all, count, sizeof(*all), compare);
	return count;
}

/* An answer that is none, or an error, says nothing of the peers that are there. */
static void names_told(struct resolve_asker *a, enum resolve_round round)
{
	struct peers_names *n = container_of(a, struct peers_names, asker);
	struct addr all[PEERS_FOUND_MAX];
	unsigned count;

	if (round != RESOLVE_TAKE || resolution_status(a->resolution) != RESOLVE_VALID)
		return;
	count = list_found(n, all);
	if (count == n->count && !memcmp(all, n->last, count * sizeof(all[0])))
		return;
	memcpy(n->last, all, count * sizeof(all[0]));
	n->count = count;
	if (!send_found(n, false))
		n->count = 0; /* with the next answer */
}

static void names_free(struct peers *p)
{
	if (!p->names)
		return;
	resolution_leave(&p->names->asker);
	free(p->names);
	p->names = NULL;
}

bool peers_names_follow(struct peers *p, const struct peers_conf *c, peers_told_fn *told)
{
	const struct server *line = c ? c->template : NULL;
	struct peers_names *n = p->names;
	enum dns_type type;

	if (!line) {
		names_free(p);
		return true;
	}
	type = line->resolve.prefer_ipv4 ? DNS_A : DNS_AAAA;
	if (n && n->port == line->at.port &&
	    resolution_is_of(n->asker.resolution, line->resolve.resolvers, line->at.hostname, type))
		return true;
	if (!n)
		n = calloc(1, sizeof(*n));
	if (!n)
		return false;
	p->names = n;
	n->p = p;
	n->told = told;
	n->port = (uint16_t)line->at.port;
	n->count = 0;
	n->asker.told = names_told;
	resolution_leave(&n->asker);
	if (!send_found(n, true) ||
	    !resolution_join(&n->asker, line->resolve.resolvers, line->at.hostname, type)) {
		names_free(p);
		return false;
	}
	return true;
}

/* --- addresses -------------------------------------------------------------------------------- */

bool peers_address(const struct peer *peer, struct server_addr *out)
{
	*out = (struct server_addr){ .len = 0 };
	if (peer->found.family != ADDR_NONE) {
		out->len = addr_to_sockaddr(&peer->found, &out->sa);
	} else if (peer->srv->at.sa) {
		out->len = peer->srv->at.len;
		memcpy(&out->sa, peer->srv->at.sa, out->len);
	}
	return out->len > 0;
}

/* Has a network interface of this machine the address? */
static bool is_here(const struct addr *a)
{
	struct ifaddrs *list, *i;
	bool found = false;

	if (getifaddrs(&list) < 0)
		return false;
	for (i = list; i && !found; i = i->ifa_next) {
		struct addr own = { .family = ADDR_NONE };

		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET)
			own = addr_from_sockaddr(i->ifa_addr, sizeof(struct sockaddr_in));
		else if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET6)
			own = addr_from_sockaddr(i->ifa_addr, sizeof(struct sockaddr_in6));
		own.scope = a->scope;
		found = addr_is_inet(&own) && addr_eq_ip(&own, a);
	}
	freeifaddrs(list);
	return found;
}

static struct addr listen_address(const struct peers_conf *c)
{
	const struct listener_conf *a = peers_listens_at(c);

	return a ? addr_from_sockaddr(&a->address, a->address_len)
		 : (struct addr){ .family = ADDR_NONE };
}

bool peers_is_own(const struct peers_conf *c, const struct addr *a)
{
	struct addr own = listen_address(c);

	if (own.port != a->port)
		return false;
	return addr_is_any(&own) ? is_here(a) : addr_eq_ip(&own, a);
}

void peers_own_name(const struct peers_link *l, char *out)
{
	struct addr own = listen_address(l->section->conf), at;

	if (addr_is_any(&own)) {
		at = conn_address(l->conn, false);
		at = addr_unmapped(&at);
		at.port = own.port;
		own = at;
	}
	addr_put(&own, out, ADDR_MAX);
}
