/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error_entry.c - the pages that directives give to a proxy, one entry each */
#include "error_page_priv.h"

static const uint16_t page_statuses[HTTP_PAGE_COUNT] = {
#define X(status, reason, body, flags) [HTTP_PAGE_##status] = status,
	HTTP_PAGES(X)
#undef X
};

struct http_page_entry *http_page_entry_add(struct conf_line *l, int index,
					    const struct http_page *page)
{
	struct http_page_proxy *pages = slot_of(&http_page_proxy_slot, l->slots);
	struct http_page_entry *e = arena_zalloc(&l->cfg->arena, sizeof(*e));

	if (!e) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	e->page = page;
	e->status = page_statuses[index];
	e->previous = pages->entries[index];
	e->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : NULL;
	e->line = l->place.line;
	pages->entries[index] = e;
	return e;
}

bool http_page_import_entry(struct conf_line *l, int index, const char *group, bool may_lack)
{
	struct http_page_config *pc = http_page_config_of(l->cfg);
	struct http_page_entry *e = http_page_entry_add(l, index, NULL);

	if (!e)
		return false;
	e->group_name = group;
	e->may_lack = may_lack;
	*pc->pending_tail = e;
	pc->pending_tail = &e->next;
	return true;
}

bool http_page_set(struct conf_line *l, int index, const struct http_page *page)
{
	return http_page_entry_add(l, index, page) != NULL;
}

bool http_page_import(struct conf_line *l, int index, const char *group)
{
	return http_page_import_entry(l, index, group, false);
}
