/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store.c - the certificates, CA files and revocation lists of a generation, by name */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/door.h"
#include "base/file.h"
#include "base/hash.h"
#include "cert_priv.h"
#include "global_priv.h"
#include "ocsp_priv.h"
#include "store_priv.h"
#include "tls/tls.h"

#define FILE_MAX (64 << 20)
/* As many certificates are opened when they are read, to report immediately what is wrong with
 * them; with more, what der.c sees must do until they are used.
 */
#define OPENED_AT_ONCE 64

/* The name of the authorities that the system trusts. */
#define SYSTEM_CA "@system-ca"

/* What commands have made of a file. */
struct noted {
	struct tree_node node;   /* by hash of the name */
	struct tree_node by_age; /* in the order in which they began */
	const char *what;
	char name[];
};

struct tls_store {
	struct tree noted; /* owned */
	struct tree noted_by_age;
	uint64_t last_noted;
	struct tree certs; /* struct tls_entry.node, by hash of the name */
	struct tree cas;   /* struct tls_ca.node */
	unsigned loaded;
};

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool locked_here;

void tls_store_lock(void)
{
	BUG_ON(locked_here); /* it would wait for itself for ever */
	pthread_mutex_lock(&store_lock);
	locked_here = true;
}

void tls_store_unlock(void)
{
	locked_here = false;
	pthread_mutex_unlock(&store_lock);
}

/* Names and their certificates, for threads that look one up while commands change them. It is
 * taken for a moment only, below the store's lock.
 */
static pthread_rwlock_t names_lock = PTHREAD_RWLOCK_INITIALIZER;

static void entry_free(struct tls_entry *e)
{
	tls_ocsp_forget(e);
	tls_cert_drop(&e->cert);
	tls_cert_drop(&e->pending);
	free((char *)(uintptr_t)e->name);
	free(e->note);
	free(e);
}

void tls_ca_forget_pending(struct tls_ca *ca)
{
	sk_X509_pop_free(ca->pending, X509_free);
	sk_X509_CRL_pop_free(ca->pending_crls, X509_CRL_free);
	ca->pending = NULL;
	ca->pending_crls = NULL;
	ca->has_pending = false;
}

static void ca_free(struct tls_ca *ca)
{
	tls_ca_forget_pending(ca);
	sk_X509_pop_free(ca->certs, X509_free);
	sk_X509_CRL_pop_free(ca->crls, X509_CRL_free);
	free((char *)(uintptr_t)ca->name);
	free(ca);
}

static uint64_t key_of(const char *name)
{
	return hash_bytes(name, strlen(name), 0);
}

static struct noted *noted_find(const struct tls_store *s, const char *name, uint64_t key)
{
	for (struct tree_node *n = tree_find(&s->noted, key); n && n->key == key;
	     n = tree_next(n)) {
		struct noted *noted = container_of(n, struct noted, node);

		if (strcmp(noted->name, name) == 0)
			return noted;
	}
	return NULL;
}

static void noted_free(struct tls_store *s, struct noted *n)
{
	tree_remove(&s->noted, &n->node);
	tree_remove(&s->noted_by_age, &n->by_age);
	free(n);
}

void tls_store_note(struct tls_store *s, const char *name, const char *what)
{
	uint64_t key = key_of(name);
	struct noted *n = noted_find(s, name, key);
	size_t size = strlen(name) + 1;

	if (n && !what) {
		noted_free(s, n);
	} else if (n) {
		n->what = what;
	} else if (what && (n = malloc(sizeof(*n) + size))) {
		*n = (struct noted){ .what = what };
		memcpy(n->name, name, size);
		tree_insert(&s->noted, &n->node, key);
		tree_insert(&s->noted_by_age, &n->by_age, ++s->last_noted);
	}
}

bool tls_store_is_noted(const struct tls_store *s, const char *name)
{
	return noted_find(s, name, key_of(name)) != NULL;
}

void tls_each_change(const struct config *cfg, tls_change_fn *tell, void *data)
{
	tls_store_lock();
	for (struct tree_node *n = tree_first(&tls_store_of(cfg)->noted_by_age); n;
	     n = tree_next(n)) {
		const struct noted *noted = container_of(n, struct noted, by_age);

		tell(data, noted->name, noted->what);
	}
	tls_store_unlock();
}

