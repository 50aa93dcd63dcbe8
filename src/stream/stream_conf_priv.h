/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_conf_priv.h - settings of the section `global`, and of proxies computed in the check phase
 * (settings.c, stream_conf.c)
 */
#ifndef STREAM_STREAM_CONF_PRIV_H
#define STREAM_STREAM_CONF_PRIV_H

#include "mux/front.h"
#include "proxy/proxy.h"
#include "stream/process.h"
#include "stream/session.h"

struct filter_conf;

/* Settings of section `global`, applied by stream_apply_tunes() and stream_limit_idle(). In the
 * configuration's slot.
 */
struct stream_tune {
	struct stream_tunes engine;
	int idle_low_percent;        /* tune.pool-low-fd-ratio */
	int idle_high_percent;       /* tune.pool-high-fd-ratio */
	bool idle_apart;             /* tune.idle-pool.shared off */
};
extern struct slot stream_tune_slot;
struct stream_tune *stream_tune_of(const struct config *cfg);

struct stream_proxy {
	struct mux_settings front, back;
	struct logformat *log_format, *log_format_sd, *error_format, *unique_format;
	const char *log_format_text, *error_format_text;
	const char *unique_header;
	bool lines_traced;           /* stream/tracing.h: its log lines are traced, too */
	bool log_early;              /* its format needs nothing from the end: do not wait for it */
	int64_t log_slow_ms;         /* option log-slow; 0: all are logged */
	unsigned log_steps;          /* bits of enum log_step; 0: one line */
	struct filter_conf *filters; /* of its `filter` lines, in order; or NULL */
	const void *traced;          /* stream/tracing.h; NULL: its requests are not traced */
	bool begins_more;            /* <filters> or <traced> is set */
	const struct service_kind *direct; /* answers without a stream whatever it can; or NULL */
	/* bits of the stages in which it has nothing to do, as frontend and as backend: stages idle
	 * for both are skipped
	 */
	uint32_t idle_front, idle_back;
};
extern struct slot stream_proxy_slot;
/* Computes what the muxes and the driver need of every proxy, at the start of a generation. */
void stream_fill_settings(struct config *cfg);
/* As stream_fill_settings(), for one proxy, including its state. */
void stream_fill_proxy(struct proxy *px);
/* Connects the muxes' counters to the states of the proxies, again after these were adopted. */
void stream_settings_count(struct config *cfg);
unsigned stream_fields_max(void);

static inline struct stream_proxy *stream_proxy(const struct proxy *px)
{
	return slot_of(&stream_proxy_slot, proxy_slots(px));
}

#endif
