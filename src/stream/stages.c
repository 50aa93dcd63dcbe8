/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stages.c - the stages of a stream in their order: the one place that names them all */
#include "engine_priv.h"

const struct stage_step stream_stages[STAGE_COUNT] = {
#define X(name, fn, c) { #name, fn, c },
	STREAM_STAGES(X)
#undef X
};
