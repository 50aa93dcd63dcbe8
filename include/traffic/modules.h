/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* modules.h - edge files about traffic: actions, fetches, log aliases and commands about streams
 *
 * Purpose: each file of src/traffic is an edge: it exports one descriptor, and uses the public
 *          headers of lower floors only. main/modules.c lists them in start-up order.
 * Owns   : constants.
 * Threads: any.
 */
#ifndef TRAFFIC_MODULES_H
#define TRAFFIC_MODULES_H

#include "base/module.h"

extern const struct module mod_acl_smp;        /* acl_smp.c */
extern const struct module mod_addr_act;       /* addr_act.c */
extern const struct module mod_auth_act;       /* auth_act.c */
extern const struct module mod_auth_smp;       /* auth_smp.c */
extern const struct module mod_body_smp;       /* body_smp.c */
extern const struct module mod_conn_error_smp; /* conn_error_smp.c */
extern const struct module mod_conn_smp;       /* conn_smp.c */
extern const struct module mod_opentracing_act; /* opentracing_act.c */
extern const struct module mod_reverse_act;    /* reverse_act.c */
extern const struct module mod_early_act;      /* early_act.c */
extern const struct module mod_errors_ctl;     /* errors_ctl.c */
extern const struct module mod_field_smp;      /* field_smp.c */
extern const struct module mod_hint_act;       /* hint_act.c */
extern const struct module mod_headers_bin_act; /* headers_bin_act.c */
extern const struct module mod_http_act;       /* http_act.c */
extern const struct module mod_http_smp;       /* http_smp.c */
extern const struct module mod_inside_ctl;     /* inside_ctl.c */
extern const struct module mod_stream_alias;   /* log_alias.c */
extern const struct module mod_map_act;        /* map_act.c */
extern const struct module mod_mux_smp;        /* mux_smp.c */
extern const struct module mod_persist_ctl;    /* persist_ctl.c */
extern const struct module mod_preamble_act;   /* preamble_act.c */
extern const struct module mod_proxy_smp;      /* proxy_smp.c */
extern const struct module mod_proxy_tlv_smp;  /* proxy_tlv_smp.c */
extern const struct module mod_reply_act;      /* reply_act.c */
extern const struct module mod_req_ssl_smp;    /* req_ssl_smp.c */
extern const struct module mod_resolve_act;    /* resolve_act.c */
extern const struct module mod_rules_ctl;      /* rules_ctl.c */
extern const struct module mod_split_ctl;      /* split_ctl.c */
extern const struct module mod_service_act;    /* service_act.c */
extern const struct module mod_sess_ctl;       /* sess_ctl.c */
extern const struct module mod_stream_act;     /* stream_act.c */
extern const struct module mod_stream_smp;     /* stream_smp.c */
extern const struct module mod_tcp_act;        /* tcp_act.c */
extern const struct module mod_transport_smp;  /* transport_smp.c */
extern const struct module mod_uri_act;        /* uri_act.c */
extern const struct module mod_var_act;        /* var_act.c */
extern const struct module mod_why_ctl;        /* why_ctl.c */

#endif
