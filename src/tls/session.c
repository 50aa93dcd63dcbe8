/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.c - resumption: the cache of sessions that threads share, and ticket keys
 *
 * The cache is a fixed table in shards, each with its lock: a session is in one of the few slots
 * that its identifier selects, the oldest of which is replaced. Sessions are stored as bytes.
 * Tickets: the last three keys of a file; the one before the last encrypts, all three decrypt.
 * Without a file: keys of the process for each line, which the next generation has, too.
 */
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "bind_priv.h"
#include "conn_priv.h"
#include "session_priv.h"

#define SHARDS 64
#define WAYS 4
/* One with a client's certificate that is larger than this is not kept: clients choose its size. */
#define SESSION_MAX 4096

/* --- the cache -------------------------------------------------------------------------------- */

struct kept {
	uint64_t id;                 /* hash of the session's; 0: free */
	uint64_t stored_ns;
	uint32_t len;
	unsigned char *der;          /* owned */
};

static struct {
	struct shard {
		pthread_mutex_t lock;
		struct kept *places;
		unsigned sets;       /* WAYS places each */
		uint64_t lookups, misses;
	} __attribute__((aligned(64))) shards[SHARDS];
	bool on;
} cache;

bool tls_cache_set_size(int64_t sessions)
{
	unsigned sets = (unsigned)((sessions + SHARDS * WAYS - 1) / (SHARDS * WAYS));

	cache.on = sets > 0;
	for (int i = 0; i < SHARDS && sets; i++) {
		struct shard *s = &cache.shards[i];

		if (s->places)
			continue; /* a later generation does not change it */
		pthread_mutex_init(&s->lock, NULL);
		s->places = calloc((size_t)sets * WAYS, sizeof(*s->places));
		s->sets = sets;
		if (!s->places)
			return false;
	}
	return true;
}

void tls_cache_free(void)
{
	for (int i = 0; i < SHARDS; i++) {
		struct shard *s = &cache.shards[i];

		for (unsigned j = 0; s->places && j < s->sets * WAYS; j++)
			free(s->places[j].der);
		free(s->places);
		s->places = NULL;
	}
}

void tls_cache_figures(uint64_t *lookups, uint64_t *misses)
{
	*lookups = *misses = 0;
	for (int i = 0; i < SHARDS; i++) {
		*lookups += __atomic_load_n(&cache.shards[i].lookups, __ATOMIC_RELAXED);
		*misses += __atomic_load_n(&cache.shards[i].misses, __ATOMIC_RELAXED);
	}
}

static uint64_t id_of(const unsigned char *id, size_t len)
{
	uint64_t h = hash_bytes(id, len, 0);

	return h ? h : 1;
}

static struct shard *shard_of(uint64_t id)
{
	return &cache.shards[id % SHARDS];
}

static struct kept *set_of(struct shard *s, uint64_t id)
{
	return &s->places[id / SHARDS % s->sets * WAYS];
}

/* Is all of the session in the ticket that the client gets? OpenSSL tells of each ticket of TLS 1.3
 * and would never ask for its session.
 */
static bool is_in_ticket(const SSL *ssl)
{
	return SSL_version(ssl) >= TLS1_3_VERSION && !(SSL_get_options(ssl) & SSL_OP_NO_TICKET);
}

static int session_new(SSL *ssl, SSL_SESSION *session)
{
	int size = is_in_ticket(ssl) ? 0 : i2d_SSL_SESSION(session, NULL);
	bool fits = size > 0 && size <= SESSION_MAX;
	unsigned char *der = fits ? malloc((size_t)size) : NULL, *p = der, *old;
	const unsigned char *name;
	struct kept *k, *best;
	struct shard *s;
	unsigned len;
	uint64_t id;

	if (!der)
		return 0;
	i2d_SSL_SESSION(session, &p);
	name = SSL_SESSION_get_id(session, &len);
	id = id_of(name, len);
	s = shard_of(id);
	pthread_mutex_lock(&s->lock);
	best = k = set_of(s, id);
	for (int i = 0; i < WAYS; i++)
		if (k[i].id == id || (best->id != id && k[i].stored_ns < best->stored_ns))
			best = &k[i];
	old = best->der;
	*best = (struct kept){ id, clock_now_ns(), (uint32_t)size, der };
	pthread_mutex_unlock(&s->lock);
	free(old);
	return 0; /* no reference is kept */
}

