/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server.c - TLS towards servers: contexts, sessions to resume, connections */
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/door.h"
#include "base/hash.h"
#include "cert_priv.h"
#include "conn_priv.h"
#include "core/thread.h"
#include "ctx_priv.h"
#include "global_priv.h"
#include "identity_priv.h"
#include "line_priv.h"
#include "net/dial.h"
#include "server_priv.h"
#include "store_priv.h"

/* The last session with a server, of one thread; others look here when they have none. */
struct tls_kept {
	pthread_mutex_t lock;
	SSL_SESSION *session;        /* counted */
	uint64_t name;               /* hash of the name that it was made with */
	bool spent;                  /* it has brought early data, or is about to */
} __attribute__((aligned(64)));

static void server_slot_fini(void *data)
{
	struct tls_server **at = data, *s = *at;

	if (!s)
		return;
	for (unsigned i = 0; s->kept && i < thread_count(); i++)
		SSL_SESSION_free(s->kept[i].session);
	free(s->kept);
	SSL_CTX_free(s->ctx);
	if (list_is_linked(&s->link))
		list_remove(&s->link);
	free(s);
	*at = NULL;
}

static struct tls_server *server_make(struct tls_server **at)
{
	if (*at)
		return *at;
	*at = calloc(1, sizeof(**at));
	if (*at)
		list_init(&(*at)->link);
	return *at;
}

static bool server_slot_inherit(void *data, const void *from)
{
	const struct tls_server *s = *(struct tls_server *const *)from;
	struct tls_server *to;

	if (!s)
		return true;
	to = server_make(data);
	if (!to)
		return false;
	to->on = s->on;
	to->set = s->set;
	to->crt = s->crt;
	to->verify_host = s->verify_host;
	to->sni_text = s->sni_text;
	to->sni = s->sni;
	to->no_sni_auto = s->no_sni_auto;
	return true;
}

struct slot tls_server_slot = {
	.of = SLOT_SERVER, .size = sizeof(struct tls_server *), .fini = server_slot_fini,
	.inherit = server_slot_inherit,
};

struct tls_server *tls_server_make(struct slot_area *area)
{
	return server_make(slot_of(&tls_server_slot, area));
}

static tls_renewed_fn *renewed;

void tls_set_renewed(tls_renewed_fn *fn)
{
	renewed = fn;
}

/* NULL: it is one in clear. */
static struct tls_server *server_of(const struct slot_area *area)
{
	return *(struct tls_server **)slot_of(&tls_server_slot, area);
}

void tls_server_line(struct config *cfg, struct slot_area *area)
{
	struct tls_server *s = server_of(area);

	if (s)
		s->defaults = tls_defaults_take(cfg);
}

bool tls_server_is_on(const struct slot_area *area)
{
	const struct tls_server *s = server_of(area);

	return s && s->on && !__atomic_load_n(&s->off, __ATOMIC_RELAXED);
}

bool tls_server_is_given(const struct slot_area *area)
{
	const struct tls_server *s = server_of(area);

	return s && s->on && !s->declined;
}

bool tls_server_may_switch(const struct slot_area *area)
{
	const struct tls_server *s = server_of(area);

	return s && s->on;
}

bool tls_server_has_alpn(const struct slot_area *area)
{
	const struct tls_server *s = server_of(area);

	return s && s->set.alpn.len > 0;
}

bool tls_server_offers(const struct slot_area *area, struct slice name)
{
	const struct tls_server *s = server_of(area);
	struct slice list = s ? s->set.alpn : slice_none();

	while (list.len) {
		size_t len = (unsigned char)list.ptr[0];

		if (slice_eq(slice_sub(list, 1, len + 1), name))
			return true;
		list = slice_sub(list, len + 1, list.len);
	}
	return false;
}

const struct expr *tls_server_sni(const struct slot_area *area, bool *is_auto)
{
	const struct tls_server *s = server_of(area);

	*is_auto = s && s->on && !s->sni && !s->no_sni_auto;
	return s ? s->sni : NULL;
}

/* --- sessions --------------------------------------------------------------------------------- */

static uint64_t name_hash(SSL *ssl)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	return name ? hash_bytes(name, strlen(name), 0) : 0;
}

