/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lsp_document.c - open documents: their texts, positions in them, their errors */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/num.h"
#include "codec/json.h"
#include "codec/json_text.h"
#include "lint_priv.h"
#include "lsp_priv.h"

/* --- the list -------------------------------------------------------------------------------- */

struct lsp_document *lsp_find(struct lsp *x, struct slice uri)
{
	for (struct lsp_document *d = x->documents; d; d = d->next)
		if (slice_eq(slice_of(d->uri), uri))
			return d;
	return NULL;
}

/* "file:///a%20b": the path. Others stand for themselves. */
static char *path_of(struct slice uri)
{
	struct slice prefix = SLICE("file://");
	char *path =
		slice_dup(slice_starts(uri, prefix) ? slice_sub(uri, prefix.len, uri.len) : uri);
	char *to = path;

	for (const char *from = path; from && *from; from++) {
		if (*from == '%' && num_hex_digit(from[1]) >= 0 && num_hex_digit(from[2]) >= 0) {
			*to++ = (char)(num_hex_digit(from[1]) * 16 + num_hex_digit(from[2]));
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	if (path)
		*to = '\0';
	return path;
}

/* The text was changed: cuts it anew. */
static void lsp_reread(struct lsp_document *d)
{
	source_fini(&d->source);
	source_init(&d->source);
	source_add(&d->source, d->path, strbuf_slice(&d->text));
	d->is_stale = true;
}

void lsp_open(struct lsp *x, struct slice uri, struct slice text)
{
	struct lsp_document *d = lsp_find(x, uri);

	if (!d) {
		d = calloc(1, sizeof(*d));
		if (!d)
			return;
		d->uri = slice_dup(uri);
		d->path = path_of(uri);
		if (!d->uri || !d->path) {
			free(d->uri);
			free(d->path);
			free(d);
			return;
		}
		strbuf_init(&d->text);
		strbuf_init(&d->said);
		d->next = x->documents;
		x->documents = d;
	}
	strbuf_reset(&d->text);
	strbuf_add(&d->text, text);
	lsp_reread(d);
}

static void check_end(struct lsp_document *d)
{
	close(d->fd);
	while (waitpid(d->checker, NULL, 0) < 0 && errno == EINTR)
		;
	d->checker = 0;
}

/* What it would say is of no use any more. */
static void check_stop(struct lsp_document *d)
{
	if (d->checker) {
		kill(d->checker, SIGKILL);
		check_end(d);
	}
}

void lsp_close(struct lsp *x, struct slice uri)
{
	struct lsp_document **at = &x->documents, *d;

	while (*at && !slice_eq(slice_of((*at)->uri), uri))
		at = &(*at)->next;
	d = *at;
	if (!d)
		return;
	*at = d->next;
	check_stop(d);
	strbuf_fini(&d->said);
	source_fini(&d->source);
	strbuf_fini(&d->text);
	free(d->uri);
	free(d->path);
	free(d);
}

/* --- positions ------------------------------------------------------------------------------- */

/* The units of UTF-16 that a sequence of UTF-8 counts as: 2 for those of four bytes, 0 inside. */
static int units(char c)
{
	unsigned char byte = (unsigned char)c;

	return byte >= 0xf0 ? 2 : (byte & 0xc0) == 0x80 ? 0 : 1;
}

int lsp_characters(const struct lsp *x, struct slice raw, int bytes)
{
	int count = 0;

	if (x->utf8)
		return bytes;
	for (int i = 0; i < bytes && (size_t)i < raw.len; i++)
		count += units(raw.ptr[i]);
	return count;
}

/* Which byte a character is; the end of the line at most. */
static int byte_of(const struct lsp *x, struct slice raw, int character)
{
	int at = 0;

	if (x->utf8)
		return character < (int)raw.len ? character : (int)raw.len;
	while ((size_t)at < raw.len && (character > 0 || units(raw.ptr[at]) == 0))
		character -= units(raw.ptr[at++]);
	return at;
}

static int number_at(struct slice text, struct slice path)
{
	struct slice value;
	char digits[12];

	if (json_find(text, path, &value) != JSON_NUMBER)
		return 0;
	slice_copy(value, digits, sizeof(digits));
	return num_prefix_int(digits, NULL);
}

struct lsp_place lsp_place(struct lsp *x, struct slice params)
{
	struct lsp_place p = { .document = NULL };
	struct slice uri = slice_none();
	int line = number_at(params, SLICE("$.position.line"));

	json_find(params, SLICE("$.textDocument.uri"), &uri);
	p.document = lsp_find(x, uri);
	if (p.document && line >= 0 && line < p.document->source.count) {
		p.line = &p.document->source.lines[line];
		p.at = byte_of(x, p.line->raw, number_at(params, SLICE("$.position.character")));
	}
	return p;
}

void lsp_put_range(const struct lsp *x, struct strbuf *b, const struct source_line *l, int from,
		   int to)
{
	strbuf_printf(b,
		      "{\"start\":{\"line\":%d,\"character\":%d},\"end\":{\"line\":%d,"
		      "\"character\":%d}}",
		      l->number - 1, lsp_characters(x, l->raw, from), l->number - 1,
		      lsp_characters(x, l->raw, to));
}

/* --- changes --------------------------------------------------------------------------------- */

/* The byte of the text that a position is. */
static size_t offset_of(const struct lsp *x, const struct lsp_document *d, struct slice range,
			const char *which)
{
	char path[40];
	int line;
	const struct source_line *l;

	snprintf(path, sizeof(path), "$.%s.line", which);
	line = number_at(range, slice_of(path));
	if (line < 0 || line >= d->source.count)
		return line < 0 ? 0 : d->text.len;
	snprintf(path, sizeof(path), "$.%s.character", which);
	l = &d->source.lines[line];
	for (size_t i = 0, n = 0; i <= d->text.len; i++) {
		if ((int)n == line)
			return i + (size_t)byte_of(x, l->raw, number_at(range, slice_of(path)));
		n += i < d->text.len && d->text.ptr[i] == '\n';
	}
	return d->text.len;
}

static void replace(struct lsp_document *d, size_t from, size_t to, struct slice text)
{
	struct strbuf b;

	if (from > d->text.len || to < from)
		return;
	strbuf_init(&b);
	strbuf_add(&b, slice_sub(strbuf_slice(&d->text), 0, from));
	strbuf_add(&b, text);
	strbuf_add(&b, slice_sub(strbuf_slice(&d->text), to, d->text.len));
	strbuf_fini(&d->text);
	d->text = b;
	lsp_reread(d);
}

void lsp_change(struct lsp *x, struct lsp_document *d, struct slice params)
{
	for (int i = 0;; i++) {
		char path[40];
		struct slice change, text, range;
		char *plain;
		long len;

		snprintf(path, sizeof(path), "$.contentChanges[%d]", i);
		if (json_find(params, slice_of(path), &change) != JSON_OBJECT ||
		    json_find(change, SLICE("$.text"), &text) != JSON_STRING)
			return;
		plain = malloc(text.len + 1);
		len = plain ? json_text_decode(text, plain) : -1;
		if (len >= 0 && json_find(change, SLICE("$.range"), &range) == JSON_OBJECT)
			replace(d, offset_of(x, d, range, "start"), offset_of(x, d, range, "end"),
				slice_make(plain, (size_t)len));
		else if (len >= 0)
			lsp_open(x, slice_of(d->uri), slice_make(plain, (size_t)len));
		free(plain);
	}
}

/* --- what is wrong --------------------------------------------------------------------------- */

/* Is the finding about a line of the document? */
static bool is_here(const struct lsp_document *d, const struct lint_finding *f)
{
	return f->file && strcmp(f->file, d->path) == 0 && f->line > 0 &&
	       f->line <= d->source.count;
}

/* The line of the document that the finding belongs to: its own, or the one that includes its file.
 * NULL: none.
 */
static const struct source_line *line_of(const struct lsp_document *d, const struct lint *all,
					 const struct lint_finding *f)
{
	int at = f->at;

	if (is_here(d, f))
		return &d->source.lines[f->line - 1];
	while (at >= 0 && strcmp(all->source.lines[at].file, d->path) != 0)
		at--;
	return at >= 0 ? &d->source.lines[all->source.lines[at].number - 1] : NULL;
}

static void put_place(const struct lsp *x, const struct source_line *l,
		      const struct lint_finding *f, bool here, struct strbuf *b)
{
	int from = here && f->column > 0 ? f->column - 1 : 0;
	int to = here && f->length ? from + f->length : l ? (int)l->raw.len : 0;

	/* the parser knows where a word begins */
	for (int i = 0; here && !f->length && i < l->count; i++)
		if (l->words[i].at == from)
			to = l->words[i].end;
	strbuf_add_str(b, "{\"range\":");
	if (l)
		lsp_put_range(x, b, l, from, to);
	else
		strbuf_add_str(b, "{\"start\":{\"line\":0,\"character\":0},\"end\":{\"line\":0,"
				  "\"character\":1}}");
}

static void put_diagnostic(const struct lsp *x, const struct lsp_document *d, struct strbuf *b,
			   const struct lint *all, const struct lint_finding *f)
{
	static const int severities[] = { [LINT_NOTE] = 3, [LINT_WARNING] = 2, [LINT_ERROR] = 1 };
	const struct lint_rule *rule = &lint_rules[f->id];
	struct strbuf text;

	put_place(x, line_of(d, all, f), f, is_here(d, f), b);
	strbuf_printf(b, ",\"severity\":%d,\"source\":\"haproxy\",\"code\":\"%s\",\"message\":",
		      severities[rule->level], rule->id);
	strbuf_init(&text);
	if (f->file && !is_here(d, f))
		strbuf_printf(&text, "%s:%d: ", f->file, f->line);
	strbuf_printf(&text, "%s\n%s", f->message,
		      f->hint			       ? f->hint
		      : f->id > LINT_PARSER_DIAGNOSTIC ? rule->suggestion
						       : "");
	json_put_string(b, slice_trim(strbuf_slice(&text)));
	strbuf_fini(&text);
	strbuf_add_char(b, '}');
}

/* The notification about <d>, made in a child: its lines, which are the child's own, are used. Of
 * files that it includes, errors are told only: the rest is told when they are opened.
 */
static void write_diagnostics(const struct lsp *x, const struct lsp_document *d, struct strbuf *b)
{
	struct slice text = strbuf_slice(&d->text);
	struct lint l = { .source = d->source };
	struct diag_list diags;
	bool first = true;

	if (lsp_has_includes(d)) {
		source_init(&l.source);
		source_add_all(&l.source, d->path, text);
	}
	lint_look(&l);
	diag_list_init(&diags);
	x->host->check(d->path, &text, &diags, true);
	lint_add_diagnostics(&l, &diags);
	lint_settle(&l);
	strbuf_add_str(b, "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\","
			  "\"params\":{\"uri\":");
	json_put_string(b, slice_of(d->uri));
	strbuf_add_str(b, ",\"diagnostics\":[");
	for (int i = 0; i < l.count; i++) {
		const struct lint_finding *f = &l.findings[i];

		if (f->file && !is_here(d, f) && f->id != LINT_PARSER_ERROR)
			continue;
		strbuf_add_str(b, first ? "" : ",");
		put_diagnostic(x, d, b, &l, f);
		first = false;
	}
	strbuf_add_str(b, "]}}");
	diag_list_fini(&diags);
}

static void __attribute__((noreturn))
check_in_child(const struct lsp *x, const struct lsp_document *d, int fd)
{
	struct strbuf b;
	size_t at = 0;
	ssize_t put = 1;

	close(STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO); /* whatever it says is no message */
	strbuf_init(&b);
	write_diagnostics(x, d, &b);
	for (; at < b.len && put > 0; at += put > 0 ? (size_t)put : 0)
		put = write(fd, b.ptr + at, b.len - at);
	_exit(0);
}

void lsp_check_begin(struct lsp *x, struct lsp_document *d)
{
	int fds[2];

	check_stop(d);
	if (pipe(fds) < 0)
		return;
	d->is_stale = false;
	d->checker = fork();
	if (d->checker == 0) {
		close(fds[0]);
		check_in_child(x, d, fds[1]);
	}
	close(fds[1]);
	d->fd = fds[0];
	strbuf_reset(&d->said);
	if (d->checker < 0) {
		d->checker = 0;
		close(d->fd);
	}
}

void lsp_check_take(struct lsp *x, struct lsp_document *d)
{
	ssize_t got = -1;

	if (strbuf_reserve(&d->said, 1 << 16))
		got = read(d->fd, d->said.ptr + d->said.len, 1 << 16);
	if (got > 0) {
		d->said.len += (size_t)got;
		return;
	}
	check_end(d);
	/* what was said of a text that is gone is of no use: it is asked again */
	if (!d->is_stale && d->said.len)
		lsp_publish(x, strbuf_slice(&d->said));
}
