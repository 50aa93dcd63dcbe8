/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_print.c - a row of figures as CSV, typed lines or JSON */
#include <string.h>
#include "base/strbuf.h"
#include "manage/stats.h"

void stats_print_csv_header(struct strbuf *out)
{
	strbuf_add_str(out, "# ");
	for (unsigned f = 0; f < STATS_CSV_COUNT; f++) {
		if (f == STATS_BASE_COUNT)
			strbuf_add_str(out, "-,");
		strbuf_printf(out, "%s,", stats_field_name(f));
	}
	strbuf_add_char(out, '\n');
}

/* What would be taken for the end of a field stands in quotes. */
static void csv_text(struct strbuf *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		strbuf_add_str(out, text);
		return;
	}
	strbuf_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_add_char(out, '"');
		strbuf_add_char(out, *text);
	}
	strbuf_add_char(out, '"');
}

void stats_print_csv(struct strbuf *out, const struct stats_row *r)
{
	for (unsigned f = 0; f < STATS_CSV_COUNT; f++) {
		const struct stats_value *v = &r->values[f];

		if (f == STATS_BASE_COUNT)
			strbuf_add_str(out, "-,");
		if (v->type == STATS_STR)
			csv_text(out, v->text);
		else if (v->type != STATS_EMPTY)
			strbuf_add_int(out, v->number);
		strbuf_add_char(out, ',');
	}
	strbuf_add_char(out, '\n');
}

static const char *type_name(enum stats_type type)
{
	static const char *const names[] = { "", "str", "u32", "s32", "u64" };

	return names[type];
}

/* Much quicker than a format; large dumps have millions of these. */
static void put_words(struct strbuf *out, const char *before, const char *text)
{
	strbuf_add_str(out, before);
	strbuf_add_str(out, text);
}

static void put_number(struct strbuf *out, const char *before, unsigned number)
{
	strbuf_add_str(out, before);
	strbuf_add_int(out, number);
}

/* Columns that co-processes may share: the others are this process's alone. */
static const bool is_shared[STATS_COUNT] = {
	[STATS_STOT] = true, [STATS_BIN] = true, [STATS_BOUT] = true, [STATS_DREQ] = true,
	[STATS_DRESP] = true, [STATS_EREQ] = true, [STATS_ECON] = true, [STATS_ERESP] = true,
	[STATS_WRETR] = true, [STATS_WREDIS] = true, [STATS_CHKFAIL] = true,
	[STATS_CHKDOWN] = true, [STATS_LASTCHG] = true, [STATS_LBTOT] = true, [STATS_RATE] = true,
	[STATS_HRSP_1XX] = true, [STATS_HRSP_2XX] = true, [STATS_HRSP_3XX] = true,
	[STATS_HRSP_4XX] = true, [STATS_HRSP_5XX] = true, [STATS_HRSP_OTHER] = true,
	[STATS_HANAFAIL] = true, [STATS_REQ_RATE] = true, [STATS_REQ_TOT] = true,
	[STATS_CLI_ABRT] = true, [STATS_SRV_ABRT] = true, [STATS_COMP_IN] = true,
	[STATS_COMP_OUT] = true, [STATS_COMP_BYP] = true, [STATS_COMP_RSP] = true,
	[STATS_LASTSESS] = true, [STATS_CONN_RATE] = true, [STATS_CONN_TOT] = true,
	[STATS_INTERCEPTED] = true, [STATS_DCON] = true, [STATS_DSES] = true,
	[STATS_WREW] = true, [STATS_CONNECT] = true, [STATS_REUSE] = true,
	[STATS_CACHE_LOOKUPS] = true, [STATS_CACHE_HITS] = true, [STATS_EINT] = true,
	[STATS_H1SESS] = true, [STATS_H2SESS] = true, [STATS_H3SESS] = true,
	[STATS_REQ_OTHER] = true, [STATS_H1REQ] = true, [STATS_H2REQ] = true,
	[STATS_H3REQ] = true, [STATS_REQBIN] = true, [STATS_REQBOUT] = true,
	[STATS_RESBIN] = true, [STATS_RESBOUT] = true,
};

static const char kind_letters[] = { 'F', 'B', 'S', 'L' };

void stats_print_typed(struct strbuf *out, const struct stats_row *r, bool desc)
{
	for (unsigned f = 0; f < STATS_COUNT; f++) {
		const struct stats_value *v = &r->values[f];

		if (v->type == STATS_EMPTY)
			continue;
		strbuf_add_char(out, kind_letters[r->kind]);
		put_number(out, ".", r->proxy_id);
		put_number(out, ".", r->id);
		put_number(out, ".", f);
		put_words(out, ".", stats_field_name(f));
		put_words(out, ".1:", v->tag);
		put_words(out, is_shared[f] ? "P:" : "V:", type_name(v->type));
		strbuf_add_char(out, ':');
		if (v->type == STATS_STR)
			strbuf_add_str(out, v->text);
		else
			strbuf_add_int(out, v->number);
		if (desc)
			strbuf_printf(out, ":\"%s\"", stats_field_help(f));
		strbuf_add_char(out, '\n');
	}
}

/* The words for the three letters of a tag. */
static const char *tag_word(int place, char letter)
{
	static const struct {
		char letter;
		const char *word;
	} words[3][16] = {
		{ { 'M', "Metric" }, { 'S', "Status" }, { 'K', "Key" }, { 'C', "Config" },
		  { 'P', "Product" } },
		{ { 'G', "Gauge" }, { 'L', "Limit" }, { 'm', "Min" }, { 'M', "Max" },
		  { 'R', "Rate" }, { 'C', "Counter" }, { 'D', "Duration" }, { 'A', "Age" },
		  { 'T', "Time" }, { 'N', "Name" }, { 'O', "Output" }, { 'a', "Avg" } },
		{ { 'C', "Cluster" }, { 'P', "Process" }, { 'S', "Service" }, { 'Y', "System" } },
	};

	for (int i = 0; words[place][i].word; i++)
		if (words[place][i].letter == letter)
			return words[place][i].word;
	return "Unknown";
}

static void json_text(struct strbuf *out, const char *text)
{
	strbuf_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, *text);
	}
	strbuf_add_char(out, '"');
}

void stats_print_json(struct strbuf *out, const struct stats_row *r)
{
	static const char *const kinds[] = { "Frontend", "Backend", "Server", "Listener" };
	bool first = true;

	strbuf_add_char(out, '[');
	for (unsigned f = 0; f < STATS_COUNT; f++) {
		const struct stats_value *v = &r->values[f];

		if (v->type == STATS_EMPTY)
			continue;
		put_words(out, first ? "{\"objType\":\"" : ",{\"objType\":\"", kinds[r->kind]);
		put_number(out, "\",\"proxyId\":", r->proxy_id);
		put_number(out, ",\"id\":", r->id);
		put_number(out, ",\"field\":{\"pos\":", f);
		put_words(out, ",\"name\":\"", stats_field_name(f));
		put_words(out, "\"},\"processNum\":1,\"tags\":{\"origin\":\"",
			  tag_word(0, v->tag[0]));
		put_words(out, "\",\"nature\":\"", tag_word(1, v->tag[1]));
		put_words(out, "\",\"scope\":\"", tag_word(2, v->tag[2]));
		put_words(out, "\"},\"value\":{\"type\":\"", type_name(v->type));
		strbuf_add_str(out, "\",\"value\":");
		if (v->type == STATS_STR)
			json_text(out, v->text);
		else
			strbuf_add_int(out, v->number);
		strbuf_add_str(out, "}}");
		first = false;
	}
	strbuf_add_char(out, ']');
}