static int session_new(SSL *ssl, SSL_SESSION *session)
{
	struct tls_conn *t = tls_now()->transport_ctx;
	struct tls_kept *k = &t->server->kept[thread_id];
	SSL_SESSION *old;

	if (!SSL_SESSION_is_resumable(session))
		return 0;
	pthread_mutex_lock(&k->lock);
	if (!tls_is_current(tls_now())) {
		pthread_mutex_unlock(&k->lock);
		return 0;
	}
	old = k->session;
	__atomic_store_n(&k->session, session, __ATOMIC_RELAXED); /* (looked at before the lock) */
	k->name = name_hash(ssl);
	k->spent = false;
	pthread_mutex_unlock(&k->lock);
	SSL_SESSION_free(old);
	return 1; /* the reference is ours now */
}

/* One to resume, with a reference; this thread's first. */
static SSL_SESSION *session_find(struct tls_server *s, uint64_t name)
{
	SSL_SESSION *found = NULL;

	for (unsigned i = 0; !found && i < thread_count(); i++) {
		struct tls_kept *k = &s->kept[(thread_id + i) % thread_count()];

		if (!__atomic_load_n(&k->session, __ATOMIC_RELAXED))
			continue;
		pthread_mutex_lock(&k->lock);
		if (k->session && k->name == name && SSL_SESSION_up_ref(k->session))
			found = k->session;
		pthread_mutex_unlock(&k->lock);
	}
	return found;
}

/* --- contexts --------------------------------------------------------------------------------- */

static void complain(const struct tls_place *w, struct diag_list *diags, const char *why)
{
	struct diag_place place = { .form = DIAG_BARE };

	diag_add(diags, DIAG_ALERT, &place, NULL, "[%s:%d] : 'server %s/%s' : %s", w->file,
		 w->line, w->proxy, w->name, why);
}

static bool load_cert(struct config *cfg, struct tls_server *s, char *why, size_t size)
{
	const char *path = s->crt ? tls_path(cfg, tls_global_of(cfg)->crt_base, s->crt) : NULL;

	if (!path)
		return true;
	if (!tls_store_find(tls_store_of(cfg), path)) {
		if (cfg->is_checked) {
			snprintf(why, size, "unable to stat SSL certificate '%s'.", path);
			return false;
		}
		if (door_kind(path) < 0) {
			snprintf(why, size, "unable to stat SSL certificate from file '%s' : %m.",
				 path);
			return false;
		}
	}
	s->entry = tls_store_cert(cfg, path, why, size);
	if (!s->entry)
		return false;
	s->entry->files.may_lack_key = false;
	if (!s->entry->cert || tls_cert_has_key(s->entry->cert))
		return true;
	snprintf(why, size, "No Private Key found in '%s'.", path);
	return false;
}

/* A context with the server's settings and certificate. NULL: <why>. */
static SSL_CTX *make_ssl(struct tls_server *s, char *why, size_t size)
{
	SSL_CTX *ctx = tls_ctx_make(s->cfg, &s->set, true, why, size);
	struct tls_cert *c = s->entry ? s->entry->cert : NULL;

	if (!ctx)
		return NULL;
	if (c)
		tls_cert_open(c);
	if (s->set.alpn.len)
		SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)s->set.alpn.ptr,
					(unsigned)s->set.alpn.len);
	if (!(s->set.flags & TLS_SET_NO_REUSE)) {
		SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT |
					       SSL_SESS_CACHE_NO_INTERNAL);
		SSL_CTX_sess_set_new_cb(ctx, session_new);
	}
	if (c && SSL_CTX_use_cert_and_key(ctx, c->leaf, c->key, c->chain, 1) != 1) {
		SSL_CTX_free(ctx);
		snprintf(why, size, "%s", tls_reason());
		return NULL;
	}
	return ctx;
}

/* Has connections use <ctx> (NULL: none can be made), which it takes over, and none that was made
 * with another identity.
 */
static void replace(struct tls_server *s, SSL_CTX *ctx, uint64_t identity)
{
	SSL_SESSION *sessions[THREADS_MAX] = { NULL };
	bool other = identity != s->identity;
	SSL_CTX *old = s->ctx;

	for (unsigned i = 0; i < thread_count(); i++)
		pthread_mutex_lock(&s->kept[i].lock);
	s->ctx = ctx;
	__atomic_store_n(&s->identity, identity, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < thread_count() && other; i++) {
		sessions[i] = s->kept[i].session;
		__atomic_store_n(&s->kept[i].session, NULL, __ATOMIC_RELAXED);
	}
	for (unsigned i = 0; i < thread_count(); i++)
		pthread_mutex_unlock(&s->kept[i].lock);
	for (unsigned i = 0; i < thread_count(); i++)
		SSL_SESSION_free(sessions[i]);
	SSL_CTX_free(old);
	if (other && renewed)
		renewed(s->area);
}

