/* SPDX-License-Identifier: GPL-2.0-or-later */
/* items.c - the records of a name, merged from its latest answers
 *
 * A server may give only some of the addresses in each answer: an address is kept for `hold
 * obsolete` after the last answer that contained it.
 */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "dns_priv.h"

static bool is_same(const struct resolve_item *it, const struct dns_record *rec)
{
	if (it->type != rec->type)
		return false;
	if (rec->type == DNS_TXT)
		return strcmp(it->name, rec->name) == 0;
	if (rec->type == DNS_SRV)
		return it->port == rec->port && strcmp(it->name, rec->name) == 0;
	return addr_eq_ip(&it->addr, &rec->addr);
}

static struct resolve_item *item_find(const struct resolution *r, const struct dns_record *rec)
{
	struct resolve_item *it;

	list_for_each(it, &r->items, link)
		if (is_same(it, rec))
			return it;
	return NULL;
}

static struct resolve_item *item_new(struct resolution *r, const struct dns_record *rec)
{
	const char *name = rec->type == DNS_SRV || rec->type == DNS_TXT ? rec->name : "";
	struct resolve_item *it;

	if (r->item_count >= ITEMS_MAX)
		return NULL;
	it = calloc(1, sizeof(*it) + strlen(name) + 1);
	if (!it)
		return NULL;
	it->type = rec->type;
	it->port = rec->port;
	it->addr = rec->addr;
	memcpy(it->name, name, strlen(name) + 1);
	list_append(&r->items, &it->link);
	r->item_count++;
	return it;
}

/* The address that the answer gives besides, of a family that is accepted; IPv6 if there is. */
static void take_additional(const struct resolution *r, struct resolve_item *it,
			    const struct dns_answer *answer)
{
	for (const struct dns_record *a = answer->additional; a; a = a->next) {
		bool v6 = a->type == DNS_AAAA;

		if (strcmp(a->name, it->name) != 0 || !family_is_accepted(&r->state->set, v6))
			continue;
		if (it->addr.family == ADDR_NONE || v6)
			it->addr = a->addr;
		if (v6)
			return;
	}
}

/* "." says that the service does not exist here (RFC 2782). */
static bool is_wanted(const struct dns_record *rec)
{
	return rec->type != DNS_SRV || (dns_name_is_valid(slice_of(rec->name)) && rec->port);
}

void items_merge(struct resolution *r, const struct dns_answer *answer)
{
	uint64_t now = clock_now_ms();
	struct resolve_item *it;

	for (const struct dns_record *rec = answer->records; rec; rec = rec->next) {
		it = is_wanted(rec) ? item_find(r, rec) : NULL;
		if (!it && is_wanted(rec))
			it = item_new(r, rec);
		if (!it)
			continue;
		it->seen_ms = now;
		it->weight = rec->weight;
		if (it->type == DNS_SRV) {
			it->addr = (struct addr){ .family = ADDR_NONE };
			take_additional(r, it, answer);
		}
	}
	list_for_each(it, &r->items, link)
		it->is_obsolete = it->seen_ms != now &&
			it->seen_ms + (uint64_t)r->state->set.hold_obsolete_ms <= now;
}

void items_sweep(struct resolution *r)
{
	struct resolve_item *it, *next;

	list_for_each_safe(it, next, &r->items, link) {
		if (!it->is_obsolete)
			continue;
		list_remove(&it->link);
		free(it);
		r->item_count--;
	}
}
