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
#include "net/descriptors.h"
#include "master_priv.h"

#define FDS_MAX 512
#define STATE_VARIABLE "HAPROXY_PROCESSES"
#define REEXEC_VARIABLE "HAPROXY_MWORKER_REEXEC"

static struct {
	const struct main_options *options; /* borrowed */
	char **argv;                 /* as given */
	struct master_status status;
	struct list workers;
	unsigned max_reloads;
	int signals;                 /* signalfd */
	int home;                    /* directory of the start */
	int client;                  /* who asked for this reload, -1 */
	int announce;                /* the process that started a daemon waits here, -1 */
	int pid_fd;                  /* the pid file, until a worker is ready, -1 */
	bool hard;                   /* this reload ends old workers at once */
	bool pending;                /* a reload was asked for while one goes on */
	enum master_reload pending_how;
	int pending_client;          /* who asked for it, -1 */
	bool in_process;             /* reload-mode in-process */
	bool no_exit;                /* no-exit-on-failure */
	bool stopping;
	int exit_status;
} master = {
	.workers = LIST_HEAD(master.workers), .signals = -1, .home = -1, .client = -1,
	.pending_client = -1, .announce = -1, .pid_fd = -1,
};

const struct master_status *master_status(void)
{
	return &master.status;
}

struct list *master_workers(void)
{
	return &master.workers;
}

static struct worker_process *worker_current(void)
{
	struct worker_process *w;

	list_for_each(w, &master.workers, link)
		if (!w->reloads)
			return w;
	return NULL;
}

static struct worker_process *worker_add(pid_t pid, int channel)
{
	struct worker_process *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->pid = pid;
	w->channel = channel;
	descriptors_tell_sender(channel);
	w->next_reader = -1;
	w->since_s = (int64_t)time(NULL);
	snprintf(w->version, sizeof(w->version), "%s", version_text());
	list_prepend(&master.workers, &w->link);
	return w;
}

static void worker_free(struct worker_process *w)
{
	list_remove(&w->link);
	close(w->channel);
	if (w->next_reader >= 0)
		close(w->next_reader);
	free(w);
}

static void tell_workers(int sig, bool old_only)
{
	struct worker_process *w;

	list_for_each(w, &master.workers, link)
		if (w->reloads || !old_only)
			kill(w->pid, sig);
}

/* --- what survives an exec() ------------------------------------------------------------------ */

