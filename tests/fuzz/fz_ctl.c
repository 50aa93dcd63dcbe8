/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the sessions of the Runtime API: the same bytes whole and in small pieces must give the
 * same answers. The first byte chooses the level and the size of the pieces.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ctl/ctl.h"

static enum ctl_step run_words(struct ctl_request *rq)
{
	for (int i = 0; i < rq->count; i++)
		strbuf_printf(rq->out, "<%s>", rq->words[i]);
	strbuf_add(rq->out, rq->payload);
	return rq->pos++ < 2 ? CTL_MORE : CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "a", .help = "words", .run = run_words },
	{ .words = "a b", .help = "words", .level = CTL_ADMIN, .run = run_words },
	{ 0 }
};
static const struct module mod_words = { .name = "words", .commands = commands };
static const struct module *const modules[] = { &mod_ctl, &mod_words, NULL };

static void on_wake(void *owner)
{
}

static const struct ctl_session_owner owner = { .wake = on_wake };

/* Runs until nothing moves, and takes the output. */
static void drain(struct ctl_session *s, struct strbuf *all)
{
	for (int idle = 0; idle < 8;) {
		struct slice out;

		ctl_session_run(s);
		out = ctl_session_output(s);
		idle = out.len ? 0 : idle + 1;
		strbuf_add(all, out);
		ctl_session_sent(s, out.len);
	}
}

/* The "+ " prompts depend on when a payload arrives: they are left out. */
static void answer(struct strbuf *all, const uint8_t *data, size_t size, unsigned level,
		   size_t piece)
{
	struct ctl_session *s = ctl_session_new((enum ctl_level)level, &owner, NULL);

	strbuf_init(all);
	if (!s)
		return;
	while (size && ctl_session_wants_input(s)) {
		size_t n = size < piece ? size : piece;

		ctl_session_feed(s, slice_make((const char *)data, n));
		drain(s, all);
		data += n;
		size -= n;
	}
	ctl_session_eof(s);
	drain(s, all);
	if (!ctl_session_is_over(s))
		abort();
	ctl_session_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool registered;
	struct strbuf whole, parts;

	if (!registered)
		registered = ctl_register(modules);
	if (size < 2 || size > 8000 || memmem(data, size, "show env", 8) ||
	    memmem(data, size, "timed", 5))
		return 0;
	answer(&whole, data + 1, size - 1, data[0] % 3, size);
	answer(&parts, data + 1, size - 1, data[0] % 3, 1 + data[0] / 3 % 7);
	if (!memmem(data, size, "<<", 2) && !slice_eq(strbuf_slice(&whole), strbuf_slice(&parts))) {
		fprintf(stderr, "fz_ctl: in pieces, the answer differs\n");
		abort();
	}
	strbuf_fini(&whole);
	strbuf_fini(&parts);
	return 0;
}
