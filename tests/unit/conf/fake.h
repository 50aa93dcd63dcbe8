/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake.h - a small program to configure: sections, keywords and options of the engine's tests
 *
 * fake_read() reads a text as the file "t.cfg" and returns what was printed about it, without the
 * process number: "[ALERT]    : config : ...". The keyword `words` of any section records its
 * words.
 */
#ifndef TESTS_UNIT_CONF_FAKE_H
#define TESTS_UNIT_CONF_FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "conf/conf.h"

struct fake_proxy {
	uint64_t options;
	int64_t client, server;
	int maxconn, retries;
	const char *mode;
	bool disabled;
};

struct fake_option {
	int number;
	bool flag;
	const char *text;
};

struct fake_global {
	int nbthread, maxconn;
	uint64_t bufsize, big;
	int64_t lifetime;
	int early, late; /* how often `counted` was parsed in each pass */
};

static struct slot fake_proxy_slot = { .of = SLOT_PROXY, .size = sizeof(struct fake_proxy) };
static struct slot fake_bind_slot = { .of = SLOT_BIND, .size = sizeof(struct fake_option) };
static struct slot fake_server_slot = { .of = SLOT_SERVER, .size = sizeof(struct fake_option) };
static struct slot fake_global_slot = { .of = SLOT_CONFIG, .size = sizeof(struct fake_global) };

/* One object of each kind is enough: sections share it. */
static union {
	char bytes[1024];
	long double align;
} fake_proxy_area, fake_bind_area, fake_server_area;

static char fake_words[4096];   /* of `words`, each in <> */
static char fake_sections[512]; /* "+name" at open, "-name" at close */

__attribute__((unused))
static struct fake_proxy *fake_proxy(void)
{
	return slot_of(&fake_proxy_slot, (void *)&fake_proxy_area);
}

static bool fake_words_parse(struct conf_line *l)
{
	const char *word;

	while ((word = conf_next(l)) != NULL) {
		strcat(fake_words, "<");
		strcat(fake_words, word);
		strcat(fake_words, ">");
	}
	return true;
}

static bool fake_counted_parse(struct conf_line *l)
{
	struct fake_global *g = slot_of(&fake_global_slot, l->slots);

	if (l->early)
		g->early++;
	else
		g->late++;
	return true;
}

static bool fake_bind_parse(struct conf_line *l)
{
	l->at = 2;
	return conf_take_options(l, CONF_BIND, &fake_bind_area, (void *)&fake_bind_area);
}

static bool fake_server_parse(struct conf_line *l)
{
	l->at = strcmp(l->words[0], "default-server") == 0 ? 1 : 3;
	return conf_take_options(l, CONF_SERVER, &fake_server_area, (void *)&fake_server_area);
}

static bool fake_open(struct conf_line *l)
{
	strcat(strcat(fake_sections, "+"), l->words[0]);
	if (!conf_peek(l) && l->section->where != CONF_DEFAULTS)
		return conf_error(l, 1, NULL, "'%s' expects an <id> argument", l->words[0]);
	l->object = &fake_proxy_area;
	l->slots = (void *)&fake_proxy_area;
	return true;
}

static void fake_close(struct conf_line *l)
{
	strcat(strcat(fake_sections, "-"), l->section->name);
}

static const struct conf_section fake_section_table[] = {
	{ .name = "defaults", .where = CONF_DEFAULTS, .open = fake_open, .close = fake_close },
	{ .name = "frontend", .where = CONF_FRONTEND, .open = fake_open, .close = fake_close },
	{ .name = "backend", .where = CONF_BACKEND, .open = fake_open, .close = fake_close },
	{ .name = "listen", .where = CONF_LISTEN, .open = fake_open, .close = fake_close },
	{ .name = "userlist", .where = CONF_OTHER, .open = fake_open, .close = fake_close },
	{ .name = "ring", .where = CONF_OTHER, .open = fake_open, .close = fake_close },
	{ 0 }
};

