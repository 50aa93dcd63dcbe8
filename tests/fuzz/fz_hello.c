/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fz_hello.c - fuzzes the readers of first bytes: TLS hellos, RDP cookies
 *
 * What is found must lie inside the input. A reader that has said what it is does not change its
 * mind when more bytes come.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "codec/rdp.h"
#include "codec/tls_hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct slice all, struct slice part)
{
	if (part.ptr && part.len &&
	    (part.ptr < all.ptr || part.ptr + part.len > all.ptr + all.len))
		abort();
}

static void try_hello(struct slice in)
{
	struct tls_hello h, later;
	enum tls_hello_status status, before;
	uint32_t version;
	uint8_t type;

	tls_hello_type(in, &type);
	tls_hello_version(in, &version);
	status = tls_hello_parse(in, &h);
	inside(in, h.session_id);
	inside(in, h.ciphers);
	inside(in, h.server_name);
	inside(in, h.alpn);
	inside(in, h.groups);
	inside(in, h.signatures);
	inside(in, h.key_shares);
	inside(in, h.ticket);
	for (size_t len = 0; len < in.len && len < 600; len += 1 + len / 8) {
		before = tls_hello_parse(slice_sub(in, 0, len), &later);
		if (before != TLS_HELLO_MORE && before != status)
			abort();
	}
}

static void try_rdp(struct slice in)
{
	struct slice value, name = SLICE("mstshash");
	enum rdp_status status = rdp_cookie_find(in, name, &value);

	inside(in, value);
	if ((status == RDP_FOUND) != (value.ptr != NULL))
		abort();
	rdp_cookie_find(in, slice_none(), &value);
	inside(in, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = slice_make((const char *)data, size);

	try_hello(in);
	try_rdp(in);
	return 0;
}
