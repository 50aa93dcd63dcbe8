/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master_ctl.c - edge file: the commands of the master's socket */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/list.h"
#include "base/strbuf.h"
#include "ctl/ctl.h"
#include "dump_priv.h"
#include "master_priv.h"
#include "mode_priv.h"

/* "0d00h02m07s" */
static void put_uptime(struct strbuf *out, int64_t since_s)
{
	int64_t up = (int64_t)time(NULL) - since_s;
	char text[48];

	snprintf(text, sizeof(text), "%lldd%02dh%02dm%02ds", (long long)(up / 86400),
		 (int)(up / 3600 % 24), (int)(up / 60 % 60), (int)(up % 60));
	strbuf_printf(out, "%-15s ", text);
}

static void put_worker(struct strbuf *out, const struct worker_process *w, bool debug)
{
	strbuf_printf(out, "%-15d %-15s %-15u ", (int)w->pid, "worker", w->reloads);
	put_uptime(out, w->since_s);
	strbuf_printf(out, "%-15s", w->version);
	if (debug)
		strbuf_printf(out, "\t\t %-15d %-15d", w->channel, -1);
	strbuf_add_char(out, '\n');
}

static void put_master(struct strbuf *out, bool debug)
{
	const struct master_status *st = master_status();
	char reloads[48];

	snprintf(reloads, sizeof(reloads), "%u [failed: %u]", st->reloads, st->failed);
	strbuf_printf(out, "%-15d %-15s %-15s ", (int)st->pid, "master", reloads);
	put_uptime(out, st->since_s);
	strbuf_printf(out, "%-15s", version_text());
	if (debug)
		strbuf_printf(out, "\t\t %-15d %-15d", -1, -1);
	strbuf_add_char(out, '\n');
}

static enum ctl_step show_proc(struct ctl_request *rq)
{
	bool debug = rq->at < rq->count && strcmp(rq->words[rq->at], "debug") == 0, old = false;
	struct worker_process *w;

	if (rq->at < rq->count && !debug) {
		ctl_error(rq, "'show proc' only supports 'debug' as argument");
		return CTL_DONE;
	}
	strbuf_printf(rq->out, "%-15s %-15s %-15s %-15s %-15s", "#<PID>", "<type>", "<reloads>",
		      "<uptime>", "<version>");
	if (debug)
		strbuf_printf(rq->out, "\t\t %-15s %-15s", "<ipc_fd[0]>", "<ipc_fd[1]>");
	strbuf_add_char(rq->out, '\n');
	put_master(rq->out, debug);
	strbuf_add_str(rq->out, "# workers\n");
	list_for_each(w, master_workers(), link) {
		if (!w->reloads && w->ready)
			put_worker(rq->out, w, debug);
		old |= w->reloads > 0;
	}
	if (old)
		strbuf_add_str(rq->out, "# old workers\n");
	list_for_each(w, master_workers(), link)
		if (w->reloads)
			put_worker(rq->out, w, debug);
	return CTL_DONE;
}

static enum ctl_step show_startup_logs(struct ctl_request *rq)
{
	startup_log_read(rq->out);
	return CTL_DONE;
}

static enum ctl_step load_status(struct ctl_request *rq)
{
	strbuf_printf(rq->out, "Success=%d\n--\n", !master_status()->last_failed);
	startup_log_read(rq->out);
	return CTL_DONE;
}

/* Carried out by master_cli.c, which owns the connection; here for the list. */
static enum ctl_step run_elsewhere(struct ctl_request *rq)
{
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "@!<pid>", .flags = CTL_MASTER, .run = run_elsewhere,
	  .help = "send a command to the process of this id" },
	{ .words = "@<relative pid>", .flags = CTL_MASTER, .run = run_elsewhere,
	  .help = "send a command to a current worker (1)" },
	{ .words = "@master", .flags = CTL_MASTER, .run = run_elsewhere,
	  .help = "send a command to the master" },
	{ .words = "show proc", .level = CTL_OPERATOR, .syntax = "[debug]", .flags = CTL_MASTER,
	  .run = show_proc,
	  .help = "list the master and its workers" },
	{ .words = "show startup-logs", .level = CTL_OPERATOR, .flags = CTL_ANYWHERE,
	  .run = show_startup_logs,
	  .help = "show the messages of the last start or reload" },
	{ .words = "reload", .level = CTL_OPERATOR, .flags = CTL_MASTER, .run = run_elsewhere,
	  .help = "start a new worker; the old one finishes its connections (-sf)" },
	{ .words = "hard-reload", .level = CTL_OPERATOR, .flags = CTL_MASTER,
	  .run = run_elsewhere, .help = "start a new worker; the old one ends immediately (-st)" },
	{ .words = "expert-mode", .syntax = "[on|off]", .level = CTL_ADMIN, .flags = CTL_MASTER,
	  .run = run_elsewhere, .help = "allow the commands of experts in workers" },
	{ .words = "experimental-mode", .syntax = "[on|off]", .level = CTL_ADMIN,
	  .flags = CTL_MASTER, .run = run_elsewhere, .help = "allow what is experimental" },
	{ .words = "set severity-output", .syntax = "[none|number|string]", .flags = CTL_MASTER,
	  .run = run_elsewhere, .help = "show the severity in front of messages" },
	{ .words = "mcli-debug-mode", .syntax = "[on|off]", .level = CTL_ADMIN,
	  .flags = CTL_MASTER, .run = run_elsewhere,
	  .help = "list commands that look at the master process, too" },
	{ .words = "_loadstatus", .flags = CTL_MASTER | CTL_HIDDEN, .run = load_status,
	  .help = "tell as 'reload' does how the last start or reload went" },
	{ 0 }
};

const struct module mod_master_ctl = { .name = "master-commands", .commands = commands };
