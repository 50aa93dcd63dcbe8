/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_conf.c - edge file: the section crt-store
 *
 * Manual: configuration 3.11, 12.7
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "cert_priv.h"
#include "conf/conf.h"
#include "global_priv.h"
#include "settings_priv.h"
#include "store_priv.h"

/* One section while it is read. */
struct store_section {
	const char *name;            /* "": without */
	const char *crt_base, *key_base;
	bool has_loads;
};

static bool open_section(struct conf_line *l)
{
	struct store_section *s = arena_zalloc(&l->cfg->arena, sizeof(*s));

	if (!s)
		return conf_error(l, 0, NULL, "out of memory.");
	s->name = l->section_name;
	l->object = s;
	if (l->count > 2)
		return conf_error(l, 2, NULL, "'crt-store' section only supports a <name> "
				  "argument.");
	return true;
}

/* keyword->min: key-base */
static bool parse_base(struct conf_line *l)
{
	struct store_section *s = l->object;
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' requires a <path> argument.", l->words[0]);
	if (s->has_loads)
		return conf_error(l, 0, NULL, "'%s' can't be used after a load line, use it at the "
				  "beginning of the section.", l->words[0]);
	if (l->keyword->min)
		s->key_base = word;
	else
		s->crt_base = word;
	return true;
}

/* Those of the section, else of `global`. */
static const char *crt_base(const struct conf_line *l)
{
	const struct store_section *s = l->object;

	return s->crt_base ? s->crt_base : tls_global_of(l->cfg)->crt_base;
}

static const char *key_base(const struct conf_line *l)
{
	const struct store_section *s = l->object;

	return s->key_base ? s->key_base : tls_global_of(l->cfg)->key_base;
}

/* What a line says. */
struct load {
	struct tls_cert_files files;
	const char *crt, *alias;
	struct tls_acme acme;        /* section NULL: none */
	uint8_t ocsp_update, jwt;    /* enum tls_ocsp_update */
};

static bool take_parameters(struct conf_line *l, struct load *load)
{
	const char *word, *value;

	while ((word = conf_next(l))) {
		value = conf_next(l);
		if (!value)
			return conf_error(l, l->at, NULL, "'%s' expects a value.", word);
		if (strcmp(word, "crt") == 0)
			load->crt = value;
		else if (strcmp(word, "alias") == 0)
			load->alias = value;
		else if (strcmp(word, "key") == 0)
			load->files.key = tls_path(l->cfg, key_base(l), value);
		else if (strcmp(word, "ocsp") == 0)
			load->files.ocsp = tls_path(l->cfg, crt_base(l), value);
		else if (strcmp(word, "issuer") == 0)
			load->files.issuer = tls_path(l->cfg, crt_base(l), value);
		else if (strcmp(word, "sctl") == 0)
			load->files.sctl = tls_path(l->cfg, crt_base(l), value);
		else if (strcmp(word, "acme") == 0)
			load->acme.section = value;
		else if (strcmp(word, "domains") == 0)
			load->acme.domains = value;
		else if (strcmp(word, "ips") == 0)
			load->acme.ips = value;
		else if (strcmp(word, "ocsp-update") == 0 &&
			 tls_ocsp_update_take(value, &load->ocsp_update))
			continue;
		else if (strcmp(word, "jwt") == 0 && tls_ocsp_update_take(value, &load->jwt))
			continue;
		else if (strcmp(word, "ocsp-update") == 0 || strcmp(word, "jwt") == 0)
			return conf_error(l, l->at - 1, NULL, "cannot parse '%s' value '%s', 'on' "
					  "or 'off' is expected.", word, value);
		else
			return conf_error(l, l->at - 2, NULL, "'load' : '%s %s' is not supported.",
					  word, value);
	}
	return load->crt || conf_error(l, l->at, NULL, "'load' : missing 'crt' argument.");
}

