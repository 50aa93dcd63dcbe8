/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HPACK: the examples of RFC 7541 appendix C, errors, limits, and that what the encoder writes is
 * what the decoder reads.
 */
#include <stdlib.h>
#include "codec/hpack.h"
#include "tap.h"

static char text[1 << 17];

static size_t from_hex(const char *hex, char *out)
{
	size_t len = 0;
	unsigned byte;

	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		sscanf(hex++, "%2x", &byte);
		out[len++] = (char)byte;
	}
	return len;
}

/* Walks a block; gives "name: value\n" of all fields in <out>. Returns the last status. */
static enum hpack_status walk(struct hpack_decoder *d, struct slice block, size_t room, char *out,
			      uint8_t *error)
{
	char *copy = malloc(block.len + 1);
	struct hpack_reader r;
	struct hpack_field f;
	enum hpack_status status;
	size_t len = 0;

	memcpy(copy, block.ptr, block.len);
	hpack_read_begin(&r, d, slice_make(copy, block.len), text, room);
	out[0] = 0;
	while ((status = hpack_read(&r, &f)) == HPACK_FIELD)
		len += (size_t)sprintf(out + len, "%.*s: %.*s\n", SLICE_FMT(f.name),
				       SLICE_FMT(f.value));
	*error = r.error;
	free(copy);
	return status;
}

#define DATE1 "date: Mon, 21 Oct 2013 20:13:21 GMT\n"
#define DATE2 "date: Mon, 21 Oct 2013 20:13:22 GMT\n"
#define PLACE "location: https://www.example.com\n"
#define HEAD1 ":status: 302\ncache-control: private\n" DATE1 PLACE
#define HEAD2 ":status: 307\ncache-control: private\n" DATE1 PLACE
#define HEAD3 ":status: 200\ncache-control: private\n" DATE2 PLACE "content-encoding: gzip\n" \
	"set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n"
#define ASK1 ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n"
#define ASK2 ASK1 "cache-control: no-cache\n"
#define ASK3 ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\n" \
	"custom-key: custom-value\n"

static const struct {
	const char *name;
	uint32_t table;
	struct { const char *hex, *fields; unsigned size; } blocks[3];
} examples[] = {
	{ "C.2.1", 4096, { { "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
	  "custom-key: custom-header\n", 55 } } },
	{ "C.2.2", 4096, { { "040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path\n", 0 } } },
	{ "C.2.3", 4096, { { "1008 7061 7373 776f 7264 0673 6563 7265 74",
	  "password: secret\n", 0 } } },
	{ "C.2.4", 4096, { { "82", ":method: GET\n", 0 } } },
	{ "C.3", 4096, {
	  { "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", ASK1, 57 },
	  { "8286 84be 5808 6e6f 2d63 6163 6865", ASK2, 110 },
	  { "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
	    ASK3, 164 } } },
	{ "C.4", 4096, {
	  { "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", ASK1, 57 },
	  { "8286 84be 5886 a8eb 1064 9cbf", ASK2, 110 },
	  { "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", ASK3, 164 } } },
	{ "C.5", 256, {
	  { "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032"
	    "303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861"
	    "6d70 6c65 2e63 6f6d",
	    HEAD1, 222 },
	  { "4803 3330 37c1 c0bf", HEAD2, 222 },
	  { "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0"
	    "5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f"
	    "5049 5541 5851 5745"
	    "4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e"
	    "3d31", HEAD3, 215 } } },
	{ "C.6", 256, {
	  { "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b"
	    "ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3", HEAD1, 222 },
	  { "4883 640e ffc1 c0bf", HEAD2, 222 },
	  { "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad"
	    "94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5"
	    "291f 9587 3160 65c0"
	    "03ed 4ee5 b106 3d50 07", HEAD3, 215 } } },
};

