/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_external.c - checks by programs
 *
 * The program is started with posix_spawn(), so that the memory of a large process is not copied,
 * and watched through its own pidfd, so that its end is an ordinary event and no SIGCHLD handler is
 * needed. All its descriptors except the standard ones are closed on execution. A program that
 * takes too long is killed.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "core/fd.h"
#include "mux/mux.h"
#include "proxy/address.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "tls/tls.h"
#include "check_priv.h"
#include "check_settings.h"

#define VARIABLES_MAX 16

extern char **environ;

/* --- what the program gets ------------------------------------------------------------------ */

struct program {
	struct arena *arena;
	char *args[6];
	char *own[VARIABLES_MAX];  /* NAME=value */
	unsigned own_count;
	char **env;
};

static void put_variable(struct program *p, const char *name, const char *value)
{
	if (p->own_count < VARIABLES_MAX - 1)
		p->own[p->own_count++] = arena_printf(p->arena, "%s=%s", name, value);
}

static void put_number(struct program *p, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	put_variable(p, name, text);
}

/* Address and port as two texts; those of a UNIX socket: its path, and <none>. */
static void put_address(struct program *p, const struct sockaddr *sa, const char *none, char **addr,
			char **port)
{
	char ip[64];

	if (sa->sa_family == AF_UNIX) {
		*addr = arena_printf(p->arena, "%s", ((const struct sockaddr_un *)sa)->sun_path);
		*port = arena_printf(p->arena, "%s", none);
		return;
	}
	*addr = arena_printf(p->arena, "%s", address_ip_text(sa, ip, sizeof(ip)));
	*port = arena_printf(p->arena, "%d", address_port(sa));
}

static const struct listener_conf *first_listener(const struct proxy *px)
{
	struct listener_conf *lc;
	struct bind_conf *b;

	list_for_each(b, &px->binds, link)
		list_for_each(lc, &b->listeners, link)
			return lc;
	return NULL;
}

static void put_addresses(struct program *p, const struct check *c)
{
	const struct listener_conf *lc = first_listener(c->server->proxy);
	struct server_addr to;

	p->args[1] = p->args[2] = "NOT_USED";
	if (lc)
		put_address(p, (const struct sockaddr *)&lc->address, "NOT_USED", &p->args[1],
			    &p->args[2]);
	check_address(c->server, false, &to);
	put_address(p, (struct sockaddr *)&to.sa, "NOT_USED", &p->args[3], &p->args[4]);
	put_variable(p, "HAPROXY_PROXY_ADDR", lc ? p->args[1] : "");
	put_variable(p, "HAPROXY_PROXY_PORT", lc ? p->args[2] : "");
	put_variable(p, "HAPROXY_SERVER_ADDR", p->args[3]);
	put_variable(p, "HAPROXY_SERVER_PORT", to.sa.ss_family == AF_UNIX ? "" : p->args[4]);
}

static void put_variables(struct program *p, const struct check *c)
{
	const struct server *srv = c->server;

	put_number(p, "HAPROXY_PROXY_ID", srv->proxy->id);
	put_variable(p, "HAPROXY_PROXY_NAME", srv->proxy->name);
	put_number(p, "HAPROXY_SERVER_CURCONN",
		   (int64_t)counter_read(&srv->state->counters, CNT_SESS_CUR));
	put_number(p, "HAPROXY_SERVER_ID", srv->id);
	put_number(p, "HAPROXY_SERVER_MAXCONN",
		   __atomic_load_n(&srv->state->maxconn, __ATOMIC_RELAXED));
	put_variable(p, "HAPROXY_SERVER_NAME", srv->name);
	put_variable(p, "HAPROXY_SERVER_SSL", tls_server_is_given(server_slots(srv)) ? "1" : "0");
	put_variable(p, "HAPROXY_SERVER_PROTO", srv->proxy->mode != PROXY_MODE_HTTP ? "tcp" :
		     srv->mux.forced ? srv->mux.forced->name : "h1");
	put_variable(p, "PATH", c->proxy->path ? c->proxy->path : "");
}

/* Ours, behind those of the process when they are to be kept. False: no memory. */
static bool make_environment(struct program *p, const struct config *cfg)
{
	unsigned n = 0, kept = 0;
	char **it;

	p->env = p->own;
	if (!check_settings_of(cfg)->keep_env)
		return true;
	for (it = environ; it && *it; it++)
		kept++;
	p->env = arena_alloc(p->arena, (kept + p->own_count + 1) * sizeof(*p->env));
	if (!p->env)
		return false;
	for (unsigned i = 0; i < p->own_count; i++)
		p->env[n++] = p->own[i];
	for (it = environ; it && *it; it++)
		if (strncmp(*it, "PATH=", 5) != 0 && strncmp(*it, "HAPROXY_", 8) != 0)
			p->env[n++] = *it;
	p->env[n] = NULL;
	return true;
}

static bool is_complete(const struct program *p)
{
	for (unsigned i = 0; i < 5; i++)
		if (!p->args[i])
			return false;
	for (unsigned i = 0; i < p->own_count; i++)
		if (!p->own[i])
			return false;
	return true;
}

/* --- its life ------------------------------------------------------------------------------- */

static int pid_open(int pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

void check_external_stop(struct check *c)
{
	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	/* dies immediately: nothing to wait for in practice */
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	if (c->pid_fd >= 0)
		fd_close(c->pid_fd);
	c->pid_fd = -1;
}

static void ended(void *owner, int fd, unsigned events)
{
	struct check *c = owner;
	struct check_result r = { .status = CHECK_PROCERR };
	int status;

	if (waitpid(c->pid, &status, WNOHANG) != c->pid) {
		fd_cant_recv(fd);
		return;
	}
	c->pid = 0;
	c->pid_fd = -1;
	fd_close(fd);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		r.status = CHECK_PROCOK;
	r.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	c->done(c, &r);
}

/* Starts it with default signals. Returns 0, or what is wrong. */
static int spawn(struct program *p, int *pid)
{
	posix_spawnattr_t attr;
	sigset_t none, all;
	int err = posix_spawnattr_init(&attr);

	if (err)
		return err;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	err = posix_spawn(pid, p->args[0], NULL, &attr, p->args, p->env);
	posix_spawnattr_destroy(&attr);
	return err;
}

/* Ends the run immediately. */
static bool fail(struct check *c, int err, struct check_result *r)
{
	r->status = CHECK_SOCKERR;
	r->text = arena_printf(&c->run->arena, "%s", strerror(err));
	return true;
}

bool check_external_start(struct check *c, struct check_result *r)
{
	const struct config *cfg = c->server->proxy->config;
	struct program p = { .arena = &c->run->arena };
	int err;

	p.args[0] = (char *)(uintptr_t)c->proxy->command;
	put_addresses(&p, c);
	put_variables(&p, c);
	if (!is_complete(&p) || !make_environment(&p, cfg))
		return fail(c, ENOMEM, r);
	err = spawn(&p, &c->pid);
	if (err) {
		c->pid = 0;
		return fail(c, err, r);
	}
	c->pid_fd = pid_open(c->pid);
	if (c->pid_fd < 0 || !fd_add(c->pid_fd, ended, c, 0)) {
		err = errno;
		if (c->pid_fd >= 0)
			close(c->pid_fd);
		c->pid_fd = -1;
		return fail(c, err, r);
	}
	return false;
}
