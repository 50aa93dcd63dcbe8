/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ocsp_ctl.c - edge file: OCSP answers shown, set and fetched. Manual: management 9.3 */
#include <openssl/ocsp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cert_priv.h"
#include "ctl_priv.h"
#include "global_priv.h"
#include "ocsp_priv.h"
#include "store_priv.h"

static struct tls_global *global(void)
{
	return tls_global_of(tls_live());
}

/* By identifier or by the certificate's name; NULL: none. */
static struct tls_ocsp *find(const char *name)
{
	struct tls_ocsp *o;

	list_for_each(o, &global()->ocsps, link)
		if (strcmp(o->key, name) == 0 || strcmp(o->entry->name, name) == 0)
			return o;
	return NULL;
}

/* --- showing ---------------------------------------------------------------------------------- */

static void put_hex(struct strbuf *out, const char *label, const ASN1_STRING *s)
{
	const unsigned char *p = ASN1_STRING_get0_data(s);

	strbuf_add_str(out, label);
	for (int i = 0; i < ASN1_STRING_length(s); i++)
		strbuf_printf(out, "%02X", p[i]);
	strbuf_add_char(out, '\n');
}

static void put_id(struct strbuf *out, const struct tls_ocsp *o)
{
	ASN1_OCTET_STRING *name, *key;
	ASN1_INTEGER *serial;
	long len = 0;
	unsigned char *der = OPENSSL_hexstr2buf(o->key, &len);
	const unsigned char *p = der;
	OCSP_CERTID *id = der ? d2i_OCSP_CERTID(NULL, &p, len) : NULL;

	strbuf_printf(out, "Certificate ID key : %s\nCertificate path : %s\n Certificate ID:\n",
		      o->key, o->entry->name);
	if (id && OCSP_id_get0_info(&name, NULL, &key, &serial, id)) {
		put_hex(out, "   Issuer Name Hash: ", name);
		put_hex(out, "   Issuer Key Hash: ", key);
		put_hex(out, "   Serial Number: ", serial);
	}
	OCSP_CERTID_free(id);
	OPENSSL_free(der);
}

static void put_base64(struct strbuf *out, const struct tls_cert *c)
{
	unsigned char *text = malloc(c->ocsp_len * 4 / 3 + 8);

	if (text) {
		EVP_EncodeBlock(text, c->ocsp, (int)c->ocsp_len);
		strbuf_printf(out, "%s\n", (char *)text);
	}
	free(text);
}

/* Not one whose certificate was replaced by one without an answer, where none is to be fetched. */
static bool is_shown(const struct tls_ocsp *o)
{
	return o->is_updated || o->entry->cert->ocsp_len;
}

static void show_one(struct ctl_request *rq, const char *name, bool base64)
{
	const struct tls_ocsp *o = find(name);

	if (o && !is_shown(o))
		o = NULL;
	if (!o && strspn(name, "0123456789abcdefABCDEF") == strlen(name))
		ctl_error(rq, "Certificate ID or path does not match any certificate.");
	else if (!o)
		ctl_error(rq, "'%s' expects a valid certid or certificate path.",
			  rq->command->words);
	else if (base64 && o->entry->cert->ocsp_len)
		put_base64(rq->out, o->entry->cert);
	else if (!base64)
		tls_ctl_put_ocsp(rq->out, o->entry->cert);
}

static enum ctl_step show_response(struct ctl_request *rq)
{
	const char *word = rq->words[rq->at], *second = word ? rq->words[rq->at + 1] : NULL;
	bool base64 = second && strcmp(word, "base64") == 0;
	struct tls_ocsp *o;
	unsigned any = 0;

	tls_store_lock();
	if (second && !base64 && strcmp(word, "text") != 0) {
		ctl_error(rq, "'%s' expects 'text' or 'base64' before a certid or path.",
			  rq->command->words);
	} else if (word && !second && (strcmp(word, "base64") == 0 || strcmp(word, "text") == 0)) {
		ctl_error(rq, "'%s [text|base64]' expects a valid certid.", rq->command->words);
	} else if (word) {
		show_one(rq, second ? second : word, base64);
	} else {
		list_for_each(o, &global()->ocsps, link)
			if (is_shown(o) && !any++)
				strbuf_add_str(rq->out, "# Certificate IDs\n");
		list_for_each(o, &global()->ocsps, link)
			if (is_shown(o))
				put_id(rq->out, o);
	}
	tls_store_unlock();
	return CTL_DONE;
}

static void put_date(struct strbuf *out, int64_t s)
{
	time_t t = (time_t)s;
	char text[64];
	struct tm tm;

	if (s && localtime_r(&t, &tm) && strftime(text, sizeof(text), "%d/%b/%Y:%H:%M:%S %z", &tm))
		strbuf_printf(out, "%s | ", text);
	else
		strbuf_add_str(out, "- | ");
}

