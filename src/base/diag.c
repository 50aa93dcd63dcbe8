/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diag.c - messages about a configuration: collected first, printed by one printer */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/strbuf.h"

/* No more of a source line than this is shown, as a window where the column lies behind it. */
#define SHOWN_MAX 80

static bool diag_quiet;
static diag_copy_fn *diag_copy; /* gets what is printed too */
static uint64_t warnings_total;
static const char *banner_version, *banner_path; /* cleared once said */
static pthread_mutex_t banner_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *const level_names[] = {
	[DIAG_DIAG] = "DIAG",	    [DIAG_DEBUG] = "DEBUG", [DIAG_NOTICE] = "NOTICE",
	[DIAG_WARNING] = "WARNING", [DIAG_ALERT] = "ALERT",
};

void diag_list_init(struct diag_list *l)
{
	list_init(&l->diags);
	l->alerts = 0;
	l->warnings = 0;
}

static void diag_free(struct diag *d)
{
	free(d->file);
	free(d->text);
	free(d->message);
	free(d->hint);
	free(d);
}

void diag_list_fini(struct diag_list *l)
{
	struct diag *d, *tmp;

	list_for_each_safe(d, tmp, &l->diags, link)
	{
		list_remove(&d->link);
		diag_free(d);
	}
	l->alerts = 0;
	l->warnings = 0;
}

void diag_list_splice(struct diag_list *to, struct diag_list *from)
{
	list_splice(&to->diags, &from->diags);
	to->alerts += from->alerts;
	to->warnings += from->warnings;
	from->alerts = 0;
	from->warnings = 0;
}

/* --- making ------------------------------------------------------------------------------ */

static char *copy_text(const char *str)
{
	return str ? strdup(str) : NULL;
}

/* On the heap, without final newlines; NULL: no memory. */
static char *format_text(const char *fmt, va_list ap)
{
	struct strbuf b;

	strbuf_init(&b);
	if (!strbuf_vprintf(&b, fmt, ap) || !strbuf_add_str(&b, "")) {
		strbuf_fini(&b);
		return NULL;
	}
	while (b.len && b.ptr[b.len - 1] == '\n')
		b.ptr[--b.len] = '\0';
	return b.ptr;
}

void diag_vadd(struct diag_list *l, enum diag_level level, const struct diag_place *place,
	       const char *hint, const char *fmt, va_list ap)
{
	struct diag *d;

	l->alerts += level == DIAG_ALERT;
	l->warnings += level == DIAG_WARNING;
	d = calloc(1, sizeof(*d));
	if (!d)
		return;
	d->level = level;
	d->message = format_text(fmt, ap);
	if (!d->message) {
		free(d);
		return;
	}
	d->hint = copy_text(hint);
	if (place) {
		d->form = place->form;
		d->file = copy_text(place->file);
		d->line = place->line;
		d->column = place->column;
		d->text = place->column > 0 ? copy_text(place->text) : NULL;
	}
	list_append(&l->diags, &d->link);
}

void diag_add(struct diag_list *l, enum diag_level level, const struct diag_place *place,
	      const char *hint, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_vadd(l, level, place, hint, fmt, ap);
	va_end(ap);
}

/* --- printing ---------------------------------------------------------------------------- */

/* "[ALERT]    (pid) : ": the parenthesis always stands in the same column. */
static void add_head(struct strbuf *b, enum diag_level level)
{
	const char *name = level_names[level];

	strbuf_printf(b, "[%s]%*s(%d) : ", name, 9 - (int)strlen(name), "", (int)getpid());
}

static void add_place(struct strbuf *b, const struct diag *d)
{
	if (d->form == DIAG_BARE)
		return;
	strbuf_add_str(b, "config : ");
	if (!d->file)
		return;
	strbuf_add_str(b, d->form == DIAG_AT ? "[" : "parsing [");
	strbuf_add_str(b, d->file);
	if (d->line > 0)
		strbuf_printf(b, ":%d", d->line);
	strbuf_add_str(b, d->form == DIAG_TIGHT ? "]: " : "] : ");
}

/* A terminal must not be driven by what a file contains. */
static char printable(char c)
{
	if (c == '\t' || c == '\r' || c == '\v' || c == '\f')
		return ' ';
	return ((unsigned char)c < 0x20 || c == 0x7f) ? '?' : c;
}

