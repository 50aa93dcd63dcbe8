/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_tools.c - --format, --lint, --language-server: the modules' data they need */
#include "base/diag.h"
#include "proxy/proxy.h"
#include "dump_priv.h"
#include "options_priv.h"

static const struct module *const *known;

static void print_vocabulary(FILE *out)
{
	vocabulary_dump(known, out);
}

/* As -c -dD reads it; names of servers that cannot be resolved here are no error of the file. */
static void check_file(const char *path, const struct slice *text, struct diag_list *diags,
		       bool ends)
{
	const struct conf_source source = { .path = path };
	struct config *cfg = config_new();

	if (!cfg) {
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory for the configuration.");
		return;
	}
	proxies_allow_unresolved(cfg);
	if (text ? conf_read_text(cfg, path, *text, diags) : conf_read(cfg, &source, 1, diags))
		conf_check(cfg, diags);
	if (ends)
		return;
	environment_forget(cfg);
	config_drop(&cfg);
}

int file_tools_run(const struct file_tools *t, const struct module *const *modules)
{
	const struct tools_host host = { .vocabulary = print_vocabulary, .check = check_file };

	known = modules;
	if (t->serve)
		return language_server_run(&host);
	if (!t->path_count && (t->check || t->write || t->output != TOOLS_TEXT)) {
		diag_say(DIAG_ALERT, "--check, --write and --output belong to --format or --lint.");
		return 1;
	}
	if (!t->path_count)
		return -1;
	if (t->is_lint)
		return lint_run(&host, t->paths, t->path_count, t->output);
	return format_run(t->paths, t->path_count,
			  t->write   ? FORMAT_WRITE
			  : t->check ? FORMAT_CHECK
				     : FORMAT_PRINT);
}
