/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cares_none.c - DNS messages without c-ares: there are none */
#include "codec/dns.h"

bool dns_is_built_in(void)
{
	return false;
}

size_t dns_query_make(const struct dns_question *q, uint8_t *out, size_t size)
{
	return 0;
}

enum dns_status dns_answer_parse(struct slice message, const struct dns_question *q,
				 struct arena *arena, struct dns_answer *out)
{
	*out = (struct dns_answer){ .status = DNS_INVALID };
	return DNS_INVALID;
}
