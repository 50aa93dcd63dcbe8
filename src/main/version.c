/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.c - what this program is and how it was built: -v, -vv, facts for `.if` */
#include <string.h>
#include <sys/utsname.h>
#include "base/block.h"
#include "base/regex.h"
#include "core/fd.h"
#include "core/thread.h"
#include "ext/compression.h"
#include "build_info.h"
#include "main_priv.h"
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

void version_print_build(FILE *out)
{
	fprintf(out, "Build options : \n  TARGET  = %s\n  CC      = %s\n  CFLAGS  = %s\n"
		"  OPTIONS = %s\n  DEBUG   = %s\n\n", BUILD_TARGET, BUILD_CC, BUILD_CFLAGS,
		BUILD_OPTIONS, BUILD_DEBUG);
	fprintf(out, "Feature list : %s\n\n", BUILD_FEATURES);
	fprintf(out, "Default settings :\n  bufsize = 16384, maxrewrite = 1024, maxpollevents = "
		"200\n\n");
	fprintf(out, "Built with multi-threading support (MAX_TGROUPS=%d, MAX_THREADS=%d, "
		"default=%u).\n", GROUPS_MAX, THREADS_MAX, thread_count());
	tls_library_print(out);
	compression_print(out);
	fprintf(out, "Built with network namespace support.\n");
	fprintf(out, "Built with PCRE2 version : %s\nPCRE2 library supports JIT : %s\n",
		regex_version(), regex_has_jit() ? "yes" : "no (at run time)");
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

/* Features that may be switched off at run time. */
static bool is_enabled(const char *option)
{
	static const char *const always[] = { "POLL", "EPOLL", "SPLICE", "GETADDRINFO",
					      "REUSEPORT", "FAST-FORWARD" };

	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		if (strcmp(option, always[i]) == 0)
			return true;
	return false;
}

void version_publish_facts(void)
{
	static struct conf_facts facts = {
		.version = BUILD_VERSION, .features = " " BUILD_FEATURES " ",
		.enabled = is_enabled,
	};

	facts.ssl_name = tls_library_name();
	facts.ssl_version = tls_library_version();
	conf_set_facts(&facts);
}
