/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind.c - bind lines with TLS: their certificates, their contexts, the connections they accept */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/door.h"
#include "base/file.h"
#include "bind_priv.h"
#include "cert_priv.h"
#include "conn_priv.h"
#include "ctx_priv.h"
#include "global_priv.h"
#include "identity_priv.h"
#include "line_priv.h"
#include "names_priv.h"
#include "ocsp_priv.h"
#include "session_priv.h"
#include "store_priv.h"

static bool bind_slot_init(void *data)
{
	struct tls_bind *b = data;

	list_init(&b->uses);
	list_init(&b->link);
	return true;
}

static void bind_slot_fini(void *data)
{
	struct tls_bind *b = data;

	tls_names_fini(b);
	for (struct tls_ctx *c = b->ctxs; c; c = c->next)
		SSL_CTX_free(c->ssl);
	b->ctxs = NULL;
	tls_tickets_drop(&b->tickets);
	tls_forge_free(&b->forge);
	if (list_is_linked(&b->link))
		list_remove(&b->link);
}

struct slot tls_bind_slot = {
	.of = SLOT_BIND, .size = sizeof(struct tls_bind),
	.init = bind_slot_init, .fini = bind_slot_fini,
};

static struct tls_bind *bind_of(const struct slot_area *area)
{
	return slot_of(&tls_bind_slot, area);
}

bool tls_bind_is_on(const struct slot_area *area)
{
	return bind_of(area)->on;
}

void tls_bind_line(struct config *cfg, struct slot_area *area)
{
	bind_of(area)->defaults = tls_defaults_take(cfg);
}

/* --- certificates of a line ------------------------------------------------------------------- */

static struct tls_use *tls_bind_use(struct config *cfg, struct tls_bind *b, struct tls_entry *e)
{
	struct tls_use *u = arena_zalloc(&cfg->arena, sizeof(*u));

	if (!u)
		return NULL;
	u->bind = b;
	u->entry = e;
	list_append(&b->uses, &u->of_bind);
	list_append(&e->uses, &u->of_entry);
	return u;
}

static bool has_reserved_extension(const char *name)
{
	static const char *const extensions[] = { ".issuer", ".ocsp", ".sctl", ".key" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++) {
		size_t n = strlen(extensions[i]);

		if (len >= n && strcmp(name + len - n, extensions[i]) == 0)
			return true;
	}
	return false;
}

/* Says what a line wants otherwise than another one did. Always false. */
static bool differs(struct tls_add *a, const struct tls_entry *e, const char *what, const char *was,
		    const char *now)
{
	snprintf(a->why, sizeof(a->why), "'%.150s' is already defined with incompatible parameters:"
		 " different parameter '%s' : previously '%.100s' vs '%.100s'", e->name, what,
		 was ? was : "(none)", now);
	return false;
}

/* Was <e> read from the files that the line names? */
static bool same_files(struct tls_add *a, const struct tls_entry *e)
{
	const struct tls_cert_files *f = &a->files;
	const struct { const char *what, *now, *was; } files[] = {
		{ "key", f->key, e->files.key }, { "ocsp", f->ocsp, e->files.ocsp },
		{ "issuer", f->issuer, e->files.issuer }, { "sctl", f->sctl, e->files.sctl },
	};

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (files[i].now && (!files[i].was || strcmp(files[i].now, files[i].was) != 0))
			return differs(a, e, files[i].what, files[i].was, files[i].now);
	return true;
}

static bool mode_of(const struct tls_add *a, uint8_t update)
{
	return update ? update == TLS_OCSP_UPDATE_ON : tls_global_of(a->cfg)->ocsp_mode;
}

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

/* All lines must say the same about a certificate. */
static bool agrees(struct tls_add *a, struct tls_entry *e)
{
	bool first = list_is_empty(&e->uses) && !e->in_store;

	if (first || (e->in_store && !a->ocsp_update)) {
		if (first)
			e->ocsp_update = a->ocsp_update;
		return true;
	}
	return mode_of(a, a->ocsp_update) == mode_of(a, e->ocsp_update) ||
	       differs(a, e, "ocsp-update", on_off(mode_of(a, e->ocsp_update)),
		       on_off(mode_of(a, a->ocsp_update)));
}

