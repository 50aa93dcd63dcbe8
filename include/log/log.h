/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log.h - log targets: where log lines are sent, and in which format
 *
 * A target is a UDP address, a UNIX datagram socket, a descriptor, a file (src/log/file_priv.h), a
 * ring (core/sink.h), a stream address, which gets its own ring, or a log backend, with a format
 * (local, rfc3164, rfc5424, priority, short, timed, iso, raw), a facility and two levels. Lines are
 * sent without blocking: immediately, or at the end of the turn, together with other lines of
 * traffic. Lines that cannot be sent are dropped and counted.
 * Owns   : lists of targets belong to the configuration (its slots). Each thread opens on first use
 *          one socket per family, and one connected to each of its first four UDP servers, with a
 *          buffer for the lines of a turn (src/log/datagram.c).
 * Threads: any; counters and sampling are atomic.
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

/* X(name, word in configurations, text of %OG): when a line is written. */
#define LOG_STEP_LIST(X) \
	X(UNSPEC, "unspec", "unspec") \
	X(ACCEPT, "accept", "txn_accept") \
	X(REQUEST, "request", "txn_request") \
	X(CONNECT, "connect", "txn_connect") \
	X(RESPONSE, "response", "txn_response") \
	X(CLOSE, "close", "txn_close") \
	X(ERROR, "error", "sess_error") \
	X(KILLED, "killed", "sess_killed") /* for profiles: an error */ \
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

/* Return its word in log-steps and log-profile sections, and its text of %OG; constants. Any
 * thread.
 */
const char *log_step_word(enum log_step step);
const char *log_step_origin(enum log_step step);
/* Finds a step by its word; LOG_STEPS: unknown. */
enum log_step log_step_find(struct slice word);

struct log_targets; /* a list of targets */
struct log_profile; /* a section log-profile */
struct logformat;
struct strbuf;

/* Log settings of a proxy or of `global`. */
struct log_settings {
	struct log_targets *targets; /* NULL: none */
	bool use_global;             /* `log global` */
	const char *tag;             /* log-tag, NULL: inherited */
	const char *hostname; /* log-send-hostname, global only; "" until the start: the system's */
	bool send_hostname;
};
/* The slots of these settings: in the configuration, and in proxies. */
extern struct slot log_config_slot; /* struct log_settings */
extern struct slot log_proxy_slot;  /* struct log_settings */

/* A message with its attributes. */
struct log_message {
	enum log_level level;
	struct slice tag;             /* none: the configuration's, else the program's name */
	struct slice structured_data; /* rfc5424: "[id a=\"b\"]"; none: "-" */
	struct slice text;            /* without final newline */
	uint64_t wall_us;             /* 0: now */
	/* builds the text for targets whose profile has another format; or NULL */
	bool (*build)(void *ctx, const struct logformat *f, struct strbuf *out);
	void *ctx;
	const struct log_profile *profile; /* replaces the profiles of all targets; or NULL */
	enum log_step step;
	bool is_traffic; /* one line of many: may be sent at the end of the turn, with others */
	/* A message that is forwarded for another program: its text is <text>, its level <level>.
	 * It keeps its facility, and its format if the target has none. Or NULL.
	 */
	const struct syslog_message *foreign;
};

/* Returns the log-profile section of this name, owned by the configuration and complete once that
 * is read. NULL: none. On the thread that reads the configuration.
 */
struct log_profile *log_profile_find(const struct config *cfg, const char *name);

/* Sends <m> to each target of the proxy (or of `global`, for `log global`). <proxy> NULL: to the
 * global targets.
 */
void log_send(const struct config *cfg, const struct log_settings *proxy,
	      const struct log_message *m);
/* Would any target receive it? Allows callers to skip building the text. */
bool log_is_wanted(const struct config *cfg, const struct log_settings *proxy);
/* Formats and sends a message, for events (server up, start, stop): cut at 1024 bytes. */
void log_printf(const struct config *cfg, const struct log_settings *proxy, enum log_level level,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Counts a line as lost that was not passed to log_send(). */
void log_drop(void);
/* Returns the number of lost lines since the start: DroppedLogs of `show info`. */
uint64_t log_dropped(void);
/* Returns the longest `len` of the targets: the useful maximum length of a text. */
unsigned log_max_len(const struct config *cfg, const struct log_settings *proxy);

/* Return the level called "info", or the facility of this name; -1: unknown. */
int log_level_find(struct slice name);
const char *log_level_name(enum log_level level);
int log_facility_find(struct slice name);

/* Parses the words after `log` on a line: target and options; appends to *targets. For `log` in
 * other sections (peers, log-forward). False: reported.
 */
bool log_target_parse(struct conf_line *l, struct log_targets **targets);
/* Frees a list of log_target_parse() and NULLs it. */
void log_targets_free(struct log_targets **list);
/* Parses the line `log` of sections that have the slots of a proxy. False: reported. */
bool log_line_parse(struct conf_line *l);

/* Log backends (`mode log`), implemented above. find(): finds one by name in the check phase;
 * *problem: what is wrong with it. send(): passes a line to one of its servers, cut to <max> bytes
 * including its end; false: dropped. Any thread. Set at start-up.
 */
struct log_backend_ops {
	void *(*find)(const struct config *cfg, const char *name, const char **problem);
	bool (*send)(void *backend, const struct syslog_header *h, struct slice text, size_t max);
};
/* Keeps lines in rings and sends them over connections: creates a ring for the `log` line <l>,
 * whose only server is <to>. Returns its name, which lives as long as the configuration. NULL: out
 * of memory.
 */
typedef const char *log_stream_fn(struct conf_line *l, const struct addr_any *to);
void log_set_streams(log_stream_fn *fn);
void log_set_backends(const struct log_backend_ops *ops);
/* Sends one datagram: header, text and line end, cut to <max> bytes. False: not sent. Any thread.
 */
bool log_send_datagram(const struct addr_any *to, const struct syslog_header *h, struct slice text,
		       size_t max);

extern const struct module mod_log;
extern const struct module mod_log_profile;

#endif
