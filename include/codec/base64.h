/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* base64.h - Base64 (RFC 4648 section 4)
 *
 * Pure: no allocation, any thread.
 */
#ifndef CODEC_BASE64_H
#define CODEC_BASE64_H

#include <stdbool.h>
#include "base/slice.h"

/* Decodes <text>, padded with '=' to a multiple of four. <out> needs room for 3/4 of its length.
 * False: invalid Base64.
 */
bool base64_decode(struct slice text, char *out, size_t *len);

#endif