/* The certificate of <path>, with what the line says of it. NULL: a->why. */
static struct tls_entry *entry_of(struct tls_add *a, const char *path)
{
	struct tls_entry *e = tls_store_find(tls_store_of(a->cfg), path);
	struct tls_cert_files f = a->files;

	f.crt = path;
	if (e && !same_files(a, e))
		return NULL;
	if (!e)
		e = tls_store_load(a->cfg, path, &f, a->why, sizeof(a->why));
	if (e && e->cert && !tls_cert_has_key(e->cert)) {
		snprintf(a->why, sizeof(a->why), "No Private Key found in '%.400s'.", path);
		return NULL;
	}
	if (!e || !agrees(a, e))
		return NULL;
	e->files.may_lack_key = false;
	if (a->jwt == TLS_OCSP_UPDATE_ON)
		__atomic_store_n(&e->jwt, true, __ATOMIC_RELAXED);
	return e;
}

static bool add_file(struct tls_add *a, const char *path, bool in_bundle)
{
	struct tls_entry *e = entry_of(a, path);
	struct tls_use *u = e ? tls_bind_use(a->cfg, a->bind, e) : NULL;

	if (!u)
		return false;
	u->is_default = a->is_default;
	u->in_bundle = in_bundle;
	u->own = a->own;
	u->filters = a->filters;
	u->filter_count = a->filter_count;
	u->list = a->list;
	u->options = a->options;
	u->line = a->line;
	return true;
}

static bool add_directory(struct tls_add *a, const char *path)
{
	char *names = door_list(path);
	bool good = true;
	size_t len;

	if (!names) {
		snprintf(a->why, sizeof(a->why), "unable to scan directory '%s' : %s.", path,
			 strerror(errno));
		return false;
	}
	for (len = strlen(path); len > 1 && path[len - 1] == '/';)
		len--;
	a->list = arena_printf(&a->cfg->arena, "%.*s", (int)len, path);
	a->line = 0;
	for (const char *at = names; good && *at; at += strlen(at) + 1) {
		const char *file;

		if (has_reserved_extension(at))
			continue;
		file = arena_printf(&a->cfg->arena, "%s/%s", a->list, at);
		a->line++;
		if (file && door_kind(file) == DOOR_REGULAR)
			good = add_file(a, file, false);
	}
	free(names);
	return good;
}

/* <path>.rsa, .ecdsa, .dsa: those that are there. */
static int add_bundle(struct tls_add *a, const char *path)
{
	static const char *const types[] = { ".dsa", ".ecdsa", ".rsa" };
	int found = 0;
	int saved = errno;

	for (int i = 0; i < 3; i++) {
		const char *file = arena_printf(&a->cfg->arena, "%s%s", path, types[i]);

		if (!file || (door_kind(file) < 0 &&
			      !tls_store_find(tls_store_of(a->cfg), file)))
			continue;
		if (!add_file(a, file, true))
			return -1;
		found++;
	}
	errno = saved;
	return found;
}

bool tls_bind_add_path(struct tls_add *a, const char *path)
{
	const struct tls_global *g = tls_global_of(a->cfg);
	const char *full = tls_path(a->cfg, g->crt_base, path);
	int n, kind;

	if (tls_store_find(tls_store_of(a->cfg), path))
		return add_file(a, path, false);
	if (tls_store_find(tls_store_of(a->cfg), full))
		return add_file(a, full, false);
	kind = door_kind(full);
	if (kind >= 0)
		return kind == DOOR_DIRECTORY ? add_directory(a, full) : add_file(a, full, false);
	n = g->extra_files & TLS_EXTRA_BUNDLE ? add_bundle(a, full) : 0;
	if (n)
		return n > 0;
	snprintf(a->why, sizeof(a->why), "unable to stat SSL certificate from file '%s' : %s.",
		 full, strerror(errno));
	return false;
}

