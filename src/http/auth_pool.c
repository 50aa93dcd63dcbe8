/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auth_pool.c - threads that compute hashes of passwords, and verdicts that are remembered
 *
 *    thread of the program                        thread of the pool
 *      auth_job_begin() --> queue, one lock  -->    crypt_matches()
 *      answer() <---------- mailbox <-------------- done
 *
 * The pool's threads are started with the first job. They hold no lock while they compute, and
 * access no data of the program except the job.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "auth_priv.h"
#include "base/hash.h"
#include "core/mailbox.h"
#include "core/spawn.h"
#include "core/thread.h"

#define POOL_THREADS 2
#define JOBS_MAX 256
#define CACHE_SIZE 512 /* a power of two */

struct auth_job {
	struct message message;   /* the answer; first member */
	struct auth_job *next;
	void (*done)(void *ctx);  /* NULL: cancelled; of the asking thread alone */
	void *ctx;
	char *hash, *password;
	size_t password_len;
	unsigned thread;          /* the thread that asks */
	bool right;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static struct auth_job *first, **last = &first;
static unsigned waiting;
static bool running;

/* --- verdicts ----------------------------------------------------------------------------- */

struct remembered {
	uint64_t key[2]; /* of hash and password, by secrets of this process */
	bool right;
};

static __thread struct remembered *cache;
static uint64_t secrets[2];
static pthread_once_t secrets_made = PTHREAD_ONCE_INIT;

static void make_secrets(void)
{
	if (getrandom(secrets, sizeof(secrets), 0) != sizeof(secrets))
		abort(); /* no kernel that runs this refuses 16 bytes */
}

static void make_key(const char *hash, struct slice password, uint64_t key[2])
{
	pthread_once(&secrets_made, make_secrets);
	for (int i = 0; i < 2; i++)
		key[i] = hash_bytes(password.ptr, password.len,
				    hash_bytes(hash, strlen(hash), secrets[i]));
}

enum auth_verdict auth_cache_find(const char *hash, struct slice password)
{
	const struct remembered *r;
	uint64_t key[2];

	if (!cache)
		return AUTH_UNKNOWN;
	make_key(hash, password, key);
	r = &cache[key[0] & (CACHE_SIZE - 1)];
	if (r->key[0] != key[0] || r->key[1] != key[1])
		return AUTH_UNKNOWN;
	return r->right ? AUTH_RIGHT : AUTH_WRONG;
}

static void auth_cache_put(const char *hash, struct slice password, bool right)
{
	struct remembered r = { .right = right };

	if (!cache)
		cache = calloc(CACHE_SIZE, sizeof(*cache));
	if (!cache)
		return;
	make_key(hash, password, r.key);
	cache[r.key[0] & (CACHE_SIZE - 1)] = r;
}

void auth_thread_fini(void)
{
	free(cache);
	cache = NULL;
}

/* --- jobs --------------------------------------------------------------------------------- */

static void job_free(struct auth_job *job)
{
	if (job->password)
		explicit_bzero(job->password, job->password_len);
	free(job->password);
	free(job->hash);
	free(job);
}

/* On the thread that asked. */
static void answer(struct message *m)
{
	struct auth_job *job = (struct auth_job *)m;
	void (*done)(void *ctx) = job->done;
	void *ctx = job->ctx;

	auth_cache_put(job->hash, slice_make(job->password, job->password_len), job->right);
	job_free(job);
	if (done)
		done(ctx);
}

static struct auth_job *take_job(void)
{
	struct auth_job *job;

	pthread_mutex_lock(&lock);
	while (!first)
		pthread_cond_wait(&work, &lock);
	job = first;
	first = job->next;
	if (!first)
		last = &first;
	waiting--;
	pthread_mutex_unlock(&lock);
	return job;
}

static void *pool_live(void *unused)
{
	mailbox_outsider();
	for (;;) {
		struct auth_job *job = take_job();

		job->right = crypt_matches(job->password, job->hash);
		mailbox_post(job->thread, &job->message);
	}
	return unused;
}

/* With the lock held. */
static bool pool_start(void)
{
	if (running)
		return true;
	for (int i = 0; i < POOL_THREADS; i++)
		running |= spawn_thread(NULL, pool_live, NULL);
	return running;
}

static bool enqueue(struct auth_job *job)
{
	bool taken = false;

	pthread_mutex_lock(&lock);
	if (waiting < JOBS_MAX && pool_start()) {
		*last = job;
		last = &job->next;
		waiting++;
		taken = true;
		pthread_cond_signal(&work);
	}
	pthread_mutex_unlock(&lock);
	return taken;
}

struct auth_job *auth_job_begin(const struct auth_user *user, struct slice password,
				void (*done)(void *ctx), void *ctx)
{
	struct auth_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->message.run = answer;
	job->done = done;
	job->ctx = ctx;
	job->thread = thread_id;
	job->hash = strdup(user->password);
	job->password = slice_dup(password);
	job->password_len = password.len;
	if (job->hash && job->password && enqueue(job))
		return job;
	job_free(job);
	return NULL;
}

void auth_job_cancel(struct auth_job *job)
{
	job->done = NULL;
}

bool auth_verdict_now(const struct auth_user *user, struct slice password)
{
	enum auth_verdict known = auth_verdict_known(user, password);
	char *text;
	bool right;

	if (known != AUTH_UNKNOWN)
		return known == AUTH_RIGHT;
	text = slice_dup(password);
	if (!text)
		return false;
	right = crypt_matches(text, user->password);
	explicit_bzero(text, password.len);
	free(text);
	auth_cache_put(user->password, password, right);
	return right;
}
