/* SPDX-License-Identifier: GPL-2.0-or-later */
/* switch.c - frontends that are paused, resumed and stopped for good while the program runs */
#include "proxy_priv.h"

enum proxy_switched proxy_pause(struct proxy *px)
{
	if (__atomic_load_n(&px->state->stopped, __ATOMIC_RELAXED))
		return PROXY_IS_STOPPED;
	if (__atomic_exchange_n(&px->state->disabled, 1, __ATOMIC_RELAXED))
		return PROXY_IS_SO;
	if (!proxy_listen_change(px, 1)) {
		__atomic_store_n(&px->state->disabled, 0, __ATOMIC_RELAXED);
		return PROXY_FAILED;
	}
	proxy_tell(px, PROXY_EVENT_WARNING, "Paused %s %s.", proxy_kind_name(px), px->name);
	return PROXY_SWITCHED;
}

enum proxy_switched proxy_resume(struct proxy *px)
{
	if (__atomic_load_n(&px->state->stopped, __ATOMIC_RELAXED))
		return PROXY_IS_STOPPED;
	if (!__atomic_exchange_n(&px->state->disabled, 0, __ATOMIC_RELAXED))
		return PROXY_IS_SO;
	if (!proxy_listen_change(px, 2)) {
		__atomic_store_n(&px->state->disabled, 1, __ATOMIC_RELAXED);
		return PROXY_FAILED;
	}
	proxy_tell(px, PROXY_EVENT_WARNING, "Resumed %s %s.", proxy_kind_name(px), px->name);
	return PROXY_SWITCHED;
}

enum proxy_switched proxy_stop(struct proxy *px)
{
	if (__atomic_exchange_n(&px->state->stopped, 1, __ATOMIC_RELAXED))
		return PROXY_IS_STOPPED;
	proxy_listen_change(px, 0);
	proxy_tell(px, PROXY_EVENT_WARNING, "Proxy %s stopped (cumulated conns: FE: %llu, BE: "
		   "%llu).", px->name,
		   (unsigned long long)counter_read(&px->state->fe, CNT_CONN_TOT),
		   px->caps & PROXY_BE
		   ? (unsigned long long)counter_read(&px->state->be, CNT_SESS_TOT) : 0ull);
	return PROXY_SWITCHED;
}
