/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reload_ctl.c - edge file: the Runtime API's reload, show generations */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/strbuf.h"
#include "ctl/ctl.h"
#include "generation_priv.h"

/* A client that waits. It may leave before the end: then <session> is NULL. */
struct asking {
	struct ctl_session *session;
	bool over;
	enum reload_result result;
	char *text;
};

static void asking_free(struct asking *a)
{
	free(a->text);
	free(a);
}

static void on_done(void *ctx, enum reload_result result, const char *text)
{
	struct asking *a = ctx;

	if (!a->session) {
		asking_free(a);
		return;
	}
	a->over = true;
	a->result = result;
	a->text = strdup(text);
	ctl_session_resume(a->session);
}

static void reload_release(struct ctl_request *rq)
{
	struct asking *a = rq->state;

	rq->state = NULL;
	if (!a)
		return;
	if (a->over)
		asking_free(a);
	else
		a->session = NULL;
}

static enum ctl_step begin_reload(struct ctl_request *rq)
{
	struct asking *a = calloc(1, sizeof(*a));

	if (!a) {
		ctl_error(rq, "Out of memory.");
		return CTL_DONE;
	}
	a->session = rq->session;
	rq->state = a;
	reload_request(on_done, a);
	return CTL_WAIT;
}

/* Answers in the form of the master's command `reload`. */
static enum ctl_step run_reload(struct ctl_request *rq)
{
	const struct asking *a = rq->state;

	if (!a)
		return begin_reload(rq);
	if (!a->over)
		return CTL_WAIT;
	if (a->result == RELOAD_BUSY) {
		ctl_error(rq, "Another reload is going on.");
		return CTL_DONE;
	}
	if (a->result == RELOAD_STOPPING) {
		ctl_error(rq, "The process is stopping.");
		return CTL_DONE;
	}
	strbuf_printf(rq->out, "Success=%d\n--\n", a->result == RELOAD_DONE);
	strbuf_add_str(rq->out, a->text ? a->text : "");
	return CTL_DONE;
}

static enum ctl_step show_generations(struct ctl_request *rq)
{
	struct generation_info info;
	unsigned done, failed;

	reload_get_counts(&done, &failed);
	strbuf_printf(rq->out, "# reloads: %u done, %u failed\n# number state since references\n",
		      done, failed);
	for (unsigned n = 0; generation_get_info(n, &info); n++) {
		time_t seconds = (time_t)(info.since_us / 1000000);
		char date[32];
		struct tm tm;

		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", localtime_r(&seconds, &tm));
		strbuf_printf(rq->out, "%u %s %s %u\n", info.number, info.live ? "live" : "old",
			      date, info.references);
	}
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "reload", .level = CTL_ADMIN, .run = run_reload, .release = reload_release,
	  .flags = CTL_PATIENT,
	  .help = "read the configuration again, in this process" },
	{ .words = "show generations", .level = CTL_OPERATOR, .run = show_generations,
	  .help = "list the configurations that still have clients" },
	{ 0 }
};

const struct module mod_reload_ctl = { .name = "reload-commands", .commands = commands };
