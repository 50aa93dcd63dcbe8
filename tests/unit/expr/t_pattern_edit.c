/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_pattern_edit.c - references changed at run time: what is found after each change, and while
 * other threads look
 */
#include <pthread.h>
#include "expr/modules.h"
#include "tap.h"
#include "line.h"
#include "expr/pattern.h"

static const enum pattern_method text_methods[] = {
	PATTERN_STR, PATTERN_BEG, PATTERN_END, PATTERN_SUB, PATTERN_DIR, PATTERN_DOM, PATTERN_REG,
};
#define METHODS (sizeof(text_methods) / sizeof(text_methods[0]))

static struct line line;

static struct pattern_ref *new_map(const char *name)
{
	const char *error = "";
	struct pattern_ref *ref;

	line_words(&line, "x");
	ref = pattern_ref_take(&line.l, name, false, &error);
	ok(ref != NULL, "a map %s %s", name, error);
	return ref;
}

static bool insert(struct pattern_ref *ref, uint32_t version, const char *key, const char *value)
{
	struct pattern_error error;

	return pattern_ref_insert(ref, version, slice_of(key), slice_of(value), &error);
}

/* The value that <text> has in the set; "-" when it is not found. */
static const char *value_of(const struct pattern_set *set, const char *text)
{
	static char value[64];
	struct sample s = { .type = SMP_STR, .text = slice_of(text) };
	struct pattern_match match;

	if (!pattern_set_find(set, &s, &match))
		return "-";
	slice_copy(match.value, value, sizeof(value));
	return value;
}

static void test_changes(void)
{
	struct pattern_ref *ref = new_map("virt@changes");
	struct pattern_set *sets[METHODS];
	struct pattern_error error = { "" };

	for (size_t i = 0; i < METHODS; i++)
		sets[i] = pattern_set_get(&line.l, ref, text_methods[i], 0);
	for (size_t i = 0; i < METHODS; i++) {
		const char *name = pattern_method_name(text_methods[i]);

		is_str(value_of(sets[i], "key"), "-", "%s: empty", name);
	}
	ok(insert(ref, PATTERN_NOW, "key", "1") && insert(ref, PATTERN_NOW, "key", "2"), "added");
	for (size_t i = 0; i < METHODS; i++)
		is_str(value_of(sets[i], "key"), "1", "%s: the first of equal ones",
		       pattern_method_name(text_methods[i]));
	ok(!pattern_ref_insert(ref, PATTERN_NOW, SLICE("("), SLICE("x"), &error),
	   "a bad regex is refused: %s", error.text);
	is_str(value_of(sets[0], "("), "-", "and is in no other set");
	ok(pattern_ref_replace(ref, PATTERN_NOW, SLICE("key"), 0, SLICE("3"), &error), "replaced");
	for (size_t i = 0; i < METHODS; i++)
		is_str(value_of(sets[i], "key"), "3", "%s: the new value",
		       pattern_method_name(text_methods[i]));
	ok(pattern_ref_delete(ref, PATTERN_NOW, SLICE("key"), 0), "the first one is deleted");
	ok(pattern_ref_delete(ref, PATTERN_NOW, SLICE("key"), 0), "then the other one");
	ok(!pattern_ref_delete(ref, PATTERN_NOW, SLICE("key"), 0), "then there is none");
	for (size_t i = 0; i < METHODS; i++)
		is_str(value_of(sets[i], "key"), "-", "%s: gone",
		       pattern_method_name(text_methods[i]));
	ok(insert(ref, PATTERN_NOW, "key", "4"), "and added again");
	for (size_t i = 0; i < METHODS; i++)
		is_str(value_of(sets[i], "key"), "4", "%s: found again",
		       pattern_method_name(text_methods[i]));
	line_end(&line);
}

static void test_versions(void)
{
	struct pattern_ref *ref = new_map("virt@versions");
	struct pattern_set *set = pattern_set_get(&line.l, ref, PATTERN_STR, 0);
	uint32_t version;

	insert(ref, PATTERN_NOW, "a", "old");
	insert(ref, PATTERN_NOW, "b", "old");
	version = pattern_ref_prepare(ref);
	is_int(version, 1, "the first version");
	ok(!pattern_ref_has_version(ref, 2), "there is no second one");
	insert(ref, version, "a", "new");
	is_str(value_of(set, "a"), "old", "unseen before the commit");
	ok(pattern_ref_commit(ref, version), "committed");
	is_str(value_of(set, "a"), "new", "seen after it");
	is_str(value_of(set, "b"), "-", "what was before is gone");
	ok(!pattern_ref_commit(ref, version), "only once");
	pattern_ref_clear(ref, PATTERN_NOW);
	is_str(value_of(set, "a"), "-", "cleared");
	line_end(&line);
}

