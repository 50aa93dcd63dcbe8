/* SPDX-License-Identifier: GPL-2.0-or-later */
/* brotli_none.c - Brotli without its library: there is none */
#include "compress_priv.h"

const struct compress_engine compress_brotli = { .library = "" };
