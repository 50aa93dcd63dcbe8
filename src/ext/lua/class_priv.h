/* SPDX-License-Identifier: GPL-2.0-or-later */
/* class_priv.h - the Lua classes that scripts see: functions that open them in a new state and that
 * push their objects
 *
 * A function that takes a lua_State may raise a Lua error, which jumps over C frames: it must hold
 * nothing there that would leak. All other functions are called from outside and handle errors
 * themselves.
 * Threads: the state's, or any that holds its lock.
 */
#ifndef SCRIPT_CLASS_PRIV_H
#define SCRIPT_CLASS_PRIV_H

#include <lua.h>
#include <stdbool.h>
#include "base/slot.h"
#include "base/strbuf.h"
#include "stream/filter.h"

struct script_run;

/* Pending bytes above which send() of an AppletTCP waits for a turn. */
#define SCRIPT_APPLET_SOFT 16384
/* The I/O of an AppletTCP. */
struct script_applet {
	struct strbuf out;            /* sent by the script, not yet taken */
	struct block_queue *in;       /* received bytes; NULL: it never receives any */
	const bool *is_whole;         /* no more bytes will come; with <in> */
	void (*taken)(struct script_applet *a); /* called after some of <in> was taken; with <in> */
	bool wants;                   /* the script waits for more of <in> */
};

void script_core_open(lua_State *L);     /* core.c */
void script_register_open(lua_State *L); /* register.c: core.register_*; the table is on top */
void script_txn_open(lua_State *L);
void script_http_open(lua_State *L);
void script_smp_open(lua_State *L);      /* Fetches, Converters */
void script_reply_open(lua_State *L);
void script_http_client_open(lua_State *L); /* HTTPClient, core.httpclient */
void script_socket_open(lua_State *L);      /* Socket, core.tcp */
void script_map_open(lua_State *L);      /* Map, core.add_acl and similar */
void script_proxies_open(lua_State *L);  /* Proxy, Listener, core.proxies and similar */
void script_servers_open(lua_State *L);  /* Server */
void script_regex_open(lua_State *L);    /* Regex */
void script_network_open(lua_State *L);  /* core.parse_addr, core.match_addr */
void script_dates_open(lua_State *L);    /* core.http_date and similar */
void script_process_open(lua_State *L);  /* core.get_info, get_var, set_nice, done */
/* Push an object of class Proxy, Server, or the list of a proxy's servers. Each returns 1. */
int script_push_proxy(lua_State *L, struct proxy *px);
int script_push_server(lua_State *L, struct server *srv);
int script_push_servers(lua_State *L, const struct proxy *px);
/* Returns the server of the object at 1; NULL: it was removed. Raises an error if it is no such
 * object.
 */
struct server *script_server(lua_State *L);
/* Pushes the columns of a row as a table. */
struct stats_row;
void script_push_stats(lua_State *L, const struct stats_row *row);
void script_queue_open(lua_State *L);    /* Queue, core.wait */
void script_sticktable_open(lua_State *L); /* StickTable */
/* Pushes the table of a proxy, or nil if it has none. Returns 1. */
int script_push_table(lua_State *L, const struct proxy *px);
int script_push_txn(lua_State *L, struct script_run *run);
extern struct slot script_kept_slot;     /* values of TXN.set_priv() */
/* The fields f, sf, c, sc: objects Fetches and Converters. */
#define SCRIPT_SMP_FIELDS \
	{ "f", script_push_f }, { "sf", script_push_sf }, \
	{ "c", script_push_c }, { "sc", script_push_sc }
void script_push_f(lua_State *L, struct script_run *run);
void script_push_sf(lua_State *L, struct script_run *run);
void script_push_c(lua_State *L, struct script_run *run);
void script_push_sc(lua_State *L, struct script_run *run);
int script_new_reply(lua_State *L);
void script_push_headers(lua_State *L, const struct http_fields *f);
/* Builds s->res from the Reply at <index>. */
bool script_reply_make(lua_State *L, int index, struct stream *s);
int script_get_var(lua_State *L, struct script_run *run);
int script_set_var(lua_State *L, struct script_run *run);
int script_unset_var(lua_State *L, struct script_run *run);

void script_mailers_open(lua_State *L);  /* core.use_native_mailers_config */
/* Pushes the table of a proxy's mailers, or nil if it sends no alerts. Returns 1. */
int script_push_mailers(lua_State *L, const struct proxy *px);
void script_certcache_open(lua_State *L); /* CertCache */
void script_patref_open(lua_State *L);   /* Patref, core.get_patref */

void script_events_open(lua_State *L);   /* EventSub, core.event_sub */

void script_service_open(lua_State *L);

void script_applet_tcp_open(lua_State *L);
void script_push_applet(lua_State *L, struct script_run *run, struct script_applet *a);

void script_shared_open(lua_State *L);       /* core.shared */

void script_channel_open(lua_State *L);      /* Channel, HTTPMessage */
void script_push_channel(lua_State *L, struct script_run *run, enum filter_side side);
void script_push_message(lua_State *L, struct script_run *run, enum filter_side side);
/* Returns the run of an object of such a class at 1, and its side. */
struct script_run *script_way_at(lua_State *L, const char *name, unsigned *side);
void script_filter_open(lua_State *L);       /* filter; core.register_filter */

/* Adds the methods of HTTPMessage for the head to the table on top. */
void script_add_head_methods(lua_State *L);  /* http.c */

#endif
