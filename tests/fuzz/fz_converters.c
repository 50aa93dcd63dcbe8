/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fz_converters.c - fuzzes every converter, with arguments that make sense, on hostile input
 *
 * The first byte chooses the type of the input, the second the converters: one of the list below,
 * or (highest bit) one after the other of those that follow. The rest is the input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "expr/expr.h"
#include "expr/modules.h"
#include "expr/vars.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- the input is a fetch ----------------------------------------------------------------- */

static struct slice input;

static enum expr_result fetch_text(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	*out = (struct sample){ .type = SMP_STR, .text = input };
	return EXPR_FOUND;
}

static enum expr_result fetch_bytes(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	*out = (struct sample){ .type = SMP_BIN, .text = input };
	return EXPR_FOUND;
}

static enum expr_result fetch_number(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	int64_t v = 0;

	memcpy(&v, input.ptr, input.len < sizeof(v) ? input.len : sizeof(v));
	*out = (struct sample){ .type = SMP_INT, .integer = v };
	return EXPR_FOUND;
}

static enum expr_result fetch_addr(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	*out = (struct sample){ .type = input.len < 16 ? SMP_IPV4 : SMP_IPV6 };
	memcpy(out->ipv6, input.ptr, input.len < 16 ? input.len : 16);
	return EXPR_FOUND;
}

static const struct expr_fetch fetches[] = {
	{ .name = "in.addr", .out = SMP_ADDR, .use = EXPR_USE_CONST, .fetch = fetch_addr },
	{ .name = "in.bytes", .out = SMP_BIN, .use = EXPR_USE_CONST, .fetch = fetch_bytes },
	{ .name = "in.number", .out = SMP_INT, .use = EXPR_USE_CONST, .fetch = fetch_number },
	{ .name = "in.text", .out = SMP_STR, .use = EXPR_USE_CONST, .fetch = fetch_text },
	{ 0 }
};
static const struct module mod_input = { .name = "input", .fetches = fetches };

/* --- converters --------------------------------------------------------------------------- */

static const char *const converters[] = {
	"add(-7)", "sub(txn.a)", "mul(3)", "div(-1)", "mod(-1)", "and(15)", "or(1)", "xor(255)",
	"neg", "cpl", "bool", "not", "odd", "even", "iif(yes,no)", "ipmask(24,64)",
	"ipmask(255.0.255.0)",
	"lower", "upper", "length", "field(2,'/_')", "field(-2,'/_',0)", "word(2,'/_')",
	"word(-2,'/_',3)", "bytes(3)", "bytes(2,5)", "ltrim(' a')", "rtrim(' a')", "cut_crlf",
	"host_only", "port_only", "concat(a,txn.b,c)", "add_item(-,,x)", "param(a)", "param(b,;)",
	"regsub('a+',b,g)", "regsub('(.)(.)','\\2\\1',gi)", "hex", "hex2i", "htonl",
	"base64", "b64dec",
	"ub64enc", "ub64dec", "url_enc", "url_dec", "url_dec(1)", "be2dec(:,2)", "be2dec(,8,1)",
	"le2dec(:,3)", "be2hex(:,2,1)", "base2", "has_ctl", "has_ctl(http)", "crc32(1)", "crc32c",
	"djb2(1)", "sdbm", "xxh3(7)", "xxh32(7)", "xxh64(7)", "ltime('%Y %N')", "utime('%c')",
	"ms_utime('%S.%N')", "us_utime('%S.%N')", "http_date", "http_date(5,us)", "date", "json",
	"json(utf8)", "json(utf8s)", "json(utf8p)", "json(utf8ps)", "json_query('$.a')",
	"json_query('$')", "json_query('$.a[1].b',int)", "json_query('$[2]')", "fix_is_valid",
	"fix_tag_value(35)", "mqtt_is_valid", "mqtt_field_value(connect,username)",
	"mqtt_field_value(connect,17)", "mqtt_field_value(connack,reason_code)", "protobuf(1)",
	"protobuf(1.2.3)", "protobuf(2,sint64)", "protobuf(3,double)", "protobuf(4,float)",
	"ungrpc(1)", "ungrpc(1.1,int32)", "language(en;fr-FR,de)", "rfc7239_is_valid",
	"rfc7239_field(for)", "rfc7239_field(host)", "rfc7239_n2nn", "rfc7239_n2np", "rfc7239_nn",
	"rfc7239_np", "strcmp(txn.a)", "secure_memcmp(txn.a)", "set-var(txn.a)", "unset-var(txn.a)",
	/* with OpenSSL */
	"sha1", "sha2(512)", "digest(md5)", "hmac(sha256,Zm9v)", "x509_v_err_str",
	"aes_gcm_dec(128,Zm9vb2Zvb29mb29v,Zm9vb2Zvb29mb29wZm9vbw==,Zm9vb2Zvb29mb29wZm9vbw==)",
	"jwt_header_query", "jwt_payload_query('$.a')", "jwt_verify(HS256,secret)",
	"jwt_verify(none,x)", "jwt_decrypt_secret(GawgguFyGrWKav7AX4VKUg==)",
	"jwt_decrypt_jwk(txn.a)",
};
#define COUNT (sizeof(converters) / sizeof(converters[0]))

static struct config *cfg;
static struct expr *single[4][COUNT], *doubled[4][COUNT];

/* NULL: these do not fit together, or there is no such converter in this build. */
static struct expr *compile(const char *fetch, const char *first, const char *second)
{
	struct diag_list diags;
	char text[512], *words[] = { text, NULL };
	int columns[] = { 1, 1 };
	struct conf_line l = { .cfg = cfg, .diags = &diags, .words = words, .columns = columns,
			       .count = 1, .place = { .file = "fuzz" } };
	struct expr *e;

	diag_list_init(&diags);
	snprintf(text, sizeof(text), "%s,%s%s%s", fetch, first, second ? "," : "",
		 second ? second : "");
	e = expr_take(&l, 0);
	diag_list_fini(&diags);
	return e;
}

static void setup(void)
{
	static const struct module *const modules[] = { EXPR_MODULE_LIST &mod_input,
							NULL };

	for (struct slot *const *s = mod_expr.slots; *s; s++)
		slot_register(*s);
	clock_refresh();
	if (!expr_register(modules))
		abort();
	cfg = config_new();
	if (!cfg)
		abort();
	for (int f = 0; f < 4; f++) {
		for (size_t i = 0; i < COUNT; i++) {
			single[f][i] = compile(fetches[f].name, converters[i], NULL);
			doubled[f][i] = compile(fetches[f].name, converters[i],
						converters[(i * 7 + 3) % COUNT]);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena;
	struct expr_ctx ctx = { .arena = &arena, .flags = EXPR_FINAL };
	struct vars txn = { .first = NULL };
	struct expr *e;
	struct slice text;
	struct sample s;

	if (size < 2)
		return 0;
	if (!cfg)
		setup();
	e = (data[1] & 128 ? doubled : single)[data[0] % 4][(data[1] & 127) % COUNT];
	if (!e)
		return 0;
	arena_init(&arena, 0);
	txn.arena = &arena;
	ctx.vars[VAR_TXN] = &txn;
	input = slice_make((const char *)data + 2, size - 2);
	if (expr_eval_string(e, &ctx, &text) == EXPR_WAIT)
		abort(); /* the context is final */
	memset(&s, 0, sizeof(s));
	if (expr_eval(e, &ctx, &s) == EXPR_FOUND)
		sample_cast(&s, SMP_BIN, &arena);
	vars_clear(&txn);
	arena_fini(&arena);
	return 0;
}
