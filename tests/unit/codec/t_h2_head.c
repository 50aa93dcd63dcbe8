/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTTP/2 heads: a table of field lists, with what comes out of each. */
#include <stdlib.h>
#include "codec/h2_head.h"
#include "tap.h"

#define LIST_MAX 4096
#define TEXT_MAX 5000
#define ROOM H2_HEAD_TEXT_ROOM(TEXT_MAX)

static struct h1_field fields[H2_HEAD_FIELD_ROOM(20)];
static char text[ROOM], block[16384];
static size_t block_len;

static void put_string(const char *s, size_t len)
{
	block[block_len++] = 0x7f;
	len -= 127;
	block[block_len++] = (char)(len & 0x7f) | (char)0x80;
	block[block_len++] = (char)(len >> 7 & 0x7f) | (char)0x80;
	block[block_len++] = (char)(len >> 14 & 0x7f);
	len += 127;
	memcpy(block + block_len, s, len);
	block_len += len;
}

/* Literals from "name=value|name=value|..."; '~' stands for NUL. */
static void make_block(const char *list)
{
	char padded[512];
	size_t len;

	block_len = 0;
	while (*list) {
		const char *equal = strchr(list + 1, '='), *bar = strchr(equal, '|');

		bar = bar ? bar : equal + strlen(equal);
		block[block_len++] = 0;
		/* short strings: the length in one byte */
		block[block_len++] = (char)(equal - list);
		memcpy(block + block_len, list, (size_t)(equal - list));
		block_len += (size_t)(equal - list);
		len = (size_t)(bar - equal - 1);
		memcpy(padded, equal + 1, len);
		for (size_t i = 0; i < len; i++)
			padded[i] = padded[i] == '~' ? 0 : padded[i];
		if (len < 127) {
			block[block_len++] = (char)len;
			memcpy(block + block_len, padded, len);
			block_len += len;
		} else {
			put_string(padded, len);
		}
		list = *bar ? bar + 1 : bar;
	}
}

static enum h2_head_status decode(enum h2_head_kind kind, unsigned options, struct h2_head *head)
{
	struct hpack_decoder d;
	enum h2_head_status status;
	char *copy = malloc(block_len + 1);

	memcpy(copy, block, block_len);
	memset(text, 0, sizeof(text));
	*head = (struct h2_head){ .fields = fields, .field_capacity = 20, .list_max = LIST_MAX,
				  .text_max = TEXT_MAX, .text = text };
	hpack_decoder_init(&d, HPACK_TABLE_SIZE);
	status = h2_head_decode(&d, slice_make(copy, block_len), kind, options, head);
	hpack_decoder_fini(&d);
	free(copy);
	return status;
}

/* "method scheme authority path protocol|name=value|..." */
static const char *dump(const struct h2_head *head, enum h2_head_kind kind)
{
	static char out[8192];
	size_t len = 0;

	if (kind == H2_HEAD_REQUEST)
		len = (size_t)sprintf(out, "%.*s %.*s %.*s %.*s %.*s", SLICE_FMT(head->method),
				      SLICE_FMT(head->scheme), SLICE_FMT(head->authority),
				      SLICE_FMT(head->path), SLICE_FMT(head->protocol));
	if (kind == H2_HEAD_RESPONSE)
		len = (size_t)sprintf(out, "%u", head->status);
	for (unsigned i = 0; i < head->field_count; i++)
		len += (size_t)sprintf(out + len, "|%.*s=%.*s", SLICE_FMT(head->fields[i].name),
				       SLICE_FMT(head->fields[i].value));
	out[len] = 0;
	return out;
}

#define Q ":method=GET|:scheme=http|:path=/|:authority=a.b"
#define GOOD "GET http a.b / |host=a.b"
#define WS ":method=CONNECT|:protocol=websocket|:scheme=https|:path=/|:authority=a"
#define END H2_HEAD_OPT_END_STREAM

