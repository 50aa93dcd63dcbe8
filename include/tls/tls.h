/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tls.h - TLS under a connection: certificates, handshakes, records
 *
 * Purpose: a transport (net/conn.h) which encrypts, on either side, and the settings that it needs.
 *          The settings of a bind or server line lie in its slots; the floors above hand these over
 *          and never see them.
 * Owns   : a connection's TLS state, freed with it. Certificates belong to the generation that read
 *          them; each distinct file is read once. A certificate that is replaced at run time lives
 *          on until the last connection that was started with it has gone.
 * Threads: a connection is its thread's. Settings are immutable after the check phase, but for the
 *          certificates, which commands replace as a whole from any thread: connections that
 *          begin afterwards see the new ones.
 * Idle   : without bytes under way a connection holds no buffer.
 * Errors : enum io; tls_failure() tells why a handshake failed.
 * Manual : configuration 3.1 (ssl-*, tune.ssl.*), 3.11, 5.1, 5.2, 7.3.4; management 9.3 (ssl).
 *
 *      socket <-> thread's OpenSSL BIO <-> SSL <-> conn_recv(), conn_send()
 *
 * Several records are read by one system call, straight into OpenSSL's buffer, and what is written
 * within one call is sent by one system call.
 *
 * Without OpenSSL (tls_none.c) nothing can be configured, and no function but the *_is_on() ones is
 * ever called.
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

/* The line that the settings stand on, for messages and defaults; all borrowed. */
struct tls_place {
	const char *proxy;   /* its name */
	const char *name;    /* the addresses of a bind line as written, the name of a server */
	const char *file;
	int line;
	struct slice alpn;   /* what a bind line offers without `alpn`, in wire format */
};

/* --- clients ---------------------------------------------------------------------------------- */

/* Was `ssl` given on this bind line? <bind>: its slots. */
bool tls_bind_is_on(const struct slot_area *bind);
/* The bind line was read: what `global` says by default up to here counts for it. */
void tls_bind_line(struct config *cfg, struct slot_area *bind);
/* In the check phase: makes what handshakes need. False: reported to <diags>. */
bool tls_bind_check(struct config *cfg, struct slot_area *bind, const struct tls_place *where,
		    struct diag_list *diags);
/* How long to leave clients of TLS lines in the kernel's queue, since maxsslconn or maxsslrate is
 * reached; ms. 0: they may come.
 */
unsigned tls_accept_wait_ms(void);
/* Changes maxsslrate at run time; 0: none. Any thread. */
void tls_set_rate_limit(int64_t per_second);
/* Does the generation ask for crt-watch? */
bool tls_watch_is_wanted(const struct config *cfg);

/* Makes TLS the transport of a connection just accepted, with CONN_HANDSHAKE set: events carry the
 * handshake on before the layer above hears of the connection. False: no memory, or one more would
 * be above maxsslconn.
 */
bool tls_accept(struct conn *c, struct slot_area *bind);
/* Behind tls_accept(): a client that has closed its side gets no answer, when what comes next is
 * the costly part of its handshake (`option abortonclose`, configuration 4.2).
 */
void tls_abort_on_close(struct conn *c);
/* Goes on with the handshake immediately, as an event would. True: it is over, well or not. */
bool tls_handshake_step(struct conn *c);

/* With `allow-0rtt` a client's first bytes may come before the handshake is over (RFC 8446 2.3):
 * the layer above gets them immediately, and what it sends leaves immediately. An attacker may have
 * recorded and sent them again, so what must not be done twice waits (RFC 8470). We accept them
 * once per session: a session that may bring them is taken out of the cache by the first client
 * that asks for it.
 */
bool tls_is_early(const struct conn *c);
struct task;
struct tls_waiter {
	struct list link;
	struct task *task;   /* woken with TASK_WOKEN_RES */
};
/* Has <w>, whose link is initialised, woken when the handshake of <c>, tls_is_early(), is over or
 * has failed. The caller cancels it before it frees it.
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

/* The line is of QUIC: `ssl` is on. Before tls_bind_check(). */
void tls_bind_want_quic(struct slot_area *bind);
/* Was this library made for QUIC? Else `limited-quic` is needed. */
bool tls_quic_is_native(void);
struct tls_quic_start {
	const struct quic_tls_user *user;
	void *owner;                 /* for its calls */
};
/* TLS for a connection of QUIC (net/quic_tls.h), as its transport: what is asked of a connection is
 * answered as for any other, but no bytes go through it. False: as tls_accept().
 */
