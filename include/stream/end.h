/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* end.h - why a stream ended: the one table of all reasons
 *
 * Purpose: each place that ends a stream names a row of STREAM_ENDS. The row gives the letters of
 *          the log (manual 8.5), the status of the response and a sentence for people. Traces,
 *          `show sess all`, the fetches stream_end and stream_end_text, the log variable %endreason
 *          and the manual show the row.
 * Owns   : nothing; the table is constant.
 * Threads: any.
 * Errors : none.
 */
#ifndef STREAM_END_H
#define STREAM_END_H

#include <stdint.h>

/* X(name, character of the log, "meaning"): what ended the stream. Manual 8.5, first character. */
#define STREAM_CAUSES(X) \
	X(NONE, '-', "normal end") \
	X(CLIENT_ABORT, 'C', "the client broke off") \
	X(SERVER_ABORT, 'S', "the server broke off or refused") \
	X(PROXY, 'P', "this proxy ended it: rule, limit or protocol error") \
	X(LOCAL, 'L', "answered locally, no error") \
	X(RESOURCE, 'R', "a resource of the proxy was exhausted") \
	X(INTERNAL, 'I', "internal error") \
	X(DOWN, 'D', "the server went down") \
	X(UP, 'U', "a preferred server came up") \
	X(KILLED, 'K', "killed by an administrator") \
	X(CLIENT_TIMEOUT, 'c', "the client was too slow") \
	X(SERVER_TIMEOUT, 's', "the server was too slow")

enum stream_cause {
#define X(name, c, text) CAUSE_##name,
	STREAM_CAUSES(X)
#undef X
	CAUSE_COUNT
};

/* X(name, cause, phase, status, retried, "sentence")
 *   phase    second character of the log; 0: that of the stage in which the stream was
 *   status   of the answer to an HTTP request; 0: none, or another place chooses it
 *   retried  the event of `retry-on` for which another try may come first; "": none
 */
