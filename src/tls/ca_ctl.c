/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ca_ctl.c - edge file: CA files and revocation lists shown and replaced. Manual: management 9.3
 *
 * Both kinds have the same commands with different words: the keyword "crl" of the command decides.
 */
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "ctl_priv.h"
#include "global_priv.h"
#include "store_priv.h"

static struct tls_store *store(void)
{
	return tls_store_of(tls_live());
}

static bool wants_crl(const struct ctl_request *rq)
{
	return strstr(rq->command->words, "crl-file") != NULL;
}

/* "CA" or "CRL", for messages. */
static const char *kind(const struct ctl_request *rq)
{
	return wants_crl(rq) ? "CRL" : "CA";
}

/* The file of the command's kind with this name; NULL: none. */
static struct tls_ca *find(const struct ctl_request *rq, const char *name)
{
	struct tls_ca *ca = tls_store_ca_named(tls_live(), name);

	return ca && ca->is_crl == wants_crl(rq) ? ca : NULL;
}

/* --- showing ---------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct tls_ca *const *)a)->name, (*(struct tls_ca *const *)b)->name);
}

static struct tls_ca **sorted(const struct ctl_request *rq, unsigned *count)
{
	struct tls_ca **all, *ca;
	unsigned n = 0;

	for (ca = tls_store_ca_first(store()); ca; ca = tls_store_ca_next(ca))
		n++;
	all = n ? malloc(n * sizeof(*all)) : NULL;
	*count = 0;
	for (ca = tls_store_ca_first(store()); all && ca; ca = tls_store_ca_next(ca))
		if (ca->is_crl == wants_crl(rq))
			all[(*count)++] = ca;
	if (all)
		qsort(all, *count, sizeof(*all), by_name);
	return all;
}

static void list_one(struct ctl_request *rq, const struct tls_ca *ca, bool pending)
{
	strbuf_printf(rq->out, "%s%s", pending ? "*" : "", ca->name);
	if (!ca->is_crl)
		strbuf_printf(rq->out, " - %d certificate(s)",
			      (int)sk_X509_num(pending ? ca->pending : ca->certs) > 0 ?
			      sk_X509_num(pending ? ca->pending : ca->certs) : 0);
	strbuf_add_char(rq->out, '\n');
}

static void list_all(struct ctl_request *rq)
{
	unsigned count;
	struct tls_ca **all = sorted(rq, &count);
	bool any = false;

	for (unsigned i = 0; i < count; i++) {
		if (!all[i]->has_pending)
			continue;
		if (!any)
			strbuf_add_str(rq->out, "# transaction\n");
		any = true;
		list_one(rq, all[i], true);
	}
	strbuf_add_str(rq->out, "# filename\n");
	for (unsigned i = 0; i < count; i++)
		list_one(rq, all[i], false);
	free(all);
}

static void show_certs(struct ctl_request *rq, STACK_OF(X509) *certs, int only)
{
	for (int i = 0; i < sk_X509_num(certs); i++) {
		if (only && only != i + 1)
			continue;
		strbuf_printf(rq->out, " \nCertificate #%d:\n", i + 1);
		tls_ctl_put_cert(rq->out, sk_X509_value(certs, i), NULL);
	}
}

static void show_crls(struct ctl_request *rq, STACK_OF(X509_CRL) *crls, int only)
{
	for (int i = 0; i < sk_X509_CRL_num(crls); i++) {
		if (only && only != i + 1)
			continue;
		strbuf_printf(rq->out, " \nCertificate Revocation List #%d:\n", i + 1);
		tls_ctl_put_crl(rq->out, sk_X509_CRL_value(crls, i));
	}
}

/* How the file is used: "Uncommitted" is what the transaction has. */
static const char *status_of(const struct tls_ca *ca, bool pending)
{
	if (pending)
		return "Uncommitted";
	if (tls_ctl_ca_is_used(tls_live(), ca))
		return "Used";
	return ca->is_crl && sk_X509_CRL_num(ca->crls) < 1 ? "Empty" : "Unused";
}

