/* SPDX-License-Identifier: GPL-2.0-or-later */
/* health: what results do to a server, which servers follow it, what an agent's line does, what
 * judges of protocols say to answers that come in pieces
 */
#include "core/pool.h"
#include "tap.h"
#include "check/run.h"
#define FIXTURE_ABOVE &mod_check,
#include "proxy/fixture.h"
#include "check_priv.h"
#include "check_settings.h"

static char said[8192];

static void remember(const struct proxy *px, enum proxy_event event, const char *text)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%d %s\n", event, text);
}

static const char text[] =
	"backend b\n"
	"  option log-health-checks\n"
	"  server s 127.0.0.1:80 check rise 2 fall 3\n"
	"  server t 127.0.0.1:80 track s\n"
	"  server u 127.0.0.1:80 track b/t backup\n"
	"backend c\n"
	"  server s 127.0.0.1:80 check rise 1 fall 2 init-state down slowstart 32s weight 3\n"
	"  server a 127.0.0.1:80 check agent-check agent-port 1 weight 10\n"
	"  server o 127.0.0.1:80 check rise 2 fall 5 observe layer4 error-limit 2 "
	"on-error sudden-death\n"
	"  server d 127.0.0.1:80 check disabled\n";

static struct server *find(struct config *cfg, const char *path)
{
	const char *error = NULL;
	struct server *srv = server_find_path(cfg, path, &error);

	if (!srv)
		abort();
	return srv;
}

static const char *status(const struct server *srv)
{
	static char out[64];

	server_status(srv, out, sizeof(out));
	return out;
}

static void report(struct server *srv, bool agent, enum check_status st, const char *why)
{
	struct check_result r = { .status = st, .text = why, .code = 200 };

	check_report(srv, agent, &r);
}

static void test_rise_and_fall(struct config *cfg)
{
	struct server *s = find(cfg, "b/s"), *t = find(cfg, "b/t"), *u = find(cfg, "b/u");

	is_str(status(s), "UP 1/3", "not checked yet: one failure is enough");
	is_str(status(t), "UP 1/3", "who tracks it looks the same");
	report(s, false, CHECK_L7OK, NULL);
	is_str(status(s), "UP", "one success: up for good");
	report(s, false, CHECK_L7STS, "bad");
	is_str(status(s), "UP 2/3", "a failure");
	report(s, false, CHECK_L7OK, NULL);
	is_str(status(s), "UP", "forgotten by a success");
	for (int i = 0; i < 3; i++)
		report(s, false, CHECK_L4CON, "Connection refused");
	is_str(status(s), "DOWN", "fall failures in a row");
	is_str(status(t), "DOWN", "so is who tracks it");
	is_str(status(u), "DOWN", "and who tracks that one");
	report(s, false, CHECK_L7OK, NULL);
	is_str(status(s), "DOWN 1/2", "on its way up");
	report(s, false, CHECK_L7OKC, NULL);
	is_str(status(s), "NOLB", "a conditional success brings it up half");
	is_int(counter_read(&s->state->counters, CNT_CHECK_FAILS), 4, "failures are counted");
	is_int(counter_read(&s->state->counters, CNT_CHECK_DOWNS), 1, "so is it to go down");
	ok(strstr(said, "1 Server b/s is DOWN. 1 active and 1 backup servers left. 0 sessions"),
	   "the change is told");
	ok(strstr(said, "1 Server b/t is DOWN via b/s. 0 active and 1 backup servers left. "
		  "Running on backup."), "and those that follow");
	ok(strstr(said, "1 Backup Server b/u is DOWN via b/t. 0 active and 0 backup"),
	   "all of them");
	ok(strstr(said, "4 Health check for server b/s succeeded, reason: Layer7 check passed, "
		  "code: 200, check duration: 0ms, status: 1/2 DOWN."), "so is each result");
}

