/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list_ctl.c - edge file: crt-lists, names and ticket keys. Manual: management 9.3 */
#include <openssl/provider.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/num.h"
#include "bind_priv.h"
#include "cert_priv.h"
#include "ctl_priv.h"
#include "global_priv.h"
#include "line_priv.h"
#include "names_priv.h"
#include "ocsp_priv.h"
#include "session_priv.h"
#include "store_priv.h"

#define CANNOT "Can't edit the crt-list: "

static struct tls_global *global(void)
{
	return tls_global_of(tls_live());
}

/* Is <list> the name that <use> came by? A slash at the end of a directory does not count. */
static bool is_of(const struct tls_use *use, const char *list)
{
	size_t len = strlen(list), n = use->list ? strlen(use->list) : 0;

	while (len > 1 && list[len - 1] == '/')
		len--;
	while (n > 1 && use->list[n - 1] == '/')
		n--;
	return use->list && n == len && memcmp(use->list, list, len) == 0;
}

/* The first bind line with this list; NULL: none. */
static struct tls_bind *bind_with(const char *list)
{
	struct tls_bind *b;
	struct tls_use *u;

	list_for_each(b, &global()->binds, link)
		list_for_each(u, &b->uses, of_bind)
			if (is_of(u, list))
				return b;
	return NULL;
}

/* --- crt-lists -------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_list_name(struct strbuf *out, const char *before, const char *name)
{
	size_t len = strlen(name);

	while (len > 1 && name[len - 1] == '/')
		len--;
	strbuf_printf(out, "%s%.*s\n", before, (int)len, name);
}

static void show_lists(struct ctl_request *rq)
{
	const char *names[1024] = { NULL };
	unsigned count = 0;
	struct tls_bind *b;
	struct tls_use *u;

	list_for_each(b, &global()->binds, link) {
		list_for_each(u, &b->uses, of_bind) {
			unsigned i = 0;

			while (u->list && i < count && strcmp(names[i], u->list) != 0)
				i++;
			if (u->list && i == count && count < 1024)
				names[count++] = u->list;
		}
	}
	qsort(names, count, sizeof(*names), by_text);
	for (unsigned i = 0; i < count; i++)
		put_list_name(rq->out, "", names[i]);
}

static void show_list(struct ctl_request *rq, const char *name, bool numbered)
{
	struct tls_bind *b = bind_with(name);
	struct tls_use *u;

	if (!b) {
		ctl_error(rq, "didn't find the specified filename");
		return;
	}
	put_list_name(rq->out, "# ", name);
	list_for_each(u, &b->uses, of_bind) {
		if (!is_of(u, name))
			continue;
		strbuf_add_str(rq->out, u->entry->name);
		if (numbered)
			strbuf_printf(rq->out, ":%d", u->line);
		if (u->options)
			strbuf_printf(rq->out, " [%s]", u->options);
		for (unsigned i = 0; i < u->filter_count; i++)
			strbuf_printf(rq->out, " %.*s", (int)u->filters[i].len, u->filters[i].ptr);
		strbuf_add_char(rq->out, '\n');
	}
}

static enum ctl_step show_crt_list(struct ctl_request *rq)
{
	const char *name = rq->words[rq->at];
	bool numbered = name && strcmp(name, "-n") == 0;

	if (numbered)
		name = rq->words[rq->at + 1];
	if (numbered && !name) {
		ctl_error(rq, "'show ssl crt-list -n' expects a filename or a directory");
		return CTL_DONE;
	}
	tls_store_lock();
	if (name)
		show_list(rq, name, numbered);
	else
		show_lists(rq);
	tls_store_unlock();
	return CTL_DONE;
}

/* Takes what stands behind <last> out again: no name may lead to a use without a context. */
static void take_back(struct tls_bind *b, const struct list *last)
{
	while (b->uses.prev != last) {
		struct tls_use *u = list_last(&b->uses, struct tls_use, of_bind);

		list_remove(&u->of_bind);
		list_remove(&u->of_entry);
	}
}

