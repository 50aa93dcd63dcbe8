/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool.c - caches of objects
 *
 *	program <-> cache of the thread (LIFO) <-> shared clusters (lock) <-> C library
 *
 * Objects pass the arrows on the right in clusters of CLUSTER, so that the lock and the library are
 * used rarely. Options of -dM, and builds with the address sanitizer, use another path
 * (pool_debug_*) where every object comes from the library.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/memory_profile.h"
#include "core/activity.h"
#include "core/pool.h"
#include "core/thread.h"
#include "pool_priv.h"

#define POOLS_MAX 128
#define CLUSTER 16
#define TRAILER 16 /* room for two pointers, keeps alignment */
#define CACHE_LINE 64
/* What all threads keep of one pool, in caches of a thread. */
#define SHARED_CACHES 12

#if defined(__SANITIZE_ADDRESS__)
#define POOL_BUILD_FLAGS POOL_NO_CACHE
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_BUILD_FLAGS POOL_NO_CACHE
#endif
#endif
#ifndef POOL_BUILD_FLAGS
#define POOL_BUILD_FLAGS 0
#endif

/* Spare objects are chained through themselves. */
struct spare {
	struct spare *next;
	struct spare *next_cluster; /* in the first of a shared cluster */
};

/* Of one pool in one thread. Written by the thread, read by all for statistics. */
struct pool_cache {
	alignas(CACHE_LINE) struct spare *spares;
	uint64_t count;    /* spares */
	uint64_t asked;    /* objects got from the library */
	uint64_t returned; /* objects given back to it */
	uint64_t failures;
};

struct pool {
	const char *name;
	size_t size;           /* asked by the user */
	size_t real_size;      /* asked from the library */
	size_t copy_at;        /* with POOL_BACKUP the copy stands there, as long as the object */
	unsigned index;
	unsigned users;
	pthread_mutex_t lock;  /* of the clusters */
	struct spare *clusters;
	unsigned cluster_count;
};

unsigned pool_flags = POOL_BUILD_FLAGS;
unsigned char pool_poison = 'P';

static struct pool *pools[POOLS_MAX];
static unsigned pool_total;
static struct pool_cache *caches[THREADS_MAX]; /* atomic; each POOLS_MAX long; never freed */
static unsigned caches_end; /* atomic, only grows: threads behind have none */
static __thread struct pool_cache *cache_self;
static __thread uint64_t cached_bytes; /* spares of this thread, in all pools */
static __thread uint32_t random_state;
static uint64_t hot_size = 524288;
static uint64_t memory_limit;
static uint64_t memory_used;           /* atomic: bytes asked from the library */
static unsigned fail_percent;
static bool is_trimming = true;

#ifdef __GLIBC__
static void library_trim(void)
{
	malloc_trim(0);
}
#else
static void library_trim(void)
{
}
#endif

/* --- set-up ---------------------------------------------------------------------------------- */

struct pool *pool_new(const char *name, size_t size)
{
	/* what fits the C library's chunks, which have 8 bytes of their own on 64-bit systems */
	size_t real = size < sizeof(struct spare) ? sizeof(struct spare)
						  : ((size + 23) & ~15ul) - 8;
	size_t length = real, copy_at;
	struct pool *p;

	if (pool_flags & (POOL_CALLER | POOL_TAG))
		real += TRAILER;
	copy_at = real;
	if (pool_flags & POOL_BACKUP)
		real += length;
	for (unsigned i = 0; i < pool_total && !(pool_flags & POOL_NO_MERGE); i++) {
		if (pools[i]->real_size == real) {
			pools[i]->users++;
			if (size > pools[i]->size)
				pools[i]->size = size;
			return pools[i];
		}
	}
	if (pool_total == POOLS_MAX)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->name = name;
	p->size = size;
	p->real_size = real;
	p->copy_at = copy_at;
	p->index = pool_total;
	p->users = 1;
	pthread_mutex_init(&p->lock, NULL);
	pools[pool_total++] = p;
	return p;
}

void pool_set_limit(uint64_t bytes)
{
	memory_limit = bytes;
}

void pool_set_hot_size(uint64_t bytes)
{
	hot_size = bytes;
}

void pool_set_trimming(bool on)
{
	is_trimming = on;
}

void pool_set_fail_percent(unsigned percent)
{
	fail_percent = percent;
}

/* --- library side ---------------------------------------------------------------------------- */

/* This thread's caches, made at its first allocation. NULL: no memory. */
static struct pool_cache *cache_init(void)
{
	struct pool_cache *mine = __atomic_load_n(&caches[thread_id], __ATOMIC_ACQUIRE);
	unsigned end = __atomic_load_n(&caches_end, __ATOMIC_RELAXED);