static const struct {
	const char *list;
	unsigned kind, options;
	const char *wanted; /* NULL: refused */
	int error;
} rows[] = {
	{ Q, 0, 0, GOOD, 0 },
	{ Q "|x-a=1|accept=*", 0, 0, GOOD "|x-a=1|accept=*", 0 },
	{ Q "|x-a= 1\t", 0, 0, GOOD "|x-a=1", 0 },
	{ Q "|x-a=", 0, 0, GOOD "|x-a=", 0 },
	{ Q "|cookie=a|x=y|cookie=b|cookie=c", 0, 0, GOOD "|x=y|cookie=a; b; c", 0 },
	{ Q "|cookie=a|x=y", 0, 0, GOOD "|x=y|cookie=a", 0 },
	{ Q "|cookie=|cookie=b", 0, 0, GOOD "|cookie=; b", 0 },
	{ Q "|x=y|host=c.d", 0, 0, GOOD "|x=y", 0 },
	{ ":method=GET|:scheme=http|:path=/|x=y|cookie=1|host=h|z=", 0, 0,
	  "GET http h / |x=y|host=h|z=|cookie=1", 0 },
	{ ":method=GET|:scheme=http|:path=/|cookie=1|host=h:80", 0, 0,
	  "GET http h:80 / |host=h:80|cookie=1", 0 },
	{ ":method=GET|:scheme=http|:path=/", 0, 0, "GET http  / ", 0 },
	{ ":method=GET|:scheme=http|:path=/|:authority=a:80", 0, 0, "GET http a / |host=a", 0 },
	{ ":method=GET|:scheme=https|:path=/|:authority=a:443", 0, 0, "GET https a / |host=a", 0 },
	{ ":method=GET|:scheme=https|:path=/|:authority=a:80", 0, 0,
	  "GET https a:80 / |host=a:80", 0 },
	{ ":method=GET|:scheme=HTTPS|:path=/|:authority=[::1]", 0, 0,
	  "GET https [::1] / |host=[::1]", 0 },
	{ ":method=GET|:scheme=ftp|:path=/a?b|:authority=a", 0, 0, "GET ftp a /a?b |host=a", 0 },
	{ ":method=OPTIONS|:scheme=http|:path=*|:authority=a", 0, 0,
	  "OPTIONS http a * |host=a", 0 },
	{ ":method=CONNECT|:authority=a:443", 0, 0, "CONNECT  a:443  |host=a:443", 0 },
	{ WS, 0, H2_HEAD_OPT_CONNECT, "CONNECT https a / websocket|host=a", 0 },
	{ Q "|te=trailers", 0, 0, GOOD "|te=trailers", 0 },
	{ Q "|content-length=5", 0, 0, GOOD "|content-length=5", 0 },
	{ Q "|content-length=0", 0, END, GOOD "|content-length=0", 0 },
	{ Q "|content-length=007|content-length=7", 0, 0, GOOD "|content-length=7", 0 },
	{ Q "|content-length=7 ,07", 0, 0, GOOD "|content-length=7", 0 },
	{ ":method=GET|:scheme=http|:path=/a#b|:authority=a.b", 0, H2_HEAD_OPT_UNSAFE,
	  "GET http a.b /a#b |host=a.b", 0 },
	{ ":status=200|server=x|set-cookie=a|set-cookie=b", 1, 0,
	  "200|server=x|set-cookie=a|set-cookie=b", 0 },
	{ ":status=200|content-length=5", 1, END | H2_HEAD_OPT_TO_HEAD, "200|content-length=5", 0 },
	{ ":status=304|content-length=5", 1, END, "304|content-length=5", 0 },
	{ ":status=103|link=x", 1, 0, "103|link=x", 0 },
	{ "x=y|trailer=z|grpc-status=0", 2, 0, "|x=y|grpc-status=0", 0 },

	{ "x=y|content-length=5", 2, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ "x=y|host=a", 2, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ "x=y|te=trailers", 2, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ Q "|te=Trailers", 0, 0, NULL, H2_HEAD_ERR_HOP_FIELD },

	{ Q "|X-a=1", 0, 0, NULL, H2_HEAD_ERR_NAME },
	{ Q "|x a=1", 0, 0, NULL, H2_HEAD_ERR_NAME },
	{ Q "|x:a=1", 0, 0, NULL, H2_HEAD_ERR_NAME },
	{ Q "|x(=1", 0, 0, NULL, H2_HEAD_ERR_NAME },
	{ Q "|x\xe9=1", 0, 0, NULL, H2_HEAD_ERR_NAME },
	{ Q "|x\x7f=1", 0, 0, NULL, H2_HEAD_ERR_NAME },
	{ Q "|Host=1", 0, 0, NULL, H2_HEAD_ERR_NAME },
	{ Q "|x=a~", 0, 0, NULL, H2_HEAD_ERR_VALUE },
	{ Q "|x=a\nb", 0, 0, NULL, H2_HEAD_ERR_VALUE },
	{ Q "|x=a\r", 0, 0, NULL, H2_HEAD_ERR_VALUE },
	{ Q "|connection=close", 0, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ Q "|keep-alive=1", 0, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ Q "|proxy-connection=1", 0, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ Q "|transfer-encoding=chunked", 0, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ Q "|upgrade=h2c", 0, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ Q "|te=gzip", 0, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ ":status=200|connection=close", 1, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ "connection=close", 2, 0, NULL, H2_HEAD_ERR_HOP_FIELD },
	{ Q "|:path=/b", 0, 0, NULL, H2_HEAD_ERR_PSEUDO_TWICE },
	{ ":method=GET|x=y|:scheme=http|:path=/", 0, 0, NULL, H2_HEAD_ERR_PSEUDO_ORDER },
	{ Q "|:foo=bar", 0, 0, NULL, H2_HEAD_ERR_PSEUDO_UNKNOWN },
	{ Q "|:status=200", 0, 0, NULL, H2_HEAD_ERR_PSEUDO_UNKNOWN },
	{ ":status=200|:path=/", 1, 0, NULL, H2_HEAD_ERR_PSEUDO_UNKNOWN },
	{ ":path=/", 2, 0, NULL, H2_HEAD_ERR_PSEUDO_UNKNOWN },
	{ ":scheme=http|:path=/", 0, 0, NULL, H2_HEAD_ERR_PSEUDO_MISSING },
	{ ":method=GET|:path=/", 0, 0, NULL, H2_HEAD_ERR_PSEUDO_MISSING },
	{ ":method=GET|:scheme=http", 0, 0, NULL, H2_HEAD_ERR_PSEUDO_MISSING },
	{ "server=x", 1, 0, NULL, H2_HEAD_ERR_PSEUDO_MISSING },
	{ "", 0, 0, NULL, H2_HEAD_ERR_PSEUDO_MISSING },
	{ ":method=CONNECT", 0, 0, NULL, H2_HEAD_ERR_PSEUDO_MISSING },
	{ ":method=CONNECT|:authority=a:1|:path=/", 0, 0, NULL, H2_HEAD_ERR_PSEUDO_UNKNOWN },
	{ WS, 0, 0, NULL, H2_HEAD_ERR_PROTOCOL },
	{ Q "|:protocol=websocket", 0, H2_HEAD_OPT_CONNECT, NULL, H2_HEAD_ERR_PROTOCOL },
	{ ":method=CONNECT|:protocol=websocket|:scheme=https|:path=/", 0, H2_HEAD_OPT_CONNECT, NULL,
	  H2_HEAD_ERR_PSEUDO_MISSING },
	{ ":method=G T|:scheme=http|:path=/", 0, 0, NULL, H2_HEAD_ERR_METHOD },
	{ ":method=PRI|:scheme=http|:path=/", 0, 0, NULL, H2_HEAD_ERR_METHOD },
	{ ":method=|:scheme=http|:path=/", 0, 0, NULL, H2_HEAD_ERR_METHOD },
	{ ":method=GET|:scheme=ht tp|:path=/", 0, 0, NULL, H2_HEAD_ERR_SCHEME },
	{ ":method=GET|:scheme=|:path=/", 0, 0, NULL, H2_HEAD_ERR_SCHEME },
	{ ":method=GET|:scheme=1a|:path=/", 0, 0, NULL, H2_HEAD_ERR_SCHEME },
	{ ":method=GET|:scheme=http|:path=", 0, 0, NULL, H2_HEAD_ERR_PATH },
	{ ":method=GET|:scheme=http|:path=a", 0, 0, NULL, H2_HEAD_ERR_PATH },
	{ ":method=GET|:scheme=http|:path=*", 0, 0, NULL, H2_HEAD_ERR_PATH },
	{ ":method=GET|:scheme=http|:path=/a b", 0, 0, NULL, H2_HEAD_ERR_PATH },
	{ ":method=GET|:scheme=http|:path=/\xe9", 0, 0, NULL, H2_HEAD_ERR_PATH },
	{ ":method=GET|:scheme=http|:path=/\r\nx: y", 0, 0, NULL, H2_HEAD_ERR_PATH },
	{ ":method=GET|:scheme=http|:path=/a#b", 0, 0, NULL, H2_HEAD_ERR_PATH },
	{ ":method=GET|:scheme=http|:path=/|:authority=u@a", 0, 0, NULL, H2_HEAD_ERR_AUTHORITY },
	{ ":method=GET|:scheme=http|:path=/|:authority=a/b", 0, 0, NULL, H2_HEAD_ERR_AUTHORITY },
	{ ":method=GET|:scheme=http|:path=/|host=a b", 0, 0, NULL, H2_HEAD_ERR_AUTHORITY },
	{ ":method=GET|:scheme=http|:path=/|host=a|host=b", 0, 0, NULL, H2_HEAD_ERR_AUTHORITY },
	{ ":status=99", 1, 0, NULL, H2_HEAD_ERR_STATUS },
	{ ":status=099", 1, 0, NULL, H2_HEAD_ERR_STATUS },
	{ ":status=2000", 1, 0, NULL, H2_HEAD_ERR_STATUS },
	{ ":status=20x", 1, 0, NULL, H2_HEAD_ERR_STATUS },
	{ ":status=101", 1, 0, NULL, H2_HEAD_ERR_STATUS },
	{ Q "|content-length=", 0, 0, NULL, H2_HEAD_ERR_CONTENT_LENGTH },
	{ Q "|content-length=+1", 0, 0, NULL, H2_HEAD_ERR_CONTENT_LENGTH },
	{ Q "|content-length=1,2", 0, 0, NULL, H2_HEAD_ERR_CONTENT_LENGTH },
	{ Q "|content-length=1,", 0, 0, NULL, H2_HEAD_ERR_CONTENT_LENGTH },
	{ Q "|content-length=1|content-length=2", 0, 0, NULL, H2_HEAD_ERR_CONTENT_LENGTH },
	{ Q "|content-length=18446744073709551616", 0, 0, NULL, H2_HEAD_ERR_CONTENT_LENGTH },
	{ Q "|content-length=1", 0, END, NULL, H2_HEAD_ERR_CONTENT_LENGTH },
};

