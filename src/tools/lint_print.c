/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_print.c - output of --lint: as text, as JSON lines, as SARIF 2.1.0 */
#include <stdlib.h>
#include <string.h>
#include "base/strbuf.h"
#include "codec/json_text.h"
#include "lint_priv.h"

static const char *const levels[] = {
	[LINT_NOTE] = "note",
	[LINT_WARNING] = "warning",
	[LINT_ERROR] = "error",
};

static const char *suggestion_of(const struct lint_finding *f)
{
	return f->hint ? f->hint : lint_rules[f->id].suggestion;
}

/* --- for people ------------------------------------------------------------------------------ */

static const struct source_line *line_of(const struct lint *x, const struct lint_finding *f)
{
	for (int i = 0; f->file && i < x->source.count; i++)
		if (x->source.lines[i].number == f->line &&
		    strcmp(x->source.lines[i].file, f->file) == 0)
			return &x->source.lines[i];
	return NULL;
}

static void print_source(const struct source_line *l, const struct lint_finding *f, FILE *out)
{
	size_t from = 0;

	while (from < l->raw.len && (l->raw.ptr[from] == ' ' || l->raw.ptr[from] == '\t'))
		from++;
	fprintf(out, "  %.*s\n", (int)(l->raw.len - from), l->raw.ptr + from);
	if (f->column > (int)from)
		fprintf(out, "  %*s%.*s\n", f->column - 1 - (int)from, "",
			f->length > 0 && f->length < 80 ? f->length : 1,
			"^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
			"~~~~~");
}

static void print_text(const struct lint *x, FILE *out)
{
	int counts[3] = { 0 };

	for (int i = 0; i < x->count; i++) {
		const struct lint_finding *f = &x->findings[i];
		const struct lint_rule *rule = &lint_rules[f->id];
		const struct source_line *l = line_of(x, f);
		bool is_parser = f->id <= LINT_PARSER_DIAGNOSTIC;

		counts[rule->level]++;
		if (f->file)
			fprintf(out, "%s:%d:%d: ", f->file, f->line, f->column ? f->column : 1);
		fprintf(out, "%s: %s [%s]\n", levels[rule->level], f->message, rule->id);
		if (l)
			print_source(l, f, out);
		if (!is_parser)
			fprintf(out, "   | %s\n   | %s\n", rule->why, rule->suggestion);
		else if (f->hint)
			fprintf(out, "   | %s\n", f->hint);
	}
	if (x->count)
		fprintf(out, "%d error%s, %d warning%s, %d note%s\n", counts[LINT_ERROR],
			counts[LINT_ERROR] == 1 ? "" : "s", counts[LINT_WARNING],
			counts[LINT_WARNING] == 1 ? "" : "s", counts[LINT_NOTE],
			counts[LINT_NOTE] == 1 ? "" : "s");
}

/* --- for programs ---------------------------------------------------------------------------- */

static void put_member(struct strbuf *b, const char *name, const char *value)
{
	strbuf_printf(b, "\"%s\":", name);
	json_put_string(b, slice_of(value ? value : ""));
}

static void print_json(const struct lint *x, FILE *out)
{
	struct strbuf b;

	strbuf_init(&b);
	for (int i = 0; i < x->count; i++) {
		const struct lint_finding *f = &x->findings[i];
		const struct lint_rule *rule = &lint_rules[f->id];

		strbuf_reset(&b);
		strbuf_add_char(&b, '{');
		put_member(&b, "id", rule->id);
		strbuf_add_char(&b, ',');
		put_member(&b, "severity", levels[rule->level]);
		if (f->file) {
			strbuf_add_char(&b, ',');
			put_member(&b, "file", f->file);
			strbuf_printf(&b, ",\"line\":%d,\"column\":%d,\"length\":%d", f->line,
				      f->column, f->length);
		}
		strbuf_add_char(&b, ',');
		put_member(&b, "message", f->message);
		strbuf_add_char(&b, ',');
		put_member(&b, "explanation", rule->why);
		strbuf_add_char(&b, ',');
		put_member(&b, "suggestion", suggestion_of(f));
		strbuf_add_str(&b, "}\n");
		fwrite(b.ptr, 1, b.len, out);
	}
	strbuf_fini(&b);
}

/* Each rule once, in the order of the table: results name them by index. */
static void put_rules(struct strbuf *b)
{
	for (int i = 0; i < LINT_COUNT; i++) {
		strbuf_add_str(b, i ? ",{" : "{");
		put_member(b, "id", lint_rules[i].id);
		strbuf_add_str(b, ",\"shortDescription\":{");
		put_member(b, "text", lint_rules[i].why);
		strbuf_add_str(b, "},\"help\":{");
		put_member(b, "text", lint_rules[i].suggestion);
		strbuf_printf(b, "},\"defaultConfiguration\":{\"level\":\"%s\"}}",
			      levels[lint_rules[i].level]);
	}
}

static void put_result(struct strbuf *b, const struct lint_finding *f)
{
	const struct lint_rule *rule = &lint_rules[f->id];

	strbuf_add_char(b, '{');
	put_member(b, "ruleId", rule->id);
	strbuf_printf(b, ",\"ruleIndex\":%d,\"level\":\"%s\",\"message\":{", f->id,
		      levels[rule->level]);
	put_member(b, "text", f->message);
	strbuf_add_char(b, '}');
	if (f->file) {
		strbuf_add_str(b, ",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{");
		put_member(b, "uri", f->file);
		strbuf_printf(b, "},\"region\":{\"startLine\":%d", f->line > 0 ? f->line : 1);
		if (f->column > 0)
			strbuf_printf(b, ",\"startColumn\":%d", f->column);
		if (f->column > 0 && f->length > 0)
			strbuf_printf(b, ",\"endColumn\":%d", f->column + f->length);
		strbuf_add_str(b, "}}}]");
	}
	strbuf_add_char(b, '}');
}

static void print_sarif(const struct lint *x, FILE *out)
{
	struct strbuf b;

	strbuf_init(&b);
	strbuf_add_str(&b, "{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":"
			   "{\"name\":\"haproxy\",\"rules\":[");
	put_rules(&b);
	strbuf_add_str(&b, "]}},\"columnKind\":\"utf16CodeUnits\",\"results\":[");
	for (int i = 0; i < x->count; i++) {
		strbuf_add_str(&b, i ? "," : "");
		put_result(&b, &x->findings[i]);
	}
	strbuf_add_str(&b, "]}]}\n");
	fwrite(b.ptr, 1, b.len, out);
	strbuf_fini(&b);
}

void lint_print(const struct lint *x, enum tools_output output, FILE *out)
{
	if (output == TOOLS_TEXT)
		print_text(x, out);
	else if (output == TOOLS_SARIF)
		print_sarif(x, out);
	else
		print_json(x, out);
	fflush(out);
}
