/* SPDX-License-Identifier: GPL-2.0-or-later */
/* longjmp_tsan.c - how Lua leaves functions, as the sanitizer of threads has to see it
 *
 * The Lua library may be built with glibc's checked longjmp(), which the thread sanitizer does not
 * intercept: each error and each pause of a script would leave frames on the sanitizer's own stack,
 * until nothing works.
 */
#ifdef __SANITIZE_THREAD__
#include <setjmp.h>

void __longjmp_chk(struct __jmp_buf_tag env[1], int value) __attribute__((noreturn));

void __longjmp_chk(struct __jmp_buf_tag env[1], int value)
{
	longjmp(env, value);
}
#endif
