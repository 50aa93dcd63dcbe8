/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch_priv.h - what the files about files that change share. Thread 0 alone. */
#ifndef TLS_WATCH_PRIV_H
#define TLS_WATCH_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct config;

/* What tells a file from what it was, mixed into <seed>; <path> may be NULL. */
uint64_t watch_stamp(const char *path, uint64_t seed);
/* Looks again at all files when something happens in the folder of this one. */
void watch_folder_of(const char *path);
/* Tells the administrator that it is used now, or (<why>) not. */
void watch_tell(struct config *cfg, const char *name, const char *why);

/* Files of maps and ACLs (watch_map.c): begins with those of <cfg>, which it holds until the end.
 * False: no memory.
 */
bool watch_maps_begin(struct config *cfg);
/* Reads what has changed until <until_ns> of the clock. False: there is more. */
bool watch_maps_go(uint64_t until_ns);
void watch_maps_end(void);

#endif
