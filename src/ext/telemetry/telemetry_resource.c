/* SPDX-License-Identifier: GPL-2.0-or-later */
/* telemetry_resource.c - sections telemetry: attributes of the source of all data */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/num.h"
#include "manage/stats.h"
#include "telemetry_priv.h"

static void note_version(void *ctx, const struct stats_process_field *f)
{
	if (f->text && strcmp(f->name, "Version") == 0)
		*(struct slice *)ctx = slice_of(f->text);
}

static bool says(const struct telemetry *t, struct slice key)
{
	for (const struct telemetry_pair *p = t->resource; p; p = p->next)
		if (slice_eq(p->key, key))
			return true;
	return false;
}

static void put_default(struct otlp *o, const struct telemetry *t, const char *key,
			struct slice value)
{
	if (value.len && !says(t, slice_of(key)))
		otlp_attr_text(o, slice_of(key), value);
}

/* One for the life of the process. */
static struct slice instance_id(void)
{
	static char text[37];

	if (!*text)
		snprintf(text, sizeof(text), "%08x-%04x-4%03x-%04x-%012llx",
			 (unsigned)num_random(), (unsigned)num_random() & 0xffff,
			 (unsigned)num_random() & 0xfff,
			 0x8000 | ((unsigned)num_random() & 0x3fff),
			 (unsigned long long)num_random() & 0xffffffffffffull);
	return slice_of(text);
}

struct slice telemetry_put_resource(const struct telemetry *t, bool json, struct strbuf *out)
{
	struct otlp o = otlp_resource_begin(out, json);
	static struct slice version;
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	if (!version.len)
		stats_each_process_field(t->config, note_version, &version);
	put_default(&o, t, "service.name", SLICE("haproxy"));
	put_default(&o, t, "service.version", version);
	put_default(&o, t, "service.instance.id", instance_id());
	put_default(&o, t, "host.name", slice_of(host));
	if (!says(t, SLICE("process.pid")))
		otlp_attr_int(&o, SLICE("process.pid"), getpid());
	for (const struct telemetry_pair *p = t->resource; p; p = p->next)
		otlp_attr_text(&o, p->key, p->value);
	return version;
}
