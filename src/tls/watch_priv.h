/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch_priv.h - shared by the files that watch files for changes. Thread 0 only. */
#ifndef TLS_WATCH_PRIV_H
#define TLS_WATCH_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct config;

/* Returns a fingerprint of a file's state, mixed into <seed>; <path> may be NULL. */
uint64_t watch_stamp(const char *path, uint64_t seed);
/* Checks all files again when something happens in this file's folder. */
void watch_folder_of(const char *path);
/* Tells the administrator that a file is now in use, or why (<why>) not. */
void watch_tell(struct config *cfg, const char *name, const char *why);

/* Files of maps and ACLs (watch_map.c): begins with those of <cfg>, which it holds until the end.
 * False: out of memory.
 */
bool watch_maps_begin(struct config *cfg);
/* Reads changed files until the clock has passed <until_ns>. False: there are more. */
bool watch_maps_go(uint64_t until_ns);
void watch_maps_end(void);

#endif
