/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qpack_priv.h - the static table of QPACK (RFC 9204 appendix A) */
#ifndef CODEC_QPACK_PRIV_H
#define CODEC_QPACK_PRIV_H

#include "codec/qpack.h"
#include "hpack_priv.h"

#define QPACK_STATIC_COUNT 99

extern const struct hpack_static qpack_statics[QPACK_STATIC_COUNT];
/* The lowest index with this name id, plus 1; 0: none. */
extern const uint8_t qpack_static_of[HPACK_NAME_COUNT];

#endif
