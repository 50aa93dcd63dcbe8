/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - from the command line to the loops, and out again
 *
 *	options -> modules -> read -> check -> limits -> sockets -> pid file, rights, daemon -> run
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/diag.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "core/fd.h"
#include "core/pool.h"
#include "core/thread.h"
#include "core/trace.h"
#include "ctl/ctl.h"
#include "expr/expr.h"
#include "ext/load.h"
#include "mux/mux.h"
#include "net/handoff.h"
#include "stream/debug.h"
#include "stream/filter.h"
#include "stream/rule.h"
#include "stream/service.h"
#include "dump_priv.h"
#include "generation_priv.h"
#include "mode_priv.h"
#include "options_priv.h"
#include "process_priv.h"
#include "settings_priv.h"

uint64_t main_start_ns, main_ready_ns;

/* Exit statuses of the manual: 1 for what is wrong, 2 for a file without listener under -c. */
enum { STATUS_OK = 0, STATUS_ERROR = 1, STATUS_NO_LISTENER = 2,
       STATUS_BAD_CONDITION = 2 };

/* Lays out the slots of all modules, reads their tables, then lets them initialise. */
static bool modules_register(void)
{
	for (const struct module *const *m = main_modules; *m; m++)
		for (struct slot *const *s = (*m)->slots; s && *s; s++)
			slot_register(*s);
	if (!conf_register(main_modules) || !ctl_register(main_modules) ||
	    !expr_register(main_modules) || !rules_register(main_modules) ||
	    !services_register(main_modules) || !filters_register(main_modules) ||
	    !muxes_register(main_modules)) {
		diag_say(DIAG_ALERT, "out of memory while registering keywords.");
		return false;
	}
	trace_register(main_modules);
	for (const struct module *const *m = main_modules; *m; m++) {
		if ((*m)->init && !(*m)->init()) {
			diag_say(DIAG_ALERT, "module '%s' cannot start: out of memory.",
				 (*m)->name);
			return false;
		}
	}
	return true;
}

/* The traces of -dt. */
static bool traces_begin(const struct main_options *o)
{
	struct strbuf text;
	bool good;

	if (!o->traces || strcmp(o->traces, "help") == 0)
		return true;
	strbuf_init(&text);
	good = trace_run_option(o->traces, &text) == TRACE_DONE;
	if (!good)
		fwrite(text.ptr, 1, text.len, stderr);
	strbuf_fini(&text);
	return good;
}

static void modules_fini(void)
{
	unsigned count = 0;

	while (main_modules[count])
		count++;
	while (count-- > 0)
		if (main_modules[count]->fini)
			main_modules[count]->fini();
}

/* The absolute name of this program, for the banner of messages. */
static const char *program_path(void)
{
	static char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len <= 0)
		return "haproxy";
	path[len] = '\0';
	return path;
}

/* -c. */
static int report_check(const struct config *cfg, const struct main_options *o, bool warned)
{
	bool has_sockets = generation_count_listeners(cfg) + stats_sockets_count(cfg) > 0;

	bool quiet = o->quiet || settings_of(cfg)->quiet;

	if (warned && !quiet)
		printf("Warnings were found.\n");
	if (!has_sockets) {
		if (!quiet)
			printf("Configuration file has no error but will not start (no listener) "
			       "=> exit(2).\n");
		return STATUS_NO_LISTENER;
	}
	if (o->verbose && !o->debug)
		printf("Configuration file is valid\n");
	return STATUS_OK;
}

/* -cc. */
static int evaluate_condition(const char *text)
{
	struct config *cfg = config_new();
	struct diag_list diags;
	int result = -1;

	if (!cfg)
		return STATUS_ERROR;
	diag_list_init(&diags);
	result = conf_condition(cfg, text, &diags);
	diag_print(&diags, DIAG_NOTICE, stderr);
	diag_list_fini(&diags);
	config_drop(&cfg);
	return result < 0 ? STATUS_BAD_CONDITION : result ? STATUS_OK : STATUS_ERROR;
}

