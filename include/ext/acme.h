/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* acme.h - certificates from ACME authorities: sections acme
 *
 * See src/ext/acme/acme_priv.h.
 */
#ifndef EXT_ACME_H
#define EXT_ACME_H

#include "base/module.h"

extern const struct module mod_acme;

#endif
