/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_diff_priv.h - differences between two readings of configuration files */
#ifndef MAIN_CONFIG_DIFF_PRIV_H
#define MAIN_CONFIG_DIFF_PRIV_H

#include <stdbool.h>
#include "base/strbuf.h"
#include "conf/kept.h"

/* Appends the lines that only one of the two has, section by section, in the order of the files:
 * "-place<tab>line" of the running configuration, "+..." of the files; or elements of a JSON array.
 * Appends nothing if they are equal.
 */
void config_diff_put(const struct conf_kept *running, const struct conf_kept *files, bool json,
		     struct strbuf *out);

#endif
