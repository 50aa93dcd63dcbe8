/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poll_epoll_none.c - for systems without epoll */
#include "core/fd.h"
#include "poller_priv.h"

static bool epoll_test(void)
{
	return false;
}

const struct poller poller_epoll = { .name = "epoll", .preference = 300, .test = epoll_test };
