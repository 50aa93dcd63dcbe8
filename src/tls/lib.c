/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib.c - OpenSSL itself: start, what it need not keep, why it failed, and the
 * figures of the process
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include "base/clock.h"
#include "cert_priv.h"
#include "conn_priv.h"
#include "core/counter.h"
#include "lib_priv.h"

bool tls_lib_init(void)
{
	tls_memory_init();
	return OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL) == 1;
}

/* Wipes and frees one of the keys of the exchange, which OpenSSL keeps as long as the connection:
 * 200 bytes each, and secret. Its shell stays where OpenSSL has it.
 */
static void exchange_key_drop(EVP_PKEY *key)
{
	if (EVP_PKEY_set_type(key, EVP_PKEY_NONE) != 1)
		ERR_clear_error(); /* there is no such type: the key is empty all the same */
	EVP_PKEY_free(key);
}

void tls_exchange_keys_drop(SSL *ssl)
{
	EVP_PKEY *key;

	if (SSL_get_tmp_key(ssl, &key))
		exchange_key_drop(key);
	if (SSL_get_peer_tmp_key(ssl, &key))
		exchange_key_drop(key);
}

const char *tls_library_name(void)
{
	return OpenSSL_version(OPENSSL_VERSION);
}

const char *tls_library_version(void)
{
	return OpenSSL_version(OPENSSL_VERSION_STRING);
}

const char *tls_reason(void)
{
	unsigned long e = ERR_peek_error();
	const char *text = e ? ERR_reason_error_string(e) : NULL;

	ERR_clear_error();
	return text ? text : "unknown error";
}

enum tls_refusal tls_refusal(const struct conn *c, uint32_t *error)
{
	const struct tls_conn *t = tls_of(c);

	if (!t || t->flags & TLS_FL_DONE || SSL_in_before(t->ssl))
		return TLS_REFUSED_NOT;
	*error = t->error;
	if (t->peer_error != X509_V_ERR_HOSTNAME_MISMATCH &&
	    t->peer_error != X509_V_ERR_IP_ADDRESS_MISMATCH)
		return TLS_REFUSED;
	return SSL_get_servername(t->ssl, TLSEXT_NAMETYPE_host_name) ? TLS_REFUSED_NAME
								      : TLS_REFUSED_HOST;
}

const char *tls_failure(const struct conn *c)
{
	static __thread char text[320];
	const struct tls_conn *t = tls_of(c);
	char error[256];

	if (!t || !t->error)
		return NULL;
	if (ERR_GET_REASON(t->error) == SSL_R_CERTIFICATE_VERIFY_FAILED && t->ca_error)
		return "SSL client CA chain cannot be verified";
	if (ERR_GET_REASON(t->error) == SSL_R_CERTIFICATE_VERIFY_FAILED)
		return "SSL client certificate not trusted";
	ERR_error_string_n(t->error, error, sizeof(error));
	snprintf(text, sizeof(text), "SSL handshake failure (%s)", error);
	return text;
}

/* --- figures: touched once per connection ---------------------------------------------------- */

enum { FIG_FRONT_OPEN, FIG_FRONT_TOTAL, FIG_BACK_OPEN, FIG_BACK_TOTAL, FIG_COUNT };

struct top_rate {
	struct rate rate;
	uint32_t max;         /* atomic */
	uint64_t cleared_sec; /* atomic: the maximum is that of later seconds */
};

static struct counter_set figures;
static struct top_rate front_rate, front_keys, back_keys, front_reused;
static struct {
	int64_t connections;
	int64_t rate;  /* atomic */
	uint64_t open; /* atomic; counted only when there is a limit */
} limits;

static void top_rate_add(struct top_rate *t)
{
	struct rate_closed closed;

	SHARED_WRITE(process);
	if (rate_add(&t->rate, 1, &closed) &&
	    closed.sec > __atomic_load_n(&t->cleared_sec, __ATOMIC_RELAXED) &&
	    closed.count > __atomic_load_n(&t->max, __ATOMIC_RELAXED))
		__atomic_store_n(&t->max, closed.count, __ATOMIC_RELAXED);
}

static uint32_t top_rate_max(const struct top_rate *t)
{
	uint64_t cleared = __atomic_load_n(&t->cleared_sec, __ATOMIC_RELAXED);
	uint32_t max = __atomic_load_n(&t->max, __ATOMIC_RELAXED), now = rate_read(&t->rate);

	/* (what passes now has to do with the second before) */
	return now > max && clock_now_ns() / NS_PER_SEC > cleared + 1 ? now : max;
}

