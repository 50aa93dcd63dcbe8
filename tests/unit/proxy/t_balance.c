/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each algorithm chooses: order, proportions, servers that are skipped. */
#include "fixture.h"
#include "proxy/queue.h"
#include "tap.h"

static struct balance_pick_args none;

/* The names of the next <n> picks, separated by blanks. */
static const char *picks(struct proxy *be, int n)
{
	static char text[512];

	text[0] = 0;
	while (n--) {
		struct server *srv = balance_pick(be, &none);

		if (text[0])
			strcat(text, " ");
		strcat(text, srv ? srv->name : "-");
	}
	return text;
}

/* Counts <n> picks per server, in order of the file. */
static void tally(struct proxy *be, int n, int *counts)
{
	for (unsigned i = 0; i < be->server_count; i++)
		counts[i] = 0;
	while (n--) {
		struct server *srv = balance_pick(be, &none);

		if (srv)
			counts[srv->index]++;
	}
}

#define SERVERS3 " server s1 127.0.0.1:1\n server s2 127.0.0.1:2\n server s3 127.0.0.1:3\n"

static void test_roundrobin(void)
{
	struct config *cfg = fixture_load("backend b\n balance roundrobin\n" SERVERS3);
	struct proxy *be = proxy_find(cfg, "b", PROXY_BE);
	const char *error;
	int counts[3];

	is_str(picks(be, 7), "s1 s2 s3 s1 s2 s3 s1", "roundrobin: equal weights, first is s1");
	ok(server_set_weight(server_find(be, "s2"), "2", &error), "weight 2 is accepted");
	tally(be, 400, counts);
	ok(counts[0] >= 99 && counts[0] <= 101, "s1 has a quarter: %d", counts[0]);
	ok(counts[1] >= 199 && counts[1] <= 201, "s2 has a half: %d", counts[1]);
	server_set_weight(server_find(be, "s2"), "0", &error);
	tally(be, 100, counts);
	is_int(counts[1], 0, "weight 0 gets nothing");
	server_set_weight(server_find(be, "s2"), "100%", &error);
	tally(be, 9, counts);
	ok(counts[1] >= 2 && counts[1] <= 4, "one that comes back gets its share: %d", counts[1]);
	ok(!server_set_weight(server_find(be, "s2"), "257", &error), "weight 257 is refused");
	is_str(error, "Absolute weight can only be between 0 and 256 inclusive.", "and told why");
	config_drop(&cfg);
}

static void test_weights(void)
{
	static const char *const algorithms[] = { "roundrobin", "static-rr", "random" };

	for (unsigned a = 0; a < 3; a++) {
		char text[512];
		struct config *cfg;
		int counts[4], low = a == 2 ? 80 : 100, high = a == 2 ? 120 : 100;

		snprintf(text, sizeof(text), "backend b\n balance %s\n"
			 " server a 127.0.0.1:1 weight 10\n server b 127.0.0.1:2 weight 30\n"
			 " server c 127.0.0.1:3 weight 0\n server d 127.0.0.1:4 weight 60\n",
			 algorithms[a]);
		cfg = fixture_load(text);
		/* random picks the less loaded of its draws: without load the first one drawn */
		tally(proxy_find(cfg, "b", PROXY_BE), 10000, counts);
		ok(counts[0] >= 10 * low - 20 && counts[0] <= 10 * high + 20, "%s: 10 %% (%d)",
		   algorithms[a], counts[0]);
		ok(counts[1] >= 30 * low - 20 && counts[1] <= 30 * high + 20, "%s: 30 %% (%d)",
		   algorithms[a], counts[1]);
		is_int(counts[2], 0, "%s: weight 0", algorithms[a]);
		ok(counts[3] >= 60 * low - 20 && counts[3] <= 60 * high + 20, "%s: 60 %% (%d)",
		   algorithms[a], counts[3]);
		config_drop(&cfg);
	}
}

static void test_static_rr(void)
{
	struct config *cfg = fixture_load("backend b\n balance static-rr\n" SERVERS3);
	struct proxy *be = proxy_find(cfg, "b", PROXY_BE);
	const char *error;
	int counts[3];

	is_str(picks(be, 6), "s1 s2 s3 s1 s2 s3", "static-rr: equal weights in turn");
	ok(!server_set_weight(server_find(be, "s1"), "5", &error), "weights do not change");
	server_set_admin(server_find(be, "s1"), SERVER_FMAINT, 0);
	tally(be, 100, counts);
	ok(counts[0] == 0 && counts[1] == 50 && counts[2] == 50, "the others share: %d %d %d",
	   counts[0], counts[1], counts[2]);
	config_drop(&cfg);
}

