/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fcgi.h - sections fcgi-app: FastCGI applications of servers with `proto fcgi`
 *
 *     fcgi-app NAME                 docroot, index, path-info; its parameters and fields
 *     use-fcgi-app NAME             in backends: the application of their servers
 *     filter fcgi-app NAME          position among the filters where its rules are evaluated
 *
 * Purpose: a filter of the backend evaluates set-param and pass-header, hides fields that
 *          applications must not get, and waits for bodies of unknown length; the mux (mux/fcgi.h)
 *          asks for the parameters when a request begins on a connection.
 * Owns   : applications belong to the configuration.
 * Threads: any; what is evaluated for a stream: the stream's.
 * Manual : configuration 9.5, 10
 */
#ifndef EXT_FCGI_H
#define EXT_FCGI_H

#include "base/module.h"

extern const struct module mod_fcgi;

#endif
