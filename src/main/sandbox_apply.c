/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sandbox_apply.c - `sandbox on`: entering it, and what a process without a master keeps */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "base/diag.h"
#include "base/list.h"
#include "net/netns.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "table/table.h"
#include "tls/tls.h"
#include "door_priv.h"
#include "generation_priv.h"
#include "options_priv.h"
#include "process_priv.h"
#include "settings_priv.h"
#include "sandbox.h"

/* Of sanitizers, where they are linked in: they do what the sandbox forbids. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

static bool prepared;

void sandbox_prepare(void)
{
	prepared = noted_begin(false);
}

/* --- folders ---------------------------------------------------------------------------------- */

static bool is_root(const char *folder)
{
	struct stat it, root;

	return stat(folder, &it) == 0 && stat("/", &root) == 0 && it.st_dev == root.st_dev &&
	       it.st_ino == root.st_ino;
}

/* The folder of a file: files are replaced by others of their name. Of the root folder the file
 * alone, as it is now: what is below that folder is all there is.
 */
static bool allow_folder_of(const char *path, unsigned use)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (len >= sizeof(folder))
		return true;
	memcpy(folder, path, len);
	strcpy(folder + len, len ? "" : slash ? "/" : ".");
	return sandbox_allow(is_root(folder) ? path : folder, use);
}

/* What the configuration was read from. */
static bool allow_noted(void)
{
	enum door_what what;
	const char *path;
	int flags;
	bool good = true;

	for (size_t n = 0; good && (path = noted_path(n, &what, &flags)) != NULL; n++) {
		bool writes = what == DOOR_MAKE || flags & O_ACCMODE;
		unsigned use = writes ? SANDBOX_READ | SANDBOX_WRITE : SANDBOX_READ;

		if (what == DOOR_OPEN || what == DOOR_KIND || what == DOOR_MAKE)
			good = allow_folder_of(path, use);
		else if (what == DOOR_LIST || what == DOOR_ENTER)
			good = sandbox_allow(path, use);
	}
	return good;
}

/* Where names of users and hosts are looked up. */
static bool allow_names(void)
{
	static const char *const files[] = {
		"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf",
		"/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!sandbox_allow(files[i], SANDBOX_READ))
			return false;
	return true;
}

/* Servers that are added at run time may trust the authorities that the system trusts. */
static bool allow_authorities(void)
{
	const char *path;

	for (unsigned n = 0; (path = tls_system_place(n)) != NULL; n++)
		if (!sandbox_allow(path, SANDBOX_READ))
			return false;
	return true;
}

static bool allow_path_of(const struct bind_conf *b)
{
	struct listener_conf *l;
	bool good = true;

	list_for_each(l, &b->listeners, link) {
		const struct sockaddr_un *un = (const struct sockaddr_un *)&l->address;

		if (l->address.ss_family == AF_UNIX && un->sun_path[0])
			good = good && allow_folder_of(un->sun_path, SANDBOX_SOCKETS);
	}
	return good;
}

/* Where UNIX sockets stand: a reload may replace them. */
static bool allow_sockets(const struct config *cfg)
{
	bool good = true;
	const char *path;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		struct bind_conf *b;

		list_for_each(b, &px->binds, link)
			good = good && allow_path_of(b);
	}
	for (unsigned n = 0; good && (path = stats_socket_path(cfg, n)) != NULL; n++)
		good = !*path || allow_folder_of(path, SANDBOX_SOCKETS);
	return good;
}

/* Where stick-tables are kept. */
static bool allow_tables(const struct config *cfg)
{
	bool good = true;
	const char *path;

	for (const struct table *t = tables_first(cfg); t && good; t = t->next)
		if ((path = table_file_path(t)) != NULL)
			good = allow_folder_of(path, SANDBOX_READ | SANDBOX_WRITE);
	return good;
}

/* --- entering --------------------------------------------------------------------------------- */

bool sandbox_apply(const struct config *cfg, const struct main_options *o)
{
	const struct main_settings *set = settings_of(cfg);
	enum sandbox_result result;
	bool noted = prepared, good = true;

	if (prepared)
		noted_end();
	prepared = false;
	if (set->sandbox && o->may_fork) {
		diag_say(DIAG_ALERT, "[%s.main()] 'sandbox on' and -dI exclude each other.",
			 o->program);
		good = false;
	}
	/* in another root folder these names mean nothing */
	if (set->sandbox && noted && !set->rights.chroot_dir)
		good = good && allow_noted() && allow_names() && allow_authorities() &&
		       allow_sockets(cfg);
	noted_fini();
	/* also of a worker whose master opens all other files */
	if (set->sandbox && !set->rights.chroot_dir)
		good = good && allow_tables(cfg);
	if (!set->sandbox || !good || __lsan_do_leak_check)
		return good;
	if (netns_is_used())
		sandbox_allow_calls(SANDBOX_VISIT);
	if (tls_watch_is_wanted(cfg))
		sandbox_allow_calls(SANDBOX_WATCH);
	result = sandbox_enter();
	if (result == SANDBOX_NO_LANDLOCK)
		diag_say(DIAG_WARNING, "[%s.main()] 'sandbox on': this kernel has no Landlock, so "
			 "files are protected by 'chroot' and 'user' only.", o->program);
	if (result != SANDBOX_FAILED)
		return true;
	diag_say(DIAG_ALERT, "[%s.main()] Cannot enter the sandbox (%s).", o->program,
		 strerror(errno));
	return false;
}
