/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_ctl.c - edge file: commands of experts, to see how the process and what watches it behave
 *
 * Several of them end the process or block a thread: that is their purpose.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/core.h"
#include "core/fd.h"
#include "core/symbol.h"
#include "ctl/ctl.h"

#define HEX_BYTES 256      /* without a length */
#define HEX_BYTES_MAX 65536
#define HEX_COLUMNS 16
#define WRITE_MAX (1 << 24)

static const char *word_of(const struct ctl_request *rq, int n)
{
	return rq->at + n < rq->count ? rq->words[rq->at + n] : NULL;
}

static uint64_t number_of(const struct ctl_request *rq, int n, uint64_t otherwise)
{
	const char *word = word_of(rq, n);

	return word ? strtoull(word, NULL, 0) : otherwise;
}

/* --- ends ------------------------------------------------------------------------------------ */

static enum ctl_step debug_bug(struct ctl_request *rq)
{
	bool asked_for_by_the_runtime_api = rq->session != NULL;

	BUG_ON(asked_for_by_the_runtime_api);
	return CTL_DONE;
}

static enum ctl_step debug_exit(struct ctl_request *rq)
{
	_exit((int)number_of(rq, 0, 0));
}

/* --- time ------------------------------------------------------------------------------------ */

/* Sleeps: the watchdog sees a thread that does not come back, and uses no processor. */
static enum ctl_step debug_delay(struct ctl_request *rq)
{
	uint64_t ms = number_of(rq, 0, 0);
	struct timespec rest = { .tv_sec = (time_t)(ms / 1000),
				 .tv_nsec = (long)(ms % 1000 * 1000000) };

	while (nanosleep(&rest, &rest) != 0 && rest.tv_sec + rest.tv_nsec > 0)
		;
	return CTL_DONE;
}

/* Computes. */
static enum ctl_step debug_loop(struct ctl_request *rq)
{
	uint64_t end = clock_read_ns() + number_of(rq, 0, 0) * 1000000;

	if (word_of(rq, 1)) {
		ctl_error(rq, "Only <ms> is supported.");
		return CTL_DONE;
	}
	while (clock_read_ns() < end)
		;
	return CTL_DONE;
}

/* --- texts ----------------------------------------------------------------------------------- */

static enum ctl_step debug_hash(struct ctl_request *rq)
{
	const char *word = word_of(rq, 0);
	char hidden[CTL_HIDE_MAX];

	strbuf_printf(rq->out, "%s\n", word ? ctl_hide(ctl_anon_key(rq), word, hidden) : "");
	return CTL_DONE;
}

static enum ctl_step debug_write(struct ctl_request *rq)
{
	uint64_t size = number_of(rq, 0, 0);

	if (!word_of(rq, 0)) {
		ctl_error(rq, "Missing output size.");
		return CTL_DONE;
	}
	if (size > WRITE_MAX)
		size = WRITE_MAX;
	for (; rq->pos < size; rq->pos++) {
		if (ctl_is_due(rq))
			return CTL_MORE;
		strbuf_add_char(rq->out, '.');
	}
	strbuf_add_char(rq->out, '\n');
	return CTL_DONE;
}

/* --- memory ---------------------------------------------------------------------------------- */

static enum ctl_step debug_sym(struct ctl_request *rq)
{
	const char *word = word_of(rq, 0);

	if (!word) {
		ctl_error(rq, "Missing memory address to be resolved.");
		return CTL_DONE;
	}
	strbuf_printf(rq->out, "%s resolves to ", word);
	symbol_add_name(rq->out, (const void *)(uintptr_t)number_of(rq, 0, 0));
	strbuf_add_char(rq->out, '\n');
	return CTL_DONE;
}

/* One that is mapped, or not: asking the kernel tells, looking would end the process. */
static bool byte_read(uintptr_t at, unsigned char *out)
{
	struct iovec to = { out, 1 }, from = { (void *)at, 1 };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

static void hex_line(struct strbuf *out, uintptr_t line, uintptr_t from, uintptr_t end)
{
	char text[HEX_COLUMNS + 1] = "";

	strbuf_printf(out, "    %#lx: ", (unsigned long)line);
	for (unsigned i = 0; i < HEX_COLUMNS; i++) {
		unsigned char c = 0;
		bool shown = line + i >= from && line + i < end;
		bool good = shown && byte_read(line + i, &c);

		if (i == HEX_COLUMNS / 2)
			strbuf_add_str(out, "- ");
		if (good)
			strbuf_printf(out, "%02x ", c);
		else
			strbuf_add_str(out, shown ? "** " : "'' ");
		text[i] = !shown ? '\'' : !good ? '*' : c >= ' ' && c < 127 ? (char)c : '.';
	}
	strbuf_printf(out, "  %s\n", text);
}

static enum ctl_step debug_hex(struct ctl_request *rq)
{
	uintptr_t from = (uintptr_t)number_of(rq, 0, 0);
	uint64_t len = number_of(rq, 1, HEX_BYTES);
	uintptr_t first = from & ~(uintptr_t)(HEX_COLUMNS - 1);

	if (!from) {
		ctl_error(rq, word_of(rq, 0) ? "Will not dump from NULL address."
					     : "Missing memory address to dump from.");
		return CTL_DONE;
	}
	if (len > HEX_BYTES_MAX)
		len = HEX_BYTES_MAX;
	for (; first + rq->pos < from + len; rq->pos += HEX_COLUMNS) {
		if (ctl_is_due(rq))
			return CTL_MORE;
		hex_line(rq->out, first + rq->pos, from, from + len);
	}
	return CTL_DONE;
}

/* --- descriptors ----------------------------------------------------------------------------- */

static bool fd_is_known(int fd)
{
	return fd < fd_table_size &&
	       __atomic_load_n(&fd_table[fd].handler, __ATOMIC_RELAXED);
}

static enum ctl_step debug_close(struct ctl_request *rq)
{
	const char *how = word_of(rq, 1);
	uint64_t number = number_of(rq, 0, 0);
	int fd = number < (uint64_t)fd_table_size ? (int)number : -1;

	if (!word_of(rq, 0)) {
		ctl_error(rq, "Missing file descriptor number (optionally followed by 'hard').");
		return CTL_DONE;
	}
	if (fd < 0) {
		ctl_error(rq, "File descriptor out of range.");
		return CTL_DONE;
	}
	if (fcntl(fd, F_GETFD) < 0) {
		ctl_error(rq, "File descriptor was already closed.");
		return CTL_DONE;
	}
	if (how && strcmp(how, "hard") == 0)
		close(fd);
	else if (fd_is_known(fd))
		ctl_error(rq, "A connection is ended by 'shutdown session'; 'hard' closes the "
			  "descriptor behind its owner's back.");
	else
		ctl_error(rq, "File descriptor was already closed.");
	return CTL_DONE;
}

static const char *file_type(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "dir.";
	case S_IFCHR:
		return "chr.";
	case S_IFBLK:
		return "blk.";
	case S_IFIFO:
		return "pipe";
	case S_IFLNK:
		return "link";
	case S_IFSOCK:
		return "sock";
	default:
		return "????";
	}
}

