/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_fields.h - the fields of `show info`
 *
 * X(name, position, text, tags, type, help). Tags: origin (Product, Config, Key, Status,
 * Metric), nature (Output,
 * Gauge, Limit, Counter, Rate, Max, Duration, Avg), scope (Service, Process). Positions are
 * part of the format.
 */
#ifndef MAIN_INFO_FIELDS_H
#define MAIN_INFO_FIELDS_H

#define INFO_FIELDS(X) \
	X(NAME, 0, "Name", "POS", INFO_STR, \
	  "Product name") \
	X(VERSION, 1, "Version", "POS", INFO_STR, \
	  "Product version") \
	X(RELEASE_DATE, 2, "Release_date", "POS", INFO_STR, \
	  "Date of this version") \
	X(NBTHREAD, 3, "Nbthread", "CGS", INFO_U32, \
	  "Threads in use") \
	X(NBPROC, 4, "Nbproc", "CGS", INFO_U32, \
	  "Worker processes (always 1)") \
	X(PROCESS_NUM, 5, "Process_num", "KGP", INFO_U32, \
	  "Number of this worker (always 1)") \
	X(PID, 6, "Pid", "SGP", INFO_U32, \
	  "Process id of this worker") \
	X(UPTIME, 7, "Uptime", "MDP", INFO_STR, \
	  "Time since the start (days, hours, minutes, seconds)") \
	X(UPTIME_SEC, 8, "Uptime_sec", "MDP", INFO_U32, \
	  "Seconds since the start") \
	X(MEMMAX_MB, 9, "Memmax_MB", "CLP", INFO_U32, \
	  "Limit of memory given by -m, in MB") \
	X(POOLALLOC_MB, 10, "PoolAlloc_MB", "MGP", INFO_U32, \
	  "Memory taken by pools, in MB") \
	X(POOLUSED_MB, 11, "PoolUsed_MB", "MGP", INFO_U32, \
	  "Memory of pools in use, in MB") \
	X(POOLFAILED, 12, "PoolFailed", "MCP", INFO_U32, \
	  "Pool allocations that failed") \
	X(ULIMIT_N, 13, "Ulimit-n", "CLP", INFO_U32, \
	  "Most descriptors of this process") \
	X(MAXSOCK, 14, "Maxsock", "CLP", INFO_U32, \
	  "Most sockets of this process") \
	X(MAXCONN, 15, "Maxconn", "CLP", INFO_U32, \
	  "Most client connections at once") \
	X(HARD_MAXCONN, 16, "Hard_maxconn", "CLP", INFO_U32, \
	  "Highest value that maxconn may be set to") \
	X(CURRCONNS, 17, "CurrConns", "MGP", INFO_U32, \
	  "Client connections now") \
	X(CUMCONNS, 18, "CumConns", "MCP", INFO_U32, \
	  "Client connections since the start") \
	X(CUMREQ, 19, "CumReq", "MCP", INFO_U32, \
	  "Requests since the start") \
	X(MAXSSLCONNS, 20, "MaxSslConns", "MMP", INFO_U32, \
	  "Most TLS connections at once (0: no limit)") \
	X(CURRSSLCONNS, 21, "CurrSslConns", "MGP", INFO_U32, \
	  "TLS connections now") \
	X(CUMSSLCONNS, 22, "CumSslConns", "MCP", INFO_U32, \
	  "TLS connections since the start") \
	X(MAXPIPES, 23, "Maxpipes", "CLP", INFO_U32, \
	  "Most pipes for splicing") \
	X(PIPESUSED, 24, "PipesUsed", "MGP", INFO_U32, \
	  "Pipes in use") \
	X(PIPESFREE, 25, "PipesFree", "MGP", INFO_U32, \
	  "Spare pipes") \
	X(CONNRATE, 26, "ConnRate", "MRP", INFO_U32, \
	  "Client connections over the last second") \
	X(CONNRATELIMIT, 27, "ConnRateLimit", "CLP", INFO_U32, \
	  "Limit of ConnRate (maxconnrate)") \
	X(MAXCONNRATE, 28, "MaxConnRate", "MMP", INFO_U32, \
	  "Highest ConnRate seen") \
	X(SESSRATE, 29, "SessRate", "MRP", INFO_U32, \
	  "Sessions over the last second") \
	X(SESSRATELIMIT, 30, "SessRateLimit", "CLP", INFO_U32, \
	  "Limit of SessRate (maxsessrate)") \
	X(MAXSESSRATE, 31, "MaxSessRate", "MRP", INFO_U32, \
	  "Highest SessRate seen") \
	X(SSLRATE, 32, "SslRate", "MRP", INFO_U32, \
	  "TLS connections over the last second") \
	X(SSLRATELIMIT, 33, "SslRateLimit", "CLP", INFO_U32, \
	  "Limit of SslRate (maxsslrate)") \
	X(MAXSSLRATE, 34, "MaxSslRate", "MMP", INFO_U32, \
	  "Highest SslRate seen") \
	X(SSLFRONTENDKEYRATE, 35, "SslFrontendKeyRate", "MGP", INFO_U32, \
	  "TLS keys made with clients over the last second") \
	X(SSLFRONTENDMAXKEYRATE, 36, "SslFrontendMaxKeyRate", "MMP", INFO_U32, \
	  "Highest SslFrontendKeyRate seen") \
	X(SSLFRONTENDSESSIONREUSE_PCT, 37, "SslFrontendSessionReuse_pct", "MGP", INFO_U32, \
	  "Part of client TLS sessions that were resumed, percent") \
	X(SSLBACKENDKEYRATE, 38, "SslBackendKeyRate", "MRP", INFO_U32, \
	  "TLS keys made with servers over the last second") \
	X(SSLBACKENDMAXKEYRATE, 39, "SslBackendMaxKeyRate", "MMP", INFO_U32, \
	  "Highest SslBackendKeyRate seen") \
	X(SSLCACHELOOKUPS, 40, "SslCacheLookups", "MCP", INFO_U32, \
	  "Look-ups in the cache of TLS sessions") \
	X(SSLCACHEMISSES, 41, "SslCacheMisses", "MCP", INFO_U32, \
	  "Look-ups there that found nothing") \
	X(COMPRESSBPSIN, 42, "CompressBpsIn", "MRP", INFO_U32, \
	  "Bytes given to compression over the last second") \
	X(COMPRESSBPSOUT, 43, "CompressBpsOut", "MRP", INFO_U32, \
	  "Bytes out of compression over the last second") \
	X(COMPRESSBPSRATELIM, 44, "CompressBpsRateLim", "CLP", INFO_U32, \
	  "Limit of CompressBpsOut (maxcomprate)") \
	X(ZLIBMEMUSAGE, 45, "ZlibMemUsage", "MGP", INFO_U64, \
	  "Bytes of memory that compression has taken") \
	X(MAXZLIBMEMUSAGE, 46, "MaxZlibMemUsage", "CLP", INFO_U64, \
	  "Limit of ZlibMemUsage (maxzlibmem), 0: none") \
	X(TASKS, 47, "Tasks", "MGP", INFO_U32, \
	  "Tasks that exist") \
	X(RUN_QUEUE, 48, "Run_queue", "MGP", INFO_U32, \
	  "Tasks waiting to run") \
	X(IDLE_PCT, 49, "Idle_pct", "MaP", INFO_U32, \
	  "Part of the last second spent waiting, this thread, percent") \
	X(NODE, 50, "node", "COS", INFO_STR, \
	  "Name of this node") \
	X(DESCRIPTION, 51, "description", "COS", INFO_STR, \
	  "What this node is for") \
	X(STOPPING, 52, "Stopping", "MGP", INFO_U32, \
	  "1 while stopping") \
	X(JOBS, 53, "Jobs", "MGP", INFO_U32, \
	  "Connections and listening sockets") \
	X(UNSTOPPABLE_JOBS, 54, "Unstoppable Jobs", "MGP", INFO_U32, \
	  "Jobs that a stop does not wait for") \
	X(LISTENERS, 55, "Listeners", "MGP", INFO_U32, \
	  "Listening sockets") \
	X(ACTIVEPEERS, 56, "ActivePeers", "MGP", INFO_U32, \
	  "Peers in use") \
	X(CONNECTEDPEERS, 57, "ConnectedPeers", "MGP", INFO_U32, \
	  "Peers connected") \
	X(DROPPEDLOGS, 58, "DroppedLogs", "MGP", INFO_U32, \
	  "Log lines lost since the start") \
	X(BUSYPOLLING, 59, "BusyPolling", "MGP", INFO_U32, \
	  "1 with busy-polling") \
	X(FAILEDRESOLUTIONS, 60, "FailedResolutions", "MGP", INFO_U32, \
	  "Names that were not resolved since the start") \
	X(TOTALBYTESOUT, 61, "TotalBytesOut", "MGP", INFO_U64, \
	  "Bytes sent since the start, to all sides") \
	X(TOTALSPLICEDBYTESOUT, 62, "TotalSplicedBytesOut", "MGP", INFO_U64, \
	  "Bytes of these that went through a pipe") \
	X(BYTESOUTRATE, 63, "BytesOutRate", "MRP", INFO_U64, \
	  "Bytes sent over the last second") \
	X(DEBUGCOMMANDSISSUED, 64, "DebugCommandsIssued", "MGP", INFO_U32, \
	  "Debug commands run (more than 0 is unsafe)") \
	X(CUMRECVLOGS, 65, "CumRecvLogs", "MCP", INFO_U32, \
	  "Log lines received by log-forward sections") \
	X(BUILD_INFO, 66, "Build info", "POS", INFO_STR, \
	  "Build") \
	X(MEMMAX_BYTES, 67, "Memmax_bytes", "CLP", INFO_U32, \
	  "Limit of memory given by -m, in bytes") \
	X(POOLALLOC_BYTES, 68, "PoolAlloc_bytes", "MGP", INFO_U64, \
	  "Memory taken by pools, in bytes") \
	X(POOLUSED_BYTES, 69, "PoolUsed_bytes", "MGP", INFO_U64, \
	  "Memory of pools in use, in bytes") \
	X(START_TIME_SEC, 70, "Start_time_sec", "MDP", INFO_U32, \
	  "Wall-clock time of the start") \
	X(TAINTED, 71, "Tainted", "SGP", INFO_STR, \
	  "What makes this process differ from a tested one") \
	X(TOTALWARNINGS, 72, "TotalWarnings", "MCP", INFO_U32, \
	  "Warnings given") \
	X(MAXCONNREACHED, 73, "MaxconnReached", "MCP", INFO_U32, \
	  "Times that Maxconn was reached") \
	X(BOOTTIME_MS, 74, "BootTime_ms", "MDP", INFO_U32, \
	  "Time from start to readiness, in ms") \
	X(NICED_TASKS, 75, "Niced_tasks", "MGP", INFO_U32, \
	  "Tasks waiting to run with a nice value") \
	X(CURRSTREAMS, 76, "CurrStreams", "MGP", INFO_U64, \
	  "Streams now") \
	X(CUMSTREAMS, 77, "CumStreams", "MGP", INFO_U64, \
	  "Streams since the start") \
	X(BLOCKEDTRAFFICWARNINGS, 78, "BlockedTrafficWarnings", "MGP", INFO_U32, \
	  "Warnings about a thread that was held too long") \
	X(PATTERNSADDED, 79, "PatternsAdded", "MGP", INFO_U64, \
	  "Patterns read or added since the start") \
	X(PATTERNSFREED, 80, "PatternsFreed", "MGP", INFO_U64, \
	  "Patterns deleted since the start") \
	X(NBTHREADGROUPS, 81, "NbThreadGroups", "CGS", INFO_U32, \
	  "Groups of threads")

#endif
