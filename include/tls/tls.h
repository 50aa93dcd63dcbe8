/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tls.h - TLS connections: certificates, handshakes, records
 *
 * Purpose: a transport (net/conn.h) that encrypts, for clients and for servers, and the settings
 *          that it needs. The settings of a bind or server line lie in its slots; higher floors
 *          pass these slots and never look inside.
 * Owns   : the TLS state of a connection, freed with it. Certificates belong to the generation that
 *          read them; each distinct file is read once. A certificate that is replaced at run time
 *          lives until the last connection that started with it is closed.
 * Threads: a connection belongs to its thread. Settings are immutable after the check phase, except
 *          certificates, which commands replace as a whole from any thread: connections that begin
 *          afterwards use the new ones.
 * Idle   : a connection with no bytes in transit holds no buffer.
 * Errors : enum io; tls_failure() tells why a handshake failed.
 * Manual : configuration 3.1 (ssl-*, tune.ssl.*), 3.11, 5.1, 5.2, 7.3.4; management 9.3 (ssl).
 *
 *      socket <-> thread's OpenSSL BIO <-> SSL <-> conn_recv(), conn_send()
 *
 * Several records are read by one system call, straight into OpenSSL's buffer, and everything
 * written within one call is sent by one system call.
 *
 * Without OpenSSL (tls_none.c) nothing can be configured, and no function except the *_is_on() ones
 * is ever called.
 */
#ifndef TLS_TLS_H
#define TLS_TLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/list.h"
#include "base/slice.h"
#include "base/slot.h"

struct addr;
struct config;
struct conn;
struct dial_want;
struct diag_list;
struct expr;
struct expr_ctx;
struct strbuf;

/* The line that has the settings, for messages and defaults; all borrowed. */
struct tls_place {
	const char *proxy;   /* name of the proxy */
	const char *name;    /* addresses of a bind line as configured, name of a server */
	const char *file;
	int line;
	struct slice alpn;   /* default of `alpn` for a bind line, in wire format */
};

/* --- clients ---------------------------------------------------------------------------------- */

/* Does this bind line have `ssl`? <bind>: its slots. */
bool tls_bind_is_on(const struct slot_area *bind);
/* Call after a bind line was read: the defaults set in `global` up to here apply to it. */
void tls_bind_line(struct config *cfg, struct slot_area *bind);
/* Check phase: prepares what handshakes need. False: reported to <diags>. */
bool tls_bind_check(struct config *cfg, struct slot_area *bind, const struct tls_place *where,
		    struct diag_list *diags);
/* Returns for how many ms clients of TLS lines must stay in the kernel's queue, because maxsslconn
 * or maxsslrate is reached; 0: they may be accepted.
 */
unsigned tls_accept_wait_ms(void);
/* Changes maxsslrate at run time; 0: none. Any thread. */
void tls_set_rate_limit(int64_t per_second);
/* Does the generation use crt-watch? */
bool tls_watch_is_wanted(const struct config *cfg);

/* Makes TLS the transport of a connection that was just accepted, and sets CONN_HANDSHAKE: events
 * continue the handshake before the layer above sees the connection. False: out of memory, or
 * maxsslconn would be exceeded.
 */
bool tls_accept(struct conn *c, struct slot_area *bind);
/* Call after tls_accept(): a client that has closed its side gets no response if the costly part of
 * its handshake comes next (`option abortonclose`, configuration 4.2).
 */
void tls_abort_on_close(struct conn *c);
/* Continues the handshake immediately, as an event would. True: it is over, successfully or not. */
bool tls_handshake_step(struct conn *c);

/* Does early data of a client still wait for the handshake? With `allow-0rtt` a client's first
 * bytes may come before the handshake is over (RFC 8446 2.3): the layer above gets them
 * immediately, and its output is sent immediately. An attacker may have recorded and replayed them,
 * so whatever must not be done twice must wait (RFC 8470). Early data is accepted once per session:
 * the first client that uses such a session removes it from the cache.
 */
bool tls_is_early(const struct conn *c);
struct task;
struct tls_waiter {
	struct list link;
	struct task *task;   /* woken with TASK_WOKEN_RES */
};
/* Wakes <w>, whose link is initialised, when the handshake of <c>, tls_is_early(), is over or has
 * failed. The caller must cancel it before it frees it.
 */