/* What `add ssl crt-list` names. */
struct new_line {
	const char *list, *cert;
	const char *text;            /* the whole line; NULL: the certificate alone */
};

static bool add_to(struct tls_bind *b, const char *list, const struct new_line *n, int line,
		   char *why, size_t size)
{
	struct tls_add a = { .cfg = tls_live(), .bind = b, .list = list, .line = line,
			     .why = "out of memory" };
	const struct list *last = b->uses.prev;
	struct tls_use *u;
	bool good;

	tls_crt_list_bare(&a);
	good = n->text ? tls_crt_list_line(&a, n->text) : tls_bind_add_path(&a, n->cert);
	list_for_each(u, &b->uses, of_bind) {
		if (good && !u->ctx)
			u->ctx = tls_bind_ctx(b, u->own, a.why, sizeof(a.why));
		good = good && u->ctx;
	}
	if (good && tls_names_publish(b))
		return true;
	take_back(b, last);
	snprintf(why, size, "%s", a.why);
	return false;
}

/* The name that the bind line has the list by, NULL: it has it not. *last: the list's last line. */
static const char *list_of(const struct tls_bind *b, const char *list, int *last)
{
	const char *name = NULL;
	struct tls_use *u;

	list_for_each(u, &b->uses, of_bind) {
		if (!is_of(u, list))
			continue;
		name = u->list;
		*last = u->line > *last ? u->line : *last;
	}
	return name;
}

/* Takes line <line> of the list out of the bind lines before <until>. */
static void take_back_line(const char *list, int line, const struct tls_bind *until)
{
	struct tls_use *u, *next;
	struct tls_bind *b;

	list_for_each(b, &global()->binds, link) {
		bool changed = false;

		if (b == until)
			return;
		list_for_each_safe(u, next, &b->uses, of_bind) {
			if (!is_of(u, list) || u->line != line)
				continue;
			list_remove(&u->of_bind);
			list_remove(&u->of_entry);
			changed = true;
		}
		if (changed)
			tls_names_publish(b);
	}
}

/* Adds to every bind line that has the list, or to none of them. */
static void add_line(struct ctl_request *rq, const struct new_line *n)
{
	struct tls_entry *entry = tls_store_find(tls_store_of(tls_live()), n->cert);
	struct tls_bind *b;
	char why[512] = "";
	int last = 0;

	list_for_each(b, &global()->binds, link)
		list_of(b, n->list, &last);
	list_for_each(b, &global()->binds, link) {
		const char *name = list_of(b, n->list, &last);

		if (name && !add_to(b, name, n, last + 1, why, sizeof(why))) {
			take_back_line(n->list, last + 1, b);
			ctl_error(rq, CANNOT "%s", why);
			return;
		}
	}
	if (entry && !entry->ocsp && tls_ocsp_know(tls_live(), entry))
		tls_ocsp_kick();
	tls_store_note(tls_store_of(tls_live()), n->list, "entries");
	strbuf_printf(rq->out, "Inserting certificate '%s' in crt-list '%s'.\nSuccess!\n", n->cert,
		      n->list);
}

/* Looks what the line says, before anything is changed; fills n->cert. False: reported. */
static bool take_new_line(struct ctl_request *rq, struct new_line *n)
{
	struct tls_add a = { .cfg = tls_live(), .why = "out of memory" };
	const char *end = strchr(n->text, '\n');

	if (end && end[strspn(end, " \t\r\n")]) {
		ctl_error(rq, CANNOT "only one line of payload is supported!");
		return false;
	}
	if (!tls_crt_list_words(&a, n->text, &n->cert)) {
		if (a.mark)
			ctl_error(rq, CANNOT "parsing [CLI:1]%s%s", a.mark, a.why);
		else
			ctl_error(rq, CANNOT "%s", a.why);
		return false;
	}
	if (!n->cert)
		ctl_error(rq, CANNOT "'add ssl crtlist' should contain the certificate name in "
			  "the payload");
	return n->cert;
}

