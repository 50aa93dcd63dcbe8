/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sink.c - destinations of events: a descriptor or a ring */
#include "core/sink.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/strbuf.h"
#include "core/trace.h"
#include "sink_priv.h"

#define HEADER_MAX 2048
#define DESCRIPTORS_MAX 64 /* those below whose mode is remembered */

/* Those that no configuration makes. */
static struct {
	const char *name, *description;
	int fd;
	enum syslog_format format;
	struct sink *sink; /* counted */
} always[] = {
	{ "stdout", "standard output (fd#1)", 1, SYSLOG_RAW, NULL },
	{ "stderr", "standard error (fd#2)", 2, SYSLOG_RAW, NULL },
	{ "buf0", "in-memory ring buffer", -1, SYSLOG_TIMED, NULL },
	/* what a tool that writes DNS records must know (ext/acme) */
	{ "dpapi", "DPAPI ring buffer", -1, SYSLOG_TIMED, NULL },
};

static pthread_mutex_t published_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sink *published; /* counted; in the order in which they came */

struct sink *sink_new(const char *name, const char *description, int fd, struct ring *ring)
{
	struct sink *s = calloc(1, sizeof(*s));

	if (!s) {
		ring_drop(&ring);
		return NULL;
	}
	*s = (struct sink){ .refs = 1, .fd = fd, .ring = ring, .max_len = SIZE_MAX };
	s->name = strdup(name);
	s->description = strdup(description);
	if (!s->name || !s->description)
		sink_drop(&s);
	return s;
}

struct sink *sink_take(struct sink *s)
{
	__atomic_fetch_add(&s->refs, 1, __ATOMIC_RELAXED);
	return s;
}

void sink_drop(struct sink **ps)
{
	struct sink *s = *ps;

	*ps = NULL;
	if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL))
		return;
	ring_drop(&s->ring);
	free(s->name);
	free(s->description);
	free(s->path);
	free(s);
}

/* --- names ----------------------------------------------------------------------------------- */

/* Under the lock: where the link to it stands, or the end of the list. */
static struct sink **find_link(const char *name)
{
	struct sink **at = &published;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

/* Makes it known, in the place of one of the same name, which is withdrawn. Takes a reference. */
static void sink_publish(struct sink *s)
{
	struct sink **at, *old;

	sink_take(s);
	pthread_mutex_lock(&published_lock);
	at = find_link(s->name);
	old = *at;
	s->next = old ? old->next : NULL;
	*at = s;
	pthread_mutex_unlock(&published_lock);
	sink_drop(&old);
}

/* Removes it from the list: look-ups do not find it any more. True: it was known; a reference
 * goes.
 */
static bool sink_withdraw(struct sink *s)
{
	struct sink **at, *known = NULL;

	pthread_mutex_lock(&published_lock);
	at = find_link(s->name);
	if (*at == s) {
		*at = s->next;
		known = s;
	}
	pthread_mutex_unlock(&published_lock);
	if (!known)
		return false;
	sink_drop(&known);
	return true;
}

struct sink *sink_find(const char *name)
{
	struct sink *s;

	pthread_mutex_lock(&published_lock);
	s = *find_link(name);
	if (s)
		sink_take(s);
	pthread_mutex_unlock(&published_lock);
	return s;
}

struct sink *sink_get(unsigned i)
{
	struct sink *s;

