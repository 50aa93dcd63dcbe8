/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay.c - the main of a fuzzer where there is no libFuzzer: runs the files that it is given
 *
 * A fuzzer defines LLVMFuzzerTestOneInput() and aborts on what must not be. This main is weak:
 * where a fuzzer brings its own, that one is used. The input is copied to a block of its exact
 * size, so that the address sanitizer sees a read past its end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs the fuzzer on the file <path>. Returns 0, or 1 with a message when it cannot be read. */
static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;
	int ret = 1;

	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0 && (data = malloc(size ? size : 1))) {
		rewind(file);
		if (fread(data, 1, size, file) == (size_t)size) {
			LLVMFuzzerTestOneInput(data, size);
			ret = 0;
		}
	}
	if (ret)
		fprintf(stderr, "cannot read %s\n", path);
	free(data);
	if (file)
		fclose(file);
	return ret;
}

__attribute__((weak)) int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay_file(argv[i]);
	return failed;
}
