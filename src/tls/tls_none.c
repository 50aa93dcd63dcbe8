/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tls_none.c - the floor without OpenSSL: nothing can be configured, so nothing is ever on */
#include "conf/conf.h"
#include "net/conn.h"
#include "net/quic_tls.h"
#include "tls/tls.h"

bool tls_self_signed(const char *name, struct strbuf *pem)
{
	return false;
}

bool tls_cert_set(struct config *cfg, const char *name, const struct tls_cert_texts *t, char *why,
		  size_t size)
{
	snprintf(why, size, "this program was built without TLS");
	return false;
}

void tls_servers_trust_all(struct config *cfg)
{
}

bool tls_bind_is_on(const struct slot_area *bind)
{
	return false;
}

bool tls_watch_is_wanted(const struct config *cfg)
{
	return false;
}

void tls_bind_want_quic(struct slot_area *bind)
{
}

bool tls_quic_is_native(void)
{
	return false;
}

const struct quic_tls_ops tls_quic_ops;

bool tls_quic_accept(struct conn *c, struct slot_area *bind, const struct tls_quic_start *how)
{
	return false;
}

bool tls_bind_check(struct config *cfg, struct slot_area *bind, const struct tls_place *where,
		    struct diag_list *diags)
{
	return true;
}

bool tls_accept(struct conn *c, struct slot_area *bind)
{
	return false;
}

unsigned tls_accept_wait_ms(void)
{
	return 0;
}

void tls_abort_on_close(struct conn *c)
{
}

bool tls_handshake_step(struct conn *c)
{
	return true;
}

void tls_set_fetcher(const struct tls_fetcher *f)
{
}

const char *tls_system_place(unsigned n)
{
	return NULL;
}

void tls_set_event_log(const struct tls_event_log *log)
{
}

bool tls_is_early(const struct conn *c)
{
	return false;
}

void tls_wait_handshake(struct conn *c, struct tls_waiter *w)
{
}

bool tls_server_is_on(const struct slot_area *server)
{
	return false;
}

bool tls_server_is_given(const struct slot_area *server)
{
	return false;
}

bool tls_server_may_switch(const struct slot_area *server)
{
	return false;
}

void tls_each_change(const struct config *cfg, tls_change_fn *tell, void *data)
{
}

bool tls_server_switch(struct slot_area *server, bool on)
{
	return false;
}

bool tls_server_check(struct config *cfg, struct slot_area *server, const struct tls_place *where,
		      struct diag_list *diags)
{
	return true;
}

bool tls_server_has_alpn(const struct slot_area *area)
{
	return false;
}

bool tls_server_offers(const struct slot_area *area, struct slice name)
{
	return false;
}

bool tls_server_want(struct slot_area *server)
{
	return true;
}

const struct expr *tls_server_sni(const struct slot_area *server, bool *is_auto)
{
	*is_auto = false;
	return NULL;
}

bool tls_dial(struct conn *c, struct dial_want *w)
{
	return false;
}

bool tls_early_is_refused(const struct conn *c)
{
	return false;
}

void tls_bind_line(struct config *cfg, struct slot_area *bind)
{
}

void tls_server_line(struct config *cfg, struct slot_area *server)
{
}

void tls_server_leave(struct slot_area *server)
{
}

void tls_library_print(FILE *out)
{
	fprintf(out, "Built without OpenSSL support (USE_OPENSSL not set).\n");
}

bool tls_follow(struct conn *c, struct slot_area *server)
{
	return true;
}

uint64_t tls_server_identity(const struct slot_area *server)
{
	return 0;
}

bool tls_is_current(const struct conn *c)
{
	return true;
}

void tls_set_renewed(tls_renewed_fn *fn)
{
}

bool tls_is_on(const struct conn *c)
{
	return false;
}

const char *tls_version_name(const struct conn *c)
{
	return NULL;
}

const char *tls_cipher_name(const struct conn *c)
{
	return NULL;
}

bool tls_is_resumed(const struct conn *c)
{
	return false;
}

bool tls_is_stapled(const struct conn *c)
{
	return false;
}

bool tls_has_peer_cert(const struct conn *c)
{
	return false;
}

int tls_verify_result(const struct conn *c)
{
	return 0;
}

struct slice tls_peer_cn(const struct conn *c, char *room, size_t size)
{
	return slice_none();
}

struct slice tls_peer_key_algorithm(const struct conn *c, char *room, size_t size)
{
	return slice_none();
}

struct slice tls_peer_signature(const struct conn *c, char *room, size_t size)
{
	return slice_none();
}

struct slice tls_sni(const struct conn *c)
{
	return slice_none();
}

enum tls_refusal tls_refusal(const struct conn *c, uint32_t *error)
{
	return TLS_REFUSED_NOT;
}

const char *tls_failure(const struct conn *c)
{
	return NULL;
}

void tls_set_locator(const struct tls_locator *l)
{
}

void tls_get_figures(struct tls_figures *out)
{
	*out = (struct tls_figures){ 0 };
}

void tls_set_rate_limit(int64_t per_second)
{
}

bool tls_watch_is_wanted(const struct config *cfg)
{
	return false;
}

const char *tls_library_name(void)
{
	return NULL;
}

const char *tls_library_version(void)
{
	return NULL;
}

#define IGNORED(text, value) \
	{ .words = text, .where = CONF_GLOBAL, .flags = CONF_IGNORED, .max_args = -1, \
	  .syntax = value, .help = "nothing: this program was built without TLS", \
	  .hint = "it was built without TLS." }

static const struct conf_keyword keywords[] = {
	IGNORED("ssl-server-verify", "{ none | required }"),
	IGNORED("tune.ssl.default-dh-param", "<number>"),
	IGNORED("tune.ssl.capture-cipherlist-size", "<number>"),
	IGNORED("tune.idletimer", "<timeout>"),
	{ 0 }
};

const struct module mod_tls = { .name = "tls", .keywords = keywords };
const struct module mod_tls_bind = { .name = "tls-bind" };
const struct module mod_tls_server = { .name = "tls-server" };
const struct module mod_tls_smp = { .name = "tls-fetches" };
const struct module mod_tls_hello_smp = { .name = "tls-hello-fetches" };
const struct module mod_tls_cert_smp = { .name = "tls-certificate-fetches" };
const struct module mod_tls_jwt = { .name = "tls-tokens" };
const struct module mod_tls_cert_ctl = { .name = "tls-certificate-commands" };
const struct module mod_tls_ca_ctl = { .name = "tls-authority-commands" };
const struct module mod_tls_list_ctl = { .name = "tls-list-commands" };
const struct module mod_tls_store = { .name = "crt-store" };
const struct module mod_tls_keylog = { .name = "tls-secrets" };
const struct module mod_tls_ocsp_ctl = { .name = "tls-ocsp-commands" };
const struct module mod_tls_ocsp_conf = { .name = "tls-ocsp-settings" };
const struct module mod_tls_use_conf = { .name = "tls-frontend-certificates" };
