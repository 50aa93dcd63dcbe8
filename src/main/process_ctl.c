/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_ctl.c - edge file: set rate-limit, show dev, show libs, debug dev log
 *
 * Manual: management 9.3.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/list.h"
#include "base/strbuf.h"
#include "ctl/ctl.h"
#include "ext/compression.h"
#include "front/listen.h"
#include "log/log.h"
#include "tls/tls.h"
#include "dump_priv.h"
#include "generation_priv.h"
#include "process_priv.h"

/* --- set rate-limit --------------------------------------------------------------------------- */

static void limit_connections(unsigned rate)
{
	struct listen_figures now;

	listen_get_figures(&now);
	listen_set_rates(rate, now.session_rate_limit);
	listen_retry_all(generation_current());
}

static void limit_sessions(unsigned rate)
{
	struct listen_figures now;

	listen_get_figures(&now);
	listen_set_rates(now.conn_rate_limit, rate);
	listen_retry_all(generation_current());
}

static void limit_tls(unsigned rate)
{
	tls_set_rate_limit(rate);
}

static void limit_compression(unsigned rate)
{
	compression_set_rate_limit((uint64_t)rate << 10);
}

static const struct {
	const char *name, *what;
	void (*set)(unsigned rate);
} limits[] = {
	{ "connections", "the most connections per second", limit_connections },
	{ "sessions", "the most sessions per second", limit_sessions },
	{ "ssl-sessions", "the most TLS sessions per second", limit_tls },
	{ "http-compression", "the most bytes to compress per second, in kB", limit_compression },
};

static void list_limits(struct ctl_request *rq)
{
	ctl_begin(rq, CTL_ERR);
	strbuf_add_str(rq->out, "'set rate-limit' only supports :\n");
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		strbuf_printf(rq->out, "   - '%s global' to set %s\n", limits[i].name,
			      limits[i].what);
}

static enum ctl_step set_rate_limit(struct ctl_request *rq)
{
	const char *name = rq->words[rq->at], *value = NULL;
	size_t i = 0;
	char *end;
	long rate;

	while (name && i < sizeof(limits) / sizeof(*limits) && strcmp(limits[i].name, name) != 0)
		i++;
	if (!name || i == sizeof(limits) / sizeof(*limits) ||
	    !rq->words[rq->at + 1] || strcmp(rq->words[rq->at + 1], "global") != 0) {
		list_limits(rq);
		return CTL_DONE;
	}
	value = rq->words[rq->at + 2];
	rate = value ? strtol(value, &end, 10) : 0;
	if (!value)
		ctl_error(rq, "Expects an integer value.");
	else if (end == value || *end || rate < 0 || rate > INT32_MAX)
		ctl_error(rq, "Value out of range.");
	else
		limits[i].set((unsigned)rate);
	return CTL_DONE;
}

/* --- show dev --------------------------------------------------------------------------------- */

/* What a start changes. */
struct rights {
	unsigned uid, gid;
	struct rlimit files, memory;
	unsigned long long effective, permitted, inheritable; /* capabilities */
};

static struct rights boot;

/* The number behind "CapEff:" and its kin in /proc/self/status. */
static void read_capabilities(struct rights *r)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "CapEff: %llx", &r->effective);
		sscanf(line, "CapPrm: %llx", &r->permitted);
		sscanf(line, "CapInh: %llx", &r->inheritable);
	}
	if (f)
		fclose(f);
}

static void read_rights(struct rights *r)
{
	memset(r, 0, sizeof(*r));
	r->uid = geteuid();
	r->gid = getegid();
	getrlimit(RLIMIT_NOFILE, &r->files);
	getrlimit(RLIMIT_AS, &r->memory);
	read_capabilities(r);
}

static bool remember_boot(void)
{
	read_rights(&boot);
	return true;
}

static void print_capabilities(FILE *out, const char *when, const struct rights *r)
{
	fprintf(out, "  %s capabilities:\n", when);
	fprintf(out, "  \tCapEff: 0x%016llx\n", r->effective);
	fprintf(out, "  \tCapPrm: 0x%016llx\n", r->permitted);
	fprintf(out, "  \tCapInh: 0x%016llx\n", r->inheritable);
}

