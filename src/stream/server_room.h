/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_room.h - strict-maxconn: no more connections to a server than requests
 *
 * Each connection to such a server, idle ones included, occupies one of maxconn places, which it
 * takes before it is opened and gives back when it is closed. If none is left, an idle one is
 * closed: of this thread, of this client, or else of another thread, by message.
 *
 * Threads: those of the stream; places are counted in the server's state, atomically.
 * Manual : configuration 5.2 strict-maxconn.
 */
#ifndef STREAM_SERVER_ROOM_H
#define STREAM_SERVER_ROOM_H

#include "stream/stream.h"

enum server_room {
	SERVER_ROOM_TAKEN, /* taken, or no limit: server_room_leave() undoes it */
	SERVER_ROOM_SOON,  /* the stream must wait, and will be run */
	SERVER_ROOM_NONE,  /* all are in use, or private to other clients */
};

/* Takes a place for a connection to s->server. */
enum server_room server_room_take(struct stream *s);
/* Takes a place for a connection to <srv>, even if none is left. */
void server_room_force(struct server *srv);
/* Gives a place back. */
void server_room_leave(struct server *srv);

#endif
