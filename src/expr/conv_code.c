/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_code.c - converters that encode, decode and hash */
#include <string.h>
#include "expr_priv.h"

static bool set_text(struct sample *s, enum sample_type type, const char *text, size_t len)
{
	s->type = type;
	s->text = slice_make(text, len);
	s->flags |= SMP_CONST;
	return text != NULL;
}

static bool convert_hex(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	static const char digits[] = "0123456789ABCDEF";
	char *out = arena_alloc(ctx->arena, s->text.len * 2 + 1);

	for (size_t i = 0; out && i < s->text.len; i++) {
		unsigned char c = (unsigned char)s->text.ptr[i];

		out[2 * i] = digits[c >> 4];
		out[2 * i + 1] = digits[c & 15];
	}
	return set_text(s, SMP_STR, out, s->text.len * 2);
}

const struct expr_converter expr_code_converters[] = {
	{ .name = "hex", .in = SMP_BIN, .out = SMP_STR, .convert = convert_hex,
	  .help = "bytes as hexadecimal digits" },
	{ 0 }
};
