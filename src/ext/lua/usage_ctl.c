/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage_ctl.c - edge file: `show lua`, what functions of scripts have cost (an extension)
 *
 * The command adds up the counts of all states without their locks, so a line may be a few calls
 * behind.
 */
#include "proxy/proxy.h"
#include "room_priv.h"

static void show_one(struct ctl_request *rq, const struct script_function *fn)
{
	static const char *const kinds[] = {
		[SCRIPT_ACTION] = "action", [SCRIPT_FETCH] = "fetch",
		[SCRIPT_CONVERTER] = "converter", [SCRIPT_SERVICE] = "service",
		[SCRIPT_INIT] = "init", [SCRIPT_TASK] = "task", [SCRIPT_CLI] = "command",
		[SCRIPT_FILTER] = "filter", [SCRIPT_EVENT] = "event",
	};
	struct script_usage sum = { 0 };

	for (unsigned i = 0; i < fn->ref_count; i++) {
		const struct script_usage *u = &fn->usage[i];
		uint64_t longest = __atomic_load_n(&u->longest_ns, __ATOMIC_RELAXED);

		sum.calls += __atomic_load_n(&u->calls, __ATOMIC_RELAXED);
		sum.errors += __atomic_load_n(&u->errors, __ATOMIC_RELAXED);
		sum.ns += __atomic_load_n(&u->ns, __ATOMIC_RELAXED);
		sum.allocated += __atomic_load_n(&u->allocated, __ATOMIC_RELAXED);
		sum.longest_ns = longest > sum.longest_ns ? longest : sum.longest_ns;
	}
	strbuf_printf(rq->out, "%s %s calls=%llu errors=%llu cpu_us=%llu longest_us=%llu "
		      "allocated=%llu\n", kinds[fn->kind], fn->own_name,
		      (unsigned long long)sum.calls, (unsigned long long)sum.errors,
		      (unsigned long long)sum.ns / 1000, (unsigned long long)sum.longest_ns / 1000,
		      (unsigned long long)sum.allocated);
}

/* rq->pos: how many functions were shown. A reload in between shows those of the new scripts. */
static enum ctl_step show_lua(struct ctl_request *rq)
{
	const struct script_room *room = script_room_of(proxies_current());
	const struct script_function *fn = room->functions;
	uint64_t at = 0;

	if (!rq->pos)
		strbuf_printf(rq->out, "# memory=%llu maxmem=%llu\n", (unsigned long long)
			      __atomic_load_n(&room->memory, __ATOMIC_RELAXED),
			      (unsigned long long)room->maxmem_mb << 20);
	for (; fn; fn = fn->next, at++) {
		if (at < rq->pos)
			continue;
		if (ctl_is_due(rq))
			return CTL_MORE;
		if (fn->usage)
			show_one(rq, fn);
		rq->pos = at + 1;
	}
	return CTL_DONE;
}

const struct ctl_command script_commands[] = {
	{ .words = "show lua", .level = CTL_OPERATOR, .run = show_lua,
	  .help = "show calls, errors, time and memory of each Lua function" },
	{ 0 }
};
