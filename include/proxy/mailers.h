/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mailers.h - the mail alert settings of proxies, for other floors that send the mails instead
 *
 * Owns   : texts belong to the generation.
 * Threads: any, once the generation was checked.
 * Manual : configuration 4.2 email-alert, 12.3 mailers.
 */
#ifndef PROXY_MAILERS_H
#define PROXY_MAILERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct proxy;

struct proxy_mailers {
	const char *from, *to;
	const char *hostname;    /* NULL: the machine's */
	int level;               /* send alerts of this level and more severe ones */
	int64_t timeout_ms;      /* for one mail */
};

/* Reads the settings of a proxy that sends alerts. False: it sends none. */
bool proxy_mailers(const struct proxy *px, struct proxy_mailers *out);
/* Returns the name of its <n>-th mailer, from 0, and its address with the port in <address>. NULL:
 * no more.
 */
const char *proxy_mailer(const struct proxy *px, unsigned n, char *address, size_t size);
/* Disables the alerts of this generation, since other code sends them. While the configuration is
 * read.
 */
void mailers_leave(struct config *cfg);

#endif
