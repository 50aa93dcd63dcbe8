/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections, inheritance, options of lines, what is refused, and what a reload keeps. */
#include "fixture.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include "proxy/bind.h"
#include "tap.h"

#define TIMEOUTS "defaults\n timeout client 1s\n timeout server 2s\n timeout connect 3s\n"

static void test_inheritance(void)
{
	struct config *cfg = fixture_load(
		"defaults base\n timeout client 10\n mode http\n option nolinger\n retries 7\n"
		"defaults more from base\n timeout server 2m\n no option nolinger\n"
		" default-server weight 5 maxconn 9\n"
		"listen a from more\n bind :27001-27003,127.0.0.1:27009 name x\n"
		" server s 127.0.0.1:1\n"
		" server t 127.0.0.1:1 weight 6\nbackend b from base\n server s 127.0.0.1:1\n"
		"defaults\nbackend c\n");
	struct proxy *a = proxy_find(cfg, "a", PROXY_FE), *b = proxy_find(cfg, "b", PROXY_BE);
	struct proxy *c = proxy_find(cfg, "c", 0);
	struct listener_conf *lc;
	struct bind_conf *bind;
	int ports = 0, sum = 0;

	ok(a && b && c, "sections are found by name");
	ok(!proxy_find(cfg, "b", PROXY_FE), "but not as what they are not");
	is_int((int)a->timeout.client, 10, "from the grandparent");
	is_int((int)a->timeout.server, 120000, "from the parent");
	ok(!(a->options & PROXY_OPT_NOLINGER), "an option was removed on the way");
	ok(b->options & PROXY_OPT_NOLINGER, "and not elsewhere");
	is_int(a->retry.count, 7, "retries");
	is_int(c->retry.count, 3, "an empty defaults section begins anew");
	is_int(c->mode, PROXY_MODE_TCP, "so does the mode");
	is_int((int)server_find(a, "s")->uweight, 5, "default-server");
	is_int((int)server_find(a, "t")->uweight, 6, "the line wins");
	is_int((int)server_find(a, "t")->limits.maxconn, 9, "for what it says only");
	is_int((int)server_find(b, "s")->uweight, 1, "another defaults, another server");
	is_int(a->id, 1, "ids begin at 1");
	is_int(c->id, 3, "and go on");
	list_for_each(bind, &a->binds, link)
		list_for_each(lc, &bind->listeners, link) {
			ports++;
			sum += ntohs(((struct sockaddr_in *)&lc->address)->sin_port);
		}
	is_int(ports, 4, "a range is expanded");
	is_int(sum, 27001 + 27002 + 27003 + 27009, "to each of its ports");
	config_drop(&cfg);
}

static void test_refusals(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "backend b\nbackend b\n",
		  "backend 'b' has the same name as backend 'b' declared at test:5." },
		{ "backend b\n server s 127.0.0.1:1\n server s 127.0.0.1:2\n",
		  "parsing [test:7] : backend 'b', another server named 's' was already defined at "
		  "line 6, please use distinct names." },
		{ "frontend f\n bind :27001\n default_backend nope\n",
		  "Proxy 'f': unable to find required default_backend: 'nope'." },
		{ "frontend f\n mode http\n bind :27001\n default_backend b\nbackend b\n",
		  "http frontend 'f' (test:5) tries to use incompatible tcp backend 'b' (test:9) "
		  "as its default backend (see 'mode')." },
		{ "backend b\n mode foo\n", "unknown proxy mode 'foo'." },
		{ "backend b\n server s 127.0.0.1:1 weight 300\n",
		  "'server b/s' : weight of server s is not within 0 and 256 (300)." },
		{ "backend b\n server s/1 127.0.0.1:1\n",
		  "character '/' is not permitted in server name 's/1'." },
		{ "backend b from nope\n", "defaults section 'nope' not found for backend 'b'." },
		{ "frontend f\n bind 127.0.0.1\n",
		  "'bind' : missing port specification in '127.0.0.1'" },
		{ "backend b\n dispatch 127.0.0.1\n",
		  "'dispatch' : missing port specification in '127.0.0.1'" },
		{ "backend b\n balance random\n option transparent\n",
		  "backend 'b' cannot use both transparent and balance mode." },
		{ "backend b\n balance log-hash\n",
		  "balance log-hash requires a converter list." },
		{ "backend b\n id 7\nbackend c\n id 7\n",
		  "backend c reuses same custom id as backend b (declared at test:5)." },
		{ "frontend f\n bind :27001 nice 5000\n",
		  "'bind :27001' in section 'frontend' : 'nice' : invalid value 5000, allowed "
		  "range is -1024..1024" },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		struct config *cfg;

		snprintf(text, sizeof(text), TIMEOUTS "%s", cases[i].text);
		cfg = fixture_read(text);
		ok(!cfg, "refused: %s", cases[i].message);
		is_str(fixture_message(DIAG_ALERT), cases[i].message, "told so");
		if (cfg)
			config_drop(&cfg);
	}
}