/* Does what is said of ACME make sense? */
static bool acme_is_right(struct conf_line *l, const struct load *load)
{
	const struct tls_acme *a = &load->acme;

	if (!a->section && (a->domains || a->ips))
		return conf_error(l, l->at, NULL, "'load' : '%s' needs 'acme'.",
				  a->domains ? "domains" : "ips");
	if (!a->section)
		return true;
	if (!conf_experimental(l->cfg))
		return conf_error(l, l->at, NULL, "'acme' is experimental, must be allowed via a "
				  "global 'expose-experimental-directives'.");
	return (a->domains && *a->domains) || (a->ips && *a->ips) ||
	       conf_error(l, l->at, NULL, "'load' : 'acme' needs 'domains' or 'ips'.");
}

/* The certificate of the file, or, where an authority will give it, one of our own for now. */
static struct tls_entry *load_it(struct conf_line *l, const char *name, struct load *load,
				 char *why, size_t size)
{
	const char *domain = load->acme.domains ? load->acme.domains : load->acme.ips;
	struct tls_acme *acme = NULL;
	struct tls_entry *e;
	char first[65];
	int there;

	if (load->acme.section) {
		there = file_open(load->files.crt, O_RDONLY, 0);
		load->acme.is_temporary = there < 0 && errno == ENOENT;
		if (there >= 0)
			close(there);
		acme = arena_alloc(&l->cfg->arena, sizeof(*acme));
		if (!acme) {
			snprintf(why, size, "out of memory.");
			return NULL;
		}
		*acme = load->acme;
	}
	snprintf(first, sizeof(first), "%.*s", (int)(domain ? strcspn(domain, ",") : 0),
		 domain ? domain : "");
	e = load->acme.is_temporary ? tls_acme_temporary(l->cfg, name, first, why, size)
		: tls_store_load(l->cfg, name, &load->files, why, size);
	if (e)
		e->acme = acme;
	return e;
}

static bool parse_load(struct conf_line *l)
{
	struct store_section *s = l->object;
	struct load load = { 0 };
	struct tls_entry *e;
	char why[512] = "";
	const char *name;

	s->has_loads = true;
	if (!take_parameters(l, &load) || !acme_is_right(l, &load))
		return false;
	load.files.crt = tls_path(l->cfg, crt_base(l), load.crt);
	load.files.may_lack_key = load.files.listed = true;
	if (*s->name || load.alias)
		name = arena_printf(&l->cfg->arena, "@%s/%s", s->name,
				    load.alias ? load.alias : load.crt);
	else
		name = load.files.crt;
	if (!name)
		return conf_error(l, 0, NULL, "out of memory.");
	if (tls_store_find(tls_store_of(l->cfg), name))
		return conf_error(l, 0, NULL, "'load' : Certificate '%s' already exists!", name);
	e = load_it(l, name, &load, why, sizeof(why));
	if (!e)
		return conf_error(l, 0, NULL, "'load' : %s", why);
	e->in_store = true;
	e->ocsp_update = load.ocsp_update;
	e->jwt = load.jwt == TLS_OCSP_UPDATE_ON;
	return true;
}

#define HERE .where = CONF_OTHER, .section = "crt-store"

static const struct conf_section sections[] = {
	{ .name = "crt-store", .where = CONF_OTHER, .open = open_section, .syntax = "[<name>]",
	  .help = "certificates by name" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	{ .words = "crt-base", HERE, .max_args = 1, .parse = parse_base, .syntax = "<dir>",
	  .help = "where relative names of certificates begin" },
	{ .words = "key-base", HERE, .max_args = 1, .parse = parse_base, .min = 1,
	  .syntax = "<dir>", .help = "where relative names of keys begin" },
	{ .words = "load", HERE, .max_args = -1, .parse = parse_load,
	  .syntax = "crt <file> [key <file>] [alias <name>] [ocsp <file>] [issuer <file>] "
	  "[sctl <file>] [ocsp-update { on | off }] [jwt { on | off }] [acme <section> "
	  "[domains <names>] [ips <addresses>]]",
	  .help = "load a certificate" },
	{ 0 }
};

const struct module mod_tls_store = {
	.name = "crt-store", .sections = sections, .keywords = keywords,
};
