/* SPDX-License-Identifier: GPL-2.0-or-later */
/* phrases.c - private keys protected by a passphrase, and the command that gives it
 *
 * Manual: configuration 3.1, ssl-passphrase-cmd
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "key_priv.h"
#include "lib_priv.h"

#define PHRASE_MAX 1024  /* bytes: PEM_BUFSIZE of OpenSSL */
#define PHRASES_MAX 64

extern char **environ;

struct tls_phrases {
	char **words;            /* the command, its arguments from words[2] on, NULL */
};

/* Those that were right for a key. */
static struct {
	pthread_mutex_t lock;
	char *text[PHRASES_MAX];
	unsigned count;
} known = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct tls_phrases *tls_phrases_new(struct arena *arena, char *const *words)
{
	struct tls_phrases *p = arena_alloc(arena, sizeof(*p));
	int count = 0;

	while (words[count])
		count++;
	if (p)
		p->words = arena_zalloc(arena, sizeof(char *) * (size_t)(count + 2));
	if (!p || !p->words)
		return NULL;
	p->words[0] = words[0];
	memcpy(&p->words[2], &words[1], sizeof(char *) * (size_t)(count - 1));
	return p;
}

static int give(char *buf, int size, int writing, void *phrase)
{
	size_t len = phrase ? strlen(phrase) : 0;

	if (len > (size_t)size)
		len = (size_t)size;
	memcpy(buf, phrase ? phrase : "", len);
	return (int)len;
}

/* The first private key of the text. <phrase> NULL: one in clear. */
static EVP_PKEY *read_by(struct slice pem, const char *phrase)
{
	BIO *bio = BIO_new_mem_buf(pem.ptr, (int)pem.len);
	EVP_PKEY *key;

	tls_memory_wipe(true);
	key = bio ? PEM_read_bio_PrivateKey(bio, NULL, give, (void *)(uintptr_t)phrase) : NULL;
	BIO_free(bio);
	tls_memory_wipe(false);
	ERR_clear_error();
	return key;
}

static bool is_protected(struct slice pem)
{
	const char key[] = "PRIVATE KEY-----", mark[] = "ENCRYPTED";

	return memmem(pem.ptr, pem.len, key, sizeof(key) - 1) &&
	       memmem(pem.ptr, pem.len, mark, sizeof(mark) - 1);
}

/* Starts it with default signals, its output in *fd. Returns 0, or what is wrong. */
static int start(char *const *words, int *pid, int *fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	err = posix_spawnp(pid, words[0], &actions, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*fd = ends[0];
	if (err)
		close(ends[0]);
	return err;
}

/* Has the command tell the passphrase of the key in <path>: <out>, of PHRASE_MAX bytes. False:
 * <why>.
 */
static bool ask(const struct tls_phrases *p, const char *path, char *out, char *why, size_t size)
{
	char *words[64] = { NULL };
	int pid, fd = -1, err, status = 0;
	size_t len = 0;
	ssize_t n = 1;

	for (int i = 0; i < 63 && (i == 1 || p->words[i]); i++)
		words[i] = p->words[i];
	words[1] = (char *)(uintptr_t)path;
	err = start(words, &pid, &fd);
	if (err) {
		snprintf(why, size, "the command '%.200s' of 'ssl-passphrase-cmd' does not start: "
			 "%s.", words[0], strerror(err));
		return false;
	}
	while (len < PHRASE_MAX - 1 && n) {
		n = read(fd, out + len, PHRASE_MAX - 1 - len);
		if (n < 0 && errno != EINTR)
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	out[len] = 0;
	close(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!status)
		return true;
	snprintf(why, size, "the command '%.200s' of 'ssl-passphrase-cmd' fails for '%.200s' "
		 "(%s %d).", words[0], path, WIFEXITED(status) ? "exit status" : "signal",
		 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return false;
}

/* As the command has told it, or without the line end behind it. */
static EVP_PKEY *read_told(struct slice pem, char *phrase)
{
	EVP_PKEY *key = read_by(pem, phrase);
	size_t len = strlen(phrase);

	if (key || !len || phrase[len - 1] != '\n')
		return key;
	phrase[len - 1] = 0;
	return read_by(pem, phrase);
}

/* The key behind a pass phrase: one that is known, or that of the command. Under the lock. */
static EVP_PKEY *find_key(const struct tls_phrases *p, const char *path, struct slice pem,
			  char *why, size_t size)
{
	char phrase[PHRASE_MAX];
	EVP_PKEY *key = NULL;

	for (unsigned i = 0; !key && i < known.count; i++)
		key = read_by(pem, known.text[i]);
	if (key)
		return key;
	if (!p) {
		snprintf(why, size, "No Private Key found in '%.300s': it has a passphrase, which "
			 "no 'ssl-passphrase-cmd' in 'global' tells.", path);
		return NULL;
	}
	if (ask(p, path, phrase, why, size)) {
		key = read_told(pem, phrase);
		if (!key)
			snprintf(why, size, "No Private Key found in '%.300s': it has another "
				 "passphrase than 'ssl-passphrase-cmd' tells.", path);
	}
	if (key && known.count < PHRASES_MAX && (known.text[known.count] = strdup(phrase)))
		known.count++;
	OPENSSL_cleanse(phrase, sizeof(phrase));
	return key;
}

EVP_PKEY *tls_phrases_key(const struct tls_phrases *phrases, const char *path, struct slice pem,
			  char *why, size_t size)
{
	EVP_PKEY *key = read_by(pem, NULL);

	if (key || !is_protected(pem))
		return key;
	pthread_mutex_lock(&known.lock);
	key = find_key(phrases, path, pem, why, size);
	pthread_mutex_unlock(&known.lock);
	return key;
}
