/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conn_error.h - the reasons for which a connection failed before its first request
 *
 * Purpose: the reference's numbers, names and messages of such failures.
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
/* Those that connections to servers fail with too. */
enum { CONN_ERROR_HOST = 32, CONN_ERROR_NAME = 33, CONN_ERROR_HANDSHAKE = 34 };
/* The number of what the log says of a connection (fc_err). */
uint8_t conn_error_id(const char *message);
/* NULL: nothing is wrong. */
const struct conn_error *conn_error_find(uint8_t id);

#endif
