/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - the command line */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/diag.h"
#include "base/slice.h"
#include "base/strbuf.h"
#include "core/pool.h"
#include "dump_priv.h"
#include "options_priv.h"

/* How far we are in argv. */
struct args {
	struct main_options *o;
	char **argv;
	int argc, at;
	unsigned useless; /* bit N: without_effect[N] was given */
};

static const char usage_text[] =
"        -v shows the version ; -vv shows how the program was built.\n"
"        -vq/-vqs/-vqb only show the version, the short version, the branch.\n"
"        -h shows this text.\n"
"        -f reads a file, or the *.cfg files of a folder ; may be given several times.\n"
"        -d debug mode: foreground, shows streams ; -db only stays in foreground.\n"
"        -dM[<byte>,help,...] debug memory (default: fill with <byte>/0x50)\n"
"        -V verbose (-q is undone) ; -q quiet: messages are not displayed\n"
"        -D goes to the background ; -C changes to <dir> before reading files\n"
"        -c only checks the files and exits ; -cc evaluates a condition and exits\n"
"        -n limits the connections of the process\n"
"        -N limits the connections of each frontend that has no maxconn\n"
"        -m limits the memory of pools (in MB)\n"
"        -L sets the name of the local peer (default: the host's name)\n"
"        -p writes the process's id to this file\n"
"        -4 resolves names to IPv4 addresses only, at run time\n"
"        -dA<file> writes the program and its libraries to a tar file after the check\n"
"        -dc shows the CPUs, kept or not, and which thread runs where\n"
"        -dC[[key],line] shows the configuration files as they are read\n"
"        -dD points at suspicious statements ; -dW fails if anything was warned about\n"
"        -de does not use epoll ; -dp does not use poll\n"
"        -dS, -dF, -dZ do not use splice()\n"
"        -dG, -dR disable getaddrinfo() and SO_REUSEPORT\n"
"        -dI allows programs to be started\n"
"        -dK{class[,...]} shows the registered keywords ('help' lists the classes)\n"
"        -dL lists the loaded libraries after the check\n"
"        -dr goes on when the address of a server cannot be resolved\n"
"        -dt [<source>[:<level>[:<verbosity>]],...] traces to stderr ; see -dt help\n"
"        -dT does without TLS in the kernel, which there never is\n"
"        -dV disables the verification of servers' certificates\n"
"        -W runs a master and its worker ; -Ws the same and tells the service manager\n"
"        -S <bind>[,bind_options...] opens the master's socket\n"
"        --ask <unix_socket> <command>... asks a running process (Runtime API) and exits\n"
"        -x <unix_socket> gets the listening sockets of an old process there\n"
"        --compat <version> with -c lists the lines that meant something else there\n"
"        --help-keyword shows what a word of the configuration or of the Runtime API means\n"
"        --diagnostics=json with -c writes them to stdout as well, one JSON object a line\n"
"        --explain \"GET / HTTP/1.1\" with -c shows what the rules would do with a request\n"
"            [ --header \"Name: value\" ]* [ --src <ip> ] [ --frontend <name> ]\n"
"        --lint <file> tells what deserves a look ; --output=text|json|sarif\n"
"        --format <file> prints it in one layout ; --check only tells whether it differs ;\n"
"            --write replaces the file\n"
"        --language-server serves editors on stdin and stdout (LSP)\n"
"        -sf/-st [pid ]* asks old processes to finish / to terminate\n"
"\n";

void options_print_usage(FILE *out, const char *program)
{
	fprintf(out, "Usage : %s [-f <file|dir>]* [ -vdVD ] [ -n <maxconn> ] [ -N <maxpconn> ]\n"
		"        [ -p <pidfile> ] [ -m <max megs> ] [ -C <dir> ] [-- <file>*]\n%s",
		program, usage_text);
}

/* "haproxy" of "/usr/sbin/haproxy": how messages name the program. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void options_fini(struct main_options *o)
{
	free(o->sources);
	free(o->old.pids);
	free(o->master.sockets);
	o->master.sockets = NULL;
	free(o->explain.headers);
	free(o->tools.paths);
	o->sources = NULL;
	o->old.pids = NULL;
	o->explain.headers = NULL;
	o->tools.paths = NULL;
}

static bool add_source(struct main_options *o, const char *path)
{
	o->sources[o->source_count++].path = path;
	return true;
}

/* The value of the option at hand: the next word. */
static const char *take_value(struct args *a)
{
	if (a->at + 1 >= a->argc)
		return NULL;
	return a->argv[++a->at];
}

