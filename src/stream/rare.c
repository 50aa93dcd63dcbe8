/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rare.c - what few sessions have stands apart from them: an idle connection costs less so */
#include <stdlib.h>
#include "stream/session.h"

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