static void test_rows(void)
{
	struct h2_head head;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_block(rows[i].list);
		if (rows[i].wanted) {
			is_int(decode(rows[i].kind, rows[i].options, &head), H2_HEAD_OK,
			       "accepted: %s", rows[i].list);
			is_str(dump(&head, rows[i].kind), rows[i].wanted, "what comes out");
			if (head.host_index >= 0)
				is_int(head.fields[head.host_index].id, FIELD_HOST, "Host's place");
		} else {
			is_int(decode(rows[i].kind, rows[i].options, &head), H2_HEAD_REFUSED,
			       "refused: %s", rows[i].list);
			is_int(head.error, rows[i].error, "why");
		}
	}
}

static void test_limits(void)
{
	char list[8192] = Q;
	struct h2_head head;

	for (unsigned i = 0; i < 19; i++)
		strcat(list, "|x=y");
	make_block(list);
	is_int(decode(H2_HEAD_REQUEST, 0, &head), H2_HEAD_OK, "as many fields as fit");
	strcat(list, "|x=y");
	make_block(list);
	is_int(decode(H2_HEAD_REQUEST, 0, &head), H2_HEAD_TOO_LARGE, "one more");
	/* 41 in all are read */
	for (unsigned i = 4 + 20; i < 41; i++)
		strcat(list, "|x=y");
	make_block(list);
	is_int(decode(H2_HEAD_REQUEST, 0, &head), H2_HEAD_TOO_LARGE, "as many as are read");
	strcat(list, "|x=y");
	make_block(list);
	is_int(decode(H2_HEAD_REQUEST, 0, &head), H2_HEAD_BROKEN, "one more");
	is_int(head.hpack_error, HPACK_ERR_TOO_LARGE, "why");
	is_int(decode(H2_HEAD_REQUEST, H2_HEAD_OPT_DISCARD, &head), H2_HEAD_BROKEN, "discarded");

	strcpy(list, Q);
	for (unsigned i = 0; i < 7; i++) {
		strcat(list, "|x=");
		memset(list + strlen(list), 'v', 500);
	}
	make_block(list);
	is_int(decode(H2_HEAD_REQUEST, 0, &head), H2_HEAD_OK, "a large list");
	is_int(head.list_len, 40 + 4 * 32 + 7 * (1 + 500 + 32), "its size");
	strcat(list, "|x=");
	memset(list + strlen(list), 'v', 500);
	make_block(list);
	is_int(decode(H2_HEAD_REQUEST, 0, &head), H2_HEAD_TOO_LARGE, "a larger one");
	is_int(decode(H2_HEAD_REQUEST, H2_HEAD_OPT_DISCARD, &head), H2_HEAD_REFUSED, "discarded");
	block[block_len++] = (char)0xff;
	is_int(decode(H2_HEAD_REQUEST, 0, &head), H2_HEAD_BROKEN, "errors behind are seen");
	is_int(head.hpack_error, HPACK_ERR_TRUNCATED, "why");
}

