/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files and directories, their ends, default-path, the environment of a generation */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "fake.h"
#include "tap.h"

static char top[PATH_MAX]; /* a directory of this test, where it stands */

static void put(const char *path, const char *text, size_t len)
{
	FILE *out = fopen(path, "w");

	if (!out || fwrite(text, 1, len, out) != len || fclose(out))
		exit(1);
}

#define PUT(path, literal) put(path, literal, sizeof(literal) - 1)

/* Reads up to three sources. */
static char *read_paths(const char *a, const char *b, const char *c)
{
	struct conf_source sources[] = { { a }, { b }, { c } };
	struct config *cfg = config_new();
	struct diag_list diags;
	char *said;

	fake_words[0] = '\0';
	fake_sections[0] = '\0';
	diag_list_init(&diags);
	conf_read(cfg, sources, a ? 1 + (b ? 1 + (c != NULL) : 0) : 0, &diags);
	said = fake_print(&diags);
	diag_list_fini(&diags);
	config_drop(&cfg);
	return said;
}

static void check_order(void)
{
	char *said;

	mkdir("d", 0700);
	mkdir("d/sub.cfg", 0700);
	PUT("d/b.cfg", "listen b\n words b\n");
	PUT("d/B.cfg", "listen B\n words B\n");
	PUT("d/a.cfg", "listen a\n words a\n");
	PUT("d/.h.cfg", "listen h\n words h\n");
	PUT("d/x.conf", "listen x\n words x\n");
	PUT("1", "listen 1\n words 1\n");
	PUT("2", "words 2\n");
	said = read_paths("1", "d", NULL);
	is_str(said, "", "a file and a directory");
	is_str(fake_words, "<1><B><a><b>", "its *.cfg in the order of bytes, no others");
	free(said);
	said = read_paths("1", "2", NULL);
	is_str(said, "[ALERT]    : config : parsing [2:1]: unknown keyword 'words' out of section.\n"
	       "  words 2\n  ^\n"
	       "[ALERT]    : config : Error(s) found in configuration file : 2\n",
	       "a file begins outside of any section");
	free(said);
	said = read_paths("nofile", "1", NULL);
	is_str(said, "[ALERT]    : config : Cannot open configuration file/directory nofile : No such"
	       " file or directory\n", "a file that is not there");
	is_str(fake_words, "<1>", "the others are read all the same");
	free(said);
	mkdir("empty", 0700);
	said = read_paths("empty", NULL, NULL);
	ok(strstr(said, "no configuration file"), "a directory without files");
	free(said);
}

static void check_ends(void)
{
	char *said;

	PUT("f", "");
	said = read_paths("f", NULL, NULL);
	is_str(said, "", "an empty file");
	free(said);
	PUT("f", "\n\n  \n# x\n");
	said = read_paths("f", NULL, NULL);
	is_str(said, "", "a file with nothing in it");
	free(said);
	PUT("f", "listen a\n words x");
	said = read_paths("f", NULL, NULL);
	is_str(said, "[ALERT]    : config : parsing [f:2]: Missing LF on last line, file might have"
	       " been truncated at position 9.\n"
	       "[ALERT]    : config : Error(s) found in configuration file : f\n",
	       "no line feed at the end");
	is_str(fake_words, "", "half a line is not parsed");
	free(said);
	PUT("f", "listen a\n words\0x\n words y\n");
	said = read_paths("f", NULL, NULL);
	is_str(said, "[ALERT]    : config : parsing [f:2]: Stray NUL character at position 7.\n"
	       "[ALERT]    : config : Error(s) found in configuration file : f\n", "a NUL");
	is_str(fake_words, "<y>", "the line is skipped");
	free(said);
	PUT("f", "listen a\r\n words x\r\n\r\n");
	said = read_paths("f", NULL, NULL);
	is_str(said, "", "line ends of another world");
	is_str(fake_words, "<x>", "leave no trace");
	free(said);
	PUT("f", ".if 1\nlisten a\n words x\n");
	PUT("g", ".endif\nlisten b\n words y\n");
	said = read_paths("f", "g", NULL);
	ok(strstr(said, "parsing [f:3]: non-terminated '.if' block.\n   | the '.if' is in line 1\n"),
	   "a block ends with its file");
	ok(strstr(said, "parsing [g:1]: lone '.endif'"), "not in the next");
	free(said);
}