bool tls_quic_accept(struct conn *c, struct slot_area *bind, const struct tls_quic_start *how);
/* TLS for a connection of QUIC to a server, as tls_dial(); CONN_HANDSHAKE is set, and the caller's
 * to clear. No early data is offered.
 */
bool tls_quic_dial(struct conn *c, struct dial_want *w, const struct tls_quic_start *how);
extern const struct quic_tls_ops tls_quic_ops;
/* The server is of QUIC: `ssl` is on, and without `alpn` it is offered <alpn>, in wire format,
 * constant. After the line was read, before tls_server_check(). False: no memory.
 */
bool tls_server_want_quic(struct slot_area *server, struct slice alpn);

/* --- servers ---------------------------------------------------------------------------------- */

/* Servers' certificates are not verified unless a line asks for it, as after
 * "ssl-server-verify none" (option -dV). Before <cfg> is read.
 */
void tls_servers_trust_all(struct config *cfg);

/* Do connections to this server begin with TLS now? <server>: its slots. What is asked of a
 * connection that exists is tls_is_on(): a command may change this at any moment.
 */
bool tls_server_is_on(const struct slot_area *server);
/* Was `ssl` given on its line, as checks go by? */
bool tls_server_is_given(const struct slot_area *server);
/* Can tls_server_switch() switch it on: did its line, or default-server, say `ssl`? */
bool tls_server_may_switch(const struct slot_area *server);
/* `set server ssl`: from now on connections begin with TLS or in clear, and idle ones of the other
 * kind are not used again. False: `ssl` was not given.
 */
bool tls_server_switch(struct slot_area *server, bool on);
/* Checks of this server use TLS, whether `ssl` was given or not. Before tls_server_check(). False:
 * no memory.
 */
bool tls_server_want(struct slot_area *server);
/* The server's line was read, see tls_bind_line(). */
void tls_server_line(struct config *cfg, struct slot_area *server);
/* In the check phase, see tls_bind_check(). Behind it, for a server that is added at run time, no
 * file is read: what the line names must be known. Then it must not be freed before <cfg>.
 */
bool tls_server_check(struct config *cfg, struct slot_area *server, const struct tls_place *where,
		      struct diag_list *diags);
/* A server that was deleted at run time, without connections: nothing that its line named counts as
 * used any more. Harmless without TLS.
 */
void tls_server_leave(struct slot_area *server);
/* Does it offer protocols by ALPN; does it offer <name> ("h2")? */
bool tls_server_has_alpn(const struct slot_area *server);
bool tls_server_offers(const struct slot_area *server, struct slice name);
/* The expression of `sni`; NULL: none, and *is_auto tells whether the host of a request stands for
 * it.
 */
const struct expr *tls_server_sni(const struct slot_area *server, bool *is_auto);
/* Makes TLS the transport of a connection that is being made, with CONN_HANDSHAKE set: the <secure>
 * of a dialler (net/dial.h). w->tls: the server's slots. w->sni: the name to ask for, or
 * slice_none(). w->alpn: a list in wire format instead of the line's (an empty one: none), or
 * slice_none(). False: no memory.
 *
 * With DIAL_MAY_BE_EARLY it may take bytes before its handshake, sent as early data (RFC 8446 2.3):
 * with `allow-0rtt`, the line's ALPN, and when there is a session whose server allows it; then it
 * sets DIAL_IS_EARLY. An attacker that records these bytes can send them again, so they must be
 * safe to be done twice. tls_is_early() and conn_alpn() tell of it until the handshake is over.
 */
bool tls_dial(struct conn *c, struct dial_want *w);
/* Has the server taken none of what was sent early? The connection is lost then. */
bool tls_early_is_refused(const struct conn *c);
/* Has <c> go on with the server of another generation. False: that one does not reach it in the
 * same way (TLS or not, settings, certificate, authorities, revocation lists): <c> must be closed.
 */
