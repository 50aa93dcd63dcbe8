/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base64.c - Base64 text to bytes and back (RFC 4648 section 4) */
#include "codec/base64.h"

static int digit_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Four digits; the last ones may be '='. How many bytes they are; -1: invalid. */
static int decode_four(const char *in, char *out)
{
	int pad = in[3] != '=' ? 0 : in[2] != '=' ? 1 : 2;
	unsigned long bits = 0;

	for (int i = 0; i < 4 - pad; i++) {
		int value = digit_value(in[i]);

		if (value < 0)
			return -1;
		bits |= (unsigned long)value << (18 - 6 * i);
	}
	for (int i = 0; i < 3 - pad; i++)
		out[i] = (char)(bits >> (16 - 8 * i));
	return 3 - pad;
}

bool base64_decode(struct slice text, char *out, size_t *len)
{
	*len = 0;
	if (text.len % 4)
		return false;
	for (size_t i = 0; i < text.len; i += 4) {
		int n = decode_four(text.ptr + i, out + *len);

		if (n < 0 || (n < 3 && i + 4 < text.len))
			return false;
		*len += (size_t)n;
	}
	return true;
}
