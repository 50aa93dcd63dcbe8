/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines as they are written: kinds, words, sections, blocks; the same words as the reader cuts */
#include <stdlib.h>
#include "conf/source.h"
#include "conf_priv.h"
#include "fake.h"
#include "tap.h"

static struct source s;

static void take(const char *text)
{
	source_fini(&s);
	source_init(&s);
	source_add(&s, "f.cfg", slice_of(text));
}

static void kinds(void)
{
	static const enum source_kind want[] = {
		SOURCE_BLANK,	  SOURCE_COMMENT, SOURCE_KEYWORD, SOURCE_DIRECTIVE, SOURCE_SECTION,
		SOURCE_DIRECTIVE, SOURCE_KEYWORD, SOURCE_BROKEN,  SOURCE_BROKEN,    SOURCE_BROKEN,
	};

	take("  \n # a\nb c # d\n.if x\nglobal\n.endif\ne\r\n'open\n\\x0\na\rb\nend");
	is_int(s.count, 11, "eleven lines");
	for (int i = 0; i < 10; i++)
		is_int(s.lines[i].kind, want[i], "kind of line %d", i + 1);
	is_int(s.is_truncated, true, "the last has no line feed");
	is_int(s.lines[2].section, -1, "before the first section");
	is_int(s.lines[6].section, 4, "in the section of line 5");
	is_int(s.lines[4].depth, 1, "inside of .if");
	is_int(s.lines[5].depth, 0, ".endif as .if");
	is_int(s.lines[2].comment, 4, "where the comment begins");
	is_int(s.lines[6].raw.len, 1, "without a carriage return");
	ok(source_begins(&s.lines[2], "b c") && !source_begins(&s.lines[2], "b c d"),
	   "first words");
}

/* Random lines, cut by both. */
static void same_words(void)
{
	static const char *const bits[] = { "a", " ",	"\t", "'", "\"", "\\",
					    "#", "x41", "$",  "n", "{",	 "}" };
	struct config *cfg = config_new();
	struct diag_list diags;
	struct conf_where w = { .cfg = cfg, .diags = &diags };
	struct conf_tokens t = { 0 };
	int compared = 0, different = 0;

	diag_list_init(&diags);
	strbuf_init(&t.text);
	srand(5);
	for (int n = 0; n < 20000; n++) {
		char text[64] = "";
		bool good, same;

		for (int i = rand() % 12; i >= 0; i--)
			strcat(text, bits[(size_t)rand() % (sizeof(bits) / sizeof(*bits))]);
		if (strchr(text, '$') && strchr(text, '"'))
			continue; /* variables are replaced by one of the two only */
		w.place.text = text;
		good = conf_tokenize(&w, &t);
		strcat(text, "\n");
		take(text);
		text[strlen(text) - 1] = '\0';
		same = good == (s.lines[0].kind != SOURCE_BROKEN) &&
		       (!good || t.count == s.lines[0].count);
		for (int i = 0; same && good && i < t.count; i++)
			same = strcmp(t.words[i], source_word(&s.lines[0], i)) == 0 &&
			       t.columns[i] == s.lines[0].words[i].at + 1;
		if (!same && different++ < 3)
			printf("# <%s>: %d words, %d words\n", text, good ? t.count : -1,
			       s.lines[0].count);
		compared++;
	}
	ok(compared > 10000, "%d lines compared", compared);
	is_int(different, 0, "both cut them in the same way");
	strbuf_fini(&t.text);
	diag_list_fini(&diags);
	config_drop(&cfg);
}

static void variables(void)
{
	take("a \"${X-b \"c d}\" \"$E\" e\n");
	is_int(s.lines[0].count, 4, "quotes in the default value of a variable");
	is_str(source_word(&s.lines[0], 1), "${X-b \"c d}", "which stays as it is written");
}

int main(void)
{
	fake_start();
	kinds();
	same_words();
	variables();
	source_fini(&s);
	return done_testing();
}