static enum ctl_step add_crt_list(struct ctl_request *rq)
{
	const char *list = rq->words[rq->at], *cert = list ? rq->words[rq->at + 1] : NULL;
	struct new_line n = { .list = list, .cert = cert };
	char *text = NULL;
	struct tls_entry *e = NULL;

	if (rq->payload.ptr && list)
		n.text = text = strndup(rq->payload.ptr, rq->payload.len);
	if (text ? !*text : !cert) {
		ctl_error(rq, "'add ssl crtlist' expects a filename and a certificate name");
		free(text);
		return CTL_DONE;
	}
	config_edit_begin(); /* it takes memory of the generation's arena */
	tls_store_lock();
	if (!bind_with(list)) {
		ctl_error(rq, CANNOT "crt-list '%s' does not exist!", list);
	} else if (!n.text || take_new_line(rq, &n)) {
		e = tls_store_find(tls_store_of(tls_live()), n.cert);
		if (!e)
			ctl_error(rq, CANNOT "certificate '%s' does not exist!", n.cert);
		else if (!e->cert)
			ctl_error(rq, CANNOT "certificate '%s' is empty!", n.cert);
		else
			add_line(rq, &n);
	}
	tls_store_unlock();
	config_edit_end();
	free(text);
	return CTL_DONE;
}

/* Takes the entries out of every bind line that has the list; how many there were. */
static unsigned remove_uses(const char *list, const struct tls_entry *e, int line)
{
	struct tls_use *u, *next;
	struct tls_bind *b;
	unsigned count = 0;

	list_for_each(b, &global()->binds, link) {
		bool changed = false;

		list_for_each_safe(u, next, &b->uses, of_bind) {
			if (!is_of(u, list) || u->entry != e || (line && u->line != line))
				continue;
			list_remove(&u->of_bind);
			list_remove(&u->of_entry);
			changed = true;
			count++;
		}
		if (changed)
			tls_names_publish(b);
	}
	return count;
}

/* The lines of the list that have the entry: "2, 3" to <out>. Returns how many; *is_one: <line> is
 * one of them.
 */
static unsigned lines_with(struct strbuf *out, const char *list, const struct tls_entry *e,
			   int line, bool *is_one)
{
	struct tls_bind *b = bind_with(list);
	unsigned count = 0;
	struct tls_use *u;
	int last = 0;

	*is_one = false;
	list_for_each(u, &b->uses, of_bind) {
		if (!is_of(u, list) || u->entry != e || u->line == last)
			continue;
		last = u->line;
		*is_one |= last == line;
		strbuf_printf(out, count++ ? ", %d" : "%d", last);
	}
	strbuf_add_str(out, "");
	return count;
}

/* Is one of the entries what clients without a name get? Told to <out>, line by line. */
static bool has_default(struct strbuf *out, const char *list, const struct tls_entry *e, int line)
{
	struct tls_bind *b;
	struct tls_use *u;
	bool any = false;

	list_for_each(b, &global()->binds, link) {
		if (b->set.flags & TLS_SET_STRICT_SNI)
			continue;
		list_for_each(u, &b->uses, of_bind) {
			if (!is_of(u, list) || u->entry != e || (line && u->line != line) ||
			    !tls_use_is_default(u, list_first(&b->uses, struct tls_use, of_bind)))
				continue;
			strbuf_printf(out, "\n\t- %s:%d", b->where.file, b->where.line);
			any = true;
		}
	}
	return any;
}