static void show_one(struct ctl_request *rq, const char *name)
{
	const char *colon = strrchr(name, ':');
	char *base = colon && colon[1] ? strndup(name, (size_t)(colon - name)) : strdup(name);
	bool pending = *name == '*';
	struct tls_ca *ca = base ? find(rq, base + pending) : NULL;
	int only = colon ? num_prefix_int(colon + 1, NULL) : 0;

	if (colon && colon[1] && only < 1) {
		ctl_error(rq, "wrong %s index after colons in '%s'!", kind(rq), name);
	} else if (!ca || (pending && !ca->has_pending)) {
		ctl_error(rq, wants_crl(rq) ? "Can't display the CRL file : Not found!"
					    : "Can't display the CA file : Not found!");
	} else if (ca->is_crl || !only ||
		   only <= sk_X509_num(pending ? ca->pending : ca->certs)) {
		strbuf_printf(rq->out, "Filename: %s%s\nStatus: %s\n", pending ? "*" : "", ca->name,
			      status_of(ca, pending));
		show_certs(rq, pending ? ca->pending : ca->certs, only);
		if (ca->is_crl)
			show_crls(rq, pending ? ca->pending_crls : ca->crls, only);
	}
	free(base);
}

static enum ctl_step show(struct ctl_request *rq)
{
	tls_store_lock();
	if (rq->words[rq->at])
		show_one(rq, rq->words[rq->at]);
	else
		list_all(rq);
	tls_store_unlock();
	return CTL_DONE;
}

/* --- changing --------------------------------------------------------------------------------- */

/* What <ca> has now is where an addition begins. */
static void begin_from_current(struct tls_ca *ca)
{
	ca->pending = ca->certs ? X509_chain_up_ref(ca->certs) : NULL;
	ca->has_pending = true;
}

/* A certificate that is there already is not added once more. */
static void forget_repeated(STACK_OF(X509) *certs)
{
	for (int i = sk_X509_num(certs) - 1; i > 0; i--)
		for (int j = 0; j < i; j++) {
			if (X509_cmp(sk_X509_value(certs, i), sk_X509_value(certs, j)) != 0)
				continue;
			X509_free(sk_X509_delete(certs, i));
			break;
		}
}

static void change(struct ctl_request *rq, const char *name)
{
	bool add = strncmp(rq->command->words, "add", 3) == 0;
	struct tls_ca *ca = find(rq, name);
	bool again = ca && ca->has_pending;
	int before;

	if (!ca) {
		ctl_error(rq, "Can't replace a %s file which is not referenced by the "
			  "configuration!\nCan't update %s!", kind(rq), name);
		return;
	}
	if (!add)
		tls_ca_forget_pending(ca);
	else if (!ca->has_pending)
		begin_from_current(ca);
	before = sk_X509_num(ca->pending);
	if (!tls_ca_read(rq->payload, &ca->pending, &ca->pending_crls) ||
	    (add && sk_X509_num(ca->pending) <= before)) {
		if (!add || !again)
			tls_ca_forget_pending(ca);
		ctl_error(rq, "Invalid payload\nCan't update %s!", name);
		return;
	}
	if (add)
		forget_repeated(ca->pending);
	ca->has_pending = true;
	ctl_tell(rq, CTL_NOTICE, "transaction %s for %s %s!", again ? "updated" : "created",
		 kind(rq), name);
}

static enum ctl_step set_file(struct ctl_request *rq)
{
	if (rq->words[rq->at] && rq->payload.ptr)
		return tls_ctl_named(rq, change);
	ctl_error(rq, "'%s' expects a filename and %ss as a payload", rq->command->words, kind(rq));
	return CTL_DONE;
}

static void create(struct ctl_request *rq, const char *name)
{
	struct tls_ca *ca;

	if (tls_store_ca_find(store(), name)) {
		ctl_error(rq, "%s file '%s' already exists!", kind(rq), name);
		return;
	}
	ca = tls_store_ca_new(store(), name, wants_crl(rq));
	if (!ca) {
		ctl_error(rq, "out of memory");
		return;
	}
	ca->is_new = !tls_store_is_noted(store(), name);
	ctl_tell(rq, CTL_NOTICE, "New %s file created '%s'!", kind(rq), name);
}

