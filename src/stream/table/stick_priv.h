/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stick_priv.h - shared by the files about stick rules */
#ifndef STREAM_STICK_PRIV_H
#define STREAM_STICK_PRIV_H

#include "base/slot.h"
#include "expr/expr.h"
#include "stream/stick.h"
#include "table/table.h"

/* Maximum of keys of one request, and of one response, that are stored. Manual: 8. */
#define STICK_STORES_MAX 8

enum stick_does {
	STICK_MATCH = 1 << 0, STICK_STORE = 1 << 1,
	STICK_RESPONSE = 1 << 2, /* the key is taken from the response */
};

struct stick_rule {
	struct stick_rule *next;
	const struct expr *key;
	const struct condition *condition;
	const char *table_name;    /* as configured, or the backend's own */
	const struct table *table;
	unsigned does;             /* enum stick_does */
};

/* The rules of a backend, in order. */
struct stick_proxy {
	struct stick_rule *first, *last;
};

struct stick_server {
	bool never; /* non-stick */
};

extern struct slot stick_proxy_slot, stick_server_slot, stick_stream_slot;

#endif
