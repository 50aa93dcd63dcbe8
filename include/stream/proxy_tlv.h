/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy_tlv.h - what a PROXY protocol header carried besides addresses, kept for its session
 *
 * Kept only if a fetch of the configuration reads it. Owned by the session.
 */
#ifndef STREAM_PROXY_TLV_H
#define STREAM_PROXY_TLV_H

#include <stdbool.h>
#include "base/slice.h"
#include "conf/conf.h"

struct session;

/* Longer values are hidden from fetches. */
#define PROXY_TLV_MAX 1024

/* Declares that a fetch reads TLVs, so that they are kept. */
void proxy_tlv_want(struct config *cfg);
/* Keeps a copy of the header's TLVs if they are wanted. Out of memory: they are missing. False: one
 * of them is longer than fetches may see (manual: fc_pp_tlv).
 */
bool proxy_tlv_keep(struct session *s, struct slice tlvs);
/* Returns what was kept; slice_none(): nothing. */
struct slice proxy_tlv_of(const struct session *s);
void proxy_tlv_drop(struct session *s);

extern struct slot proxy_tlv_slot; /* of the configuration: are TLVs wanted? */

#endif
