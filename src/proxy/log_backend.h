/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_backend.h - `balance log-hash` */
#ifndef SRC_PROXY_LOG_BACKEND_H
#define SRC_PROXY_LOG_BACKEND_H

#include <stdbool.h>

struct conf_line;
struct proxy;

/* Parses the words after "log-hash": converters for a line. False: reported. */
bool log_backend_parse_hash(struct conf_line *l, struct proxy *px, const char *word);

#endif
