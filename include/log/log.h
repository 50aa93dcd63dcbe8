/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log.h - log targets: the receivers of a line, and its format for each
 *
 * A target is a UDP address, a UNIX datagram socket, a descriptor, a file (src/log/file_priv.h), a
 * ring (core/sink.h), an address of a stream, which gets a ring of its own, or a log backend, with
 * a format (local, rfc3164, rfc5424, priority, short, timed, iso, raw), a facility and two levels.
 * A line is sent without waiting: immediately, or at the end of the turn with those of the turn's
 * other traffic. What cannot be sent is dropped and counted.
 * Owns   : target lists belong to the configuration (its slots). Of each thread, opened on first
 *          use: a socket for each family, and one connected to each of its first four UDP servers,
 *          with a buffer for the lines of a turn (src/log/datagram.c).
 * Threads: any; the counters are atomic, sampling too.
 * Config : log, log-tag, log-send-hostname        Manual: configuration 4.2 log.
 */
#ifndef LOG_LOG_H
#define LOG_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/diag.h"
#include "base/slice.h"
#include "base/slot.h"
#include "codec/syslog.h"
#include "conf/conf.h"

enum log_level {
	LOG_LVL_EMERG, LOG_LVL_ALERT, LOG_LVL_CRIT, LOG_LVL_ERR, LOG_LVL_WARNING, LOG_LVL_NOTICE,
	LOG_LVL_INFO, LOG_LVL_DEBUG,
	LOG_LEVELS,
};

/* X(name, word in configurations, what %OG says): when a line is written. */
#define LOG_STEP_LIST(X) \
	X(UNSPEC, "unspec", "unspec") \
	X(ACCEPT, "accept", "txn_accept") \
	X(REQUEST, "request", "txn_request") \
	X(CONNECT, "connect", "txn_connect") \
	X(RESPONSE, "response", "txn_response") \
	X(CLOSE, "close", "txn_close") \
	X(ERROR, "error", "sess_error") \
	X(KILLED, "killed", "sess_killed") /* an error to profiles */ \
	X(QUIC_INIT, "quic-init", "quic-init") \
	X(TCP_REQ_CONN, "tcp-req-conn", "tcp-req-conn") \
	X(TCP_REQ_SESS, "tcp-req-sess", "tcp-req-sess") \
	X(TCP_REQ_CONT, "tcp-req-cont", "tcp-req-cont") \
	X(TCP_RES_CONT, "tcp-res-cont", "tcp-res-cont") \
	X(HTTP_REQ, "http-req", "http-req") \
	X(HTTP_RES, "http-res", "http-res") \
	X(HTTP_AFTER_RES, "http-after-res", "http-after-res") \
	X(ANY, "any", "any")

enum log_step {
#define X(name, word, origin) LOG_STEP_##name,
	LOG_STEP_LIST(X)
#undef X
	LOG_STEPS
};

/* Its word in log-steps and sections log-profile, and what %OG says; constants. Any thread. */
const char *log_step_word(enum log_step step);
const char *log_step_origin(enum log_step step);
/* LOG_STEPS: unknown. */
enum log_step log_step_find(struct slice word);

struct log_targets; /* a list of targets */
struct log_profile; /* a section log-profile */
struct logformat;
struct strbuf;

/* Settings of a proxy or of `global`. */
struct log_settings {
	struct log_targets *targets; /* NULL: none */
	bool use_global;             /* `log global` */
	const char *tag;             /* log-tag, NULL: inherited */
	const char *hostname; /* log-send-hostname, global only; "" until the start: the system's */
	bool send_hostname;
};
/* The slots where they are: of the configuration, and of proxies. */
extern struct slot log_config_slot; /* struct log_settings */
extern struct slot log_proxy_slot;  /* struct log_settings */

/* What a message is besides its text. */
struct log_message {
	enum log_level level;
	struct slice tag;             /* none: the configuration's, else the program's name */
	struct slice structured_data; /* rfc5424: "[id a=\"b\"]"; none: "-" */
	struct slice text;            /* without final newline */
	uint64_t wall_us;             /* 0: now */
	/* for targets with a profile, which want other texts: builds one; or NULL */
	bool (*build)(void *ctx, const struct logformat *f, struct strbuf *out);
	void *ctx;
	const struct log_profile *profile; /* in place of those of all targets; or NULL */
	enum log_step step;
	bool is_traffic; /* a line of many: may leave at the end of the turn, with others */
	/* A message of another program that is passed on: its text is <text>, its level <level>. It
	 * keeps its facility, and its form where the target has none. Or NULL.
	 */
	const struct syslog_message *foreign;
};

/* The section of this name, which belongs to the configuration and is whole once that is read.
 * NULL: there is none. Configuration's thread.
 */
struct log_profile *log_profile_find(const struct config *cfg, const char *name);

/* Sends <m> to every target of the proxy settings (or of the configuration's when `log global`).
 * <proxy> NULL: the global targets.
 */
void log_send(const struct config *cfg, const struct log_settings *proxy,
	      const struct log_message *m);
/* Would any target receive it? Lets callers save the work of building the text. */
bool log_is_wanted(const struct config *cfg, const struct log_settings *proxy);
/* Formats and sends; for events (server up, start, stop): cut at 1024 bytes. */
void log_printf(const struct config *cfg, const struct log_settings *proxy, enum log_level level,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Counts a line as lost that never got here. */
void log_drop(void);
/* Lines lost since the start: the DroppedLogs of `show info`. */
uint64_t log_dropped(void);
/* The longest `len` of the targets: how long a text is worth building. */
unsigned log_max_len(const struct config *cfg, const struct log_settings *proxy);

/* "info"; -1 when unknown. */
int log_level_find(struct slice name);
const char *log_level_name(enum log_level level);
int log_facility_find(struct slice name);

/* Parses what follows `log` on a line: target and options; appends to *targets. For `log` of other
 * sections (peers, log-forward). False: reported.
 */
bool log_target_parse(struct conf_line *l, struct log_targets **targets);
/* Frees a list that log_target_parse() made, and NULLs it. */
void log_targets_free(struct log_targets **list);
/* The line `log` of sections that have the slots of a proxy. */
bool log_line_parse(struct conf_line *l);

/* Log backends (`mode log`), which live above: found by name in the check phase, *problem says what
 * is wrong with one; <send> gives a line to one of its servers, which cuts it to <max> bytes with
 * its end; false: it was dropped. Any thread. At start-up.
 */
struct log_backend_ops {
	void *(*find)(const struct config *cfg, const char *name, const char **problem);
	bool (*send)(void *backend, const struct syslog_header *h, struct slice text, size_t max);
};
/* Keeps lines in rings and sends them over connections: makes a ring for the `log` line <l>, whose
 * only server is <to>. Returns its name, which lives as long as the configuration, or NULL: no
 * memory.
 */
typedef const char *log_stream_fn(struct conf_line *l, const struct addr_any *to);
void log_set_streams(log_stream_fn *fn);
void log_set_backends(const struct log_backend_ops *ops);
/* One datagram: header, text and line end, cut to <max> bytes. False: not sent. Any thread. */
bool log_send_datagram(const struct addr_any *to, const struct syslog_header *h, struct slice text,
		       size_t max);

extern const struct module mod_log;
extern const struct module mod_log_profile;

#endif
