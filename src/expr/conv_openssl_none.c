/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_openssl_none.c - without OpenSSL there are no converters that encrypt, sign or digest */
#include "expr_priv.h"

const struct expr_converter expr_crypto_converters[] = { { 0 } };
