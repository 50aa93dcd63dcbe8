/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zstd_none.c - Zstandard without its library: there is none */
#include "compress_priv.h"

const struct compress_engine compress_zstd = { .library = "" };
