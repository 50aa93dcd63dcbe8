# SPDX-License-Identifier: GPL-2.0-or-later
"""Allocations that fail one by one: a small library that is loaded before the program counts what it asks of the C library
(pools too, with -dMno-cache), and lets one fail, or that one and all behind it.

Failing(folder).arm(n)   the <n>th allocation from now on fails; more=True: those behind it too
        .disarm()        none fails; how many there were
        .environment()   what the program has to be started with
"""
import mmap
import os
import shutil
import struct
import subprocess

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct control {
	int64_t first, more, count;
} *control;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAILING_CONTROL");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (at != MAP_FAILED)
		control = at;
}

static int must_fail(void)
{
	int64_t first = control ? __atomic_load_n(&control->first, __ATOMIC_RELAXED) : 0, n;

	if (!first)
		return 0;
	n = __atomic_add_fetch(&control->count, 1, __ATOMIC_RELAXED);
	if (n != first && !(n > first && control->more))
		return 0;
	errno = ENOMEM;
	return 1;
}

static char early[65536];
static size_t used;
static volatile int searching; /* dlsym() is declared not to come back here, and does */

static void *next(void **at, const char *name)
{
	if (!*at && !searching) {
		searching = 1;
		*at = dlsym(RTLD_NEXT, name);
		searching = 0;
	}
	return *at;
}

static void *early_take(size_t size)
{
	void *p = early + used;

	used += (size + 15) & ~(size_t)15;
	return used > sizeof(early) ? NULL : p;
}

static int is_early(void *p)
{
	return (uintptr_t)p - (uintptr_t)early < sizeof(early);
}

void *malloc(size_t size)
{
	static void *(*f)(size_t);

	if (!next((void **)&f, "malloc"))
		return early_take(size);
	return must_fail() ? NULL : f(size);
}

void *calloc(size_t count, size_t size)
{
	static void *(*f)(size_t, size_t);

	if (!next((void **)&f, "calloc"))
		return early_take(count * size);
	return must_fail() ? NULL : f(count, size);
}

void *realloc(void *p, size_t size)
{
	static void *(*f)(void *, size_t);

	if (is_early(p)) {
		void *q = malloc(size);

		return q ? memcpy(q, p, size) : NULL;
	}
	if (!next((void **)&f, "realloc"))
		return early_take(size);
	return must_fail() ? NULL : f(p, size);
}

void free(void *p)
{
	static void (*f)(void *);

	if (p && !is_early(p) && next((void **)&f, "free"))
		f(p);
}

void *memalign(size_t align, size_t size)
{
	static void *(*f)(size_t, size_t);

	return must_fail() || !next((void **)&f, "memalign") ? NULL : f(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	static void *(*f)(size_t, size_t);

	return must_fail() || !next((void **)&f, "aligned_alloc") ? NULL : f(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	static int (*f)(void **, size_t, size_t);

	return must_fail() || !next((void **)&f, "posix_memalign") ? ENOMEM : f(out, align, size);
}
"""


class Failing:
    """Its library is made in <folder>. ready: is there a compiler?"""

    def __init__(self, folder):
        self.library, path = os.path.join(folder, "failing.so"), os.path.join(folder, "failing.c")
        self.control = os.path.join(folder, "failing.control")
        with open(path, "w") as f:
            f.write(SOURCE)
        with open(self.control, "wb") as f:
            f.write(bytes(4096))
        with open(self.control, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 4096)
        cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        self.ready = bool(cc) and not subprocess.run([cc, "-O1", "-fPIC", "-shared", "-fno-builtin", "-o", self.library, path, "-ldl"],
                                                     stdin=subprocess.DEVNULL).returncode

    def environment(self):
        known = os.path.join(os.path.dirname(self.library), "known-leaks")
        with open(known, "w") as f:  # the dynamic linker's own, when it runs out of memory
            f.write("leak:dl_open_worker\nleak:_dl_map_object\n")
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return dict(os.environ, LD_PRELOAD=self.library, FAILING_CONTROL=self.control, ASAN_OPTIONS=asan,
                    LSAN_OPTIONS=os.environ.get("LSAN_OPTIONS", "") + ":suppressions=" + known)

    def arm(self, n, more=False):
        self.map[0:24] = struct.pack("=qqq", 0, more, 0)
        self.map[0:8] = struct.pack("=q", n)

    def disarm(self):
        self.map[0:8] = bytes(8)
        return struct.unpack("=q", self.map[16:24])[0]
