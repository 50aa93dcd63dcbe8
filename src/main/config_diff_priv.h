/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_diff_priv.h - how two readings of configuration files differ */
#ifndef MAIN_CONFIG_DIFF_PRIV_H
#define MAIN_CONFIG_DIFF_PRIV_H

#include <stdbool.h>
#include "base/strbuf.h"
#include "conf/kept.h"

/* Appends the lines that only one of both has, section by section, in the order of the files:
 * "-place<tab>line" of what is running, "+..." of the files; or elements of a JSON array. Nothing:
 * they are equal.
 */
void config_diff_put(const struct conf_kept *running, const struct conf_kept *files, bool json,
		     struct strbuf *out);

#endif
