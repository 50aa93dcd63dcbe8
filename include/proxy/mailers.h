/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mailers.h - what proxies say about alerts by mail, for floors that send them in its place
 *
 * Owns   : texts are of the generation.
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
	const char *hostname;    /* NULL: that of the machine */
	int level;               /* alerts of this level and graver ones */
	int64_t timeout_ms;      /* of a mail */
};

/* The settings of a proxy that sends alerts. False: it sends none. */
bool proxy_mailers(const struct proxy *px, struct proxy_mailers *out);
/* The name of its <n>-th mailer, from 0, and its address with the port. NULL: no more. */
const char *proxy_mailer(const struct proxy *px, unsigned n, char *address, size_t size);
/* Others send the alerts of this generation: it sends none itself. While it is read. */
void mailers_leave(struct config *cfg);

#endif
