/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool_priv.h - the options of -dM, for pool.c and pool_opt.c */
#ifndef CORE_POOL_PRIV_H
#define CORE_POOL_PRIV_H

enum pool_flags {
	POOL_FAIL = 1 << 0,
	POOL_NO_MERGE = 1 << 1,
	POOL_COLD = 1 << 2,
	POOL_INTEGRITY = 1 << 3,
	POOL_NO_GLOBAL = 1 << 4,
	POOL_NO_CACHE = 1 << 5,
	POOL_CALLER = 1 << 6,
	POOL_TAG = 1 << 7,
	POOL_POISON = 1 << 8,
	POOL_UAF = 1 << 9,
	POOL_BACKUP = 1 << 10,
	/* Options that need the slow path. */
	POOL_ANY_DEBUG = POOL_FAIL | POOL_COLD | POOL_INTEGRITY | POOL_NO_CACHE | POOL_CALLER |
			 POOL_TAG | POOL_POISON | POOL_UAF | POOL_BACKUP,
};

extern unsigned pool_flags;
extern unsigned char pool_poison;

#endif
