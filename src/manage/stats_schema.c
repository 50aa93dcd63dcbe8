/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_schema.c - the JSON schema of `show stat` and `show info` */
#include "base/strbuf.h"
#include "manage/stats.h"

#define REF(name) "{\"$ref\":\"#/definitions/" name "\"}"
#define COUNT(least) "{\"type\":\"integer\",\"minimum\":" least "}"
#define OBJECT(properties, required) \
	"{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define COMMON \
	"\"field\":" REF("field") ",\"processNum\":" REF("processNum") ",\"tags\":" REF("tags") \
	",\"value\":" REF("typedValue")
#define COMMON_NAMES "\"field\",\"processNum\",\"tags\",\"value\""
#define WORD(words) "{\"type\":\"string\",\"enum\":[" words "]}"
#define VALUE(type, rest) \
	OBJECT("\"type\":" WORD("\"" type "\"") ",\"value\":{" rest "}", "\"type\",\"value\"")
#define INTEGER(low, high) "\"type\":\"integer\",\"minimum\":" low ",\"maximum\":" high
static const char schema[] =
"{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"anyOf\":["
"{\"title\":\"Info\",\"type\":\"array\",\"items\":" OBJECT(COMMON, COMMON_NAMES) "},"
"{\"title\":\"Stat\",\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":"
OBJECT("\"objType\":" WORD("\"Frontend\",\"Backend\",\"Listener\",\"Server\",\"Unknown\"")
       ",\"proxyId\":" COUNT("0") ",\"id\":" COUNT("0") "," COMMON,
       "\"objType\",\"proxyId\",\"id\"," COMMON_NAMES) "}},"
"{\"title\":\"Error\",\"type\":\"object\",\"properties\":{\"errorStr\":{\"type\":\"string\"}},"
"\"required\":[\"errorStr\"]}],\"definitions\":{"
"\"field\":" OBJECT("\"pos\":" COUNT("0") ",\"name\":{\"type\":\"string\"}", "\"pos\",\"name\"")
",\"processNum\":" COUNT("1") ",\"tags\":"
OBJECT("\"origin\":" WORD("\"Metric\",\"Status\",\"Key\",\"Config\",\"Product\",\"Unknown\"")
       ",\"nature\":" WORD("\"Gauge\",\"Limit\",\"Min\",\"Max\",\"Rate\",\"Counter\","
			   "\"Duration\",\"Age\",\"Time\",\"Name\",\"Output\",\"Avg\",\"Unknown\"")
       ",\"scope\":" WORD("\"Cluster\",\"Process\",\"Service\",\"System\",\"Unknown\""),
       "\"origin\",\"nature\",\"scope\"")
",\"typedValue\":{\"anyOf\":["
VALUE("s32", INTEGER("-2147483648", "2147483647")) ","
VALUE("s64", "\"type\":\"integer\"") "," VALUE("u32", INTEGER("0", "4294967295")) ","
VALUE("u64", "\"type\":\"integer\",\"minimum\":0") "," VALUE("flt", "\"type\":\"number\"") ","
VALUE("str", "\"type\":\"string\"") "]}}}\n";

void stats_print_schema(struct strbuf *out)
{
	strbuf_add(out, slice_make(schema, sizeof(schema) - 1));
}
