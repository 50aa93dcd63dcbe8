/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* netns.h - network namespaces that a configuration names
 *
 * Purpose: each namespace is opened when its line is read, since it may be out of reach later:
 *          after chroot, or in the sandbox. A socket is created in it by entering it for a moment,
 *          which needs the capability CAP_SYS_ADMIN (`setcap cap_sys_admin`).
 * Owns   : a generation owns the namespaces that it names, through a slot.
 * Config : namespace, on bind and server lines
 */
#ifndef NET_NETNS_H
#define NET_NETNS_H

#include <stdbool.h>

struct config;
struct netns;

/* Opens the namespace /var/run/netns/<name> for the life of <cfg>, which is being read or edited
 * (config_edit_begin()). NULL: it cannot be opened, see errno.
 */
const struct netns *netns_open(struct config *cfg, const char *name);
/* Returns its name; NULL for no namespace. */
const char *netns_name(const struct netns *ns);
/* Creates a socket like socket(2), in <ns> (NULL: the process's own). -1: errno. */
int netns_socket(const struct netns *ns, int family, int type);
/* Has this process opened a namespace? */
bool netns_is_used(void);

#endif
