/* SPDX-License-Identifier: GPL-2.0-or-later */
/* backend_dynamic_ctl.c - edge file: the Runtime API's commands that add and remove backends */
#include <string.h>
#include "backend_dynamic.h"
#include "base/module.h"
#include "conf/conf.h"
#include "core/wait.h"
#include "ctl/ctl.h"
#include "proxy/balance.h"

static const struct { const char *name; enum proxy_mode mode; } modes[] = {
	{ "tcp", PROXY_MODE_TCP }, { "http", PROXY_MODE_HTTP }, { "log", PROXY_MODE_LOG },
	{ "spop", PROXY_MODE_SPOP },
};

static bool can_be_made(enum proxy_mode mode)
{
	return mode == PROXY_MODE_TCP || mode == PROXY_MODE_HTTP;
}

/* The mode that the command says; false: told. */
static bool take_mode(struct ctl_request *rq, const char *word, enum proxy_mode *out)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, word) != 0)
			continue;
		*out = modes[i].mode;
		if (!can_be_made(*out))
			ctl_error(rq, "Dynamic backends are compatible with only TCP or HTTP "
				  "mode.");
		return can_be_made(*out);
	}
	ctl_error(rq, "Unknown proxy mode.");
	return false;
}

/* [mode <mode>] [guid <guid>], each once, in any order. False: told. */
static bool take_options(struct ctl_request *rq, struct backend_want *want, bool *has_mode)
{
	for (int i = rq->at + 3; i < rq->count; i += 2) {
		const char *word = rq->words[i], *value = rq->words[i + 1];

		if (strcmp(word, "mode") == 0 && value && !*has_mode) {
			*has_mode = true;
			if (!take_mode(rq, value, &want->mode))
				return false;
		} else if (strcmp(word, "guid") == 0 && value && !want->guid) {
			want->guid = value;
		} else {
			ctl_error(rq, "Usage: add backend <name> from <defproxy> [mode <px_mode>] "
				  "[guid <val>].");
			return false;
		}
	}
	return true;
}

/* Words of the command, all but those of the defaults section. False: told. */
static bool take_words(struct ctl_request *rq)
{
	const char *name = rq->at < rq->count ? rq->words[rq->at] : "";
	char bad = conf_name_bad_char(name);

	if (!*name)
		ctl_error(rq, "Require backend name.");
	else if (bad)
		ctl_error(rq, "Invalid character '%c' in backend name.", bad);
	else if (rq->count - rq->at < 3 || strcmp(rq->words[rq->at + 1], "from") != 0)
		ctl_error(rq, "Usage: add backend <name> from <defproxy>.");
	else
		return true;
	return false;
}

static bool take_defaults(struct ctl_request *rq, struct backend_want *want)
{
	const char *name = rq->words[rq->at + 2];

	want->defaults = proxy_find_kept_defaults(proxies_current(), name);
	if (!want->defaults) {
		ctl_error(rq, "Cannot find default proxy '%s'.", name);
		return false;
	}
	want->mode = want->defaults->mode;
	if (can_be_made(want->mode))
		return true;
	ctl_error(rq, "Dynamic backends only support TCP or HTTP mode, whereas default proxy '%s' "
		  "uses 'mode %s'.", name, want->mode == PROXY_MODE_LOG ? "syslog" : "spop");
	return false;
}

static void add(struct ctl_request *rq, const struct backend_want *want)
{
	struct strbuf said;
	struct proxy *be;

	strbuf_init(&said);
	be = backend_add(want, &said);
	if (!be)
		ctl_error(rq, "Error during backend creation : %.*s.",
			  SLICE_FMT(strbuf_slice(&said)));
	else if (balance_has_dynamic_weights(be))
		ctl_say(rq, "%.*sNew backend registered.", SLICE_FMT(strbuf_slice(&said)));
	else
		ctl_say(rq, "%.*sNew backend registered (no support for dynamic servers: backend "
			"'%s' uses a non dynamic load balancing method).",
			SLICE_FMT(strbuf_slice(&said)), be->name);
	strbuf_fini(&said);
}

static void add_locked(struct ctl_request *rq)
{
	struct backend_want want = { .name = rq->words[rq->at] };
	bool has_mode;

	if (!take_defaults(rq, &want))
		return;
	has_mode = false;
	if (!take_options(rq, &want, &has_mode))
		return;
	if (!has_mode && !want.defaults->is_set.mode)
		ctl_error(rq, "Mode is required as '%s' default proxy does not explicitly defines "
			  "it.", want.defaults->name);
	else
		add(rq, &want);
}

static enum ctl_step add_backend(struct ctl_request *rq)
{
	if (!take_words(rq))
		return CTL_DONE;
	config_edit_begin(); /* a reload switches generations before or behind */
	add_locked(rq);
	config_edit_end();
	return CTL_DONE;
}

static enum ctl_step del_backend(struct ctl_request *rq)
{
	const char *name = rq->at < rq->count ? rq->words[rq->at] : "", *why = "No such backend.";
	struct proxy *be;

	if (rq->count - rq->at > 1) {
		ctl_error(rq, "Usage: del backend <name>.");
		return CTL_DONE;
	}
	config_edit_begin();
	be = proxy_find(proxies_current(), name, PROXY_BE);
	if (be && backend_remove(be, &why))
		ctl_say(rq, "Backend deleted.");
	else
		ctl_error(rq, "%s", why);
	config_edit_end();
	return CTL_DONE;
}

/* `wait <delay> be-removable <backend>` */
static enum wait_result be_removable(const char *arg, const char **error)
{
	const struct proxy *be = arg ? proxy_find(proxies_current(), arg, PROXY_BE) : NULL;

	*error = arg ? "No such backend." : "Missing backend name.";
	if (!be)
		return arg ? WAIT_FAILED : WAIT_WRONG;
	switch (backend_removal_state(be, error)) {
	case BACKEND_REMOVAL_NOW:
		return WAIT_DONE;
	case BACKEND_REMOVAL_LATER:
		return WAIT_MORE;
	default:
		return WAIT_FAILED;
	}
}

static bool register_condition(void)
{
	static const struct wait_condition removable = {
		.name = "be-removable", .syntax = "<px>",
		.help = "this backend can be removed", .test = be_removable,
	};

	wait_add_condition(&removable);
	return true;
}

static const struct ctl_command commands[] = {
	{ .words = "add backend", .level = CTL_ADMIN, .syntax = "<backend>",
	  .help = "add a new backend", .run = add_backend },
	{ .words = "del backend", .level = CTL_ADMIN, .syntax = "<backend>",
	  .help = "delete a backend", .run = del_backend },
	{ 0 }
};

const struct module mod_backend_dynamic_ctl = {
	.name = "backend_dynamic_ctl", .commands = commands, .init = register_condition,
};
