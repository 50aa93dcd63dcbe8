/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.c - the plan of the load generator, and its request */
#include <string.h>
#include "codec/uri.h"
#include "load_priv.h"

struct load load;

void load_set_plan(const struct load_plan *plan)
{
	load.plan = plan;
}

bool load_is_planned(void)
{
	return load.plan != NULL;
}

/* --- what every request says ------------------------------------------------------------------ */

static bool add_field(struct http_msg *m, const char *text)
{
	struct slice line = slice_of(text);
	size_t colon = slice_find_char(line, 0, ':');
	struct slice name = slice_sub(line, 0, colon == SIZE_MAX ? 0 : colon);

	return name.len && http_msg_set_field(m, slice_trim(name),
					      slice_trim(slice_sub(line, colon + 1, line.len)));
}

/* From HTTP/2 on the scheme is needed; without it the target need not be cut again for each
 * request.
 */
static bool set_target(struct http_msg *m, const struct uri *uri)
{
	const char *end = uri->query.ptr ? uri->query.ptr + uri->query.len
					 : uri->path.ptr + uri->path.len;

	if (load.mux->major < 2 && uri->path.len)
		return http_msg_set_uri(m, slice_make(uri->path.ptr,
						      (size_t)(end - uri->path.ptr)));
	if (!http_msg_set_uri(m, slice_of(load.plan->url)))
		return false;
	m->flags |= HTTP_MSG_ABSOLUTE | HTTP_MSG_NORMALIZED;
	return true;
}

bool plan_request(void)
{
	const struct load_plan *p = load.plan;
	struct http_msg *m = &load.request;
	struct uri uri;
	bool good;

	arena_init(&load.arena, 0);
	http_msg_init(m, &load.arena);
	if (!uri_parse(slice_of(p->url), false, &uri))
		return false;
	m->version = 11;
	m->version_text = SLICE("HTTP/1.1");
	load.sni = uri.host;
	good = http_msg_set_method(m, slice_of(p->method)) &&
	       http_msg_add_field(m, SLICE("host"), uri.authority) &&
	       set_target(m, &uri);
	m->method = (uint8_t)http_method_of(slice_of(p->method));
	for (const char *const *f = p->fields; good && *f; f++)
		good = add_field(m, *f);
	return good;
}

void load_sum(struct load_figures *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned i = 0; i < thread_count(); i++) {
		const struct load_thread *t = __atomic_load_n(&load.threads[i], __ATOMIC_ACQUIRE);
		const uint64_t *from = (const uint64_t *)&t->figures;
		uint64_t *to = (uint64_t *)sum;

		for (size_t n = 0; t && n < sizeof(*sum) / sizeof(*to); n++)
			to[n] += __atomic_load_n(&from[n], __ATOMIC_RELAXED);
	}
}
