/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* date.h - dates in HTTP fields (RFC 9110 5.6.7). Seconds since 1970, UTC. Pure, any thread. */
#ifndef CODEC_DATE_H
#define CODEC_DATE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"

/* The length of an IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT". No NUL is written or counted. */
#define DATE_IMF_LEN 29

/* Broken-down UTC time. */
struct date {
	int year;            /* 1994 */
	int month, day;      /* 1-12, 1-31 */
	int hour, minute, second;
	int weekday;         /* 0: Sunday */
};

/* Writes an IMF-fixdate; years 0 to 9999. */
void date_put_imf(char out[DATE_IMF_LEN], int64_t seconds);
/* Parses an IMF-fixdate, an RFC 850 or an asctime date. False: malformed. */
bool date_parse(struct slice text, int64_t *seconds);

#endif