static void put_file(struct strbuf *out, int fd, int flags)
{
	static const char *const modes[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_PATH" };
	struct stat st;

	if (fstat(fd, &st) != 0)
		return;
	strbuf_printf(out, "  %3d type=%s mod=%04o dev=%#llx siz=%#llx uid=%u gid=%u fs=%#llx "
		      "ino=%#llx getfd=+%d getfl=%s%s\n", fd, file_type(st.st_mode),
		      (unsigned)st.st_mode & 07777, (unsigned long long)st.st_rdev,
		      (unsigned long long)st.st_size, (unsigned)st.st_uid, (unsigned)st.st_gid,
		      (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
		      fcntl(fd, F_GETFD), modes[flags & O_ACCMODE],
		      flags & O_NONBLOCK ? ",O_NONBLOCK" : "");
}

/* Descriptors that are not polled: files, pipes, and what leaked. */
static enum ctl_step debug_fd(struct ctl_request *rq)
{
	long most = sysconf(_SC_OPEN_MAX);

	for (; (long)rq->pos < most; rq->pos++) {
		int fd = (int)rq->pos, flags = fcntl(fd, F_GETFL);

		if (ctl_is_due(rq))
			return CTL_MORE;
		if (flags >= 0 && !fd_is_known(fd))
			put_file(rq->out, fd, flags);
	}
	return CTL_DONE;
}

/* --- not built -------------------------------------------------------------------------------- */

static enum ctl_step refuse(struct ctl_request *rq)
{
	ctl_error(rq, "'%s' is not in this program; 'help debug' lists what is.",
		  rq->command->words);
	return CTL_DONE;
}

#define EXPERT .level = CTL_ADMIN, .flags = CTL_EXPERT | CTL_PROCESS
#define REFUSED .level = CTL_ADMIN, .flags = CTL_EXPERT | CTL_HIDDEN, .run = refuse, \
	.help = "is refused"

static const struct ctl_command commands[] = {
	{ .words = "debug dev bug", EXPERT, .run = debug_bug,
	  .help = "end as if by a bug" },
	{ .words = "debug dev close", EXPERT, .syntax = "<fd> [hard]", .run = debug_close,
	  .help = "close a descriptor" },
	{ .words = "debug dev delay", EXPERT, .syntax = "[ms]", .run = debug_delay,
	  .help = "sleep in the session's thread" },
	{ .words = "debug dev exit", EXPERT, .syntax = "[code]", .run = debug_exit,
	  .help = "end the process immediately" },
	{ .words = "debug dev fd", EXPERT, .run = debug_fd,
	  .help = "list open descriptors that are not polled" },
	{ .words = "debug dev hash", .flags = CTL_PROCESS, .syntax = "[msg]", .run = debug_hash,
	  .help = "print the replacement of a name when names are hidden" },
	{ .words = "debug dev hex", EXPERT, .syntax = "<addr> [len]", .run = debug_hex,
	  .help = "print memory" },
	{ .words = "debug dev loop", EXPERT, .syntax = "<ms>", .run = debug_loop,
	  .help = "keep the session's thread busy" },
	{ .words = "debug dev panic", EXPERT, .run = debug_bug,
	  .help = "the same, leaving a core to examine" },
	{ .words = "debug dev sym", EXPERT, .syntax = "<addr>", .run = debug_sym,
	  .help = "name the function at an address" },
	{ .words = "debug dev write", EXPERT, .syntax = "<size>", .run = debug_write,
	  .help = "answer with this many bytes" },
	{ .words = "debug dev check", REFUSED }, { .words = "debug dev deadlock", REFUSED },
	{ .words = "debug dev sched", REFUSED }, { .words = "debug dev stream", REFUSED },
	{ .words = "debug dev task", REFUSED }, { .words = "debug dev tkill", REFUSED },
	{ .words = "debug dev warn", REFUSED },
	{ 0 }
};

const struct module mod_debug_ctl = { .name = "debug_ctl", .commands = commands };
