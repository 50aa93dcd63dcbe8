/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch.c - files of certificates, authorities, revocation lists and maps are read again when they
 * change
 *
 *     inotify, of folders --> a pause --> look at each file --> read, check, swap
 *
 * Directories are watched, not files: most programs that change a file replace it with another one,
 * some by a symbolic link far from its name. The current data is kept if the new file is invalid.
 * Thread 0.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "cert_priv.h"
#include "core/fd.h"
#include "core/mailbox.h"
#include "core/timer.h"
#include "ctl_priv.h"
#include "global_priv.h"
#include "ocsp_priv.h"
#include "store_priv.h"
#include "watch_priv.h"

/* A file is often followed by its key. */
#define PAUSE_MS 300
/* How long one turn may read. */
#define TURN_NS (20 * NS_PER_MS)
#define FILE_MAX (64 << 20)

static struct {
	int fd;                      /* -1: nothing is watched */
	struct timer timer;
	bool ready;
} me = { .fd = -1 };

/* --- what a file looks like ------------------------------------------------------------------- */

uint64_t watch_stamp(const char *path, uint64_t seed)
{
	struct { uint64_t inode, size, s, ns; } facts = { 0 };
	struct stat st;

	if (path && stat(path, &st) == 0) {
		facts.inode = st.st_ino;
		facts.size = (uint64_t)st.st_size;
		facts.s = (uint64_t)st.st_mtim.tv_sec;
		facts.ns = (uint64_t)st.st_mtim.tv_nsec;
	}
	return hash_bytes(&facts, sizeof(facts), seed);
}

static uint64_t stamp_of_cert(const struct tls_entry *e)
{
	const struct tls_cert_files *f = &e->files;
	const char *const files[] = { f->crt, f->key, f->ocsp, f->issuer, f->sctl };
	uint64_t stamp = 0;

	for (int i = 0; i < 5; i++)
		stamp = watch_stamp(files[i], stamp);
	return stamp;
}

static bool is_file(const struct tls_ca *ca)
{
	return !ca->is_system && ca->name[0] == '/';
}

/* --- reading again ---------------------------------------------------------------------------- */

void watch_tell(struct config *cfg, const char *name, const char *why)
{
	char text[1024];

	if (why)
		snprintf(text, sizeof(text), "<CRT-WATCH> %.400s changed and is not used: %.500s",
			 name, why);
	else
		snprintf(text, sizeof(text), "<CRT-WATCH> %.400s changed and is used now", name);
	tls_event(cfg, text);
}

static void renew_cert(struct tls_entry *e)
{
	struct tls_cert_files files = e->files;
	struct tls_cert *c;
	char why[512] = "";
	unsigned dots;

	c = tls_cert_load(&files, true, why, sizeof(why));
	if (c && tls_global_of(tls_live())->chains)
		tls_chains_complete(tls_global_of(tls_live())->chains, c);
	if (!c || !tls_ctl_replace(tls_live(), e, c, &dots, why, sizeof(why))) {
		watch_tell(tls_live(), e->name, *why ? why : "out of memory");
		return;
	}
	tls_store_note(tls_store_of(tls_live()), e->name, NULL);
	watch_tell(tls_live(), e->name, NULL);
}

static void renew_ca(struct tls_ca *ca)
{
	STACK_OF(X509) *certs = NULL;
	STACK_OF(X509_CRL) *crls = NULL;
	char why[512] = "no certificate in it";
	unsigned dots;
	size_t len;
	char *text = file_load(ca->name, FILE_MAX, &len);
	bool good;

	good = text && tls_ca_read(slice_make(text, len), &certs, &crls) &&
	       tls_ctl_replace_ca(ca, &certs, &crls, &dots, why, sizeof(why));
	if (good)
		tls_store_note(tls_store_of(tls_live()), ca->name, NULL);
	watch_tell(tls_live(), ca->name, good ? NULL : text ? why : strerror(errno));
	sk_X509_pop_free(certs, X509_free);
	sk_X509_CRL_pop_free(crls, X509_CRL_free);
	free(text);
}

