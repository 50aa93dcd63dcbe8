/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diag_json.c - diagnostics as JSON lines, for editors */
#include "base/diag.h"

static const char *const levels[] = {
	[DIAG_DIAG] = "diag", [DIAG_DEBUG] = "debug", [DIAG_NOTICE] = "notice",
	[DIAG_WARNING] = "warning", [DIAG_ALERT] = "alert",
};

static void put_string(FILE *out, const char *name, const char *text)
{
	fprintf(out, ", \"%s\": \"", name);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 32 || c == 127)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

void diag_print_json(const struct diag_list *l, enum diag_level least, FILE *out)
{
	const struct diag *d;

	list_for_each(d, &l->diags, link) {
		if (d->level < least)
			continue;
		fprintf(out, "{\"severity\": \"%s\"", levels[d->level]);
		if (d->file)
			put_string(out, "file", d->file);
		if (d->line)
			fprintf(out, ", \"line\": %d", d->line);
		if (d->column)
			fprintf(out, ", \"column\": %d", d->column);
		put_string(out, "message", d->message ? d->message : "");
		if (d->hint)
			put_string(out, "hint", d->hint);
		fprintf(out, "}\n");
	}
	fflush(out);
}
