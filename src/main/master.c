/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master.c - the master process: forks, watches and replaces workers */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "net/descriptors.h"
#include "dump_priv.h"
#include "master_priv.h"
#include "mode_priv.h"
#include "options_priv.h"
#include "process_priv.h"
#include "settings_priv.h"

#define FDS_MAX 512

static struct {
	const struct main_options *options; /* borrowed */
	char **argv;                 /* as given */
	struct master_kept kept;
	unsigned max_reloads;
	int announce;                /* the process that started a daemon waits here, -1 */
	int pid_fd;                  /* the pid file, until a worker is ready, -1 */
	bool pending;                /* a reload was asked for while one goes on */
	enum master_reload pending_how;
	int pending_client;          /* the client that asked for it, -1 none */
	bool in_process;             /* reload-mode in-process */
	bool no_exit;                /* no-exit-on-failure */
	bool stopping;
	int exit_status;
} master = {
	.kept = { .workers = LIST_HEAD(master.kept.workers), .signals = -1, .home = -1,
		  .client = -1 },
	.pending_client = -1, .announce = -1, .pid_fd = -1,
};

/* The folder of the start, while it is not known yet whether this is a master; -1: not noted. */
static int home = -1;

static int open_folder(void)
{
	return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void master_note_folder(void)
{
	home = open_folder();
}

void master_forget_folder(void)
{
	if (home >= 0)
		close(home);
	home = -1;
}

const struct master_status *master_status(void)
{
	return &master.kept.status;
}

struct list *master_workers(void)
{
	return &master.kept.workers;
}

static struct worker_process *worker_current(void)
{
	struct worker_process *w;

	list_for_each(w, &master.kept.workers, link)
		if (!w->reloads)
			return w;
	return NULL;
}

struct worker_process *master_serving_worker(void)
{
	struct worker_process *w;

	list_for_each(w, &master.kept.workers, link)
		if (w->ready && !w->leaving)
			return w;
	return NULL;
}

static void tell_workers(int sig, bool old_only)
{
	struct worker_process *w;

	list_for_each(w, &master.kept.workers, link) {
		if (!w->reloads && old_only)
			continue;
		kill(w->pid, sig);
		w->leaving = true;
	}
}

/* What a worker that starts would not understand: it would be stopped by it. */
static void tell_ready_workers(int sig)
{
	struct worker_process *w;

	list_for_each(w, &master.kept.workers, link)
		if (w->ready)
			kill(w->pid, sig);
}

/* --- reloading -------------------------------------------------------------------------------- */

/* The reload has ended: the client that asked for it, if any, is told. */
static void answer_client(bool success)
{
	struct strbuf b;

	if (master.kept.client < 0)
		return;
	strbuf_init(&b);
	strbuf_printf(&b, "Success=%d\n--\n", success);
	startup_log_read(&b);
	strbuf_add_char(&b, '\n');
	master_cli_answer(master.kept.client, strbuf_slice(&b));
	strbuf_fini(&b);
	master.kept.client = -1;
}

/* No new worker came of it: the ones from before go on. */
static void reload_failed(void)
{
	master.kept.status.failed++;
	master.kept.status.last_failed = true;
	answer_client(false);
	if (!list_is_empty(&master.kept.workers))
		notify_ready("Reload failed!", 0);
}

void master_reloaded(bool success)
{
	master.kept.status.reloads += success;
	master.kept.status.failed += !success;
	master.kept.status.last_failed = !success;
}

/* To be done when the reload that goes on is over: one for all that were asked for meanwhile. */
static void reload_later(enum master_reload how, int client)
{
	master.pending = true;
	master.pending_how = how;
	if (client < 0)
		return;
	if (master.pending_client >= 0)
		master_cli_answer(master.pending_client,
				  SLICE("Success=0\n--\nAnother reload took its place.\n"));
	master.pending_client = client;
}

static void reload_pending(void)
{
	int client = master.pending_client;

	master.pending = false;
	master.pending_client = -1;
	master_reload(master.pending_how, client);
}

void master_reload(enum master_reload how, int client)
{
	struct worker_process *w = worker_current(), *serving;
	bool hard = how == RELOAD_HARD;

	if (how != RELOAD_AS_SET)
		in_place_abandon(); /* the way out when the worker does not answer */
	if (master.stopping) {
		if (client >= 0)
			close(client);
		return;
	}
	if ((w && !w->ready) || in_place_goes_on()) {
		reload_later(how, client);
		return;
	}
	serving = master_serving_worker();
	if (how == RELOAD_AS_SET && master.in_process && serving && in_place_begin(serving, client))
		return;
	diag_say(DIAG_NOTICE, "Reloading HAProxy%s", hard ? " (hard-reload)" : "");
	notify_reloading();
	master.kept.client = client;
	master.kept.hard = hard;
	if (fchdir(master.kept.home) == 0 && reexec_prepare(&master.kept))
		execvp(master.argv[0], master.argv);
	diag_say(DIAG_WARNING, "Failed to reexecute the master process [%d]: %s", (int)getpid(),
		 strerror(errno));
	reexec_undo(&master.kept);
	reload_failed();
}

/* --- workers ---------------------------------------------------------------------------------- */

int master_connect(const struct worker_process *w, enum ctl_level level)
{
	int ends[2];
	bool sent;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -1;
	sent = channel_send(w->channel, (char)(CHANNEL_CLIENT + level), ends[1]);
	close(ends[1]);
	if (sent)
		return ends[0];
	close(ends[0]);
	return -1;
}

/* In a child: what is the master's only. */
static void drop_all(void)
{
	struct worker_process *w, *next;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	list_for_each_safe(w, next, &master.kept.workers, link)
		worker_process_free(w);
	master_cli_fini();
	in_place_fini();
	close(master.kept.signals);
	close(master.kept.home);
	if (master.kept.client >= 0)
		close(master.kept.client);
	if (master.pending_client >= 0)
		close(master.pending_client);
	if (master.announce >= 0)
		close(master.announce);
	if (master.pid_fd >= 0)
		close(master.pid_fd);
	notify_forget();
}

static void become_worker(int channel, int donor)
{
	drop_all();
	worker_begin(channel, donor, master.kept.status.reloads == 0);
}

static bool cannot_start(const char *what)
{
	diag_say(DIAG_ALERT, "[%s.main()] %s", master.options->program, what);
	return false;
}

/* True in the worker. Without a descriptor to be had, none is started: it would have to bind anew
 * what the one before has bound already.
 */
static bool start_worker(void)
{
	struct worker_process *w = master_serving_worker();
	int ends[2], sockets = w ? master_connect(w, CTL_ADMIN) : -1;
	pid_t pid;

	if ((w && sockets < 0 && (errno == EMFILE || errno == ENFILE)) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		if (sockets >= 0)
			close(sockets);
		return cannot_start("Cannot create worker IPC sockpair.");
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		become_worker(ends[1], sockets);
		return true;
	}
	close(ends[1]);
	if (sockets >= 0)
		close(sockets);
	w = pid < 0 ? NULL : worker_process_new(pid, ends[0]);
	if (!w) {
		close(ends[0]);
		return cannot_start("Cannot fork.");
	}
	list_prepend(&master.kept.workers, &w->link);
	diag_say(DIAG_NOTICE, "Initializing new worker (%d)", (int)pid);
	return false;
}

static void retire_excess(void)
{
	struct worker_process *w;

	list_for_each(w, &master.kept.workers, link)
		if (w->reloads > master.max_reloads)
			kill(w->pid, SIGTERM);
}

/* The new worker serves. */
static void on_ready(struct worker_process *w)
{
	w->ready = true;
	master.kept.status.last_failed = false;
	master.exit_status = 0;
	tell_workers(master.kept.hard ? SIGTERM : SIGUSR1, true);
	retire_excess();
	diag_say(DIAG_NOTICE, "Loading success.");
	process_write_pid(master.pid_fd);
	master.pid_fd = -1;
	process_leave_terminal(master.announce >= 0);
	process_say_ready(master.announce);
	master.announce = -1;
	answer_client(true);
	if (activation_is_stored())
		activation_store(master_connect(w, CTL_ADMIN));
	notify_ready("Ready.", getpid());
}

static const char *how_it_ended(int status, int *code)
{
	if (WIFSIGNALED(status)) {
		*code = 128 + WTERMSIG(status);
		return strsignal(WTERMSIG(status));
	}
	*code = WEXITSTATUS(status);
	return "Exit";
}

/* The others have sockets in common with the worker that has ended. */
static void tell_of_end(void)
{
	struct worker_process *w;

	list_for_each(w, &master.kept.workers, link)
		channel_send(w->channel, CHANNEL_ENDED, -1);
}

/* A worker did not start: the old ones go on, or there is none and the master leaves too. */
static void on_failed(struct worker_process *w, int code, const char *how)
{
	diag_say(DIAG_WARNING, "Failed to load worker (%d) exited with code %d (%s)", (int)w->pid,
		 code, how);
	worker_process_free(w);
	tell_of_end();
	reload_failed();
	if (list_is_empty(&master.kept.workers)) {
		master.exit_status = code ? code : 1;
		master.stopping = true;
	}
}

/* The current worker has left although it was not told to. */
static void on_crash(int code)
{
	if (code > 128 && code != 128 + SIGTERM && code != 128 + SIGINT)
		diag_say(DIAG_WARNING, "A worker process unexpectedly died: this is a defect of "
			 "the program or of one of its libraries. Version %s %s.", version_text(),
			 version_date());
	master.exit_status = code;
	if (master.no_exit)
		return; /* without a worker the master ends all the same */
	diag_say(DIAG_ALERT, "exit-on-failure: killing every processes with SIGTERM");
	master.stopping = true;
	tell_workers(SIGTERM, false);
}

static void on_exit_of(struct worker_process *w, int status)
{
	int code;
	const char *how = how_it_ended(status, &code);
	bool current = !w->reloads || w == master_serving_worker();

	if (!w->ready && !master.stopping) {
		on_failed(w, code, how);
		return;
	}
	diag_say(current && code ? DIAG_ALERT : DIAG_WARNING,
		 "%s worker (%d) exited with code %d (%s)", current ? "Current" : "Former",
		 (int)w->pid, code, how);
	worker_process_free(w);
	tell_of_end();
	if (current && !master.stopping)
		on_crash(code);
}

/* A worker without rights reloads: a process with ours reads for it, on its end <fd> (owned). One
 * at a time: the next one waits for the end of this one, more are not asked for honestly. <user>:
 * the worker's, as the kernel tells.
 */
static void start_reader(struct worker_process *w, int fd, uid_t user)
{
	pid_t pid;

	if (w->reader && w->next_reader < 0 && !master.stopping) {
		w->next_reader = fd;
		w->next_user = user;
		return;
	}
	pid = w->reader || master.stopping ? -1 : fork();
	if (pid == 0) {
		drop_all();
		reader_run(fd, user, master.options);
	}
	close(fd);
	if (pid > 0)
		w->reader = pid;
	diag_say(DIAG_NOTICE, pid > 0 ? "Reading the configuration for worker (%d)"
			      : "Cannot read the configuration for worker (%d)", (int)w->pid);
}

static void reader_ended(struct worker_process *w)
{
	int fd = w->next_reader;

	w->reader = 0;
	w->next_reader = -1;
	if (fd >= 0)
		start_reader(w, fd, w->next_user);
}

static void reap(void)
{
	struct worker_process *w, *next;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		list_for_each_safe(w, next, &master.kept.workers, link) {
			if (w->reader == pid)
				reader_ended(w);
			if (w->pid == pid) {
				on_exit_of(w, status);
				break;
			}
		}
}

/* --- the loop --------------------------------------------------------------------------------- */

static void stop(int sig)
{
	if (!master.stopping) {
		diag_say(DIAG_WARNING, "Exiting Master process...");
		notify_stopping();
	}
	master.stopping = true;
	if (sig == SIGINT)
		master.exit_status = 128 + sig;
	tell_workers(sig, false);
}

static void on_signal(int sig)
{
	switch (sig) {
	case SIGCHLD:
		reap();
		break;
	case SIGUSR2:
		master_reload(RELOAD_AS_SET, -1);
		break;
	case SIGHUP:
		master_reload(RELOAD_NEW, -1);
		break;
	case SIGTERM:
	case SIGINT:
	case SIGUSR1:
		stop(sig);
		break;
	default: /* SIGTTIN, SIGTTOU, SIGQUIT */
		tell_ready_workers(sig);
		break;
	}
}

static void read_signals(void)
{
	struct signalfd_siginfo info;

	while (read(master.kept.signals, &info, sizeof(info)) == sizeof(info))
		on_signal((int)info.ssi_signo);
}

/* The program of before has blocked them, and has a descriptor for them already. */
static bool watch_signals(void)
{
	static const int taken[] = { SIGCHLD, SIGUSR1, SIGUSR2, SIGHUP, SIGTERM, SIGINT, SIGTTIN,
				     SIGTTOU, SIGQUIT };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(taken); i++)
		sigaddset(&set, taken[i]);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_SETMASK, &set, NULL) < 0)
		return false;
	master.kept.signals = signalfd(master.kept.signals, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return master.kept.signals >= 0;
}

