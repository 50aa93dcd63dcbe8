/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* runtime_api.h - the service runtime-api: the Runtime API over HTTP, with JSON
 *
 * Purpose: `http-request use-service runtime-api [level <user|operator|admin>]` runs the commands
 *          of a POST like a socket of that level, and returns their output.
 * Owns   : the command sessions of a response, which end with its stream.
 * Threads: the stream's.
 * Errors : an invalid request gets a 4xx and a JSON object with "error"; the output of a command is
 *          never an HTTP error.
 * Manual : doc/runtime-api.openapi.json, doc/configuration/runtime-api.md
 */
#ifndef EXT_RUNTIME_API_H
#define EXT_RUNTIME_API_H

#include "base/module.h"

extern const struct module mod_runtime_api;

#endif
