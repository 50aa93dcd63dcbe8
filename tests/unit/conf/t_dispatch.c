/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keywords: typed slots, prefixes, places, sections, passes, options */
#include "fake.h"
#include "tap.h"

static char *read_text(const char *text, struct config **cfg)
{
	return fake_read(text, strlen(text), cfg);
}

static struct fake_global *global_of(struct config *cfg)
{
	return slot_of(&fake_global_slot, config_slots(cfg));
}

static void check_types(void)
{
	struct config *cfg;
	char *said = read_text("global\n maxconn 20\n tune.bufsize 64K\n tune.big 5000000000\n"
			       " tune.ssl.lifetime 2m\n nbthread 7\n"
			       "listen a\n mode 'x y'\n disabled\n timeout client 1500us\n"
			       " timeout server 2h\n retries 4\n option httplog\n"
			       " option dontlognull\n", &cfg);
	struct fake_global *g = global_of(cfg);
	struct fake_proxy *p = fake_proxy();

	is_str(said, "", "nothing to say");
	is_int(g->maxconn, 20, "integer");
	is_int(g->bufsize, 65536, "size");
	is_int(g->big, 5000000000LL, "large integer");
	is_int(g->lifetime, 120000, "seconds are kept in milliseconds");
	is_int(g->nbthread, 7, "an early keyword");
	is_str(p->mode, "x y", "string");
	ok(p->disabled, "flag");
	is_int(p->client, 2, "a time is rounded up");
	is_int(p->server, 7200000, "hours");
	is_int(p->retries, 4, "integer of a proxy");
	is_int(p->options, 1 << 3 | 1 << 4, "bits");
	free(said);
	config_drop(&cfg);
}

/* The text of one line of section global as a time in seconds. */
static void check_time(const char *text, int64_t wanted_ms)
{
	char conf[128];
	struct config *cfg;
	char *said;

	snprintf(conf, sizeof(conf), "global\n tune.ssl.lifetime %s\n", text);
	said = read_text(conf, &cfg);
	if (wanted_ms < 0)
		ok(strstr(said, "[ALERT]"), "%s is refused", text);
	else
		is_int(global_of(cfg)->lifetime, wanted_ms, "%s", text);
	free(said);
	config_drop(&cfg);
}

static void check_size(const char *text, int64_t wanted)
{
	char conf[128];
	struct config *cfg;
	char *said;

	snprintf(conf, sizeof(conf), "global\n tune.bufsize %s\n", text);
	said = read_text(conf, &cfg);
	if (wanted < 0)
		ok(strstr(said, "[ALERT]"), "%s is refused", text);
	else
		is_int(global_of(cfg)->bufsize, wanted, "%s", text);
	free(said);
	config_drop(&cfg);
}

static void check_units(void)
{
	check_time("0", 0);
	check_time("1us", 1);
	check_time("1000us", 1);
	check_time("1001us", 2);
	check_time("3ms", 3);
	check_time("3", 3000);
	check_time("3s", 3000);
	check_time("3m", 180000);
	check_time("3h", 10800000);
	check_time("3d", 259200000);
	check_time("2147483647", 2147483647000LL);
	check_time("2147483648", -1);
	check_time("99999999999999999999d", -1);
	check_time("3S", -1);
	check_time("3ss", 3000); /* with a warning, as HAProxy */
	check_time("1s500ms", 1000);
	check_time("+3", -1);
	check_time("s", -1);
	check_size("0", 0);
	check_size("1k", 1024);
	check_size("1M", 1048576);
	check_size("2g", 2147483648LL);
	check_size("7", 7);
	check_size("3kb", -1);
	check_size("1t", -1);
	check_size("k", -1);
	check_size("99999999999g", -1);
	check_size("99999999999999999999", -1);
}

static void check_prefixes(void)
{
	char *said = read_text("listen a\n option dontlognull\n disabled\n no disabled\n"
			       " no option dontlognull\n option httplog\n", NULL);

	is_str(said, "", "options may be negated");
	is_int(fake_proxy()->options, 1 << 4, "'no' clears its bit alone");
	ok(!fake_proxy()->disabled, "'no' clears a flag");
	free(said);
	said = read_text("listen a\n option dontlognull\n default option dontlognull\n", NULL);
	is_str(said, "", "and set back");
	is_int(fake_proxy()->options, 0, "to what they were");
	free(said);
	said = read_text("listen a\n no option httplog\n", NULL);
	ok(strstr(said, "t.cfg:2]: negation/default is not supported for option 'httplog'."),
	   "not all of them");
	free(said);
	said = read_text("listen a\n no words x y\n", NULL);
	is_str(fake_words, "<x><y>", "the prefix is not among the words");
	free(said);
}

static void check_sections(void)
{
	char *said = read_text("global\nlisten a\n words 1\nlisten b\n words 2\nuserlist u\n"
			       " user 3\nring r\n size 4\n user 5\n", NULL);

	is_str(fake_sections, "+listen-listen+listen-listen+userlist-userlist+ring-ring",
	       "each section is opened and closed");
	is_str(fake_words, "<1><2><3><4>", "in order; keywords belong to their section");
	ok(strstr(said, "[t.cfg:10] : unknown keyword 'user' in 'ring' section"), "only there");
	free(said);
	said = read_text("listen\n words 1\n wrods 2\nlisten b\n words 3\n", NULL);
	is_str(fake_words, "<3>", "a section that did not open swallows its lines");
	ok(strstr(said, "[t.cfg:1] : 'listen' expects an <id> argument"), "it says why");
	ok(strstr(said, "t.cfg:3] : unknown keyword 'wrods' in 'listen' section; did you mean"
		   " 'words' maybe ?"), "the names of its lines are still checked");
	free(said);
	said = read_text("glob\nuserlist u\n usr x\n", NULL);
	ok(strstr(said, "unknown keyword 'glob' out of section."), "no section yet");
	ok(strstr(said, "unknown keyword 'usr' in 'userlist' section; did you mean 'user'"),
	   "suggestions are of this section");
	free(said);
}