static SSL_SESSION *session_get(SSL *ssl, const unsigned char *name, int len, int *copy)
{
	uint64_t id = id_of(name, (size_t)len);
	struct shard *s = shard_of(id);
	SSL_SESSION *found = NULL;
	const unsigned char *p;
	/* its early data must not be accepted again, on whichever thread */
	bool once = SSL_version(ssl) >= TLS1_3_VERSION && SSL_get_max_early_data(ssl);
	struct kept *k;

	*copy = 0;
	pthread_mutex_lock(&s->lock);
	__atomic_store_n(&s->lookups, s->lookups + 1, __ATOMIC_RELAXED);
	k = set_of(s, id);
	for (int i = 0; !found && i < WAYS; i++) {
		if (k[i].id != id)
			continue;
		p = k[i].der;
		found = d2i_SSL_SESSION(NULL, &p, k[i].len);
		if (once) {
			free(k[i].der);
			k[i] = (struct kept){ 0 };
		}
	}
	if (!found)
		__atomic_store_n(&s->misses, s->misses + 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&s->lock);
	return found;
}

static void session_remove(SSL_CTX *ctx, SSL_SESSION *session)
{
	unsigned len;
	const unsigned char *name = SSL_SESSION_get_id(session, &len);
	uint64_t id = id_of(name, len);
	struct shard *s = shard_of(id);
	struct kept *k;

	pthread_mutex_lock(&s->lock);
	k = set_of(s, id);
	for (int i = 0; i < WAYS; i++) {
		if (k[i].id != id)
			continue;
		free(k[i].der);
		k[i] = (struct kept){ 0 };
	}
	pthread_mutex_unlock(&s->lock);
}

void tls_cache_attach(SSL_CTX *ctx)
{
	if (!cache.on) {
		SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
		return;
	}
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL |
				       SSL_SESS_CACHE_NO_AUTO_CLEAR);
	SSL_CTX_sess_set_new_cb(ctx, session_new);
	SSL_CTX_sess_set_get_cb(ctx, session_get);
	SSL_CTX_sess_set_remove_cb(ctx, session_remove);
}

/* --- tickets ---------------------------------------------------------------------------------- */

#define KEYS 3

struct ticket_key {
	unsigned char name[16];
	unsigned char secret[64];    /* AES then HMAC: 16 and 16, or 32 and 32 bytes */
};

struct tls_tickets {
	unsigned refs;
	pthread_mutex_t lock;
	char *file;
	struct ticket_key keys[KEYS];
	int current;                 /* the newest */
	size_t half;                 /* 16 or 32 */
	uint64_t read;               /* hash of what the file said */
	struct list link;
};

/* Shared by generations: one is read while another dies. */
static pthread_mutex_t ticket_files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list ticket_files = { &ticket_files, &ticket_files };

/* Takes the key of a line; t->half is 0 before the first. False: <why>. */
static bool take_key(struct tls_tickets *t, char *line, int number, char *why, size_t size)
{
	struct ticket_key *k = &t->keys[number % KEYS];
	size_t len = strlen(line), half;
	unsigned char raw[96];
	int n = len <= 124 ? EVP_DecodeBlock(raw, (unsigned char *)line, (int)len) : -1;

	ERR_clear_error();
	if (n < 0) {
		snprintf(why, size, "unable to decode base64 key on line %d", number + 1);
		return false;
	}
	while (n > 0 && len && line[--len] == '=')
		n--;
	half = n == 48 ? 16 : n == 80 ? 32 : 0;
	/* all of one size, or one would be used with another's */
	if (half && (!t->half || t->half == half)) {
		t->half = half;
		memcpy(k->name, raw, sizeof(k->name));
		memcpy(k->secret, raw + sizeof(k->name), 2 * half);
	} else {
		snprintf(why, size, "wrong sized key on line %d", number + 1);
	}
	OPENSSL_cleanse(raw, sizeof(raw));
	return !*why;
}

static bool read_keys(struct tls_tickets *t, const char *path, char *why, size_t size)
{
	size_t len;
	char *text = file_load(path, 1 << 20, &len), *save = NULL, *line;
	int count = 0;

	if (!text) {
		snprintf(why, size, "unable to load ssl tickets keys file");
		return false;
	}
	t->read = hash_bytes(text, len, 0);
	for (line = strtok_r(text, "\r\n", &save);
	     line && take_key(t, line, count, why, size); line = strtok_r(NULL, "\r\n", &save))
		count++;
	OPENSSL_cleanse(text, len);
	free(text);
	if (!line && count < KEYS)
		snprintf(why, size, "please supply at least %d keys in the tls-tickets-file", KEYS);
	/* as the manual says: the last but one encrypts */
	t->current = (count + KEYS - 2) % KEYS;
	return !*why;
}

