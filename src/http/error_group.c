/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error_group.c - the sections http-errors of a configuration */
#include <string.h>
#include "error_page_priv.h"

static bool page_config_init(void *data)
{
	struct http_page_config *pc = data;

	pc->pending_tail = &pc->pending;
	return true;
}

struct slot http_page_config_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct http_page_config), .init = page_config_init,
};

struct http_group *http_group_find(const struct config *cfg, const char *name)
{
	struct http_group *g;

	for (g = http_page_config_of(cfg)->groups; g; g = g->next) {
		if (strcmp(g->name, name) == 0)
			return g;
	}
	return NULL;
}

const struct http_page *http_page_of_group(const struct config *cfg, const char *group,
					   unsigned status, bool *found)
{
	const struct http_group *g = http_group_find(cfg, group);
	int index = http_page_index(status);

	*found = g != NULL;
	return g && index >= 0 ? g->pages[index] : NULL;
}
