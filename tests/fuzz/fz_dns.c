/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fz_dns.c - fuzzes the reading of DNS answers
 *
 * The first byte chooses what was asked; the identifier is made to fit. What is kept is within
 * bounds, of the type that was asked, and read again the same; what is wrong leaves nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "codec/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static unsigned check_records(const struct dns_record *r, enum dns_type asked)
{
	unsigned count = 0;

	for (; r; r = r->next, count++) {
		expect(!asked || r->type == asked);
		if (r->type == DNS_A)
			expect(r->addr.family == ADDR_INET);
		else if (r->type == DNS_AAAA)
			expect(r->addr.family == ADDR_INET6);
		else
			expect((r->type == DNS_SRV || r->type == DNS_TXT) && r->name);
		expect(!r->name || r->type == DNS_TXT || strlen(r->name) <= DNS_NAME_MAX);
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum dns_type types[] = { DNS_A, DNS_AAAA, DNS_SRV, DNS_TXT };
	struct dns_question q = { .name = "foo.ex", .id = 0x1234 };
	struct dns_answer a, again;
	struct arena arena;
	uint8_t *copy;

	if (size < 3 || size > 70000)
		return 0;
	q.type = types[data[0] % 4];
	copy = malloc(size - 1);
	expect(copy);
	memcpy(copy, data + 1, size - 1);
	copy[0] = 0x12;
	copy[1] = 0x34;
	arena_init(&arena, 0);
	dns_answer_parse(slice_make((char *)copy, size - 1), &q, &arena, &a);
	expect(a.status < DNS_STATUSES && a.count <= DNS_RECORDS_MAX);
	expect(a.status == DNS_VALID ? a.records != NULL : !a.records && !a.additional);
	expect(a.count == check_records(a.records, q.type) + check_records(a.additional, 0));
	dns_answer_parse(slice_make((char *)copy, size - 1), &q, &arena, &again);
	expect(again.status == a.status && again.count == a.count);
	arena_fini(&arena);
	free(copy);
	return 0;
}