static void keep_open(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

/* "|type=m;pid=..." and the like, with the number of each descriptor. */
static char *state_write(void)
{
	const struct worker_process *w;
	enum ctl_level level;
	struct strbuf b;
	int fd;

	strbuf_init(&b);
	strbuf_printf(&b, "|type=m;fd=%d;cfd=%d;pid=%d;reloads=%u;failedreloads=%u;timestamp=%lld;"
		      "hard=%d", startup_log_fd(), master.client, (int)getpid(),
		      master.status.reloads + 1, master.status.failed,
		      (long long)master.status.since_s, master.hard);
	list_for_each(w, &master.workers, link) {
		keep_open(w->channel);
		strbuf_printf(&b, "|type=w;fd=%d;pid=%d;reloads=%u;timestamp=%lld;version=%s",
			      w->channel, (int)w->pid, w->reloads + 1, (long long)w->since_s,
			      w->version);
	}
	for (unsigned n = 0; (fd = master_cli_get(n, &level)) >= 0; n++) {
		keep_open(fd);
		strbuf_printf(&b, "|type=s;fd=%d;level=%d", fd, level);
	}
	keep_open(startup_log_fd());
	keep_open(master.client);
	strbuf_add_str(&b, "");
	return b.overflow ? NULL : b.ptr;
}

/* The value of "name=" in one record, or "". */
static const char *field(const char *record, const char *name)
{
	size_t len = strlen(name);

	while (*record && *record != '|') {
		if (strncmp(record, name, len) == 0 && record[len] == '=')
			return record + len + 1;
		record += strcspn(record, ";|");
		record += *record == ';';
	}
	return "";
}

static long number(const char *record, const char *name)
{
	return strtol(field(record, name), NULL, 10);
}

static int descriptor(const char *record, const char *name)
{
	int fd = *field(record, name) ? (int)number(record, name) : -1;

	if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return fd;
}

static void read_worker(const char *record)
{
	struct worker_process *w = worker_add((pid_t)number(record, "pid"),
					      descriptor(record, "fd"));
	const char *version = field(record, "version");

	if (!w)
		return;
	list_remove(&w->link);
	list_append(&master.workers, &w->link);
	w->reloads = (unsigned)number(record, "reloads");
	w->since_s = number(record, "timestamp");
	w->ready = true;
	snprintf(w->version, sizeof(w->version), "%.*s", (int)strcspn(version, ";|"), version);
}

static void read_record(const char *record)
{
	switch (record[strlen("type=")]) {
	case 'm':
		master.client = descriptor(record, "cfd");
		master.status.reloads = (unsigned)number(record, "reloads");
		master.status.failed = (unsigned)number(record, "failedreloads");
		master.status.since_s = number(record, "timestamp");
		master.hard = number(record, "hard") != 0;
		break;
	case 'w':
		read_worker(record);
		break;
	case 's':
		master_cli_listen(descriptor(record, "fd"),
				  (enum ctl_level)number(record, "level"));
		break;
	default:
		break;
	}
}

/* The text that was found in the environment, before it was cleaned. */
static char *recalled;

void master_recall(void)
{
	const char *text = getenv(STATE_VARIABLE);

	if (getenv(REEXEC_VARIABLE) && text)
		recalled = strdup(text);
	unsetenv(STATE_VARIABLE);
	unsetenv(REEXEC_VARIABLE);
}

/* True: this is the master of before, with another program maybe. */
static bool state_read(void)
{
	const char *at = recalled;

	if (!at)
		return false;
	for (at = strchr(at, '|'); at; at = strchr(at + 1, '|'))
		if (strncmp(at + 1, "type=", 5) == 0)
			read_record(at + 1);
	free(recalled);
	recalled = NULL;
	return true;
}

/* --- reloading -------------------------------------------------------------------------------- */

static void answer_client(bool success)
{
	struct strbuf b;

	if (master.client < 0)
		return;
	strbuf_init(&b);
	strbuf_printf(&b, "Success=%d\n--\n", success);
	startup_log_read(&b);
	strbuf_add_char(&b, '\n');
	fcntl(master.client, F_SETFL, fcntl(master.client, F_GETFL) & ~O_NONBLOCK);
	if (b.ptr && send(master.client, b.ptr, b.len, MSG_NOSIGNAL) < 0)
		diag_say(DIAG_WARNING, "The client that asked for the reload has left.");
	strbuf_fini(&b);
	close(master.client);
	master.client = -1;
}

void master_reloaded(bool success)
{
	master.status.reloads += success;
	master.status.failed += !success;
	master.status.last_failed = !success;
}

/* To be done when the reload that goes on is over: one for all that were asked for meanwhile. */
static void reload_later(enum master_reload how, int client)
{
	static const char why[] = "Success=0\n--\nAnother reload took its place.\n";

	master.pending = true;
	master.pending_how = how;
	if (client < 0)
		return;
	if (master.pending_client >= 0) {
		(void)!send(master.pending_client, why, sizeof(why) - 1, MSG_NOSIGNAL);
		close(master.pending_client);
	}
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
	struct worker_process *w = worker_current();
	bool hard = how == RELOAD_HARD;
	char *state;

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
	if (how == RELOAD_AS_SET && master.in_process && w && in_place_begin(w, client))
		return;
	diag_say(DIAG_NOTICE, "Reloading HAProxy%s", hard ? " (hard-reload)" : "");
	notify_reloading();
	master.client = client;
	master.hard = hard;
	state = state_write();
	if (state && fchdir(master.home) == 0 && setenv(STATE_VARIABLE, state, 1) == 0 &&
	    setenv(REEXEC_VARIABLE, "1", 1) == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(master.argv[0], master.argv);
	}
	diag_say(DIAG_WARNING, "Failed to reexecute the master process [%d]: %s", (int)getpid(),
		 strerror(errno));
	free(state);
	master.status.failed++;
	master.status.last_failed = true;
	answer_client(false);
	notify_ready("Reload failed!", 0);
}

/* --- workers ---------------------------------------------------------------------------------- */

int master_connect(const struct worker_process *w, enum ctl_level level)
{
	int ends[2];
	bool sent;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -1;
	sent = channel_send(w->channel, (char)('0' + level), ends[1]);
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
	list_for_each_safe(w, next, &master.workers, link)
		worker_free(w);
	master_cli_fini();
	in_place_fini();
	close(master.signals);
	close(master.home);
	if (master.client >= 0)
		close(master.client);
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
	worker_begin(channel, donor, master.status.reloads == 0);
}

/* True in the worker. */
static bool start_worker(void)
{
	struct worker_process *w, *donor = NULL;
	int ends[2], sockets = -1;
	pid_t pid;

	list_for_each(w, &master.workers, link) {
		donor = w;
		break;
	}
	if (donor)
		sockets = master_connect(donor, CTL_ADMIN);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		MAIN_ALERT("[%s.main()] Cannot create worker IPC sockpair.",
			   master.options->program);
		return false;
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
	if (pid < 0 || !worker_add(pid, ends[0])) {
		MAIN_ALERT("[%s.main()] Cannot fork.", master.options->program);
		close(ends[0]);
		return false;
	}
	diag_say(DIAG_NOTICE, "Initializing new worker (%d)", (int)pid);
	return false;
}

static void retire_excess(void)
{
	struct worker_process *w;

	list_for_each(w, &master.workers, link)
		if (w->reloads > master.max_reloads)
			kill(w->pid, SIGTERM);
}

/* The new worker serves. */
static void on_ready(struct worker_process *w)
{
	w->ready = true;
	master.status.last_failed = false;
	master.exit_status = 0;
	tell_workers(master.hard ? SIGTERM : SIGUSR1, true);
	retire_excess();
	diag_say(DIAG_NOTICE, "Loading success.");
	process_write_pid(master.pid_fd);
	master.pid_fd = -1;
	process_leave_terminal(master.announce >= 0);
	process_say_ready(master.announce);
	master.announce = -1;
	answer_client(true);
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

/* A worker did not start: the old ones go on, or there is none and the master leaves too. */
static void on_failed(struct worker_process *w, int code, const char *how)
{
	diag_say(DIAG_WARNING, "Failed to load worker (%d) exited with code %d (%s)", (int)w->pid,
		 code, how);
	worker_free(w);
	master.status.failed++;
	master.status.last_failed = true;
	answer_client(false);
	if (list_is_empty(&master.workers)) {
		master.exit_status = code ? code : 1;
		master.stopping = true;
		return;
	}
	notify_ready("Reload failed!", 0);
}

/* The current worker has left although nobody told it to. */
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
	bool current = !w->reloads;

	if (!w->ready && !master.stopping) {
		on_failed(w, code, how);
		return;
	}
	diag_say(current && code ? DIAG_ALERT : DIAG_WARNING,
		 "%s worker (%d) exited with code %d (%s)", current ? "Current" : "Former",
		 (int)w->pid, code, how);
	worker_free(w);
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
		list_for_each_safe(w, next, &master.workers, link) {
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
		tell_workers(sig, false);
		break;
	}
}

static void read_signals(void)
{
	struct signalfd_siginfo info;

	while (read(master.signals, &info, sizeof(info)) == sizeof(info))
		on_signal((int)info.ssi_signo);
}

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
	master.signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return master.signals >= 0;
}

