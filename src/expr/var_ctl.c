/* SPDX-License-Identifier: GPL-2.0-or-later */
/* var_ctl.c - edge file: variables of the process on the Runtime API
 *
 * The expression compiled by `set var` lives in a configuration of its own, which borrows the
 * variables of the one in force and ends with the command: so a script may set a variable each
 * second for years.
 */
#include <string.h>
#include "base/diag.h"
#include "ctl/ctl.h"
#include "expr/logformat.h"
#include "expr/modules.h"
#include "expr_priv.h"

#define TEXT_MAX 65536

/* --- get var ------------------------------------------------------------------------------ */

/* What a terminal could take for a command is shown as a dot. */
static void add_printable(struct strbuf *out, struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		strbuf_add_char(out, c >= ' ' && c < 127 ? (char)c : '.');
	}
}

static enum ctl_step get_var(struct ctl_request *rq)
{
	const struct config *cfg = expr_config_in_force();
	const char *name = rq->words[rq->at];
	enum sample_type type;
	struct arena arena;
	struct sample s;

	if (!name) {
		ctl_error(rq, "Missing process-wide variable identifier.");
		return CTL_DONE;
	}
	arena_init(&arena, 0);
	if (!cfg || strncmp(name, "proc.", 5) != 0 ||
	    !vars_process_get(cfg, slice_of(name + 5), &arena, &s)) {
		ctl_error(rq, "Variable not found.");
	} else {
		type = s.type;
		ctl_begin(rq, CTL_INFO);
		strbuf_printf(rq->out, "%s: type=%s value=<", name, sample_type_name(type));
		if (sample_cast(&s, SMP_STR, &arena))
			add_printable(rq->out, s.text);
		strbuf_add_str(rq->out, ">\n");
	}
	arena_fini(&arena);
	return CTL_DONE;
}

/* --- set var ------------------------------------------------------------------------------ */

struct setting {
	struct ctl_request *rq;
	const char *name;
	struct conf_line *line;
	struct expr_ctx ctx;
};

/* The first thing that was reported about <text>. */
static void say_diagnostic(struct ctl_request *rq, const struct diag_list *diags, const char *text)
{
	const struct diag *d;

	list_for_each(d, &diags->diags, link) {
		size_t len = strlen(d->message);

		ctl_error(rq, "%.*s", (int)(len - (len && d->message[len - 1] == '.')), d->message);
		return;
	}
	ctl_error(rq, "a name in '%s' cannot be resolved here", text);
}

static struct expr *compile(struct setting *set, const char *text)
{
	struct expr_error error = { "" };
	struct expr_parser p = { .line = set->line, .text = text, .at = text, .error = &error,
				 .phase = EXPR_CLI_PARSER };
	struct expr *e = expr_compile(&p, NULL);

	if (!e)
		ctl_error(set->rq, "%s", error.text);
	else if (*p.at)
		ctl_error(set->rq, "unexpected '%s' after the expression", p.at);
	else if (!(expr_phases(e) & EXPR_CLI_PARSER))
		ctl_error(set->rq, "fetch method 'set-var(%s)' extracts information from '%s', "
			  "none of which is available here", set->name,
			  expr_use_name(expr_uses(e)));
	else if (!expr_resolve(set->line->cfg, expr_config_in_force(), set->line->diags))
		say_diagnostic(set->rq, set->line->diags, text);
	else
		return e;
	return NULL;
}

static bool evaluate(struct setting *set, const char *text, bool is_format, struct sample *s)
{
	struct logformat *format;
	struct expr *e;

	if (!is_format) {
		e = compile(set, text);
		return e && expr_eval(e, &set->ctx, s) == EXPR_FOUND;
	}
	format = logformat_parse(set->line, text, EXPR_CLI_PARSER, 0);
	if (!format || !expr_resolve(set->line->cfg, expr_config_in_force(), set->line->diags)) {
		say_diagnostic(set->rq, set->line->diags, text);
		return false;
	}
	s->type = SMP_STR;
	s->text = logformat_make(format, &set->ctx, TEXT_MAX);
	return s->text.ptr != NULL;
}

static void set_in(struct ctl_request *rq, struct config *scratch, const char *text, bool is_format)
{
	struct diag_list diags;
	int columns[1] = { 0 };
	struct conf_line line = { .cfg = scratch, .diags = &diags, .columns = columns,
				  .place.form = DIAG_BARE };
	struct setting set = { .rq = rq, .name = rq->words[rq->at], .line = &line,
			       .ctx = { .arena = &scratch->arena, .flags = EXPR_FINAL } };
	struct sample s = { .flags = 0 };
	const char *error;
	struct var_ref *ref = var_ref_parse(scratch, set.name, true, &error);

	diag_list_init(&diags);
	if (!ref)
		ctl_error(rq, "%s", error);
	else if (strncmp(set.name, "proc.", 5) != 0)
		ctl_error(rq, "'set var': cannot set variable '%s', only scope 'proc' is "
			  "permitted here.", set.name);
	else if (evaluate(&set, text, is_format, &s))
		var_set(ref, &set.ctx, &s);
	diag_list_fini(&diags);
}

static enum ctl_step set_var(struct ctl_request *rq)
{
	struct config *cfg = expr_config_in_force(), *scratch;
	char **words = rq->words + rq->at;
	bool is_format;

	if (!words[0]) {
		ctl_error(rq, "Missing process-wide variable identifier.");
		return CTL_DONE;
	}
	if (!words[1]) {
		ctl_error(rq, "Missing either 'expr', 'fmt' or expression.");
		return CTL_DONE;
	}
	is_format = words[2] && strcmp(words[1], "fmt") == 0;
	if (words[2] && !is_format && strcmp(words[1], "expr") != 0) {
		ctl_error(rq, "'set var': arg type must be either 'expr' or 'fmt' but got '%s'.",
			  words[1]);
		return CTL_DONE;
	}
	scratch = cfg ? config_new() : NULL;
	if (!scratch) {
		ctl_error(rq, "out of memory");
		return CTL_DONE;
	}
	config_edit_begin(); /* new names go to the list of the generation in force */
	vars_store_lend(scratch, cfg);
	set_in(rq, scratch, words[words[2] ? 2 : 1], is_format);
	config_edit_end();
	config_drop(&scratch);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "get var", .level = CTL_OPERATOR, .syntax = "<name>",
	  .help = "show type and value of a variable of the process", .run = get_var },
	{ .words = "set var", .level = CTL_OPERATOR, .flags = CTL_EXPERIMENTAL,
	  .syntax = "<name> {<expr>|expr <expr>|fmt <format>}",
	  .help = "set a variable of the process", .run = set_var },
	{ 0 }
};

const struct module mod_var_ctl = { .name = "var_ctl", .commands = commands };