/* All words that are left are one command of the Runtime API. False: there is none. */
static bool take_command(struct args *a)
{
	static struct strbuf command; /* as long as the process */

	strbuf_init(&command);
	for (const char *word = take_value(a); word; word = take_value(a))
		strbuf_printf(&command, "%s%s", command.len ? " " : "", word);
	a->o->question.ask_command = command.len ? command.ptr : NULL;
	return command.len && !command.overflow;
}

static bool take_number(struct args *a, int64_t *out)
{
	const char *word = take_value(a);
	char *end;

	if (!word)
		return false;
	errno = 0;
	*out = strtoll(word, &end, 10);
	if (errno || !*word || *end || *out < 0 || *out > INT32_MAX) {
		diag_say(DIAG_ALERT, "'%s' is not a number that option '%s' can use.", word,
			 a->argv[a->at - 1]);
		return false;
	}
	return true;
}

static bool refuse(const char *option, const char *why)
{
	diag_say(DIAG_ALERT, "option '%s' is not supported by this version: %s.", option, why);
	return false;
}

/* -sf and -st take every number that follows. */
static bool take_pids(struct args *a, int sig)
{
	struct main_options *o = a->o;

	o->old.signal = sig;
	while (a->at + 1 < a->argc && a->argv[a->at + 1][0] >= '0' &&
	       a->argv[a->at + 1][0] <= '9') {
		char *end;
		long pid = strtol(a->argv[++a->at], &end, 10);

		if (*end || pid <= 0 || pid > INT32_MAX) {
			diag_say(DIAG_ALERT, "'%s' is not the id of a process.", a->argv[a->at]);
			return false;
		}
		o->old.pids[o->old.pid_count++] = (pid_t)pid;
	}
	return true;
}

/* -dM[...] : the options must be known before the first pool is made. */
static bool take_pool_options(const char *text)
{
	const char *message;

	if (pool_set_options(text, &message))
		return true;
	if (strncmp(message, "unknown", strlen("unknown")) != 0) { /* help was asked for */
		puts(message);
		exit(EXIT_SUCCESS);
	}
	fprintf(stderr, "%s\n", message);
	return false;
}

/* -dC[[key][,line]] */
static bool take_listing(struct args *a, const char *text)
{
	unsigned long long key = 0;
	char *end = (char *)text;

	if (ascii_is_digit(*text))
		key = strtoull(text, &end, 10);
	if ((*end && strcmp(end, ",line") != 0) || key > UINT32_MAX)
		return refuse(a->argv[a->at], "only a key of 32 bits and ',line' may follow -dC");
	a->o->show.key = (uint32_t)key;
	a->o->show.lines = true;
	a->o->show.numbers = *end == ',';
	return true;
}

struct flag {
	const char *name;
	size_t offset; /* of a bool in struct main_options */
};

#define FLAG(name, member) { name, offsetof(struct main_options, member) }
static const struct flag flags[] = {
	FLAG("-v", version.line), FLAG("-vv", version.build), FLAG("-vq", version.word),
	FLAG("-vqs", version.numbers), FLAG("-vqb", version.branch),
	FLAG("-h", usage), FLAG("--help", usage),
	FLAG("-d", debug), FLAG("-db", foreground), FLAG("-D", daemon), FLAG("-V", verbose),
	FLAG("-q", quiet), FLAG("-c", check_only), FLAG("-dW", zero_warning),
	FLAG("-dD", diagnostics), FLAG("-de", without.epoll), FLAG("-dp", without.poll),
	FLAG("-dS", without.splice), FLAG("-dF", without.splice), FLAG("-dZ", without.splice),
	FLAG("-dc", show_cpus), FLAG("-dV", no_verify), FLAG("-dR", without.reuseport),
	FLAG("-dL", list_libraries),
	FLAG("-dr", may_lack_addresses), FLAG("-dI", may_fork), FLAG("-4", only_ipv4),
	FLAG("--diagnostics=json", json_diagnostics),
	FLAG("--language-server", tools.serve), FLAG("--check", tools.check),
	FLAG("--write", tools.write),
	FLAG("-W", master.wanted), FLAG("-Ws", master.notifies),
};

