/* SPDX-License-Identifier: GPL-2.0-or-later */
/* end.c - the table of all ends of a stream */
#include "stream/end.h"

const struct stream_end_row stream_ends[END_COUNT] = {
#define X(name, cause, phase, status, retried, text) \
	{ #name, text, retried, CAUSE_##cause, phase, status },
	STREAM_ENDS(X)
#undef X
};
