/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry.c - the keyword and section tables of all modules: look-up and suggestions
 *
 * One array sorted by words. Keywords that are valid in several places have several records with
 * the same words (maxconn of global, of a listen, of a bind line): they are adjacent. So are those
 * with the same first word, by which a line is looked up.
 */
#include <stdlib.h>
#include <string.h>
#include "conf_priv.h"
#include "base/bug.h"
#include "base/hash.h"
#include "registry_priv.h"

#define WORDS_MAX 128 /* bytes of a joined keyword */

/* Sorted by name; those of one name in the order of the modules. */
static const struct conf_section **sections;
static size_t section_count;

const struct module *const *conf_modules;
const struct conf_keyword **conf_keywords;
size_t conf_keyword_count;

/* The keywords that begin with one word, by its hash. */
struct first_word {
	unsigned begin, end; /* of conf_keywords; the same: no word */
	int longest;         /* words of one of them */
};
static struct first_word *first_words;
static size_t first_mask; /* their number is a power of two */

/* Where the word is, or where it would be. */
static struct first_word *first_word(const char *word, size_t len)
{
	for (size_t i = hash_bytes(word, len, 0);; i++) {
		struct first_word *f = &first_words[i & first_mask];
		const char *has = f->end > f->begin ? conf_keywords[f->begin]->words : NULL;

		if (!has || (strncmp(has, word, len) == 0 && (!has[len] || has[len] == ' ')))
			return f;
	}
}

static bool index_first_words(void)
{
	size_t room = 64;

	while (room < conf_keyword_count * 2)
		room *= 2;
	free(first_words);
	first_words = calloc(room, sizeof(*first_words));
	first_mask = room - 1;
	for (unsigned i = 0; first_words && i < conf_keyword_count; i++) {
		const char *words = conf_keywords[i]->words;
		struct first_word *f = first_word(words, strcspn(words, " "));
		int count = 1;

		for (const char *at = words; (at = strchr(at, ' ')); at++)
			count++;
		if (f->end == f->begin)
			f->begin = i;
		f->end = i + 1;
		f->longest = count > f->longest ? count : f->longest;
	}
	return first_words != NULL;
}

static int by_words(const void *a, const void *b)
{
	const struct conf_keyword *const *ka = a, *const *kb = b;
	int order = strcmp((*ka)->words, (*kb)->words);

	/* the tables' order decides among equals: keep the sort stable */
	if (!order)
		order = (*ka)->where < (*kb)->where ? -1 : (*ka)->where > (*kb)->where;
	return order;
}

static int by_name(const void *a, const void *b)
{
	const struct conf_section *const *sa = a, *const *sb = b;

	return strcmp((*sa)->name, (*sb)->name);
}

static bool register_sections(const struct module *const *modules)
{
	size_t count = 0;

	for (const struct module *const *m = modules; *m; m++)
		for (const struct conf_section *s = (*m)->sections; s && s->name; s++)
			count++;
	free(sections);
	sections = malloc((count + 1) * sizeof(*sections));
	section_count = 0;
	if (!sections)
		return false;
	for (const struct module *const *m = modules; *m; m++)
		for (const struct conf_section *s = (*m)->sections; s && s->name; s++)
			sections[section_count++] = s;
	qsort(sections, section_count, sizeof(*sections), by_name);
	return true;
}

bool conf_register(const struct module *const *modules)
{
	const struct conf_keyword **all;
	size_t count = 0, at = 0;

	if (!conf_env_remember() || !register_sections(modules))
		return false;
	for (const struct module *const *m = modules; *m; m++)
		for (const struct conf_keyword *k = (*m)->keywords; k && k->words; k++)
			count++;
	all = malloc((count + 1) * sizeof(*all));
	if (!all)
		return false;
	for (const struct module *const *m = modules; *m; m++) {
		for (const struct conf_keyword *k = (*m)->keywords; k && k->words; k++) {
			BUG_ON(!k->where);
			BUG_ON((k->where & CONF_OTHER) && !k->section);
			all[at++] = k;
		}
	}
	qsort(all, count, sizeof(*all), by_words);
	free(conf_keywords);
	conf_keywords = all;
	conf_keyword_count = count;
	conf_modules = modules;
	return index_first_words();
}

