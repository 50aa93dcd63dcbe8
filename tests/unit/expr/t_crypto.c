/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_crypto.c - converters that need OpenSSL: digests, AES-GCM, JSON Web Tokens */
#include "expr/modules.h"
#include "tap.h"
#include "value.h"

/* What HAProxy 3.2 gave for "%[...]". */
static const struct { const char *expression, *value; } values[] = {
	{ "bin(1c8b6b),aes_gcm_dec(128,Zm9vb2Zvb29mb29v,Zm9vb2Zvb29mb29wZm9vbw==,Zm9v),hex", "" },
	{ "str(abc),digest(SHA256),hex",
	  "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD" },
	{ "str(abc),digest(md5),hex", "900150983CD24FB0D6963F7D28E17F72" },
	{ "str(abc),digest(sha256),hex",
	  "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD" },
	{ "str(abc),digest(sha3-256),hex",
	  "3A985DA74FE225B2045C172D6BD390BD855F086E3E9D525B46BFE24511431532" },
	{ "str(abc),digest(shake128),hex", "" },
	{ "str(abc),hmac(sha256,),hex",
	  "FD7ADB152C05EF80DCCF50A1FA4C05D5A3EC6DA95575FC312AE7C5D091836351" },
	{ "str(abc),hmac(sha256,Zm9v),hex",
	  "2FEBDE8CAD3B3E67067BC8784B1BCF966529C89A999E6C430B9CD536E3A16B52" },
	{ "str(abc),hmac(md5,Zm9v),hex", "9BC8B11A0BE53EE07958E5A92BD6882B" },
	{ "str(abc),hmac(sha256,txn.key),hex", "" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0.sig=),jwt_header_query",
	  "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"n\":5}" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9),jwt_header_query('$.alg')", "HS256" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0),jwt_header_query('$.alg')",
	  "HS256" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9),jwt_header_query",
	  "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"n\":5}" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0),jwt_header_query",
	  "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"n\":5}" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0.sig),jwt_header_query('foo')",
	  "" },
	{ "str(a.b),jwt_header_query('foo')", "" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9),jwt_header_query('$.roles')", "" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0),jwt_payload_query",
	  "{\"iss\":\"me\",\"sub\":12,\"roles\":[\"a\",\"b\"],\"exp\":1700000000}" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0.sig=),jwt_payload_query('$.exp',int)",
	  "1700000000" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0.sig=),jwt_payload_query('$.roles')",
	  "[\"a\",\"b\"]" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0.sig.x),jwt_payload_query('$.roles')",
	  "[\"a\",\"b\"]" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0.sig),jwt_payload_query('$.sub','int')",
	  "12" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0.sig.x),jwt_payload_query('$.exp',int)",
	  "1700000000" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0.sig.x),jwt_payload_query('$.sub','int"
	  "')",
	  "12" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0),jwt_payload_query('$.roles')",
	  "[\"a\",\"b\"]" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9.eyJpc3MiOiJtZSIsInN1YiI6MTIsInJv"
	  "bGVzIjpbImEiLCJiIl0sImV4cCI6MTcwMDAwMDAwMH0.sig=),jwt_payload_query('$.sub','int')",
	  "12" },
	{ "str(eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsIm4iOjV9),jwt_payload_query('foo')", "" },
	{ "str(abc),jwt_payload_query('$.exp',int)", "" },
	{ "str(..),jwt_payload_query('$.sub')", "" },
	{ "str(eyJhbGciOiJub25lIn0.eyJhIjoxfQ.),jwt_verify(HS256,secret)", "-3" },
	{ "str(eyJhbGciOiJIUzM4NCJ9.eyJhIjoxfQ.OuS-kdJRZ43hWKiN2N7NLIoxhcrz6YYTtFEyRJ5Wet593"
	  "ob27ph09v7qZHsh7CRL),jwt_verify(HS512,secret)",
	  "0" },
	{ "str(a.b.c),jwt_verify(HS256,secret)", "-3" },
	{ "str(eyJhbGciOiJIUzUxMiJ9.eyJhIjoxfQ.BF_tUPvklg9KFYZK9lo-0_HXBevC990FcmaXXELkB3yqo"
	  "T6SUSJ_y022W5p1CKLuwaqDA4D7x9DlZkGE9EQfbA),jwt_verify(HS256,other)",
	  "0" },
	{ "str(eyJhbGciOiJIUzM4NCJ9.eyJhIjoxfQ.OuS-kdJRZ43hWKiN2N7NLIoxhcrz6YYTtFEyRJ5Wet593"
	  "ob27ph09v7qZHsh7CRL),jwt_verify(HS512,other)",
	  "0" },
	{ "str(eyJhbGciOiJIUzUxMiJ9.eyJhIjoxfQ.BF_tUPvklg9KFYZK9lo-0_HXBevC990FcmaXXELkB3yqo"
	  "T6SUSJ_y022W5p1CKLuwaqDA4D7x9DlZkGE9EQfbA),jwt_verify(HS384,other)",
	  "0" },
	{ "str(eyJhbGciOiJIUzM4NCJ9.eyJhIjoxfQ.OuS-kdJRZ43hWKiN2N7NLIoxhcrz6YYTtFEyRJ5Wet593"
	  "ob27ph09v7qZHsh7CRL),jwt_verify(HS256,secret)",
	  "0" },
	{ "str(eyJhbGciOiJIUzUxMiJ9.eyJhIjoxfQ.BF_tUPvklg9KFYZK9lo-0_HXBevC990FcmaXXELkB3yqo"
	  "T6SUSJ_y022W5p1CKLuwaqDA4D7x9DlZkGE9EQfbA),jwt_verify(HS384,)",
	  "" },
	{ "str(eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.LrlPmSL4FxrzAHJSYbKzsA997COXdYCeFKlt3zt5DIY),"
	  "jwt_verify(txn.x,secret)",
	  "" },
	{ "str(abc),sha1,hex", "A9993E364706816ABA3E25717850C26C9CD0D89D" },
	{ "str(abc),sha2(384),hex",
	  "CB00753F45A35E8BB5A03D699AC65007272C32AB0EDED1631A8B605A43FF5BED8086072BA1E7CC2"
	  "358BAECA134C825A7" },
	{ "str(abc),sha2(512),hex",
	  "DDAF35A193617ABACC417349AE20413112E6FA4E89A97EA20A9EEEE64B55D39A2192992A274FC1A"
	  "836BA3C23A3FEEBBD454D4423643CE80E2A9AC94FA54CA49F" },
	{ "str(abc),sha2(224),hex", "23097D223405D8228642A477BDA255B32AADBCE4BDA0B3F7E36C9DA7" },
	{ "int(30),x509_v_err_str", "X509_V_ERR_AKID_SKID_MISMATCH" },
	{ "int(50),x509_v_err_str", "X509_V_ERR_APPLICATION_VERIFICATION" },
	{ "int(10),x509_v_err_str", "X509_V_ERR_CERT_HAS_EXPIRED" },
	{ "int(99),x509_v_err_str", "99" },
	{ "int(-1),x509_v_err_str", "18446744073709551615" },
	{ "int(94),x509_v_err_str", "X509_V_ERR_EC_KEY_EXPLICIT_PARAMS" },
	{ "int(0),x509_v_err_str", "X509_V_OK" },
};

