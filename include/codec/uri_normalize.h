/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* uri_normalize.h - normalises URIs, so that equal ones are written equally (RFC 3986 6.2.2)
 *
 * Each function rewrites one part of a target, a path or a query, into <out>, which needs room for
 * <text>.len bytes; uri_encode_fragment() needs three times that, and only its result may be longer
 * than the input. All return the length.
 * Pure: owns nothing, any thread, no allocation.
 * Manual : configuration 4.4 normalize-uri
 */
#ifndef CODEC_URI_NORMALIZE_H
#define CODEC_URI_NORMALIZE_H

#include <stdbool.h>
#include "base/slice.h"

#define URI_INVALID ((size_t)-1)

/* Replaces '#' by %23. */
size_t uri_encode_fragment(struct slice text, char *out);
/* Keeps what precedes the first '#'. */
size_t uri_strip_fragment(struct slice text, char *out);
/* Paths: replaces each run of '/' by one. */
size_t uri_merge_slashes(struct slice path, char *out);
/* Paths: removes segments ".". */
size_t uri_strip_dot(struct slice path, char *out);
/* Paths: removes each segment ".." together with the one before it. Those with none before them
 * stay, or are removed too if <full>.
 */
size_t uri_strip_dotdot(struct slice path, bool full, char *out);
/* Decodes %61 to 'a': letters, digits, '-', '.', '_', '~'. <strict>: URI_INVALID for a '%' that is
 * not followed by two hexadecimal digits.
 */
size_t uri_decode_unreserved(struct slice text, bool strict, char *out);
/* Converts %6f to %6F. <strict>: as above. */
size_t uri_upper_percent(struct slice text, bool strict, char *out);
/* Queries: sorts parameters by name; equal names keep their order. URI_INVALID: more than 512
 * parameters.
 */
size_t uri_sort_query(struct slice query, char *out);

#endif
