/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mux_rows.c - the protocols of this folder, in the order in which `-vv` lists them */
#include "mux/mux_init.h"
#include "mux_priv.h"

/* For its name: what speaks it has connections of its own. */
static const struct mux_kind spop = {
	.name = "spop", .label = "SPOP", .mode = MUX_SPOP, .sides = MUX_BACK,
	.traits = MUX_DEFAULT | MUX_MULTIPLEX,
};

const struct mux_kind *const mux_rows[] = {
	&mux_h2, &mux_h1, &mux_pass, &mux_fcgi, &spop, NULL
};