	if (!mine) {
		mine = aligned_alloc(CACHE_LINE, POOLS_MAX * sizeof(*mine));
		if (!mine)
			return NULL;
		memset(mine, 0, POOLS_MAX * sizeof(*mine));
		__atomic_store_n(&caches[thread_id], mine, __ATOMIC_RELEASE);
		while (end <= thread_id &&
		       !__atomic_compare_exchange_n(&caches_end, &end, thread_id + 1, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
	}
	return cache_self = mine;
}

static void stat_add(uint64_t *stat, uint64_t n)
{
	__atomic_store_n(stat, *stat + n, __ATOMIC_RELAXED);
}

/* Must this allocation fail, by chance or by the limit of -m? */
static bool pool_must_fail(struct pool *p)
{
	if (unlikely(memory_limit) && __atomic_load_n(&memory_used, __ATOMIC_RELAXED) +
	    p->real_size > memory_limit)
		return true;
	if (likely(!(pool_flags & POOL_FAIL)) || !fail_percent)
		return false;
	if (!random_state)
		random_state = 2463534242u + thread_id;
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % 100 < fail_percent;
}

static void *pool_fail(struct pool_cache *c)
{
	stat_add(&c->failures, 1);
	activity_add(ACTIVITY_pool_fail, 1);
	return NULL;
}

static size_t uaf_length(const struct pool *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (p->real_size + page - 1) / page * page;
}

/* One object from the library; uaf: at the end of pages of its own. */
static void *pool_ask(struct pool *p, struct pool_cache *c)
{
	void *object;

	if (pool_must_fail(p))
		return pool_fail(c);
	if (unlikely(pool_flags & POOL_UAF)) {
		size_t length = uaf_length(p);

		object = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
		object = object == MAP_FAILED ? NULL : (char *)object + length - p->real_size;
	} else {
		memory_profile_pool = p->name;
		object = malloc(p->real_size);
		memory_profile_pool = NULL;
	}
	if (!object)
		return pool_fail(c);
	stat_add(&c->asked, 1);
	SHARED_WRITE(process);
	__atomic_fetch_add(&memory_used, p->real_size, __ATOMIC_RELAXED);
	return object;
}

static void pool_return(struct pool *p, struct pool_cache *c, void *object)
{
	stat_add(&c->returned, 1);
	SHARED_WRITE(process);
	__atomic_fetch_sub(&memory_used, p->real_size, __ATOMIC_RELAXED);
	if (unlikely(pool_flags & POOL_UAF)) {
		size_t length = uaf_length(p);

		munmap((char *)object + p->real_size - length, length);
		return;
	}
	memory_profile_pool = p->name;
	free(object);
	memory_profile_pool = NULL;
}

/* --- clusters -------------------------------------------------------------------------------- */

/* Moves a shared cluster into the empty cache. False: there is none. */
static bool pool_refill(struct pool *p, struct pool_cache *c)
{
	struct spare *cluster;

	if (!__atomic_load_n(&p->clusters, __ATOMIC_RELAXED))
		return false;
	SHARED_WRITE(process);
	pthread_mutex_lock(&p->lock);
	cluster = p->clusters;
	if (cluster) {
		__atomic_store_n(&p->clusters, cluster->next_cluster, __ATOMIC_RELAXED);
		p->cluster_count--;
	}
	pthread_mutex_unlock(&p->lock);
	if (!cluster)
		return false;
	c->spares = cluster;
	__atomic_store_n(&c->count, CLUSTER, __ATOMIC_RELAXED);
	cached_bytes += CLUSTER * p->real_size;
	return true;
}

/* Takes one spare out of the cache. */
static inline void *cache_pop(struct pool *p, struct pool_cache *c)
{
	struct spare *s = c->spares;

	c->spares = s->next;
	__atomic_store_n(&c->count, c->count - 1, __ATOMIC_RELAXED);
	cached_bytes -= p->real_size;
	return s;
}

/* The thread keeps it. Too many bytes are kept then? */
static inline bool cache_push(struct pool *p, struct pool_cache *c, struct spare *s)
{
	s->next = c->spares;
	c->spares = s;
	__atomic_store_n(&c->count, c->count + 1, __ATOMIC_RELAXED);
	cached_bytes += p->real_size;
	return cached_bytes > hot_size;
}

/* Shared clusters worth keeping: a turn of the loop may take two blocks for each of 200 requests
 * and give them all back, which must not make it go to the library.
 */
static bool pool_wants_cluster(const struct pool *p)
{
	return p->cluster_count < 1 + SHARED_CACHES * hot_size / (p->real_size * CLUSTER);
}

/* The cache is too full: gives a cluster to the others, or to the library. */
static void pool_evict(struct pool *p, struct pool_cache *c)
{
	struct spare *first = NULL;

	if (c->count < CLUSTER) {
		/* Other pools hold the bytes, or few objects are all there may be. */
		pool_return(p, c, cache_pop(p, c));
		return;
	}
	for (unsigned i = 0; i < CLUSTER; i++) {
		struct spare *s = cache_pop(p, c);

		s->next = first;
		first = s;
	}
	if (!(pool_flags & POOL_NO_GLOBAL)) {
		SHARED_WRITE(process);
		pthread_mutex_lock(&p->lock);
		if (pool_wants_cluster(p)) {
			first->next_cluster = p->clusters;
			__atomic_store_n(&p->clusters, first, __ATOMIC_RELAXED);
			p->cluster_count++;
			first = NULL;
		}
		pthread_mutex_unlock(&p->lock);
	}
	while (first) {
		struct spare *next = first->next;

		pool_return(p, c, first);
		first = next;
	}
}

/* --- with options of -dM --------------------------------------------------------------------- */

/* The trailer behind the object: tag, then caller. */
static void **pool_trailer(const struct pool *p, void *object)
{
	return (void **)((char *)object + p->copy_at - TRAILER);
}

#define INTEGRITY_BYTE 0xDB

/* What a spare object contains behind its links must be what was left there. */
static void pool_check_spare(const struct pool *p, const void *object)
{
	const unsigned char *bytes = object;

	for (size_t i = sizeof(struct spare); i < p->size; i++)
		BUG_ON(bytes[i] != INTEGRITY_BYTE);
}

/* A spare object, but for its links, must be as it was when it was freed. */
static void pool_compare_spare(const struct pool *p, const void *object)
{
	const char *bytes = object, *copy = bytes + p->copy_at;
	size_t length = p->real_size - p->copy_at, links = sizeof(struct spare);

	BUG_ON(length > links && memcmp(bytes + links, copy + links, length - links) != 0);
}

/* Takes the spare that was freed first. */
static void *cache_pop_coldest(struct pool *p, struct pool_cache *c)
{
	struct spare **at = &c->spares, *s;

	while ((*at)->next)
		at = &(*at)->next;
	s = *at;
	*at = NULL;
	__atomic_store_n(&c->count, c->count - 1, __ATOMIC_RELAXED);
	cached_bytes -= p->real_size;
	return s;
}

static void *pool_debug_alloc(struct pool *p, struct pool_cache *c, void *caller)
{
	void *object;

	if (!(pool_flags & POOL_NO_CACHE) && (c->spares || pool_refill(p, c))) {
		if (pool_must_fail(p))
			return pool_fail(c);
		object = pool_flags & POOL_COLD ? cache_pop_coldest(p, c) : cache_pop(p, c);
		if (pool_flags & POOL_INTEGRITY)
			pool_check_spare(p, object);
		else if (pool_flags & POOL_BACKUP)
			pool_compare_spare(p, object);
	} else {
		object = pool_ask(p, c);
		if (!object)
			return NULL;
	}
	if (pool_flags & POOL_POISON)
		memset(object, pool_poison, p->size);
	if (pool_flags & (POOL_TAG | POOL_CALLER))
		pool_trailer(p, object)[0] = p;
	if (pool_flags & POOL_CALLER)
		pool_trailer(p, object)[1] = caller;
	return object;
}

static void pool_debug_free(struct pool *p, struct pool_cache *c, void *object, void *caller)
{
	if (pool_flags & (POOL_TAG | POOL_CALLER)) {
		/* Written past its end, of another pool, or freed twice. */
		BUG_ON(pool_trailer(p, object)[0] != p);
		pool_trailer(p, object)[0] = NULL;
	}
	if (pool_flags & POOL_CALLER)
		pool_trailer(p, object)[1] = caller;
	if (pool_flags & POOL_NO_CACHE) {
		pool_return(p, c, object);
		return;
	}
	if (pool_flags & POOL_BACKUP)
		memcpy((char *)object + p->copy_at, object, p->real_size - p->copy_at);
	if (pool_flags & POOL_INTEGRITY)
		memset(object, INTEGRITY_BYTE, p->size);
	if (cache_push(p, c, object))
		pool_evict(p, c);
}

/* --- the program's side ---------------------------------------------------------------------- */

/* Where the thread has no spare, or an option to find bugs is on; <caller> is the program's
 * place.
 */
static __attribute__((noinline)) void *alloc_rare(struct pool *p, void *caller)
{
	struct pool_cache *c = cache_self;

	if (!c && !(c = cache_init()))
		return NULL;
	c += p->index;
	if (pool_flags & POOL_ANY_DEBUG)
		return pool_debug_alloc(p, c, caller);
	return pool_refill(p, c) ? cache_pop(p, c) : pool_ask(p, c);
}

static inline void *alloc(struct pool *p, void *caller)
{
	struct pool_cache *c = cache_self;

	if (unlikely(!c || pool_flags & POOL_ANY_DEBUG || !c[p->index].spares))
		return alloc_rare(p, caller);
	return cache_pop(p, c + p->index);
}

void *pool_alloc(struct pool *p)
{
	return alloc(p, __builtin_return_address(0));
}

void *pool_alloc_clear(struct pool *p, size_t bytes)
{
	void *object = alloc(p, __builtin_return_address(0));

	return object ? memset(object, 0, bytes) : NULL;
}

void *pool_zalloc(struct pool *p)
{
	return pool_alloc_clear(p, p->size);
}

/* Where the thread has no cache yet, or an option to find bugs is on. */
static __attribute__((noinline)) void free_rare(struct pool *p, void *object, void *caller)
{
	struct pool_cache *c = cache_self;

	if (!c && !(c = cache_init()))
		return; /* it never allocated and cannot now: the object is lost */
	c += p->index;
	if (pool_flags & POOL_ANY_DEBUG)
		pool_debug_free(p, c, object, caller);
	else if (cache_push(p, c, object))
		pool_evict(p, c);
}

void pool_free(struct pool *p, void *object)
{
	struct pool_cache *c = cache_self;

	if (!object)
		return;
	if (unlikely(!c || pool_flags & POOL_ANY_DEBUG))
		free_rare(p, object, __builtin_return_address(0));
	else if (unlikely(cache_push(p, c + p->index, object)))
		pool_evict(p, c + p->index);
}

void pool_trim_thread(void)
{
	if (!cache_self)
		return;
	for (unsigned i = 0; i < pool_total; i++) {
		struct pool_cache *c = &cache_self[i];

		while (c->spares)
			pool_return(pools[i], c, cache_pop(pools[i], c));
	}
}

void pool_trim_shared(void)
{
	if (!cache_self && !cache_init())
		return;
	for (unsigned i = 0; i < pool_total; i++) {
		struct pool *p = pools[i];
		struct spare *cluster, *next;

		SHARED_WRITE(process);
	pthread_mutex_lock(&p->lock);
		cluster = p->clusters;
		__atomic_store_n(&p->clusters, NULL, __ATOMIC_RELAXED);
		p->cluster_count = 0;
		pthread_mutex_unlock(&p->lock);
		for (; cluster; cluster = next) {
			next = cluster->next_cluster;
			for (struct spare *s = cluster, *after; s; s = after) {
				after = s->next;
				pool_return(p, &cache_self[i], s);
			}
		}
	}
	if (is_trimming)
		library_trim();
}

/* --- statistics ------------------------------------------------------------------------------ */

bool pool_get_stats(unsigned i, struct pool_stats *out)
{
	struct pool *p;

	if (i >= pool_total)
		return false;
	p = pools[i];
	memset(out, 0, sizeof(*out));
	out->name = p->name;
	out->size = p->real_size;
	out->users = p->users;
	out->address = p;
	for (unsigned t = 0; t < __atomic_load_n(&caches_end, __ATOMIC_ACQUIRE); t++) {
		struct pool_cache *c = __atomic_load_n(&caches[t], __ATOMIC_ACQUIRE);

		if (!c)
			continue;
		out->allocated += __atomic_load_n(&c[i].asked, __ATOMIC_RELAXED);
		out->allocated -= __atomic_load_n(&c[i].returned, __ATOMIC_RELAXED);
		out->cached += __atomic_load_n(&c[i].count, __ATOMIC_RELAXED);
		out->failures += __atomic_load_n(&c[i].failures, __ATOMIC_RELAXED);
	}
	SHARED_WRITE(process);
	pthread_mutex_lock(&p->lock);
	out->used = out->allocated - (uint64_t)p->cluster_count * CLUSTER;
	pthread_mutex_unlock(&p->lock);
	return true;
}

void pool_get_totals(uint64_t *allocated, uint64_t *used, uint64_t *failures)
{
	struct pool_stats st;

	*allocated = *used = *failures = 0;
	for (unsigned i = 0; pool_get_stats(i, &st); i++) {
		*allocated += st.allocated * st.size;
		*used += st.used * st.size;
		*failures += st.failures;
	}
}