bool tls_follow(struct conn *c, struct slot_area *server);
/* A number of all that connections to the server are made with: settings, our certificate,
 * authorities, revocation lists. Commands and reloads that change one of these make another one:
 * connections that have the former one are for no further request. 0: no TLS. Any thread.
 */
uint64_t tls_server_identity(const struct slot_area *server);
/* Has <c> that of its server? True without TLS, and for clients'. */
bool tls_is_current(const struct conn *c);
/* How the floor above closes idle connections to a server whose identity has changed; set once.
 * <fn> is called by commands, on any thread, and must not wait.
 */
typedef void tls_renewed_fn(struct slot_area *server);
void tls_set_renewed(tls_renewed_fn *fn);

/* --- both ------------------------------------------------------------------------------------- */

/* Has the connection TLS at all? */
bool tls_is_on(const struct conn *c);
/* "TLSv1.3", "ECDHE-RSA-AES256-GCM-SHA384": static; NULL when there is no TLS. */
const char *tls_version_name(const struct conn *c);
const char *tls_cipher_name(const struct conn *c);
/* Was the session resumed, not negotiated anew? */
bool tls_is_resumed(const struct conn *c);
/* Was an OCSP answer sent with our certificate? */
bool tls_is_stapled(const struct conn *c);
/* Did the client have to, and did it, show a certificate on this connection or session? */
bool tls_has_peer_cert(const struct conn *c);
/* The result of its verification, an X509_V_ code; 0: good. */
int tls_verify_result(const struct conn *c);
/* Texts for the PROXY protocol: what the client's certificate says, as slices of <room>, of
 * <size> bytes; slice_none(): nothing. The signature and key are of the certificate shown by us.
 */
struct slice tls_peer_cn(const struct conn *c, char *room, size_t size);
struct slice tls_peer_key_algorithm(const struct conn *c, char *room, size_t size);
struct slice tls_peer_signature(const struct conn *c, char *room, size_t size);
/* The name that the client asked for; empty: none. */
struct slice tls_sni(const struct conn *c);

/* Why the handshake failed: a text that lives until the thread's next call, "SSL handshake failure
 * (error:...)" as logs have it. NULL: for no reason of TLS, the connection went.
 */
const char *tls_failure(const struct conn *c);

/* How the handshake with a server failed, and OpenSSL's number of it in *error (0: the connection
 * went). Names: the certificate is not one of the host that verifyhost, or else SNI, has named.
 */
enum tls_refusal { TLS_REFUSED_NOT, TLS_REFUSED, TLS_REFUSED_HOST, TLS_REFUSED_NAME };
enum tls_refusal tls_refusal(const struct conn *c, uint32_t *error);

/* How the fetches of this floor find their connection; set once by the floor that knows sessions
 * and streams. Either returns NULL when there is none.
 */
struct tls_locator {
	struct conn *(*front)(const struct expr_ctx *ctx);
	struct conn *(*back)(const struct expr_ctx *ctx);
	/* OpenSSL's error of the last connection to a server whose handshake failed, when it is
	 * not there any more. False: it did not.
	 */
	bool (*back_failed)(const struct expr_ctx *ctx, uint32_t *error);
};
void tls_set_locator(const struct tls_locator *l);

/* How this floor tells what happened by itself; set once by a floor above. <text> is borrowed. */
struct tls_event_log {
	void (*notice)(struct config *cfg, const char *text);
};
void tls_set_event_log(const struct tls_event_log *log);

/* How this floor gets a small document by HTTP (an OCSP answer), one at a time; set once by a floor
 * above. On thread 0.
 */
#define TLS_FETCH_MAX (64 * 1024) /* the largest body that is taken, bytes */
/* Status, whether it is of the type that was asked for, and body, borrowed; 0: there was no whole
 * answer.
 */