/* What a worker says; its end is told by SIGCHLD. */
static void read_channel(struct worker_process *w)
{
	uid_t user;
	int fd, said = channel_receive(w->channel, &fd, &user);

	if (said == 'R' && !w->ready)
		on_ready(w);
	else if (said == 'D' && fd >= 0)
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

		list_for_each_safe(w, next, &master.workers, link)
			if (fds[i].revents & (POLLIN | POLLHUP) && w->channel == fds[i].fd)
				read_channel(w);
	}
}

static void turn(void)
{
	struct pollfd fds[FDS_MAX] = { { .fd = master.signals, .events = POLLIN } };
	struct worker_process *w;
	unsigned n = 1, channels, asked;

	list_for_each(w, &master.workers, link)
		if (!w->silent && n < FDS_MAX)
			fds[n++] = (struct pollfd){ .fd = w->channel, .events = POLLIN };
	channels = n;
	n += in_place_poll(fds + n, FDS_MAX - n);
	asked = n;
	n += master_cli_poll(fds + n, FDS_MAX - n);
	if (poll(fds, n, notify_wait_ms()) < 0 && errno != EINTR)
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

	master.status.since_s = (int64_t)time(NULL);
	for (const char *const *s = master.options->master.sockets; *s; s++) {
		if (master_open_socket(*s))
			continue;
		MAIN_ALERT("Can't create the master's CLI.");
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

bool master_run(const struct main_options *o, char **argv, const struct main_settings *set,
		int *status)
{
	master.options = o;
	master.argv = argv;
	master.in_process = set->reload_in_process;
	master.no_exit = set->no_exit_on_failure;
	master.max_reloads = set->max_reloads ? (unsigned)set->max_reloads : UINT32_MAX;
	master.home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	startup_log_begin();
	*status = 1;
	if (!state_read() && !first_start(set))
		return false;
	master.status.pid = getpid();
	prctl(PR_SET_NAME, "haproxy", 0, 0, 0);
	if (master.home < 0 || !watch_signals()) {
		MAIN_ALERT("[%s.main()] Cannot watch signals: %s.", o->program, strerror(errno));
		return false;
	}
	retire_excess();
	if (start_worker())
		return true;
	if (!worker_current()) {
		answer_client(false);
		master.status.last_failed = true;
	}
	while (!list_is_empty(&master.workers))
		turn();
	if (master.exit_status != 1 || master.status.reloads)
		diag_say(DIAG_WARNING, "All workers exited. Exiting... (%d)", master.exit_status);
	in_place_fini();
	master_cli_fini();
	*status = master.exit_status;
	return false;
}
