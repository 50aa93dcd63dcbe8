/* SPDX-License-Identifier: GPL-2.0-or-later */
/* isal_none.c - deflate at level 1 without ISA-L: zlib does it */
#include "compress_priv.h"

const struct compress_engine compress_isal = { .library = "" };