/* RFC 7516, A.3 */
#define TOKEN \
	"eyJhbGciOiJBMTI4S1ciLCJlbmMiOiJBMTI4Q0JDLUhTMjU2In0.6KB707dM9YTIgHtLvtgWQ8mK" \
	"wboJW3of9locizkDTHzBC2IlrT1oOQ.AxY8DCtDaGlsbGljb3RoZQ.KDlTtXchhZTGufMYmOYGS4" \
	"HffxPSUrfmqCHXaI9wOGY.U0m_YmjN04DJvceFICbCVQ"
#define CONTENT "Live long and prosper."

/* The content of a token by the expression <e>; empty: none. */
static void decrypt(const struct expr_converter *c, const struct expr_arg *args, struct slice token,
		    char *text, size_t size)
{
	struct sample s = { .type = SMP_BIN, .text = token };
	struct arena arena;
	struct expr_ctx ctx = { .arena = &arena, .flags = EXPR_FINAL };

	arena_init(&arena, 0);
	*text = 0;
	if (c->convert(&ctx, args, &s))
		slice_copy(s.text, text, size);
	arena_fini(&arena);
}

/* Each byte of a token is changed, left out and doubled; it ends after each, too. */
static void test_changed_tokens(void)
{
	const struct expr_converter *c = expr_converter_find(SLICE("jwt_decrypt_secret"));
	struct expr_arg args[EXPR_ARGS_MAX] = { { .type = ARG_STR } };
	const size_t len = sizeof(TOKEN) - 1;
	const char *error = NULL;
	unsigned wrong = 0;
	char text[64], token[sizeof(TOKEN) + 1];
	struct line line;

	line_word(&line, "");
	args[0].name = args[0].text = SLICE("GawgguFyGrWKav7AX4VKUg==");
	ok(c->check(&line.l, args, &error), "the secret is taken");
	decrypt(c, args, SLICE(TOKEN), text, sizeof(text));
	is_str(text, CONTENT, "RFC 7516 A.3");
	for (size_t at = 0; at < len; at++) {
		for (int bit = 0; bit < 8; bit++) {
			memcpy(token, TOKEN, len);
			token[at] ^= (char)(1 << bit);
			decrypt(c, args, slice_make(token, len), text, sizeof(text));
			wrong += *text && strcmp(text, CONTENT) != 0;
		}
		memcpy(token, TOKEN, at);
		memcpy(token + at, &TOKEN[at + 1], len - at - 1);
		decrypt(c, args, slice_make(token, len - 1), text, sizeof(text));
		wrong += *text != 0;
		memcpy(token, TOKEN, at + 1);
		memcpy(token + at + 1, &TOKEN[at], len - at);
		decrypt(c, args, slice_make(token, len + 1), text, sizeof(text));
		wrong += *text != 0;
		decrypt(c, args, slice_make(TOKEN, at), text, sizeof(text));
		wrong += *text != 0;
	}
	ok(wrong == 0, "changed tokens give nothing, or what they gave: %u do not", wrong);
	line_end(&line);
}

int main(void)
{
	static const struct module *const modules[] = { EXPR_MODULE_LIST NULL };

	if (!line_setup(modules))
		return 1;
	if (!expr_converter_find(SLICE("sha1"))) {
		ok(true, "built without OpenSSL: nothing to test");
		line_teardown();
		return done_testing();
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		test_value(values[i].expression, values[i].value);
	test_changed_tokens();
	line_teardown();
	return done_testing();
}