/* --- look-up ----------------------------------------------------------------------------- */

static bool is_of(const struct conf_section *s, const char *dialect)
{
	return dialect && s->dialect ? strcmp(s->dialect, dialect) == 0 : s->dialect == dialect;
}

const struct conf_section *conf_section_find(const char *name, const char *dialect)
{
	size_t low = 0, high = section_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(sections[middle]->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < section_count && strcmp(sections[low]->name, name) == 0; low++)
		if (is_of(sections[low], dialect))
			return sections[low];
	return NULL;
}

bool conf_keyword_fits(const struct conf_keyword *k, unsigned where, const char *section)
{
	if (!(k->where & where))
		return false;
	return !(where & CONF_OTHER) || (section && strcmp(k->section, section) == 0);
}

static const struct conf_keyword *find_fitting(const struct first_word *f, const char *words,
					       unsigned where, const char *section)
{
	for (unsigned i = f->begin; i < f->end; i++)
		if (strcmp(conf_keywords[i]->words, words) == 0 &&
		    conf_keyword_fits(conf_keywords[i], where, section))
			return conf_keywords[i];
	return NULL;
}

/* Joins <count> words with blanks; false: too long, or a word that no keyword can be. */
static bool join(char *const *words, int count, char out[WORDS_MAX])
{
	size_t len = 0;

	for (int i = 0; i < count; i++) {
		size_t more = strlen(words[i]);

		if (len + more + 2 > WORDS_MAX || strchr(words[i], ' '))
			return false;
		if (i)
			out[len++] = ' ';
		memcpy(out + len, words[i], more);
		len += more;
	}
	out[len] = '\0';
	return true;
}

const struct conf_keyword *conf_keyword_find(char *const *words, int count, unsigned where,
					     const char *section, int *used)
{
	const struct conf_keyword *k;
	const struct first_word *f;
	char joined[WORDS_MAX];
	char *open;

	if (count < 1)
		return NULL;
	f = first_word(words[0], strlen(words[0]));
	*used = 1;
	for (int n = count < f->longest ? count : f->longest; n > 0; n--) {
		if (!join(words, n, joined))
			continue;
		k = find_fitting(f, joined, where, section);
		*used = n;
		if (k)
			return k;
	}
	if (!join(words, 1, joined))
		return NULL;
	open = strchr(joined, '(');
	if (!open)
		return NULL;
	*open = '\0';
	*used = 1;
	k = find_fitting(first_word(joined, (size_t)(open - joined)), joined, where, section);
	return k && (k->flags & CONF_PREFIX) ? k : NULL;
}

const struct conf_keyword *conf_keyword_elsewhere(char *const *words, int count, unsigned where,
						  int *used)
{
	if (!(where & CONF_PROXY))
		return NULL;
	return conf_keyword_find(words, count, CONF_PROXY, NULL, used);
}

bool conf_keyword_followers(struct strbuf *b, const char *first, unsigned where,
			    const char *section)
{
	size_t len = strlen(first), last_len = 0;
	const char *last = NULL;
	int count = 0;

	for (size_t i = 0; i < conf_keyword_count; i++) {
		const struct conf_keyword *k = conf_keywords[i];
		const char *word = k->words + len + 1;
		size_t word_len;

		if (strncmp(k->words, first, len) != 0 || k->words[len] != ' ' ||
		    !conf_keyword_fits(k, where, section) ||
		    (k->flags & (CONF_HIDDEN | CONF_REFUSED)))
			continue;
		word_len = strcspn(word, " ");
		if (last && word_len == last_len && strncmp(word, last, word_len) == 0)
			continue;
		if (last)
			strbuf_printf(b, "%s'%.*s'", count++ ? ", " : "", (int)last_len, last);
		last = word;
		last_len = word_len;
	}
	if (last)
		strbuf_printf(b, "%s'%.*s'", count ? " and " : "", (int)last_len, last);
	return last != NULL;
}

