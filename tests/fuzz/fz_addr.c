/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the configuration's addresses. The first byte chooses what is accepted. Literals that are
 * printed must be read the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include "base/addr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct addr_parse p = { 0 };
	struct addr_spec spec;
	struct addr_any any;
	struct addr net, again;
	char text[ADDR_MAX];
	unsigned bits;
	struct slice s;

	if (size < 1)
		return 0;
	p.options = (unsigned)data[0] << 2 | ADDR_OPT_PORT;
	s = slice_make((const char *)data + 1, size - 1);
	if (addr_parse(&p, s, &spec)) {
		if (p.error[0] || spec.port > spec.port_high)
			abort();
		addr_spec_to_any(&spec, spec.port, &any);
		if (spec.kind == ADDR_KIND_IP) {
			struct addr_spec other;
			struct addr_parse q = { .options = ADDR_OPT_PORT };

			addr_put(&spec.addr, text, sizeof(text));
			if (!addr_parse(&q, slice_of(text), &other) ||
			    !addr_eq(&spec.addr, &other.addr))
				abort();
			again = addr_from_sockaddr(&any.ss, any.len);
			if (!addr_eq(&again, &spec.addr))
				abort();
		}
	} else if (!p.error[0]) {
		abort();
	}
	if (addr_parse_network(s, &net, &bits) && !addr_is_in(&net, &net, bits))
		abort();
	return 0;
}
