/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start_priv.h - what stream_conf.c installs at the start */
#ifndef STREAM_START_PRIV_H
#define STREAM_START_PRIV_H

/* Makes the logs get what proxies and servers tell. At the start. */
void event_log_init(void);
/* Installs what ends the streams of servers that went down (on-marked-down, on-marked-up). */
void server_shutdown_init(void);

#endif
