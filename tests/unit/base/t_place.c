/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_place.c - places become known when they are reached, and count from then on */
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include "base/place.h"
#include "tap.h"

static unsigned known(void)
{
	unsigned n = 0;

	for (const struct place *p = place_next(NULL); p; p = place_next(p))
		n++;
	return n;
}

static void *odd(void *arg)
{
	for (int i = 0; i < 10000; i++)
		PLACE_COUNT(PLACE_GLT, "odd");
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	const struct place *p;

	ok(!place_next(NULL), "nothing was reached");
	PLACE_COUNT(PLACE_CNT, NULL);
	ok(!known(), "events of PLACE_CNT do not count");
	places_switch(true);
	for (int i = 0; i < 2; i++)
		PLACE_COUNT(PLACE_CNT, NULL);
	is_int(known(), 1, "until they are on: one place");
	p = place_next(NULL);
	ok(p->count == 2 && !p->text && strcmp(p->function, "main") == 0, "which counts");
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, odd, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	is_int(known(), 2, "four threads: one place");
	p = place_next(NULL);
	ok(p->count == 40000 && strcmp(p->text, "odd") == 0, "all is counted");
	return done_testing();
}
