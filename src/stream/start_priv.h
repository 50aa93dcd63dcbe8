/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start_priv.h - functions that stream_conf.c calls at start-up */
#ifndef STREAM_START_PRIV_H
#define STREAM_START_PRIV_H

/* Passes events of proxies and servers to the logs. */
void event_log_init(void);
/* Installs the code that ends the streams of servers that went down (on-marked-down, on-marked-up).
 */
void server_shutdown_init(void);

#endif