/* --- contexts --------------------------------------------------------------------------------- */

/* (sessions get a session context with the certificate, too: tls_names_bind_session()) */
static SSL_CTX *make_ssl(struct tls_bind *b, const struct tls_settings *set,
			 const unsigned char *identity, char *why, size_t size)
{
	SSL_CTX *ssl = tls_ctx_make(b->cfg, set, false, why, size);

	if (!ssl)
		return NULL;
	SSL_CTX_set_session_id_context(ssl, identity, SSL_MAX_SID_CTX_LENGTH);
	if (b->tickets)
		tls_tickets_attach(ssl);
	else
		tls_ticket_keys_derive(ssl, identity);
	if (!set->ca_file)
		SSL_CTX_set_mode(ssl, SSL_MODE_NO_AUTO_CHAIN);
	return ssl;
}

bool tls_bind_renew(struct tls_bind *b, struct tls_ctx *c, char *why, size_t size)
{
	unsigned char identity[sizeof(c->identity)];
	SSL_CTX *ssl;

	if (!tls_bind_identity(b, &c->set, identity)) {
		snprintf(why, size, "out of memory");
		return false;
	}
	ssl = make_ssl(b, &c->set, identity, why, size);
	if (!ssl)
		return false;
	SSL_CTX_free(c->ssl); /* names in use hold theirs */
	c->ssl = ssl;
	memcpy(c->identity, identity, sizeof(identity));
	return true;
}

struct tls_ctx *tls_bind_ctx(struct tls_bind *b, const struct tls_settings *own, char *why,
			     size_t size)
{
	struct tls_ctx **at = &b->ctxs, *c;
	unsigned index = 0;

	for (; *at; at = &(*at)->next, index++)
		if ((*at)->own == own)
			return *at;
	c = arena_zalloc(&b->cfg->arena, sizeof(*c));
	if (!c) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	c->own = own;
	c->index = index;
	if (own) {
		c->set = *own;
		if (own->min || own->max || own->off)
			c->set.flags |= TLS_SET_OWN_VERSIONS;
		tls_settings_inherit(&c->set, &b->set);
	} else {
		c->set = b->set;
	}
	if (!tls_bind_renew(b, c, why, size))
		return NULL;
	*at = c;
	if (c->set.flags & TLS_SET_EARLY_DATA)
		__atomic_store_n(&b->early, true, __ATOMIC_RELAXED);
	return c;
}

static void fill_settings(struct config *cfg, struct tls_bind *b)
{
	if (!b->defaults)
		b->defaults = tls_defaults_take(cfg);
	tls_settings_inherit(&b->set, &b->defaults->bind);
	if (b->quic)
		b->set.flags |= TLS_SET_QUIC;
	if (!b->set.alpn.ptr && !(b->set.flags & TLS_SET_NO_ALPN))
		b->set.alpn = b->where.alpn;
}

/* Says which version an ssl-max-ver without ssl-min-ver means when it is a low one. */
static void warn_of_versions(const struct tls_bind *b, struct diag_list *diags)
{
	if (tls_max_is_ambiguous(&b->set))
		diag_add(diags, DIAG_WARNING, &(struct diag_place){ .form = DIAG_BARE }, NULL,
			 "Proxy '%s': Ambiguous configuration for bind '%s' at [%s:%d]: the "
			 "ssl-min-ver value is not configured and the ssl-max-ver value is lower "
			 "than the default ssl-min-ver value (TLSv1.2). Setting the ssl-min-ver to "
			 "%s. Use 'ssl-min-ver' to fix this.", b->where.proxy, b->where.name,
			 b->where.file, b->where.line, tls_version_text(b->set.max));
}

static bool no_certificate(struct tls_bind *b, struct diag_list *diags)
{
	if (!list_is_empty(&b->uses) || (b->set.flags & TLS_SET_STRICT_SNI && !b->forges))
		return false;
	diag_add(diags, DIAG_ALERT, &(struct diag_place){ .form = DIAG_BARE }, NULL,
		 "Proxy '%s': no SSL certificate specified for bind '%s' at [%s:%d] (use 'crt').",
		 b->where.proxy, b->where.name, b->where.file, b->where.line);
	return true;
}