/* --- suggestions ------------------------------------------------------------------------- */

/* Edit distance with transpositions, or more than <limit>. */
static int distance(const char *a, const char *b, int limit)
{
	int len_a = (int)strlen(a), len_b = (int)strlen(b);
	int rows[3][WORDS_MAX];

	if (len_b >= WORDS_MAX || abs(len_a - len_b) > limit)
		return limit + 1;
	for (int j = 0; j <= len_b; j++)
		rows[0][j] = j;
	for (int i = 1; i <= len_a; i++) {
		int *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (int j = 1; j <= len_b; j++) {
			int best = above[j - 1] + (a[i - 1] != b[j - 1]);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[len_a % 3][len_b];
}

const char *conf_closest(const char *word, const char *(*next)(void *ctx), void *ctx)
{
	const char *candidate, *best = NULL;
	int limit = (int)strlen(word) / 3;

	while ((candidate = next(ctx)) != NULL) {
		int d;

		if (limit < 1)
			continue; /* too short to guess; still empties the caller's iterator */
		d = distance(word, candidate, limit);
		if (d <= limit) {
			best = candidate;
			limit = d - 1;
		}
		if (limit < 0)
			break;
	}
	return best;
}

struct candidates {
	size_t at;
	unsigned where;
	const char *section;
	const char *first; /* only those that start with this word, and then their second */
	char word[WORDS_MAX];
	char best[WORDS_MAX];
};

/* The next candidate: the first (or second) word, each once. Candidates share one buffer. */
static const char *next_candidate(void *ctx)
{
	struct candidates *c = ctx;

	while (c->at < conf_keyword_count) {
		const struct conf_keyword *k = conf_keywords[c->at++];
		const char *word = k->words;
		size_t len;

		if (!conf_keyword_fits(k, c->where, c->section) || (k->flags & CONF_HIDDEN))
			continue;
		if (c->first) {
			len = strlen(c->first);
			if (strncmp(word, c->first, len) != 0 || word[len] != ' ')
				continue;
			word += len + 1;
		}
		len = strcspn(word, " ");
		if (len >= WORDS_MAX)
			continue;
		memcpy(c->word, word, len);
		c->word[len] = '\0';
		return c->word;
	}
	return NULL;
}

const char *conf_keyword_suggest(char *const *words, unsigned where, const char *section,
				 bool second)
{
	static __thread struct candidates
		c; /* the answer lives until the next call of the thread */
	const char *wanted = words[second ? 1 : 0], *word;
	int limit = wanted ? (int)strlen(wanted) / 3 : 0;

	c.at = 0;
	c.where = where;
	c.section = section;
	c.first = second ? words[0] : NULL;
	c.best[0] = '\0';
	while (limit > 0 && (word = next_candidate(&c)) != NULL) {
		int d = distance(wanted, word, limit);

		if (d <= limit) {
			memcpy(c.best, word, strlen(word) + 1);
			limit = d - 1;
		}
	}
	return c.best[0] ? c.best : NULL;
}

struct section_walk {
	const struct module *const *module;
	const struct conf_section *section;
};

static const char *next_section(void *ctx)
{
	struct section_walk *w = ctx;

	while (w->module && *w->module) {
		if (!w->section)
			w->section = (*w->module)->sections;
		if (w->section && w->section->name)
			return w->section++->name;
		w->section = NULL;
		w->module++;
	}
	return NULL;
}

const char *conf_section_suggest(const char *word)
{
	struct section_walk walk = { .module = conf_modules };

	return conf_closest(word, next_section, &walk);
}
