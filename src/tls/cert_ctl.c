/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cert_ctl.c - edge file: certificates shown and replaced. Manual: management 9.3 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include "cert_priv.h"
#include "ctl_priv.h"
#include "global_priv.h"
#include "ocsp_priv.h"
#include "server_priv.h"
#include "store_priv.h"

static struct tls_store *store(void)
{
	return tls_store_of(tls_live());
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct tls_entry *const *)a)->name, (*(struct tls_entry *const *)b)->name);
}

/* All certificates sorted by name, to free; *count of them. NULL: none, or no memory. */
static struct tls_entry **sorted(unsigned *count)
{
	struct tls_entry **all, *e;
	unsigned n = 0;

	for (e = tls_store_first(store()); e; e = tls_store_next(e))
		n++;
	all = n ? malloc(n * sizeof(*all)) : NULL;
	*count = 0;
	for (e = tls_store_first(store()); all && e; e = tls_store_next(e))
		all[(*count)++] = e;
	if (all)
		qsort(all, *count, sizeof(*all), by_name);
	return all;
}

static void list_all(struct ctl_request *rq)
{
	unsigned count;
	struct tls_entry **all = sorted(&count);
	bool pending = false;

	for (unsigned i = 0; i < count; i++) {
		if (!all[i]->pending)
			continue;
		if (!pending)
			strbuf_add_str(rq->out, "# transaction\n");
		pending = true;
		strbuf_printf(rq->out, "*%s\n", all[i]->name);
	}
	if (count)
		strbuf_add_str(rq->out, "# filename\n");
	for (unsigned i = 0; i < count; i++)
		strbuf_printf(rq->out, "%s\n", all[i]->name);
	free(all);
}

static const char *status_of(const struct tls_entry *e, bool pending)
{
	struct tls_server *s;

	if (pending)
		return "Uncommitted";
	if (!e->cert)
		return "Empty";
	list_for_each(s, &tls_global_of(tls_live())->servers, link)
		if (s->entry == e)
			return "Used";
	if (!list_is_empty(&e->uses))
		return "Used";
	return e->jwt ? "Used for JWT verification" : "Unused";
}

/* The name of a part's file, if the line that loads the certificate names it, or looks for it. */
static void put_file(struct strbuf *out, const char *what, const char *path,
		     const struct tls_cert_files *f, enum tls_part part)
{
	if (path && (!f->listed || f->named >> part & 1))
		strbuf_printf(out, "%s filename: %s\n", what, path);
}

static void show_one(struct ctl_request *rq, const struct tls_entry *e, bool pending)
{
	struct tls_cert *c = pending ? e->pending : e->cert;
	const struct tls_cert_files *f = &e->files;

	strbuf_printf(rq->out, "Filename: %s%s\n", pending ? "*" : "", e->name);
	if (f->crt)
		strbuf_printf(rq->out, "Crt filename: %s\n", f->crt);
	put_file(rq->out, "Key", f->key, f, TLS_PART_KEY);
	put_file(rq->out, "OCSP", f->ocsp, f, TLS_PART_OCSP);
	if (f->named >> TLS_PART_ISSUER & 1 || e->ocsp)
		put_file(rq->out, "OCSP Issuer", f->issuer, f, TLS_PART_ISSUER);
	put_file(rq->out, "SCTL", f->sctl, f, TLS_PART_SCTL);
	strbuf_printf(rq->out, "Option: ocsp-update %s\nOption: jwt %s\nStatus: %s\n",
		      e->ocsp_update == TLS_OCSP_UPDATE_ON ? "on" : "off", e->jwt ? "on" : "off",
		      status_of(e, pending));
	if (c)
		tls_cert_open(c);
	if (c && c->chain_file)
		strbuf_printf(rq->out, "Chain Filename: %s\n", c->chain_file);
	if (c && c->leaf)
		tls_ctl_put_cert(rq->out, c->leaf, c->chain);
	strbuf_printf(rq->out, "OCSP Response Key: %s\n",
		      !pending && e->ocsp && (e->cert->ocsp_len || e->ocsp->is_updated) ?
		      e->ocsp->key : "");
}

/* The certificate whose part has the name "<base><extension>": <base>, or with
 * ssl-load-extra-del-ext "<base>.crt"; NULL: none.
 */
static struct tls_entry *find_base(const char *name, size_t base)
{
	char path[4096];
	struct tls_entry *e;
	int n;

	n = snprintf(path, sizeof(path) - sizeof(".crt"), "%.*s", (int)base, name);
	if (n < 0 || n >= (int)(sizeof(path) - sizeof(".crt")))
		return NULL;
	e = tls_store_find(store(), path);
	if (e || !tls_global_of(tls_live())->extra_replaces_extension)
		return e;
	strcpy(path + n, ".crt");
	return tls_store_find(store(), path);
}

