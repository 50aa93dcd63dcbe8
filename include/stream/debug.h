/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* debug.h - what -d shows of streams: lines on standard output, as they come
 *
 * Purpose: to see on a terminal what clients ask and what servers answer. For each stream:
 *
 *              00000000:fe.accept(0005)=000b from [127.0.0.1:40110] ALPN=<none>
 *              00000000:fe.clireq[000b:ffffffff]: GET / HTTP/1.1
 *              00000000:fe.clihdr[000b:ffffffff]: host: x
 *              00000000:be.srvrep[000b:000c]: HTTP/1.1 200 OK
 *              00000000:be.srvhdr[000b:000c]: content-length: 4
 *              00000000:be.srvcls[000b:000c]
 *              00000000:be.clicls[000b:000c]
 *              00000000:be.closed[000b:000c]
 *
 *          The number is the stream's (%rt); the name is the frontend's until a backend is chosen;
 *          (0005) is the listening socket, [000b:000c] are those of the client and of the server.
 *          Heads are as they were received, before any rule has seen them. srvcls is there only
 *          where a server was connected or a service has answered; in tunnels and mode tcp, the
 *          side that closed first is the last of srvcls and clicls.
 * How    : the driver of streams is given tables of stages whose steps look at the stream, then
 *          run the stage. Without -d there is nothing of this in the way of a stream.
 * Owns   : a slot of each stream.
 * Threads: any. The lines of one event are written at once: those of others are never among them.
 * Errors : without memory, an event is not shown. A request that never became a stream (a bad
 *          head, a connection without a request) shows nothing.
 * Manual : management.txt, 3 (-d).
 */
#ifndef STREAM_DEBUG_H
#define STREAM_DEBUG_H

/* Shows the streams of the process from now on. Once, at start-up: after the modules have
 * initialised, before there is a stream.
 */
void stream_debug_start(void);

#endif