/* -V, -d: what the loops will use. */
static void say_poller(void)
{
	fd_poller_dump(stderr);
	version_print_filters(stderr);
	printf("Using %s() as the polling mechanism.\n", fd_poller_name());
	fflush(stdout);
}

/* Are there limits to live within, and anything to listen on? */
static bool may_live(struct config *cfg, const struct main_options *o)
{
	settings_apply(cfg, o);
	if (!limits_apply(cfg, o))
		return false;
	if (generation_count_listeners(cfg) + stats_sockets_count(cfg) > 0 || load_is_planned())
		return true;
	diag_say(DIAG_ALERT, "[%s.main()] No enabled listener found (check for 'bind' "
		 "directives) ! "
		 "Exiting.", o->program);
	return false;
}

/* Everything between a checked generation and the loops. Takes over the reference. */
static bool go_live(struct config *cfg, const struct main_options *o)
{
	if (!may_live(cfg, o)) {
		config_drop(&cfg);
		return false;
	}
	if (o->verbose)
		say_poller();
	if (o->debug)
		stream_debug_start();
	if (!mode_take_sockets(o)) {
		config_drop(&cfg);
		return false;
	}
	rights_raise(settings_of(cfg)->rights.caps);
	if (!generation_start(main_modules, cfg, o)) {
		diag_say(DIAG_ALERT, "[%s.main()] Some protocols failed to start their "
			 "listeners! Exiting.",
			 o->program);
		return false;
	}
	sockets_forget();
	return process_settle(generation_current(), o);
}

static int run(const struct main_options *o)
{
	if (!stop_install(generation_current()))
		return STATUS_ERROR;
	reload_init(main_modules, o);
	pool_trim_shared(); /* what reading the files left behind */
	main_ready_ns = clock_read_ns();
	if (!thread_run_all(main_modules)) {
		diag_say(DIAG_ALERT, "[%s.main()] Cannot start the threads: out of resources.",
			 o->program);
		return STATUS_ERROR;
	}
	if (load_is_planned() && !load_finish())
		return STATUS_ERROR;
	return stop_status();
}

static const char traces_help[] =
"-dt [<source>[:<level>[:<verbosity>]],...] has what happens inside written to stderr.\n"
"Nothing, or a source that is empty or 'all', is all sources; the level is 'error' unless\n"
"another one is given; of all sources the verbosity can only be 'quiet'.\n"
"A level or verbosity that does not exist lists those that do.\n"
"    -dt                       errors of all sources\n"
"    -dt all:user              what a user wants to know of all\n"
"    -dt h1                    errors of HTTP/1\n"
"    -dt h2:data,stream        transfers of HTTP/2, and errors of streams\n"
"    -dt h1::clean,h2::minimal errors, each in its own words\n";

/* What is answered without reading a configuration; -1: go on. */
static int answer_at_once(const struct main_options *o)
{
	if (o->traces && strcmp(o->traces, "help") == 0) {
		fputs(traces_help, stdout);
		return STATUS_OK;
	}
	if (o->version.word || o->version.numbers || o->version.branch) {
		version_print_word(stdout, o->version.branch ? 2 : o->version.numbers ? 3 : 0);
		return STATUS_OK;
	}
	if (o->version.line || o->version.build) {
		version_print(stdout);
		if (o->version.build)
			version_print_build(stdout);
		return STATUS_OK;
	}
	if (o->question.help_keyword)
		return keyword_help(main_modules, o->question.help_keyword, stdout) ? STATUS_OK
									   : STATUS_ERROR;
	if (o->question.ask_path)
		return ask_run(o->question.ask_path, o->question.ask_command, stdout);
	if (o->question.condition)
		return evaluate_condition(o->question.condition);
	return file_tools_run(&o->tools, main_modules);
}

/* -c, -dA, -dK, --explain; -1: go on. */
static int answer_about(struct config *cfg, const struct main_options *o, bool warned)
{
	if (o->list_libraries)
		libraries_dump(program_path(), o->list_places, stdout);
	if (o->archive && !libraries_archive(program_path(), o->archive))
		return STATUS_ERROR;
	if (o->dump_classes && !keyword_dump(o->dump_classes, main_modules, stdout))
		return STATUS_ERROR;
	if (o->explain.request)
		return request_explain(cfg, o) ? STATUS_OK : STATUS_ERROR;
	return o->check_only ? report_check(cfg, o, warned) : -1;
}

