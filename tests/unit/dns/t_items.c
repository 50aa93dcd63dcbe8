/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_items.c - what is known under a name, from one answer to the next */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "dns_priv.h"
#include "tap.h"

#define START_NS (100 * NS_PER_SEC)

static struct resolvers_state state = {
	.set = { .hold_obsolete_ms = 2000, .accept = { true, true } },
};
static struct resolution *r;

static void begin(void)
{
	r = calloc(1, sizeof(*r) + 8);
	if (!r)
		abort();
	r->state = &state;
	list_init(&r->items);
	list_init(&r->askers);
	clock_thread_now_ns = START_NS;
}

static void end(void)
{
	struct resolve_item *it;

	list_for_each(it, &r->items, link)
		it->is_obsolete = true;
	items_sweep(r);
	is_int(r->item_count, 0, "all is swept");
	free(r);
}

static struct dns_record address(const char *text)
{
	struct dns_record rec = { .type = strchr(text, ':') ? DNS_AAAA : DNS_A };

	if (!addr_parse_ip(slice_of(text), strchr(text, ':') ? ADDR_INET6 : ADDR_INET, &rec.addr))
		abort();
	return rec;
}

static struct dns_record service(const char *target, uint16_t port, uint16_t weight)
{
	return (struct dns_record){ .type = DNS_SRV, .name = target, .port = port,
				    .weight = weight };
}

/* An answer of <count> records, and of <more> besides; then what is given up is swept. */
static void answer(struct dns_record *records, unsigned count, struct dns_record *more,
		   unsigned more_count)
{
	struct dns_answer a = { .status = DNS_VALID, .records = count ? records : NULL,
				.additional = more_count ? more : NULL };

	for (unsigned i = 0; i < count; i++)
		records[i].next = i + 1 < count ? &records[i + 1] : NULL;
	for (unsigned i = 0; i + 1 < more_count; i++)
		more[i].next = &more[i + 1];
	items_merge(r, &a);
	items_sweep(r);
}

static struct resolve_item *item(unsigned n)
{
	struct resolve_item *it;

	list_for_each(it, &r->items, link)
		if (!n--)
			return it;
	return NULL;
}

static void test_addresses(void)
{
	struct dns_record two[] = { address("10.0.0.1"), address("10.0.0.2") };
	struct dns_record other[] = { address("10.0.0.3") };

	begin();
	answer(two, 2, NULL, 0);
	is_int(r->item_count, 2, "two addresses");
	ok(addr_eq_ip(&item(0)->addr, &two[0].addr), "in the order of the answer");
	answer(two, 2, NULL, 0);
	is_int(r->item_count, 2, "are known already the second time");
	clock_thread_now_ns += NS_PER_SEC;
	answer(other, 1, NULL, 0);
	is_int(r->item_count, 3, "a part of them in an answer: the others are kept");
	clock_thread_now_ns += NS_PER_SEC;
	answer(other, 1, NULL, 0);
	is_int(r->item_count, 1, "for `hold obsolete`");
	ok(addr_eq_ip(&item(0)->addr, &other[0].addr), "what is in the answers stays");
	answer(two, 1, NULL, 0);
	is_int(r->item_count, 2, "one that was given up may come again");
	end();
}

static void test_families(void)
{
	struct dns_record both[] = { address("10.0.0.1"), address("::1") };

	begin();
	answer(both, 2, NULL, 0);
	is_int(r->item_count, 2, "both families are two addresses");
	ok(item(0)->type == DNS_A && item(1)->type == DNS_AAAA, "each of its type");
	end();
}

static void test_services(void)
{
	struct dns_record list[] = { service("a.ex", 80, 1), service("a.ex", 81, 2),
				     service("b.ex", 80, 3), service("", 80, 4),
				     service("c.ex", 0, 5) };
	struct dns_record more[] = { address("10.0.0.1"), address("::1"), address("10.0.0.2") };
	struct dns_record again[] = { service("a.ex", 80, 9) };

	begin();
	more[0].name = more[1].name = "a.ex";
	more[2].name = "x.ex";
	answer(list, ARRAY_LEN(list), more, ARRAY_LEN(more));
	is_int(r->item_count, 3, "a service is a target and a port: \".\" and port 0 are none");
	is_str(item(0)->name, "a.ex", "its target");
	ok(item(0)->port == 80 && item(1)->port == 81, "its port");
	ok(addr_eq_ip(&item(0)->addr, &more[1].addr), "its address: IPv6 rather than IPv4");
	is_int(item(2)->addr.family, ADDR_NONE, "no address of another target");
	state.set.accept[1] = false;
	answer(list, 1, more, ARRAY_LEN(more));
	ok(addr_eq_ip(&item(0)->addr, &more[0].addr), "of a family that is accepted");
	state.set.accept[1] = true;
	answer(again, 1, NULL, 0);
	is_int(item(0)->weight, 9, "a weight that changes");
	is_int(item(0)->addr.family, ADDR_NONE, "an address that is not told any more is gone");
	end();
}

static void test_many(void)
{
	static struct dns_record list[ITEMS_MAX + 5];

	begin();
	for (unsigned i = 0; i < ARRAY_LEN(list); i++)
		list[i] = service("a.ex", (uint16_t)(i + 1), 1);
	answer(list, ARRAY_LEN(list), NULL, 0);
	is_int(r->item_count, ITEMS_MAX, "there is a bound");
	end();
}

int main(void)
{
	test_addresses();
	test_families();
	test_services();
	test_many();
	return done_testing();
}
