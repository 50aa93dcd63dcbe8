/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* modules.h - the module descriptors of the proxy folder, in the order in which main lists them */
#ifndef PROXY_MODULES_H
#define PROXY_MODULES_H

#include "base/module.h"

extern const struct module mod_balance;       /* balance, hash-type; its check hook comes first */
extern const struct module mod_proxy;         /* sections, plain keywords, check hook */
extern const struct module mod_resolve;        /* init-addr, resolvers; after the state file */
extern const struct module mod_proxy_options; /* option ... */
extern const struct module mod_forwarded;     /* option forwardfor, originalto, forwarded */
extern const struct module mod_bind;          /* bind lines */
extern const struct module mod_unix_bind;     /* unix-bind */
extern const struct module mod_server;        /* server lines */
extern const struct module mod_outlier;       /* outlier-ejection */
extern const struct module mod_log_backend;   /* mode log */
extern const struct module mod_ring;          /* ring sections and their servers */
extern const struct module mod_direct;        /* dispatch, transparent */
extern const struct module mod_mail;          /* mailers, email-alert */

#endif
