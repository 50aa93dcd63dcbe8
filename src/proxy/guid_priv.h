/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guid_priv.h - unique identifiers of proxies and servers in a configuration */
#ifndef PROXY_GUID_PRIV_H
#define PROXY_GUID_PRIV_H

#include <stdbool.h>

struct bind_conf;
struct conf_line;

/* Takes the next word as an identifier, which no other object of the configuration may have.
 * Messages begin with <subject> ("'server b/s' : ", or "" for a proxy). False: reported.
 */
bool guid_take(struct conf_line *l, const char *subject, const char **out);
/* As guid_take(), for the name prefix of a bind line's sockets (guid-prefix). */
bool guid_take_prefix(struct conf_line *l, const char *subject, const struct bind_conf *b,
		      const char **out);

#endif