/* Crumbs of cookies are one field, however many. */
static void test_crumbs(void)
{
	char list[1024] = Q;
	struct h2_head head;

	for (unsigned i = 0; i < 18; i++)
		strcat(list, "|x=y");
	for (unsigned i = 4 + 18; i < 41; i++)
		strcat(list, "|cookie=c");
	make_block(list);
	is_int(decode(H2_HEAD_REQUEST, 0, &head), H2_HEAD_OK, "many crumbs");
	is_int(head.field_count, 20, "are one field");
	is_int(head.fields[19].value.len, 19 * 3 - 2, "of all of them");
	is_int(decode(H2_HEAD_RESPONSE, 0, &head), H2_HEAD_REFUSED, "not of a response");

	/* in front of the others */
	strcpy(list, Q "|cookie=a|cookie=b");
	for (unsigned i = 0; i < 18; i++)
		strcat(list, "|x=y");
	make_block(list);
	is_int(decode(H2_HEAD_REQUEST, 0, &head), H2_HEAD_OK, "as many fields as fit");
	is_int(head.field_count, 20, "so many");
	strcat(list, "|x=y");
	make_block(list);
	is_int(decode(H2_HEAD_REQUEST, 0, &head), H2_HEAD_TOO_LARGE, "one more");

	strcpy(list, ":status=200");
	for (unsigned i = 0; i < 21; i++)
		strcat(list, "|cookie=c");
	make_block(list);
	is_int(decode(H2_HEAD_RESPONSE, 0, &head), H2_HEAD_TOO_LARGE, "crumbs of a response");
}

