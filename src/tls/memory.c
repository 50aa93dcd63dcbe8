/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.c - allocation of OpenSSL's objects
 *
 * A handshake allocates and frees some hundreds of objects, a few of them large, and every record a
 * buffer. malloc() caches seven of each small size per thread, and splits and joins one large piece
 * for all others: each working thread caches more of them here. Other threads, such as those that
 * read a configuration, end without notice: they cache nothing.
 */
#include <malloc.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "core/mailbox.h"
#include "lib_priv.h"

#ifdef __SANITIZE_ADDRESS__
#define SMALL_MAX 0 /* what is freed must be seen to be */
#else
#define SMALL_MAX 8192
#endif
#define SMALL_STEP 16
#define SMALL_KEPT (256 * 1024) /* bytes */

#define BIG_MIN (16 * 1024)
#define BIG_MAX (64 * 1024)
#define BIG_KEPT 4

struct spare {
	struct spare *next;
};

static __thread struct {
	struct spare *of_size[SMALL_MAX / SMALL_STEP + 1]; /* by small_class() */
	size_t bytes;
} small;

static __thread struct {
	void *ptr[BIG_KEPT];
	size_t size[BIG_KEPT];
	int count;
} big;

static __thread bool keeps; /* between tls_memory_thread_init() and its end */
static __thread bool wipes;

void tls_memory_wipe(bool on)
{
	wipes = on;
}

/* malloc() gives so many bytes that eight more make a multiple of 16: an object that has <usable>
 * ones is good for what rounds up to the same class.
 */
static size_t small_class(size_t usable)
{
	return (usable + 8) / SMALL_STEP;
}

static void *small_take(size_t size)
{
	size_t class = small_class(size + SMALL_STEP - 1);
	struct spare *s = small.of_size[class];

	if (s) {
		small.of_size[class] = s->next;
		small.bytes -= class * SMALL_STEP;
	}
	return s;
}

static void *big_take(size_t size)
{
	for (int i = big.count - 1; i >= 0; i--) {
		void *p = big.ptr[i];

		if (big.size[i] < size)
			continue;
		big.count--;
		big.ptr[i] = big.ptr[big.count];
		big.size[i] = big.size[big.count];
		return p;
	}
	return NULL;
}

static void *memory_malloc(size_t size, const char *file, int line)
{
	void *p = NULL;

	if (size + 2 * SMALL_STEP <= SMALL_MAX)
		p = small_take(size);
	else if (size >= BIG_MIN && size <= BIG_MAX)
		p = big_take(size);
	return p ? p : malloc(size);
}

static void memory_free(void *p, const char *file, int line)
{
	size_t size = p ? malloc_usable_size(p) : 0, class = small_class(size);

	if (unlikely(wipes) && p)
		OPENSSL_cleanse(p, size);
	if (!keeps) {
		free(p);
	} else if (size && size + SMALL_STEP <= SMALL_MAX &&
	    small.bytes + class * SMALL_STEP <= SMALL_KEPT) {
		struct spare *s = p;

		s->next = small.of_size[class];
		small.of_size[class] = s;
		small.bytes += class * SMALL_STEP;
	} else if (size >= BIG_MIN && size <= BIG_MAX + 64 && big.count < BIG_KEPT) {
		big.ptr[big.count] = p;
		big.size[big.count++] = size;
	} else {
		free(p);
	}
}

static void *memory_realloc(void *p, size_t size, const char *file, int line)
{
	size_t had = wipes && p ? malloc_usable_size(p) : 0;
	void *grown;

	if (likely(!wipes) || !p)
		return realloc(p, size);
	grown = memory_malloc(size, file, line);
	if (!grown)
		return NULL;
	memcpy(grown, p, had < size ? had : size);
	memory_free(p, file, line);
	return grown;
}

void tls_memory_thread_init(void)
{
	keeps = true;
}

void tls_memory_thread_fini(void)
{
	keeps = false;
	while (big.count)
		free(big.ptr[--big.count]);
	for (size_t i = 0; i < sizeof(small.of_size) / sizeof(small.of_size[0]); i++)
		while (small.of_size[i]) {
			struct spare *s = small.of_size[i];

			small.of_size[i] = s->next;
			free(s);
		}
	small.bytes = 0;
}

/* --- stacks ----------------------------------------------------------------------------------- */

/* How deep OpenSSL goes below the loop, and more. */
#define STACK_WIPED (32 * 1024)

static bool stacks_asked; /* atomic: all threads are about to do it */

static __attribute__((noinline)) void wipe_stack(void *ctx)
{
	char area[STACK_WIPED];

	OPENSSL_cleanse(area, sizeof(area));
}

static void stacks_wiped(void *ctx)
{
	__atomic_store_n(&stacks_asked, false, __ATOMIC_RELEASE);
}

void tls_memory_wipe_stacks(void)
{
	if (!keeps || __atomic_exchange_n(&stacks_asked, true, __ATOMIC_ACQ_REL))
		return;
	if (!thread_call_all(wipe_stack, stacks_wiped, NULL))
		stacks_wiped(NULL);
}

void tls_memory_init(void)
{
	CRYPTO_set_mem_functions(memory_malloc, memory_realloc, memory_free);
}