static void check_stdin(void)
{
	int kept = dup(0), fd;
	char *said;

	PUT("f", "listen a\n words x\n foo\n");
	fd = open("f", O_RDONLY);
	dup2(fd, 0);
	close(fd);
	said = read_paths("-", NULL, NULL);
	is_str(fake_words, "<x>", "standard input is read");
	ok(strstr(said, "parsing [-:3]"), "and named");
	free(said);
	dup2(kept, 0);
	close(kept);
}

static char seen_path[PATH_MAX], seen_cwd[PATH_MAX];

static bool open_probe(struct conf_line *l)
{
	snprintf(seen_path, sizeof(seen_path), "%s", conf_path(l->cfg, l->words[1]));
	if (!getcwd(seen_cwd, sizeof(seen_cwd)))
		exit(1);
	return true;
}

static const struct conf_section probes[] = {
	{ .name = "probe", .where = CONF_OTHER, .open = open_probe },
	{ 0 }
};
static const struct module probe_module = { .name = "probe", .sections = probes };
static const struct module *const probe_modules[] = {
	&mod_conf, &fake_module, &probe_module, NULL
};

/* A file in conf/ with this global line: where do relative names start? */
static void check_path(const char *line, const char *directory)
{
	char text[256], wanted[PATH_MAX + 64], now[PATH_MAX], *said;

	snprintf(text, sizeof(text), "global\n %s\nprobe x\n", line);
	put("conf/c", text, strlen(text));
	said = read_paths("conf/c", NULL, NULL);
	is_str(said, "", "%s", line);
	free(said);
	snprintf(wanted, sizeof(wanted), "%s%s", top, directory);
	is_str(seen_cwd, wanted, "%s: directory", line);
	strcat(wanted, "/x");
	is_str(seen_path, *directory || strstr(line, "parent") ? wanted : "x", "%s: name", line);
	ok(getcwd(now, sizeof(now)) && strcmp(now, top) == 0, "%s: back home", line);
}

static void check_paths(void)
{
	char *said;

	if (!conf_register(probe_modules))
		exit(1);
	mkdir("conf", 0700);
	mkdir("other", 0700);
	check_path("words x", "");
	check_path("default-path current", "");
	check_path("default-path config", "/conf");
	check_path("default-path parent", "");
	check_path("default-path origin other", "/other");
	check_path("default-path config\n default-path current", "");
	PUT("1", "global\n default-path config\nprobe x\n");
	PUT("conf/c", "probe y\n");
	said = read_paths("1", "conf/c", NULL);
	is_str(said, "", "a policy lasts for the files that follow");
	free(said);
	ok(strstr(seen_path, "/conf/y"), "each in its own directory");
	PUT("1", "global\n default-path origin /nonexistent\n");
	said = read_paths("1", NULL, NULL);
	ok(strstr(said, "[1:2] : couldn't set 'default-path' to origin '/nonexistent'"),
	   "a directory that is not there");
	free(said);
	if (!conf_register(fake_modules))
		exit(1);
}

static void check_environment(void)
{
	struct config *one, *two;

	free(fake_read("global\n setenv NEW 1\n unsetenv ONE\n", 36, &one));
	is_str(conf_getenv(one, "NEW"), "1", "setenv");
	ok(!conf_getenv(one, "ONE"), "unsetenv");
	ok(!getenv("NEW") && getenv("ONE"), "the process's own is not touched");
	two = config_new();
	ok(!conf_getenv(two, "NEW"), "the next generation starts afresh");
	is_str(conf_getenv(two, "ONE"), "1", "with all variables");
	ok(!conf_setenv(two, "", "x", true) && !conf_setenv(two, "a=b", "x", true), "no names");
	ok(conf_setenv(two, "ONE", "2", false), "not overwritten");
	is_str(conf_getenv(two, "ONE"), "1", "keeps its value");
	ok(conf_env_apply(one), "made the process's");
	is_str(getenv("NEW"), "1", "with what was set");
	ok(!getenv("ONE"), "without what was not");
	config_drop(&one);
	config_drop(&two);
	ok(!one && !two, "references are cleared");
}

int main(void)
{
	char name[] = "/tmp/t_files.XXXXXX", command[PATH_MAX + 16];

	fake_start();
	if (!mkdtemp(name) || chdir(name) || !getcwd(top, sizeof(top)))
		return 1;
	check_order();
	check_ends();
	check_stdin();
	check_paths();
	check_environment();
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	if (chdir("/") || system(command))
		return 1;
	return done_testing();
}