void tls_clear_max(void)
{
	struct top_rate *all[] = { &front_rate, &front_keys, &back_keys, &front_reused };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		__atomic_store_n(&all[i]->cleared_sec, clock_now_ns() / NS_PER_SEC,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&all[i]->max, 0, __ATOMIC_RELAXED);
	}
}

bool tls_figures_init(void)
{
	return figures.shards || counter_set_init(&figures, FIG_COUNT);
}

void tls_set_limits(int64_t connections, int64_t rate)
{
	__atomic_store_n(&limits.connections, connections, __ATOMIC_RELAXED);
	tls_set_rate_limit(rate);
}

void tls_set_rate_limit(int64_t per_second)
{
	__atomic_store_n(&limits.rate, per_second, __ATOMIC_RELAXED);
}

/* How soon a full process looks whether a connection has gone. */
#define FULL_WAIT_MS 20

unsigned tls_accept_wait_ms(void)
{
	int64_t most = __atomic_load_n(&limits.connections, __ATOMIC_RELAXED);
	int64_t rate = __atomic_load_n(&limits.rate, __ATOMIC_RELAXED);

	if (most && __atomic_load_n(&limits.open, __ATOMIC_RELAXED) >= (uint64_t)most)
		return FULL_WAIT_MS;
	if (rate && rate_read(&front_rate.rate) >= rate)
		return (unsigned)(1000 / rate) + 1;
	return 0;
}

/* Takes one of the places of maxsslconn; a reload may set one, another, or none. False: there is
 * none left.
 */
static bool place_take(struct tls_conn *t)
{
	int64_t most = __atomic_load_n(&limits.connections, __ATOMIC_RELAXED);

	if (!most)
		return true;
	SHARED_WRITE(process);
	if (__atomic_add_fetch(&limits.open, 1, __ATOMIC_RELAXED) > (uint64_t)most) {
		__atomic_sub_fetch(&limits.open, 1, __ATOMIC_RELAXED);
		return false;
	}
	t->flags |= TLS_FL_PLACE;
	return true;
}

bool tls_count_open(struct tls_conn *t)
{
	bool back = t->flags & TLS_FL_BACK;

	if (!back && !place_take(t))
		return false;
	t->flags |= TLS_FL_COUNTED;
	counter_add(&figures, back ? FIG_BACK_OPEN : FIG_FRONT_OPEN, 1);
	counter_add(&figures, back ? FIG_BACK_TOTAL : FIG_FRONT_TOTAL, 1);
	if (!back)
		top_rate_add(&front_rate);
	return true;
}

void tls_uncount(struct tls_conn *t)
{
	bool back = t->flags & TLS_FL_BACK;

	if (!(t->flags & TLS_FL_COUNTED))
		return;
	if (t->flags & TLS_FL_PLACE)
		__atomic_sub_fetch(&limits.open, 1, __ATOMIC_RELAXED);
	counter_add(&figures, back ? FIG_BACK_OPEN : FIG_FRONT_OPEN, -1);
}

void tls_count_handshake(bool back, bool resumed)
{
	if (!resumed)
		top_rate_add(back ? &back_keys : &front_keys);
	else if (!back)
		top_rate_add(&front_reused);
}

void tls_figures_read(struct tls_figures *out)
{
	uint64_t keys = rate_read(&front_keys.rate), reused = rate_read(&front_reused.rate);

	*out = (struct tls_figures){
		.front_open = counter_read(&figures, FIG_FRONT_OPEN),
		.front_total = counter_read(&figures, FIG_FRONT_TOTAL),
		.back_open = counter_read(&figures, FIG_BACK_OPEN),
		.back_total = counter_read(&figures, FIG_BACK_TOTAL),
		.rate = rate_read(&front_rate.rate), .rate_max = top_rate_max(&front_rate),
		.front_key_rate = keys, .front_key_rate_max = top_rate_max(&front_keys),
		.back_key_rate = rate_read(&back_keys.rate),
		.back_key_rate_max = top_rate_max(&back_keys),
		.reuse_percent = keys + reused ? (unsigned)(reused * 100 / (keys + reused)) : 0,
		.max_connections = (uint64_t)__atomic_load_n(&limits.connections,
							     __ATOMIC_RELAXED),
		.rate_limit = (uint64_t)__atomic_load_n(&limits.rate, __ATOMIC_RELAXED),
	};
}