/* The certificate that a name means, and which part: "a.pem.key" is the key of a.pem. */
static struct tls_entry *find_part(const char *name, enum tls_part *part)
{
	static const struct { const char *extension; enum tls_part part; } parts[] = {
		{ ".key", TLS_PART_KEY }, { ".ocsp", TLS_PART_OCSP },
		{ ".issuer", TLS_PART_ISSUER }, { ".sctl", TLS_PART_SCTL },
	};
	struct tls_entry *e = tls_store_find(store(), name);
	size_t len = strlen(name);

	*part = TLS_PART_CERT;
	for (size_t i = 0; !e && i < sizeof(parts) / sizeof(*parts); i++) {
		size_t n = strlen(parts[i].extension);

		if (len <= n || strcmp(name + len - n, parts[i].extension) != 0)
			continue;
		e = find_base(name, len - n);
		*part = parts[i].part;
	}
	return e;
}

static enum ctl_step show_cert(struct ctl_request *rq)
{
	const char *name = rq->words[rq->at];
	enum tls_part part;
	struct tls_entry *e;
	bool pending;

	tls_store_lock();
	if (!name) {
		list_all(rq);
	} else {
		pending = *name == '*';
		e = find_part(name + pending, &part);
		if (e && part == TLS_PART_OCSP && e->cert)
			tls_ctl_put_ocsp(rq->out, pending && e->pending ? e->pending : e->cert);
		else if (!e || part != TLS_PART_CERT || (pending && !e->pending))
			ctl_error(rq, "Can't display the certificate: Not found or the certificate "
				  "is a bundle!");
		else
			show_one(rq, e, pending);
	}
	tls_store_unlock();
	return CTL_DONE;
}

/* --- changing --------------------------------------------------------------------------------- */

static void change(struct ctl_request *rq, const char *name)
{
	enum tls_part part;
	struct tls_entry *e = find_part(name, &part);
	struct tls_cert *c;
	char why[512];
	bool first;

	if (!e) {
		ctl_error(rq, "Can't replace a certificate which is not referenced by the "
			  "configuration!\nCan't update %s!", name);
		return;
	}
	first = !e->pending;
	c = tls_cert_change(e->pending ? e->pending : e->cert, part, rq->payload, name, why,
			    sizeof(why));
	if (!c) {
		ctl_error(rq, "%s\nCan't load the payload\nCan't update %s!", why, name);
		return;
	}
	if (tls_global_of(tls_live())->chains)
		tls_chains_complete(tls_global_of(tls_live())->chains, c);
	tls_cert_drop(&e->pending);
	e->pending = c;
	ctl_tell(rq, CTL_NOTICE, first ? "Transaction created for certificate %s!"
			  : "Transaction updated for certificate %s!", e->name);
}

static enum ctl_step set_cert(struct ctl_request *rq)
{
	if (rq->count - rq->at < 1 || !rq->payload.ptr) {
		ctl_error(rq, "'set ssl cert' expects a filename and a certificate as a payload");
		return CTL_DONE;
	}
	tls_store_lock();
	change(rq, rq->words[rq->at]);
	tls_store_unlock();
	return CTL_DONE;
}

static void create(struct ctl_request *rq, const char *name)
{
	struct tls_entry *e;

	if (tls_store_find(store(), name)) {
		ctl_error(rq, "Certificate '%s' already exists!", name);
		return;
	}
	e = tls_store_add(store(), name, NULL);
	if (!e) {
		ctl_error(rq, "out of memory");
		return;
	}
	e->is_new = !tls_store_is_noted(store(), name);
	ctl_tell(rq, CTL_NOTICE, "New empty certificate store '%s'!", name);
}

static enum ctl_step new_cert(struct ctl_request *rq)
{
	return tls_ctl_named(rq, create);
}

/* Is the prepared content a certificate without a key, where tokens may be verified with it? */
static bool is_for_tokens(const struct tls_entry *e)
{
	return e->pending->leaf && !e->pending->key && (!e->cert || e->files.may_lack_key) &&
	       strcmp(status_of(e, false), "Used") != 0;
}