static void test_soft_stop(struct config *cfg)
{
	struct server *s = find(cfg, "b/s"), *t = find(cfg, "b/t");

	report(s, false, CHECK_L7OK, NULL);
	report(s, false, CHECK_L7OKC, NULL);
	is_str(status(s), "NOLB", "a conditional success stops softly");
	ok(!server_is_usable(s) && server_is_willing(s), "for what belongs to it only");
	report(s, false, CHECK_L7STS, NULL);
	is_str(status(t), "NOLB 2/3", "and it may fail from there");
	report(s, false, CHECK_L7OK, NULL);
	is_str(status(s), "UP", "and come back");
}

static void test_maintenance(struct config *cfg)
{
	struct server *s = find(cfg, "b/s"), *u = find(cfg, "b/u"), *d = find(cfg, "c/d");

	is_str(status(d), "MAINT", "disabled in the file");
	is_int(check_health_of(&d->state->check), 0, "without health");
	server_set_admin(s, SERVER_FMAINT, 0);
	is_str(status(u), "MAINT (via b/t)", "maintenance is inherited along the chain");
	report(s, false, CHECK_L7OK, NULL);
	is_str(status(s), "MAINT", "results that come late do not count");
	server_set_admin(s, 0, SERVER_FMAINT);
	is_str(status(s), "UP 1/3", "left as if it had not been checked");
	is_str(status(u), "UP 1/3", "by all");
	server_set_admin(d, 0, SERVER_FMAINT | SERVER_CMAINT);
	is_str(status(d), "UP 1/3", "enabled");
}

static void test_slow_start(struct config *cfg)
{
	struct server *s = find(cfg, "c/s");

	is_str(status(s), "DOWN", "init-state down");
	report(s, false, CHECK_L4OK, NULL);
	is_str(status(s), "UP", "one success is enough");
	is_int(s->state->oper, SERVER_STARTING, "and it starts slowly");
	is_int(server_weight_sixteenths(s), 3, "with a sixteenth of its weight");
	s->state->changed_us -= 16 * 1000000ull;
	ok(server_warm_up(s), "half of the time is over");
	is_int(server_weight_sixteenths(s), 3 * 9, "so is half of the way");
	s->state->changed_us -= 16 * 1000000ull;
	ok(!server_warm_up(s), "all of the time is over");
	is_int(server_weight_sixteenths(s), 3 * 16, "it has all of its weight");
	is_int(s->state->oper, SERVER_RUNNING, "and runs");
}

static void test_agent(struct config *cfg)
{
	struct server *a = find(cfg, "c/a");

	report(a, false, CHECK_L4OK, NULL);
	report(a, true, CHECK_L4CON, "refused");
	is_str(status(a), "UP", "an agent that cannot be reached says nothing");
	report(a, true, CHECK_L7STS, "via agent : down");
	is_str(status(a), "DOWN (agent)", "the agent says down");
	report(a, false, CHECK_L4OK, NULL);
	is_str(status(a), "DOWN (agent)", "a good check does not change that");
	for (int i = 0; i < 3; i++)
		report(a, false, CHECK_L4CON, NULL);
	report(a, true, CHECK_L7OK, NULL);
	is_str(status(a), "DOWN", "the agent agrees, the check does not");
	report(a, false, CHECK_L4OK, NULL);
	report(a, false, CHECK_L4OK, NULL);
	is_str(status(a), "UP", "both agree");
}

static void test_observe(struct config *cfg)
{
	struct server *o = find(cfg, "c/o");

	report(o, false, CHECK_L4OK, NULL);
	check_observe(o, &o->checks, SEEN_CONNECT_FAILED);
	check_observe(o, &o->checks, SEEN_CONNECTED);
	check_observe(o, &o->checks, SEEN_CONNECT_FAILED);
	is_str(status(o), "UP", "not in a row");
	check_observe(o, &o->checks, SEEN_CONNECT_FAILED);
	is_str(status(o), "UP 1/5", "sudden death: one more and it is down");
	check_observe(o, &o->checks, SEEN_RESPONSE_STATUS);
	check_observe(o, &o->checks, SEEN_RESPONSE_STATUS);
	is_str(status(o), "UP 1/5", "layer 7 is not looked at");
	check_observe(o, &o->checks, SEEN_CONNECT_FAILED);
	check_observe(o, &o->checks, SEEN_CONNECT_FAILED);
	is_str(status(o), "DOWN", "down");
}