/* One that was read of the same file when it said the same, with a reference; NULL: none. Its keys
 * may be others meanwhile, by command.
 */
static struct tls_tickets *tickets_take(const struct tls_tickets *like)
{
	struct tls_tickets *t, *found = NULL;

	pthread_mutex_lock(&ticket_files_lock);
	list_for_each(t, &ticket_files, link)
		if (!found && t->read == like->read && strcmp(t->file, like->file) == 0)
			found = t;
	if (found)
		found->refs++;
	pthread_mutex_unlock(&ticket_files_lock);
	return found;
}

struct tls_tickets *tls_tickets_get(struct config *cfg, const char *path, char *why, size_t size)
{
	struct tls_tickets *t = calloc(1, sizeof(*t)), *known;

	if (!t)
		return NULL;
	t->refs = 1;
	pthread_mutex_init(&t->lock, NULL);
	list_init(&t->link);
	t->file = strdup(path);
	if (!t->file || !read_keys(t, path, why, size)) {
		tls_tickets_drop(&t);
		return NULL;
	}
	known = tickets_take(t);
	if (known) {
		tls_tickets_drop(&t);
		return known;
	}
	pthread_mutex_lock(&ticket_files_lock);
	list_prepend(&ticket_files, &t->link); /* the last one read has id 0 */
	pthread_mutex_unlock(&ticket_files_lock);
	return t;
}

void tls_tickets_drop(struct tls_tickets **pt)
{
	struct tls_tickets *t = *pt;
	bool last;

	*pt = NULL;
	if (!t)
		return;
	pthread_mutex_lock(&ticket_files_lock);
	last = --t->refs == 0;
	if (last && list_is_linked(&t->link))
		list_remove(&t->link);
	pthread_mutex_unlock(&ticket_files_lock);
	if (!last)
		return;
	OPENSSL_cleanse(t->keys, sizeof(t->keys));
	free(t->file);
	free(t);
}

/* Has a later generation read the file again, which said something else? With the lock. */
static bool is_outdated(const struct tls_tickets *t)
{
	for (const struct list *l = t->link.prev; l != &ticket_files; l = l->prev)
		if (strcmp(list_entry(l, struct tls_tickets, link)->file, t->file) == 0)
			return true;
	return false;
}

/* By its number in the order of the files, or by its name, counted; NULL: none. */
static struct tls_tickets *tickets_find_named(const char *which)
{
	struct tls_tickets *t, *found = NULL;
	const char *digits = which + (*which == '#');
	int wanted = ascii_is_digit(*digits) ? num_prefix_int(digits, NULL) : -1, id = 0;

	pthread_mutex_lock(&ticket_files_lock);
	list_for_each(t, &ticket_files, link) {
		if (is_outdated(t))
			continue;
		if (!found && (wanted == id || strcmp(t->file, which) == 0))
			found = t;
		id++;
	}
	if (found)
		found->refs++;
	pthread_mutex_unlock(&ticket_files_lock);
	return found;
}

/* From the oldest of them. */
static void show_keys(struct strbuf *out, struct tls_tickets *t, int id)
{
	unsigned char raw[80];
	char text[128];

	pthread_mutex_lock(&t->lock);
	for (int i = 0; i < KEYS; i++) {
		const struct ticket_key *k = &t->keys[(t->current + 2 + i) % KEYS];

		memcpy(raw, k->name, 16);
		memcpy(raw + 16, k->secret, 2 * t->half);
		EVP_EncodeBlock((unsigned char *)text, raw, (int)(16 + 2 * t->half));
		strbuf_printf(out, "%d.%d %s\n", id, i, text);
	}
	pthread_mutex_unlock(&t->lock);
	OPENSSL_cleanse(raw, sizeof(raw));
}

void tls_tickets_show(struct strbuf *out, const char *which)
{
	struct tls_tickets *t, *only = which && *which != '*' ? tickets_find_named(which) : NULL;
	int id = 0;

	pthread_mutex_lock(&ticket_files_lock);
	list_for_each(t, &ticket_files, link) {
		if (is_outdated(t))
			continue;
		if (!which || *which == '*' || t == only)
			strbuf_printf(out, "%s%d (%s)\n", which ? "# " : "", id, t->file);
		if (which && (*which == '*' || t == only))
			show_keys(out, t, id);
		id++;
	}
	pthread_mutex_unlock(&ticket_files_lock);
	tls_tickets_drop(&only);
}

