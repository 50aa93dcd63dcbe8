/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sandbox_priv.h - constants of the kernel's fixed interface that older system headers lack */
#ifndef MAIN_SANDBOX_PRIV_H
#define MAIN_SANDBOX_PRIV_H

#include <linux/audit.h>
#include <stdint.h>
#include <sys/prctl.h>
#include "landlock.h"

#if defined(__x86_64__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define SANDBOX_ARCHITECTURE 0 /* unknown here */
#endif

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#define TCGETS_REQUEST 0x5401
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_rseq
#ifdef __x86_64__
#define SYS_rseq 334
#else
#define SYS_rseq 293
#endif
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

#endif