/* What changes nothing here, each with why: accepted, but not in silence. NULL: it is so anyway. */
static const struct {
	const char *name, *why;
} without_effect[] = {
	{ "-dG", "names are always resolved by getaddrinfo()" },
	{ "-dT", NULL }, /* no TLS in the kernel */
	{ "-dk", NULL }, /* no kqueue on Linux */
	{ "-dv", NULL }, /* no event ports */
};
#define USELESS_COUNT (sizeof(without_effect) / sizeof(*without_effect))

static bool take_flag(struct args *a, const char *word)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (strcmp(word, flags[i].name) == 0) {
			*(bool *)((char *)a->o + flags[i].offset) = true;
			return true;
		}
	}
	for (size_t i = 0; i < USELESS_COUNT; i++) {
		if (strcmp(word, without_effect[i].name) == 0) {
			a->useless |= 1u << i;
			return true;
		}
	}
	return false;
}

/* Once all is read: -q may stand behind. */
static void say_useless(const struct args *a)
{
	for (size_t i = 0; i < USELESS_COUNT; i++)
		if (a->useless & 1u << i && without_effect[i].why)
			diag_say(DIAG_NOTICE, "option '%s' has no effect: %s.",
				 without_effect[i].name, without_effect[i].why);
}

/* Options that take the next word. *known: it was one of them. */
static bool take_valued(struct args *a, const char *word, bool *known)
{
	const struct {
		const char *name;
		const char **text;
		int64_t *number;
	} valued[] = {
		{ "-C", &a->o->chdir, NULL }, { "-p", &a->o->pidfile, NULL },
		{ "-x", &a->o->old.donor, NULL },
		{ "-L", &a->o->localpeer, NULL }, { "-cc", &a->o->question.condition, NULL },
		{ "--help-keyword", &a->o->question.help_keyword, NULL },
		{ "--explain", &a->o->explain.request, NULL },
		{ "--src", &a->o->explain.src, NULL },
		{ "--frontend", &a->o->explain.frontend, NULL },
		{ "-n", NULL, &a->o->maxconn }, { "-N", NULL, &a->o->proxy_maxconn },
		{ "-m", NULL, &a->o->memory_mb },
	};

	for (size_t i = 0; i < sizeof(valued) / sizeof(*valued); i++) {
		if (strcmp(word, valued[i].name) != 0)
			continue;
		*known = true;
		if (valued[i].number)
			return take_number(a, valued[i].number);
		*valued[i].text = take_value(a);
		return *valued[i].text != NULL;
	}
	return false;
}

static bool starts_with(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0;
}

/* --format, --lint: a file each time; both together are not understood. */
static bool take_tool(struct args *a, const char *word)
{
	struct file_tools *t = &a->o->tools;
	bool is_lint = strcmp(word, "--lint") == 0;
	const char *path = take_value(a);

	if (!path || (t->path_count && t->is_lint != is_lint))
		return false;
	t->is_lint = is_lint;
	t->paths[t->path_count++] = path;
	return true;
}

static bool take_output(struct args *a, const char *name)
{
	static const char *const names[] = {
		[TOOLS_TEXT] = "text", [TOOLS_JSON] = "json", [TOOLS_SARIF] = "sarif",
	};

	for (int i = 0; i < 3; i++)
		if (strcmp(name, names[i]) == 0) {
			a->o->tools.output = (enum tools_output)i;
			return true;
		}
	diag_say(DIAG_ALERT, "--output : '%s' is not one of 'text', 'json' and "
		 "'sarif'.", name);
	return false;
}

/* --compat: it only answers, so the files are only checked. */
static enum options_result take_compat(struct args *a)
{
	const char *text = take_value(a);

	if (!text)
		return OPTIONS_USAGE;
	a->o->check_only = true;
	a->o->compat_version = compat_version(text);
	if (a->o->compat_version)
		return OPTIONS_OK;
	diag_say(DIAG_ALERT, "'%s' is not a version that --compat can compare with: 2.0 to 3.3.",
		 text);
	return OPTIONS_ERROR;
}

/* One word of the command line that begins with '-'. */
static enum options_result take_option(struct args *a, const char *word)
{
	bool known = false, done;

