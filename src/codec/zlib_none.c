/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zlib_none.c - deflate without zlib: there is none */
#include "compress_priv.h"

const struct compress_engine compress_zlib = { .library = "" };