static void commit(struct ctl_request *rq, const char *name)
{
	struct tls_entry *e = tls_store_find(store(), name);
	struct tls_cert *next;
	char why[512];
	unsigned dots;

	if (!e || !e->pending) {
		ctl_error(rq, "No ongoing transaction! !\nCan't commit %s!", name);
		return;
	}
	if (!is_for_tokens(e) && !tls_cert_is_usable(e->pending, name, why, sizeof(why))) {
		ctl_error(rq, "%s\nCan't commit %s!", why, name);
		return;
	}
	next = e->pending;
	e->pending = NULL;
	if (!tls_ctl_replace(tls_live(), e, next, &dots, why, sizeof(why))) {
		ctl_error(rq, "%s\nCan't commit %s!", why, name);
		return;
	}
	tls_store_note(store(), name, "certificate");
	tls_ocsp_kick();
	strbuf_printf(rq->out, "Committing %s", name);
	while (dots--)
		strbuf_add_char(rq->out, '.');
	strbuf_add_str(rq->out, "\nSuccess!\n");
}

static enum ctl_step commit_cert(struct ctl_request *rq)
{
	return tls_ctl_named(rq, commit);
}

static void forget(struct ctl_request *rq, const char *name)
{
	struct tls_entry *e = tls_store_find(store(), name);

	if (!e || !e->pending) {
		ctl_error(rq, "No ongoing transaction!");
		return;
	}
	tls_cert_drop(&e->pending);
	ctl_tell(rq, CTL_NOTICE, "Transaction aborted for certificate '%s'!", name);
}

static enum ctl_step abort_cert(struct ctl_request *rq)
{
	return tls_ctl_named(rq, forget);
}

static void del(struct ctl_request *rq, const char *name)
{
	struct tls_entry *e = tls_store_find(store(), name);

	if (!e) {
		ctl_error(rq, "Can't remove the certificate: certificate '%s' doesn't exist!",
			  name);
	} else if (e->jwt) {
		ctl_error(rq, "Can't remove the certificate: certificate '%s' in use for JWT "
			  "validation, can't be deleted!", name);
	} else if (strcmp(status_of(e, false), "Used") == 0) {
		ctl_error(rq, "Can't remove the certificate: certificate '%s' in use, can't be "
			  "deleted!", name);
	} else {
		tls_store_note(store(), name, e->is_new ? NULL : "certificate deleted");
		tls_store_remove(store(), e);
		ctl_tell(rq, CTL_NOTICE, "Certificate '%s' deleted!", name);
	}
}

static enum ctl_step del_cert(struct ctl_request *rq)
{
	return tls_ctl_named(rq, del);
}

static void dump(struct ctl_request *rq, const char *name)
{
	struct tls_entry *e = tls_store_find(store(), name + (*name == '*'));
	struct tls_cert *c = e ? *name == '*' ? e->pending : e->cert : NULL;
	BIO *bio = c ? BIO_new(BIO_s_mem()) : NULL;
	char *p;
	long len;

	if (!bio) {
		ctl_error(rq, "Can't display the certificate: Not found or the certificate is a "
			  "bundle!");
		return;
	}
	tls_cert_open(c);
	if (c->key)
		PEM_write_bio_PrivateKey(bio, c->key, NULL, NULL, 0, NULL, NULL);
	if (c->leaf)
		PEM_write_bio_X509(bio, c->leaf);
	for (int i = 0; i < sk_X509_num(c->chain); i++)
		PEM_write_bio_X509(bio, sk_X509_value(c->chain, i));
	len = BIO_get_mem_data(bio, &p);
	strbuf_add(rq->out, slice_make(p, (size_t)len));
	BIO_free(bio);
}

static enum ctl_step dump_cert(struct ctl_request *rq)
{
	if (rq->words[rq->at])
		return tls_ctl_named(rq, dump);
	ctl_error(rq, "Can't display the certificate: Not found or the certificate is a bundle!");
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show ssl cert", .syntax = "[<certfile>]",
	  .help = "list certificates, or show one", .run = show_cert },
	{ .words = "set ssl cert", .level = CTL_ADMIN, .syntax = "<certfile> <payload>",
	  .help = "prepare new content for a certificate", .run = set_cert },
	{ .words = "new ssl cert", .level = CTL_ADMIN, .syntax = "<certfile>",
	  .help = "create an empty certificate", .run = new_cert },
	{ .words = "commit ssl cert", .level = CTL_ADMIN, .syntax = "<certfile>",
	  .help = "activate the prepared content of a certificate", .run = commit_cert },
	{ .words = "abort ssl cert", .level = CTL_ADMIN, .syntax = "<certfile>",
	  .help = "abort the transaction for a certificate", .run = abort_cert },
	{ .words = "del ssl cert", .level = CTL_ADMIN, .syntax = "<certfile>",
	  .help = "delete a certificate that is not in use", .run = del_cert },
	{ .words = "dump ssl cert", .level = CTL_ADMIN, .syntax = "<certfile>",
	  .help = "print a certificate with its key", .run = dump_cert },
	{ 0 }
};

const struct module mod_tls_cert_ctl = { .name = "tls-certificate-commands",
					 .commands = commands };