bool tls_server_renew(struct tls_server *s, char *why, size_t size)
{
	SSL_CTX *ctx = make_ssl(s, why, size);
	uint64_t identity;

	if (!ctx)
		return false;
	if (!tls_server_sum(s, &identity)) {
		SSL_CTX_free(ctx);
		snprintf(why, size, "out of memory");
		return false;
	}
	replace(s, ctx, identity);
	return true;
}

bool tls_server_switch(struct slot_area *area, bool on)
{
	struct tls_server *s = server_of(area);

	if (!s || !s->on)
		return false;
	if (__atomic_exchange_n(&s->off, !on, __ATOMIC_RELAXED) == on && renewed)
		renewed(area);
	return true;
}

void tls_server_leave(struct slot_area *area)
{
	struct tls_server *s = server_of(area);

	if (!s || !s->cfg)
		return;
	tls_store_lock();
	if (list_is_linked(&s->link)) {
		list_remove(&s->link);
		replace(s, NULL, 0);
		s->entry = NULL;
	}
	tls_store_unlock();
}

uint64_t tls_server_identity(const struct slot_area *area)
{
	const struct tls_server *s = server_of(area);

	return tls_server_is_on(area) ? __atomic_load_n(&s->identity, __ATOMIC_ACQUIRE) : 0;
}

bool tls_is_current(const struct conn *c)
{
	const struct tls_conn *t = tls_of(c);

	return !t || !(t->flags & TLS_FL_BACK) ||
	       (!__atomic_load_n(&t->server->off, __ATOMIC_RELAXED) &&
		t->identity == __atomic_load_n(&t->server->identity, __ATOMIC_ACQUIRE));
}

static bool make_kept(struct tls_server *s)
{
	unsigned n = thread_count();

	s->kept = aligned_alloc(64, n * sizeof(*s->kept));
	if (!s->kept)
		return false;
	memset(s->kept, 0, n * sizeof(*s->kept));
	for (unsigned i = 0; i < n; i++)
		pthread_mutex_init(&s->kept[i].lock, NULL);
	return true;
}

bool tls_server_want(struct slot_area *area)
{
	struct tls_server *s = tls_server_make(area);

	if (s)
		s->wanted = true;
	return s != NULL;
}

bool tls_server_want_quic(struct slot_area *area, struct slice alpn)
{
	struct tls_server *s = tls_server_make(area);

	if (!s)
		return false;
	s->on = true;
	s->set.flags |= TLS_SET_QUIC;
	if (!s->set.alpn.len)
		s->set.alpn = alpn;
	return true;
}

/* With the store locked when commands may change it: <cfg> is in use. */
static bool server_check(struct config *cfg, struct slot_area *area, const struct tls_place *where,
			 struct diag_list *diags)
{
	static const char no_ca[] = "verify is enabled by default but no CA file specified. If "
		"you're running on a LAN where you're certain to trust the server's certificate, "
		"please set an explicit 'verify none' statement on the 'server' line, or use "
		"'ssl-server-verify none' in the global section to disable server-side "
		"verifications by default.";
	struct tls_server *s = server_of(area);
	const struct tls_global *g = tls_global_of(cfg);
	char why[512] = "";

	if (!s || (!s->on && !s->wanted))
		return true;
	s->cfg = cfg;
	s->area = area;
	s->where = *where;
	s->records = tls_records_of(cfg);
	if (!s->defaults)
		s->defaults = tls_defaults_take(cfg);
	tls_settings_inherit(&s->set, &s->defaults->server);
	if (!s->set.min)
		s->set.min = tls_lowest_version(&s->set);
	if (!s->set.verify && !s->set.ca_file && !g->server_verify_none) {
		complain(where, diags, no_ca);
		return false;
	}
	if (!s->set.verify)
		s->set.verify = g->server_verify_none ? TLS_VERIFY_NONE : TLS_VERIFY_REQUIRED;
	if (load_cert(cfg, s, why, sizeof(why)))
		s->ctx = make_ssl(s, why, sizeof(why));
	if (s->ctx && (!make_kept(s) || !tls_server_sum(s, &s->identity)))
		snprintf(why, sizeof(why), "out of memory.");
	if (*why)
		complain(where, diags, why);
	else
		list_append(&tls_global_of(cfg)->servers, &s->link);
	return !*why;
}

