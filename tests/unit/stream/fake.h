/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake.h - streams without a client, a server or stages of their own, for the tests of this folder
 *
 * Every stage of the table is fake_stage(): it returns what fake.step says and counts.
 */
#ifndef TESTS_STREAM_FAKE_H
#define TESTS_STREAM_FAKE_H

#include <stdlib.h>
#include "base/clock.h"
#include "conf/conf.h"
#include "proxy/proxy.h"
#include "engine_priv.h"
#include "session_priv.h"

static struct {
	enum step step;          /* what each stage says */
	unsigned runs;           /* how often a stage was run */
	struct config config;
	struct proxy px;
	struct session sess;
} fake = { .step = STEP_WAIT };

static enum step fake_stage(struct stream *s)
{
	fake.runs++;
	return fake.step;
}

/* Once. */
__attribute__((unused))
static void fake_init(void)
{
	static struct stage_step table[STAGE_COUNT];

	clock_refresh();
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		table[i] = (struct stage_step){ "FAKE", fake_stage, '-' };
	stream_set_stages(table, table, NULL);
	if (!stream_init() || !session_thread_init())
		abort();
	fake.px.config = &fake.config;
	fake.sess.fe = &fake.px;
	fake.step = STEP_WAIT;
}

/* A stream that waits in its first stage. */
__attribute__((unused))
static struct stream *fake_stream(void)
{
	struct stream *s = stream_new(&fake.sess, false);

	if (!s)
		abort();
	fake.step = STEP_WAIT;
	fake.runs = 0;
	return s;
}

#endif
