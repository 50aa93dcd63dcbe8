/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* debug.h - what -d prints about streams, on standard output, as events happen
 *
 * Purpose: shows on a terminal what clients request and what servers answer. For each stream:
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
 *          The number is the stream's (%rt). The name is the frontend's until a backend is chosen.
 *          (0005) is the listening socket; [000b:000c] are the sockets of the client and of the
 *          server. Heads are shown as received, before any rule. srvcls appears only if a server
 *          was connected or a service answered. In tunnels and in mode tcp, the side that closed
 *          first is printed last of srvcls and clicls.
 * How    : the driver of streams is given tables of stages whose steps look at the stream, then run
 *          the real stage. Without -d, none of this is in the path of a stream.
 * Owns   : one slot of each stream.
 * Threads: any. The lines of one event are written in one piece, never mixed with lines of other
 *          events.
 * Errors : out of memory: the event is not shown. A request that never became a stream (a bad head,
 *          a connection without a request) is not shown either.
 * Manual : management.txt, 3 (-d).
 */
#ifndef STREAM_DEBUG_H
#define STREAM_DEBUG_H

/* Shows the streams of the process from now on. Call once at start-up, after the modules were
 * initialised and before the first stream.
 */
void stream_debug_start(void);

#endif
