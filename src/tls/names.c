/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.c - the certificate for a host name
 *
 * An immutable table per bind line: open addressing over exact names and over wildcards, which are
 * stored by the part after their star. A look-up is one probe for the name and one for its part
 * after the first dot. A command that changes certificates builds another table and publishes it;
 * each thread switches to it with its next handshake, or when it is notified, and the last one to
 * do so frees the old one: no lock is taken unless something changed.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/hash.h"
#include "bind_priv.h"
#include "cert_priv.h"
#include "conf/conf.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "names_priv.h"
#include "store_priv.h"

struct row {
	struct row *next;            /* of the same name, in order of the configuration */
	const char *name;            /* lower case, in <texts>; wildcards without "*" */
	uint32_t len;
	uint32_t hash;
	struct tls_use *use;
	struct tls_cert *cert;       /* counted */
	bool wildcard, negative;
};

/* A tls_ctx as it was when the table was made. */
struct named_ctx {
	SSL_CTX *ssl;                /* counted */
	unsigned char identity[TLS_DIGEST]; /* the first bytes of it */
};

struct tls_names {
	unsigned refs;               /* atomic: the bind line's and the threads' */
	unsigned count, room, mask;
	struct row *rows;            /* <count> of them, in order */
	struct row **table;          /* by hash: the first row of a name; mask + 1 places */
	char *texts;
	size_t texts_len, texts_room;
	struct tls_choice fallback;  /* counted certificates */
	struct named_ctx *ctxs;      /* of each tls_ctx, by its index */
	unsigned ctx_count;
	bool failed;
};

struct tls_seen {
	struct tls_names *names;     /* counted; of one thread */
	unsigned version;
};

static pthread_mutex_t publish_lock = PTHREAD_MUTEX_INITIALIZER;

static void choice_drop(struct tls_choice *c)
{
	for (int i = 0; i < TLS_KEY_TYPES; i++)
		tls_cert_drop(&c->cert[i]);
}

