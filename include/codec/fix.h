/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fix.h - FIX messages (Financial Information eXchange): tag=value pairs, each ended by SOH
 *
 * "8=FIX.4.4|9=5|35=0|10=163|" where | stands for the byte 0x01: the version, the length of the
 * body, the type, more fields, and the sum of all bytes before the last field. Pure, any thread.
 * Manual : configuration 7.3.1 fix_is_valid, fix_tag_value.
 */
#ifndef CODEC_FIX_H
#define CODEC_FIX_H

#include <stdint.h>
#include "base/slice.h"

#define FIX_TAG_BEGIN_STRING 8
#define FIX_TAG_BODY_LENGTH 9
#define FIX_TAG_CHECK_SUM 10
#define FIX_TAG_MSG_TYPE 35
#define FIX_TAG_SENDER 49
#define FIX_TAG_TARGET 56

enum fix_verdict { FIX_VALID, FIX_INVALID, FIX_INCOMPLETE };

/* Is the message at the start of <in> complete and consistent? What follows it is ignored. */
enum fix_verdict fix_check(struct slice in);
/* Returns the value of the first field with this tag, up to the end of the message. slice_none():
 * none before the first malformed or incomplete field.
 */
struct slice fix_find(struct slice in, uint64_t tag);

#endif
