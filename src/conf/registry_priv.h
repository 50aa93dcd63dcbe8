/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry_priv.h - the sorted table of keywords, for code that walks over all of it (the dump) */
#ifndef CONF_REGISTRY_PRIV_H
#define CONF_REGISTRY_PRIV_H

#include <stdbool.h>
#include <stddef.h>

struct conf_keyword;

extern const struct conf_keyword **conf_keywords; /* sorted by words */
extern size_t conf_keyword_count;

/* Is it allowed in one of these places (and in this section, with CONF_OTHER)? */
bool conf_keyword_fits(const struct conf_keyword *k, unsigned where, const char *section);

#endif
