/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fz_check.c - any bytes as what a checked server or an agent answers
 *
 * The first byte chooses the judge: a protocol check, an agent, or an HTTP check. The rest comes
 * piece by piece, as from a socket, in memory that ends where it ends. No judge may read beyond it,
 * wait when nothing more comes, or end without a status.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/diag.h"
#include "conf/conf.h"
#include "expr/expr.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "../../src/check/check_priv.h"

static const struct module *const modules[] = {
	&mod_conf, &mod_balance, &mod_proxy, &mod_proxy_options, &mod_bind, &mod_server,
	&mod_check, &mod_mail, NULL
};

static const char text[] =
	"backend a\n option redis-check\n server s 127.0.0.1:1 check\n"
	"backend b\n option smtpchk\n server s 127.0.0.1:1 check\n"
	"backend c\n option mysql-check user u\n server s 127.0.0.1:1 check\n"
	"backend d\n option pgsql-check user u\n server s 127.0.0.1:1 check\n"
	"backend e\n option ldap-check\n server s 127.0.0.1:1 check\n"
	"backend f\n option ssl-hello-chk\n server s 127.0.0.1:1 check\n"
	"backend g\n server s 127.0.0.1:1 agent-check agent-port 1 weight 10 maxconn 3\n";

#define KINDS 9

static struct config *make_config(void)
{
	static struct config *cfg;
	struct diag_list diags;

	if (cfg)
		return cfg;
	clock_refresh();
	for (unsigned i = 0; modules[i]; i++)
		for (struct slot *const *s = modules[i]->slots; s && *s; s++)
			slot_register(*s);
	diag_list_init(&diags);
	diag_set_quiet(true);
	cfg = conf_register(modules) ? config_new() : NULL;
	if (!cfg || !conf_read_text(cfg, "fuzz", slice_of(text), &diags) ||
	    !conf_check(cfg, &diags))
		abort();
	diag_list_fini(&diags);
	return cfg;
}

/* The <nth> rule that is a function, from 1; the last one if there are fewer. */
static const struct check_rule *judge_of(const struct check_rule *r, int nth)
{
	const struct check_rule *found = NULL;

	for (; r && nth; r = r->next)
		if (r->type == CHECK_EXPECT && r->expect.match == EXPECT_FUNCTION) {
			found = r;
			nth--;
		}
	return found;
}

static void feed_judge(struct check *c, check_judge_fn *judge, struct slice in)
{
	enum expect_verdict v = VERDICT_WAIT;
	struct check_result r = { 0 };

	for (size_t n = 0; v == VERDICT_WAIT; n += 1 + n / 3) {
		bool last = n >= in.len;
		size_t len = last ? in.len : n;
		char *copy = malloc(len ? len : 1);

		if (!copy)
			abort();
		if (len)
			memcpy(copy, in.ptr, len);
		v = judge(c, slice_make(copy, len), last, &r);
		free(copy);
		BUG_ON(last && v == VERDICT_WAIT);
	}
	BUG_ON(r.status >= CHECK_STATUS_COUNT || (v == VERDICT_OK && !r.status));
}

/* The parser of responses and the decoder of bodies, in a block as they come from a connection. */
static void feed_http(struct check *c, struct slice in)
{
	struct check_run *r = c->run;

	r->sent_http = true;
	r->in = block_new_sized(in.len + 1);
	if (!r->in)
		abort();
	for (size_t n = 0; n < in.len;) {
		size_t more = 1 + n / 3 < in.len - n ? 1 + n / 3 : in.len - n;

		memcpy(r->in->data + n, in.ptr + n, more);
		n += more;
		r->in->used = (uint32_t)n;
		if (!check_http_response(c))
			break;
		BUG_ON(r->head_done && r->body.len > r->in->used - r->head.length);
	}
	block_drop(r->in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *cfg = make_config();
	struct check_run *run = calloc(1, sizeof(*run));
	struct check c = { .run = run };
	char name[2] = "a";
	struct proxy *be;
	unsigned kind = size ? data[0] % KINDS : 0;
	struct slice in = size ? slice_make((const char *)data + 1, size - 1) : slice_none();

	if (!run)
		return 0;
	if (in.len > 8000)
		in.len = 8000;
	arena_init(&run->arena, 0);
	name[0] = (char)('a' + (kind < 7 ? kind : 2));
	be = proxy_find(cfg, name, PROXY_BE);
	c.server = server_first(be);
	c.server_state = c.server->state;
	c.state = kind == 6 ? &c.server->state->agent : &c.server->state->check;
	c.agent = kind == 6;
	if (kind == 8)
		feed_http(&c, in);
	else if (kind == 6)
		feed_judge(&c, agent_judge, in);
	else {
		run->rule = judge_of(check_proxy_of(be)->run, kind == 7 ? 2 : 1);
		feed_judge(&c, run->rule->expect.judge, in);
	}
	arena_fini(&run->arena);
	free(run);
	return 0;
}
