/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jwt.c - edge file: JSON Web Tokens verified and decrypted with certificates of the store
 *
 * Only certificates enabled for it are used: `jwt on`, `add ssl jwt`. Converters look them up while
 * commands change the store: tls_store_take() counts references.
 *
 * Manual: configuration 7.3.1 jwt_verify_cert, jwt_decrypt_cert; management 9.3
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "cert_priv.h"
#include "ctl_priv.h"
#include "expr/expr.h"
#include "expr/jwt.h"
#include "global_priv.h"
#include "store_priv.h"

/* The certificate of that name in the configuration of the converter; else in that in force,
 * which is another for expressions that a command or a script has made. Same as tls_store_take().
 */
static struct tls_cert *find(struct expr_ctx *ctx, const struct config *cfg, struct slice name,
			     bool *jwt)
{
	const char *text = arena_printf(ctx->arena, "%.*s", (int)name.len, name.ptr);
	const struct config *live = expr_config_in_force();
	struct tls_cert *c = NULL;

	*jwt = false;
	if (text)
		c = tls_store_take(cfg, text, jwt);
	if (text && !c && live && live != cfg)
		c = tls_store_take(live, text, jwt);
	if (c)
		tls_cert_open(c);
	return c;
}

/* --- converters: the configuration is the argument behind those that are written -------------- */

/* The file is read now, and may be used, if it is named here. */
static bool check_verify(struct conf_line *l, struct expr_arg *args, const char **error)
{
	struct tls_cert_files files = { .may_lack_key = true };
	struct tls_store *store = tls_store_of(l->cfg);
	struct tls_entry *e;
	char why[512];

	jwt_prepare_args(l, args, 2);
	args[2].object = l->cfg;
	if (!jwt_check_algorithm(l, &args[0], error))
		return false;
	if (args[1].type == ARG_VAR || !args[1].name.len)
		return true;
	files.crt = args[1].name.ptr;
	e = tls_store_find(store, files.crt);
	if (!e)
		e = tls_store_load(l->cfg, files.crt, &files, why, sizeof(why));
	if (e)
		e->jwt = true;
	else
		*error = arena_printf(&l->cfg->arena, "%s", why);
	return e != NULL;
}

struct lookup {
	struct expr_ctx *ctx;
	const struct config *cfg;
	struct slice name;
	struct tls_cert *cert;       /* found, counted; or NULL */
};

static enum jwt_verdict find_key(void *data, EVP_PKEY **key)
{
	struct lookup *l = data;
	bool jwt;

	l->cert = find(l->ctx, l->cfg, l->name, &jwt);
	*key = l->cert && jwt && l->cert->leaf ? X509_get0_pubkey(l->cert->leaf) : NULL;
	return l->cert ? JWT_UNAVAILABLE_KEY : JWT_BAD_KEY;
}

static bool convert_verify(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct lookup l = { .ctx = ctx, .cfg = args[2].object };
	struct slice alg;

	if (!jwt_read_arg(&args[0], ctx, &alg) || !alg.len ||
	    !jwt_read_arg(&args[1], ctx, &l.name) || !l.name.len)
		return false;
	s->integer = jwt_verify(ctx, l.cfg, alg, s->text, find_key, &l);
	s->type = SMP_INT;
	tls_cert_drop(&l.cert);
	return true;
}

static bool check_decrypt(struct conf_line *l, struct expr_arg *args, const char **error)
{
	struct tls_entry *e;

	jwt_prepare_args(l, args, 1);
	args[1].object = l->cfg;
	if (args[0].type == ARG_VAR)
		return true;
	e = tls_store_find(tls_store_of(l->cfg), args[0].name.ptr);
	if (!e)
		*error = arena_printf(&l->cfg->arena, "unknown certificate %s; a crt-store or a "
				      "bind line above must load it", args[0].name.ptr);
	else if (!e->jwt)
		*error = arena_printf(&l->cfg->arena, "unusable certificate %s (\"jwt\" option "
				      "not set to \"on\")", args[0].name.ptr);
	return e && e->jwt;
}

static bool convert_decrypt(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct jwt_key key = { .secret = slice_none() };
	struct tls_cert *c;
	struct slice name;
	bool jwt, ok;

	if (!jwt_read_arg(&args[0], ctx, &name))
		return false;
	c = find(ctx, args[1].object, name, &jwt);
	key.key = c && jwt ? c->key : NULL;
	ok = key.key && jwt_decrypt(ctx, args[1].object, &key, s);
	tls_cert_drop(&c);
	return ok;
}

static const struct expr_converter converters[] = {
	{ .name = "jwt_decrypt_cert", .args_min = 1, .args = { ARG_STR }, .in = SMP_BIN,
	  .out = SMP_BIN, .context = true, .convert = convert_decrypt, .check = check_decrypt,
	  .syntax = "(<cert>)",
	  .help = "the content of an encrypted JSON Web Token, by a certificate's key" },
	{ .name = "jwt_verify_cert", .args_min = 2, .args = { ARG_STR, ARG_STR }, .in = SMP_BIN,
	  .out = SMP_INT, .context = true, .convert = convert_verify, .check = check_verify,
	  .syntax = "(<algorithm>,<cert>)",
	  .help = "jwt_verify by a certificate; -7: it is not meant for tokens" },
	{ 0 }
};

/* --- commands --------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum ctl_step show(struct ctl_request *rq)
{
	unsigned count = 0, room = 0;
	struct tls_store *store;
	const char **names;

	tls_store_lock();
	store = tls_store_of(tls_live());
	for (struct tls_entry *e = tls_store_first(store); e; e = tls_store_next(e))
		room += e->jwt;
	names = calloc(room + 1, sizeof(*names));
	for (struct tls_entry *e = tls_store_first(store); names && e; e = tls_store_next(e))
		if (e->jwt)
			names[count++] = e->name;
	if (names)
		qsort(names, count, sizeof(*names), by_text);
	if (tls_store_first(store))
		strbuf_add_str(rq->out, "# filename\n");
	for (unsigned i = 0; i < count; i++)
		strbuf_printf(rq->out, "%s\n", names[i]);
	free(names);
	tls_store_unlock();
	return CTL_DONE;
}

static void set(struct ctl_request *rq, bool jwt)
{
	const char *name = rq->words[rq->at];
	struct tls_entry *e;

	if (!name) {
		ctl_error(rq, "'%s ssl jwt' expects a filename", jwt ? "add" : "del");
		return;
	}
	tls_store_lock();
	e = tls_store_find(tls_store_of(tls_live()), name);
	if (e)
		__atomic_store_n(&e->jwt, jwt, __ATOMIC_RELAXED);
	else
		ctl_error(rq, "Can't display the certificate: Not found or the certificate is a "
			  "bundle!");
	tls_store_unlock();
}

static enum ctl_step add(struct ctl_request *rq)
{
	set(rq, true);
	return CTL_DONE;
}

static enum ctl_step del(struct ctl_request *rq)
{
	set(rq, false);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show ssl jwt", .level = CTL_OPERATOR,
	  .help = "list certificates allowed for tokens", .run = show },
	{ .words = "add ssl jwt", .level = CTL_ADMIN, .syntax = "<certfile>",
	  .help = "allow a certificate for tokens", .run = add },
	{ .words = "del ssl jwt", .level = CTL_ADMIN, .syntax = "<certfile>",
	  .help = "disallow a certificate for tokens", .run = del },
	{ 0 }
};

const struct module mod_tls_jwt = { .name = "tls-tokens", .converters = converters,
				    .commands = commands };
