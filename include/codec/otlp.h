/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* otlp.h - encodes OpenTelemetry (OTLP) messages, as Protocol Buffers or as JSON
 *
 * Purpose: writes spans, log records and metrics one by one, each self-contained, so that exports
 *          are collected as bytes: the elements of a batch are concatenated, and otlp_envelope()
 *          gives what is sent before and after them.
 * Texts  : bytes that are not UTF-8 count as Latin-1, since receivers refuse them.
 * Owns   : nothing. Pure, any thread. Errors: out->overflow, as for all strbufs.
 * Source : opentelemetry-proto 1.x (trace, metrics, logs, common, resource), OTLP 1.x for its JSON.
 *
 *	struct otlp o = otlp_begin(&text, OTLP_TRACES, as_json);
 *	otlp_span_open(&o, &span);
 *	otlp_attr_text(&o, SLICE("url.path"), path);   any number of times
 *	otlp_span_close(&o, &span);
 */
#ifndef CODEC_OTLP_H
#define CODEC_OTLP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "base/bug.h"
#include "base/slice.h"
#include "base/strbuf.h"

enum otlp_signal { OTLP_TRACES, OTLP_METRICS, OTLP_LOGS, OTLP_SIGNALS };

struct otlp {
	struct strbuf *out;
	enum otlp_signal signal;
	bool json;
	uint8_t attr_field;   /* of the message being written */
	size_t begin, inner, point; /* start of messages whose lengths are not known yet */
};

enum otlp_span_kind { OTLP_SERVER = 2, OTLP_CLIENT = 3 };

struct otlp_span {
	uint64_t trace[2], span, parent; /* parent 0: the first span of its trace */
	enum otlp_span_kind kind;
	struct slice name, state;        /* state: W3C tracestate; may be absent */
	uint64_t start_ns, end_ns;       /* since 1970 */
	uint32_t flags;
	bool failed;
	struct slice message;            /* reason of the failure; may be absent */
};

/* A log record. */
struct otlp_record {
	uint64_t time_ns;                /* since 1970 */
	unsigned severity;               /* 1 to 24: TRACE to FATAL4 */
	struct slice severity_text, body;
	uint64_t trace[2], span;         /* span 0: belongs to no trace */
	uint32_t flags;
};

enum otlp_metric_kind { OTLP_GAUGE, OTLP_SUM, OTLP_HISTOGRAM };

struct otlp_histogram {
	uint64_t count;
	double sum;
	const double *bounds;
	const uint64_t *counts;          /* one more than bounds */
	unsigned bound_count;
};

/* Begins an element, appended to <out>; in JSON, after a comma unless <out> is empty. */
struct otlp otlp_begin(struct strbuf *out, enum otlp_signal signal, bool json);

/* Open and close an element; otlp_attr_*() calls between the two add its attributes. */
void otlp_span_open(struct otlp *o, const struct otlp_span *s);
void otlp_span_close(struct otlp *o, const struct otlp_span *s);
void otlp_record_open(struct otlp *o, const struct otlp_record *r);
void otlp_record_close(struct otlp *o, const struct otlp_record *r);
/* Open and close a metric; add its points between the two. Sums are cumulative and never decrease.
 */
void otlp_metric_open(struct otlp *o, enum otlp_metric_kind kind, struct slice name,
		      struct slice help);
void otlp_metric_close(struct otlp *o, enum otlp_metric_kind kind);
/* Write a point, whose attributes precede its value: open, otlp_attr_*(), close. */
void otlp_point_open(struct otlp *o, enum otlp_metric_kind kind);
void otlp_point_close(struct otlp *o, uint64_t start_ns, uint64_t now_ns, double value);
void otlp_point_close_histogram(struct otlp *o, uint64_t start_ns, uint64_t now_ns,
				const struct otlp_histogram *h);

