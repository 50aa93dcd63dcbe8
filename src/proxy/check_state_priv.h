/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_state_priv.h - shared by the files about check results and those about servers */
#ifndef PROXY_CHECK_STATE_PRIV_H
#define PROXY_CHECK_STATE_PRIV_H

#include <stdbool.h>
#include <stddef.h>

struct server;

/* <to>, of the next generation, takes over the state of <from>: changes the checks in it where its
 * own settings differ. Checks of <from> may still be running.
 */
void check_adopt(const struct server *to, const struct server *from);

/* Runs the slow start of <srv>. Any thread. */
void check_warm_wake(struct server *srv);
/* Runs the next check of <srv> soon (fastinter). Any thread. */
void check_hurry(struct server *srv);

/* Writes ", reason: Layer4 check passed, check duration: 0ms" about the last result. */
void check_reason_text(const struct server *srv, bool agent, char *out, size_t size);
/* Does init-state make the server start down? */
bool check_starts_down(const struct server *srv);
/* Pauses its checks for maintenance (<on>), for a server that <was_up>, or resumes them; under the
 * backend's lock.
 */
void check_pause(struct server *srv, bool on, bool was_up);

#endif
