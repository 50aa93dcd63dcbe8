/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_profile_none.c - the library's functions are its own: nothing is counted */
#include "base/memory_profile.h"

bool memory_profile_exists(void)
{
	return false;
}