static void store_fini(void *data)
{
	struct tls_store *s = data;
	struct tree_node *n;

	while ((n = tree_first(&s->noted)))
		noted_free(s, container_of(n, struct noted, node));
	while ((n = tree_first(&s->certs))) {
		tree_remove(&s->certs, n);
		entry_free(container_of(n, struct tls_entry, node));
	}
	while ((n = tree_first(&s->cas))) {
		tree_remove(&s->cas, n);
		ca_free(container_of(n, struct tls_ca, node));
	}
}

struct slot tls_store_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct tls_store), .fini = store_fini,
};

struct tls_store *tls_store_of(const struct config *cfg)
{
	return slot_of(&tls_store_slot, config_slots(cfg));
}

const char *tls_path(struct config *cfg, const char *base, const char *path)
{
	const char *full;

	if (!base || path[0] == '/' || path[0] == '@')
		return path;
	full = arena_printf(&cfg->arena, "%s/%s", base, path);
	return full ? full : path;
}

/* --- certificates ----------------------------------------------------------------------------- */

struct tls_entry *tls_store_find(struct tls_store *s, const char *name)
{
	uint64_t key = key_of(name);

	for (struct tree_node *n = tree_find(&s->certs, key); n && n->key == key;
	     n = tree_next(n)) {
		struct tls_entry *e = container_of(n, struct tls_entry, node);

		if (strcmp(e->name, name) == 0)
			return e;
	}
	return NULL;
}

struct tls_entry *tls_store_add(struct tls_store *s, const char *name, struct tls_cert *cert)
{
	struct tls_entry *e = calloc(1, sizeof(*e));

	if (e)
		e->name = strdup(name);
	if (!e || !e->name) {
		free(e);
		return NULL;
	}
	e->cert = cert;
	if (cert)
		tls_cert_set_name(cert, name);
	list_init(&e->uses);
	pthread_rwlock_wrlock(&names_lock);
	tree_insert(&s->certs, &e->node, key_of(name));
	pthread_rwlock_unlock(&names_lock);
	return e;
}

void tls_store_remove(struct tls_store *s, struct tls_entry *e)
{
	pthread_rwlock_wrlock(&names_lock);
	tree_remove(&s->certs, &e->node);
	pthread_rwlock_unlock(&names_lock);
	entry_free(e);
}

void tls_store_set_cert(struct tls_entry *e, struct tls_cert *cert)
{
	if (cert && !cert->name)
		tls_cert_set_name(cert, e->name);
	pthread_rwlock_wrlock(&names_lock);
	e->cert = cert;
	pthread_rwlock_unlock(&names_lock);
}

struct tls_cert *tls_store_take(const struct config *cfg, const char *name, bool *jwt)
{
	struct tls_cert *c = NULL;
	struct tls_entry *e;

	pthread_rwlock_rdlock(&names_lock);
	e = tls_store_find(tls_store_of(cfg), name);
	if (e && e->cert)
		c = tls_cert_take(e->cert);
	*jwt = e && __atomic_load_n(&e->jwt, __ATOMIC_RELAXED);
	pthread_rwlock_unlock(&names_lock);
	return c;
}

struct tls_entry *tls_store_first(struct tls_store *s)
{
	struct tree_node *n = tree_first(&s->certs);

	return n ? container_of(n, struct tls_entry, node) : NULL;
}

struct tls_entry *tls_store_next(struct tls_entry *e)
{
	struct tree_node *n = tree_next(&e->node);

	return n ? container_of(n, struct tls_entry, node) : NULL;
}

/* The name of a companion file, if such files are looked for. */
static const char *companion(struct config *cfg, const char *path, const char *extension,
			     unsigned which)
{
	const struct tls_global *g = tls_global_of(cfg);
	const char *dot = g->extra_replaces_extension ? strrchr(path, '.') : NULL;
	int len = dot && strcmp(dot, ".crt") == 0 ? (int)(dot - path) : (int)strlen(path);

	if (!(g->extra_files & which))
		return NULL;
	return arena_printf(&cfg->arena, "%.*s%s", len, path, extension);
}

