/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* runtime_api.h - the service runtime-api: the Runtime API over HTTP, with JSON
 *
 * Purpose: `http-request use-service runtime-api [level <user|operator|admin>]` carries out the
 *          commands of a POST as a socket of that level would, and answers what they say.
 * Owns   : the sessions of an answer, which end with its stream.
 * Threads: the stream's.
 * Errors : a request that is none is answered by 4xx and a JSON object with "error"; what a
 *          command says is never an error of HTTP.
 * Manual : doc/runtime-api.openapi.json, doc/configuration/runtime-api.md
 */
#ifndef EXT_RUNTIME_API_H
#define EXT_RUNTIME_API_H

#include "base/module.h"

extern const struct module mod_runtime_api;

#endif
