/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern_reread.c - files of patterns read again while they are in use
 *
 * The contents of a file become a new version, entry by entry, which is put in force if all lines
 * were valid, and dropped otherwise.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/file.h"
#include "pattern_priv.h"

/* How many lines between two looks at the clock. */
#define LINES_AT_ONCE 64

struct pattern_reading {
	struct pattern_ref *ref;
	char *text;                 /* owned */
	struct pattern_lines lines;
	uint32_t version;           /* 0: it is in force, or gone */
};

struct pattern_ref *pattern_ref_next_file(const struct config *cfg, const struct pattern_ref *ref)
{
	struct pattern_ref *next = ref ? ref->next : expr_config_of(cfg)->refs;

	while (next && (!next->name || strncmp(next->name, "virt@", 5) == 0))
		next = next->next;
	return next;
}

const char *pattern_ref_file(const struct pattern_ref *ref)
{
	return ref->name;
}

struct pattern_reading *pattern_reading_new(struct pattern_ref *ref, struct pattern_error *error)
{
	struct pattern_reading *r = calloc(1, sizeof(*r));
	size_t len = 0;

	errno = ENOMEM;
	if (r)
		r->text = file_load(ref->name, UINT32_MAX, &len);
	if (!r || !r->text) {
		snprintf(error->text, sizeof(error->text), "%s", strerror(errno));
		free(r);
		return NULL;
	}
	r->ref = ref;
	r->lines = (struct pattern_lines){ .at = r->text, .end = r->text + len,
					   .columns = ref->columns };
	r->version = pattern_ref_prepare(ref);
	if (r->version)
		return r;
	snprintf(error->text, sizeof(error->text), "out of memory");
	pattern_reading_free(&r);
	return NULL;
}

/* False: <error> tells which line and why. */
static bool add_line(struct pattern_reading *r, struct slice key, struct slice value,
		     struct pattern_error *error)
{
	struct pattern_error why;

	if (pattern_ref_insert(r->ref, r->version, key, value, &why))
		return true;
	snprintf(error->text, sizeof(error->text), "line %u: %.400s", r->lines.number, why.text);
	return false;
}

enum pattern_progress pattern_reading_go(struct pattern_reading *r, uint64_t until_ns,
					 struct pattern_error *error)
{
	struct slice key, value;
	unsigned n = 0;

	while (pattern_lines_next(&r->lines, &key, &value)) {
		if (!add_line(r, key, value, error))
			return PATTERN_FAILED;
		if (++n % LINES_AT_ONCE == 0 && clock_read_ns() > until_ns)
			return PATTERN_MORE;
	}
	if (!pattern_ref_commit(r->ref, r->version)) {
		/* by command another one was put in force meanwhile */
		snprintf(error->text, sizeof(error->text), "it was replaced meanwhile");
		return PATTERN_FAILED;
	}
	r->version = 0;
	return PATTERN_DONE;
}

void pattern_reading_free(struct pattern_reading **pr)
{
	struct pattern_reading *r = *pr;

	*pr = NULL;
	if (!r)
		return;
	if (r->version)
		pattern_ref_clear(r->ref, r->version);
	free(r->text);
	free(r);
}
