/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxy_tlv.c - see proxy_tlv.h */
#include <stdlib.h>
#include <string.h>
#include "base/slot.h"
#include "proxy_tlv.h"
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

void proxy_tlv_keep(struct session *s, struct slice tlvs)
{
	const bool *wanted = slot_of(&proxy_tlv_slot, config_slots(session_config(s)));

	if (!*wanted || !tlvs.len || s->tlvs)
		return;
	s->tlvs = malloc(sizeof(*s->tlvs) + tlvs.len);
	if (!s->tlvs)
		return;
	s->tlvs->len = tlvs.len;
	memcpy(s->tlvs->bytes, tlvs.ptr, tlvs.len);
}

struct slice proxy_tlv_of(const struct session *s)
{
	return s->tlvs ? slice_make(s->tlvs->bytes, s->tlvs->len) : slice_none();
}

void proxy_tlv_drop(struct session *s)
{
	free(s->tlvs);
	s->tlvs = NULL;
}