/* Add an attribute to the open element. */
void otlp_attr_text(struct otlp *o, struct slice key, struct slice value);
void otlp_attr_int(struct otlp *o, struct slice key, int64_t value);
void otlp_attr_bool(struct otlp *o, struct slice key, bool value);
/* Begins the attributes of a resource: appended to <out>, for otlp_envelope(). */
struct otlp otlp_resource_begin(struct strbuf *out, bool json);

/* Writes what is sent before and after <len> bytes of elements. <resource>: attributes of the
 * resource.
 */
void otlp_envelope(enum otlp_signal signal, bool json, struct slice resource,
		   struct slice scope_version, size_t len, struct strbuf *head,
		   struct strbuf *tail);
/* Returns how many elements the receiver rejected, according to its response to an export; 0: none.
 */
uint64_t otlp_rejected(enum otlp_signal signal, bool json, struct slice answer);
/* Return "/v1/traces" etc., and "application/x-protobuf" etc. */
struct slice otlp_path(enum otlp_signal signal);
struct slice otlp_content_type(bool json);

/* --- fast variants, for attributes of every span: keys are constants of at most OTLP_KEY_MAX
 * bytes. In Protocol Buffers, a short attribute is written inline, without calls to copy it.
 */

#define OTLP_KEY_MAX 40
#define OTLP_QUICK_MAX 64 /* bytes of a text; with its key, all lengths fit one byte */

/* Copies a text. False: not all of it is ASCII. */
bool otlp_copy_ascii(char *to, struct slice s);

/* Is there room for the longest fast attribute, in Protocol Buffers? */
static inline bool otlp_is_quick(const struct otlp *o)
{
	return likely(!o->json && o->out->size - o->out->len > OTLP_KEY_MAX + OTLP_QUICK_MAX + 24);
}

/* Writes everything before the value, with <tag> as its field and wire type; <len> bytes must
 * follow. Returns their address.
 */
static inline char *otlp_quick_key(const struct otlp *o, struct slice key, char tag, size_t len)
{
	char *to = o->out->ptr + o->out->len;

	to[0] = (char)(o->attr_field << 3 | 2);
	to[1] = (char)(key.len + len + 5);
	to[2] = 1 << 3 | 2;
	to[3] = (char)key.len;
	memcpy(to + 4, key.ptr, key.len);
	to += 4 + key.len;
	to[0] = 2 << 3 | 2;
	to[1] = (char)(len + 1);
	to[2] = tag;
	return to + 3;
}

/* As otlp_attr_text(). */
static inline void otlp_attr_text_quick(struct otlp *o, struct slice key, struct slice value)
{
	if (likely(otlp_is_quick(o) && value.len <= OTLP_QUICK_MAX)) {
		char *to = otlp_quick_key(o, key, 1 << 3 | 2, value.len + 1);

		*to++ = (char)value.len;
		if (likely(otlp_copy_ascii(to, value))) {
			o->out->len = (size_t)(to - o->out->ptr) + value.len;
			return;
		}
	}
	otlp_attr_text(o, key, value);
}

/* As otlp_attr_int(). */
static inline void otlp_attr_int_quick(struct otlp *o, struct slice key, int64_t value)
{
	if (likely(otlp_is_quick(o) && (uint64_t)value < 1 << 21)) {
		size_t len = value < 0x80 ? 1 : value < 1 << 14 ? 2 : 3;
		char *to = otlp_quick_key(o, key, 3 << 3, len);

		to[0] = (char)(len == 1 ? value : value | 0x80);
		to[1] = (char)(len == 2 ? value >> 7 : value >> 7 | 0x80);
		to[2] = (char)(value >> 14);
		o->out->len = (size_t)(to - o->out->ptr) + len;
		return;
	}
	otlp_attr_int(o, key, value);
}

/* As otlp_attr_bool(). */
static inline void otlp_attr_bool_quick(struct otlp *o, struct slice key, bool value)
{
	if (likely(otlp_is_quick(o))) {
		char *to = otlp_quick_key(o, key, 2 << 3, 1);

		*to++ = (char)value;
		o->out->len = (size_t)(to - o->out->ptr);
		return;
	}
	otlp_attr_bool(o, key, value);
}

#endif
