/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stats_page.h - the statistics page: what `show stat` tells, for a browser, and changes of servers
 *
 * Purpose: a proxy with `stats` settings answers requests below `stats uri` itself: a page, or CSV
 *          or JSON when the target says so (";csv", ";json"), and forms that change servers when
 *          `stats admin` allows it.
 * Owns   : settings belong to the configuration (SLOT_PROXY), an answer to its stream.
 * Threads: the stream's; changes of servers may be made from any.
 * Manual : configuration 4.2 stats.
 */
#ifndef EXT_STATS_PAGE_H
#define EXT_STATS_PAGE_H

#include "base/module.h"

extern const struct module mod_stats_page;

#endif