static void test_later(void)
{
	static const char *const lines[] = {
		" compression algo gzip",
		" server s 127.0.0.1:1 shard 1",
	};

	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[256];
		struct config *cfg;

		snprintf(text, sizeof(text), TIMEOUTS "backend b\n%s\n", lines[i]);
		cfg = fixture_read(text);
		ok(!cfg, "not swallowed:%s", lines[i]);
		if (cfg)
			config_drop(&cfg);
	}
}

static void test_threads(void)
{
	struct thread_mask m = { 0 };
	const char *error;

	ok(thread_mask_has(&m, 0, 0), "no set: every thread");
	ok(thread_mask_parse(&m, "2-3,odd", &error), "a set");
	ok(m.absolute[0] == (0x5555555555555555u | 6), "with its threads");
	ok(!thread_mask_parse(&m, "1/all", &error), "notations do not mix");
	m = (struct thread_mask){ 0 };
	ok(thread_mask_parse(&m, "2/1-4", &error), "threads of a group");
	ok(m.of_group[1] == 15 && !m.of_group[0], "of that group");
	ok(!thread_mask_parse(&m, "0", &error), "numbers begin at 1");
	ok(!thread_mask_parse(&m, "5-2", &error), "ranges do not go back");
}

static void test_reload(void)
{
	static const char text[] = TIMEOUTS "backend b\n server s 127.0.0.1:1\n"
		" server t 127.0.0.1:2\n";
	struct config *old = fixture_load(text);
	struct config *new = fixture_load(TIMEOUTS "backend b\n server s 127.0.0.1:1\n"
					  " server t 127.0.0.1:3\n");
	struct proxy *was = proxy_find(old, "b", PROXY_BE), *is = proxy_find(new, "b", PROXY_BE);
	const char *error;

	server_set_weight(server_find(was, "s"), "9", &error);
	server_set_weight(server_find(was, "t"), "9", &error);
	counter_add(&was->state->be, CNT_SESS_TOT, 42);
	proxies_adopt(new, old);
	config_drop(&old);
	is_int((int)counter_read(&is->state->be, CNT_SESS_TOT), 42, "counters stay");
	is_int((int)server_weight(server_find(is, "s")), 9, "a weight set at run time stays");
	is_int((int)server_weight(server_find(is, "t")), 1, "not that of another address");
	is_int((int)balance_total_weight(is), 10, "and balancing knows");
	config_drop(&new);
}

static void test_address(void)
{
	struct config *cfg = fixture_load("backend b\n server s 127.0.0.1:80\n");
	struct server *srv = server_find_path(cfg, "b/s", &(const char *){ NULL });
	struct server_addr addr;
	char text[256];

	ok(server_set_address(srv, "127.0.0.9", "81", "stats socket command", text, sizeof(text)),
	   "a new address");
	is_str(text, "IP changed from '127.0.0.1' to '127.0.0.9', port changed from '80' to '81' "
	       "by 'stats socket command'", "and what is said about it");
	server_address(srv, &addr);
	is_int(ntohs(((struct sockaddr_in *)&addr.sa)->sin_port), 81, "its port");
	ok(!server_set_address(srv, "nope", NULL, "x", text, sizeof(text)),
	   "names are not addresses");
	ok(server_set_address(srv, "::1", NULL, "x", text, sizeof(text)), "another family");
	server_address(srv, &addr);
	is_int(addr.sa.ss_family, AF_INET6, "is used");
	config_drop(&cfg);
}

int main(void)
{
	fixture_init();
	diag_set_quiet(true);
	test_inheritance();
	test_refusals();
	test_later();
	test_threads();
	test_reload();
	test_address();
	return done_testing();
}
