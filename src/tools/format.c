/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format.c - --format: one layout for all files, comments kept
 *
 * Only the space between words changes: a line of a section begins with four blanks, and with four
 * more for each .if around it, a section's opening line with none; one blank between words, two
 * before a comment after them. One empty line before a section and the comments right above it,
 * never two in a row. A line that the parser would refuse is not changed. Formatting a formatted
 * file changes nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/replace.h"
#include "base/strbuf.h"
#include "conf/source.h"
#include "tools/tools.h"

#define STEP	 4
#define FILE_MAX ((size_t)1 << 30)

/* --- one line ---------------------------------------------------------------------------- */

static struct slice without_end(struct slice s)
{
	while (s.len && strchr(" \t\v\f\r", s.ptr[s.len - 1]) && s.ptr[s.len - 1])
		s.len--;
	return s;
}

static void put_blanks(struct strbuf *out, int count)
{
	while (count-- > 0)
		strbuf_add_char(out, ' ');
}

static void put_words(struct strbuf *out, const struct source_line *l)
{
	for (int i = 0; i < l->count; i++) {
		const struct source_word *w = &l->words[i];

		if (i)
			strbuf_add_char(out, ' ');
		strbuf_add(out, slice_sub(l->raw, (size_t)w->at, (size_t)w->end));
	}
	if (l->comment >= 0) {
		put_blanks(out, l->count ? 2 : 0);
		strbuf_add(out, without_end(slice_sub(l->raw, (size_t)l->comment, l->raw.len)));
	}
}

/* --- where lines begin ------------------------------------------------------------------- */

/* The line that ends the .if of line <i>, or the end. */
static int block_end(const struct source *s, int i)
{
	int depth = s->lines[i].depth;

	while (++i < s->count)
		if (s->lines[i].kind == SOURCE_DIRECTIVE && s->lines[i].depth == depth &&
		    source_begins(&s->lines[i], ".endif"))
			break;
	return i;
}

/* How many .if stand around each line inside of its section; -1: it stands outside of sections, as
 * a block does that holds some.
 */
static void find_levels(const struct source *s, int *levels)
{
	int outside = 0; /* of the blocks around, those that hold sections */
	bool holds[256] = { false };

	for (int i = 0; i < s->count; i++) {
		const struct source_line *l = &s->lines[i];
		int depth = l->depth < 255 ? l->depth : 255;

		if (l->kind == SOURCE_DIRECTIVE && source_begins(l, ".if")) {
			holds[depth] = l->section < 0;
			for (int end = block_end(s, i), k = i + 1; k < end; k++)
				holds[depth] |= s->lines[k].kind == SOURCE_SECTION;
		}
		outside = 0;
		while (outside < depth && holds[outside])
			outside++;
		levels[i] = depth - outside;
		if (l->kind == SOURCE_DIRECTIVE && strncmp(source_word(l, 0), ".i", 2) != 0 &&
		    strncmp(source_word(l, 0), ".e", 2) != 0)
			continue;
		if (l->kind == SOURCE_DIRECTIVE && !source_begins(l, ".include") && holds[depth])
			levels[i] = -1;
	}
}

/* The first line behind <i> that is no comment, without an empty one between; NULL: none. */
static int followed_by(const struct source *s, int i)
{
	while (i < s->count && s->lines[i].kind == SOURCE_COMMENT)
		i++;
	return i < s->count && s->lines[i].kind != SOURCE_BLANK ? i : -1;
}

static int indent_of(const struct source *s, const int *levels, int i)
{
	const struct source_line *l = &s->lines[i];
	int next;

	if (l->kind == SOURCE_COMMENT) {
		next = followed_by(s, i);
		if (next >= 0)
			return indent_of(s, levels, next);
		return l->comment > 0 && l->section >= 0 ? STEP * (1 + levels[i]) : 0;
	}
	if (l->kind == SOURCE_SECTION || l->section < 0 || levels[i] < 0)
		return 0;
	/* it may bring lines of this section or others: its author has indented it as meant */
	if (l->kind == SOURCE_DIRECTIVE && source_begins(l, ".include") && !l->words[0].at)
		return 0;
	return STEP * (1 + levels[i]);
}

/* --- empty lines ------------------------------------------------------------------------- */

