/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prometheus_metrics.h - the exported metrics: names and types are those of the reference
 *
 * METRICS: X(column of `show stat`, name after haproxy_<scope>_, scopes where it is a counter,
 * scopes where it is a gauge, form, only for HTTP proxies).
 * Scopes: F frontend, L listener, B backend,
 * S server. PROCESS_METRICS: X(field of `show info`, name after haproxy_process_, type, form).
 */
#ifndef EXT_PROMETHEUS_METRICS_H
#define EXT_PROMETHEUS_METRICS_H

#define METRICS(X) \
	X(QCUR, "current_queue", "", "BS", NUMBER, 0) \
	X(QMAX, "max_queue", "", "BS", NUMBER, 0) \
	X(SCUR, "current_sessions", "", "FLBS", NUMBER, 0) \
	X(SMAX, "max_sessions", "", "FLBS", NUMBER, 0) \
	X(SLIM, "limit_sessions", "", "FLBS", NUMBER, 0) \
	X(STOT, "sessions_total", "FLBS", "", NUMBER, 0) \
	X(BIN, "bytes_in_total", "FLBS", "", NUMBER, 0) \
	X(BOUT, "bytes_out_total", "FLBS", "", NUMBER, 0) \
	X(REQBIN, "req_bytes_in_total", "FLBS", "", NUMBER, 0) \
	X(REQBOUT, "req_bytes_out_total", "FLBS", "", NUMBER, 0) \
	X(RESBIN, "res_bytes_in_total", "FLBS", "", NUMBER, 0) \
	X(RESBOUT, "res_bytes_out_total", "FLBS", "", NUMBER, 0) \
	X(PRIV_IDLE_CUR, "private_idle_connections_current", "", "S", NUMBER, 0) \
	X(DREQ, "requests_denied_total", "FLB", "", NUMBER, 0) \
	X(DRESP, "responses_denied_total", "FLBS", "", NUMBER, 0) \
	X(EREQ, "request_errors_total", "FL", "", NUMBER, 0) \
	X(ECON, "connection_errors_total", "BS", "", NUMBER, 0) \
	X(ERESP, "response_errors_total", "BS", "", NUMBER, 0) \
	X(WRETR, "retry_warnings_total", "BS", "", NUMBER, 0) \
	X(WREDIS, "redispatch_warnings_total", "BS", "", NUMBER, 0) \
	X(STATUS, "status", "", "FLBS", STATUS, 0) \
	X(WEIGHT, "weight", "", "BS", NUMBER, 0) \
	X(ACT, "active", "", "S", NUMBER, 0) \
	X(BCK, "backup", "", "S", NUMBER, 0) \
	X(ACT, "active_servers", "", "B", NUMBER, 0) \
	X(BCK, "backup_servers", "", "B", NUMBER, 0) \
	X(CHKFAIL, "check_failures_total", "", "S", NUMBER, 0) \
	X(CHKDOWN, "check_up_down_total", "B", "S", NUMBER, 0) \
	X(LASTCHG, "check_last_change_seconds", "", "BS", NUMBER, 0) \
	X(DOWNTIME, "downtime_seconds_total", "B", "S", NUMBER, 0) \
	X(QLIMIT, "queue_limit", "", "S", NUMBER, 0) \
	X(THROTTLE, "current_throttle", "", "S", NUMBER, 0) \
	X(LBTOT, "loadbalanced_total", "BS", "", NUMBER, 0) \
	X(RATE, "current_session_rate", "", "FBS", NUMBER, 0) \
	X(RATE_LIM, "limit_session_rate", "", "F", NUMBER, 0) \
	X(RATE_MAX, "max_session_rate", "", "FBS", NUMBER, 0) \
	X(CHECK_STATUS, "check_status", "", "S", CHECK, 0) \
	X(CHECK_CODE, "check_code", "", "S", NUMBER, 0) \
	X(CHECK_DURATION, "check_duration_seconds", "", "S", SECONDS, 0) \
	X(HRSP_1XX, "http_responses_total", "FBS", "", CODES, 1) \
	X(REQ_RATE_MAX, "http_requests_rate_max", "", "F", NUMBER, 1) \
	X(REQ_TOT, "http_requests_total", "FBS", "", NUMBER, 1) \
	X(CLI_ABRT, "client_aborts_total", "BS", "", NUMBER, 0) \
	X(SRV_ABRT, "server_aborts_total", "BS", "", NUMBER, 0) \
	X(COMP_IN, "http_comp_bytes_in_total", "FB", "", NUMBER, 1) \
	X(COMP_OUT, "http_comp_bytes_out_total", "FB", "", NUMBER, 1) \
	X(COMP_BYP, "http_comp_bytes_bypassed_total", "FB", "", NUMBER, 1) \
	X(COMP_RSP, "http_comp_responses_total", "FB", "", NUMBER, 1) \
	X(LASTSESS, "last_session_seconds", "", "BS", NUMBER, 0) \
	X(QTIME, "queue_time_average_seconds", "", "BS", SECONDS, 0) \
	X(CTIME, "connect_time_average_seconds", "", "BS", SECONDS, 0) \
	X(RTIME, "response_time_average_seconds", "", "BS", SECONDS, 0) \
	X(TTIME, "total_time_average_seconds", "", "BS", SECONDS, 0) \
	X(CONN_RATE_MAX, "connections_rate_max", "", "F", NUMBER, 0) \
	X(CONN_TOT, "connections_total", "FL", "", NUMBER, 0) \
	X(INTERCEPTED, "intercepted_requests_total", "F", "", NUMBER, 1) \
	X(DCON, "denied_connections_total", "FL", "", NUMBER, 0) \
	X(DSES, "denied_sessions_total", "FL", "", NUMBER, 0) \
	X(WREW, "failed_header_rewriting_total", "FLBS", "", NUMBER, 0) \
	X(CONNECT, "connection_attempts_total", "BS", "", NUMBER, 0) \
	X(REUSE, "connection_reuses_total", "BS", "", NUMBER, 0) \
	X(CACHE_LOOKUPS, "http_cache_lookups_total", "FB", "", NUMBER, 1) \
	X(CACHE_HITS, "http_cache_hits_total", "FB", "", NUMBER, 1) \
	X(SRV_ICUR, "idle_connections_current", "", "S", NUMBER, 0) \
	X(SRC_ILIM, "idle_connections_limit", "", "S", NUMBER, 0) \
	X(QTIME_MAX, "max_queue_time_seconds", "", "BS", SECONDS, 0) \
	X(CTIME_MAX, "max_connect_time_seconds", "", "BS", SECONDS, 0) \
	X(RTIME_MAX, "max_response_time_seconds", "", "BS", SECONDS, 0) \
	X(TTIME_MAX, "max_total_time_seconds", "", "BS", SECONDS, 0) \
	X(EINT, "internal_errors_total", "FLBS", "", NUMBER, 0) \
	X(IDLE_CONN_CUR, "unsafe_idle_connections_current", "", "S", NUMBER, 0) \
	X(SAFE_CONN_CUR, "safe_idle_connections_current", "", "S", NUMBER, 0) \
	X(USED_CONN_CUR, "used_connections_current", "", "S", NUMBER, 0) \
	X(NEED_CONN_EST, "need_connections_current", "", "S", NUMBER, 0) \
	X(UWEIGHT, "uweight", "", "BS", NUMBER, 0) \
	X(AGG_SERVER_STATUS, "agg_server_status", "", "B", SERVERS, 0) \
	X(AGG_SERVER_CHECK_STATUS, "agg_server_check_status", "", "B", SERVERS, 0) \
	X(AGG_CHECK_STATUS, "agg_check_status", "", "B", CHECKS, 0)