static int by_date(const void *a, const void *b)
{
	const struct tls_ocsp *x = *(struct tls_ocsp *const *)a, *y = *(struct tls_ocsp *const *)b;

	return (x->next_s > y->next_s) - (x->next_s < y->next_s);
}

static void put_updates(struct strbuf *out, struct tls_ocsp **all, unsigned count)
{
	strbuf_add_str(out, "OCSP Certid | Path | Next Update | Last Update | Successes | Failures "
		       "| Last Update Status | Last Update Status (str)\n");
	for (unsigned i = 0; i < count; i++) {
		const struct tls_ocsp *o = all[i];

		strbuf_printf(out, "%s | %s | ", o->key, o->entry->name);
		put_date(out, o->next_s);
		put_date(out, o->last_s);
		strbuf_printf(out, "%u | %u | %d | %s\n", o->successes, o->failures, o->outcome,
			      tls_ocsp_outcome_text(o->outcome));
	}
}

static enum ctl_step show_updates(struct ctl_request *rq)
{
	struct tls_ocsp **all = NULL, *o;
	unsigned count = 0;

	tls_store_lock();
	list_for_each(o, &global()->ocsps, link)
		count += o->is_updated;
	all = malloc((count + 1) * sizeof(struct tls_ocsp *));
	count = 0;
	list_for_each(o, &global()->ocsps, link)
		if (all && o->is_updated)
			all[count++] = o;
	if (all)
		qsort(all, count, sizeof(*all), by_date);
	put_updates(rq->out, all, count);
	tls_store_unlock();
	free(all);
	return CTL_DONE;
}

/* --- changing --------------------------------------------------------------------------------- */

static void update(struct ctl_request *rq, const char *name)
{
	struct tls_entry *e = tls_store_find(tls_store_of(tls_live()), name);

	if (!e)
		ctl_error(rq, "Unknown certificate! '%s' expects an already known certificate file "
			  "name.\nCan't send ocsp request for %s!", rq->command->words, name);
	else if (!e->ocsp)
		ctl_error(rq, "'%s' only works on certificates that already have a known OCSP "
			  "response.\nCan't send ocsp request for %s!", rq->command->words, name);
	else if (!e->ocsp->uri || global()->ocsp_off)
		ctl_error(rq, "%s\nCan't send ocsp request for %s!", global()->ocsp_off ?
			  "'ocsp-update.disable' is on." : "It names no responder.", name);
	else
		e->ocsp->asked = true;
}

static enum ctl_step update_response(struct ctl_request *rq)
{
	tls_ctl_named(rq, update);
	tls_ocsp_kick();
	return CTL_DONE;
}

/* Gives the answer to each certificate that it is about. */
static void set_answer(struct ctl_request *rq, const unsigned char *der, size_t len)
{
	char *key = tls_ocsp_key_of_answer(der, len);
	char why[512] = "OCSP single response: Certificate ID does not match any certificate or "
			"issuer.";
	unsigned set = 0;
	struct tls_ocsp *o;
	bool was_read;

	list_for_each(o, &global()->ocsps, link)
		if (key && strcmp(o->key, key) == 0 &&
		    tls_ocsp_replace(o->entry->cert, der, len, why, sizeof(why)))
			set++;
	was_read = key != NULL;
	free(key);
	if (set)
		ctl_say(rq, "OCSP Response updated!");
	else
		ctl_error(rq, "%s", was_read ? why : "Unable to parse OCSP response.");
}

static enum ctl_step set_response(struct ctl_request *rq)
{
	struct slice text = rq->payload;
	unsigned char *der;
	size_t len;

	if (!text.ptr && rq->words[rq->at])
		text = slice_of(rq->words[rq->at]);
	if (!text.ptr) {
		ctl_error(rq, "'set ssl ocsp-response' expects response in base64 encoding.");
		return CTL_DONE;
	}
	der = tls_base64_read(text, &len);
	if (!der) {
		ctl_error(rq, "'set ssl ocsp-response' received invalid base64 encoded response.");
		return CTL_DONE;
	}
	tls_store_lock();
	set_answer(rq, der, len);
	tls_store_unlock();
	free(der);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show ssl ocsp-response", .level = CTL_ADMIN,
	  .syntax = "[[text|base64] <id|certfile>]", .help = "list OCSP answers, or print one",
	  .run = show_response },
	{ .words = "show ssl ocsp-updates", .level = CTL_ADMIN,
	  .help = "show when OCSP responses are fetched, and the results", .run = show_updates },
	{ .words = "update ssl ocsp-response", .level = CTL_ADMIN, .syntax = "<certfile>",
	  .help = "fetch the OCSP response of a certificate now", .run = update_response },
	{ .words = "set ssl ocsp-response", .level = CTL_ADMIN, .syntax = "<response> | <payload>",
	  .help = "staple another answer of an authority", .run = set_response },
	{ 0 }
};

const struct module mod_tls_ocsp_ctl = { .name = "tls-ocsp-commands", .commands = commands };
