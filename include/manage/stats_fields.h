/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stats_fields.h - the columns of `show stat`: X(id, name, what it is)
 *
 * Their order is that of CSV and of the typed output. STATS_EXTRA are columns of transports and
 * protocols, after the "-" column of the CSV: X(name, sides, "G" gauge or "C" counter), where sides
 * tells for which objects: F frontend, B backend, S server, L listener.
 */
#ifndef MANAGE_STATS_FIELDS_H
#define MANAGE_STATS_FIELDS_H

#define STATS_FIELDS(X) \
	X(PXNAME, "pxname", "proxy name") \
	X(SVNAME, "svname", "server, listener, FRONTEND or BACKEND") \
	X(QCUR, "qcur", "requests in the queue now") \
	X(QMAX, "qmax", "most requests seen in the queue") \
	X(SCUR, "scur", "sessions now") \
	X(SMAX, "smax", "most sessions seen at once") \
	X(SLIM, "slim", "limit of sessions") \
	X(STOT, "stot", "sessions so far") \
	X(BIN, "bin", "request bytes so far") \
	X(BOUT, "bout", "response bytes so far") \
	X(DREQ, "dreq", "requests denied by rules") \
	X(DRESP, "dresp", "responses denied by rules") \
	X(EREQ, "ereq", "invalid requests") \
	X(ECON, "econ", "failed connections to servers") \
	X(ERESP, "eresp", "invalid responses") \
	X(WRETR, "wretr", "connections tried again") \
	X(WREDIS, "wredis", "requests moved to another server") \
	X(STATUS, "status", "state") \
	X(WEIGHT, "weight", "effective weight") \
	X(ACT, "act", "active servers in use") \
	X(BCK, "bck", "backup servers in use") \
	X(CHKFAIL, "chkfail", "failed health checks") \
	X(CHKDOWN, "chkdown", "times that checks brought it down") \
	X(LASTCHG, "lastchg", "seconds since the last change of state") \
	X(DOWNTIME, "downtime", "seconds down so far") \
	X(QLIMIT, "qlimit", "limit of the queue") \
	X(PID, "pid", "number of the worker") \
	X(IID, "iid", "proxy identifier") \
	X(SID, "sid", "server or listener identifier") \
	X(THROTTLE, "throttle", "percentage of the weight while starting slowly") \
	X(LBTOT, "lbtot", "times chosen by balancing") \
	X(TRACKED, "tracked", "server whose checks it follows") \
	X(TYPE, "type", "0 frontend, 1 backend, 2 server, 3 listener") \
	X(RATE, "rate", "sessions in the last second") \
	X(RATE_LIM, "rate_lim", "limit of sessions a second") \
	X(RATE_MAX, "rate_max", "most sessions seen in a second") \
	X(CHECK_STATUS, "check_status", "last health check") \
	X(CHECK_CODE, "check_code", "protocol code of the last check") \
	X(CHECK_DURATION, "check_duration", "duration of the last check in ms") \
	X(HRSP_1XX, "hrsp_1xx", "responses of status 1xx") \
	X(HRSP_2XX, "hrsp_2xx", "responses of status 2xx") \
	X(HRSP_3XX, "hrsp_3xx", "responses of status 3xx") \
	X(HRSP_4XX, "hrsp_4xx", "responses of status 4xx") \
	X(HRSP_5XX, "hrsp_5xx", "responses of status 5xx") \
	X(HRSP_OTHER, "hrsp_other", "responses of other status") \
	X(HANAFAIL, "hanafail", "failures seen in traffic") \
	X(REQ_RATE, "req_rate", "requests in the last second") \
	X(REQ_RATE_MAX, "req_rate_max", "most requests seen in a second") \
	X(REQ_TOT, "req_tot", "requests so far") \
	X(CLI_ABRT, "cli_abrt", "transfers ended by the client") \
	X(SRV_ABRT, "srv_abrt", "transfers ended by the server") \
	X(COMP_IN, "comp_in", "bytes given to compression") \
	X(COMP_OUT, "comp_out", "bytes that compression gave") \
	X(COMP_BYP, "comp_byp", "bytes that went past compression") \
	X(COMP_RSP, "comp_rsp", "compressed responses") \
	X(LASTSESS, "lastsess", "seconds since the last session") \
	X(LAST_CHK, "last_chk", "text of the last check") \
	X(LAST_AGT, "last_agt", "text of the last agent check") \
	X(QTIME, "qtime", "average ms in the queue, last 1024 requests") \
	X(CTIME, "ctime", "average ms to connect, last 1024 requests") \
	X(RTIME, "rtime", "average ms to the response, last 1024 requests") \
	X(TTIME, "ttime", "average ms in all, last 1024 requests") \
	X(AGENT_STATUS, "agent_status", "last agent check") \
	X(AGENT_CODE, "agent_code", "unused") \
	X(AGENT_DURATION, "agent_duration", "duration of the last agent check in ms") \
	X(CHECK_DESC, "check_desc", "meaning of check_status") \
	X(AGENT_DESC, "agent_desc", "meaning of agent_status") \
	X(CHECK_RISE, "check_rise", "successes to come up") \
	X(CHECK_FALL, "check_fall", "failures to go down") \
	X(CHECK_HEALTH, "check_health", "successes or failures in a row") \
	X(AGENT_RISE, "agent_rise", "same, agent") \
	X(AGENT_FALL, "agent_fall", "same, agent") \
	X(AGENT_HEALTH, "agent_health", "same, agent") \
	X(ADDR, "addr", "address") \
	X(COOKIE, "cookie", "persistence cookie") \
	X(MODE, "mode", "mode of the proxy") \
	X(ALGO, "algo", "balancing algorithm") \
	X(CONN_RATE, "conn_rate", "connections in the last second") \
	X(CONN_RATE_MAX, "conn_rate_max", "most connections seen in a second") \
	X(CONN_TOT, "conn_tot", "connections so far") \
	X(INTERCEPTED, "intercepted", "requests answered here") \
	X(DCON, "dcon", "connections denied by rules") \
	X(DSES, "dses", "sessions denied by rules") \
	X(WREW, "wrew", "failed edits of messages") \
	X(CONNECT, "connect", "connections made") \
	X(REUSE, "reuse", "connections used again") \
	X(CACHE_LOOKUPS, "cache_lookups", "lookups in the cache") \
	X(CACHE_HITS, "cache_hits", "responses from the cache") \
	X(SRV_ICUR, "srv_icur", "idle connections now") \
	X(SRC_ILIM, "src_ilim", "limit of idle connections") \
	X(QTIME_MAX, "qtime_max", "longest ms in the queue") \
	X(CTIME_MAX, "ctime_max", "longest ms to connect") \
	X(RTIME_MAX, "rtime_max", "longest ms to the response") \
	X(TTIME_MAX, "ttime_max", "longest ms in all") \
	X(EINT, "eint", "internal errors") \
	X(IDLE_CONN_CUR, "idle_conn_cur", "idle connections that were used once only") \
	X(SAFE_CONN_CUR, "safe_conn_cur", "idle connections that were used again") \
	X(USED_CONN_CUR, "used_conn_cur", "connections in use") \
	X(NEED_CONN_EST, "need_conn_est", "connections that seem to be needed") \
	X(UWEIGHT, "uweight", "weight set by the user") \
	X(AGG_SERVER_STATUS, "agg_server_status", "servers by state") \
	X(AGG_SERVER_CHECK_STATUS, "agg_server_check_status", "servers by state of checks") \
	X(AGG_CHECK_STATUS, "agg_check_status", "servers by result of checks") \
	X(SRID, "srid", "revision of the server") \
	X(SESS_OTHER, "sess_other", "sessions that are not HTTP") \
	X(H1SESS, "h1sess", "HTTP/1 sessions") \
	X(H2SESS, "h2sess", "HTTP/2 sessions") \
	X(H3SESS, "h3sess", "HTTP/3 sessions") \
	X(REQ_OTHER, "req_other", "requests that are not HTTP") \
	X(H1REQ, "h1req", "HTTP/1 requests") \
	X(H2REQ, "h2req", "HTTP/2 requests") \
	X(H3REQ, "h3req", "HTTP/3 requests") \
	X(PROTO, "proto", "protocol of the listener") \
	X(PRIV_IDLE_CUR, "priv_idle_cur", "idle connections kept for one client alone") \
	X(REQBIN, "reqbin", "request bytes received") \
	X(REQBOUT, "reqbout", "request bytes sent to servers") \
	X(RESBIN, "resbin", "response bytes received from servers") \
	X(RESBOUT, "resbout", "response bytes sent to clients")