#define IN_PROXY(member) .slot = &fake_proxy_slot, .offset = offsetof(struct fake_proxy, member)
#define IN_GLOBAL(member) .slot = &fake_global_slot, .offset = offsetof(struct fake_global, member)
#define IN_BIND(member) .slot = &fake_bind_slot, .offset = offsetof(struct fake_option, member)
#define IN_SERVER(member) .slot = &fake_server_slot, .offset = offsetof(struct fake_option, member)

static const struct conf_keyword fake_keyword_table[] = {
	{ .words = "words", .where = CONF_PROXY | CONF_GLOBAL, .max_args = -1,
	  .flags = CONF_CAN_NO, .parse = fake_words_parse },
	{ .words = "counted", .where = CONF_GLOBAL, .flags = CONF_EARLY,
	  .parse = fake_counted_parse },
	{ .words = "nbthread", .where = CONF_GLOBAL, .flags = CONF_EARLY, .type = CONF_INT,
	  .min = 1, .max = 1024, IN_GLOBAL(nbthread) },
	{ .words = "maxconn", .where = CONF_GLOBAL, .type = CONF_INT, .max = 1000000,
	  IN_GLOBAL(maxconn) },
	{ .words = "tune.bufsize", .where = CONF_GLOBAL, .type = CONF_SIZE, IN_GLOBAL(bufsize) },
	{ .words = "tune.big", .where = CONF_GLOBAL, .type = CONF_UINT64, IN_GLOBAL(big) },
	{ .words = "tune.ssl.lifetime", .where = CONF_GLOBAL, .type = CONF_TIME_S,
	  IN_GLOBAL(lifetime) },
	{ .words = "force-cfg-parser-pause", .where = CONF_GLOBAL, .flags = CONF_EXPERIMENTAL,
	  .type = CONF_TIME_MS, IN_GLOBAL(lifetime) },
	{ .words = "oldfashioned", .where = CONF_GLOBAL, .flags = CONF_DEPRECATED, .max_args = -1,
	  .parse = fake_words_parse, .hint = "use 'words' instead" },
	{ .words = "hidden", .where = CONF_GLOBAL, .flags = CONF_HIDDEN,
	  .parse = fake_words_parse },
	{ .words = "not-yet", .where = CONF_GLOBAL, .flags = CONF_LATER, .max_args = -1,
	  .hint = "'not-yet' is not supported yet." },
	{ .words = "mode", .where = CONF_PROXY, .type = CONF_STRING, IN_PROXY(mode) },
	{ .words = "maxconn", .where = CONF_FE, .type = CONF_INT, .max = 100000,
	  IN_PROXY(maxconn), .hint = "Maybe you want 'fullconn' instead ?" },
	{ .words = "retries", .where = CONF_DEF_BE, .type = CONF_INT, .max = 100,
	  IN_PROXY(retries) },
	{ .words = "disabled", .where = CONF_PROXY, .type = CONF_FLAG, IN_PROXY(disabled),
	  .flags = CONF_CAN_NO },
	{ .words = "timeout client", .where = CONF_DEF_FE, .type = CONF_TIME_MS,
	  IN_PROXY(client) },
	{ .words = "timeout server", .where = CONF_DEF_BE, .type = CONF_TIME_MS,
	  IN_PROXY(server) },
	{ .words = "option dontlognull", .where = CONF_DEF_FE, .type = CONF_BIT, .min = 3,
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT, IN_PROXY(options) },
	{ .words = "option httplog", .where = CONF_PROXY, .type = CONF_BIT, .min = 4,
	  .flags = CONF_HTTP, IN_PROXY(options) },
	{ .words = "balance", .where = CONF_DEF_BE, .min_args = 1, .max_args = -1,
	  .parse = fake_words_parse, .syntax = "<algorithm>" },
	{ .words = "bind", .where = CONF_FE, .min_args = 1, .max_args = -1,
	  .parse = fake_bind_parse },
	{ .words = "server", .where = CONF_BE, .min_args = 2, .max_args = -1,
	  .flags = CONF_STRICT_PLACE, .parse = fake_server_parse },
	{ .words = "default-server", .where = CONF_DEF_BE, .max_args = -1,
	  .parse = fake_server_parse },
	{ .words = "user", .where = CONF_OTHER, .section = "userlist", .max_args = -1,
	  .parse = fake_words_parse },
	{ .words = "size", .where = CONF_OTHER, .section = "ring", .max_args = -1,
	  .parse = fake_words_parse },
	{ .words = "maxconn", .where = CONF_BIND, .type = CONF_INT, .max = 100, IN_BIND(number) },
	{ .words = "tfo", .where = CONF_BIND, .type = CONF_FLAG, IN_BIND(flag) },
	{ .words = "ssl", .where = CONF_BIND, .type = CONF_FLAG, IN_BIND(flag) },
	{ .words = "alpn", .where = CONF_BIND, .section = "ssl", .type = CONF_STRING,
	  IN_BIND(text) },
	{ .words = "weight", .where = CONF_SERVER, .type = CONF_INT, .max = 256,
	  IN_SERVER(number) },
	{ .words = "check", .where = CONF_SERVER, .type = CONF_FLAG, IN_SERVER(flag) },
	{ .words = "set-tlv", .where = CONF_SERVER, .flags = CONF_PREFIX, .type = CONF_STRING,
	  IN_SERVER(text) },
	{ 0 }
};