	if (take_flag(a, word))
		return OPTIONS_OK;
	done = take_valued(a, word, &known);
	if (known)
		return done ? OPTIONS_OK : OPTIONS_USAGE;
	if (strcmp(word, "-f") == 0) {
		const char *path = take_value(a);

		return path && add_source(a->o, path) ? OPTIONS_OK : OPTIONS_USAGE;
	}
	if (strcmp(word, "--compat") == 0)
		return take_compat(a);
	if (strcmp(word, "--format") == 0 || strcmp(word, "--lint") == 0)
		return take_tool(a, word) ? OPTIONS_OK : OPTIONS_USAGE;
	if (starts_with(word, "--output="))
		return take_output(a, word + 9) ? OPTIONS_OK : OPTIONS_ERROR;
	if (strcmp(word, "--header") == 0) {
		struct explain_options *ex = &a->o->explain;

		ex->headers[ex->header_count] = take_value(a);
		return ex->headers[ex->header_count++] ? OPTIONS_OK : OPTIONS_USAGE;
	}
	if (strcmp(word, "-S") == 0) {
		const char *bind = take_value(a);

		a->o->master.sockets[a->o->master.socket_count++] = bind;
		return bind ? OPTIONS_OK : OPTIONS_USAGE;
	}
	if (strcmp(word, "--ask") == 0) {
		a->o->question.ask_path = take_value(a);
		return take_command(a) ? OPTIONS_OK : OPTIONS_USAGE;
	}
	if (strcmp(word, "-sf") == 0 || strcmp(word, "-st") == 0)
		return take_pids(a, word[2] == 'f' ? SIGUSR1 : SIGTERM) ? OPTIONS_OK
									: OPTIONS_ERROR;
	if (starts_with(word, "-dM"))
		return take_pool_options(word + 3) ? OPTIONS_OK : OPTIONS_ERROR;
	if (starts_with(word, "-dt")) {
		a->o->traces = word + 3;
		if (!*a->o->traces && a->at + 1 < a->argc && a->argv[a->at + 1][0] != '-')
			a->o->traces = a->argv[++a->at];
		return OPTIONS_OK;
	}
	if (starts_with(word, "-dA")) {
		a->o->archive = word + 3;
		if (*a->o->archive)
			return OPTIONS_OK;
		diag_say(DIAG_ALERT, "-dA: missing output file name");
		return OPTIONS_ERROR;
	}
	if (starts_with(word, "-dK")) {
		a->o->dump_classes = word + 3;
		return OPTIONS_OK;
	}
	if (starts_with(word, "-dC"))
		return take_listing(a, word + 3) ? OPTIONS_OK : OPTIONS_ERROR;
	return OPTIONS_USAGE;
}

enum options_result options_parse(struct main_options *o, int argc, char **argv)
{
	struct args a = { .o = o, .argv = argv, .argc = argc };
	enum options_result r = OPTIONS_OK;

	memset(o, 0, sizeof(*o));
	o->program = argc > 0 ? base_name(argv[0]) : "haproxy";
	o->sources = calloc((size_t)argc + 1, sizeof(*o->sources));
	o->old.pids = calloc((size_t)argc + 1, sizeof(*o->old.pids));
	o->master.sockets = calloc((size_t)argc + 1, sizeof(*o->master.sockets));
	o->explain.headers = calloc((size_t)argc + 1, sizeof(*o->explain.headers));
	o->tools.paths = calloc((size_t)argc + 1, sizeof(*o->tools.paths));
	if (!o->sources || !o->old.pids || !o->master.sockets || !o->explain.headers ||
	    !o->tools.paths) {
		diag_say(DIAG_ALERT, "out of memory while reading the command line.");
		return OPTIONS_ERROR;
	}
	for (a.at = 1; a.at < argc && r == OPTIONS_OK; a.at++) {
		const char *word = argv[a.at];

		if (strcmp(word, "--") == 0) {
			while (++a.at < argc)
				add_source(o, argv[a.at]);
			break;
		}
		r = word[0] == '-' ? take_option(&a, word) : OPTIONS_USAGE;
		o->misunderstood = r == OPTIONS_USAGE ? word : NULL;
	}
	o->master.wanted |= o->master.notifies;
	if (r == OPTIONS_OK && o->master.socket_count && !o->master.wanted) {
		diag_say(DIAG_ALERT, "a master CLI socket was defined, but master-worker mode "
			 "(-W) is not "
			 "enabled.");
		r = OPTIONS_ERROR;
	}
	o->foreground |= o->debug;
	o->verbose |= o->debug;
	/* -V undoes -q, in whatever order */
	o->list_places = o->verbose && !o->quiet;
	o->quiet &= !o->verbose;
	diag_set_quiet(o->quiet);
	say_useless(&a);
	return r;
}
