/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_rare.c - what few sessions have stands apart: an idle connection costs less so */
#include <stdlib.h>
#include "base/bug.h"
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

void session_rare_free(struct session *s)
{
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
