/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* net_init.h - start-up of the network floor */
#ifndef NET_NET_INIT_H
#define NET_NET_INIT_H

#include <stdbool.h>

/* Each creates its pools and names its handlers. Call once. False: out of memory. */
bool conn_init(void);
bool raw_init(void);
bool listener_init(void);
bool ctl_socket_init(void);
/* Prepares raw.c on the calling thread. Returns true. */
bool raw_thread_init(void);

#endif