/* Many changes: arrays are replaced by larger ones, and the dead are left behind. */
static void test_growth(void)
{
	struct pattern_ref *ref = new_map("virt@growth");
	struct pattern_set *sets[METHODS];
	unsigned wrong = 0;
	char key[32], value[32];

	for (size_t i = 0; i < METHODS; i++)
		sets[i] = pattern_set_get(&line.l, ref, text_methods[i], 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 300; i++) {
			snprintf(key, sizeof(key), "k%dx", i);
			snprintf(value, sizeof(value), "%d.%d", i, round);
			wrong += !insert(ref, PATTERN_NOW, key, value);
		}
		for (int i = 0; i < 300; i++) {
			snprintf(key, sizeof(key), "k%dx", i);
			snprintf(value, sizeof(value), "%d.%d", i, round);
			for (size_t m = 0; m < METHODS; m++)
				wrong += strcmp(value_of(sets[m], key), value) != 0;
		}
		for (int i = 0; i < 300; i++) {
			snprintf(key, sizeof(key), "k%dx", i);
			wrong += pattern_ref_delete(ref, PATTERN_NOW, slice_of(key), 0) != 1;
		}
	}
	is_int(wrong, 0, "all are found, and none is after its deletion");
	ok(pattern_ref_count(ref) < 600, "the dead were left behind: %zu",
	   pattern_ref_count(ref));
	line_end(&line);
}

/* Sets of few keys are searched in another way than large ones: both find the same. */
static void test_few(void)
{
	static const char *const keys[] = { "b", "a", "ab", "AB", "abc", "bc", "a", "" };
	static const char *const texts[] = { "", "a", "A", "b", "ab", "aB", "abc", "abcd", "xbc",
					     "xABC", "zz" };
	static const enum pattern_method methods[] = { PATTERN_STR, PATTERN_BEG, PATTERN_END };
	struct pattern_ref *few = new_map("virt@few"), *many = new_map("virt@many");
	char key[32], value[32];
	unsigned found = 0;

	for (int i = 0; i < 8; i++) {
		snprintf(value, sizeof(value), "%d", i);
		insert(few, PATTERN_NOW, keys[i], value);
		insert(many, PATTERN_NOW, keys[i], value);
	}
	for (int i = 0; i < 30; i++) {
		snprintf(key, sizeof(key), "%d!", i);
		insert(many, PATTERN_NOW, key, "other");
	}
	for (unsigned i = 0; i < 6; i++) {
		unsigned flags = i & 1 ? PATTERN_NOCASE : 0;
		struct pattern_set *a = pattern_set_get(&line.l, few, methods[i / 2], flags);
		struct pattern_set *b = pattern_set_get(&line.l, many, methods[i / 2], flags);

		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
			snprintf(value, sizeof(value), "%s", value_of(b, texts[t]));
			found += value[0] != '-';
			is_str(value_of(a, texts[t]), value, "%s%s: '%s'",
			       pattern_method_name(methods[i / 2]), flags ? " -i" : "", texts[t]);
		}
	}
	is_int(found, 56, "most are found");
	line_end(&line);
}

static void test_networks(void)
{
	struct pattern_ref *ref = new_map("virt@networks");
	struct pattern_set *set = pattern_set_get(&line.l, ref, PATTERN_IP, 0);
	struct sample s = { .type = SMP_STR, .text = SLICE("10.1.2.3") };
	struct pattern_match match = { .regex = NULL };
	char text[32];

	sample_cast(&s, SMP_IPV4, NULL);
	for (int i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "11.%d.0.0/16", i);
		insert(ref, PATTERN_NOW, text, "other");
	}
	insert(ref, PATTERN_NOW, "10.0.0.0/8", "wide");
	insert(ref, PATTERN_NOW, "10.1.0.0/16", "narrow");
	ok(pattern_set_find(set, &s, &match) && slice_eq(match.value, SLICE("narrow")),
	   "the narrowest network");
	pattern_ref_delete(ref, PATTERN_NOW, SLICE("10.1.0.0/16"), 0);
	ok(pattern_set_find(set, &s, &match) && slice_eq(match.value, SLICE("wide")),
	   "then the wider one");
	insert(ref, PATTERN_NOW, "10.1.0.0/16", "again");
	ok(pattern_set_find(set, &s, &match) && slice_eq(match.value, SLICE("again")),
	   "a network that was deleted and came back");
	ok(!insert(ref, PATTERN_NOW, "localhost", "x"), "no name is resolved at run time");
	line_end(&line);
}