/* What a worker says; its end is told by SIGCHLD. */
static void read_channel(struct worker_process *w)
{
	uid_t user;
	int fd, said = channel_receive(w->channel, &fd, &user);

	if (said == CHANNEL_READY && !w->ready)
		on_ready(w);
	else if (said == CHANNEL_READER && fd >= 0)
		start_reader(w, fd, user);
	else if (fd >= 0)
		close(fd);
	if (!said)
		w->silent = true;
}

static void handle_channels(const struct pollfd *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct worker_process *w, *next;

		list_for_each_safe(w, next, &master.kept.workers, link)
			if (fds[i].revents & (POLLIN | POLLHUP) && w->channel == fds[i].fd)
				read_channel(w);
	}
}

static int wait_ms(void)
{
	int alive = notify_wait_ms(), cli = master_cli_wait_ms();

	return alive < 0 || (cli >= 0 && cli < alive) ? cli : alive;
}

static void turn(void)
{
	struct pollfd fds[FDS_MAX] = { { .fd = master.kept.signals, .events = POLLIN } };
	struct worker_process *w;
	unsigned n = 1, channels, asked;

	list_for_each(w, &master.kept.workers, link)
		if (!w->silent && n < FDS_MAX)
			fds[n++] = (struct pollfd){ .fd = w->channel, .events = POLLIN };
	channels = n;
	n += in_place_poll(fds + n, FDS_MAX - n);
	asked = n;
	n += master_cli_poll(fds + n, FDS_MAX - n);
	if (poll(fds, n, wait_ms()) < 0 && errno != EINTR)
		return;
	notify_alive();
	handle_channels(fds + 1, channels - 1);
	read_signals();
	in_place_handle(fds + channels, asked - channels);
	master_cli_handle(fds + asked, n - asked);
	w = worker_current();
	if (master.pending && !master.stopping && (!w || w->ready) && !in_place_goes_on())
		reload_pending();
}