#define STATS_EXTRA(X) \
	X(ssl_sess, "FBSL", "C") \
	X(ssl_reused_sess, "FBSL", "C") \
	X(ssl_failed_handshake, "FBSL", "C") \
	X(ssl_ocsp_staple, "FBSL", "C") \
	X(ssl_failed_ocsp_staple, "FBSL", "C") \
	X(h3_data, "FB", "C") \
	X(h3_headers, "FB", "C") \
	X(h3_cancel_push, "FB", "C") \
	X(h3_push_promise, "FB", "C") \
	X(h3_max_push_id, "FB", "C") \
	X(h3_goaway, "FB", "C") \
	X(h3_settings, "FB", "C") \
	X(h3_no_error, "FB", "C") \
	X(h3_general_protocol_error, "FB", "C") \
	X(h3_internal_error, "FB", "C") \
	X(h3_stream_creation_error, "FB", "C") \
	X(h3_closed_critical_stream, "FB", "C") \
	X(h3_frame_unexpected, "FB", "C") \
	X(h3_frame_error, "FB", "C") \
	X(h3_excessive_load, "FB", "C") \
	X(h3_id_error, "FB", "C") \
	X(h3_settings_error, "FB", "C") \
	X(h3_missing_settings, "FB", "C") \
	X(h3_request_rejected, "FB", "C") \
	X(h3_request_cancelled, "FB", "C") \
	X(h3_request_incomplete, "FB", "C") \
	X(h3_message_error, "FB", "C") \
	X(h3_connect_error, "FB", "C") \
	X(h3_version_fallback, "FB", "C") \
	X(pack_decompression_failed, "FB", "C") \
	X(qpack_encoder_stream_error, "FB", "C") \
	X(qpack_decoder_stream_error, "FB", "C") \
	X(quic_rxbuf_full, "FB", "C") \
	X(quic_dropped_pkt, "FB", "C") \
	X(quic_dropped_pkt_bufoverrun, "FB", "C") \
	X(quic_dropped_parsing_pkt, "FB", "C") \
	X(quic_socket_full, "FB", "C") \
	X(quic_sendto_err, "FB", "C") \
	X(quic_sendto_err_unknwn, "FB", "C") \
	X(quic_sent_pkt, "FB", "C") \
	X(quic_lost_pkt, "FB", "C") \
	X(quic_too_short_dgram, "FB", "C") \
	X(quic_retry_sent, "FB", "C") \
	X(quic_retry_validated, "FB", "C") \
	X(quic_retry_error, "FB", "C") \
	X(quic_half_open_conn, "FB", "G") \
	X(quic_hdshk_fail, "FB", "C") \
	X(quic_stless_rst_sent, "FB", "C") \
	X(quic_conn_migration_done, "FB", "C") \
	X(quic_transp_err_no_error, "FB", "C") \
	X(quic_transp_err_internal_error, "FB", "C") \
	X(quic_transp_err_connection_refused, "FB", "C") \
	X(quic_transp_err_flow_control_error, "FB", "C") \
	X(quic_transp_err_stream_limit_error, "FB", "C") \
	X(quic_transp_err_stream_state_error, "FB", "C") \
	X(quic_transp_err_final_size_error, "FB", "C") \
	X(quic_transp_err_frame_encoding_error, "FB", "C") \
	X(quic_transp_err_transport_parameter_error, "FB", "C") \
	X(quic_transp_err_connection_id_limit, "FB", "C") \
	X(quic_transp_err_protocol_violation_error, "FB", "C") \
	X(quic_transp_err_invalid_token, "FB", "C") \
	X(quic_transp_err_application_error, "FB", "C") \
	X(quic_transp_err_crypto_buffer_exceeded, "FB", "C") \
	X(quic_transp_err_key_update_error, "FB", "C") \
	X(quic_transp_err_aead_limit_reached, "FB", "C") \
	X(quic_transp_err_no_viable_path, "FB", "C") \
	X(quic_transp_err_crypto_error, "FB", "C") \
	X(quic_transp_err_unknown_error, "FB", "C") \
	X(quic_data_blocked, "FB", "C") \
	X(quic_stream_data_blocked, "FB", "C") \
	X(quic_streams_blocked_bidi, "FB", "C") \
	X(quic_streams_blocked_uni, "FB", "C") \
	X(quic_ncbuf_gap_limit, "FB", "C") \
	X(h2_headers_rcvd, "FB", "C") \
	X(h2_data_rcvd, "FB", "C") \
	X(h2_settings_rcvd, "FB", "C") \
	X(h2_rst_stream_rcvd, "FB", "C") \
	X(h2_goaway_rcvd, "FB", "C") \
	X(h2_detected_conn_protocol_errors, "FB", "C") \
	X(h2_detected_strm_protocol_errors, "FB", "C") \
	X(h2_rst_stream_resp, "FB", "C") \
	X(h2_goaway_resp, "FB", "C") \
	X(h2_open_connections, "FB", "G") \
	X(h2_backend_open_streams, "FB", "G") \
	X(h2_total_connections, "FB", "C") \
	X(h2_backend_total_streams, "FB", "C") \
	X(h1_open_connections, "FB", "G") \
	X(h1_open_streams, "FB", "G") \
	X(h1_total_connections, "FB", "C") \
	X(h1_total_streams, "FB", "C") \
	X(h1_bytes_in, "FB", "C") \
	X(h1_bytes_out, "FB", "C") \
	X(h1_spliced_bytes_in, "FB", "C") \
	X(h1_spliced_bytes_out, "FB", "C")

/* Columns of our own, after those of the reference; not in CSV, which has only the reference's
 * columns. A row has one if what it counts is in use. X(id, name, sides, nature, description)
 */
#define STATS_OWN(X) \
	X(EJECTIONS, "ejections", "S", "C", "Times that outlier-ejection took the server out")

#endif