struct tls_entry *tls_store_load(struct config *cfg, const char *name,
				 const struct tls_cert_files *given, char *why, size_t size)
{
	struct tls_store *s = tls_store_of(cfg);
	struct tls_cert_files f = *given;
	struct tls_entry *e;
	struct tls_cert *c;

	*why = 0;
	f.named = (uint8_t)((f.key ? 1 << TLS_PART_KEY : 0) | (f.ocsp ? 1 << TLS_PART_OCSP : 0) |
			    (f.issuer ? 1 << TLS_PART_ISSUER : 0) |
			    (f.sctl ? 1 << TLS_PART_SCTL : 0));
	f.phrases = tls_global_of(cfg)->phrases;
	if (!f.key)
		f.key = companion(cfg, f.crt, ".key", TLS_EXTRA_KEY);
	if (!f.ocsp)
		f.ocsp = companion(cfg, f.crt, ".ocsp", TLS_EXTRA_OCSP);
	if (!f.issuer)
		f.issuer = companion(cfg, f.crt, ".issuer", TLS_EXTRA_ISSUER);
	if (!f.sctl)
		f.sctl = companion(cfg, f.crt, ".sctl", TLS_EXTRA_SCTL);
	c = tls_cert_load(&f, s->loaded++ < OPENED_AT_ONCE, why, size);
	if (!c)
		return NULL;
	if (tls_global_of(cfg)->chains)
		tls_chains_complete(tls_global_of(cfg)->chains, c);
	e = tls_store_add(s, name, c);
	if (!e) {
		tls_cert_drop(&c);
		snprintf(why, size, "out of memory.");
		return NULL;
	}
	e->files = f;
	if (*why && !cfg->is_checked)
		e->note = strdup(why);
	*why = 0;
	return e;
}

struct tls_entry *tls_store_cert(struct config *cfg, const char *path, char *why, size_t size)
{
	struct tls_entry *e = tls_store_find(tls_store_of(cfg), path);
	struct tls_cert_files f = { .crt = path };

	return e ? e : tls_store_load(cfg, path, &f, why, size);
}

/* --- CA files and revocation lists ------------------------------------------------------------ */

struct tls_ca *tls_store_ca_find(struct tls_store *s, const char *name)
{
	uint64_t key = key_of(name);

	for (struct tree_node *n = tree_find(&s->cas, key); n && n->key == key; n = tree_next(n)) {
		struct tls_ca *ca = container_of(n, struct tls_ca, node);

		if (strcmp(ca->name, name) == 0)
			return ca;
	}
	return NULL;
}

struct tls_ca *tls_store_ca_first(struct tls_store *s)
{
	struct tree_node *n = tree_first(&s->cas);

	return n ? container_of(n, struct tls_ca, node) : NULL;
}

struct tls_ca *tls_store_ca_next(struct tls_ca *ca)
{
	struct tree_node *n = tree_next(&ca->node);

	return n ? container_of(n, struct tls_ca, node) : NULL;
}

bool tls_ca_read(struct slice pem, STACK_OF(X509) **certs, STACK_OF(X509_CRL) **crls)
{
	BIO *bio = BIO_new_mem_buf(pem.ptr, (int)pem.len);
	STACK_OF(X509_INFO) *all = bio ? PEM_X509_INFO_read_bio(bio, NULL, NULL, NULL) : NULL;
	bool good = all != NULL;

	BIO_free(bio);
	if (!*certs)
		*certs = sk_X509_new_null();
	if (!*crls)
		*crls = sk_X509_CRL_new_null();
	for (int i = 0; good && i < sk_X509_INFO_num(all); i++) {
		X509_INFO *one = sk_X509_INFO_value(all, i);

		if (one->x509 && sk_X509_push(*certs, one->x509))
			one->x509 = NULL;
		if (one->crl && sk_X509_CRL_push(*crls, one->crl))
			one->crl = NULL;
	}
	sk_X509_INFO_pop_free(all, X509_INFO_free);
	ERR_clear_error();
	return good && (sk_X509_num(*certs) || sk_X509_CRL_num(*crls));
}

static bool read_one(struct tls_ca *ca, const char *path)
{
	size_t len;
	char *text = file_load(path, FILE_MAX, &len);
	bool good = text && tls_ca_read(slice_make(text, len), &ca->certs, &ca->crls);

	if (text && !good)
		errno = 0;
	free(text);
	return good;
}

static bool is_of_certificates(const char *name)
{
	static const char *const ends[] = { ".pem", ".crt", ".cer", ".crl" };
	const char *end = strrchr(name, '.');

	for (size_t i = 0; end && i < ARRAY_LEN(ends); i++)
		if (strcmp(end, ends[i]) == 0)
			return true;
	return false;
}

/* Every file of a directory that is named like certificates; what is none is passed over. */
static bool read_directory(struct tls_ca *ca, const char *path)
{
	char *names = door_list(path);
	char name[4096];

	if (!names)
		return false;
	for (const char *at = names; *at; at += strlen(at) + 1) {
		snprintf(name, sizeof(name), "%s/%s", path, at);
		if (is_of_certificates(at))
			read_one(ca, name);
	}
	free(names);
	return true;
}