typedef void tls_fetched_fn(unsigned status, bool is_wanted, struct slice body);
struct tls_fetcher {
	bool (*is_busy)(void);
	/* Gets <url>, of the type <accept> (it stays), by way of the HTTP proxy <via> unless
	 * that is ADDR_NONE. <done> is never called from within. False: no memory, or no such
	 * URL; <done> is not called.
	 */
	bool (*start)(const char *url, const char *accept, const struct addr *via,
		      tls_fetched_fn *done);
	/* Gives up, without <done>. */
	void (*stop)(void);
};
void tls_set_fetcher(const struct tls_fetcher *f);

/* Where the authorities that the system trusts may lie, for n = 0, 1...: a folder, a file. NULL: no
 * more, or no TLS here. Static, or of the environment.
 */
const char *tls_system_place(unsigned n);

/* A certificate that a key of its own has signed, of the last hour to a year from now, for <name>
 * and this machine, and the key, as PEM. False: no memory, or no TLS here.
 */
bool tls_self_signed(const char *name, struct strbuf *pem);

/* Parts of a certificate as a command takes them: PEM, base64 for OCSP and SCTL; slice_none(): the
 * part stays as it is.
 */
struct tls_cert_texts {
	struct slice crt, key, issuer, ocsp, sctl;
};
/* Replaces parts of the certificate that <cfg> knows by this name, for all that use it: connections
 * from then on. Any thread, once <cfg> was checked; a transaction of commands goes on apart. False:
 * <why> (<size> bytes) tells; nothing has changed.
 */
bool tls_cert_set(struct config *cfg, const char *name, const struct tls_cert_texts *t, char *why,
		  size_t size);

/* What a line of a crt-store says of the authority that gives its certificate (RFC 8555). */
struct tls_acme {
	const char *section;         /* the name of a section `acme` */
	const char *domains, *ips;   /* separated by commas; NULL: none */
	bool is_temporary;           /* there was no file: it is a certificate of our own */
};
struct tls_acme_cert {
	const char *name;            /* as tls_cert_set() has it */
	const struct tls_acme *acme;
	int64_t not_before_s, not_after_s; /* of the one in use, since 1970; 0: not known */
};
/* Calls <fn> for each certificate of <cfg> that has a section, in no order; what it gets is
 * borrowed for the call, which must not change certificates. Any thread.
 */
void tls_acme_each(struct config *cfg, void (*fn)(void *ctx, const struct tls_acme_cert *c),
		   void *ctx);
/* The private key of a certificate as PEM, added. False: there is none, or no memory. */
bool tls_cert_key(struct config *cfg, const char *name, struct strbuf *pem);

/* The files of certificates, authorities, revoked ones and lists that commands have changed since
 * <cfg> was read, and what was changed: "certificate", "entries". Not from commands of TLS.
 */
typedef void tls_change_fn(void *data, const char *file, const char *what);
void tls_each_change(const struct config *cfg, tls_change_fn *tell, void *data);

/* Figures of the process, for `show info`. */
struct tls_figures {
	uint64_t front_open, front_total;  /* connections */
	uint64_t rate, rate_max;           /* per second */
	uint64_t front_key_rate, front_key_rate_max; /* handshakes that were not resumed */
	uint64_t back_key_rate, back_key_rate_max;
	uint64_t back_open, back_total;
	unsigned reuse_percent;            /* of the last second's handshakes */
	uint64_t cache_lookups, cache_misses;
	uint64_t max_connections, rate_limit;
};
void tls_get_figures(struct tls_figures *out);
/* Forgets the largest rates. From any thread. */
void tls_clear_max(void);
/* "OpenSSL 3.0.2 15 Mar 2022", "3.0.2", of the library in use; NULL: none. */
const char *tls_library_name(void);
/* The lines of -vv about it. */
void tls_library_print(FILE *out);
const char *tls_library_version(void);

extern const struct module mod_tls, mod_tls_bind, mod_tls_server, mod_tls_smp, mod_tls_hello_smp,
	mod_tls_cert_smp, mod_tls_store, mod_tls_keylog, mod_tls_cert_ctl, mod_tls_jwt,
	mod_tls_ca_ctl, mod_tls_list_ctl, mod_tls_ocsp_ctl, mod_tls_ocsp_conf,
	mod_tls_use_conf;

#endif
