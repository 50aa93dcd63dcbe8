/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stats_page.h - the statistics page: `show stat` in a browser, and changes of servers
 *
 * Purpose: a proxy with `stats` settings answers requests below `stats uri` itself: with a page,
 *          with CSV or JSON if the target asks for it (";csv", ";json"), and with forms that change
 *          servers if `stats admin` allows it.
 * Owns   : settings belong to the configuration (SLOT_PROXY), a response to its stream.
 * Threads: the stream's; changes of servers may be made on any thread.
 * Manual : configuration 4.2 stats.
 */
#ifndef EXT_STATS_PAGE_H
#define EXT_STATS_PAGE_H

#include "base/module.h"

extern const struct module mod_stats_page;

#endif
