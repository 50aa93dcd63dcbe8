/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.c - what this program is and how it was built: -v, -vv, facts for `.if` */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/block.h"
#include "base/regex.h"
#include "core/fd.h"
#include "core/thread.h"
#include "ext/compression.h"
#include "ext/lua.h"
#include "build_info.h"
#include "dump_priv.h"
#include "options_priv.h"
#include "mux/mux.h"
#include "stream/filter.h"
#include "stream/service.h"
#include "tls/tls.h"

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

const char *version_text(void)
{
	return BUILD_VERSION;
}

const char *version_date(void)
{
	return BUILD_DATE;
}

void version_print(FILE *out)
{
	struct utsname u;

	fprintf(out, "HAProxy version %s %s - independent implementation\n", BUILD_VERSION,
		BUILD_DATE);
	fprintf(out, "Status: in development, reads the configurations of HAProxy 3.4.\n");
	if (uname(&u) == 0)
		fprintf(out, "Running on: %s %s %s %s\n", u.sysname, u.release, u.version,
			u.machine);
}

void version_print_word(FILE *out, int parts)
{
	size_t len = strlen(BUILD_VERSION), dots = 0;

	for (size_t i = 0; parts && i < len; i++) {
		if (BUILD_VERSION[i] == '-' || (BUILD_VERSION[i] == '.' && ++dots == (size_t)parts))
			len = i;
	}
	fprintf(out, "%.*s\n", (int)len, BUILD_VERSION);
}

/* <name> as in USE_<name>. */
static bool has_feature(const char *name)
{
	size_t len = strlen(name);

	for (const char *at = BUILD_FEATURES; (at = strchr(at, '+')) != NULL; at++)
		if (strncmp(at + 1, name, len) == 0 && (!at[len + 1] || at[len + 1] == ' '))
			return true;
	return false;
}

/* How many threads start where the configuration does not say it. */
static unsigned usable_cpus(void)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

void version_print_build(FILE *out)
{
	fprintf(out, "Build options : \n  TARGET  = %s\n  CC      = %s\n  CFLAGS  = %s\n"
		"  OPTIONS = %s\n  DEBUG   = %s\n\n", BUILD_TARGET, BUILD_CC, BUILD_CFLAGS,
		BUILD_OPTIONS, BUILD_DEBUG);
	fprintf(out, "Feature list : %s\n\n", BUILD_FEATURES);
	fprintf(out, "Default settings :\n  bufsize = 16384, maxrewrite = 1024, maxpollevents = "
		"200\n\n");
	fprintf(out, "Built with multi-threading support (MAX_TGROUPS=%d, MAX_THREADS=%d, "
		"default=%u).\n", GROUPS_MAX, THREADS_MAX, usable_cpus());
	tls_library_print(out);
	lua_print_build(out);
	if (has_feature("PROMEX"))
		fprintf(out, "Built with the Prometheus exporter as a service\n");
	compression_print(out);
	fprintf(out, "Built with network namespace support.\n");
	if (has_feature("LINUX_TPROXY"))
		fprintf(out, "Built with transparent proxy support using: IP_TRANSPARENT "
			"IPV6_TRANSPARENT IP_FREEBIND\n");
	fprintf(out, "Built with PCRE2 version : %s\nPCRE2 library supports JIT : %s\n",
		regex_version(), regex_has_jit() ? "yes" : "no (at run time)");
	fprintf(out, "Encrypted password support via crypt(3): %s\n",
		has_feature("LIBCRYPT") ? "yes" : "no");
	fprintf(out, "Built with %s compiler version %s\n\n", COMPILER, __VERSION__);
	fd_poller_dump(out);
	fputc('\n', out);
	muxes_dump(out);
	fprintf(out, "\nAvailable services : ");
	services_dump(out);
	fputc('\n', out);
	version_print_filters(out);
}

void version_print_filters(FILE *out)
{
	fprintf(out, "Available filters :\n");
	filters_print(out);
	fputc('\n', out);
}

static const struct main_options *asked; /* the command line */

/* What may be switched off on the command line; names are always resolved by getaddrinfo(), and
 * there is no other way of forwarding.
 */
static bool is_enabled(const char *option)
{
	const struct {
		const char *name;
		bool is_on;
	} rows[] = {
		{ "POLL", !asked->without.poll }, { "EPOLL", !asked->without.epoll },
		{ "SPLICE", !asked->without.splice }, { "GETADDRINFO", true },
		{ "REUSEPORT", !asked->without.reuseport }, { "FAST-FORWARD", true },
		{ "SERVER-SSL-VERIFY-NONE", asked->no_verify },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(option, rows[i].name) == 0)
			return rows[i].is_on;
	return false;
}

void version_publish_facts(const struct main_options *o)
{
	static struct conf_facts facts = {
		.version = BUILD_VERSION, .features = " " BUILD_FEATURES " ",
		.enabled = is_enabled,
	};

	asked = o;
	facts.ssl_name = tls_library_name();
	facts.ssl_version = tls_library_version();
	conf_set_facts(&facts);
}