/* Takes the entry's one line out of the list, or <line>. <word>: as the command names it. */
static void del_line(struct ctl_request *rq, const char *list, const char *word,
		     const struct tls_entry *e, int line)
{
	struct strbuf lines, binds;
	unsigned count;
	bool is_one;

	strbuf_init(&lines);
	strbuf_init(&binds);
	count = lines_with(&lines, list, e, line, &is_one);
	if (!count)
		ctl_error(rq, "Can't delete the entry: certificate '%s' can't be found in crt-list "
			  "'%s'!", word, list);
	else if (!line && count > 1)
		ctl_error(rq, "Can't delete the entry: found the certificate '%s' in several "
			  "entries, please specify a line number preceded by colons (%s)!",
			  e->name, lines.ptr);
	else if (line && !is_one)
		ctl_error(rq, "Can't delete the entry: found a certificate '%s' but the line "
			  "number is incorrect, please specify a correct line number preceded by "
			  "colons (%s)!", e->name, lines.ptr);
	else if (has_default(&binds, list, e, line))
		ctl_error(rq, "Can't delete the entry: certificate '%s' cannot be deleted, it is "
			  "used as default certificate by the following frontends:%s", e->name,
			  binds.ptr);
	else if (remove_uses(list, e, line)) {
		tls_store_note(tls_store_of(tls_live()), list, "entries");
		ctl_tell(rq, CTL_NOTICE, "Entry '%s' deleted in crtlist '%s'!", e->name, list);
	}
	strbuf_fini(&lines);
	strbuf_fini(&binds);
}

static enum ctl_step del_crt_list(struct ctl_request *rq)
{
	const char *list = rq->words[rq->at], *word = list ? rq->words[rq->at + 1] : NULL;
	const char *colon = word ? strrchr(word, ':') : NULL, *end = NULL;
	struct tls_entry *e;
	char *name;
	int line;

	if (!word) {
		ctl_error(rq, "'del ssl crtlist' expects a filename and a certificate name");
		return CTL_DONE;
	}
	line = colon ? num_prefix_int(colon + 1, &end) : 0;
	if (colon && (*end || end == colon + 1)) {
		ctl_error(rq, "Can't delete the entry: wrong line number after colons in '%s'!",
			  word);
		return CTL_DONE;
	}
	name = colon ? strndup(word, (size_t)(colon - word)) : strdup(word);
	tls_store_lock();
	e = name ? tls_store_find(tls_store_of(tls_live()), name) : NULL;
	if (!bind_with(list))
		ctl_error(rq, "Can't delete the entry: crt-list '%s' does not exist!", list);
	else if (!e)
		ctl_error(rq, "Can't delete the entry: certificate '%s' does not exist!", word);
	else if (!e->cert)
		ctl_error(rq, "Can't delete the entry: certificate '%s' is empty!", word);
	else
		del_line(rq, list, word, e, line);
	tls_store_unlock();
	free(name);
	return CTL_DONE;
}

/* --- names ------------------------------------------------------------------------------------ */

/* What of the names is asked for. */
struct sni_choice {
	const char *frontend;        /* NULL: all */
	bool expired;                /* only what has expired ... */
	int64_t offset_s;            /* ... so many seconds from now */
};

static void put_date(struct strbuf *out, const ASN1_TIME *t)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *p;
	long len;

	if (!bio)
		return;
	ASN1_TIME_print(bio, t);
	len = BIO_get_mem_data(bio, &p);
	strbuf_add_char(out, '\t');
	if (len > 0)
		strbuf_add(out, slice_make(p, (size_t)len));
	BIO_free(bio);
}

/* Is the date of its end later than the choice's? */
static bool is_left_out(struct tls_cert *c, const struct sni_choice *choice)
{
	time_t then = time(NULL) + choice->offset_s;

	return choice->expired && tls_cert_open(c) &&
	       X509_cmp_time(X509_get0_notAfter(c->leaf), &then) > 0;
}

