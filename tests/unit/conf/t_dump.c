/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -dKcfg: the form of the list, which scripts compare */
#include "fake.h"
#include "tap.h"

static const char head[] = "# List of registered configuration keywords:\nglobal\n\tcounted\n";

static void extra_lines(FILE *out)
{
	fprintf(out, "\thttp-request deny\n");
}

static void extra_section(FILE *out)
{
	fprintf(out, "\talpn +1\n");
}

int main(void)
{
	char *text = NULL, *listen, *userlist;
	size_t len = 0;
	FILE *out;

	fake_start();
	ok(conf_on_dump("listen", extra_lines), "lines of another table");
	ok(conf_on_dump("crt-list", extra_section), "a section of another table");
	out = open_memstream(&text, &len);
	conf_dump_keywords(out);
	fclose(out);
	listen = strstr(text, "\nlisten\n");
	userlist = strstr(text, "\nuserlist\n\tuser\n");
	ok(strncmp(text, head, sizeof(head) - 1) == 0, "head, then global");
	ok(listen && userlist && listen < userlist, "proxies before other sections");
	ok(strstr(text, "\tsetenv\n") < listen, "keywords of global stand there");
	ok(strstr(text, "\tretries\n") > listen, "those of proxies there");
	ok(strstr(text, "\toption httplog [ FE BE HTTP ]\n"), "an option with its sides");
	ok(strstr(text, "\toption dontlognull [ FE ]\n"), "one of frontends");
	ok(strstr(text, "\ttimeout\n\ttimeout client\n\ttimeout server\n"),
	   "a group and its words");
	ok(strstr(text, "\tbind <addr> maxconn +1\n"), "an option of bind");
	ok(strstr(text, "\tbind <addr> ssl alpn +1\n"), "one that goes with another");
	ok(strstr(text, "\tserver <name> <addr> check\n"), "an option of server");
	ok(strstr(text, "\tcontimeout\n") > listen, "three that are gone are listed");
	ok(!strstr(text, "hidden") && !strstr(text, "reqadd"), "others are not");
	ok(!strstr(text, "not-yet"), "what waits for a part that is not there is not");
	ok(strstr(text, "\thttp-request deny\n") > listen &&
	   strstr(text, "\thttp-request deny\n") < userlist, "added lines stand in their section");
	ok(strstr(text, "\nring\n\tsize\n"), "another section");
	ok(strstr(text, "\ncrt-list\n\talpn +1\n"), "an added section");
	free(text);
	return done_testing();
}
