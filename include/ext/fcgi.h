/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fcgi.h - sections fcgi-app: applications that servers with `proto fcgi` stand for
 *
 *     fcgi-app NAME                 docroot, index, path-info; parameters and fields it gets
 *     use-fcgi-app NAME             in backends: their servers are of this application
 *     filter fcgi-app NAME          where among the filters its rules are evaluated
 *
 * Purpose: a filter of the backend evaluates set-param and pass-header, hides the fields that no
 *          application gets, and waits for bodies of unknown length; the mux (mux/fcgi.h) asks for
 *          the parameters when a request begins on a connection.
 * Owns   : applications belong to the configuration.
 * Threads: any; what is evaluated for a stream, its own.
 * Manual : configuration 9.5, 10
 */
#ifndef EXT_FCGI_H
#define EXT_FCGI_H

#include "base/module.h"

extern const struct module mod_fcgi;

#endif
