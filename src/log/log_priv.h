/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_priv.h - targets, for the files that read and feed them */
#ifndef SRC_LOG_PRIV_H
#define SRC_LOG_PRIV_H

#include <sys/socket.h>
#include "base/addr.h"
#include "log/log.h"

#define LOG_LEN_DEFAULT 1024
#define LOG_LEN_MIN 80
#define LOG_LEN_MAX 65535

struct log_range { unsigned low, high; };

struct log_target {
	unsigned refs;           /* lists that hold it; the configuration's thread only */
	int fd;                  /* of an inherited descriptor; -1: <addr> */
	struct addr_any addr;
	enum log_format format;  /* UNSET: depends on log-send-hostname */
	int facility;
	enum log_level max_level, min_level;
	unsigned len;
	unsigned sample_size;    /* 0: all lines */
	unsigned range_count;
	struct log_range *ranges;
	unsigned sampled;        /* atomic: lines seen */
};

struct log_targets {
	unsigned count;
	struct log_target *list[];
};

void log_target_drop(struct log_target *t);
/* Appends, taking over the caller's reference. False: no memory (the reference is dropped). */
bool log_targets_add(struct log_targets **list, struct log_target *t);
void log_targets_free(struct log_targets **list);

/* Frees the calling thread's sockets. */
void log_thread_fini(void);

#endif