static void names_drop(struct tls_names *n)
{
	if (!n || __atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (unsigned i = 0; i < n->count; i++)
		tls_cert_drop(&n->rows[i].cert);
	choice_drop(&n->fallback);
	for (unsigned i = 0; i < n->ctx_count; i++)
		SSL_CTX_free(n->ctxs[i].ssl);
	free(n->ctxs);
	free(n->rows);
	free(n->table);
	free(n->texts);
	free(n);
}

/* --- building --------------------------------------------------------------------------------- */

struct builder {
	struct tls_names *names;
	struct tls_use *use;
	unsigned first;              /* row of the use */
};

static bool grow(struct tls_names *n, size_t text)
{
	if (n->count == n->room) {
		unsigned room = n->room ? n->room * 2 : 16;
		struct row *rows = realloc(n->rows, room * sizeof(*rows));

		if (!rows)
			return false;
		n->rows = rows;
		n->room = room;
	}
	if (n->texts_len + text > n->texts_room) {
		size_t room = (n->texts_room + text) * 2;
		char *texts = realloc(n->texts, room);

		if (!texts)
			return false;
		n->texts = texts;
		n->texts_room = room;
	}
	return true;
}

static void add_choice(struct tls_choice *c, const struct tls_use *u)
{
	struct tls_cert *cert = u->entry->cert;

	if (c->cert[cert->type])
		return;
	c->cert[cert->type] = tls_cert_take(cert);
	c->ctx[cert->type] = u->ctx;
}

/* Keeps the contexts that its rows lead to. */
static bool take_contexts(struct tls_names *n, const struct tls_bind *b)
{
	unsigned count = 0;

	for (struct tls_ctx *c = b->ctxs; c; c = c->next)
		count++;
	n->ctxs = calloc(count ? count : 1, sizeof(*n->ctxs));
	if (!n->ctxs)
		return false;
	n->ctx_count = count;
	for (struct tls_ctx *c = b->ctxs; c; c = c->next) {
		struct named_ctx *to = &n->ctxs[c->index];

		SSL_CTX_up_ref(c->ssl);
		to->ssl = c->ssl;
		memcpy(to->identity, c->identity, sizeof(to->identity));
	}
	return true;
}

SSL_CTX *tls_names_ssl(const struct tls_names *n, const struct tls_ctx *c)
{
	return n->ctxs[c->index].ssl;
}

bool tls_names_bind_session(const struct tls_names *n, const struct tls_ctx *c, SSL *ssl,
			    const struct tls_cert *cert)
{
	unsigned char id[SSL_MAX_SID_CTX_LENGTH];

	static_assert(sizeof(id) == 2 * TLS_DIGEST, "halves of a session context");
	memcpy(id, n->ctxs[c->index].identity, TLS_DIGEST);
	memcpy(id + TLS_DIGEST, cert->digest, TLS_DIGEST);
	return SSL_set_session_id_context(ssl, id, sizeof(id)) == 1;
}

/* Was this name of the same use added before? A common name is often an alternative one too. */
static bool is_known(const struct tls_names *n, const struct builder *b, struct slice name,
		     const struct row *r)
{
	for (unsigned i = b->first; i < n->count; i++) {
		const struct row *it = &n->rows[i];
		struct slice text = slice_make(n->texts + (uintptr_t)it->name, it->len);

		if (it->wildcard == r->wildcard && it->negative == r->negative &&
		    slice_eq_nocase(text, name))
			return true;
	}
	return false;
}

static void add_name(void *ctx, struct slice name)
{
	struct builder *b = ctx;
	struct tls_names *n = b->names;
	bool negative = name.len && name.ptr[0] == '!';
	struct row *r;

	if (negative)
		name = slice_make(name.ptr + 1, name.len - 1);
	if (!name.len)
		return;
	if (name.len == 1 && name.ptr[0] == '*') {
		b->use->is_for_all |= !negative;
		return;
	}
	if (!grow(n, name.len)) {
		n->failed = true;
		return;
	}
	r = &n->rows[n->count];
	*r = (struct row){ .use = b->use, .negative = negative, .wildcard = name.ptr[0] == '*' };
	if (r->wildcard)
		name = slice_make(name.ptr + 1, name.len - 1);
	if (is_known(n, b, name, r))
		return;
	/* an offset for now: the text may move */
	r->name = (const char *)(uintptr_t)n->texts_len;
	r->len = (uint32_t)name.len;
	for (size_t i = 0; i < name.len; i++)
		n->texts[n->texts_len++] = ascii_lower(name.ptr[i]);
	r->cert = tls_cert_take(b->use->entry->cert);
	n->count++;
}

/* Takes the names of a use over from the table before, if its certificate is still that one:
 * reading them is most of what a table costs. False: it has none there.
 */
static bool carry_over(struct tls_names *n, const struct tls_names *old, const struct tls_use *u)
{
	if (!old || !u->rows || u->row + u->rows > old->count)
		return false;
	for (unsigned i = u->row; i < u->row + u->rows; i++)
		if (old->rows[i].use != u || old->rows[i].cert != u->entry->cert)
			return false;
	for (unsigned i = u->row; i < u->row + u->rows; i++) {
		const struct row *from = &old->rows[i];

		if (!grow(n, from->len)) {
			n->failed = true;
			return true;
		}
		n->rows[n->count] = *from;
		n->rows[n->count].name = (const char *)(uintptr_t)n->texts_len;
		n->rows[n->count].cert = tls_cert_take(from->cert);
		memcpy(n->texts + n->texts_len, from->name, from->len);
		n->texts_len += from->len;
		n->count++;
	}
	return true;
}

static void add_use(struct tls_names *n, const struct tls_names *old, struct tls_use *u)
{
	struct builder b = { n, u, n->count };
	bool positive = false;

	if (!u->entry->cert || carry_over(n, old, u))
		return;
	for (unsigned i = 0; i < u->filter_count; i++) {
		add_name(&b, u->filters[i]);
		positive |= u->filters[i].ptr[0] != '!';
	}
	if (!positive)
		tls_cert_names(u->entry->cert, add_name, &b);
}

static uint32_t hash_name(const char *p, size_t len, bool wildcard)
{
	return (uint32_t)hash_bytes(p, len, wildcard);
}

static bool same_name(const struct row *r, const char *p, size_t len, bool wildcard)
{
	return r->len == len && r->wildcard == wildcard && memcmp(r->name, p, len) == 0;
}

static struct row **place_of(const struct tls_names *n, const char *p, size_t len, bool wildcard,
			     uint32_t hash)
{
	uint32_t at = hash & n->mask;

	while (n->table[at] && !(n->table[at]->hash == hash &&
				 same_name(n->table[at], p, len, wildcard)))
		at = (at + 1) & n->mask;
	return &n->table[at];
}

static bool index_rows(struct tls_names *n)
{
	unsigned size = 16;

	while (size < n->count * 2)
		size *= 2;
	n->mask = size - 1;
	n->table = calloc(size, sizeof(*n->table));
	if (!n->table)
		return false;
	/* backwards: the first of the configuration is found first */
	for (unsigned i = n->count; i-- > 0;) {
		struct row *r = &n->rows[i], **place;

		r->name = n->texts + (uintptr_t)r->name;
		r->hash = hash_name(r->name, r->len, r->wildcard);
		place = place_of(n, r->name, r->len, r->wildcard, r->hash);
		r->next = *place;
		*place = r;
	}
	return true;
}

bool tls_use_is_default(const struct tls_use *u, const struct tls_use *first)
{
	return u == first || u->is_default ||
	       (u->in_bundle && first->in_bundle && u->line == first->line &&
		u->list == first->list);
}

/* Of each type what comes first of the certificates of default-crt lines, those of filters "*", and
 * the first one with the others of its bundle.
 */
static void find_fallback(struct tls_names *n, struct tls_bind *b)
{
	struct tls_use *u, *first = NULL;

	list_for_each(u, &b->uses, of_bind) {
		if (!first)
			first = u;
		if (u->entry->cert && (u->is_for_all || tls_use_is_default(u, first)))
			add_choice(&n->fallback, u);
	}
}

/* Which rows are whose, for the next table. */
static void count_rows(const struct tls_names *n, struct tls_bind *b)
{
	struct tls_use *u;

	list_for_each(u, &b->uses, of_bind)
		u->row = u->rows = 0;
	for (unsigned i = 0; i < n->count; i++) {
		u = n->rows[i].use;
		if (!u->rows++)
			u->row = i;
	}
}

/* --- publishing ------------------------------------------------------------------------------- */

/* To a thread that has not had a handshake since: keys that were replaced must not stay. */
struct spread {
	struct message message;
	struct tls_bind *bind;
	struct config *config;       /* counted: keeps the line */
};

static void spread_arrives(struct message *m)
{
	struct spread *s = container_of(m, struct spread, message);

	if (s->bind->seen[thread_id].names)
		tls_names_get(s->bind);
	config_drop(&s->config);
	free(s);
}

/* Has all threads let go of the former table (else with their next handshake: no memory). */
static void spread(struct tls_bind *b)
{
	/* (a line of no generation has no loops to tell) */
	for (unsigned i = 0; b->cfg && b->seen && i < thread_count(); i++) {
		struct spread *s = malloc(sizeof(*s));

		if (!s)
			return;
		*s = (struct spread){ .message.run = spread_arrives, .bind = b,
				      .config = config_take(b->cfg) };
		mailbox_post(i, &s->message);
	}
}

bool tls_names_publish(struct tls_bind *b)
{
	struct tls_names *n = calloc(1, sizeof(*n)), *old;
	struct tls_use *u;

	if (!n)
		return false;
	n->refs = 1;
	list_for_each(u, &b->uses, of_bind)
		add_use(n, b->names, u);
	if (n->failed || !take_contexts(n, b) || !index_rows(n)) {
		names_drop(n);
		return false;
	}
	find_fallback(n, b);
	count_rows(n, b);
	pthread_mutex_lock(&publish_lock);
	old = b->names;
	b->names = n;
	__atomic_add_fetch(&b->version, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&publish_lock);
	names_drop(old);
	spread(b);
	return true;
}

/* One place per thread, made by the first that comes. NULL: no memory. */
static struct tls_seen *make_seen(struct tls_bind *b)
{
	struct tls_seen *seen;

	pthread_mutex_lock(&publish_lock);
	seen = b->seen ? b->seen : calloc(thread_count(), sizeof(*seen));
	__atomic_store_n(&b->seen, seen, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&publish_lock);
	return seen;
}

const struct tls_names *tls_names_get(struct tls_bind *b)
{
	struct tls_seen *s = __atomic_load_n(&b->seen, __ATOMIC_ACQUIRE);
	struct tls_names *old;

	if (unlikely(!s))
		s = make_seen(b);
	if (unlikely(!s))
		return NULL;
	s += thread_id;
	if (likely(s->version == __atomic_load_n(&b->version, __ATOMIC_ACQUIRE)))
		return s->names;
	old = s->names;
	pthread_mutex_lock(&publish_lock);
	s->names = b->names;
	__atomic_add_fetch(&s->names->refs, 1, __ATOMIC_RELAXED);
	s->version = b->version;
	pthread_mutex_unlock(&publish_lock);
	names_drop(old);
	return s->names;
}

void tls_names_fini(struct tls_bind *b)
{
	for (unsigned i = 0; b->seen && i < thread_count(); i++)
		names_drop(b->seen[i].names);
	free(b->seen);
	b->seen = NULL;
	names_drop(b->names);
	b->names = NULL;
}

/* --- looking up ------------------------------------------------------------------------------- */

/* Is <host> excluded from what <use> serves? */
static bool excluded(const struct row *exact, const struct tls_use *use)
{
	for (; exact; exact = exact->next)
		if (exact->negative && exact->use == use)
			return true;
	return false;
}

/* Adds what rows lead to: the first of each type. */
static bool collect(const struct row *r, const struct row *exact, struct tls_choice *out)
{
	bool any = false;

	for (; r; r = r->next) {
		if (r->negative || excluded(exact, r->use))
			continue;
		any = true;
		if (out->cert[r->cert->type])
			continue;
		out->cert[r->cert->type] = r->cert;
		out->ctx[r->cert->type] = r->use->ctx;
	}
	return any;
}

static bool choice_is_empty(const struct tls_choice *c)
{
	for (int i = 0; i < TLS_KEY_TYPES; i++)
		if (c->cert[i])
			return false;
	return true;
}

bool tls_names_find(const struct tls_names *n, struct slice host, bool strict,
		    struct tls_choice *out)
{
	const struct row *exact = NULL;
	bool found = false;
	const char *dot;
	char name[256];

	*out = (struct tls_choice){ 0 };
	if (host.len && host.len < sizeof(name)) {
		for (size_t i = 0; i < host.len; i++)
			name[i] = ascii_lower(host.ptr[i]);
		exact = *place_of(n, name, host.len, false, hash_name(name, host.len, false));
		found = collect(exact, exact, out);
		/* types of keys that the name itself has not come by its wildcard */
		dot = memchr(name, '.', host.len);
		if (dot) {
			size_t len = host.len - (size_t)(dot - name);

			found |= collect(*place_of(n, dot, len, true, hash_name(dot, len, true)),
					 exact, out);
		}
	}
	if (found)
		return true;
	if (strict)
		return false;
	*out = n->fallback;
	out->is_default = true;
	return !choice_is_empty(out);
}

bool tls_names_row(const struct tls_names *n, unsigned i, struct tls_name_row *out)
{
	const struct row *r = &n->rows[i];

	if (i >= n->count)
		return false;
	*out = (struct tls_name_row){ .name = slice_make(r->name, r->len), .wildcard = r->wildcard,
				      .negative = r->negative, .use = r->use };
	return true;
}
