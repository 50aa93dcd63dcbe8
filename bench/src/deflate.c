/* deflate - what zlib alone takes to compress a file: the least that a proxy which does so with zlib may cost.
 *
 * usage: deflate FILE LEVEL SECONDS      prints the microseconds of CPU for each time, and the bytes that come of it
 *
 * One state is used again and again, with gzip's head and zlib's default window and memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zlib.h>

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static unsigned char in[1 << 21], out[1 << 22];
	z_stream z = { 0 };
	double begun, spent;
	size_t len;
	long n = 0;
	FILE *f;

	if (argc != 4 || !(f = fopen(argv[1], "rb")))
		return 2;
	len = fread(in, 1, sizeof(in), f);
	fclose(f);
	if (deflateInit2(&z, atoi(argv[2]), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return 1;
	begun = cpu_seconds();
	do {
		deflateReset(&z);
		z.next_in = in;
		z.avail_in = (uInt)len;
		z.next_out = out;
		z.avail_out = sizeof(out);
		if (deflate(&z, Z_FINISH) != Z_STREAM_END)
			return 1;
		n++;
		spent = cpu_seconds() - begun;
	} while (spent < atof(argv[3]));
	printf("%.2f %lu\n", spent / (double)n * 1e6, z.total_out);
	return 0;
}
