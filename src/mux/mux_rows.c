/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mux_rows.c - the protocols of this folder, in the order in which `-vv` lists them */
#include "mux/mux_init.h"
#include "mux_priv.h"

/* Names that lines may have, of protocols that are not built. */
static const struct mux_kind spop = { .name = "spop", .label = "SPOP", .mode = MUX_TCP };

const struct mux_kind *const mux_rows[] = {
	&mux_h2, &mux_h1, &mux_pass, &mux_fcgi, &spop, NULL
};
