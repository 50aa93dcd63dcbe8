/* SPDX-License-Identifier: GPL-2.0-or-later */
/* persist_ctl.c - edge file: the Runtime API's commands about dynamic cookies */
#include <stdlib.h>
#include <string.h>
#include "core/mailbox.h"
#include "ctl/ctl.h"
#include "proxy/proxy.h"
#include "stream/persist.h"

/* The settings of the backend that the next word names; NULL: reported. */
static struct persist_proxy *take_backend(struct ctl_request *rq)
{
	const char *name = rq->at < rq->count ? rq->words[rq->at++] : NULL;
	struct proxy *be;

	if (!name) {
		ctl_error(rq, "A backend name is expected.");
		return NULL;
	}
	be = proxy_find(proxies_current(), name, PROXY_BE);
	if (!be) {
		ctl_error(rq, "No such backend.");
		return NULL;
	}
	return persist_of_proxy(be);
}

static void nothing(void *key)
{
}

/* Streams use a key within one turn of their thread: when all have had one, no stream has the old
 * one.
 */
static void key_replace(struct persist_proxy *pp, char *key)
{
	char *old = pp->own_key;

	__atomic_store_n(&pp->key, key, __ATOMIC_RELEASE);
	pp->own_key = key;
	if (old)
		thread_call_all(nothing, free, old);
}

static enum ctl_step set_key(struct ctl_request *rq)
{
	struct persist_proxy *pp = take_backend(rq);
	char *key;

	if (!pp)
		return CTL_DONE;
	if (rq->at >= rq->count || !*rq->words[rq->at]) {
		ctl_error(rq, "String value expected.");
		return CTL_DONE;
	}
	if (strlen(rq->words[rq->at]) > PERSIST_KEY_MAX) {
		ctl_error(rq, "The key is longer than %d bytes.", PERSIST_KEY_MAX);
		return CTL_DONE;
	}
	key = strdup(rq->words[rq->at]);
	if (key)
		key_replace(pp, key);
	else
		ctl_error(rq, "Out of memory.");
	return CTL_DONE;
}

static void set_dynamic(struct ctl_request *rq, unsigned on)
{
	struct persist_proxy *pp = take_backend(rq);

	if (pp)
		__atomic_store_n(&pp->is_dynamic, on, __ATOMIC_RELAXED);
}

static enum ctl_step enable(struct ctl_request *rq)
{
	set_dynamic(rq, 1);
	return CTL_DONE;
}

static enum ctl_step disable(struct ctl_request *rq)
{
	set_dynamic(rq, 0);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "set dynamic-cookie-key backend", .level = CTL_ADMIN, .syntax = "<bk> <k>",
	  .help = "change a backend's secret key of dynamic cookies", .run = set_key },
	{ .words = "enable dynamic-cookie backend", .level = CTL_ADMIN, .syntax = "<bk>",
	  .help = "enable dynamic cookies on a backend", .run = enable },
	{ .words = "disable dynamic-cookie backend", .level = CTL_ADMIN, .syntax = "<bk>",
	  .help = "disable dynamic cookies on a backend", .run = disable },
	{ 0 }
};

const struct module mod_persist_ctl = { .name = "persist_ctl", .commands = commands };
