/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_priv.h - targets, for the files that parse them and those that send to them */
#ifndef SRC_LOG_PRIV_H
#define SRC_LOG_PRIV_H

#include <sys/socket.h>
#include <sys/uio.h>
#include "base/addr.h"
#include "log/log.h"
#include "file_priv.h"

#define LOG_LEN_DEFAULT 1024
#define LOG_LEN_MIN 80
#define LOG_LEN_MAX 65535
/* Number of rotated files. */
#define LOG_KEEP_DEFAULT 7
#define LOG_KEEP_MAX 999

struct log_range { unsigned low, high; };

/* The settings of a profile for one step. */
struct log_profile_step {
	bool is_set, drop;
	const struct logformat *format, *structured; /* NULL: the proxy's */
};

struct log_profile {
	struct log_profile *next;
	const char *name, *tag;  /* no tag: the proxy's */
	const char *file;
	int line;
	struct log_profile_step steps[LOG_STEPS];
};

/* A target whose profile has not been looked up yet. */
struct log_profile_wanted {
	struct log_profile_wanted *next;
	struct log_target *target; /* counted */
	const char *name, *file;
	int line;
};

struct log_profiles {
	struct log_profile *first;
	struct log_profile_wanted *wanted;
};

extern struct slot log_profile_slot;

static inline struct log_profiles *log_profiles_of(const struct config *cfg)
{
	return slot_of(&log_profile_slot, config_slots(cfg));
}

/* Requests this profile for the target; it may be defined later. Returns false: no memory,
 * reported.
 */
bool log_profile_want(struct conf_line *l, struct log_target *t, const char *name);
/* Check phase. */
void log_profiles_resolve(struct config *cfg, struct diag_list *diags);
/* Returns the settings of <p> for a step, or for any step; NULL: none. */
const struct log_profile_step *log_profile_step(const struct log_profile *p, enum log_step step);

struct log_target {
	unsigned refs;           /* lists that hold it; the configuration's thread only */
	int fd;                  /* an inherited descriptor; -1: use <addr> */
	const char *path;        /* of the generation; NULL: no file */
	struct log_rotation rotation;
	bool is_journal;         /* <addr> is the socket of systemd's journal */
	struct log_file *file;   /* counted; NULL before the generation starts */
	bool is_named;           /* <sink> or <backend> instead of an address */
	struct sink *sink;       /* of the generation */
	void *backend;           /* likewise, see log_set_backends() */
	struct addr_any addr;
	enum syslog_format format;  /* UNSET: depends on log-send-hostname */
	int facility;
	enum log_level max_level, min_level;
	unsigned len;
	unsigned sample_size;    /* 0: all lines */
	unsigned range_count;
	struct log_range *ranges;
	unsigned sampled;        /* atomic: lines seen */
	const struct log_profile *profile; /* of the generation; NULL: none */
};

struct log_targets {
	unsigned count;
	struct log_target *list[];
};

void log_target_drop(struct log_target *t);

/* --- outlet.c */

extern struct slot log_outlet_slot, log_files_slot;
/* Directs the target to the ring or log backend of this name. Returns false: no memory, reported.
 */
bool log_outlet_want(struct conf_line *l, struct log_target *t, bool backend, const char *name);
/* Check phase. */
void log_outlets_resolve(struct config *cfg, struct diag_list *diags);
/* Called when the generation starts: opens the files of its targets. Returns false: reported. */
bool log_outlets_start(struct config *cfg, struct diag_list *diags);
/* Directs the target to a file. Returns false: no memory, reported. */
bool log_outlet_want_file(struct conf_line *l, struct log_target *t, const char *path);
bool log_outlet_send(const struct log_target *t, const struct syslog_header *h, struct slice text);

/* --- datagram.c */

/* Sends one line of <count> pieces to <to> at the end of the turn; <to> and the pieces are copied.
 * Returns false: no socket, or not sent. Later failures are counted with log_drop().
 */
bool datagram_send(const struct addr_any *to, struct iovec *v, int count);
/* Sends the queued lines now. */
void datagram_flush(void);
/* Called when a thread enters its loop. Returns true. */
bool datagram_thread_init(void);
/* Called when a thread has left its loop: sends the queued lines, closes the sockets. */
void datagram_thread_fini(void);

/* --- journal.c */

/* Sends a line with its fields, as datagram_send() does. Returns false: no memory, no socket, or
 * not sent.
 */
bool journal_send(const struct log_target *t, const struct syslog_header *h, struct slice text);
/* Frees the calling thread's buffer. */
void journal_thread_fini(void);

/* --- log.c */

/* Frees the calling thread's texts and sockets. */
void log_thread_fini(void);

#endif
