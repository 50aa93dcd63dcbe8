/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch_map.c - files of maps and of ACLs are read again when they change. Thread 0, as watch.c. */
#include <stdlib.h>
#include "conf/conf.h"
#include "expr/pattern.h"
#include "watch_priv.h"

static struct {
	struct config *cfg;          /* counted: keeps the references; NULL: none is watched */
	struct watched_map {
		struct pattern_ref *ref;
		uint64_t stamp;
	} *maps;                     /* owned */
	unsigned count, at;
	struct pattern_reading *reading; /* of maps[at]; owned; NULL: none */
	bool cut;                    /* the round was interrupted: files changed behind it */
} me;

bool watch_maps_begin(struct config *cfg)
{
	struct pattern_ref *ref = NULL;

	while ((ref = pattern_ref_next_file(cfg, ref)))
		me.count++;
	me.maps = calloc(me.count + 1, sizeof(*me.maps));
	if (!me.maps) {
		me.count = 0;
		return false;
	}
	me.cfg = config_take(cfg);
	me.at = 0;
	for (unsigned i = 0; i < me.count; i++) {
		ref = pattern_ref_next_file(cfg, ref);
		me.maps[i].ref = ref;
		me.maps[i].stamp = watch_stamp(pattern_ref_file(ref), 0);
		watch_folder_of(pattern_ref_file(ref));
	}
	return true;
}

/* Goes on with the one that is being read. False: there is more of it. */
static bool go_on(uint64_t until_ns)
{
	const char *name = pattern_ref_file(me.maps[me.at].ref);
	struct pattern_error why;

	switch (pattern_reading_go(me.reading, until_ns, &why)) {
	case PATTERN_MORE:
		return false;
	case PATTERN_DONE:
		watch_tell(me.cfg, name, NULL);
		break;
	case PATTERN_FAILED:
		watch_tell(me.cfg, name, why.text);
		break;
	}
	pattern_reading_free(&me.reading);
	return true;
}

/* Begins to read it if it has changed. */
static void look_at(struct watched_map *m)
{
	const char *name = pattern_ref_file(m->ref);
	uint64_t stamp = watch_stamp(name, 0);
	struct pattern_error why;

	if (stamp == m->stamp)
		return;
	m->stamp = stamp;
	me.reading = pattern_reading_new(m->ref, &why);
	if (!me.reading)
		watch_tell(me.cfg, name, why.text);
}

bool watch_maps_go(uint64_t until_ns)
{
	for (; me.at < me.count; me.at++) {
		if (!me.reading)
			look_at(&me.maps[me.at]);
		if (me.reading && !go_on(until_ns)) {
			me.cut = true;
			return false;
		}
	}
	me.at = 0;
	if (!me.cut)
		return true;
	me.cut = false;
	return false;
}

void watch_maps_end(void)
{
	pattern_reading_free(&me.reading);
	free(me.maps);
	me.maps = NULL;
	me.count = 0;
	config_drop(&me.cfg);
}
