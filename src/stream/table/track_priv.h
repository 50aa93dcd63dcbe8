/* SPDX-License-Identifier: GPL-2.0-or-later */
/* track_priv.h - shared by the files about sticky counters */
#ifndef STREAM_TRACK_PRIV_H
#define STREAM_TRACK_PRIV_H

#include "base/slot.h"
#include "stream/track.h"

#define STATUS_FIRST 100
#define STATUS_LAST 599
#define TRACKERS_DEFAULT 3
#define TRACKERS_MAX 100

/* A set of statuses. */
struct status_set {
	uint64_t bits[(STATUS_LAST - STATUS_FIRST + 64) / 64];
};

static inline bool status_is_in(const struct status_set *set, unsigned status)
{
	unsigned i = status - STATUS_FIRST;

	return status >= STATUS_FIRST && status <= STATUS_LAST && set->bits[i / 64] >> i % 64 & 1;
}

/* Adds the statuses from <low> to <high> to a set, or removes them. */
void status_set_range(struct status_set *set, unsigned low, unsigned high, bool on);

/* Settings of `global`. */
struct track_config {
	unsigned count;               /* tune.stick-counters */
	struct status_set errors;     /* http-err-codes */
	struct status_set failures;   /* http-fail-codes */
};

extern struct slot track_config_slot;
extern struct slot *const track_slots[];
struct track_config *track_config_of(const struct config *cfg);

#endif
