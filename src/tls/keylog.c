/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keylog.c - edge file: secrets of connections to decipher captures (tune.ssl.keylog)
 *
 * Manual: configuration 3.2 tune.ssl.keylog, 7.3.4.
 */
#include <stdlib.h>
#include <string.h>
#include "conn_priv.h"
#include "smp_priv.h"

static const char *const labels[TLS_SECRETS] = {
	"CLIENT_EARLY_TRAFFIC_SECRET", "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
	"SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0",
	"EXPORTER_SECRET", "EARLY_EXPORTER_SECRET",
};

/* "<label> <client random> <secret>" */
static void keep(const SSL *ssl, const char *line)
{
	struct tls_conn *t = tls_now() ? tls_now()->transport_ctx : NULL;
	const char *secret = strrchr(line, ' ');
	size_t len = strcspn(line, " ");

	if (!t || !secret)
		return;
	if (!t->secrets)
		t->secrets = calloc(TLS_SECRETS, sizeof(*t->secrets));
	for (int i = 0; t->secrets && i < TLS_SECRETS; i++)
		if (strlen(labels[i]) == len && memcmp(labels[i], line, len) == 0 &&
		    !t->secrets[i])
			t->secrets[i] = strdup(secret + 1);
}

void tls_keylog_attach(SSL_CTX *ctx)
{
	SSL_CTX_set_keylog_callback(ctx, keep);
}

/* <data> of the fetches: a side and a label. */
struct which {
	enum tls_side side;
	int label;
};

static enum expr_result fetch_secret(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	const struct which *w = ctx->data;
	struct tls_conn *t = tls_smp_conn(ctx, w->side);

	return t && t->secrets ? tls_smp_text(out, t->secrets[w->label]) : EXPR_NONE;
}

#define ROW(n, number) \
	{ .name = "ssl_fc_" n, .out = SMP_STR, .use = EXPR_USE_L5_CLIENT, \
	  .fetch = fetch_secret, .data = &(const struct which){ TLS_FRONT, number }, \
	  .help = "secret " n " of the client's connection" }, \
	{ .name = "ssl_bc_" n, .out = SMP_STR, .use = EXPR_USE_L5_CLIENT, \
	  .fetch = fetch_secret, .data = &(const struct which){ TLS_BACK, number }, \
	  .help = "secret " n " of the server's connection" }

static const struct expr_fetch fetches[] = {
	ROW("client_early_traffic_secret", 0), ROW("client_handshake_traffic_secret", 1),
	ROW("server_handshake_traffic_secret", 2), ROW("client_traffic_secret_0", 3),
	ROW("server_traffic_secret_0", 4), ROW("exporter_secret", 5),
	ROW("early_exporter_secret", 6),
	{ 0 }
};

const struct module mod_tls_keylog = { .name = "tls-secrets", .fetches = fetches };