static void test_leastconn(void)
{
	struct config *cfg = fixture_load("backend b\n balance leastconn\n" SERVERS3);
	struct proxy *be = proxy_find(cfg, "b", PROXY_BE);
	struct server *s1 = server_find(be, "s1"), *s2 = server_find(be, "s2");
	struct server *got;

	is_str(picks(be, 2), "s1 s1", "leastconn: a pick alone moves nothing");
	server_slot_take(s1);
	server_slot_take(s1);
	is_str(picks(be, 1), "s2", "loaded servers come later");
	server_slot_take(s2);
	is_str(picks(be, 1), "s3", "the idle one is next");
	server_slot_release(s1);
	server_slot_release(s1);
	server_slot_release(s2);
	/* equals in turn */
	for (int i = 0; i < 6; i++) {
		static const char *const want[] = { "s3", "s1", "s2", "s3", "s1", "s2" };

		got = balance_pick(be, &none);
		is_str(got->name, want[i], "equals in turn (%d)", i);
		server_slot_take(got);
		server_slot_release(got);
	}
	config_drop(&cfg);
}

static void test_first(void)
{
	struct config *cfg = fixture_load("backend b\n balance first\n"
					  " server a 127.0.0.1:1 id 9 maxconn 1\n"
					  " server b 127.0.0.1:2 id 4 maxconn 1\n");
	struct proxy *be = proxy_find(cfg, "b", PROXY_BE);
	struct server *b = server_find(be, "b"), *a = server_find(be, "a");

	is_str(picks(be, 2), "b b", "first: the lowest id");
	ok(server_slot_take(b), "its only slot is taken");
	ok(!server_slot_take(b), "there is no second one");
	is_str(picks(be, 1), "a", "then the next");
	ok(server_slot_take(a), "taken too");
	is_str(picks(be, 1), "-", "none has room");
	ok(balance_has_usable(be), "but they are usable");
	server_slot_release(b);
	is_str(picks(be, 1), "b", "room again");
	config_drop(&cfg);
}

static void test_backups(void)
{
	struct config *cfg = fixture_load("backend b\n balance roundrobin\n"
		" server a 127.0.0.1:1\n server x 127.0.0.1:2 backup\n"
		" server y 127.0.0.1:3 backup\nbackend c\n balance roundrobin\n"
		" option allbackups\n server a 127.0.0.1:1 disabled\n"
		" server x 127.0.0.1:2 backup\n server y 127.0.0.1:3 backup\n");
	struct proxy *be = proxy_find(cfg, "b", PROXY_BE), *all = proxy_find(cfg, "c", PROXY_BE);

	is_str(picks(be, 3), "a a a", "backups wait");
	server_set_admin(server_find(be, "a"), SERVER_FDRAIN, 0);
	is_str(picks(be, 3), "x x x", "only the first backup serves");
	server_set_admin(server_find(be, "x"), SERVER_FMAINT, 0);
	is_str(picks(be, 2), "y y", "then the next one");
	server_set_admin(server_find(be, "y"), SERVER_FMAINT, 0);
	is_str(picks(be, 1), "-", "then nobody");
	ok(!balance_has_usable(be), "nobody is usable");
	server_set_admin(server_find(be, "a"), 0, SERVER_FDRAIN);
	is_str(picks(be, 2), "a a", "the active one is back");
	is_str(picks(all, 4), "x y x y", "allbackups: all of them");
	config_drop(&cfg);
}

static void test_avoid(void)
{
	static const char *const algorithms[] = { "roundrobin", "leastconn", "static-rr", "random",
						  "first" };

	for (unsigned a = 0; a < 5; a++) {
		char text[256];
		struct config *cfg;
		struct proxy *be;
		struct balance_avoid avoid = { 0 };
		struct balance_pick_args args = { .avoid = &avoid };
		bool avoided = true;

		snprintf(text, sizeof(text), "backend b\n balance %s\n" SERVERS3, algorithms[a]);
		cfg = fixture_load(text);
		be = proxy_find(cfg, "b", PROXY_BE);
		balance_avoid_add(&avoid, server_find(be, "s1"));
		for (int i = 0; i < 20; i++)
			avoided &= balance_pick(be, &args) != server_find(be, "s1");
		ok(avoided, "%s: avoids the one that failed", algorithms[a]);
		balance_avoid_add(&avoid, server_find(be, "s2"));
		avoided = true;
		for (int i = 0; i < 20; i++)
			avoided &= balance_pick(be, &args) == server_find(be, "s3");
		ok(avoided, "%s: avoids all that failed", algorithms[a]);
		server_set_admin(server_find(be, "s3"), SERVER_FMAINT, 0);
		ok(balance_pick(be, &args) == server_find(be, "s1"),
		   "%s: all have failed: not the last one", algorithms[a]);
		server_set_admin(server_find(be, "s1"), SERVER_FMAINT, 0);
		ok(balance_pick(be, &args) == server_find(be, "s2"), "%s: unless it is alone",
		   algorithms[a]);
		config_drop(&cfg);
	}
}

int main(void)
{
	fixture_init();
	diag_set_quiet(true);
	test_roundrobin();
	test_weights();
	test_static_rr();
	test_leastconn();
	test_first();
	test_backups();
	test_avoid();
	return done_testing();
}
