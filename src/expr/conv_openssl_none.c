/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_openssl_none.c - without OpenSSL there are no converters that encrypt, sign or digest */
#include "expr/modules.h"
#include "expr_priv.h"

const struct module mod_conv_crypto = { .name = "conv_crypto" };
