/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known answers of published test vectors. */
#include "base/hash.h"
#include "tap.h"

/* Of the paper's appendix A: bytes 0 to 15 are the key, 0 to 14 the message. */
static void test_siphash(void)
{
	static const uint64_t key[2] = { 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull };
	uint8_t bytes[15];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	ok(hash_sip24(bytes, 15, key) == 0xa129ca6149be45e5ull, "SipHash-2-4 of 15 bytes");
	ok(hash_sip24(bytes, 0, key) == 0x726fdb47dd0e0e31ull, "SipHash-2-4 of nothing");
	ok(hash_sip24(bytes, 8, key) == 0x93f5f5799a932462ull, "SipHash-2-4 of one block");
	ok(hash_sip13(bytes, 15, key) != hash_sip24(bytes, 15, key), "fewer rounds, another hash");
}

int main(void)
{
	static const char digits[] = "123456789";
	uint32_t crc;

	ok(hash_crc32(0, digits, 9) == 0xcbf43926, "CRC-32 check value");
	ok(hash_crc32c(0, digits, 9) == 0xe3069283, "CRC-32C check value");
	crc = hash_crc32c(hash_crc32c(0, digits, 4), digits + 4, 5);
	ok(crc == 0xe3069283, "CRC-32C in two parts");
	ok(hash_crc32(0, "", 0) == 0, "CRC-32 of nothing");
	ok(hash_bytes("", 0, 0) == 0xef46db3751d8e999ull, "XXH64 of nothing");
	ok(hash_bytes("a", 1, 0) == 0xd24ec4f1a98c6e5bull, "XXH64 of a");
	ok(hash_bytes("abc", 3, 0) == 0x44bc2cf5ad770999ull, "XXH64 of abc");
	ok(hash_bytes("Nobody inspects the spammish repetition", 39, 0) == 0xfbcea83c8a378bf1ull,
	   "XXH64 of more than a stripe");
	ok(hash_bytes("a", 1, 1) != hash_bytes("a", 1, 0), "the seed counts");
	ok(hash_u64(1) != hash_u64(2) && hash_u64(0) == 0, "numbers");
	test_siphash();
	return done_testing();
}
