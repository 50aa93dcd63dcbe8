/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mux.c - the table of protocols, and the choice for a connection */
#include "mux/mux.h"
#include <string.h>
#include "base/bug.h"
#include "base/module.h"
#include "mux/h2.h"
#include "probe_priv.h"

/* Far more than there are protocols. */
#define KINDS_MAX 16
#define ALPN_MAX 64

static const struct mux_kind *kinds[KINDS_MAX];
static unsigned kind_count;
static const struct mux_kind *defaults[3]; /* by mode */
/* By enum mux_side: what ALPN may offer, in wire format. */
static struct alpn_list {
	char bytes[ALPN_MAX];
	size_t len;
} alpn_lists[4];

static void add_alpn(const struct mux_kind *k, enum mux_side side)
{
	struct alpn_list *l = &alpn_lists[side];

	if (!(k->sides & side) || !k->alpn.len || k->traits & MUX_FRAMED)
		return;
	BUG_ON(l->len + k->alpn.len > sizeof(l->bytes));
	memcpy(l->bytes + l->len, k->alpn.ptr, k->alpn.len);
	l->len += k->alpn.len;
}

bool muxes_register(const struct module *const *modules)
{
	memset(alpn_lists, 0, sizeof(alpn_lists));
	kind_count = 0;
	for (; *modules; modules++) {
		const struct mux_kind *const *k = (*modules)->muxes;

		for (; k && *k; k++) {
			if (kind_count == KINDS_MAX)
				return false;
			kinds[kind_count++] = *k;
			if ((*k)->traits & MUX_DEFAULT)
				defaults[(*k)->mode] = *k;
			add_alpn(*k, MUX_FRONT);
			add_alpn(*k, MUX_BACK);
		}
	}
	return true;
}

const struct mux_kind *mux_find(const char *name)
{
	for (unsigned i = 0; i < kind_count; i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

const struct mux_kind *mux_default(enum mux_mode mode)
{
	return defaults[mode];
}

struct slice mux_protocol(const struct mux_kind *k)
{
	return k->alpn.len ? slice_sub(k->alpn, 1, k->alpn.len) : slice_none();
}

const struct mux_kind *mux_of_alpn(struct slice protocol)
{
	for (unsigned i = 0; protocol.len && i < kind_count; i++)
		if (slice_eq(mux_protocol(kinds[i]), protocol) && !(kinds[i]->traits & MUX_FRAMED))
			return kinds[i];
	return mux_default(MUX_HTTP);
}

struct slice mux_alpn_list(enum mux_side side)
{
	return slice_make(alpn_lists[side].bytes, alpn_lists[side].len);
}

const struct mux_kind *mux_of_preface(struct slice bytes, bool *more)
{
	*more = false;
	for (unsigned i = 0; i < kind_count; i++) {
		struct slice preface = kinds[i]->preface;
		size_t n = bytes.len < preface.len ? bytes.len : preface.len;

		if (!preface.len || memcmp(bytes.ptr, preface.ptr, n) != 0)
			continue;
		if (n == preface.len)
			return kinds[i];
		*more = true;
	}
	return NULL;
}

bool mux_fits(const struct mux_kind *k, enum mux_side side, enum mux_mode mode)
{
	return k->sides & side && k->mode == mode;
}

uint8_t mux_number(const struct mux_kind *k)
{
	for (unsigned i = 0; i < kind_count; i++)
		if (kinds[i] == k)
			return (uint8_t)(i + 1);
	return 0;
}

const struct mux_kind *mux_of_number(uint8_t number)
{
	return number ? kinds[number - 1] : NULL;
}

void mux_settings_init(struct mux_settings *set, const struct config *cfg)
{
	*set = (struct mux_settings){ .h2 = h2_tunes_of(cfg) };
}

/* --- connections ------------------------------------------------------------------------------ */

struct mux *mux_front_begin(struct conn *c, const struct mux_kind *k,
			    const struct front_owner *o)
{
	struct mux *m = k->front_new(c, o);

	if (m)
		m->kind = k;
	return m;
}

bool mux_back_begin(struct conn *c, struct endpoint *ep, const struct mux_kind *k,
		    const struct back_owner *o)
{
	struct mux *m;

	if (!k)
		return probe_attach(c, ep, o);
	m = k->back_new(c, ep, o);
	if (!m)
		return false;
	m->kind = k;
	o->user->begun(o->owner, m);
	return true;
}

/* --- what the program says of them ------------------------------------------------------------ */

static void dump_line(FILE *out, const struct mux_kind *k, bool as_default)
{
	static const char *const modes[] = { "TCP", "HTTP", "SPOP" };
	static const char *const sides[] = { "", "FE", "BE", "FE|BE" };
	const char *flags[4];
	unsigned n = 0;

	if (k->mode == MUX_HTTP)
		flags[n++] = "HTX";
	if (k->traits & MUX_MULTIPLEX && !(k->traits & MUX_FRAMED))
		flags[n++] = "HOL_RISK";
	if (!as_default || k->mode == MUX_SPOP)
		flags[n++] = "NO_UPG";
	if (k->traits & MUX_FRAMED)
		flags[n++] = "FRAMED";
	fprintf(out, "%11s : mode=%-5s side=%-6s mux=%-5s flags=",
		as_default ? "<default>" : k->name, modes[k->mode], sides[k->sides], k->label);
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? "|" : "", flags[i]);
	fputc('\n', out);
}

void muxes_dump(FILE *out)
{
	fprintf(out, "Available multiplexer protocols :\n"
		"(protocols marked as <default> cannot be specified using 'proto' keyword)\n");
	for (unsigned i = 0; i < kind_count; i++) {
		if (!kinds[i]->sides)
			continue;
		if (kinds[i]->traits & MUX_DEFAULT)
			dump_line(out, kinds[i], true);
		dump_line(out, kinds[i], false);
	}
}
