/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_state.c - questions to the state of a server: asked by balancing and by queues */
#include <assert.h>
#include <string.h>
#include "base/bug.h"
#include "proxy/server.h"
#include "server_state_priv.h"

bool server_is_willing(const struct server *srv)
{
	unsigned admin = __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED);
	unsigned oper = __atomic_load_n(&srv->state->oper, __ATOMIC_RELAXED);

	return !(admin & SERVER_MAINT) && oper != SERVER_STOPPED;
}

/* All but ejections allows it to get new requests. */
static bool is_fit(const struct server *srv)
{
	unsigned admin = __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED);
	unsigned oper = __atomic_load_n(&srv->state->oper, __ATOMIC_RELAXED);

	return !(admin & (SERVER_MAINT | SERVER_DRAIN)) && server_weight(srv) > 0 &&
		(oper == SERVER_RUNNING || oper == SERVER_STARTING);
}

bool outlier_is_out(const struct server *srv)
{
	return __atomic_load_n(&srv->state->outlier.is_out, __ATOMIC_RELAXED);
}

bool server_is_usable(const struct server *srv)
{
	return is_fit(srv) && !outlier_is_out(srv);
}

bool server_is_only_ejected(const struct server *srv)
{
	return is_fit(srv) && outlier_is_out(srv);
}

void server_address_copy(void *to, const void *from)
{
	static_assert(sizeof(struct sockaddr_in6) % 4 == 0, "copied by words");
	uint32_t *dst = to;
	const uint32_t *src = from;

	for (size_t i = 0; i < sizeof(struct sockaddr_in6) / 4; i++)
		__atomic_store_n(&dst[i], __atomic_load_n(&src[i], __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
}

/* The writer makes the turn odd while it writes: a reader that saw a turn change reads again. */
void server_address(const struct server *srv, struct server_addr *out)
{
	struct server_state *st = srv->state;
	unsigned turn;

	if (likely(!st || !__atomic_load_n(&st->address_len, __ATOMIC_ACQUIRE))) {
		memset(&out->sa, 0, sizeof(out->sa));
		memcpy(&out->sa, srv->at.sa, srv->at.len);
		out->len = srv->at.len;
		return;
	}
	do {
		while ((turn = __atomic_load_n(&st->address_turn, __ATOMIC_ACQUIRE)) & 1)
			;
		memset(&out->sa, 0, sizeof(out->sa));
		server_address_copy(&out->sa, &st->address);
		out->len = __atomic_load_n(&st->address_len, __ATOMIC_RELAXED);
	} while (__atomic_load_n(&st->address_turn, __ATOMIC_RELAXED) != turn);
}