static void test_move(void)
{
	static char there[ROOM];
	struct h2_head head;

	make_block(":method=PURGE|:scheme=http|:path=/x|:authority=a|x-a=1|accept=2|cookie=a"
		   "|cookie=b");
	decode(H2_HEAD_REQUEST, 0, &head);
	memcpy(there, text, head.text_len);
	h2_head_move(&head, there);
	memset(text, '!', sizeof(text));
	is_str(dump(&head, H2_HEAD_REQUEST), "PURGE http a /x |host=a|x-a=1|accept=2|cookie=a; b",
	       "a head that moved");
}

/* After a refused head the tables still agree. */
static void test_in_step(void)
{
	static const char first[] = "\x40\x01" "X" "\x01" "y\x40\x01" "z\x02" "ok";
	static const char second[] = "\x82\x86\x84\xbe";
	struct h2_head head = { .fields = fields, .field_capacity = 20, .list_max = LIST_MAX,
				.text_max = TEXT_MAX, .text = text };
	struct hpack_decoder d;

	hpack_decoder_init(&d, HPACK_TABLE_SIZE);
	is_int(h2_head_decode(&d, slice_make(first, sizeof(first) - 1), H2_HEAD_REQUEST, 0, &head),
	       H2_HEAD_REFUSED, "a bad name");
	is_int(h2_head_decode(&d, slice_make(second, 4), H2_HEAD_REQUEST, 0, &head), H2_HEAD_OK,
	       "the next head");
	is_str(dump(&head, H2_HEAD_REQUEST), "GET http  / |z=ok", "finds what followed it");
	hpack_decoder_fini(&d);
}

int main(void)
{
	test_rows();
	test_limits();
	test_crumbs();
	test_move();
	test_in_step();
	return done_testing();
}
