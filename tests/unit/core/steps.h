/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps.h - a test of several steps, between which whole turns of a thread pass, with their events
 *
 * The file defines STEPS_PAUSE_MS and `steps`, an array of functions, before it includes this;
 * steps_start() and steps_stop() are called where its thread begins and ends.
 */
#ifndef CORE_STEPS_H
#define CORE_STEPS_H

#include "base/clock.h"
#include "core/task.h"

static struct task *step_task;
static unsigned step;

static void on_step(struct task *t, void *ctx, unsigned why)
{
	steps[step++]();
	if (step < sizeof(steps) / sizeof(*steps))
		task_schedule(t, clock_now_ms() + STEPS_PAUSE_MS);
}

static bool steps_start(void)
{
	step_task = task_new(on_step, NULL);
	task_wake(step_task, TASK_WOKEN_INIT);
	return true;
}

static void steps_stop(void)
{
	task_free(&step_task);
}

#endif
