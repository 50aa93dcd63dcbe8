/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_dynamic_ctl.c - edge file: the Runtime API's commands that add and remove servers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "core/wait.h"
#include "ctl/ctl.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "server_dynamic_priv.h"

/* The words of a `server` line, those of the command from the server's name on; free() the array.
 * NULL: no memory.
 */
static char **line_words(const struct ctl_request *rq, const char *name, int *count)
{
	int rest = rq->count - rq->at - 1;
	char **words = calloc((size_t)rest + 3, sizeof(*words));

	*count = rest + 2;
	if (!words)
		return NULL;
	words[0] = (char *)(uintptr_t)"server";
	words[1] = (char *)(uintptr_t)name;
	for (int i = 0; i < rest; i++)
		words[i + 2] = rq->words[rq->at + 1 + i];
	return words;
}

static void list_options(struct ctl_request *rq)
{
	const char *name;
	unsigned i = 0;

	strbuf_add_str(rq->out, "List of keywords supported for dynamic server:\n");
	while ((name = server_dynamic_option(&i)) != NULL)
		strbuf_printf(rq->out, "%s\n", name);
}

static void add_to(struct ctl_request *rq, struct proxy *be, const char *name)
{
	char error[512];
	char **words;
	int count;

	words = line_words(rq, name, &count);
	if (!words) {
		ctl_error(rq, "Out of memory.");
		return;
	}
	if (server_add(be, words, count, error, sizeof(error)))
		ctl_say(rq, "New server registered.");
	else
		ctl_error(rq, "%s", error);
	free(words);
}

static enum ctl_step add_server(struct ctl_request *rq)
{
	const char *path = rq->at < rq->count ? rq->words[rq->at] : "";
	const char *slash = strchr(path, '/');
	struct proxy *be;
	char *name;

	if (strcmp(path, "help") == 0) {
		list_options(rq);
		return CTL_DONE;
	}
	if (!slash || slash == path || !slash[1]) {
		ctl_error(rq, "Require 'backend/server'.");
		return CTL_DONE;
	}
	name = strndup(path, (size_t)(slash - path));
	config_edit_begin(); /* a reload switches generations before or behind */
	be = name ? proxy_find(proxies_current(), name, PROXY_BE) : NULL;
	free(name);
	if (!be)
		ctl_error(rq, "No such backend.");
	else
		add_to(rq, be, slash + 1);
	config_edit_end();
	return CTL_DONE;
}

/* `del server` waits until idle connections were closed. */
struct removal {
	struct ctl_session *session; /* NULL: the client left */
};

static void removal_go_on(void *ctx)
{
	struct removal *r = ctx;

	if (r->session)
		ctl_session_resume(r->session);
	else
		free(r);
}

static void removal_release(struct ctl_request *rq)
{
	struct removal *r = rq->state;

	if (r)
		r->session = NULL;
	rq->state = NULL;
}

/* True: the command goes on when that is done. */
static bool removal_begin(struct ctl_request *rq, struct server *srv)
{
	struct removal *r = calloc(1, sizeof(*r));

	if (!r)
		return false;
	r->session = rq->session;
	if (!server_flush(srv, removal_go_on, r)) {
		free(r);
		return false;
	}
	rq->state = r;
	return true;
}

static enum ctl_step del_server(struct ctl_request *rq)
{
	bool again = rq->state != NULL;
	const char *error = NULL;
	struct server *srv;

	free(rq->state);
	rq->state = NULL;
	srv = server_find_path(proxies_current(), rq->at < rq->count ? rq->words[rq->at] : NULL,
			       &error);
	if (srv && !again && server_removal_state(srv, &error) == SERVER_REMOVAL_LATER &&
	    removal_begin(rq, srv))
		return CTL_WAIT;
	if (srv && server_remove(srv, &error))
		ctl_say(rq, "Server deleted.");
	else
		ctl_error(rq, "%s", error);
	return CTL_DONE;
}

static void nothing(void *ctx)
{
}

/* `wait <delay> srv-removable <backend>/<server>` */
static enum wait_result srv_removable(const char *arg, const char **error)
{
	struct server *srv;
	const char *slash;

	*error = "Missing server name (<backend>/<server>).";
	if (!arg)
		return WAIT_WRONG;
	slash = strchr(arg, '/');
	srv = server_find_path(proxies_current(), arg, error);
	if (!srv)
		return slash && slash[1] ? WAIT_FAILED : WAIT_WRONG;
	switch (server_removal_state(srv, error)) {
	case SERVER_REMOVAL_NOW:
		return WAIT_DONE;
	case SERVER_REMOVAL_LATER:
		server_flush(srv, nothing, NULL);
		return WAIT_MORE;
	default:
		return WAIT_FAILED;
	}
}

static bool register_condition(void)
{
	static const struct wait_condition removable = {
		.name = "srv-removable", .syntax = "<px>/<sv>",
		.help = "this server can be removed", .test = srv_removable,
	};

	wait_add_condition(&removable);
	return true;
}

static const struct ctl_command commands[] = {
	{ .words = "add server", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "create a new server", .run = add_server },
	{ .words = "del server", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "remove a server", .run = del_server, .release = removal_release },
	{ 0 }
};

const struct module mod_server_dynamic_ctl = {
	.name = "server_dynamic_ctl", .commands = commands, .init = register_condition,
};