static enum ctl_step new_file(struct ctl_request *rq)
{
	return tls_ctl_named(rq, create);
}

static void commit(struct ctl_request *rq, const char *name)
{
	struct tls_ca *ca = find(rq, name);
	char why[512];
	unsigned dots;

	if (!ca || !ca->has_pending) {
		ctl_error(rq, "No ongoing transaction! !\nCan't commit %s!", name);
		return;
	}
	if (!tls_ctl_replace_ca(ca, &ca->pending, &ca->pending_crls, &dots, why, sizeof(why))) {
		ctl_error(rq, "%s\nCan't commit %s!", why, name);
		return;
	}
	tls_ca_forget_pending(ca);
	tls_store_note(store(), ca->name, ca->is_crl ? "revoked certificates" : "authorities");
	strbuf_printf(rq->out, "Committing %s", name);
	while (dots--)
		strbuf_add_char(rq->out, '.');
	strbuf_add_str(rq->out, "\nSuccess!\n");
}

static enum ctl_step commit_file(struct ctl_request *rq)
{
	return tls_ctl_named(rq, commit);
}

static void forget(struct ctl_request *rq, const char *name)
{
	struct tls_ca *ca = find(rq, name);

	if (!ca || !ca->has_pending) {
		ctl_error(rq, "No ongoing transaction!");
		return;
	}
	tls_ca_forget_pending(ca);
	ctl_tell(rq, CTL_NOTICE, "Transaction aborted for certificate '%s'!", name);
}

static enum ctl_step abort_file(struct ctl_request *rq)
{
	return tls_ctl_named(rq, forget);
}

static void del(struct ctl_request *rq, const char *name)
{
	struct tls_ca *ca = find(rq, name);

	if (!ca && wants_crl(rq) && tls_store_ca_named(tls_live(), name)) {
		ctl_error(rq, "Can't remove the CRL file: 'del ssl crl-file' does not work on CA "
			  "files!");
	} else if (!ca) {
		ctl_error(rq, "Can't remove the %s file: %s file '%s' doesn't exist!", kind(rq),
			  kind(rq), name);
	} else if (tls_ctl_ca_is_used(tls_live(), ca)) {
		ctl_error(rq, "Can't remove the %s file: %s file '%s' in use, can't be deleted!",
			  kind(rq), kind(rq), name);
	} else {
		tls_store_note(store(), name, ca->is_new ? NULL : ca->is_crl ?
			       "revoked certificates deleted" : "authorities deleted");
		tls_store_ca_remove(store(), ca);
		ctl_tell(rq, CTL_NOTICE, "%s file '%s' deleted!", kind(rq), name);
	}
}

static enum ctl_step del_file(struct ctl_request *rq)
{
	return tls_ctl_named(rq, del);
}

#define BOTH(verb, who, values, runner, what) \
	{ .words = verb " ssl ca-file", .level = who, .syntax = values, \
	  .help = what " a file of authorities", .run = runner }, \
	{ .words = verb " ssl crl-file", .level = who, .syntax = values, \
	  .help = what " a file of certificate revocations", .run = runner }

static const struct ctl_command commands[] = {
	BOTH("show", CTL_USER, "[<file>[:<index>]]", show, "list files, or show"),
	BOTH("set", CTL_ADMIN, "<file> <payload>", set_file, "prepare new content for"),
	{ .words = "add ssl ca-file", .level = CTL_ADMIN, .syntax = "<file> <payload>",
	  .help = "prepare an addition to a file of authorities", .run = set_file },
	BOTH("new", CTL_ADMIN, "<file>", new_file, "create"),
	BOTH("commit", CTL_ADMIN, "<file>", commit_file, "activate the prepared content of"),
	BOTH("abort", CTL_ADMIN, "<file>", abort_file, "abort the transaction for"),
	BOTH("del", CTL_ADMIN, "<file>", del_file, "delete, if it is not in use,"),
	{ 0 }
};

const struct module mod_tls_ca_ctl = { .name = "tls-authority-commands", .commands = commands };
