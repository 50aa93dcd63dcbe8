/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_ctl.c - the commands of core, in a running loop of two threads */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "core/core.h"
#include "core/fd.h"
#include "core/pool.h"
#include "core/profile.h"
#include "core/signal.h"
#include "core/symbol.h"
#include "core/task.h"
#include "core/thread.h"
#include "ctl/ctl.h"
#include "tap.h"
#include <signal.h>

static const char *const script[] = {
	"show activity", "show activity 2", "show activity 3", "set profiling tasks on",
	"show pools", "show tasks", "show threads", "show fd", "show fd l", "show fd x",
	"wait 5", "wait x", "show profiling", "set profiling tasks", "show pools byname 1",
};
#define COMMANDS (sizeof(script) / sizeof(script[0]))

static char *answers[COMMANDS];
static unsigned at;
static struct ctl_session *session;
static struct task *driver;
static int pair[2], signals_seen;

static void on_wake(void *owner)
{
	task_wake(driver, TASK_WOKEN_OTHER);
}

static const struct ctl_session_owner owner = { .wake = on_wake };

/* Plays the script, one session per command. */
static void drive(struct task *t, void *ctx, unsigned why)
{
	struct slice out;

	if (!session) {
		session = ctl_session_new(CTL_ADMIN, &owner, NULL);
		ctl_session_feed(session, slice_of(script[at]));
		ctl_session_feed(session, SLICE("\n"));
	}
	ctl_session_run(session);
	out = ctl_session_output(session);
	if (out.len) {
		size_t had = answers[at] ? strlen(answers[at]) : 0;

		answers[at] = realloc(answers[at], had + out.len + 1);
		memcpy(answers[at] + had, out.ptr, out.len);
		answers[at][had + out.len] = 0;
		ctl_session_sent(session, out.len);
	}
	if (ctl_session_is_over(session)) {
		ctl_session_free(&session);
		if (++at == COMMANDS) {
			raise(SIGUSR1);
			return;
		}
		task_wake(t, TASK_WOKEN_OTHER);
	}
}

static void on_signal(int sig, void *ctx)
{
	signals_seen++;
	thread_stop_all();
}

static void on_pair(void *ctx, int fd, unsigned events)
{
}

static void describe(void *ctx, int fd, struct strbuf *out)
{
	strbuf_add_str(out, " told=yes");
}

static struct fd_kind kind = {
	.handler = on_pair, .name = "on_pair", .letter = 'c', .describe = describe,
};
static const struct symbol symbols[] = { { (const void *)drive, "drive_task" }, { NULL, NULL } };

static bool start_thread(void)
{
	if (thread_id == 1)
		return fd_add(pair[1], on_pair, NULL, 0);
	driver = task_new(drive, NULL);
	task_wake(driver, TASK_WOKEN_INIT);
	return fd_add(pair[0], on_pair, NULL, 0);
}

static void stop_thread(void)
{
	fd_close(pair[thread_id]);
	if (thread_id == 0)
		task_free(&driver);
}

static const struct module test_module = {
	.name = "test", .thread_init = start_thread, .thread_fini = stop_thread,
};
static const struct module *const modules[] = { &test_module, &mod_core_ctl, &mod_fd_ctl, NULL };

static const char *answer_of(const char *command)
{
	for (unsigned i = 0; i < COMMANDS; i++) {
		if (strcmp(script[i], command) == 0)
			return answers[i] ? answers[i] : "";
	}
	return "";
}

static bool has(const char *command, const char *text)
{
	bool found = strstr(answer_of(command), text) != NULL;

	if (!found)
		printf("# %s: %s\n", command, answer_of(command));
	return found;
}

int main(void)
{
	clock_refresh();
	ctl_set_start_ns(clock_now_ns());
	ctl_register(modules);
	symbol_register(symbols);
	fd_kind_register(&kind);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		return 1;
	thread_layout(2, 1);
	ok(signal_register(SIGUSR1, on_signal, NULL), "a signal is registered");
	ok(thread_run_all(modules), "the loop ran");
	is_int(signals_seen, 1, "the signal was handled once");
	is_int(at, COMMANDS, "every command was answered");
	ok(has("show activity", "thread_id: 1 (1..2)\n"), "activity: who answers");
	ok(has("show activity", "\nctxsw: ") && has("show activity", " ]\nloops: "),
	   "activity: sums and parts");
	ok(!strchr(answer_of("show activity 2"), '['), "activity: one thread");
	ok(has("show activity 3", "Thread ID number must be between -1 and nbthread\n\n"),
	   "activity: no such thread");
	is_str(answer_of("set profiling tasks on"), "\n", "profiling on");
	ok(has("show profiling", "Per-task CPU profiling              : on            # set"),
	   "profiling: state");
	ok(has("show profiling", "\n  drive_task      "), "profiling: a registered name");
	ok(has("show pools", "  - Pool task (") && has("show pools", "\nTotal: "), "pools");
	ok(has("show pools byname 1", "(limited to the first 1 entries)"), "pools: limit");
	ok(has("show tasks", "Running tasks: 0 (2 threads)\n  function  "), "tasks");
	ok(has("show threads", "* Thread 1 : id=") && has("show threads", "  Thread 2 : id="),
	   "threads");
	ok(has("show fd", "(on_pair) told=yes\n"), "fd: described by its kind");
	ok(strstr(strstr(answer_of("show fd"), "told=yes") + 1, "told=yes") != NULL,
	   "fd: those of both threads");
	is_str(answer_of("show fd l"), "\n", "fd: no listener");
	ok(has("show fd x", "Invalid FD type\n\n"), "fd: no such type");
	is_str(answer_of("wait 5"), "Done.\n\n", "wait");
	ok(has("wait x", "Invalid duration.\n"), "wait: not a duration");
	for (unsigned i = 0; i < COMMANDS; i++)
		free(answers[i]);
	return done_testing();
}