#define STREAM_ENDS(X) \
	X(NONE, NONE, 0, 0, "", "nothing broke the stream off") \
	/* before a stream */ \
	X(HEAD_BAD, PROXY, 'R', 400, "", "the head of the request breaks the protocol") \
	X(HEAD_TOO_LARGE, PROXY, 'R', 400, "", \
	  "the head of the request is larger than a buffer") \
	X(HEAD_CUT, CLIENT_ABORT, 'R', 400, "", \
	  "the client closed before the head of its request was complete") \
	X(HEAD_ERROR, CLIENT_ABORT, 'R', 400, "", \
	  "the client's connection failed before the head was complete") \
	X(HEAD_TIMEOUT, CLIENT_TIMEOUT, 'R', 408, "", \
	  "the head of the request was not complete in time") \
	X(NOT_HTTP, PROXY, 'R', 0, "", \
	  "a TCP connection that was to become HTTP sent something else") \
	X(PROXY_HEADER, PROXY, 'R', 0, "", \
	  "the header of the PROXY protocol is missing or wrong") \
	/* request */ \
	X(REQUEST_CUT, CLIENT_ABORT, 'R', 400, "", \
	  "the client closed when its request had just begun") \
	X(REQUEST_NO_MEMORY, RESOURCE, 'R', 500, "", "no memory to receive the request") \
	X(REQUEST_BAD, PROXY, 'R', 400, "", \
	  "what came behind the head of the request breaks the protocol") \
	X(UPGRADE_CLIENT_LEFT, CLIENT_ABORT, 0, 0, "", \
	  "the client left before its TCP connection became HTTP") \
	X(UPGRADE_NO_MEMORY, RESOURCE, 0, 0, "", "no memory to turn a TCP connection into HTTP") \
	X(CONTENT_CLIENT_LEFT, CLIENT_ABORT, 'R', 400, "", \
	  "the client left while rules inspected what it sent") \
	X(BODY_BAD, PROXY, 0, 400, "", \
	  "the body of the request, waited for, breaks the protocol") \
	X(BODY_TIMEOUT, CLIENT_TIMEOUT, 0, 408, "", \
	  "the body that option http-buffer-request waits for was late") \
	X(FIELD_NAME_REFUSED, PROXY, 0, 403, "", \
	  "option http-restrict-req-hdr-names refuses a field's name") \
	X(NO_BACKEND, SERVER_ABORT, 'C', 503, "", "no rule and no default names a backend") \
	X(TCP_BACKEND, INTERNAL, 'R', 500, "", "an HTTP request was switched to a TCP backend") \
	X(PREPARE_NO_MEMORY, RESOURCE, 0, 500, "", \
	  "no memory for the fields that are added to the request") \
	/* rules */ \
	X(RULE_DENY, PROXY, 0, 0, "", "a rule denied the request") \
	X(RULE_TARPIT, PROXY, 'T', 0, "", "a rule held the request, then denied it") \
	X(RULE_REJECT, PROXY, 0, 0, "", "a rule rejected the client's connection") \
	X(RULE_CLOSE, PROXY, 0, 0, "", "a rule closed the client's connection") \
	X(RULE_ANSWER, LOCAL, 0, 0, "", \
	  "a rule answered the request: return, redirect or authentication") \
	X(RULE_BAD_REQUEST, PROXY, 0, 400, "", \
	  "a rule found that the request breaks the protocol") \
	X(RULE_TIMEOUT, CLIENT_TIMEOUT, 0, 408, "", "the body that a rule waits for was late") \
	X(RULE_CLIENT_LEFT, CLIENT_ABORT, 'R', 400, "", "the client left while a rule waited") \
	X(RULE_REWRITE, PROXY, 0, 500, "", \
	  "a rule could not change the message as it is to, with strict-mode on") \
	X(RULE_ERROR, INTERNAL, 0, 500, "", "a rule of the request failed") \
	X(SERVICE, LOCAL, 0, 0, "", "a service of this proxy answered") \
	X(SERVICE_FAILED, PROXY, 0, 0, "", "a service of this proxy broke its answer off") \
	X(STATS_REFUSED, PROXY, 0, 0, "", "the statistics page refuses the request") \
	X(MONITOR, LOCAL, 0, 0, "", "monitor-uri was answered") \
	X(FILTER_CLIENT_LEFT, CLIENT_ABORT, 0, 400, "", "the client left while a filter waited") \
	X(FILTER_ANSWER, LOCAL, 0, 0, "", "a filter answered the request") \
	X(FILTER_REQUEST, PROXY, 0, 400, "", "a filter does not let the request go on") \
	X(FILTER_RESPONSE, PROXY, 0, 0, "", "a filter does not let the answer go on") \
	X(FILTER_NO_MEMORY, RESOURCE, 0, 500, "", "no memory for the filters of the stream") \
	/* queue and connection */ \
	X(ASSIGN_CLIENT_LEFT, CLIENT_ABORT, 'R', 400, "", \
	  "the client left before a server was chosen") \
	X(NO_SERVER, SERVER_ABORT, 'C', 503, "", "no server of the backend is usable") \
	X(QUEUE_NO_MEMORY, RESOURCE, 'Q', 503, "", "no memory to wait in a queue") \
	X(QUEUE_FULL, SERVER_ABORT, 'Q', 503, "", "the queue is full") \
	X(QUEUE_TIMEOUT, SERVER_TIMEOUT, 0, 503, "", "no slot of a server came free in time") \
	X(QUEUE_CLIENT_LEFT, CLIENT_ABORT, 0, 0, "", \
	  "the client left while it waited in a queue") \
	X(SERVER_REDIRECT, LOCAL, 0, 0, "", "the client was redirected to the server (redir)") \
	X(SERVER_REDIRECT_NO_MEMORY, RESOURCE, 0, 500, "", \
	  "no memory to redirect the client to the server") \
	X(CONNECT_NO_RESOURCE, RESOURCE, 0, 503, "", \
	  "no socket, port or memory for a connection to the server") \
	X(CONNECT_FAILED, SERVER_ABORT, 'C', 503, "conn-failure", \
	  "the server refused the connection or its handshake failed") \
	X(CONNECT_TIMEOUT, SERVER_TIMEOUT, 'C', 503, "conn-failure", \
	  "the connection to the server was not ready in time") \
	X(CONNECT_CLIENT_LEFT, CLIENT_ABORT, 0, 0, "", \
	  "the client left while the server was connected to") \
	X(RETRY_CLIENT_LEFT, CLIENT_ABORT, 'C', 0, "", \
	  "the client left in the pause before another try") \
	/* answer */ \
	X(INTERIM_FLOOD, PROXY, 0, 502, "", "the server sent too many interim answers") \
	X(EARLY_REFUSED, SERVER_ABORT, 0, 425, "0rtt-rejected", "the server refused early data") \
	X(REQUEST_UNSPEAKABLE, INTERNAL, 0, 500, "", \
	  "the request cannot be said in the protocol of the server") \
	X(RESPONSE_BAD, PROXY, 0, 502, "junk-response", \
	  "the answer breaks the protocol in its head, or in what came with it") \
	X(RESPONSE_CUT, SERVER_ABORT, 0, 502, "empty-response", \
	  "the server closed before the head of its answer was complete") \
	X(RESPONSE_TIMEOUT, SERVER_TIMEOUT, 0, 504, "response-timeout", \
	  "the head of the answer did not come in time") \
	X(UPLOAD_TIMEOUT, CLIENT_TIMEOUT, 0, 400, "", \
	  "the body of the request stalled before the answer") \
	X(UPLOAD_BAD, PROXY, 0, 400, "", \
	  "the body of the request broke the protocol before the answer") \
	X(CLIENT_GONE, CLIENT_ABORT, 'D', 400, "", \
	  "the client's connection failed before the answer") \
	X(CLIENT_LEFT, CLIENT_ABORT, 0, 400, "", "the client closed before the answer") \
	X(TUNNEL_TOO_EARLY, PROXY, 0, 502, "", \
	  "the server opened a tunnel before the request was complete") \
	X(TUNNEL_UNASKED, PROXY, 0, 502, "", \
	  "the server's answer would be taken for a tunnel that it did not open") \
	X(TCP_RESPONSE_DENY, PROXY, 0, 0, "", "a tcp-response rule rejected the answer") \
	X(TCP_RESPONSE_CUT, SERVER_ABORT, 'H', 502, "", \
	  "a tcp-response rule closed the server's connection") \
	X(TCP_RESPONSE_CLOSE, PROXY, 0, 0, "", "a tcp-response rule closed both connections") \
	X(TCP_RESPONSE_ERROR, INTERNAL, 0, 500, "", "a tcp-response rule failed") \
	X(RULES_CLIENT_GONE, CLIENT_ABORT, 0, 0, "", \
	  "the client's connection failed while a rule of the answer waited") \
	X(RESPONSE_DENY, PROXY, 0, 0, "", "a rule denied the answer") \
	X(RESPONSE_CLOSE, PROXY, 0, 0, "", \
	  "a rule of the answer closed the client's connection") \
	X(RESPONSE_ANSWER, LOCAL, 0, 0, "", "a rule replaced the answer") \
	X(RESPONSE_RULE_TIMEOUT, SERVER_TIMEOUT, 0, 504, "", \
	  "the body of the answer that a rule waits for was late") \
	X(RESPONSE_RULE_ERROR, INTERNAL, 0, 500, "", "a rule of the answer failed") \
	X(RESPONSE_COOKIE, PROXY, 0, 502, "", \
	  "option checkcache refuses a cookie in a cacheable answer") \
	/* data */ \
	X(DATA_CLIENT_GONE, CLIENT_ABORT, 0, 0, "", \
	  "the client's connection failed while data were exchanged") \
	X(DATA_BAD, PROXY, 0, 400, "", "the client's data broke the protocol") \
	X(DATA_CUT, CLIENT_ABORT, 0, 400, "", "the client broke off within its data") \
	X(DATA_TIMEOUT, CLIENT_TIMEOUT, 0, 0, "", "the client neither sent nor read in time") \
	X(LAST_DATA_TIMEOUT, CLIENT_TIMEOUT, 'L', 0, "", \
	  "the client did not read the end of the answer in time") \
	X(RESPONSE_DATA_BAD, PROXY, 0, 0, "", "the server's data broke the protocol") \
	X(RESPONSE_DATA_CUT, SERVER_ABORT, 0, 0, "", "the server broke off within its data") \
	X(RESPONSE_DATA_TIMEOUT, SERVER_TIMEOUT, 0, 0, "", \
	  "the server neither sent nor read in time") \
	/* from outside */ \
	X(KILLED, KILLED, 'C', 0, "", "an administrator ended the stream") \
	X(SERVER_DOWN, DOWN, 'C', 0, "", \
	  "the server went down (on-marked-down shutdown-sessions)") \
	X(SERVER_UP, UP, 'C', 0, "", \
	  "a preferred server came up (on-marked-up shutdown-backup-sessions)")

enum stream_end {
#define X(name, cause, phase, status, retried, text) END_##name,
	STREAM_ENDS(X)
#undef X
	END_COUNT
};

struct stream_end_row {
	const char *name;    /* "QUEUE_FULL" */
	const char *text;    /* "the queue is full" */
	const char *retried; /* "conn-failure", or "" */
	uint8_t cause;       /* enum stream_cause */
	char phase;          /* 0: that of the stage */
	uint16_t status;     /* 0: none */
};

/* In the order of enum stream_end. */
extern const struct stream_end_row stream_ends[END_COUNT];

#endif