/* --- others look meanwhile ---------------------------------------------------------------- */

static struct pattern_set *watched[METHODS];
static bool is_over;
static unsigned bad;

/* "always" is never deleted: it must be found at each moment, with one of its values. */
static void *watch(void *arg)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		for (size_t m = 0; m < METHODS; m++) {
			struct sample s = { .type = SMP_STR, .text = SLICE("always") };
			struct pattern_match match = { .regex = NULL };

			if (!pattern_set_find(watched[m], &s, &match) || match.value.len != 6)
				__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
			s.text = SLICE("k77x");
			pattern_set_find(watched[m], &s, &match);
		}
	}
	mod_expr.thread_fini();
	return NULL;
}

static void test_threads(void)
{
	struct pattern_ref *ref = new_map("virt@threads");
	pthread_t threads[2];
	struct pattern_error error;
	char key[32];

	for (size_t m = 0; m < METHODS; m++)
		watched[m] = pattern_set_get(&line.l, ref, text_methods[m], 0);
	insert(ref, PATTERN_NOW, "always", "value0");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, watch, NULL);
	for (int i = 0; i < 600; i++) {
		snprintf(key, sizeof(key), "k%dx", i % 100);
		insert(ref, PATTERN_NOW, key, "v");
		if (i >= 50) {
			snprintf(key, sizeof(key), "k%dx", (i - 50) % 100);
			pattern_ref_delete(ref, PATTERN_NOW, slice_of(key), 0);
		}
		pattern_ref_replace(ref, PATTERN_NOW, SLICE("always"), 0, i & 1 ? SLICE("value1") :
				    SLICE("value0"), &error);
	}
	for (int i = 0; i < 20; i++) {
		uint32_t version = pattern_ref_prepare(ref);

		insert(ref, version, "always", "value2");
		pattern_ref_commit(ref, version);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	is_int(bad, 0, "two threads always found what was always there");
	line_end(&line);
}

static struct pattern_set *shared_set;

static void *add_all(void *arg)
{
	struct pattern_error error;
	char key[32];

	for (int i = 0; i < 500; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		pattern_set_add_missing(shared_set, slice_of(key), SLICE("v"), &error);
	}
	mod_expr.thread_fini();
	return NULL;
}

static void test_add_missing(void)
{
	struct pattern_ref *ref = new_map("virt@missing");
	pthread_t threads[2];

	shared_set = pattern_set_get(&line.l, ref, PATTERN_STR, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add_all, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	is_int((long)pattern_ref_count(ref), 500, "what two threads add is there once");
	line_end(&line);
}

/* Others look while versions change and the table is made anew, again and again. */
static void test_commits(void)
{
	struct pattern_ref *ref = new_map("virt@commits");
	pthread_t threads[2];

	for (size_t m = 0; m < METHODS; m++)
		watched[m] = pattern_set_get(&line.l, ref, text_methods[m], 0);
	insert(ref, PATTERN_NOW, "always", "value0");
	bad = 0;
	is_over = false;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, watch, NULL);
	for (int i = 0; i < 3000; i++) {
		uint32_t version = pattern_ref_prepare(ref);

		insert(ref, version, "always", "value2");
		pattern_ref_commit(ref, version);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	is_int(bad, 0, "it is found in one version or the next");
	line_end(&line);
}

int main(void)
{
	static const struct module *const modules[] = { EXPR_MODULE_LIST NULL };

	if (!line_setup(modules))
		return 1;
	test_changes();
	test_versions();
	test_growth();
	test_few();
	test_networks();
	test_threads();
	test_add_missing();
	test_commits();
	line_teardown();
	return done_testing();
}
