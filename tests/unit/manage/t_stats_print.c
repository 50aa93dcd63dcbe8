/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of `show stat` in their three forms, with texts that mean something to these; the schema. */
#include "base/strbuf.h"
#include "codec/json.h"
#include "manage/stats.h"
#include "tap.h"

static struct strbuf out;

static struct stats_row row(enum stats_kind kind)
{
	struct stats_row r = { .kind = kind, .proxy_id = 7, .id = 3 };

	r.values[STATS_PXNAME] = (struct stats_value){ STATS_STR, "KNS", { .text = "web" } };
	r.values[STATS_SVNAME] = (struct stats_value){ STATS_STR, "KNS", { .text = "a,b\"c" } };
	r.values[STATS_SCUR] = (struct stats_value){ STATS_U32, "MGP", { .number = 0 } };
	r.values[STATS_STOT] = (struct stats_value){ STATS_U64, "MCP", { .number = 1LL << 40 } };
	r.values[STATS_LASTCHG] = (struct stats_value){ STATS_S32, "MAP", { .number = -1 } };
	return r;
}

static unsigned count(struct slice text, char c)
{
	unsigned n = 0;

	for (size_t i = 0; i < text.len; i++)
		n += text.ptr[i] == c;
	return n;
}

static bool has(const char *part)
{
	return slice_find(strbuf_slice(&out), slice_of(part)) != SIZE_MAX;
}

static void check_csv(void)
{
	struct stats_row r = row(STATS_SERVER);
	unsigned columns;

	strbuf_reset(&out);
	stats_print_csv_header(&out);
	columns = count(strbuf_slice(&out), ',');
	is_int(columns, STATS_CSV_COUNT + 1,
	       "a name for each column, and the mark before the extra ones");
	ok(strncmp(out.ptr, "# pxname,svname,qcur,", 21) == 0, "the first ones");
	strbuf_reset(&out);
	stats_print_csv(&out, &r);
	ok(strncmp(out.ptr, "web,\"a,b\"\"c\",,", 14) == 0, "a comma and a quote are quoted");
	is_int(count(strbuf_slice(&out), ','), columns + 1, "as many fields as columns");
	is_int(count(strbuf_slice(&out), '\n'), 1, "one line");
	ok(has(",0,") && has(",1099511627776,") && has(",-1,"), "numbers, 0 among them");
	r.values[STATS_SVNAME].text = "two\nlines\r";
	strbuf_reset(&out);
	stats_print_csv(&out, &r);
	ok(has("web,\"two\nlines\r\","), "line ends stand in quotes");
}

static void check_typed(void)
{
	static const char letters[] = "FBSL";

	for (int kind = STATS_FRONTEND; kind <= STATS_LISTENER; kind++) {
		struct stats_row r = row((enum stats_kind)kind);
		char first[40];

		strbuf_reset(&out);
		stats_print_typed(&out, &r, false);
		is_int(count(strbuf_slice(&out), '\n'), 5, "a line for each value that is there");
		snprintf(first, sizeof(first), "%c.7.3.0.pxname.1:KNSV:str:web\n", letters[kind]);
		ok(strncmp(out.ptr, first, strlen(first)) == 0, "the first one: %s", first);
		ok(has(".svname.1:KNSV:str:a,b\"c\n"), "texts are as they are");
		ok(has(".stot.1:MCPP:u64:1099511627776\n"), "what processes may share");
		ok(has(".scur.1:MGPV:u32:0\n"), "what is one process's alone");
	}
	struct stats_row r = row(STATS_BACKEND);

	strbuf_reset(&out);
	stats_print_typed(&out, &r, true);
	ok(has("B.7.3.0.pxname.1:KNSV:str:web:\""), "with what it is");
}

static void is_value(const char *path, enum json_type type, const char *want)
{
	struct slice value = slice_none();

	is_int(json_find(strbuf_slice(&out), slice_of(path), &value), type, "type of %s", path);
	ok(slice_eq(value, slice_of(want)), "%s is %s", path, want);
}

static void check_json(void)
{
	struct stats_row r = row(STATS_LISTENER);
	struct slice value;

	strbuf_reset(&out);
	strbuf_add_str(&out, "{\"rows\":");
	stats_print_json(&out, &r);
	strbuf_add_char(&out, '}');
	is_value("$.rows[0].objType", JSON_STRING, "Listener");
	is_value("$.rows[0].proxyId", JSON_NUMBER, "7");
	is_value("$.rows[1].field.name", JSON_STRING, "svname");
	is_value("$.rows[1].value.value", JSON_STRING, "a,b\\\"c");
	is_value("$.rows[1].tags.origin", JSON_STRING, "Key");
	is_value("$.rows[1].tags.nature", JSON_STRING, "Name");
	is_value("$.rows[1].tags.scope", JSON_STRING, "Service");
	is_value("$.rows[4].value.type", JSON_STRING, "s32");
	is_value("$.rows[4].value.value", JSON_NUMBER, "-1");
	is_int(json_find(strbuf_slice(&out), SLICE("$.rows[5]"), &value), JSON_NONE, "and no more");
	memcpy(r.values[STATS_PXNAME].tag, "???", 4);
	strbuf_reset(&out);
	strbuf_add_str(&out, "{\"rows\":");
	stats_print_json(&out, &r);
	strbuf_add_char(&out, '}');
	is_value("$.rows[0].tags.nature", JSON_STRING, "Unknown");
}

static void check_schema(void)
{
	struct slice value;

	strbuf_reset(&out);
	stats_print_schema(&out);
	is_int(json_find(strbuf_slice(&out), SLICE("$.definitions.typedValue.anyOf[5]"), &value),
	       JSON_OBJECT, "the schema is JSON, with six types of values");
	is_int(json_find(strbuf_slice(&out), SLICE("$.anyOf[2].title"), &value), JSON_STRING,
	       "and three kinds of answers");
	for (unsigned f = 0; f < STATS_COUNT; f++)
		if (!stats_field_name(f) || !*stats_field_name(f) || !stats_field_help(f))
			ok(false, "column %u has no name", f);
}

int main(void)
{
	strbuf_init(&out);
	check_csv();
	check_typed();
	check_json();
	check_schema();
	strbuf_fini(&out);
	return done_testing();
}
