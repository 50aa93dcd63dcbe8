/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn_priv.h - what the files of net share about connections */
#ifndef NET_CONN_PRIV_H
#define NET_CONN_PRIV_H

#include <stdbool.h>

/* Makes the pools. Once at start-up; false: no memory. */
bool conn_init(void);

#endif