static const struct module fake_module = {
	.name = "fake",
	.sections = fake_section_table,
	.keywords = fake_keyword_table,
};

static const struct module *const fake_modules[] = {
	&mod_conf, &fake_module, &mod_conf_legacy, NULL
};

static bool fake_enabled(const char *option)
{
	return strcmp(option, "POLL") == 0 || strcmp(option, "EPOLL") == 0;
}

__attribute__((unused))
static void fake_start(void)
{
	static const struct conf_facts facts = {
		.version = "3.2.26-1",
		.features = "-51DEGREES +OPENSSL -PCRE +PCRE2",
		.ssl_name = "OpenSSL 3.6.5 29 Sep 2026",
		.ssl_version = "3.6.5",
		.enabled = fake_enabled,
	};

	clearenv();
	setenv("HOME", "/root", 1);
	setenv("FOO", "a b  c", 1);
	setenv("SP", " a ", 1);
	setenv("EMPTY", "", 1);
	setenv("ONE", "1", 1);
	slot_register(&fake_proxy_slot);
	slot_register(&fake_bind_slot);
	slot_register(&fake_server_slot);
	slot_register(&fake_global_slot);
	if (!conf_register(fake_modules))
		exit(1);
	conf_set_facts(&facts);
}

/* What was printed, to be free()d. "(123)" becomes "": lines begin with "[ALERT]    : ". */
__attribute__((unused))
static char *fake_print(const struct diag_list *diags)
{
	char *text = NULL, pid[32];
	size_t len = 0, pid_len;
	FILE *out = open_memstream(&text, &len);

	diag_print(diags, DIAG_DIAG, out);
	fclose(out);
	/* the parenthesis is always in this column */
	pid_len = (size_t)snprintf(pid, sizeof(pid), "(%d)", (int)getpid());
	for (char *at = strstr(text, pid); at; at = strstr(at, pid))
		memmove(at, at + pid_len + 1, strlen(at + pid_len + 1) + 1);
	return text;
}

/* Reads <len> bytes; the caller free()s the text and drops <cfg> (may be NULL: dropped here). */
__attribute__((unused))
static char *fake_read(const char *text, size_t len, struct config **cfg)
{
	struct config *made = config_new();
	struct diag_list diags;
	char *said;

	fake_words[0] = '\0';
	fake_sections[0] = '\0';
	memset(&fake_proxy_area, 0, sizeof(fake_proxy_area));
	memset(&fake_bind_area, 0, sizeof(fake_bind_area));
	memset(&fake_server_area, 0, sizeof(fake_server_area));
	diag_list_init(&diags);
	conf_read_text(made, "t.cfg", slice_make(text, len), &diags);
	said = fake_print(&diags);
	diag_list_fini(&diags);
	if (cfg)
		*cfg = made;
	else
		config_drop(&made);
	return said;
}

#endif