/* The source line without its indentation, and the caret below the column. */
static void add_source(struct strbuf *b, const struct diag *d)
{
	size_t len = strlen(d->text), from = 0, at = (size_t)d->column - 1, i;
	size_t to;
	bool window;

	while (from < len &&
	       (d->text[from] == ' ' || (d->text[from] >= '\t' && d->text[from] <= '\r')))
		from++;
	while (len > from && (d->text[len - 1] == '\n' || d->text[len - 1] == '\r'))
		len--;
	if (at > len)
		at = len;
	if (at < from)
		at = from;
	to = len;
	strbuf_add_str(b, "  ");
	window = at - from >= SHOWN_MAX;
	if (window) {
		/* a window with the column in its middle */
		from = at - (SHOWN_MAX / 2 - 3);
		strbuf_add_str(b, "...");
		at += 3;
		to = len - from > SHOWN_MAX - 6 ? from + SHOWN_MAX - 6 : len;
	} else if (len - from > SHOWN_MAX) {
		to = from + SHOWN_MAX;
	}
	for (i = from; i < to; i++)
		strbuf_add_char(b, printable(d->text[i]));
	if (window)
		strbuf_add_str(b, "...");
	strbuf_printf(b, "\n  %*s^\n", (int)(at - from), "");
}

static void add_hint(struct strbuf *b, const char *hint)
{
	while (*hint) {
		size_t len = strcspn(hint, "\n");

		strbuf_printf(b, "   | %.*s\n", (int)len, hint);
		hint += len;
		if (*hint == '\n')
			hint++;
	}
}

static void put_text(const struct strbuf *b, FILE *out)
{
	if (!b->len)
		return;
	fwrite(b->ptr, 1, b->len, out);
	if (diag_copy)
		diag_copy(b->ptr, b->len);
}

static void say_banner(FILE *out)
{
	const char *version, *path;
	struct strbuf b;

	pthread_mutex_lock(&banner_lock);
	version = banner_version;
	path = banner_path;
	banner_version = NULL;
	banner_path = NULL;
	pthread_mutex_unlock(&banner_lock);
	strbuf_init(&b);
	if (version) {
		add_head(&b, DIAG_NOTICE);
		strbuf_printf(&b, "haproxy version is %s\n", version);
	}
	if (path) {
		add_head(&b, DIAG_NOTICE);
		strbuf_printf(&b, "path to executable is %s\n", path);
	}
	put_text(&b, out);
	strbuf_fini(&b);
}

static void add_diag(struct strbuf *b, const struct diag *d)
{
	add_head(b, d->level);
	add_place(b, d);
	strbuf_add_str(b, d->message);
	strbuf_add_char(b, '\n');
	if (d->text && d->column > 0)
		add_source(b, d);
	if (d->hint)
		add_hint(b, d->hint);
}

void diag_write(const struct diag_list *l, enum diag_level least, struct strbuf *out)
{
	struct diag *d;

	list_for_each(d, &l->diags, link)
		if (d->level >= least)
			add_diag(out, d);
}

/* Formats one to <out>: used for what is said without a list (start-up). */
static void diag_print_one(const struct diag *d, FILE *out)
{
	struct strbuf b;

	if (d->level == DIAG_WARNING)
		__atomic_add_fetch(&warnings_total, 1, __ATOMIC_RELAXED);
	if (diag_quiet)
		return;
	if (d->level >= DIAG_WARNING)
		say_banner(out);
	strbuf_init(&b);
	add_diag(&b, d);
	put_text(&b, out);
	strbuf_fini(&b);
}

void diag_print(const struct diag_list *l, enum diag_level least, FILE *out)
{
	struct diag *d;

	list_for_each(d, &l->diags, link)
	{
		/* DIAG is no degree of severity: it is asked for by name (-dD) as the lowest level
		 */
		if (d->level >= least)
			diag_print_one(d, out);
	}
	fflush(out);
}

void diag_say(enum diag_level level, const char *fmt, ...)
{
	struct diag d = { .level = level, .form = DIAG_BARE };
	va_list ap;

	va_start(ap, fmt);
	d.message = format_text(fmt, ap);
	va_end(ap);
	if (!d.message)
		return;
	diag_print_one(&d, stderr);
	free(d.message);
}

uint64_t diag_warnings_total(void)
{
	return __atomic_load_n(&warnings_total, __ATOMIC_RELAXED);
}

void diag_set_copy(diag_copy_fn *copy)
{
	diag_copy = copy;
}

void diag_set_quiet(bool quiet)
{
	diag_quiet = quiet;
}

void diag_set_banner(const char *version, const char *path)
{
	banner_version = version;
	banner_path = path;
}
