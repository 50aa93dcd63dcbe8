/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mail_priv.h - alerts by mail: mailers sections, email-alert keywords, and the SMTP client
 *
 * Owns   : settings belong to the generation. A mail being sent owns its text and connection, and
 *          belongs to the thread that noticed the event.
 * Errors : a mail that cannot be sent is dropped: the log has the event.
 * Limits : at most MAILS_MAX being sent in the process, each within `timeout mail`.
 * Manual : configuration 4.2 email-alert, 12.3 mailers. RFC 5321.
 */
#ifndef PROXY_MAIL_PRIV_H
#define PROXY_MAIL_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slot.h"
#include "proxy/server.h"

struct config;
struct conf_line;
struct diag_list;
struct proxy;

struct mailer {
	struct mailer *next;
	const char *name;
	struct server_addr addr;
};

struct mailers {
	struct mailers *next;
	const char *name;
	int64_t timeout_ms;
	struct mailer *first, **last;
};

/* Mail settings of a proxy: its slot. */
struct mail_settings {
	const char *mailers_name, *from, *to, *hostname; /* NULL: not set */
	int level;               /* mails of this level and more severe ones */
	bool has_level;
	struct mailers *mailers; /* set by the check phase; NULL: no mail */
};

/* The sections of a generation. */
struct mail_config {
	struct mailers *first;
	bool is_left;            /* other code sends the mails: mailers_leave() */
};

extern struct slot mail_slot, mail_config_slot;
struct mail_config *mail_config_of(const struct config *cfg);
struct mail_settings *mail_settings_of(const struct proxy *px);

/* One mail through one mailer; borrowed for the call. */
struct mail {
	const struct mailer *mailer;
	int64_t timeout_ms;
	const char *from, *to, *hostname, *text;
};

/* Starts sending a mail from the calling thread. The result is not reported. */
void mail_send(const struct mail *m);
/* Ends the mails of the calling thread. */
void mail_thread_fini(void);

#endif
