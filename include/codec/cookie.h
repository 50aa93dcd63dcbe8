/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cookie.h - Cookie and Set-Cookie fields (RFC 6265)
 *
 * Lenient as browsers are: blanks around names and values are skipped, quotes belong to the value.
 * All pieces are slices of the input. Owns: nothing. Threads: any.
 */
#ifndef CODEC_COOKIE_H
#define CODEC_COOKIE_H

#include <stdbool.h>
#include "base/slice.h"

struct cookie {
	struct slice name;   /* maybe empty */
	struct slice value;  /* slice_none() without '='; surrounding quotes kept */
	struct slice whole;  /* from the name to the end of the value */
};

/* Walks a Cookie field's value: gives the next non-empty pair and moves <list> past it (and its
 * separator); false at the end. A ';' or ',' inside double quotes does not separate.
 */
bool cookie_next(struct slice *list, struct cookie *out);
/* The value of the first cookie called <name> (case matters). False: not there. */
bool cookie_find(struct slice list, struct slice name, struct slice *value);

/* The part of the list to cut to remove <c>, which came from cookie_next() on <list>: the pair
 * with one separator and blanks around. What stays on both sides is a well-formed list.
 */
struct slice cookie_extent(struct slice list, const struct cookie *c);

/* The pair at the start of a Set-Cookie field's value, and the attributes behind its ';'.
 * False: no name.
 */
bool cookie_parse_set(struct slice text, struct cookie *out, struct slice *attributes);
/* Finds an attribute (name of any case) of a Set-Cookie. */
bool cookie_attribute_find(struct slice attributes, struct slice name, struct slice *value);

#endif
