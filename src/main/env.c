/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env.c - the variables that configurations find set (manual 2.3): written into the process's
 * environment before the configuration engine copies it
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/strbuf.h"
#include "expr/logformat.h"
#include "dump_priv.h"
#include "options_priv.h"

/* What `option httplog` and its kin write, for formats that add to it. */
static const struct {
	const char *name;
	const char *format;
} formats[] = {
	{ "HAPROXY_TCP_LOG_FMT", logformat_tcp },
	{ "HAPROXY_TCP_CLF_LOG_FMT", logformat_tcp_clf },
	{ "HAPROXY_HTTP_LOG_FMT", logformat_http },
	{ "HAPROXY_HTTP_CLF_LOG_FMT", logformat_clf },
	{ "HAPROXY_HTTPS_LOG_FMT", logformat_https },
	{ "HAPROXY_KEYLOG_FC_LOG_FMT", logformat_keylog_front },
	{ "HAPROXY_KEYLOG_BC_LOG_FMT", logformat_keylog_back },
};

static bool peer_is_named;

bool environment_names_peer(void)
{
	return peer_is_named;
}

/* -L, or the name of this machine. */
static bool publish_peer(const struct main_options *o)
{
	char name[256] = "";

	peer_is_named = o->localpeer != NULL;
	if (!o->localpeer && gethostname(name, sizeof(name) - 1) < 0)
		strcpy(name, "localhost");
	return setenv("HAPROXY_LOCALPEER", o->localpeer ? o->localpeer : name, 1) == 0;
}

/* All names of -f and behind --, with ';' between them. */
static bool publish_files(const struct main_options *o)
{
	struct strbuf b;
	bool done;

	strbuf_init(&b);
	for (int i = 0; i < o->source_count; i++)
		strbuf_printf(&b, "%s%s", i ? ";" : "", o->sources[i].path);
	strbuf_add_str(&b, "");
	done = b.ptr && setenv("HAPROXY_CFGFILES", b.ptr, 1) == 0;
	strbuf_fini(&b);
	return done;
}

bool environment_publish(const struct main_options *o)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (setenv(formats[i].name, formats[i].format, 1) < 0)
			return false;
	return publish_peer(o) && publish_files(o) &&
	       setenv("HAPROXY_STARTUP_VERSION", version_text(), 1) == 0 &&
	       setenv("HAPROXY_BRANCH", "3.4", 1) == 0;
}

void environment_forget(struct config *cfg)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		conf_unsetenv(cfg, formats[i].name);
}
