/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_state_priv.h - what the files about results of checks share with those about servers */
#ifndef PROXY_CHECK_STATE_PRIV_H
#define PROXY_CHECK_STATE_PRIV_H

#include <stdbool.h>
#include <stddef.h>

struct server;

/* <to>, of the next generation, takes over the state of <from>: what its own settings change of the
 * checks in it. While the checks of <from> may still run.
 */
void check_adopt(const struct server *to, const struct server *from);

/* Has <srv>'s slow start run; from any thread. */
void check_warm_wake(struct server *srv);
/* Runs the next check of <srv> soon (fastinter); from any thread. */
void check_hurry(struct server *srv);

/* ", reason: Layer4 check passed, check duration: 0ms" of the last result. */
void check_reason_text(const struct server *srv, bool agent, char *out, size_t size);
/* Does init-state say that it begins down? */
bool check_starts_down(const struct server *srv);
/* Maintenance begins, for a server that <was_up>, or ends; under the backend's lock. */
void check_pause(struct server *srv, bool on, bool was_up);

#endif
