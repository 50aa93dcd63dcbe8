/* SPDX-License-Identifier: GPL-2.0-or-later */
/* end.c - the last stage: what a stream owes to the counters, the log, its server, its session */
#include "account_priv.h"
#include "engine_priv.h"
#include "log_priv.h"

enum step stage_end(struct stream *s)
{
	stream_count_end(s);
	stream_log(s);
	stream_drop_back(s);
	stream_drop_slot(s);
	retry_end(s);
	s->sess->idle_from_ns = s->t.close;
	return STEP_END;
}