/* --- an agent's line ------------------------------------------------------------------------ */

struct agent_case {
	const char *line, *says;
	enum check_status status;
	unsigned weight;
};

static const struct agent_case agent_cases[] = {
	{ "up\n", "via agent : up", CHECK_L7OK, 10 },
	{ "down\r\n", "via agent : down", CHECK_L7STS, 10 },
	{ "stopped #for  good\n", "via agent : stopped (for  good)", CHECK_L7STS, 10 },
	{ "fail,25%\n", "via agent : fail", CHECK_L7STS, 2 },
	{ "weight:30\tup\n", "via agent : up", CHECK_L7OK, 30 },
	{ "weight:50%\n", NULL, CHECK_CHECKED, 5 },
	{ "weight:300 up\n",
	  "via agent : up (Absolute weight can only be between 0 and 256 inclusive. )", CHECK_L7OK,
	  10 },
	{ "weight:\n", "agent warns : Require <weight> or <weight%>.",
	  CHECK_CHECKED, 10 },
	{ "down#note\n", "agent reports an error : down#note", CHECK_CHECKED, 10 },
	{ "%\n", "agent reports an error : %", CHECK_CHECKED, 10 },
	{ "\n", NULL, CHECK_CHECKED, 10 },
	{ " , ,\t\n", NULL, CHECK_CHECKED, 10 },
	{ "up\ndown\n", "via agent : up", CHECK_L7OK, 10 },
};

static void test_agent_lines(struct config *cfg)
{
	struct server *a = find(cfg, "c/a");
	struct check_run run = { 0 };
	struct check c = { .server = a, .state = &a->state->agent, .run = &run, .agent = true };
	const char *error;

	arena_init(&run.arena, 0);
	for (unsigned i = 0; i < sizeof(agent_cases) / sizeof(*agent_cases); i++) {
		const struct agent_case *t = &agent_cases[i];
		size_t end = strcspn(t->line, "\r\n");
		struct check_result r = { 0 };

		server_set_weight(a, "100%", &error);
		is_int(agent_judge(&c, slice_make(t->line, end), false, &r), VERDICT_WAIT,
		       "agent %u: waits for the end of the line", i);
		agent_judge(&c, slice_of(t->line), false, &r);
		is_int(r.status, t->status, "agent %u: status", i);
		is_str(r.text ? r.text : "", t->says ? t->says : "", "agent %u: text", i);
		is_int(server_weight(a), t->weight, "agent %u: weight", i);
	}
	arena_fini(&run.arena);
}

/* --- protocols ------------------------------------------------------------------------------ */

struct protocol_case {
	const char *option, *answer;
	size_t len;
	int nth;                 /* which expectation of the rules */
	enum check_status status;
	int code;
};

#define BYTES(s) s, sizeof(s) - 1

