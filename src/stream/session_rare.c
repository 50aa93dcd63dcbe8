/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_rare.c - rarely used parts of sessions, separate so that idle connections cost less */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/slot.h"
#include "conf/conf.h"
#include "session_priv.h"

struct session_rare *session_rare_get(struct session *s)
{
	if (s->rare)
		return s->rare;
	s->rare = calloc(1, sizeof(*s->rare));
	if (s->rare)
		list_init(&s->rare->server_conns);
	return s->rare;
}

/* NULL: no memory, or a module could not begin. */
static struct slot_area *slots_new(void)
{
	size_t size = slot_class_size(SLOT_SESSION);
	struct slot_area *area = malloc(size ? size : 1); /* malloc() aligns on 16 bytes */

	if (!area || slot_area_init(SLOT_SESSION, area))
		return area;
	free(area);
	return NULL;
}

struct slot_area *session_slots(struct session *s, bool make)
{
	struct session_rare *rare = make ? session_rare_get(s) : s->rare;

	if (!rare)
		return NULL;
	if (!rare->slots && make)
		rare->slots = slots_new();
	return rare->slots;
}

bool session_attach(struct session *s, struct server *srv, struct slice name)
{
	struct session_rare *rare = session_rare_get(s);
	char *copy = rare ? strndup(name.len ? name.ptr : "", name.len) : NULL;

	if (!copy)
		return false;
	free(rare->attach_name);
	rare->attach_name = copy;
	rare->attach_to = srv;
	rare->attach_config = session_config(s);
	return true;
}

void session_rare_free(struct session *s)
{
	if (!s->rare)
		return;
	free(s->rare->attach_name);
	if (s->rare->slots)
		slot_area_fini(SLOT_SESSION, s->rare->slots);
	free(s->rare->slots);
	free(s->rare);
	s->rare = NULL;
}

/* --- generations left ------------------------------------------------------------------------ */

/* A generation that a session has left while streams of it went on (HTTP/2). */
struct session_past {
	struct session_past *next;
	struct config *config; /* counted: the session's reference of then */
	unsigned streams;      /* that have not ended */
};

bool session_past_enter(struct session *s)
{
	struct session_rare *rare = session_rare_get(s);
	struct session_past *p = rare ? malloc(sizeof(*p)) : NULL;
	unsigned older = 0;

	if (!p)
		return false;
	for (const struct session_past *o = rare->past; o; o = o->next)
		older += o->streams;
	*p = (struct session_past){ .next = rare->past, .config = config_take(session_config(s)),
				    .streams = s->open_streams - older };
	rare->past = p;
	if (p->streams)
		return true;
	/* all of them are of generations further back */
	rare->past = p->next;
	config_drop(&p->config);
	free(p);
	return true;
}

struct config *session_past_leave(struct session *s, struct config *cfg)
{
	struct session_past **at = &s->rare->past, *p;

	while (*at && (*at)->config != cfg)
		at = &(*at)->next;
	p = *at;
	BUG_ON(!p);
	if (--p->streams)
		return NULL;
	*at = p->next;
	free(p);
	return cfg;
}