#define PROCESS_METRICS(X) \
	X("Nbthread", "nbthread", GAUGE, NUMBER) \
	X("Nbproc", "nbproc", GAUGE, NUMBER) \
	X("Process_num", "relative_process_id", GAUGE, NUMBER) \
	X("Uptime_sec", "uptime_seconds", GAUGE, NUMBER) \
	X("PoolFailed", "pool_failures_total", COUNTER, NUMBER) \
	X("Ulimit-n", "max_fds", GAUGE, NUMBER) \
	X("Maxsock", "max_sockets", GAUGE, NUMBER) \
	X("Maxconn", "max_connections", GAUGE, NUMBER) \
	X("Hard_maxconn", "hard_max_connections", GAUGE, NUMBER) \
	X("CurrConns", "current_connections", GAUGE, NUMBER) \
	X("CumConns", "connections_total", COUNTER, NUMBER) \
	X("CumReq", "requests_total", COUNTER, NUMBER) \
	X("MaxSslConns", "max_ssl_connections", GAUGE, NUMBER) \
	X("CurrSslConns", "current_ssl_connections", GAUGE, NUMBER) \
	X("CumSslConns", "ssl_connections_total", COUNTER, NUMBER) \
	X("Maxpipes", "max_pipes", GAUGE, NUMBER) \
	X("PipesUsed", "pipes_used_total", COUNTER, NUMBER) \
	X("PipesFree", "pipes_free_total", COUNTER, NUMBER) \
	X("ConnRate", "current_connection_rate", GAUGE, NUMBER) \
	X("ConnRateLimit", "limit_connection_rate", GAUGE, NUMBER) \
	X("MaxConnRate", "max_connection_rate", GAUGE, NUMBER) \
	X("SessRate", "current_session_rate", GAUGE, NUMBER) \
	X("SessRateLimit", "limit_session_rate", GAUGE, NUMBER) \
	X("MaxSessRate", "max_session_rate", GAUGE, NUMBER) \
	X("SslRate", "current_ssl_rate", GAUGE, NUMBER) \
	X("SslRateLimit", "limit_ssl_rate", GAUGE, NUMBER) \
	X("MaxSslRate", "max_ssl_rate", GAUGE, NUMBER) \
	X("SslFrontendKeyRate", "current_frontend_ssl_key_rate", GAUGE, NUMBER) \
	X("SslFrontendMaxKeyRate", "max_frontend_ssl_key_rate", GAUGE, NUMBER) \
	X("SslFrontendSessionReuse_pct", "frontend_ssl_reuse", GAUGE, NUMBER) \
	X("SslBackendKeyRate", "current_backend_ssl_key_rate", GAUGE, NUMBER) \
	X("SslBackendMaxKeyRate", "max_backend_ssl_key_rate", GAUGE, NUMBER) \
	X("SslCacheLookups", "ssl_cache_lookups_total", COUNTER, NUMBER) \
	X("SslCacheMisses", "ssl_cache_misses_total", COUNTER, NUMBER) \
	X("CompressBpsIn", "http_comp_bytes_in_total", COUNTER, NUMBER) \
	X("CompressBpsOut", "http_comp_bytes_out_total", COUNTER, NUMBER) \
	X("CompressBpsRateLim", "limit_http_comp", GAUGE, NUMBER) \
	X("ZlibMemUsage", "current_zlib_memory", GAUGE, NUMBER) \
	X("MaxZlibMemUsage", "max_zlib_memory", GAUGE, NUMBER) \
	X("Tasks", "current_tasks", GAUGE, NUMBER) \
	X("Run_queue", "current_run_queue", GAUGE, NUMBER) \
	X("Idle_pct", "idle_time_percent", GAUGE, NUMBER) \
	X("node", "node", GAUGE, TEXT) \
	X("Stopping", "stopping", GAUGE, NUMBER) \
	X("Jobs", "jobs", GAUGE, NUMBER) \
	X("Unstoppable Jobs", "unstoppable_jobs", GAUGE, NUMBER) \
	X("Listeners", "listeners", GAUGE, NUMBER) \
	X("ActivePeers", "active_peers", GAUGE, NUMBER) \
	X("ConnectedPeers", "connected_peers", GAUGE, NUMBER) \
	X("DroppedLogs", "dropped_logs_total", COUNTER, NUMBER) \
	X("BusyPolling", "busy_polling_enabled", GAUGE, NUMBER) \
	X("FailedResolutions", "failed_resolutions", COUNTER, NUMBER) \
	X("TotalBytesOut", "bytes_out_total", COUNTER, NUMBER) \
	X("TotalSplicedBytesOut", "spliced_bytes_out_total", COUNTER, NUMBER) \
	X("BytesOutRate", "bytes_out_rate", GAUGE, NUMBER) \
	X("CumRecvLogs", "recv_logs_total", COUNTER, NUMBER) \
	X("Build info", "build_info", GAUGE, TEXT) \
	X("Memmax_bytes", "max_memory_bytes", GAUGE, NUMBER) \
	X("PoolAlloc_bytes", "pool_allocated_bytes", GAUGE, NUMBER) \
	X("PoolUsed_bytes", "pool_used_bytes", GAUGE, NUMBER) \
	X("Start_time_sec", "start_time_seconds", GAUGE, NUMBER) \
	X("TotalWarnings", "total_warnings", COUNTER, NUMBER) \
	X("PatternsAdded", "patterns_added_total", GAUGE, NUMBER) \
	X("PatternsFreed", "patterns_freed_total", GAUGE, NUMBER) \
	X("NbThreadGroups", "nb_thread_groups", GAUGE, NUMBER)

#endif
