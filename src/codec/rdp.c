/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdp.c - see rdp.h */
#include <stdint.h>
#include "codec/rdp.h"

#define TPKT_HEADER 4
#define X224_HEADER 7
#define TPKT_VERSION 3
#define CONNECTION_REQUEST 0xe0

static uint8_t byte_at(struct slice in, size_t at)
{
	return (uint8_t)in.ptr[at];
}

/* What follows the headers of a connection request, as far as it is there. */
static enum rdp_status open_request(struct slice in, struct slice *out)
{
	if (in.len && byte_at(in, 0) != TPKT_VERSION)
		return RDP_NONE;
	if (in.len < TPKT_HEADER + X224_HEADER)
		return RDP_MORE;
	if (byte_at(in, 1) || byte_at(in, TPKT_HEADER + 1) != CONNECTION_REQUEST)
		return RDP_NONE;
	*out = slice_sub(in, TPKT_HEADER + X224_HEADER, in.len);
	return RDP_FOUND;
}

enum rdp_status rdp_cookie_find(struct slice in, struct slice name, struct slice *value)
{
	enum rdp_status status;
	struct slice rest;
	size_t equal, end;

	*value = slice_none();
	status = open_request(in, &rest);
	if (status != RDP_FOUND)
		return status;
	if (!slice_starts_nocase(SLICE("Cookie:"), slice_sub(rest, 0, 7)))
		return RDP_EMPTY;
	end = slice_find(rest, SLICE("\r\n"));
	if (end == SIZE_MAX)
		return RDP_MORE;
	rest = slice_trim(slice_sub(rest, 7, end));
	equal = slice_find_char(rest, 0, '=');
	if (equal == SIZE_MAX || (name.len && !slice_eq_nocase(slice_sub(rest, 0, equal), name)))
		return RDP_EMPTY;
	*value = slice_make(rest.ptr + equal + 1, rest.len - equal - 1);
	return RDP_FOUND;
}
