/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes PROXY protocol parsing: every shorter input must be incomplete when the whole is
 * complete, and what is read and made again must be read the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include "codec/proxyproto.h"

static void check_remake(const struct proxyproto *pp)
{
	char line[PROXYPROTO_V1_MAX + 1];
	struct proxyproto again;
	size_t len;

	if (!addr_is_inet(&pp->source))
		return;
	len = proxyproto_make_v1(line, sizeof(line), &pp->source, &pp->destination);
	if (!len || proxyproto_parse(slice_make(line, len), &again) != PROXYPROTO_DONE ||
	    !addr_eq(&pp->source, &again.source) ||
	    !addr_eq(&pp->destination, &again.destination))
		abort();
}

static void check_tlvs(struct slice tlvs)
{
	struct slice value, inner;
	volatile uint8_t sum = 0;
	uint32_t verify;
	uint8_t type;

	while (proxyproto_tlv_next(&tlvs, &type, &value)) {
		for (size_t i = 0; i < value.len; i++)
			sum = (uint8_t)(sum + value.ptr[i]);
		if (type == PROXYPROTO_TLV_SSL &&
		    proxyproto_ssl_open(value, &type, &verify, &inner))
			proxyproto_tlv_find(inner, PROXYPROTO_TLV_SSL_CN);
	}
	if (tlvs.len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice input = slice_make((const char *)data, size);
	struct proxyproto pp, cut;

	if (proxyproto_parse(input, &pp) != PROXYPROTO_DONE)
		return 0;
	if (pp.length > size)
		abort();
	for (size_t len = 0; len < pp.length; len++)
		if (proxyproto_parse(slice_make(input.ptr, len), &cut) != PROXYPROTO_MORE)
			abort();
	check_remake(&pp);
	check_tlvs(pp.tlvs);
	return 0;
}