void tls_wait_handshake(struct conn *c, struct tls_waiter *w);
static inline void tls_waiter_cancel(struct tls_waiter *w)
{
	if (list_is_linked(&w->link))
		list_remove(&w->link);
}

/* --- QUIC ------------------------------------------------------------------------------------- */

struct quic_tls_ops;
struct quic_tls_user;

/* Marks the line as QUIC: `ssl` is on. Before tls_bind_check(). */
void tls_bind_want_quic(struct slot_area *bind);
/* Does this library support QUIC natively? Otherwise `limited-quic` is needed. */
bool tls_quic_is_native(void);
struct tls_quic_start {
	const struct quic_tls_user *user;
	void *owner;                 /* for its callbacks */
};
/* Makes TLS the transport of a QUIC connection (net/quic_tls.h): questions about the connection are
 * answered as for any other, but no bytes pass through it. False: as tls_accept().
 */
bool tls_quic_accept(struct conn *c, struct slot_area *bind, const struct tls_quic_start *how);
/* As tls_quic_accept(), for a QUIC connection to a server, with the settings of tls_dial(); sets
 * CONN_HANDSHAKE, which the caller must clear. Offers no early data.
 */
bool tls_quic_dial(struct conn *c, struct dial_want *w, const struct tls_quic_start *how);
extern const struct quic_tls_ops tls_quic_ops;
/* Marks the server as QUIC: `ssl` is on, and the default of `alpn` is <alpn>, in wire format,
 * constant. After its line was read, before tls_server_check(). False: out of memory.
 */
bool tls_server_want_quic(struct slot_area *server, struct slice alpn);

/* --- servers ---------------------------------------------------------------------------------- */

/* Makes servers' certificates be verified only if a line asks for it, as after "ssl-server-verify
 * none" (option -dV). Before <cfg> is read.
 */
void tls_servers_trust_all(struct config *cfg);

/* Do new connections to this server use TLS now? <server>: its slots. For an existing connection
 * see tls_is_on(): a command may change this at any moment.
 */
bool tls_server_is_on(const struct slot_area *server);
/* Does its line have `ssl`, which decides for checks? */
bool tls_server_is_given(const struct slot_area *server);
/* Can tls_server_switch() switch it on: does its line, or default-server, have `ssl`? */
bool tls_server_may_switch(const struct slot_area *server);
/* Implements `set server ssl`: new connections use TLS or not, and idle ones of the other kind are
 * not reused. False: its line has no `ssl`.
 */
bool tls_server_switch(struct slot_area *server, bool on);
/* Makes checks of this server use TLS, whether it has `ssl` or not. Before tls_server_check().
 * False: out of memory.
 */
bool tls_server_want(struct slot_area *server);
/* Call after a server's line was read, see tls_bind_line(). */
void tls_server_line(struct config *cfg, struct slot_area *server);
/* Check phase, see tls_bind_check(). Later, for a server that is added at run time, no file is
 * read: the files on its line must be known. Then the server must not be freed before <cfg>.
 */
bool tls_server_check(struct config *cfg, struct slot_area *server, const struct tls_place *where,
		      struct diag_list *diags);
/* Releases a server that was deleted at run time and has no connections: nothing that its line
 * names counts as used any more. Harmless without TLS.
 */
void tls_server_leave(struct slot_area *server);
/* Does it offer protocols by ALPN? Does it offer <name> ("h2")? */
bool tls_server_has_alpn(const struct slot_area *server);
bool tls_server_offers(const struct slot_area *server, struct slice name);
/* Returns the expression of `sni`. NULL: none; then *is_auto tells whether the host of a request is
 * used instead.
 */
const struct expr *tls_server_sni(const struct slot_area *server, bool *is_auto);
/* Makes TLS the transport of a connection that is being established, and sets CONN_HANDSHAKE: the
 * <secure> of a dialler (net/dial.h). w->tls: the server's slots. w->sni: the name to send, or
 * slice_none(). w->alpn: a list in wire format that replaces the line's (empty: none), or
 * slice_none(). False: out of memory.
 *
 * With DIAL_MAY_BE_EARLY it may accept bytes before the handshake and send them as early data (RFC
 * 8446 2.3), if there is `allow-0rtt`, the line's ALPN is used, and there is a session whose server
 * allows it; it then sets DIAL_IS_EARLY. An attacker who records these bytes can replay them, so it
 * must be safe to process them twice. tls_is_early() and conn_alpn() refer to it until the
 * handshake is over.
 */
