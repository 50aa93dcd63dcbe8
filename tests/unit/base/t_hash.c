/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known answers of published test vectors. */
#include "base/hash.h"
#include "tap.h"

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
	return done_testing();
}
