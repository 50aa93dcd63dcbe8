/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conn_error.h - why a client connection failed before its first request
 *
 * Purpose: the reference's numbers, names and messages for such failures.
 * Owns   : constants.
 * Threads: any.
 * Manual : configuration 7.3.3 fc_err, fc_err_name, fc_err_str.
 */
#ifndef STREAM_CONN_ERROR_H
#define STREAM_CONN_ERROR_H

#include <stdint.h>

struct conn_error {
	uint8_t id;
	const char *name, *message;
};
/* Numbers that failed connections to servers use as well. */
enum { CONN_ERROR_HOST = 32, CONN_ERROR_NAME = 33, CONN_ERROR_HANDSHAKE = 34 };
/* Returns the number for an error message as the log has it (fc_err); 6, a socket error, when no
 * row matches.
 */
uint8_t conn_error_id(const char *message);
/* Returns the row of <id>. NULL: no error. */
const struct conn_error *conn_error_find(uint8_t id);

#endif
