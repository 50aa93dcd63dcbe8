/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* uri_normalize.h - equal URIs written the same way (RFC 3986 6.2.2)
 *
 * Each function rewrites one piece of a target, a path or a query, into <out>, which has room for
 * <text>.len bytes, or three times that for URI_FRAGMENT_ENCODE. None makes the text longer but
 * that one.
 * Pure: owns nothing, any thread, no allocation.
 * Manual : configuration 4.4 normalize-uri
 */
#ifndef CODEC_URI_NORMALIZE_H
#define CODEC_URI_NORMALIZE_H

#include <stdbool.h>
#include "base/slice.h"

#define URI_INVALID ((size_t)-1)

/* '#' becomes %23. */
size_t uri_encode_fragment(struct slice text, char *out);
/* What stands before the first '#'. */
size_t uri_strip_fragment(struct slice text, char *out);
/* Paths: runs of '/' become one. */
size_t uri_merge_slashes(struct slice path, char *out);
/* Paths: segments "." go. */
size_t uri_strip_dot(struct slice path, char *out);
/* Paths: a segment ".." takes the one before with it. Those that have none before them stay, or go
 * too when <full>.
 */
size_t uri_strip_dotdot(struct slice path, bool full, char *out);
/* %61 becomes 'a': letters, digits, '-', '.', '_', '~'. <strict>: URI_INVALID on a '%' which
 * two hexadecimal digits do not follow.
 */
size_t uri_decode_unreserved(struct slice text, bool strict, char *out);
/* %6f becomes %6F. <strict>: as above. */
size_t uri_upper_percent(struct slice text, bool strict, char *out);
/* Queries: parameters in the order of their names, equal ones as they were. URI_INVALID: more
 * than 512 parameters.
 */
size_t uri_sort_query(struct slice query, char *out);

#endif