static void test_examples(void)
{
	char block[512], got[2048];
	struct hpack_decoder d;
	uint8_t error;

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		hpack_decoder_init(&d, 4096);
		d.table.size_max = examples[i].table;
		for (unsigned k = 0; k < 3 && examples[i].blocks[k].hex; k++) {
			size_t len = from_hex(examples[i].blocks[k].hex, block);

			is_int(walk(&d, slice_make(block, len), sizeof(text), got, &error),
			       HPACK_END, "%s.%u is read", examples[i].name, k + 1);
			is_str(got, examples[i].blocks[k].fields, "%s.%u fields",
			       examples[i].name, k + 1);
			is_int(d.table.size, examples[i].blocks[k].size, "%s.%u table size",
			       examples[i].name, k + 1);
		}
		hpack_decoder_fini(&d);
	}
}

static const struct { const char *hex, *what; int error; } errors[] = {
	{ "80", "index 0", HPACK_ERR_INDEX },
	{ "be", "index past the static table, nothing stored", HPACK_ERR_INDEX },
	{ "7f00 0161", "name index past the tables", HPACK_ERR_INDEX },
	{ "ffffffffffffffffffff01", "huge index", HPACK_ERR_INTEGER },
	{ "ff808080808080808000", "an integer padded with zeros", HPACK_ERR_INTEGER },
	{ "ff", "index cut short", HPACK_ERR_TRUNCATED },
	{ "40", "no name", HPACK_ERR_TRUNCATED },
	{ "4003 6162", "name cut short", HPACK_ERR_TRUNCATED },
	{ "4001 61", "no value", HPACK_ERR_TRUNCATED },
	{ "4001 61 05 6162", "value cut short", HPACK_ERR_TRUNCATED },
	{ "4001 61 7f80ffffff0f", "value of 4 GB", HPACK_ERR_TRUNCATED },
	{ "4001 61 84 ffffffff", "EOS in a string", HPACK_ERR_HUFFMAN },
	{ "4001 61 81 00", "padding of zeros", HPACK_ERR_HUFFMAN },
	{ "4001 61 82 1fff", "padding of more than 7 bits", HPACK_ERR_HUFFMAN },
	{ "4001 61 81 ff", "nothing but padding, 8 bits", HPACK_ERR_HUFFMAN },
	{ "4081 ff 00", "the same in a name", HPACK_ERR_HUFFMAN },
	{ "3fe21f", "table size above the limit", HPACK_ERR_TABLE_SIZE },
	{ "82 20", "size update after a field", HPACK_ERR_TABLE_SIZE },
	{ "3f", "size update cut short", HPACK_ERR_TRUNCATED },
};

static void test_errors(void)
{
	struct hpack_decoder d;
	char block[64], got[256];
	uint8_t error;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		size_t len = from_hex(errors[i].hex, block);

		hpack_decoder_init(&d, 4096);
		is_int(walk(&d, slice_make(block, len), sizeof(text), got, &error), HPACK_BAD,
		       "refused: %s", errors[i].what);
		is_int(error, errors[i].error, "why");
		hpack_decoder_fini(&d);
	}
}

static void test_sizes(void)
{
	struct hpack_decoder d;
	char block[64], got[256];
	uint8_t error;

	hpack_decoder_init(&d, 4096);
	is_int(hpack_table_memory(&d.table), 0, "an unused table has no memory");
	walk(&d, slice_make(block, from_hex("4001 61 01 62", block)), sizeof(text), got, &error);
	is_int(hpack_table_memory(&d.table), HPACK_AREA_FIRST, "one entry: the first area");
	walk(&d, slice_make(block, from_hex("20 be", block)), sizeof(text), got, &error);
	is_int(error, HPACK_ERR_INDEX, "size 0 evicts all");
	is_int(walk(&d, slice_make(block, from_hex("20 3fe11f be", block)), sizeof(text), got,
		    &error), HPACK_BAD, "and a larger size brings nothing back");
	hpack_decoder_fini(&d);

	hpack_decoder_init(&d, 100);
	is_int(walk(&d, slice_make(block, from_hex("3fe11f 82", block)), sizeof(text), got, &error),
	       HPACK_END, "before the acknowledgement the default limit holds");
	hpack_decoder_limit(&d, 100);
	is_int(walk(&d, slice_make(block, from_hex("82", block)), sizeof(text), got, &error),
	       HPACK_BAD, "after it an update is due");
	is_int(error, HPACK_ERR_TABLE_SIZE, "why");
	is_int(walk(&d, slice_make(block, from_hex("3f45 82", block)), sizeof(text), got, &error),
	       HPACK_END, "an update to the limit");
	is_int(d.table.size_max, 100, "was taken");
	is_int(walk(&d, slice_make(block, from_hex("3f46 82", block)), sizeof(text), got, &error),
	       HPACK_BAD, "not one byte more");
	hpack_decoder_fini(&d);
}