bool tls_dial(struct conn *c, struct dial_want *w);
/* Did the server reject all early data? The connection is lost then. */
bool tls_early_is_refused(const struct conn *c);
/* Moves <c> to the server of another generation. False: that server is not reached in the same way
 * (TLS or not, settings, certificate, authorities, revocation lists): <c> must be closed.
 */
bool tls_follow(struct conn *c, struct slot_area *server);
/* Returns a number that identifies everything connections to the server are made with: settings,
 * our certificate, authorities, revocation lists. Commands and reloads that change any of these
 * change the number; connections with an old number must not get further requests. 0: no TLS. Any
 * thread.
 */
uint64_t tls_server_identity(const struct slot_area *server);
/* Does <c> have the current number of its server? True without TLS, and for connections of clients.
 */
bool tls_is_current(const struct conn *c);
/* Installs a function of the floor above that closes idle connections to a server whose identity
 * has changed; set once. Called by commands, on any thread; must not block.
 */
typedef void tls_renewed_fn(struct slot_area *server);
void tls_set_renewed(tls_renewed_fn *fn);

/* --- both ------------------------------------------------------------------------------------- */

/* Does the connection use TLS? */
bool tls_is_on(const struct conn *c);
/* Return "TLSv1.3", "ECDHE-RSA-AES256-GCM-SHA384"; static. NULL: no TLS. */
const char *tls_version_name(const struct conn *c);
const char *tls_cipher_name(const struct conn *c);
/* Was the session resumed, not newly negotiated? */
bool tls_is_resumed(const struct conn *c);
/* Was an OCSP response sent with our certificate? */
bool tls_is_stapled(const struct conn *c);
/* Did the client present a certificate on this connection or session? */
bool tls_has_peer_cert(const struct conn *c);
/* Returns the result of its verification, an X509_V_ code; 0: valid. */
int tls_verify_result(const struct conn *c);
/* Return texts for the PROXY protocol from the client's certificate, as slices of <room> with
 * <size> bytes; slice_none(): none. The signature and key algorithms are those of our own
 * certificate.
 */
struct slice tls_peer_cn(const struct conn *c, char *room, size_t size);
struct slice tls_peer_key_algorithm(const struct conn *c, char *room, size_t size);
struct slice tls_peer_signature(const struct conn *c, char *room, size_t size);
/* Returns the name that the client asked for by SNI; empty: none. */
struct slice tls_sni(const struct conn *c);

/* Returns why the handshake failed: a text that is valid until the thread's next call, "SSL
 * handshake failure (error:...)" as in logs. NULL: not because of TLS, the connection was lost.
 */
const char *tls_failure(const struct conn *c);

/* Returns how the handshake with a server failed; *error: OpenSSL's code (0: the connection was
 * lost). HOST, NAME: the certificate does not match verifyhost, or the name sent by SNI.
 */
enum tls_refusal { TLS_REFUSED_NOT, TLS_REFUSED, TLS_REFUSED_HOST, TLS_REFUSED_NAME };
enum tls_refusal tls_refusal(const struct conn *c, uint32_t *error);

/* Functions that find the connection for this floor's fetches; installed once by the floor that
 * knows sessions and streams. front() and back() return NULL if there is none.
 */
struct tls_locator {
	struct conn *(*front)(const struct expr_ctx *ctx);
	struct conn *(*back)(const struct expr_ctx *ctx);
	/* Gets OpenSSL's error of the last failed handshake with a server, after that connection
	 * has gone. False: none failed.
	 */
	bool (*back_failed)(const struct expr_ctx *ctx, uint32_t *error);
};
void tls_set_locator(const struct tls_locator *l);

/* Receives events of this floor; installed once by a floor above. <text> is borrowed. */
struct tls_event_log {
	void (*notice)(struct config *cfg, const char *text);
};
void tls_set_event_log(const struct tls_event_log *log);

/* Fetches a small document by HTTP (an OCSP response) for this floor, one at a time; installed once
 * by a floor above. On thread 0.
 */
#define TLS_FETCH_MAX (64 * 1024) /* maximum body size in bytes */
/* Receives the status, whether it is of the requested type, and the body, borrowed; status 0: no
 * complete response.
 */