/* Begins to look after the OCSP answers of its certificates. */
static void know_answers(struct tls_bind *b, char *why, size_t size)
{
	struct tls_use *u;

	list_for_each(u, &b->uses, of_bind) {
		if (u->entry->ocsp || tls_ocsp_know(b->cfg, u->entry))
			continue;
		snprintf(why, size, "'%.200s' has an OCSP auto-update set to 'on' but an error "
			 "occurred (maybe the OCSP URI or the issuer could not be found)",
			 u->entry->name);
		return;
	}
}

/* generate-certificates. False: reported. */
static bool begin_to_forge(struct tls_bind *b, struct diag_list *diags)
{
	struct diag_place bare = { .form = DIAG_BARE };
	char why[512] = "";

	if (!b->forges)
		return true;
	if (!b->sign_file) {
		diag_add(diags, DIAG_ALERT, &bare, NULL, "Proxy '%s': cannot enable certificate "
			 "generation, no CA certificate File configured at [%s:%d].",
			 b->where.proxy, b->where.file, b->where.line);
		return false;
	}
	b->forge = tls_forge_new(b->sign_file, b->sign_pass,
				 (unsigned)tls_global_of(b->cfg)->forged_max, why, sizeof(why));
	if (!b->forge)
		diag_add(diags, DIAG_ALERT, &bare, NULL, "Proxy '%s': Failed to read CA "
			 "certificate file '%s' at [%s:%d]. Chain loading failed: %s.",
			 b->where.proxy, b->sign_file, b->where.file, b->where.line, why);
	return b->forge;
}

void tls_bind_want_quic(struct slot_area *area)
{
	bind_of(area)->quic = bind_of(area)->on = true;
}

bool tls_bind_check(struct config *cfg, struct slot_area *area, const struct tls_place *where,
		    struct diag_list *diags)
{
	struct tls_bind *b = bind_of(area);
	struct tls_use *u;
	char why[512] = "";

	if (!b->on)
		return true;
	b->cfg = cfg;
	b->where = *where;
	b->capture_size = tls_global_of(cfg)->capture_size;
	b->records = tls_records_of(cfg);
	fill_settings(cfg, b);
	warn_of_versions(b, diags);
	list_append(&tls_global_of(cfg)->binds, &b->link);
	if (!tls_f_use_add(b, diags) || no_certificate(b, diags) || !begin_to_forge(b, diags))
		return false;
	if (tls_bind_ctx(b, NULL, why, sizeof(why))) {
		list_for_each(u, &b->uses, of_bind) {
			u->ctx = tls_bind_ctx(b, u->own, why, sizeof(why));
			if (!u->ctx)
				break;
		}
		if (!*why)
			know_answers(b, why, sizeof(why));
		if (!*why && !tls_names_publish(b))
			snprintf(why, sizeof(why), "out of memory");
	}
	if (*why)
		diag_add(diags, DIAG_ALERT, &(struct diag_place){ .form = DIAG_BARE }, NULL,
			 "Proxy '%s': %s for bind '%s' at [%s:%d].", where->proxy, why,
			 where->name, where->file, where->line);
	return !*why;
}

/* --- connections ------------------------------------------------------------------------------ */

bool tls_accept(struct conn *c, struct slot_area *area)
{
	struct tls_bind *b = bind_of(area);
	const struct tls_names *names = tls_names_get(b);
	struct tls_conn *t;
	bool early;
	SSL *ssl;

	ssl = names ? SSL_new(tls_names_ssl(names, b->ctxs)) : NULL;
	early = __atomic_load_n(&b->early, __ATOMIC_RELAXED);
	if (!ssl || !tls_attach(c, ssl, early ? TLS_FL_EARLY : 0))
		return false;
	t = c->transport_ctx;
	t->bind = b;
	t->records = b->records;
	SSL_set_accept_state(ssl);
	return tls_count_open(t);
}
