/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy_tlv.h - what a PROXY protocol header said beside addresses, for as long as its session
 *
 * Kept only when the configuration has a fetch that reads it. Owned by the session.
 */
#ifndef STREAM_PROXY_TLV_H
#define STREAM_PROXY_TLV_H

#include <stdbool.h>
#include "base/slice.h"
#include "conf/conf.h"

struct session;

/* Longer values are not given to fetches. */
#define PROXY_TLV_MAX 1024

/* A fetch reads TLVs: they must be kept. */
void proxy_tlv_want(struct config *cfg);
/* Keeps a copy of the TLVs of the header if they are wanted. No memory: they are not there. False:
 * one of them is longer than fetches may see (manual: fc_pp_tlv).
 */
bool proxy_tlv_keep(struct session *s, struct slice tlvs);
/* What was kept; slice_none(): nothing. */
struct slice proxy_tlv_of(const struct session *s);
void proxy_tlv_drop(struct session *s);

extern struct slot proxy_tlv_slot; /* of the configuration: are they wanted? */

#endif