static void put_row(struct strbuf *out, const struct tls_bind *b, const struct tls_name_row *r)
{
	static const char *const types[] = { "rsa", "ecdsa", "dsa" };
	struct tls_cert *c = r->use->entry->cert;
	bool any = false;

	strbuf_printf(out, "%s/%s:%d\t%s%.*s\t", b->where.proxy, b->where.file, b->where.line,
		      r->wildcard ? "*" : "", (int)r->name.len, r->name.ptr);
	for (unsigned i = 0; i < r->use->filter_count; i++) {
		struct slice filter = r->use->filters[i];

		if (*filter.ptr != '!')
			continue;
		strbuf_printf(out, "%.*s ", (int)filter.len, filter.ptr);
		any = true;
	}
	if (!any)
		strbuf_add_char(out, '-');
	strbuf_printf(out, "\t%s\t%s", types[c->type], r->use->entry->name);
	if (tls_cert_open(c)) {
		put_date(out, X509_get0_notAfter(c->leaf));
		put_date(out, X509_get0_notBefore(c->leaf));
	}
	strbuf_add_char(out, '\n');
}

/* Exact names, then the default, then wildcards. */
static int by_sni(const void *a, const void *b)
{
	const struct tls_name_row *x = a, *y = b;
	size_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
	int rank_x = x->wildcard ? x->name.len ? 2 : 1 : 0;
	int rank_y = y->wildcard ? y->name.len ? 2 : 1 : 0;
	int r = rank_x - rank_y;

	if (!r && len)
		r = memcmp(x->name.ptr, y->name.ptr, len);
	return r ? r : (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

static void show_names(struct strbuf *out, struct tls_bind *b, const struct sni_choice *choice)
{
	struct tls_name_row *rows, r;
	unsigned count = 0, room = 0;
	struct tls_use *u;

	while (b->names && tls_names_row(b->names, room, &r))
		room++;
	list_for_each(u, &b->uses, of_bind)
		room++;
	rows = malloc((room + 1) * sizeof(*rows));
	if (!rows)
		return;
	for (unsigned i = 0; b->names && tls_names_row(b->names, i, &r); i++)
		if (!r.negative)
			rows[count++] = r;
	list_for_each(u, &b->uses, of_bind)
		if (u->entry->cert && (u->is_for_all || tls_use_is_default(
			u, list_first(&b->uses, struct tls_use, of_bind))))
			rows[count++] = (struct tls_name_row){ .wildcard = true, .use = u };
	qsort(rows, count, sizeof(*rows), by_sni);
	for (unsigned i = 0; i < count; i++)
		if (!is_left_out(rows[i].use->entry->cert, choice))
			put_row(out, b, &rows[i]);
	free(rows);
}

/* False: reported. */
static bool take_choice(struct ctl_request *rq, struct sni_choice *c)
{
	uint64_t us;
	size_t bad;

	*c = (struct sni_choice){ 0 };
	for (int i = rq->at; i < rq->count; i++) {
		const char *word = rq->words[i], *value = rq->words[i + 1];

		if (strcmp(word, "-A") == 0) {
			c->expired = true;
			continue;
		}
		if (strcmp(word, "-f") != 0 && strcmp(word, "-t") != 0) {
			ctl_error(rq, "Invalid parameters, 'show ssl sni' only supports '-f', '-A' "
				  "or '-t' options!");
			return false;
		}
		if (i + 1 >= rq->count) {
			ctl_error(rq, word[1] == 'f' ? "'-f' requires a frontend name!"
						     : "'-t' requires an offset argument!");
			return false;
		}
		i++;
		if (word[1] == 'f') {
			c->frontend = value;
		} else if (num_parse_time(slice_of(value), NUM_SEC, &us, &bad) == NUM_OK) {
			c->offset_s = (int64_t)(us / NUM_SEC);
		} else {
			ctl_error(rq, "'-t %s' : unexpected character '%c'", value, value[bad]);
			return false;
		}
	}
	return true;
}

static enum ctl_step show_sni(struct ctl_request *rq)
{
	struct sni_choice c;
	struct tls_bind *b;
	bool found = false;

	if (!take_choice(rq, &c))
		return CTL_DONE;
	tls_store_lock();
	list_for_each(b, &global()->binds, link)
		found |= !c.frontend || strcmp(c.frontend, b->where.proxy) == 0;
	if (found || !c.frontend)
		strbuf_add_str(rq->out, "# Frontend/Bind\tSNI\tNegative Filter\tType\tFilename\t"
			       "NotAfter\tNotBefore\n");
	else
		ctl_error(rq, "Couldn't find the specified frontend!");
	list_for_each(b, &global()->binds, link)
		if (!c.frontend || strcmp(c.frontend, b->where.proxy) == 0)
			show_names(rq->out, b, &c);
	tls_store_unlock();
	return CTL_DONE;
}

/* --- tickets, providers ----------------------------------------------------------------------- */

static enum ctl_step show_tls_keys(struct ctl_request *rq)
{
	const char *which = rq->words[rq->at];
	struct strbuf text;

	strbuf_init(&text);
	tls_store_lock();
	tls_tickets_show(&text, which);
	tls_store_unlock();
	if (!text.len && which && *which != '*') {
		ctl_error(rq, "'show tls-keys' unable to locate referenced filename");
	} else {
		strbuf_add_str(rq->out, which ? "# id secret\n" : "# id (file)\n");
		strbuf_add(rq->out, strbuf_slice(&text));
	}
	if (text.ptr)
		explicit_bzero(text.ptr, text.len);
	strbuf_fini(&text);
	return CTL_DONE;
}

static enum ctl_step set_tls_key(struct ctl_request *rq)
{
	const char *file = rq->words[rq->at], *key = file ? rq->words[rq->at + 1] : NULL;
	const char *error = NULL;

	if (!key) {
		ctl_error(rq, "'set ssl tls-key' expects a filename and the new TLS key in base64 "
			  "encoding.");
		return CTL_DONE;
	}
	tls_store_lock();
	if (tls_tickets_add(file, key, &error))
		ctl_say(rq, "TLS ticket key updated!");
	else
		ctl_error(rq, "%s", error);
	tls_store_unlock();
	return CTL_DONE;
}

static int put_provider(OSSL_PROVIDER *p, void *ctx)
{
	strbuf_printf(ctx, "\t- %s\n", OSSL_PROVIDER_get0_name(p));
	return 1;
}

static enum ctl_step show_providers(struct ctl_request *rq)
{
	strbuf_add_str(rq->out, "Loaded providers : \n");
	OSSL_PROVIDER_do_all(NULL, put_provider, rq->out);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show ssl crt-list", .level = CTL_ADMIN, .syntax = "[-n] [<list>]",
	  .help = "list crt-lists, or print one", .run = show_crt_list },
	{ .words = "add ssl crt-list", .level = CTL_ADMIN, .syntax = "<list> <cert> | <payload>",
	  .help = "add a certificate to a crt-list", .run = add_crt_list },
	{ .words = "del ssl crt-list", .level = CTL_ADMIN, .syntax = "<list> <cert>[:<line>]",
	  .help = "remove a certificate from a crt-list", .run = del_crt_list },
	{ .words = "show ssl sni",
	  .syntax = "[-f <frontend>] [-A] [-t <offset>]",
	  .help = "list names and their certificates", .run = show_sni },
	{ .words = "show tls-keys", .level = CTL_ADMIN, .syntax = "[<id>|*]",
	  .help = "list files of ticket keys, or print keys", .run = show_tls_keys },
	{ .words = "set ssl tls-key", .level = CTL_ADMIN, .syntax = "<id|file> <key>",
	  .help = "add a ticket key, which drops the oldest", .run = set_tls_key },
	{ .words = "show ssl providers",
	  .help = "list the providers of OpenSSL", .run = show_providers },
	{ 0 }
};

const struct module mod_tls_list_ctl = { .name = "tls-list-commands", .commands = commands };