/* What is done once in the life of a master, not after each exec(). False: said. */
static bool first_start(const struct main_settings *set)
{
	bool failed = false, background = master.options->daemon || set->daemon;

	master.kept.status.since_s = (int64_t)time(NULL);
	for (const char *const *s = master.options->master.sockets; *s; s++) {
		if (master_open_socket(*s))
			continue;
		diag_say(DIAG_ALERT, "Can't create the master's CLI.");
		return false;
	}
	master.pid_fd = process_open_pid_file(set, master.options, &failed);
	if (failed)
		return false;
	if (background && !master.options->foreground) {
		master.announce = process_go_background(master.options);
		if (master.announce < 0)
			return false;
	}
	return true;
}

/* The master of before with its workers, or a new one. False: said. */
static bool go_on_or_begin(const struct main_settings *set)
{
	bool is_back = reexec_read(&master.kept); /* first: it closes the log of before */

	startup_log_begin();
	if (master.kept.home >= 0)
		master_forget_folder();
	else
		master.kept.home = home >= 0 ? home : open_folder();
	home = -1;
	return is_back || first_start(set);
}

bool master_run(const struct main_options *o, char **argv, const struct main_settings *set,
		int *status)
{
	master.options = o;
	master.argv = argv;
	master.in_process = set->reload_in_process;
	master.no_exit = set->no_exit_on_failure;
	master.max_reloads = set->max_reloads ? (unsigned)set->max_reloads : UINT32_MAX;
	*status = 1;
	if (!go_on_or_begin(set))
		return false;
	master.kept.status.pid = getpid();
	prctl(PR_SET_NAME, "haproxy", 0, 0, 0);
	if (master.kept.home < 0 || !watch_signals()) {
		diag_say(DIAG_ALERT, "[%s.main()] Cannot watch signals: %s.", o->program,
			 strerror(errno));
		return false;
	}
	retire_excess();
	if (start_worker())
		return true;
	if (!worker_current()) {
		reload_failed();
		if (list_is_empty(&master.kept.workers))
			master.exit_status = 1;
	}
	while (!list_is_empty(&master.kept.workers))
		turn();
	if (master.exit_status != 1 || master.kept.status.reloads)
		diag_say(DIAG_WARNING, "All workers exited. Exiting... (%d)", master.exit_status);
	in_place_fini();
	master_cli_fini();
	*status = master.exit_status;
	return false;
}