/* Of LeakSanitizer, where it is linked in: a death by signal would skip its check. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

/* It looks through /proc, and would wait for ever in a root folder that has none. */
static bool leaks_are_looked_for(void)
{
	return __lsan_do_leak_check && access("/proc/self/task", R_OK) == 0;
}

/* -C; NULL: it was not given. */
static bool enter_folder(const char *folder)
{
	if (!folder)
		return true;
	master_note_folder();
	if (chdir(folder) == 0)
		return true;
	diag_say(DIAG_ALERT, "Could not change to directory %s : %s", folder, strerror(errno));
	return false;
}

static bool ends_at_once; /* quick-exit: nothing is released */

static bool is_to_end_at_once(void)
{
	const struct config *cfg = __lsan_do_leak_check ? NULL : generation_current();

	return cfg && settings_of(cfg)->quick_exit;
}

static int serve(const struct main_options *o, char **argv)
{
	struct config *cfg;
	bool warned, entered;
	int status;

	entered = enter_folder(o->chdir);
	if (!entered && !master_is_back())
		return STATUS_ERROR;
	if (!o->check_only && !o->explain.request && !mode_enter(o, argv, &status))
		return status;
	if (!entered)
		return STATUS_ERROR; /* a worker: its master goes on with the one before */
	cfg = generation_load(o, &warned);
	if (!cfg)
		return STATUS_ERROR;
	status = answer_about(cfg, o, warned);
	if (status >= 0) {
		/* the end of the process frees faster, but does not find leaks */
		if (__lsan_do_leak_check)
			config_drop(&cfg);
		return status;
	}
	/* what the file has set is for programs that are run and for `show env`, too */
	if (!conf_env_apply(cfg))
		diag_say(DIAG_ALERT, "[%s.main()] No memory for the environment.", o->program);
	status = go_live(cfg, o) ? run(o) : STATUS_ERROR;
	ends_at_once = is_to_end_at_once();
	if (ends_at_once)
		return status;
	reload_fini();
	generation_end();
	return status;
}

/* A process asked to end by a signal dies of it, as its parent expects. */
static void die_of(int sig)
{
	if (leaks_are_looked_for())
		__lsan_do_leak_check();
	fflush(NULL);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Prints the same text for -h and for what was not understood, as scripts expect. */
static int show_usage(const struct main_options *o)
{
	version_print(stdout);
	fflush(stdout);
	options_print_usage(stderr, o->program);
	if (o->misunderstood)
		fprintf(stderr, "Not understood, or without the value it needs: '%s'\n\n",
			o->misunderstood);
	return STATUS_ERROR;
}

int main(int argc, char **argv)
{
	struct main_options o;
	enum options_result parsed;
	int status = STATUS_ERROR;

	main_start_ns = clock_read_ns();
	master_recall();
	clock_refresh();
	ctl_set_start_ns(main_start_ns);
	diag_set_banner(version_text(), program_path());
	if (!other_name_enter(&argc, &argv, &status))
		return status;
	parsed = options_parse(&o, argc, argv);
	if (parsed == OPTIONS_USAGE || o.usage || (parsed == OPTIONS_OK && argc <= 1)) {
		status = show_usage(&o);
	} else if (parsed == OPTIONS_OK) {
		version_publish_facts(&o);
		if (!environment_publish(&o)) {
			diag_say(DIAG_ALERT, "out of memory for the environment.");
		} else if (modules_register()) {
			status = traces_begin(&o) ? answer_at_once(&o) : STATUS_ERROR;
			if (status < 0 && !o.source_count) {
				status = show_usage(&o);
			} else if (status < 0) {
				status = serve(&o, argv);
			}
			if (!ends_at_once)
				modules_fini();
		}
	}
	options_fini(&o);
	if (status > 128 && !mode_is_master())
		die_of(status - 128);
	if (__lsan_do_leak_check && !leaks_are_looked_for()) {
		fflush(NULL);
		_exit(status);
	}
	return status;
}
