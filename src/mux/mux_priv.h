/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mux_priv.h - rows of the table of muxes in this folder */
#ifndef MUX_MUX_PRIV_H
#define MUX_MUX_PRIV_H

#include "mux/mux.h"

extern const struct mux_kind mux_h1, mux_h2, mux_pass, mux_fcgi;

#endif
