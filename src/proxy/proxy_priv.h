/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxy_priv.h - shared by the files of the proxy folder about sections */
#ifndef PROXY_PROXY_PRIV_H
#define PROXY_PROXY_PRIV_H

#include <sys/types.h>
#include "base/slot.h"
#include "proxy/proxy.h"

struct conf_line;
struct config;
struct diag_list;

#define PROXY_BUCKETS 256

/* The proxies of a generation: its slot. */
struct proxies {
	bool latencies_wanted;         /* latency_want() */
	struct list all;              /* struct proxy.link */
	struct list hidden;           /* likewise: see proxy_hide() */
	struct list defaults;         /* likewise */
	struct list forwards;         /* likewise, of log-forward sections: their names are taken */
	struct tree by_name;          /* those of the file */
	struct proxy *added[PROXY_BUCKETS]; /* atomic: those created at run time, by name */
	struct proxy *removed;        /* at run time */
	struct server *leaving;       /* removed, with their own memory: linked by own->next */
	bool purges;                  /* tune.defaults.purge */
	int last_id;                  /* the highest id at run time */
	struct proxy *last_defaults;  /* the defaults of the next section */
	struct config *config;
	bool first_id_is_taken;
	bool may_lack_addresses;      /* servers may lack addresses: -dr */
};

extern struct slot proxies_slot;

struct proxies *proxies_of(const struct config *cfg);

/* section_name.c: finds the defaults section that the current word names, for a section <name> that
 * inherits `from` it; the last of several, with a warning. NULL: reported.
 */
struct proxy *proxy_take_defaults(struct conf_line *l, const char *name);

/* Logs an event of a proxy, but not to stderr. */
void proxy_log(const struct proxy *px, enum proxy_event event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Sends it by mail if email-alert asks for it. */
void mail_alert(const struct proxy *px, enum proxy_event event, const char *text);

/* The module's check hook: resolves names, computes defaults, creates states. */
void proxies_check(struct config *cfg, struct diag_list *diags);

/* As proxies_check(), for one backend that is created at run time: its check_backend hook. */
void proxies_check_added(struct proxy *be, struct diag_list *diags);

/* direct.c, check phase: creates px->direct, if the proxy has one. */
void direct_check(struct proxy *px, struct diag_list *d);

/* Closes a proxy, and frees the memory of one that was created at run time. */
void proxy_end(struct proxy *px);

/* Creates the states and the balancing of a checked proxy. False: out of memory. */
bool proxy_make_states(struct proxy *px);
struct bind_conf;
bool bind_make_states(struct bind_conf *b);
/* reverse.c: checks the rhttp@ lines of a proxy, once all proxies are checked. */
void reverse_check(struct proxy *px, struct diag_list *d);

/* --- unix_bind.c */
struct bind_conf;
struct sockaddr_storage;
/* Settings of unix-bind. */
struct unix_bind {
	const char *prefix; /* before each path; NULL: none */
	mode_t mode;        /* -1 unset, like the next two */
	uid_t uid;
	gid_t gid;
};
extern struct slot unix_bind_slot;
struct unix_bind *unix_bind_of(const struct config *cfg);
/* Sets the defaults of a frontend's bind line. */
void unix_bind_defaults(const struct config *cfg, struct bind_conf *b);
/* Adds the prefix before the path of a UNIX address. False: too long. */
bool unix_bind_add_prefix(const struct config *cfg, struct sockaddr_storage *ss);

#endif
