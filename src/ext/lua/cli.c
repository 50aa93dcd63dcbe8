/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cli.c - core.register_cli: commands of the Runtime API that scripts bring
 *
 * A command keeps its configuration until it is released, so that a reload does not end it.
 */
#include <lauxlib.h>
#include <stdlib.h>
#include "base/bug.h"
#include "base/clock.h"
#include "class_priv.h"
#include "core/timer.h"
#include "ctl/ctl.h"
#include "proxy/proxy.h"
#include "room_priv.h"
#include "row_priv.h"
#include "run_priv.h"

#define WORDS_MAX 5

/* A command that runs. */
struct cli_call {
	struct script_applet applet;
	struct script_run run;
	struct expr_ctx ctx;
	struct arena arena;
	struct timer timer;
	struct config *cfg;
	struct ctl_request *rq;
};

/* --- the words -------------------------------------------------------------------------------- */

static const struct ctl_command *command_of(const struct script_function *fn)
{
	while (fn && fn->kind != SCRIPT_CLI)
		fn = fn->next;
	return fn ? &fn->command : NULL;
}

/* See ctl_set_more(). */
const struct ctl_command *script_command_next(const struct ctl_command *c)
{
	const struct config *cfg = proxies_current();

	if (c)
		return command_of(container_of(c, struct script_function, command)->next);
	return cfg ? command_of(script_room_of(cfg)->functions) : NULL;
}

/* --- running ---------------------------------------------------------------------------------- */

static int push_words(lua_State *L, struct script_run *run, void *data)
{
	const struct cli_call *c = data;

	luaL_checkstack(L, c->rq->count + 8, "arguments");
	script_push_applet(L, run, &container_of(run, struct cli_call, run)->applet);
	for (int i = 0; i < c->rq->count; i++)
		lua_pushstring(L, c->rq->words[i]);
	return 1 + c->rq->count;
}

static void call_due(struct timer *t)
{
	ctl_session_resume(container_of(t, struct cli_call, timer)->rq->session);
}

static void call_wake(struct script_run *run)
{
	struct cli_call *c = container_of(run, struct cli_call, run);

	timer_cancel(&c->timer);
	ctl_session_resume(c->rq->session);
}

static bool open_call(struct ctl_request *rq)
{
	struct script_function *fn = container_of(rq->command, struct script_function, command);
	struct cli_call *c = calloc(1, sizeof(*c));

	if (!c)
		return false;
	rq->state = c;
	c->rq = rq;
	c->cfg = config_take(fn->room->cfg);
	arena_init(&c->arena, 0);
	c->ctx.arena = &c->arena;
	timer_init(&c->timer, call_due);
	strbuf_init(&c->applet.out);
	c->run.may_wait = true;
	c->run.wake = call_wake;
	return script_begin(&c->run, fn, &c->ctx, push_words, c);
}

static enum ctl_step run_command(struct ctl_request *rq)
{
	struct cli_call *c = rq->state;
	enum script_step step;

	if (!c && !open_call(rq))
		return CTL_DONE;
	c = rq->state;
	step = script_go(&c->run, NULL, NULL);
	strbuf_add(rq->out, strbuf_slice(&c->applet.out));
	strbuf_reset(&c->applet.out);
	if (step != SCRIPT_WAITS)
		return CTL_DONE;
	if (c->run.wake_ms <= clock_now_ms())
		return CTL_MORE;
	timer_set(&c->timer, c->run.wake_ms);
	return CTL_WAIT;
}

static void release(struct ctl_request *rq)
{
	struct cli_call *c = rq->state;

	if (!c)
		return;
	timer_cancel(&c->timer);
	script_end(&c->run);
	strbuf_fini(&c->applet.out);
	arena_fini(&c->arena);
	config_drop(&c->cfg);
	free(c);
}

/* --- registering ------------------------------------------------------------------------------ */

/* The words of the table at 1, with <gap> between. */
static const char *words_at(lua_State *L, char gap)
{
	lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
	luaL_Buffer b;

	luaL_argcheck(L, count >= 1 && count <= WORDS_MAX, 1, "one to five words are expected");
	luaL_buffinit(L, &b);
	for (lua_Integer i = 1; i <= count; i++) {
		if (i > 1)
			luaL_addchar(&b, gap);
		luaL_argcheck(L, lua_rawgeti(L, 1, i) == LUA_TSTRING &&
			      !strpbrk(lua_tostring(L, -1), " \t;\\"), 1, "a word is expected");
		luaL_addvalue(&b);
	}
	luaL_pushresult(&b);
	return lua_tostring(L, -1);
}

/* core.register_cli(words, usage, function) */
int script_register_cli(lua_State *L)
{
	struct script_function *fn;
	const char *words, *usage, *shown;

	if (lua_gettop(L) != 3)
		return luaL_error(L, "'register_cli' needs 3 arguments");
	luaL_argcheck(L, lua_istable(L, 1), 1, "1st argument must be a table");
	usage = luaL_checkstring(L, 2);
	luaL_checktype(L, 3, LUA_TFUNCTION);
	words = words_at(L, ' ');
	shown = lua_pushfstring(L, "<lua.cli.%s>", words_at(L, '.'));
	fn = script_function_take(L, SCRIPT_CLI, shown, 3);
	fn->command = (struct ctl_command){
		.words = conf_strdup(fn->room->cfg, words), .level = CTL_USER,
		.help = conf_strdup(fn->room->cfg, usage), .run = run_command, .release = release,
		.flags = CTL_PATIENT | CTL_RAW,
	};
	if (!fn->command.words || !fn->command.help)
		return luaL_error(L, "out of memory");
	return 0;
}
