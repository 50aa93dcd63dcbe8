/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cookie.h - Cookie and Set-Cookie fields (RFC 6265)
 *
 * Lenient like browsers: blanks around names and values are skipped, quotes belong to the value.
 * All results are slices of the input. Owns: nothing. Threads: any.
 */
#ifndef CODEC_COOKIE_H
#define CODEC_COOKIE_H

#include <stdbool.h>
#include "base/slice.h"

struct cookie {
	struct slice name;   /* may be empty */
	struct slice value;  /* slice_none() without '='; surrounding quotes kept */
	struct slice whole;  /* from the name to the end of the value */
};

/* Iterates over a Cookie field's value: returns the next non-empty pair and moves <list> past it
 * and its separator. False at the end. ';' and ',' inside double quotes do not separate.
 */
bool cookie_next(struct slice *list, struct cookie *out);
/* Returns the value of the first cookie called <name> (case matters). False: not found. */
bool cookie_find(struct slice list, struct slice name, struct slice *value);

/* Returns the part of the list to cut in order to remove <c>, which came from cookie_next() on
 * <list>: the pair with one separator and surrounding blanks. The rest of the list is well-formed.
 */
struct slice cookie_extent(struct slice list, const struct cookie *c);

/* Parses the pair at the start of a Set-Cookie field's value; *attributes: what follows its ';'.
 * False: no name.
 */
bool cookie_parse_set(struct slice text, struct cookie *out, struct slice *attributes);
/* Finds an attribute (name in any case) of a Set-Cookie. False: not found. */
bool cookie_attribute_find(struct slice attributes, struct slice name, struct slice *value);

#endif