static int by_contents(const X509 *const *a, const X509 *const *b)
{
	return X509_cmp(*a, *b);
}

/* A system's folder has each of them alone, and all of them in one file. */
static void drop_twins(STACK_OF(X509) *certs)
{
	sk_X509_set_cmp_func(certs, by_contents);
	sk_X509_sort(certs);
	for (int i = sk_X509_num(certs) - 1; i > 0; i--)
		if (X509_cmp(sk_X509_value(certs, i - 1), sk_X509_value(certs, i)) == 0)
			X509_free(sk_X509_delete(certs, i));
}

const char *tls_system_place(unsigned n)
{
	const char *said = getenv(n ? X509_get_default_cert_file_env()
				    : X509_get_default_cert_dir_env());

	if (n > 1)
		return NULL;
	if (said)
		return said;
	return n ? X509_get_default_cert_file() : X509_get_default_cert_dir();
}

/* Where the TLS library would look, but now: at a handshake it would be too late in another root
 * folder, or in the sandbox. A system may have none.
 */
static void read_system(struct tls_ca *ca)
{
	read_directory(ca, tls_system_place(0));
	if (!sk_X509_num(ca->certs))
		read_one(ca, tls_system_place(1));
	if (ca->certs)
		drop_twins(ca->certs);
	ca->is_system = true;
}

static bool read_any(struct tls_ca *ca, const char *path)
{
	int kind;

	if (strcmp(path, SYSTEM_CA) == 0) {
		read_system(ca);
		return true;
	}
	kind = door_kind(path);
	if (kind < 0)
		return false;
	return kind == DOOR_DIRECTORY ? read_directory(ca, path) : read_one(ca, path);
}

bool tls_ca_sum(struct tls_ca *ca)
{
	unsigned char one[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *m = EVP_MD_CTX_new();
	bool good = m && EVP_DigestInit_ex(m, EVP_sha256(), NULL) == 1;
	unsigned len;

	for (int i = 0; good && i < sk_X509_num(ca->certs); i++)
		good = X509_digest(sk_X509_value(ca->certs, i), EVP_sha256(), one, &len) == 1 &&
		       EVP_DigestUpdate(m, one, len) == 1;
	for (int i = 0; good && i < sk_X509_CRL_num(ca->crls); i++)
		good = X509_CRL_digest(sk_X509_CRL_value(ca->crls, i), EVP_sha256(), one,
				       &len) == 1 && EVP_DigestUpdate(m, one, len) == 1;
	good = good && EVP_DigestFinal_ex(m, ca->sum, NULL) == 1;
	EVP_MD_CTX_free(m);
	return good;
}

struct tls_ca *tls_store_ca_new(struct tls_store *s, const char *name, bool crl)
{
	struct tls_ca *ca = calloc(1, sizeof(*ca));

	if (ca)
		ca->name = strdup(name);
	if (!ca || !ca->name) {
		free(ca);
		return NULL;
	}
	ca->is_crl = crl;
	if (!tls_ca_sum(ca)) {
		ca_free(ca);
		return NULL;
	}
	tree_insert(&s->cas, &ca->node, key_of(name));
	return ca;
}

void tls_store_ca_remove(struct tls_store *s, struct tls_ca *ca)
{
	tree_remove(&s->cas, &ca->node);
	ca_free(ca);
}

struct tls_ca *tls_store_ca(struct config *cfg, const char *path, bool crl, char *why, size_t size)
{
	struct tls_store *s = tls_store_of(cfg);
	struct tls_ca *ca = tls_store_ca_find(s, path);

	if (ca)
		return ca;
	ca = tls_store_ca_new(s, path, crl);
	if (!ca) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	if (read_any(ca, path) && tls_ca_sum(ca))
		return ca;
	if (errno)
		snprintf(why, size, "Couldn't open the ca-file '%s' (%s).", path, strerror(errno));
	else
		snprintf(why, size, "Couldn't load the ca-file '%s': no certificate in it.", path);
	tls_store_ca_remove(s, ca);
	return NULL;
}

struct tls_ca *tls_store_ca_named(struct config *cfg, const char *name)
{
	struct tls_store *s = tls_store_of(cfg);
	struct tls_ca *ca = tls_store_ca_find(s, name);
	char why[512];

	if (ca || strcmp(name, SYSTEM_CA) != 0)
		return ca;
	ca = tls_store_ca(cfg, name, false, why, sizeof(why));
	if (!ca || sk_X509_num(ca->certs) > 0)
		return ca;
	tls_store_ca_remove(s, ca);
	return NULL;
}