	pthread_mutex_lock(&published_lock);
	for (s = published; s && i; i--)
		s = s->next;
	if (s)
		sink_take(s);
	pthread_mutex_unlock(&published_lock);
	return s;
}

/* --- writing --------------------------------------------------------------------------------- */

/* A pipe or a socket must not make us wait. Terminals and files are left as they are: others use
 * them.
 */
static void prepare_fd(int fd)
{
	static bool seen[DESCRIPTORS_MAX];
	struct stat st;
	int flags;

	if (fd < DESCRIPTORS_MAX && __atomic_exchange_n(&seen[fd], true, __ATOMIC_RELAXED))
		return;
	if (fstat(fd, &st) != 0 || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		return;
	flags = fcntl(fd, F_GETFL);
	if (flags != -1 && !(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

bool sink_write_fd(int fd, const struct iovec *v, int count)
{
	ssize_t sent;

	prepare_fd(fd);
	do
		sent = writev(fd, v, count);
	while (sent < 0 && errno == EINTR);
	return sent > 0;
}

static bool write_event(struct sink *s, struct iovec *v)
{
	if (s->fd < 0)
		return ring_write(s->ring, v, 2);
	v[2] = (struct iovec){ .iov_base = (void *)"\n", .iov_len = 1 };
	return sink_write_fd(s->fd, v, 3);
}

bool sink_write(struct sink *s, const struct syslog_header *h, struct slice text, size_t max)
{
	struct syslog_header own = *h;
	size_t most = s->max_len;
	char area[HEADER_MAX];
	struct strbuf header;
	struct iovec v[3];

	if (s->format != SYSLOG_UNSET)
		own.format = s->format;
	if (max && max < most)
		most = max;
	if (s->fd < 0 && ring_max_len(s->ring) < most)
		most = ring_max_len(s->ring);
	strbuf_init_fixed(&header, area, sizeof(area));
	syslog_header_write(&header, &own);
	if (header.len > most)
		header.len = most;
	if (text.len > most - header.len)
		text.len = most - header.len;
	v[0] = (struct iovec){ .iov_base = area, .iov_len = header.len };
	v[1] = (struct iovec){ .iov_base = (void *)(uintptr_t)text.ptr, .iov_len = text.len };
	if (write_event(s, v))
		return true;
	__atomic_fetch_add(&s->dropped, 1, __ATOMIC_RELAXED);
	return false;
}

/* --- those of a generation ------------------------------------------------------------------- */

struct announced {
	struct announced *next;
	struct sink *sink; /* counted */
};

static void sinks_forget(void *data)
{
	for (struct announced *a = *(struct announced **)data; a; a = a->next) {
		sink_withdraw(a->sink);
		sink_drop(&a->sink);
	}
}

struct slot sink_slot = { .of = SLOT_CONFIG, .size = sizeof(struct announced *),
			  .fini = sinks_forget };

static struct announced **announced_of(const struct config *cfg)
{
	return slot_of(&sink_slot, config_slots(cfg));
}

bool sink_announce(struct config *cfg, struct sink *s)
{
	struct announced **at = announced_of(cfg), *a = arena_zalloc(&cfg->arena, sizeof(*a));

	if (!a) {
		sink_drop(&s);
		return false;
	}
	while (*at)
		at = &(*at)->next;
	a->sink = s;
	*at = a;
	return true;
}

struct sink *sink_of_config(const struct config *cfg, const char *name)
{
	struct sink *s;

	for (struct announced *a = *announced_of(cfg); a; a = a->next)
		if (strcmp(a->sink->name, name) == 0)
			return a->sink;
	for (unsigned i = 0; i < ARRAY_LEN(always); i++) {
		s = always[i].sink;
		if (s && strcmp(s->name, name) == 0)
			return s;
	}
	return NULL;
}

bool sinks_start(struct config *cfg, struct diag_list *diags)
{
	for (struct announced *a = *announced_of(cfg); a; a = a->next)
		sink_publish(a->sink);
	return true;
}

void sinks_retire(struct config *cfg)
{
	for (struct announced *a = *announced_of(cfg); a; a = a->next) {
		sink_withdraw(a->sink);
		trace_forget_sink(a->sink);
	}
}

/* --- those that are always there ------------------------------------------------------------- */

static bool add(unsigned i)
{
	struct ring *ring = always[i].fd < 0 ? ring_new(SINK_BUF0_SIZE) : NULL;
	struct sink *s;

	if (always[i].fd < 0 && !ring)
		return false;
	s = sink_new(always[i].name, always[i].description, always[i].fd, ring);
	if (!s)
		return false;
	s->format = always[i].format;
	always[i].sink = s;
	sink_publish(s);
	return true;
}

bool sinks_init(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(always); i++)
		if (!add(i))
			return false;
	return true;
}

void sinks_fini(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(always); i++) {
		if (!always[i].sink)
			continue;
		trace_forget_sink(always[i].sink);
		sink_withdraw(always[i].sink);
		sink_drop(&always[i].sink);
	}
}