static void check_passes(void)
{
	struct config *cfg;
	char *said = read_text(".if streq(\"$LATE\",1)\n.notice seen\n.endif\nlisten a\n"
			       " words \"$LATE\"\nglobal\n setenv LATE 1\n counted\n counted\n"
			       " nbthread x\n", &cfg);

	ok(strstr(said, "'seen'."), "the first pass sets variables for lines above");
	is_str(fake_words, "<1>", "in every section");
	is_int(global_of(cfg)->early, 2, "early keywords run in the first pass");
	is_int(global_of(cfg)->late, 2, "and in the second");
	ok(strstr(said, "cannot parse 'nbthread' value 'x'"), "their errors are reported");
	ok(!strstr(strstr(said, "cannot parse") + 1, "cannot parse"), "once");
	free(said);
	config_drop(&cfg);
}

static void check_exposure(void)
{
	struct config *cfg;
	char *said = read_text("global\n expose-experimental-directives\n"
			       " force-cfg-parser-pause 3s\n oldfashioned x\n", &cfg);

	ok(!strstr(said, "experimental"), "experimental directives are allowed");
	is_int(global_of(cfg)->lifetime, 3000, "and work");
	ok(strstr(said, "[WARNING]  : config : parsing [t.cfg:4] : the 'oldfashioned'"),
	   "a deprecated one warns");
	ok(strstr(said, "   | use 'words' instead\n"), "with what replaces it");
	is_str(fake_words, "<x>", "and works");
	free(said);
	config_drop(&cfg);
	said = read_text("global\n expose-deprecated-directives\n oldfashioned x\n", NULL);
	is_str(said, "", "unless it was exposed");
	free(said);
	said = read_text("global\n force-cfg-parser-pause 3s\n expose-experimental-directives\n",
			 NULL);
	ok(strstr(said, "t.cfg:2] : 'force-cfg-parser-pause' directive is experimental"),
	   "exposure must come before");
	free(said);
}

static void check_options(void)
{
	struct fake_option *bind = slot_of(&fake_bind_slot, (void *)&fake_bind_area);
	struct fake_option *server = slot_of(&fake_server_slot, (void *)&fake_server_area);
	struct config *cfg;
	char *said = read_text("listen a\n bind :80 maxconn 5 ssl alpn h2\n"
			       " server s 1.1.1.1 set-tlv(0xE0) fmt weight 7 check\n", &cfg);

	is_str(said, "", "options of bind and server lines");
	is_int(bind->number, 5, "bind: a number");
	is_str(bind->text, "h2", "bind: a text");
	ok(bind->flag, "bind: a flag");
	is_int(server->number, 7, "server: a number");
	is_str(server->text, "fmt", "server: a keyword with parenthesis");
	ok(server->flag, "server: a flag");
	free(said);
	config_drop(&cfg);
	said = read_text("listen a\n bind :80 fooo 3 tfo maxconn x ssll\n", NULL);
	is_str(said, "[ALERT]    : config : parsing [t.cfg:2] : 'bind :80' in section 'listen':"
	       " unknown keyword 'fooo'\n  bind :80 fooo 3 tfo maxconn x ssll\n           ^\n"
	       "[ALERT]    : config : parsing [t.cfg:2] : 'bind :80' in section 'listen' : cannot"
	       " parse 'maxconn' value 'x', an integer is expected.\n"
	       "  bind :80 fooo 3 tfo maxconn x ssll\n                              ^\n"
	       "[ALERT]    : config : parsing [t.cfg:2] : 'bind :80' in section 'listen':"
	       " unknown keyword 'ssll'; did you mean 'ssl' maybe ?\n"
	       "  bind :80 fooo 3 tfo maxconn x ssll\n                                ^\n"
	       "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n",
	       "all that is wrong with a line, with columns");
	ok(bind->flag, "what is right between is parsed");
	free(said);
	said = read_text("backend a\n server s :1 weight\n default-server foo\n", NULL);
	ok(strstr(said, "config : [t.cfg:2] : 'server a/s' : 'weight' : missing value"),
	   "a server is named");
	ok(strstr(said, "config : [t.cfg:3] : unknown keyword 'foo'"), "default-server is not");
	free(said);
}

static void check_legacy(void)
{
	char *said = read_text("listen a\n option http-use-htx\n", NULL);

	ok(strstr(said, "[WARNING]") && !strstr(said, "[ALERT]"), "http-use-htx is harmless");
	free(said);
	said = read_text("listen a\n option tcpsplice\n option forceclose\n", NULL);
	ok(strstr(said, "Use 'option splice-auto' instead."), "tcpsplice: what to write");
	ok(strstr(said, "t.cfg:3") && strstr(said, "'option httpclose' if absolutely needed."),
	   "forceclose: what to write");
	free(said);
	said = read_text("listen a\n forececlose\n", NULL);
	ok(!strstr(said, "did you mean"), "what is gone is never suggested");
	free(said);
	said = read_text("global\n hiddn\n", NULL);
	ok(!strstr(said, "did you mean"), "nor what is hidden");
	free(said);
}

int main(void)
{
	fake_start();
	check_types();
	check_units();
	check_prefixes();
	check_sections();
	check_passes();
	check_exposure();
	check_options();
	check_legacy();
	return done_testing();
}
