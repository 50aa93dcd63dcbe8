/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* netns.h - network namespaces that the configuration names
 *
 * Purpose: each is opened when its line is read, as it may be out of reach later: in another root
 *          folder, or in the sandbox. A socket is made inside of one by entering it for a moment,
 *          which needs the capability CAP_SYS_ADMIN (`setcap cap_sys_admin`).
 * Owns   : a generation owns those that it names, through a slot.
 * Config : namespace, on bind and server lines
 */
#ifndef NET_NETNS_H
#define NET_NETNS_H

#include <stdbool.h>

struct config;
struct netns;

/* The namespace /var/run/netns/<name>, for the life of <cfg>, which is being read or edited
 * (config_edit_begin()). NULL: it cannot be opened, errno.
 */
const struct netns *netns_open(struct config *cfg, const char *name);
/* Its name; NULL without one. */
const char *netns_name(const struct netns *ns);
/* A socket as socket(2) makes it, inside of <ns> (NULL: where the process is). -1: errno. */
int netns_socket(const struct netns *ns, int family, int type);
/* Has one been opened in this process? */
bool netns_is_used(void);

#endif