/* Reads what has changed. False: time is up, there is more. */
static bool read_changed(struct config *cfg, uint64_t until)
{
	uint64_t stamp;
	struct tls_store *s = tls_store_of(cfg);
	struct tls_entry *e;
	struct tls_ca *ca;

	for (e = tls_store_first(s); e; e = tls_store_next(e)) {
		stamp = e->files.crt ? stamp_of_cert(e) : 0;
		if (stamp == e->stamp)
			continue;
		e->stamp = stamp;
		renew_cert(e);
		if (clock_read_ns() > until)
			return false;
	}
	for (ca = tls_store_ca_first(s); ca; ca = tls_store_ca_next(ca)) {
		stamp = is_file(ca) ? watch_stamp(ca->name, 0) : 0;
		if (stamp == ca->stamp)
			continue;
		ca->stamp = stamp;
		renew_ca(ca);
		if (clock_read_ns() > until)
			return false;
	}
	return true;
}

static void look(struct timer *t)
{
	uint64_t until = clock_read_ns() + TURN_NS;
	bool done = true;

	tls_store_lock();
	if (tls_live() && tls_global_of(tls_live())->watch)
		done = read_changed(tls_live(), until);
	tls_store_unlock();
	if (!done || !watch_maps_go(until))
		timer_set(&me.timer, clock_now_ms() + 1);
	tls_ocsp_kick();
}

/* --- events ----------------------------------------------------------------------------------- */

static void changed(void *owner, int fd, unsigned events)
{
	char room[4096] __attribute__((aligned(8)));

	while (read(fd, room, sizeof(room)) > 0)
		;
	fd_cant_recv(fd);
	timer_set(&me.timer, clock_now_ms() + PAUSE_MS);
}

void watch_folder_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char folder[4096];

	if (!path || *path == '@')
		return;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	/* (once more for the same folder changes nothing) */
	inotify_add_watch(me.fd, folder, IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR);
}

static void watch_all(struct config *cfg)
{
	struct tls_store *s = tls_store_of(cfg);
	struct tls_entry *e;
	struct tls_ca *ca;

	for (e = tls_store_first(s); e; e = tls_store_next(e)) {
		if (!e->files.crt)
			continue;
		e->stamp = stamp_of_cert(e);
		watch_folder_of(e->files.crt);
		watch_folder_of(e->files.key);
		watch_folder_of(e->files.ocsp);
		watch_folder_of(e->files.issuer);
		watch_folder_of(e->files.sctl);
	}
	for (ca = tls_store_ca_first(s); ca; ca = tls_store_ca_next(ca)) {
		if (!is_file(ca))
			continue;
		ca->stamp = watch_stamp(ca->name, 0);
		watch_folder_of(ca->name);
	}
}

static void begin(struct message *m)
{
	free(m);
	if (!me.ready)
		timer_init(&me.timer, look);
	me.ready = true;
	tls_watch_stop();
	tls_store_lock();
	if (tls_live() && tls_global_of(tls_live())->watch) {
		me.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		if (me.fd >= 0 && !fd_add(me.fd, changed, NULL, 0)) {
			close(me.fd);
			me.fd = -1;
		}
		if (me.fd >= 0)
			watch_all(tls_live());
		if (me.fd < 0 || !watch_maps_begin(tls_live()))
			tls_event(tls_live(), "<CRT-WATCH> files cannot be watched");
	}
	tls_store_unlock();
}

void tls_watch_start(void)
{
	struct message *m = calloc(1, sizeof(*m));

	if (!m)
		return;
	m->run = begin;
	mailbox_post(0, m);
}

void tls_watch_stop(void)
{
	if (me.ready)
		timer_cancel(&me.timer);
	if (me.fd >= 0)
		fd_close(me.fd);
	me.fd = -1;
	watch_maps_end();
}
