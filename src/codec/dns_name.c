/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dns_name.c - validation of names for queries: the part of DNS that needs no library */
#include "codec/dns.h"

static bool char_is_plain(char c)
{
	return c > ' ' && c < 0x7f && c != '\\' && c != '.';
}

bool dns_name_is_valid(struct slice name)
{
	size_t label = 0;

	if (!name.len || name.len > DNS_NAME_MAX)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];

		if (c == '.' ? !label : !char_is_plain(c))
			return false;
		label = c == '.' ? 0 : label + 1;
		if (label > DNS_LABEL_MAX)
			return false;
	}
	return label > 0;
}

uint16_t dns_message_id(struct slice message)
{
	const uint8_t *p = (const uint8_t *)message.ptr;

	return (uint16_t)(p[0] << 8 | p[1]);
}
