/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_priv.h - limits that sessions and listening sockets share */
#ifndef STREAM_LISTEN_PRIV_H
#define STREAM_LISTEN_PRIV_H

#include "stream/listen.h"

struct bind_conf;
struct listener_conf;
struct socket_settings;

/* What the sockets of a line are made with; texts are borrowed. */
void listen_settings(const struct bind_conf *b, struct socket_settings *set);

/* Lets the Runtime API pause, resume and close frontends. At the start. */
void listen_init(void);
/* Makes the logs get what proxies and servers tell. At the start. */
void event_log_init(void);
/* Installs what ends the streams of servers that went down (on-marked-down, on-marked-up). */
void server_shutdown_init(void);
/* May this client come in at all? */
struct addr;
bool listen_is_welcome(const struct addr *src);
/* Count a session in and out of the limits; the latter may let sockets accept again. */
void listen_session_began(struct listener_conf *l);
void listen_session_ended(struct listener_conf *l);
/* The place which a connection had, that is no session yet. */
void listen_free_place(struct listener_conf *l);

#endif
