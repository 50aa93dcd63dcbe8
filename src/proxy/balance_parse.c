/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_parse.c - the arguments after the name of an algorithm on a `balance` line */
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "expr/expr.h"
#include "proxy/hash.h"
#include "proxy/proxy.h"
#include "balance_priv.h"

/* --- keys ------------------------------------------------------------------------------------- */

/* A fetch of the part of a request that an algorithm is about; "%s" in <format> is <name>. NULL:
 * reported.
 */
static const struct expr *take_key(struct conf_line *l, const char *format, const char *name)
{
	const char *text = arena_printf(&l->cfg->arena, format, name);
	struct expr *e;
	size_t end;

	if (!text) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	if (strpbrk(name, "(),\"'\\ ")) {
		conf_error(l, 1, NULL, "invalid name '%s'.", name);
		return NULL;
	}
	e = expr_parse(l, text, &end, EXPR_BE_SET_SRV);
	return e;
}

/* The name in "hdr(name)"; NULL: none, or no closing parenthesis. */
static const char *name_in_word(struct conf_line *l, const char *word)
{
	const char *open = strchr(word, '(');
	size_t len = open ? strcspn(open + 1, ")") : 0;

	if (!len || open[1 + len] != ')')
		return NULL;
	return arena_copy(&l->cfg->arena, slice_make(open + 1, len)).ptr;
}

bool balance_parse_source(struct conf_line *l, struct proxy *px, const char *word)
{
	px->balancing.hash.input = HASH_INPUT_ADDRESS;
	px->balancing.hash.key = take_key(l, "src", "");
	return px->balancing.hash.key != NULL;
}

/* The number behind `len` or `depth`. */
static bool take_positive(struct conf_line *l, const char *what, unsigned *out)
{
	const char *word = conf_next(l);
	long v = word ? strtol(word, NULL, 10) : 0;

	if (v <= 0 || v > 65535)
		return conf_error(l, l->at - 1, NULL, "%s : '%s' expects a positive integer (got "
				  "'%s').", "balance uri", what, word ? word : "");
	*out = (unsigned)v;
	return true;
}

bool balance_parse_uri(struct conf_line *l, struct proxy *px, const char *unused)
{
	struct hash_settings *h = &px->balancing.hash;
	const char *fetch = "url", *word;

	h->input = HASH_INPUT_URI;
	h->len = h->depth = 0;
	h->whole = false;
	while ((word = conf_next(l))) {
		if (strcmp(word, "whole") == 0)
			h->whole = true;
		else if (strcmp(word, "path-only") == 0)
			fetch = "pathq";
		else if (strcmp(word, "len") != 0 && strcmp(word, "depth") != 0)
			return conf_error(l, l->at - 1, NULL, "balance uri only accepts parameters "
					  "'len', 'depth', 'path-only', and 'whole' (got '%s').",
					  word);
		else if (!take_positive(l, word, *word == 'l' ? &h->len : &h->depth))
			return false;
	}
	h->key = take_key(l, fetch, "");
	return h->key != NULL;
}

/* The body of a POST is waited for, and looked at; check_post says nothing more. */
bool balance_parse_url_param(struct conf_line *l, struct proxy *px, const char *unused)
{
	bool has_body_fetch = expr_fetch_find(SLICE("req.body_param")) != NULL;
	const char *name = conf_next(l), *word;
	struct hash_settings *h = &px->balancing.hash;

	if (!name)
		return conf_error(l, 0, NULL, "balance url_param requires an URL parameter name.");
	word = conf_next(l);
	if (word && strcmp(word, "check_post") != 0)
		return conf_error(l, l->at - 1, NULL, "balance url_param only accepts "
				  "'check_post' modifier (got '%s').", word);
	if (word && !has_body_fetch)
		return conf_error(l, l->at - 1, NULL, "'check_post' is not supported yet.");
	conf_next(l); /* once a limit of time, ignored since */
	h->input = HASH_INPUT_PARAM;
	h->key = take_key(l, "url_param(%s)", name);
	if (!h->key || !has_body_fetch)
		return h->key != NULL;
	h->body_for = take_key(l, "method", "");
	h->body_key = take_key(l, "req.body_param(%s)", name);
	return h->body_for && h->body_key;
}

bool balance_parse_hdr(struct conf_line *l, struct proxy *px, const char *word)
{
	const char *name = name_in_word(l, word), *modifier = conf_next(l);

	if (!name)
		return conf_error(l, 1, NULL, "balance hdr requires an http header field name.");
	if (modifier && strcmp(modifier, "use_domain_only") != 0)
		return conf_error(l, l->at - 1, NULL, "balance %s only accepts 'use_domain_only' "
				  "modifier (got '%s').", word, modifier);
	px->balancing.hash.input = modifier ? HASH_INPUT_DOMAIN : HASH_INPUT_TEXT;
	px->balancing.hash.key = take_key(l, "req.hdr(%s,1)", name);
	return px->balancing.hash.key != NULL;
}

bool balance_parse_rdp_cookie(struct conf_line *l, struct proxy *px, const char *word)
{
	const char *name = "mstshash";

	if (strchr(word, '(')) {
		name = name_in_word(l, word);
		if (!name)
			return conf_error(l, 1, NULL, "balance rdp-cookie : missing cookie name.");
	}
	if (!expr_fetch_find(SLICE("req.rdp_cookie")))
		return conf_error(l, 1, NULL, "balance algorithm '%s' is not supported yet.", word);
	px->balancing.hash.input = HASH_INPUT_TEXT;
	px->balancing.hash.key = take_key(l, "req.rdp_cookie(%s)", name);
	return px->balancing.hash.key != NULL;
}

bool balance_parse_hash(struct conf_line *l, struct proxy *px, const char *unused)
{
	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "balance hash requires a sample expression.");
	px->balancing.hash.input = HASH_INPUT_BYTES;
	px->balancing.hash.key = expr_take(l, EXPR_BE_SET_SRV);
	if (px->balancing.hash.key && conf_peek(l))
		return conf_error(l, l->at, NULL, "balance hash takes no other argument (got "
				  "'%s').", conf_peek(l));
	return px->balancing.hash.key != NULL;
}

bool balance_parse_random(struct conf_line *l, struct proxy *px, const char *word)
{
	const char *open = strchr(word, '(');
	char *end;
	long v;

	px->balancing.random_draws = 2;
	if (!open)
		return true;
	v = strtol(open + 1, &end, 10);
	if (!*end)
		return conf_error(l, 1, NULL, "balance random : missing closing parenthesis.");
	if (*end != ')')
		return conf_error(l, 1, NULL, "balance random : unexpected character '%c' after "
				  "argument.", *end);
	if (v < 1)
		return conf_error(l, 1, NULL, "balance random : number of draws must be at least "
				  "1.");
	px->balancing.random_draws = v > 65535 ? 65535 : (unsigned)v;
	return true;
}
