/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxy_tlv.c - see proxy_tlv.h */
#include <stdlib.h>
#include <string.h>
#include "base/slot.h"
#include "codec/proxyproto.h"
#include "stream/proxy_tlv.h"
#include "stream/session.h"

struct slot proxy_tlv_slot = { .of = SLOT_CONFIG, .size = sizeof(bool) };

struct proxy_tlvs {
	size_t len;
	char bytes[];
};

void proxy_tlv_want(struct config *cfg)
{
	*(bool *)slot_of(&proxy_tlv_slot, config_slots(cfg)) = true;
}

static size_t longest(uint8_t type)
{
	switch (type) {
	case PROXYPROTO_TLV_AUTHORITY: return 255;
	case PROXYPROTO_TLV_UNIQUE_ID: return 128;
	default: return 1024;
	}
}

bool proxy_tlv_keep(struct session *s, struct slice tlvs)
{
	const bool *wanted = slot_of(&proxy_tlv_slot, config_slots(session_config(s)));
	struct slice rest = tlvs, value;
	struct session_rare *rare;
	uint8_t type;

	if (!*wanted || !tlvs.len)
		return true;
	while (proxyproto_tlv_next(&rest, &type, &value))
		if (value.len > longest(type))
			return false;
	rare = session_rare_get(s);
	if (!rare || rare->tlvs)
		return true;
	rare->tlvs = malloc(sizeof(*rare->tlvs) + tlvs.len);
	if (!rare->tlvs)
		return true;
	rare->tlvs->len = tlvs.len;
	memcpy(rare->tlvs->bytes, tlvs.ptr, tlvs.len);
	return true;
}

struct slice proxy_tlv_of(const struct session *s)
{
	const struct proxy_tlvs *tlvs = s->rare ? s->rare->tlvs : NULL;

	return tlvs ? slice_make(tlvs->bytes, tlvs->len) : slice_none();
}

void proxy_tlv_drop(struct session *s)
{
	if (!s->rare)
		return;
	free(s->rare->tlvs);
	s->rare->tlvs = NULL;
}