typedef void tls_fetched_fn(unsigned status, bool is_wanted, struct slice body);
struct tls_fetcher {
	bool (*is_busy)(void);
	/* Fetches <url>, of type <accept> (which must remain valid), through the HTTP proxy <via>
	 * unless that is ADDR_NONE. <done> is never called from within. False: out of memory, or an
	 * invalid URL; <done> is not called.
	 */
	bool (*start)(const char *url, const char *accept, const struct addr *via,
		      tls_fetched_fn *done);
	/* Cancels, without calling <done>. */
	void (*stop)(void);
};
void tls_set_fetcher(const struct tls_fetcher *f);

/* Returns places where the authorities that the system trusts may be, for n = 0, 1...: a folder or
 * a file. NULL: no more, or no TLS here. Static, or from the environment.
 */
const char *tls_system_place(unsigned n);

/* Creates a self-signed certificate for <name> and this machine, valid from one hour ago for one
 * year, and writes it and its key as PEM. False: out of memory, or no TLS here.
 */
bool tls_self_signed(const char *name, struct strbuf *pem);

/* Parts of a certificate as given to a command: PEM, or base64 for OCSP and SCTL; slice_none():
 * unchanged.
 */
struct tls_cert_texts {
	struct slice crt, key, issuer, ocsp, sctl;
};
/* Replaces parts of the certificate that <cfg> knows by this name, for all its users: new
 * connections. Any thread, after <cfg> was checked; independent of a transaction of commands.
 * False: see <why> (<size> bytes); nothing has changed.
 */
bool tls_cert_set(struct config *cfg, const char *name, const struct tls_cert_texts *t, char *why,
		  size_t size);

/* What a line of a crt-store configures about the authority that issues its certificate (RFC 8555).
 */
struct tls_acme {
	const char *section;         /* the name of a section `acme` */
	const char *domains, *ips;   /* comma-separated; NULL: none */
	bool is_temporary;           /* there was no file: we have made a certificate ourselves */
};
struct tls_acme_cert {
	const char *name;            /* as for tls_cert_set() */
	const struct tls_acme *acme;
	int64_t not_before_s, not_after_s; /* of the one in use, seconds since 1970; 0: unknown */
};
/* Calls <fn> for each certificate of <cfg> that has a section, in no order; its arguments are
 * borrowed for the call, which must not change certificates. Any thread.
 */
void tls_acme_each(struct config *cfg, void (*fn)(void *ctx, const struct tls_acme_cert *c),
		   void *ctx);
/* Appends the private key of a certificate as PEM. False: none, or out of memory. */
bool tls_cert_key(struct config *cfg, const char *name, struct strbuf *pem);

/* Calls <tell> for each file of certificates, authorities, revocation lists and crt-lists that
 * commands have changed since <cfg> was read, with what was changed: "certificate", "entries". Must
 * not be called by TLS commands.
 */
typedef void tls_change_fn(void *data, const char *file, const char *what);
void tls_each_change(const struct config *cfg, tls_change_fn *tell, void *data);

/* Figures of the process for `show info`. */
struct tls_figures {
	uint64_t front_open, front_total;  /* connections */
	uint64_t rate, rate_max;           /* per second */
	uint64_t front_key_rate, front_key_rate_max; /* handshakes without resumption */
	uint64_t back_key_rate, back_key_rate_max;
	uint64_t back_open, back_total;
	unsigned reuse_percent;            /* of the handshakes of the last second */
	uint64_t cache_lookups, cache_misses;
	uint64_t max_connections, rate_limit;
};
void tls_get_figures(struct tls_figures *out);
/* Resets the maximum rates. Any thread. */
void tls_clear_max(void);
/* Returns the name of the library in use, "OpenSSL 3.0.2 15 Mar 2022"; tls_library_version()
 * returns "3.0.2". NULL: none.
 */
const char *tls_library_name(void);
/* Prints its lines of -vv. */
void tls_library_print(FILE *out);
const char *tls_library_version(void);

extern const struct module mod_tls, mod_tls_bind, mod_tls_server, mod_tls_smp, mod_tls_hello_smp,
	mod_tls_cert_smp, mod_tls_store, mod_tls_keylog, mod_tls_cert_ctl, mod_tls_jwt,
	mod_tls_ca_ctl, mod_tls_list_ctl, mod_tls_ocsp_ctl, mod_tls_ocsp_conf,
	mod_tls_use_conf;

#endif
