/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acme_none.c - without OpenSSL no certificate is asked for */
#include "base/module.h"
#include "ext/acme.h"

const struct module mod_acme = { .name = "acme" };