static const struct protocol_case protocol_cases[] = {
	{ "redis-check", BYTES("+PONG\r\n"), 1, CHECK_L7OK, 0 },
	{ "redis-check", BYTES("-ERR\r\n"), 1, CHECK_L7STS, 0 },
	{ "smtpchk", BYTES("220 hello\r\n"), 1, CHECK_L7OK, 220 },
	{ "smtpchk", BYTES("220-hello\r\n220-more\r\n250 x\r\n"), 1, CHECK_L7OK, 250 },
	{ "smtpchk", BYTES("554 no\r\n"), 1, CHECK_L7STS, 554 },
	{ "smtpchk", BYTES("hello\r\n"), 1, CHECK_L7RSP, 0 },
	{ "mysql-check", BYTES("\x03\0\0\0\x0a" "5\0"), 1, CHECK_L7OK, 0 },
	{ "mysql-check", BYTES("\x05\0\0\0\xff\x10\x04" "no"), 1, CHECK_L7STS, 1040 },
	{ "mysql-check", BYTES("\x01\0\0\0\x07"), 1, CHECK_L7RSP, 0 },
	{ "mysql-check user x", BYTES("\x03\0\0\2\0\0\0"), 2, CHECK_L7OK, 0 },
	{ "pgsql-check user x", BYTES("R\0\0\0\x08\0\0\0\0"), 1, CHECK_L7OK, 0 },
	{ "pgsql-check user x", BYTES("R\0\0\0\x0c\0\0\0\x05salt"), 1, CHECK_L7OK, 0 },
	{ "pgsql-check user x", BYTES("E\0\0\0\x0eSFATAL\0\0"), 1, CHECK_L7RSP, 0 },
	{ "pgsql-check user x", BYTES("HTTP/1.1 400"), 1, CHECK_L7STS, 0 },
	{ "ldap-check", BYTES("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00"), 1,
	  CHECK_L7OK, 0 },
	{ "ldap-check",
	  BYTES("\x30\x84\0\0\0\x10\x02\x01\x01\x61\x84\0\0\0\x07\x0a\x01\x31\x04\0\x04\0"), 1,
	  CHECK_L7RSP, 0 },
	{ "ldap-check", BYTES("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x31\x04\x00\x04\x00"), 1,
	  CHECK_L7STS, 49 },
	{ "ssl-hello-chk", BYTES("\x16"), 1, CHECK_L6OK, 0 },
	{ "ssl-hello-chk", BYTES("\x15"), 1, CHECK_L6OK, 0 },
	{ "ssl-hello-chk", BYTES("H"), 1, CHECK_L6RSP, 0 },
};

static const struct check_rule *expect_of(struct config *cfg, int nth)
{
	const struct check_rule *r = check_proxy_of(proxy_find(cfg, "p", PROXY_BE))->run;

	for (; r; r = r->next)
		if (r->type == CHECK_EXPECT && --nth == 0)
			return r;
	return NULL;
}

/* Each answer byte by byte, in memory that ends with it. */
static void test_protocol(const struct protocol_case *t)
{
	char conf[200];
	struct check_run run = { 0 };
	struct check c = { .run = &run };
	struct check_result r = { 0 };
	enum expect_verdict v = VERDICT_WAIT;
	struct config *cfg;

	snprintf(conf, sizeof(conf), "backend p\n  option %s\n  server s 127.0.0.1:80 check\n",
		 t->option);
	cfg = fixture_load(conf);
	arena_init(&run.arena, 0);
	run.rule = expect_of(cfg, t->nth);
	for (size_t n = 0; n <= t->len && v == VERDICT_WAIT; n++) {
		char *copy = malloc(n ? n : 1);

		memcpy(copy, t->answer, n);
		v = run.rule->expect.judge(&c, slice_make(copy, n), n == t->len, &r);
		free(copy);
	}
	is_int(r.status, t->status, "%s: status", t->option);
	is_int(r.code, t->code, "%s: code", t->option);
	arena_fini(&run.arena);
	config_drop(&cfg);
}

int main(void)
{
	struct config *cfg;

	fixture_init();
	proxy_add_event_hook(remember);
	cfg = fixture_load(text);
	test_rise_and_fall(cfg);
	test_soft_stop(cfg);
	test_maintenance(cfg);
	test_slow_start(cfg);
	test_agent(cfg);
	test_observe(cfg);
	test_agent_lines(cfg);
	config_drop(&cfg);
	for (unsigned i = 0; i < sizeof(protocol_cases) / sizeof(*protocol_cases); i++)
		test_protocol(&protocol_cases[i]);
	return done_testing();
}