static void print_limit(FILE *out, const char *name, rlim_t before, rlim_t now)
{
	char text[2][24];
	rlim_t values[2] = { before, now };

	for (int i = 0; i < 2; i++)
		if (values[i] == RLIM_INFINITY)
			snprintf(text[i], sizeof(text[i]), "unlimited");
		else
			snprintf(text[i], sizeof(text[i]), "%llu", (unsigned long long)values[i]);
	fprintf(out, "      %-19s %-12s %-12s\n", name, text[0], text[1]);
}

static void print_process(FILE *out)
{
	struct rights now;

	read_rights(&now);
	fprintf(out, "Process info:\n  pid: %d\n", (int)getpid());
	print_capabilities(out, "boot", &boot);
	print_capabilities(out, "runtime", &now);
	fprintf(out, "  %-23s %-12s %-12s\n", "identity:", "-boot-", "-runtime-");
	fprintf(out, "      %-19s %-12u %-12u\n", "uid:", boot.uid, now.uid);
	fprintf(out, "      %-19s %-12u %-12u\n", "gid:", boot.gid, now.gid);
	fprintf(out, "  %-23s %-12s %-12s\n", "limits:", "-boot-", "-runtime-");
	print_limit(out, "fd limit (soft):", boot.files.rlim_cur, now.files.rlim_cur);
	print_limit(out, "fd limit (hard):", boot.files.rlim_max, now.files.rlim_max);
	print_limit(out, "ram limit (soft):", boot.memory.rlim_cur, now.memory.rlim_cur);
	print_limit(out, "ram limit (hard):", boot.memory.rlim_max, now.memory.rlim_max);
}

/* The name of this machine may be a secret. */
static void print_platform(FILE *out, uint32_t anon)
{
	char hidden[CTL_HIDE_MAX];
	struct utsname u;

	if (uname(&u) != 0)
		return;
	fprintf(out, "Platform info:\n  OS name: %s\n  OS release: %s\n  OS version: %s\n"
		"  OS architecture: %s\n  node name: %s\n", u.sysname, u.release, u.version,
		u.machine, ctl_hide(anon, u.nodename, hidden));
}

/* Runs <print> on a stream whose text is the answer. */
static enum ctl_step answer_with(struct ctl_request *rq, void (*print)(FILE *out, uint32_t anon))
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out) {
		ctl_error(rq, "Out of memory.");
		return CTL_DONE;
	}
	print(out, ctl_anon_key(rq));
	ctl_begin(rq, CTL_INFO);
	if (fclose(out) == 0)
		strbuf_add(rq->out, slice_make(text, len));
	free(text);
	return CTL_DONE;
}

static void print_dev(FILE *out, uint32_t anon)
{
	fprintf(out, "HAProxy version %s\n", version_text());
	version_print_build(out);
	print_platform(out, anon);
	print_process(out);
}

static enum ctl_step show_dev(struct ctl_request *rq)
{
	return answer_with(rq, print_dev);
}

static void print_libs(FILE *out, uint32_t anon)
{
	libraries_dump_places(out);
}

static enum ctl_step show_libs(struct ctl_request *rq)
{
	return answer_with(rq, print_libs);
}

/* --- debug dev log ---------------------------------------------------------------------------- */

static enum ctl_step debug_log(struct ctl_request *rq)
{
	struct strbuf text;

	strbuf_init(&text);
	ctl_add_words(rq, &text, rq->at);
	log_printf(generation_current(), NULL, LOG_LVL_INFO, "%.*s",
		   SLICE_FMT(strbuf_slice(&text)));
	strbuf_fini(&text);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "debug dev log", .level = CTL_ADMIN, .flags = CTL_EXPERT, .syntax = "[msg] ...",
	  .help = "send a line to the logs of section global", .run = debug_log },
	{ .words = "set rate-limit", .level = CTL_ADMIN, .syntax = "<setting> <value>",
	  .help = "change a limit of the process in events per second", .run = set_rate_limit },
	{ .words = "show dev", .flags = CTL_PROCESS, .level = CTL_OPERATOR, .run = show_dev,
	  .help = "show developers how it was built and where it runs" },
	{ .words = "show libs", .flags = CTL_PROCESS, .level = CTL_OPERATOR, .run = show_libs,
	  .help = "list the program's object files and libraries" },
	{ 0 }
};

const struct module mod_process_ctl = {
	.name = "process_ctl", .commands = commands, .init = remember_boot,
};
