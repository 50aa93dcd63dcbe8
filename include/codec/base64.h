/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* base64.h - RFC 4648 section 4
 *
 * Pure: no allocation, any thread.
 */
#ifndef CODEC_BASE64_H
#define CODEC_BASE64_H

#include <stdbool.h>
#include "base/slice.h"

/* Decodes <text>, whose length is a multiple of four with its '='. <out> has room for 3/4 of it.
 * False: it is not base64.
 */
bool base64_decode(struct slice text, char *out, size_t *len);

#endif
