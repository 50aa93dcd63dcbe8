/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_client_priv.h - declarations shared by the files of the HTTP client */
#ifndef SRC_CLIENT_HTTP_CLIENT_H
#define SRC_CLIENT_HTTP_CLIENT_H

#include "base/slot.h"
#include "codec/dns.h"
#include "client/http_client.h"

struct conf_line;
struct proxy;
struct resolvers;

/* httpclient.* settings of a generation, and the objects made from them. */
struct http_client_conf {
	int64_t connect_ms, retries;
	bool no_resolvers, verify_none, wants_tls;
	/* httpclient.ssl.* was given: an error in it is an error of the file */
	bool tls_is_said;
	const char *ca_file;          /* "@system-ca" */
	const char *resolvers_id;     /* NULL: "default", if there is one */
	enum dns_type prefer;         /* DNS_A, DNS_AAAA */
	struct resolvers *resolvers;  /* or NULL: the system's resolver is used */
	struct proxy *clear, *tls;    /* the backends; tls: or NULL */
};

extern struct slot http_client_slot;
struct http_client_conf *http_client_conf_of(const struct config *cfg);

#endif