/* Texts that do not fit end the walk. */
static void test_room(void)
{
	static char block[8192], got[8192];
	struct hpack_decoder d;
	uint8_t error;
	size_t len;

	hpack_decoder_init(&d, 4096);
	/* a: 3000 times x, stored; twice, which is as much as there is room, or one byte more */
	len = from_hex("4001 61 7fb916", block);
	memset(block + len, 'x', 3000);
	len += 3000;
	block[len++] = (char)0xbe;
	is_int(walk(&d, slice_make(block, len), 6002, got, &error), HPACK_END, "all the room");
	is_int(d.table.count, 1, "stored");
	is_int(walk(&d, slice_make(block, len), 6001, got, &error), HPACK_BAD, "too little room");
	is_int(error, HPACK_ERR_TOO_LARGE, "why");
	is_int(walk(&d, slice_make("\xbe\xbe", 2), 6001, got, &error), HPACK_BAD, "of entries");
	is_int(error, HPACK_ERR_TOO_LARGE, "why");
	len = from_hex("00 01 61 83 1c64 5c", block); /* in Huffman code */
	is_int(walk(&d, slice_make(block, len), 3, got, &error), HPACK_BAD, "of Huffman code");
	is_int(error, HPACK_ERR_TOO_LARGE, "why");
	/* larger than the table: empties it */
	len = from_hex("4001 62 7f8926", block);
	memset(block + len, 'x', 5000);
	is_int(walk(&d, slice_make(block, len + 5000), 8192, got, &error), HPACK_END, "a huge one");
	is_int(d.table.count, 0, "empties the table");
	hpack_decoder_fini(&d);
}

static void test_huffman(void)
{
	char all[256], code[1024], back[512];
	size_t len;

	for (unsigned i = 0; i < 256; i++)
		all[i] = (char)i;
	len = hpack_huffman_encode(slice_make(all, 256), code);
	is_int(len, hpack_huffman_length(slice_make(all, 256)), "the length of all bytes");
	is_int(hpack_huffman_decode(slice_make(code, len), back, sizeof(back)), 256, "come back");
	ok(memcmp(all, back, 256) == 0, "the same");
	is_int(hpack_huffman_decode(slice_make(code, len), back, 255), HPACK_HUFFMAN_NO_ROOM,
	       "no room for the last");
	for (unsigned i = 0; i < 256; i++) {
		len = hpack_huffman_encode(slice_make(all + i, 1), code);
		if (hpack_huffman_decode(slice_make(code, len), back, 1) != 1 ||
		    back[0] != all[i])
			ok(false, "byte %u alone", i);
	}
	is_int(hpack_huffman_encode(slice_none(), code), 0, "nothing is nothing");
	is_int(hpack_huffman_decode(slice_none(), back, 0), 0, "both ways");
}

/* ---- the encoder, read back by the decoder */

static char coded[8192];

