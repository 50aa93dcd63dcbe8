/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figures.c - counters of name servers, in the forms that users ask for */
#include <string.h>
#include "base/strbuf.h"
#include "dns_priv.h"

static const struct {
	const char *column, *word, *text;
} columns[] = {
#define X(name, column, word, text) { column, word, text },
	RESOLVE_COUNTERS(X)
#undef X
};

const char *resolvers_column(enum resolve_counter c)
{
	return columns[c].column;
}

const char *resolvers_column_help(enum resolve_counter c)
{
	return columns[c].text;
}

static void figures_read(const struct nameserver_conf *ns, struct resolvers_figures *out)
{
	for (unsigned i = 0; i < RESOLVE_CNT_COUNT; i++)
		out->value[i] = ns->figures
			? __atomic_load_n(&ns->figures->value[i], __ATOMIC_RELAXED) : 0;
}

void resolvers_each(const struct config *cfg,
		    void (*each)(void *ctx, const struct resolvers_figures *f), void *ctx)
{
	for (const struct resolvers *r = resolvers_config_of(cfg)->first; r; r = r->next) {
		for (const struct nameserver_conf *ns = r->servers; ns; ns = ns->next) {
			struct resolvers_figures f = { r->name, ns->name, { 0 } };

			figures_read(ns, &f);
			each(ctx, &f);
		}
	}
}

/* --- show stat ------------------------------------------------------------------------------- */

static void put_csv(void *ctx, const struct resolvers_figures *f)
{
	struct strbuf *out = ctx;

	strbuf_printf(out, "%s,%s,", f->nameserver, f->section);
	for (unsigned i = 0; i < RESOLVE_CNT_COUNT; i++)
		strbuf_printf(out, "%llu,", (unsigned long long)f->value[i]);
	strbuf_add_char(out, '\n');
}

static void put_typed(void *ctx, const struct resolvers_figures *f)
{
	struct strbuf *out = ctx;

	strbuf_printf(out, "N.0.id:CGPV:str:%s\nN.1.pid:CGPV:str:%s\n", f->nameserver, f->section);
	for (unsigned i = 0; i < RESOLVE_CNT_COUNT; i++)
		strbuf_printf(out, "N.%u.%s:MGPV:u64:%llu\n", i + 2, columns[i].column,
			      (unsigned long long)f->value[i]);
}

static void put_described(void *ctx, const struct resolvers_figures *f)
{
	struct strbuf *out = ctx;

	strbuf_printf(out, "N.0.id:CGPV:str:%s:\"ID\"\nN.1.pid:CGPV:str:%s:\"Parent ID\"\n",
		      f->nameserver, f->section);
	for (unsigned i = 0; i < RESOLVE_CNT_COUNT; i++)
		strbuf_printf(out, "N.%u.%s:MGPV:u64:%llu:\"%s\"\n", i + 2, columns[i].column,
			      (unsigned long long)f->value[i], columns[i].text);
}

static void put_json_text(struct strbuf *out, unsigned pos, const char *name, const char *text)
{
	strbuf_printf(out, "%s{\"field\":{\"pos\":%u,\"name\":\"%s\"},\"tags\":{\"origin\":"
		      "\"Config\",\"nature\":\"Gauge\",\"scope\":\"Process\"},\"value\":"
		      "{\"type\":\"str\",\"value\":\"%s\"}}", pos ? "," : "", pos, name, text);
}

/* Names of sections and name servers have no character that JSON would escape. */
static void put_json(void *ctx, const struct resolvers_figures *f)
{
	struct strbuf *out = ctx;

	strbuf_add_str(out, out->ptr[out->len - 1] == '[' ? "[" : ",[");
	put_json_text(out, 0, "id", f->nameserver);
	put_json_text(out, 1, "pid", f->section);
	for (unsigned i = 0; i < RESOLVE_CNT_COUNT; i++)
		strbuf_printf(out, ",{\"field\":{\"pos\":%u,\"name\":\"%s\"},\"tags\":{\"origin"
			      "\":\"Metric\",\"nature\":\"Gauge\",\"scope\":\"Process\"},"
			      "\"value\":{\"type\":\"u64\",\"value\":%llu}}", i + 2,
			      columns[i].column, (unsigned long long)f->value[i]);
	strbuf_add_char(out, ']');
}

void resolvers_put_stat(const struct config *cfg, enum resolvers_form form, struct strbuf *out)
{
	switch (form) {
	case RESOLVERS_CSV:
#define X(name, column, word, text) column ","
		strbuf_add_str(out, "# id,pid," RESOLVE_COUNTERS(X) "\n");
#undef X
		resolvers_each(cfg, put_csv, out);
		return;
	case RESOLVERS_TYPED:
		resolvers_each(cfg, put_typed, out);
		return;
	case RESOLVERS_DESC:
		resolvers_each(cfg, put_described, out);
		return;
	case RESOLVERS_JSON:
		strbuf_add_char(out, '[');
		resolvers_each(cfg, put_json, out);
		strbuf_add_str(out, "]\n");
	}
}

/* --- show resolvers --------------------------------------------------------------------------- */

static void put_section(const struct resolvers *r, struct strbuf *out)
{
	struct resolvers_figures f;

	strbuf_printf(out, "Resolvers section %s\n", r->name);
	for (const struct nameserver_conf *ns = r->servers; ns; ns = ns->next) {
		figures_read(ns, &f);
		strbuf_printf(out, " nameserver %s:\n", ns->name);
		for (unsigned i = 0; i < RESOLVE_CNT_COUNT; i++)
			strbuf_printf(out, "  %s:%*s%llu\n", columns[i].word,
				      (int)(12 - strlen(columns[i].word)), "",
				      (unsigned long long)f.value[i]);
	}
}

void resolvers_put_text(const struct config *cfg, const char *name, struct strbuf *out)
{
	for (const struct resolvers *r = resolvers_config_of(cfg)->first; r; r = r->next)
		if (!name || strcmp(r->name, name) == 0)
			put_section(r, out);
}
