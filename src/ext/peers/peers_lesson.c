/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_lesson.c - the teacher of this process, an old process or a peer; what a link's end means
 *
 *	start:   LOCAL --5s, or it is said that there is none----> REMOTE --5s--> DONE
 *	              the old process teaches us ----------------------------------^
 *	                        a peer that is up is asked, teaches us ------------^
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "core/task.h"
#include "ext/peers.h"
#include "log/log.h"
#include "peers_priv.h"

/* Before a peer is tried again: so that two do not meet half-way again and again, and one that is
 * away is not asked all the time.
 */
#define AGAIN_MIN_MS 50
#define AGAIN_SPREAD_MS 2000
#define AWAY_MS 1000
/* At a stop, where the new process is to listen. */
#define TAUGHT_AGAIN_MS 100

static bool old_process;

void peers_await_old_process(void)
{
	old_process = true;
}

void peers_log(const struct peers *p, int level, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_printf(p->config, slot_of(&log_proxy_slot, proxy_slots(p->conf->proxy)),
		   (enum log_level)level, "%s", text);
}

bool peers_is_complete(const struct peers *p)
{
	return p->resync == RESYNC_DONE;
}

bool peers_is_learning(const struct peers *p)
{
	return p->resync == RESYNC_LOCAL || (p->resync == RESYNC_REMOTE && p->teacher);
}

static void ask(struct peers *p, struct peers_link *l)
{
	if (!peers_msg_put(&l->out, PEERS_CONTROL, PEERS_RESYNC_REQUEST))
		return;
	p->teacher = l;
	l->asked = true;
	l->lesson_ms = clock_now_ms();
}

static void resync_begin(struct peers *p)
{
	struct peer *peer;

	p->resync = RESYNC_REMOTE;
	p->resync_end_ms = clock_now_ms() + PEERS_RESYNC_MS;
	list_for_each(peer, &p->peers, link)
		peer->asked_in_vain = false;
}

void peers_link_is_up(struct peers_link *l)
{
	struct peers *p = l->section;

	/* name servers may report peers late: none was asked yet */
	if (!p->has_met && p->resync == RESYNC_DONE && l->peer->found.family != ADDR_NONE)
		resync_begin(p);
	p->has_met = true;
	if (p->is_stopping) {
		l->has_to_teach = true;
		peers_shares_teach(l->peer);
	} else if ((p->resync == RESYNC_REMOTE && !p->teacher && !l->peer->asked_in_vain) ||
		   (!l->peer->has_told && !l->peer->is_local && peers_tables_add(p))) {
		ask(p, l);
	}
}

void peers_was_taught(struct peers_link *l, bool all)
{
	struct peers *p = l->section;

	l->asked = false;
	l->peer->has_told = true;
	task_wake(p->task, TASK_WOKEN_OTHER);
	if (p->teacher == l)
		p->teacher = NULL;
	if (all) {
		p->resync = RESYNC_DONE;
		return;
	}
	l->peer->asked_in_vain = true;
	if (p->resync == RESYNC_LOCAL)
		resync_begin(p);
}

void peers_lesson_begin(struct peers *p, bool first)
{
	resync_begin(p);
	if (first && old_process)
		p->resync = RESYNC_LOCAL;
}

/* Asks one peer that is up, and was not asked in vain. */
static struct peers_link *ask_anybody(struct peers *p)
{
	struct peers_link *l;

	if (p->resync != RESYNC_REMOTE || p->teacher || p->is_stopping)
		return NULL;
	list_for_each(l, &p->links, link) {
		if (l->state != LINK_UP || l->peer->asked_in_vain)
			continue;
		ask(p, l);
		return l;
	}
	return NULL;
}

/* A peer that was asked, and teaches nothing, is not waited for. */
static void look_at_teacher(struct peers *p, uint64_t now_ms, uint64_t *next_ms)
{
	uint64_t end_ms = p->teacher ? p->teacher->lesson_ms + PEERS_RESYNC_MS : TIMER_NEVER;

	if (now_ms >= end_ms) {
		p->teacher->peer->asked_in_vain = true;
		p->teacher = NULL;
	} else if (end_ms < *next_ms) {
		*next_ms = end_ms;
	}
}

struct peers_link *peers_lesson_look(struct peers *p, uint64_t now_ms, uint64_t *next_ms)
{
	bool late;

	look_at_teacher(p, now_ms, next_ms);
	late = now_ms >= p->resync_end_ms && !p->teacher;

	if (late && p->resync == RESYNC_REMOTE)
		p->resync = RESYNC_DONE;
	else if (late && p->resync == RESYNC_LOCAL)
		resync_begin(p);
	if (p->resync != RESYNC_DONE && p->resync_end_ms > now_ms && p->resync_end_ms < *next_ms)
		*next_ms = p->resync_end_ms;
	return ask_anybody(p);
}

void peers_link_ended(struct peers_link *l, bool was_up)
{
	struct peers *p = l->section;
	uint64_t wait_ms = was_up ? AGAIN_MIN_MS : AWAY_MS;

	task_wake(p->task, TASK_WOKEN_OTHER);
	if (p->teacher == l) {
		p->teacher = NULL;
		p->resync_end_ms = clock_now_ms() + PEERS_RESYNC_MS;
	}
	if (!l->peer)
		return;
	if (p->is_stopping && l->peer->is_local)
		p->is_taught = p->is_taught || l->has_taught || l->was_refused;
	if (p->is_stopping)
		wait_ms = TAUGHT_AGAIN_MS;
	else
		wait_ms += (uint64_t)(random() % (AGAIN_SPREAD_MS + 1));
	l->peer->dial_at_ms = clock_now_ms() + wait_ms;
}