bool tls_tickets_add(const char *which, const char *key, const char **error)
{
	struct tls_tickets *t = tickets_find_named(which);
	size_t len = strlen(key);
	unsigned char raw[96];
	int n = len && len <= 124 && len % 4 == 0 ?
		EVP_DecodeBlock(raw, (const unsigned char *)key, (int)len) : -1;
	struct ticket_key *k;

	*error = "'set ssl tls-key' unable to locate referenced filename";
	if (!t)
		return false;
	while (n > 0 && len && key[--len] == '=')
		n--;
	*error = n < 0 ? "'set ssl tls-key' received invalid base64 encoded TLS key."
		       : "'set ssl tls-key' received a key of wrong size.";
	if (n != (int)(16 + 2 * t->half)) {
		tls_tickets_drop(&t);
		return false;
	}
	pthread_mutex_lock(&t->lock);
	/* it takes the place of the oldest; the one before it encrypts now */
	k = &t->keys[(t->current + 2) % KEYS];
	memcpy(k->name, raw, 16);
	memcpy(k->secret, raw + 16, 2 * t->half);
	t->current = (t->current + 1) % KEYS;
	pthread_mutex_unlock(&t->lock);
	OPENSSL_cleanse(raw, sizeof(raw));
	tls_tickets_drop(&t);
	return true;
}

static bool set_mac(EVP_MAC_CTX *mac, const struct tls_tickets *t, const struct ticket_key *k)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY,
						  (void *)(uintptr_t)(k->secret + t->half),
						  t->half),
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)(uintptr_t)"SHA256",
						 0),
		OSSL_PARAM_construct_end(),
	};

	return EVP_MAC_CTX_set_params(mac, params) == 1;
}

/* OpenSSL's: 1 go on, 2 go on and give a new ticket, 0 unknown, -1 failed. */
static int ticket_key(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
		      EVP_MAC_CTX *mac, int encrypt)
{
	struct tls_conn *c = tls_now()->transport_ctx;
	struct tls_tickets *t = c->bind->tickets;
	const EVP_CIPHER *aes = t->half == 16 ? EVP_aes_128_cbc() : EVP_aes_256_cbc();
	struct ticket_key key;
	int age = 0;

	pthread_mutex_lock(&t->lock);
	while (!encrypt && age < KEYS &&
	       memcmp(t->keys[(t->current + KEYS - age) % KEYS].name, name, 16) != 0)
		age++;
	key = t->keys[(t->current + KEYS - age) % KEYS];
	pthread_mutex_unlock(&t->lock);
	if (age == KEYS)
		return 0;
	if (encrypt) {
		memcpy(name, key.name, 16);
		if (RAND_bytes(iv, EVP_CIPHER_get_iv_length(aes)) != 1)
			return -1;
	}
	if (EVP_CipherInit_ex(cipher, aes, NULL, key.secret, iv, encrypt) != 1 ||
	    !set_mac(mac, t, &key))
		return -1;
	OPENSSL_cleanse(&key, sizeof(key));
	return encrypt || !age ? 1 : 2;
}

void tls_tickets_attach(SSL_CTX *ctx)
{
	SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, ticket_key);
}

static unsigned char process_secret[64];
static bool has_secret;

static void make_secret(void)
{
	has_secret = RAND_priv_bytes(process_secret, sizeof(process_secret)) == 1;
}

void tls_ticket_keys_derive(SSL_CTX *ctx, const unsigned char *identity)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	unsigned char keys[2 * SHA512_DIGEST_LENGTH], what[1 + SHA256_DIGEST_LENGTH];
	long wanted = SSL_CTX_set_tlsext_ticket_keys(ctx, NULL, 0);
	bool good;

	pthread_once(&once, make_secret);
	memcpy(what + 1, identity, SHA256_DIGEST_LENGTH);
	good = has_secret && wanted > 0 && wanted <= (long)sizeof(keys);
	for (unsigned char half = 0; good && half < 2; half++) {
		what[0] = half;
		good = HMAC(EVP_sha512(), process_secret, sizeof(process_secret), what,
			    sizeof(what), keys + half * SHA512_DIGEST_LENGTH, NULL) != NULL;
	}
	/* else it has those that it was made with: random ones */
	if (good)
		SSL_CTX_set_tlsext_ticket_keys(ctx, keys, wanted);
	OPENSSL_cleanse(keys, sizeof(keys));
}