bool tls_server_check(struct config *cfg, struct slot_area *area, const struct tls_place *where,
		      struct diag_list *diags)
{
	bool good;

	if (!cfg->is_checked)
		return server_check(cfg, area, where, diags);
	tls_store_lock();
	good = server_check(cfg, area, where, diags);
	tls_store_unlock();
	return good;
}

/* --- connections ------------------------------------------------------------------------------ */

static bool set_names(struct tls_server *s, SSL *ssl, struct slice sni)
{
	char name[256] = "";
	const char *host = s->verify_host;

	if (sni.len && sni.len < sizeof(name)) {
		memcpy(name, sni.ptr, sni.len);
		name[sni.len] = 0;
		if (SSL_set_tlsext_host_name(ssl, name) != 1)
			return false;
		host = name;
	}
	if (!host || s->set.verify != TLS_VERIFY_REQUIRED)
		return true;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(ssl, host) == 1;
}

static bool begin(struct conn *c, const struct dial_want *w)
{
	struct tls_server *s = server_of(w->tls);
	SSL_SESSION *session;
	struct tls_conn *t;
	uint64_t identity;
	SSL *ssl;

	/* (a command may replace both: tls_server_renew()) */
	pthread_mutex_lock(&s->kept[thread_id].lock);
	ssl = s->ctx ? SSL_new(s->ctx) : NULL;
	identity = s->identity;
	pthread_mutex_unlock(&s->kept[thread_id].lock);
	if (ssl && !set_names(s, ssl, w->sni)) {
		ERR_clear_error();
		SSL_free(ssl);
		return false;
	}
	if (!tls_attach(c, ssl, TLS_FL_BACK))
		return false;
	t = c->transport_ctx;
	t->server = s;
	t->identity = identity;
	t->records = s->records;
	if (w->alpn.ptr)
		SSL_set_alpn_protos(ssl, (const unsigned char *)w->alpn.ptr,
				    (unsigned)w->alpn.len);
	SSL_set_connect_state(ssl);
	session = s->set.flags & TLS_SET_NO_REUSE ? NULL : session_find(s, name_hash(ssl));
	if (session) {
		SSL_set_session(ssl, session);
		SSL_SESSION_free(session);
	}
	return tls_count_open(t);
}

bool tls_follow(struct conn *c, struct slot_area *area)
{
	struct tls_server *s = server_of(area);
	struct tls_conn *t = tls_of(c);

	if (!t || !tls_server_is_on(area))
		return !t && !tls_server_is_on(area);
	if (t->identity != __atomic_load_n(&s->identity, __ATOMIC_ACQUIRE))
		return false;
	t->server = s;
	return true;
}

/* --- early data: each session is used for it once, as servers refuse what comes twice --------- */

/* Does our line offer what the session's ALPN was? OpenSSL would end the handshake if not. */
static bool alpn_fits(const struct slot_area *server, const SSL_SESSION *session)
{
	const unsigned char *p;
	size_t len;

	SSL_SESSION_get0_alpn_selected(session, &p, &len);
	return !len || tls_server_offers(server, slice_make((const char *)p, len));
}

/* Takes from a kept session the right to bring early data. False: it is gone. */
static bool spend(struct tls_server *s, const SSL_SESSION *session)
{
	bool mine = false;

	for (unsigned i = 0; !mine && i < thread_count(); i++) {
		struct tls_kept *k = &s->kept[(thread_id + i) % thread_count()];

		pthread_mutex_lock(&k->lock);
		if (k->session == session && !k->spent)
			mine = k->spent = true;
		pthread_mutex_unlock(&k->lock);
	}
	return mine;
}

static bool offer_early(struct conn *c, const struct slot_area *server)
{
	struct tls_conn *t = tls_of(c);
	SSL_SESSION *session = t ? SSL_get0_session(t->ssl) : NULL;

	if (!session || !(t->server->set.flags & TLS_SET_EARLY_DATA) ||
	    !SSL_SESSION_get_max_early_data(session) || !alpn_fits(server, session) ||
	    !spend(t->server, session))
		return false;
	t->early_room = SSL_SESSION_get_max_early_data(session);
	t->flags |= TLS_FL_EARLY;
	return true;
}

bool tls_dial(struct conn *c, struct dial_want *w)
{
	if (!begin(c, w))
		return false;
	if (w->flags & DIAL_MAY_BE_EARLY && offer_early(c, w->tls))
		w->flags |= DIAL_IS_EARLY;
	return true;
}
