/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn_error.c - why a client's connection never came to a request: numbers, names, texts of logs
 *
 * Manual: configuration 7.3.3, fc_err_str has the table.
 */
#include <string.h>
#include "base/bug.h"
#include "stream/conn_error.h"

static const struct conn_error errors[] = {
	{ 11, "PRX_EMPTY", "Connection closed while waiting for PROXY protocol header" },
	{ 12, "PRX_ABORT", "Connection error while waiting for PROXY protocol header" },
	{ 13, "PRX_TIMEOUT", "Timeout while waiting for PROXY protocol header" },
	{ 14, "PRX_TRUNCATED", "Truncated PROXY protocol header received" },
	{ 15, "PRX_NOT_HDR",
	  "Received something which does not look like a PROXY protocol header" },
	{ 16, "PRX_BAD_HDR", "Received an invalid PROXY protocol header" },
	{ 17, "PRX_BAD_PROTO", "Received an unhandled protocol in the PROXY protocol header" },
	{ 18, "CIP_EMPTY", "Connection closed while waiting for NetScaler Client IP header" },
	{ 19, "CIP_ABORT", "Connection error while waiting for NetScaler Client IP header" },
	{ 20, "CIP_TIMEOUT", "Timeout while waiting for a NetScaler Client IP header" },
	{ 21, "CIP_TRUNCATED", "Truncated NetScaler Client IP header received" },
	{ 22, "CIP_BAD_MAGIC", "Received an invalid NetScaler Client IP magic number" },
	{ 23, "CIP_BAD_PROTO",
	  "Received an unhandled protocol in the NetScaler Client IP header" },
	{ 24, "SSL_EMPTY", "Connection closed during SSL handshake" },
	{ 25, "SSL_ABORT", "Connection error during SSL handshake" },
	{ 26, "SSL_TIMEOUT", "Timeout during SSL handshake" },
	{ 27, "SSL_TOO_MANY", "Too many SSL connections" },
	{ 30, "SSL_CA_FAIL", "SSL client CA chain cannot be verified" },
	{ 31, "SSL_CRT_FAIL", "SSL client certificate not trusted" },
	{ CONN_ERROR_HOST, "SSL_MISMATCH",
	  "Server presented an SSL certificate different from the configured one" },
	{ CONN_ERROR_NAME, "SSL_MISMATCH_SNI",
	  "Server presented an SSL certificate different from the expected one" },
	{ CONN_ERROR_HANDSHAKE, "SSL_HANDSHAKE", "SSL handshake failure" },
};

uint8_t conn_error_id(const char *message)
{
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (strncmp(message, errors[i].message, strlen(errors[i].message)) == 0)
			return errors[i].id;
	return 6; /* a socket error in general */
}

const struct conn_error *conn_error_find(uint8_t id)
{
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (errors[i].id == id)
			return &errors[i];
	return NULL;
}
