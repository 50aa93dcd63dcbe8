/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schema_ctl.c - edge file: show schema json
 *
 * The JSON schema (draft 4) of what `show info json` and `show stat json` print.
 */
#include "ctl/ctl.h"
#include "main_priv.h"

#define REF(name) "{\"$ref\":\"#/definitions/" name "\"}"
#define VALUE(type, rest) \
	"{\"type\":\"object\",\"properties\":{\"type\":{\"enum\":[\"" type "\"]},\"value\":{" rest \
	"}},\"required\":[\"type\",\"value\"]}"
#define ITEM \
	"\"field\":" REF("field") ",\"processNum\":" REF("processNum") ",\"tags\":" REF("tags") \
	",\"value\":" REF("typedValue")

static const char schema[] =
	"{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"anyOf\":["
	"{\"title\":\"Info\",\"type\":\"array\",\"items\":{\"title\":\"InfoItem\","
	"\"type\":\"object\",\"properties\":{" ITEM "},"
	"\"required\":[\"field\",\"processNum\",\"tags\",\"value\"]}},"
	"{\"title\":\"Stat\",\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{"
	"\"title\":\"StatItem\",\"type\":\"object\",\"properties\":{"
	"\"objType\":{\"enum\":[\"Frontend\",\"Backend\",\"Listener\",\"Server\",\"Unknown\"]},"
	"\"proxyId\":{\"type\":\"integer\",\"minimum\":0},"
	"\"id\":{\"type\":\"integer\",\"minimum\":0}," ITEM "},\"required\":[\"objType\","
	"\"proxyId\",\"id\",\"field\",\"processNum\",\"tags\",\"value\"]}}},"
	"{\"title\":\"Error\",\"type\":\"object\",\"properties\":{\"errorStr\":{"
	"\"type\":\"string\"}},\"required\":[\"errorStr\"]}],\"definitions\":{"
	"\"field\":{\"type\":\"object\",\"properties\":{\"pos\":{\"type\":\"integer\","
	"\"minimum\":0},\"name\":{\"type\":\"string\"}},\"required\":[\"pos\",\"name\"]},"
	"\"processNum\":{\"type\":\"integer\",\"minimum\":0},"
	"\"tags\":{\"type\":\"object\",\"properties\":{"
	"\"origin\":{\"enum\":[\"Metric\",\"Status\",\"Key\",\"Config\",\"Product\","
	"\"Unknown\"]},"
	"\"nature\":{\"enum\":[\"Gauge\",\"Limit\",\"Min\",\"Max\",\"Rate\",\"Counter\","
	"\"Duration\",\"Age\",\"Time\",\"Name\",\"Output\",\"Avg\",\"Unknown\"]},"
	"\"scope\":{\"enum\":[\"Cluster\",\"Process\",\"Service\",\"System\",\"Unknown\"]}},"
	"\"required\":[\"origin\",\"nature\",\"scope\"]},"
	"\"typedValue\":{\"anyOf\":["
	VALUE("s32", "\"type\":\"integer\",\"minimum\":-2147483648,\"maximum\":2147483647") ","
	VALUE("s64", "\"type\":\"integer\"") ","
	VALUE("u32", "\"type\":\"integer\",\"minimum\":0,\"maximum\":4294967295") ","
	VALUE("u64", "\"type\":\"integer\",\"minimum\":0") ","
	VALUE("flt", "\"type\":\"number\"") ","
	VALUE("str", "\"type\":\"string\"") "]}}}";

static enum ctl_step show_schema(struct ctl_request *rq)
{
	ctl_say(rq, "%s", schema);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show schema json", .run = show_schema,
	  .help = "the JSON schema of show info json and show stat json" },
	{ 0 }
};

const struct module mod_schema_ctl = { .name = "schema_ctl", .commands = commands };