static size_t encode(struct hpack_encoder *e, const char *const *fields)
{
	struct hpack_writer w = { coded, coded + sizeof(coded) };

	ok(hpack_write_begin(e, &w), "begun");
	for (; *fields; fields += 2) {
		struct slice name = slice_of(fields[0]), value = slice_of(fields[1]);
		bool good;

		if (slice_eq(name, SLICE(":status")))
			good = hpack_write_status(e, &w, (unsigned)atoi(fields[1]));
		else if (slice_eq(name, SLICE(":path")))
			good = hpack_write_pseudo(e, &w, HPACK_PATH, value);
		else
			good = hpack_write_field(e, &w, field_id_of(name), name, value);
		if (!good)
			ok(false, "no room for %s", fields[0]);
	}
	return (size_t)(w.at - coded);
}

static void test_encoder(uint8_t options)
{
	static const char *const answer[] = {
		":status", "200", "server", "apache", "content-type", "text/html; charset=utf-8",
		"date", "Mon, 21 Oct 2013 20:13:21 GMT", "set-cookie", "id=0123456789",
		"x-backend", "web-17", "content-length", "16384", NULL,
	};
	static const char wanted[] = ":status: 200\nserver: apache\n"
		"content-type: text/html; charset=utf-8\ndate: Mon, 21 Oct 2013 20:13:21 GMT\n"
		"set-cookie: id=0123456789\nx-backend: web-17\ncontent-length: 16384\n";
	struct hpack_encoder e;
	struct hpack_decoder d;
	char got[4096];
	uint8_t error;
	size_t len;

	hpack_encoder_init(&e, options);
	hpack_decoder_init(&d, 4096);
	for (unsigned i = 0; i < 20; i++) {
		if (i == 5)
			hpack_encoder_resize(&e, 0);
		if (i == 10) {
			hpack_encoder_resize(&e, 100);
			hpack_encoder_resize(&e, 65536);
		}
		len = encode(&e, answer);
		if (i > 0 && (i < 5 || i > 10))
			ok(len <= 7 + 15 && len >= 7, "a repeated answer is short: %zu", len);
		is_int(walk(&d, slice_make(coded, len), sizeof(text), got, &error), HPACK_END,
		       "answer %u", i);
		is_str(got, wanted, "read back");
		is_int(d.table.size, e.table.size, "both tables alike");
		is_int(d.table.size_max, e.table.size_max, "and as large");
	}
	hpack_encoder_fini(&e);
	hpack_decoder_fini(&d);
}

/* What never repeats does not fill the table for ever. */
static void test_churn(void)
{
	char value[32], got[4096];
	const char *fields[] = { ":status", "204", "x-request-id", value, NULL };
	struct hpack_encoder e;
	struct hpack_decoder d;
	uint8_t error;
	size_t len;

	hpack_encoder_init(&e, 0);
	hpack_decoder_init(&d, 4096);
	for (unsigned i = 0; i < 200; i++) {
		sprintf(value, "%u", 100000 + i);
		len = encode(&e, fields);
		is_int(walk(&d, slice_make(coded, len), sizeof(text), got, &error), HPACK_END,
		       "read");
		ok(strstr(got, value) != NULL, "with its value");
	}
	ok(e.inserted < 40, "few were stored: %u", e.inserted);
	hpack_encoder_fini(&e);
	hpack_decoder_fini(&d);
}

static void test_writer_room(void)
{
	struct hpack_encoder e;
	struct hpack_writer w = { coded, coded + 20 };

	hpack_encoder_init(&e, 0);
	ok(!hpack_write_field(&e, &w, FIELD_SERVER, slice_none(), SLICE("apache")), "no room");
	ok(w.at == coded && e.inserted == 0, "nothing was done");
	w.end = coded + hpack_field_bound(6, 6);
	ok(hpack_write_field(&e, &w, FIELD_SERVER, slice_none(), SLICE("apache")), "room");
	w.at = w.end - 5;
	ok(!hpack_write_begin(&e, &w), "no room to begin");
	hpack_encoder_fini(&e);
}

int main(void)
{
	test_examples();
	test_errors();
	test_sizes();
	test_room();
	test_huffman();
	test_encoder(0);
	test_encoder(HPACK_OPT_HUFFMAN);
	test_churn();
	test_writer_room();
	return done_testing();
}