/* Does a section begin here, with the comments right above it? */
static bool begins_section(const struct source *s, const int *levels, int i)
{
	const struct source_line *l = &s->lines[i];
	int next = l->kind == SOURCE_COMMENT ? followed_by(s, i) : i;

	if (next < 0)
		return false;
	l = &s->lines[next];
	if (l->kind == SOURCE_DIRECTIVE)
		return levels[next] < 0 && source_begins(l, ".if");
	return l->kind == SOURCE_SECTION;
}

/* Does an empty line belong before line <i>? <previous> is the one above it that is not empty. */
static bool wants_gap(const struct source *s, const int *levels, int previous, int i)
{
	if (previous < 0)
		return false;
	if (i - previous > 1)
		return true;
	if (s->lines[previous].kind == SOURCE_COMMENT || !begins_section(s, levels, i))
		return false;
	/* the first section of a block stands right below its .if */
	return !(s->lines[previous].kind == SOURCE_DIRECTIVE && levels[previous] < 0 &&
		 !source_begins(&s->lines[previous], ".endif"));
}

bool format_source(const struct source *s, struct strbuf *out)
{
	int *levels = calloc((size_t)s->count + 1, sizeof(*levels));
	int previous = -1;

	if (!levels)
		return false;
	find_levels(s, levels);
	for (int i = 0; i < s->count; i++) {
		const struct source_line *l = &s->lines[i];

		if (l->kind == SOURCE_BLANK)
			continue;
		if (wants_gap(s, levels, previous, i))
			strbuf_add_char(out, '\n');
		if (l->kind == SOURCE_BROKEN) {
			strbuf_add(out, l->raw);
		} else {
			put_blanks(out, indent_of(s, levels, i));
			put_words(out, l);
		}
		strbuf_add_char(out, '\n');
		previous = i;
	}
	free(levels);
	return !out->overflow;
}

/* --- files ------------------------------------------------------------------------------- */

/* <path> is replaced; its rights stay. */
static bool write_file(const char *path, struct slice text)
{
	struct replacement r;
	struct stat st;
	const char *slash = strrchr(path, '/');
	char *directory = slice_dup(slice_make(path, slash ? (size_t)(slash - path) + 1 : 0));
	int fd = directory ? open(*directory ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			   : -1;
	bool good = fd >= 0 && stat(path, &st) == 0 &&
		    replace_begin(&r, fd, slash ? slash + 1 : path, st.st_mode & 07777);

	if (good && !replace_write(&r, text.ptr, text.len)) {
		replace_abandon(&r);
		good = false;
	}
	good = good && replace_commit(&r);
	if (fd >= 0)
		close(fd);
	free(directory);
	return good;
}

static int finish(const char *path, struct slice before, struct slice after, enum format_mode mode)
{
	bool same = slice_eq(before, after);

	if (mode == FORMAT_PRINT) {
		fwrite(after.ptr, 1, after.len, stdout);
		return 0;
	}
	if (same)
		return 0;
	if (mode == FORMAT_CHECK) {
		fprintf(stderr, "%s: would be laid out in another way\n", path);
		return 1;
	}
	if (write_file(path, after)) {
		printf("%s\n", path);
		return 0;
	}
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	return 2;
}

static int format_one(const char *path, enum format_mode mode)
{
	size_t len = 0;
	char *bytes = strcmp(path, "-") == 0 ? file_read_all(0, FILE_MAX, &len)
					     : file_load(path, FILE_MAX, &len);
	struct source s;
	struct strbuf out;
	int status = 2;

	if (!bytes) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 2;
	}
	source_init(&s);
	strbuf_init(&out);
	strbuf_add_str(&out, "");
	source_add(&s, path, slice_make(bytes, len));
	if (s.is_truncated)
		fprintf(stderr,
			"%s:%d: the last line has no line feed: the file might have been "
			"truncated\n",
			path, s.count);
	else if (s.failed || !format_source(&s, &out))
		fprintf(stderr, "%s: out of memory\n", path);
	else
		status = finish(path, slice_make(bytes, len), strbuf_slice(&out), mode);
	strbuf_fini(&out);
	source_fini(&s);
	free(bytes);
	return status;
}

int format_run(const char *const *paths, int count, enum format_mode mode)
{
	int worst = 0;

	for (int i = 0; i < count; i++) {
		int status = format_one(paths[i], mode);

		worst = status > worst ? status : worst;
	}
	return worst;
}
