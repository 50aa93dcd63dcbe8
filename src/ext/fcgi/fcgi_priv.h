/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcgi_priv.h - sections fcgi-app, for the files that parse and use them */
#ifndef SRC_EXT_FCGI_H
#define SRC_EXT_FCGI_H

#include "base/slot.h"
#include "conf/conf.h"
#include "expr/expr.h"
#include "http/cgi.h"
#include "log/log.h"
#include "mux/fcgi.h"
#include "proxy/proxy.h"
#include "stream/filter.h"

struct regex;

/* A line set-param or pass-header. */
struct fcgi_rule {
	struct fcgi_rule *next;
	struct slice name;            /* of the parameter; or of the field, in lower case */
	const struct logformat *value; /* NULL: pass-header */
	struct condition *condition;  /* NULL: always */
};

struct fcgi_app {
	struct fcgi_peer peer;        /* first */
	struct fcgi_app *next;
	const char *name, *file;
	int line;
	bool is_used;
	int64_t max_reqs;             /* as given in the line; 0: not given */
	struct slice docroot, index, software, fixed; /* <fixed>: see struct cgi_request */
	struct regex *path_info;      /* owned; or NULL */
	struct acl_set *acls;
	struct fcgi_rule *rules, **rules_end;
	struct log_settings log;      /* of stderr */
	const struct config *config;
};

/* Settings of a proxy. */
struct fcgi_proxy {
	const char *name;             /* of use-fcgi-app; or NULL */
	struct fcgi_app *app;         /* once checked; or NULL */
};

/* A line `filter fcgi-app`. */
struct fcgi_filter {
	const char *name;
};

extern struct slot fcgi_proxy_slot;
extern const struct filter_kind fcgi_filter_kinds[];

/* --- fcgi_filter.c */

/* Implements struct fcgi_peer. */
bool fcgi_app_params(const struct fcgi_peer *peer, struct endpoint *ep, struct strbuf *out);

static inline struct fcgi_proxy *fcgi_proxy_of(const struct proxy *px)
{
	return slot_of(&fcgi_proxy_slot, proxy_slots(px));
}

#endif
