/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.c - sending one line to its targets: no allocation, no waiting */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "core/sink.h"
#include "log_priv.h"

#define HEADER_MAX 2048

static uint64_t dropped; /* atomic */

/* This thread's texts for targets with profiles. */
static __thread struct strbuf own_text, own_structured;

uint64_t log_dropped(void)
{
	return __atomic_load_n(&dropped, __ATOMIC_RELAXED);
}

void log_drop(void)
{
	__atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
}

void log_thread_fini(void)
{
	strbuf_fini(&own_text);
	strbuf_fini(&own_structured);
	journal_thread_fini();
	datagram_thread_fini();
}

/* Header, text and line end, the text cut so that all fits in <max> bytes. */
static bool log_write_line(struct log_file *file, int fd, const struct addr_any *to,
			   const struct syslog_header *h, struct slice text, size_t max)
{
	char area[HEADER_MAX];
	struct strbuf header;
	struct iovec v[3];

	strbuf_init_fixed(&header, area, sizeof(area));
	if (!syslog_header_write(&header, h) && !header.overflow)
		return false;
	if (header.len > max - 1)
		header.len = max - 1;
	if (text.len > max - 1 - header.len)
		text.len = max - 1 - header.len;
	v[0] = (struct iovec){ .iov_base = area, .iov_len = header.len };
	v[1] = (struct iovec){ .iov_base = (void *)(uintptr_t)text.ptr, .iov_len = text.len };
	v[2] = (struct iovec){ .iov_base = (void *)"\n", .iov_len = 1 };
	if (file)
		return log_file_add(file, v, 3);
	return fd >= 0 ? sink_write_fd(fd, v, 3) : datagram_send(to, v, 3);
}

bool log_send_datagram(const struct addr_any *to, const struct syslog_header *h, struct slice text,
		       size_t max)
{
	return log_write_line(NULL, -1, to, h, text, max);
}

/* Is it this target's turn? Lines are numbered from 1 and again after <sample_size>. */
static bool log_is_sampled(struct log_target *t)
{
	unsigned n;

	if (!t->sample_size)
		return true;
	n = __atomic_fetch_add(&t->sampled, 1, __ATOMIC_RELAXED) % t->sample_size + 1;
	for (unsigned i = 0; i < t->range_count; i++)
		if (n >= t->ranges[i].low && n <= t->ranges[i].high)
			return true;
	return false;
}

static struct slice log_tag(const struct log_settings *global, const struct log_settings *proxy,
			    const struct log_message *m)
{
	if (m->tag.len)
		return m->tag;
	if (proxy && proxy->tag)
		return slice_of(proxy->tag);
	return global->tag ? slice_of(global->tag) : SLICE("haproxy");
}

/* The default depends on log-send-hostname. */
static enum syslog_format log_format(const struct log_target *t, const struct log_settings *global)
{
	if (t->format != SYSLOG_UNSET)
		return t->format;
	return global->send_hostname ? SYSLOG_RFC3164 : SYSLOG_LOCAL;
}

/* Makes the message what the profile wants it to be. False: nothing is to be sent. */
static bool log_apply_profile(const struct log_profile *p, struct log_message *m)
{
	const struct log_profile_step *step = log_profile_step(p, m->step);

	if (p->tag)
		m->tag = slice_of(p->tag);
	if (!step)
		return true;
	if (step->drop)
		return false;
	if (step->format) {
		strbuf_reset(&own_text);
		m->build(m->ctx, step->format, &own_text);
		m->text = strbuf_slice(&own_text);
	}
	if (step->structured) {
		strbuf_reset(&own_structured);
		m->build(m->ctx, step->structured, &own_structured);
		m->structured_data = strbuf_slice(&own_structured);
	}
	return true;
}

/* What is passed on keeps its own, if it has one. */
static unsigned log_facility(const struct log_target *t, const struct log_message *m)
{
	return m->foreign && m->foreign->has_priority ? m->foreign->priority / 8
						      : (unsigned)t->facility;
}

static void log_send_one(struct log_target *t, const struct log_settings *global,
			 const struct log_settings *proxy, const struct log_message *m)
{
	enum log_level level = m->level < t->min_level ? t->min_level : m->level;
	struct syslog_header h = {
		.format = m->foreign ? t->format : log_format(t, global),
		.priority = log_facility(t, m) * 8 + level, .foreign = m->foreign,
		.tag = log_tag(global, proxy, m), .structured_data = m->structured_data,
		.pid = (unsigned)getpid(), .wall_us = m->wall_us ? m->wall_us : clock_wall_us(),
	};
	bool sent;

	if (m->level > t->max_level || !log_is_sampled(t) || (t->path && !t->file))
		return; /* (no file yet: what is said before the start) */
	if (global->send_hostname && global->hostname)
		h.hostname = slice_of(global->hostname);
	sent = t->is_journal ? journal_send(t, &h, m->text)
	     : t->is_named ? log_outlet_send(t, &h, m->text)
			   : log_write_line(t->file, t->fd, &t->addr, &h, m->text, t->len);
	if (!sent)
		log_drop();
}

static void log_send_all(const struct log_targets *targets, const struct log_settings *global,
			 const struct log_settings *proxy, const struct log_message *m)
{
	for (unsigned i = 0; targets && i < targets->count; i++) {
		const struct log_profile *p = m->profile ? m->profile : targets->list[i]->profile;
		struct log_message own = *m;

		if (!p || !m->build)
			log_send_one(targets->list[i], global, proxy, m);
		else if (log_apply_profile(p, &own))
			log_send_one(targets->list[i], global, proxy, &own);
	}
}

static const struct log_settings *log_global(const struct config *cfg)
{
	return slot_of(&log_config_slot, config_slots(cfg));
}

void log_send(const struct config *cfg, const struct log_settings *proxy,
	      const struct log_message *m)
{
	const struct log_settings *global = log_global(cfg);

	if (!proxy || proxy->use_global)
		log_send_all(global->targets, global, proxy, m);
	if (proxy)
		log_send_all(proxy->targets, global, proxy, m);
	if (!m->is_traffic)
		datagram_flush();
}

bool log_is_wanted(const struct config *cfg, const struct log_settings *proxy)
{
	const struct log_settings *global = log_global(cfg);

	if (proxy && proxy->targets && proxy->targets->count)
		return true;
	return (!proxy || proxy->use_global) && global->targets && global->targets->count;
}

static unsigned longest(const struct log_targets *targets, unsigned len)
{
	for (unsigned i = 0; targets && i < targets->count; i++)
		if (targets->list[i]->len > len)
			len = targets->list[i]->len;
	return len;
}

unsigned log_max_len(const struct config *cfg, const struct log_settings *proxy)
{
	unsigned len = 0;

	if (!proxy || proxy->use_global)
		len = longest(log_global(cfg)->targets, len);
	return proxy ? longest(proxy->targets, len) : len;
}

void log_printf(const struct config *cfg, const struct log_settings *proxy, enum log_level level,
		const char *fmt, ...)
{
	struct log_message m = { .level = level };
	char text[LOG_LEN_DEFAULT];
	struct strbuf b;
	va_list ap;

	strbuf_init_fixed(&b, text, sizeof(text));
	va_start(ap, fmt);
	strbuf_vprintf(&b, fmt, ap);
	va_end(ap);
	while (b.len && (b.ptr[b.len - 1] == '\n' || b.ptr[b.len - 1] == '\r'))
		b.len--;
	m.text = strbuf_slice(&b);
	log_send(cfg, proxy, &m);
}
