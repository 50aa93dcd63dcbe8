/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdp.h - the cookie in the first packet of a Remote Desktop connection
 *
 * TPKT (RFC 1006) around an X.224 connection request, which may have a line "Cookie:
 * <name>=<value>" ended by CRLF. Pure, any thread. Manual: configuration 7.3.5 req.rdp_cookie.
 */
#ifndef CODEC_RDP_H
#define CODEC_RDP_H

#include "base/slice.h"

enum rdp_status {
	RDP_MORE,  /* bytes are missing */
	RDP_FOUND,
	RDP_EMPTY, /* a connection request without that cookie */
	RDP_NONE,  /* not a connection request */
};

/* Finds the value of the cookie with this name (any case), or with any name if it is empty. */
enum rdp_status rdp_cookie_find(struct slice in, struct slice name, struct slice *value);

#endif
