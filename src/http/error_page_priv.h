/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error pages stored in proxies and configurations: filled by error_page_conf.c. */
#ifndef HTTP_ERROR_PAGE_PRIV_H
#define HTTP_ERROR_PAGE_PRIV_H

#include "conf/conf.h"
#include "http/error_page.h"

struct http_group;

/* What one directive sets for one status. A group may be defined after it is named, so the check
 * phase resolves entries, oldest first. Immutable afterwards.
 */
struct http_page_entry {
	const struct http_page *page;           /* NULL: as before this directive */
	const struct http_page_entry *previous; /* the entry it replaced in its proxy, or NULL */
	unsigned status;
	/* a whole group was imported: a missing page is no error */
	bool may_lack;
	const char *group_name;                 /* to be resolved, or NULL */
	const char *file;
	int line;
	struct http_page_entry *next;           /* next entry to resolve */
};

struct http_page_proxy {
	const struct http_page_entry *entries[HTTP_PAGE_COUNT];
};

/* A section http-errors. */
struct http_group {
	const char *name;
	const char *file;
	int line;
	const struct http_page *pages[HTTP_PAGE_COUNT];
	struct http_group *next;
};

struct http_page_config {
	struct http_group *groups;
	struct http_page_entry *pending, **pending_tail;
};

extern struct slot http_page_proxy_slot;
extern struct slot http_page_config_slot;

/* Returns the data of this folder in a generation. */
static inline struct http_page_config *http_page_config_of(const struct config *cfg)
{
	return slot_of(&http_page_config_slot, config_slots(cfg));
}

/* Adds an entry before those of the proxy for this status; NULL: reported. */
struct http_page_entry *http_page_entry_add(struct conf_line *l, int index,
					    const struct http_page *page);
/* Adds an entry that the check phase resolves. False: reported. */
bool http_page_import_entry(struct conf_line *l, int index, const char *group, bool may_lack);

struct http_group *http_group_find(const struct config *cfg, const char *name);

#endif
