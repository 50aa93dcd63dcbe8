/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reload.c - a new generation in the running process
 *
 *	thread 0      request -> [background: read, check, open sockets] -> switch -> tours
 *	                                      | wrong
 *	                                      +-> close what was opened: nothing has changed
 *
 * The switch is one turn of thread 0: modules start, states change hands, the new generation is
 * published. Then every thread is visited:
 *
 *	1st tour  begins to accept on the new generation's sockets; idle clients and idle server
 *	          connections move to it. Then the old generation leaves its sockets.
 *	2nd tour  every thread has left them
 *	3rd tour  connections that were handed from thread to thread meanwhile have arrived
 *
 * Then main releases the old generation: its last session or connection frees it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "check/run.h"
#include "conf/conf.h"
#include "core/background.h"
#include "core/mailbox.h"
#include "core/task.h"
#include "core/thread.h"
#include "front/listen.h"
#include "proxy/check.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "stream/process.h"
#include "generation_priv.h"
#include "mode_priv.h"
#include "options_priv.h"
#include "process_priv.h"
#include "settings_priv.h"

/* A client that waits for the end of a reload, on a thread of its own. */
struct waiter {
	struct message message;
	struct waiter *next;
	unsigned thread;
	reload_done_fn *done;
	void *ctx;
	enum reload_result result;
	char *text;                   /* owned */
};

static struct {
	const struct module *const *modules; /* borrowed */
	const struct main_options *options;  /* same */
	struct waiter *waiter;        /* whose reload goes on; owned. Of thread 0 */
	struct config *next, *prev;   /* counted, while a reload goes on */
	struct diag_list diags;       /* of it */
	bool good;                    /* read, checked and opened */
	unsigned tours;               /* that are over */
	unsigned done, failed;        /* atomic */
} reload;

void reload_init(const struct module *const *modules, const struct main_options *o)
{
	reload.modules = modules;
	reload.options = o;
}

bool generation_read_lines(struct config *cfg, struct diag_list *diags)
{
	return generation_read_files(cfg, reload.options, diags);
}

void reload_get_counts(unsigned *done, unsigned *failed)
{
	*done = __atomic_load_n(&reload.done, __ATOMIC_RELAXED);
	*failed = __atomic_load_n(&reload.failed, __ATOMIC_RELAXED);
}

/* --- generations that exist ------------------------------------------------------------------ */

/* In each configuration's slot. Linked from the time that it is published until it is freed. */
struct existing {
	struct existing *next;
	struct config *config;
	uint64_t since_us;
};

static pthread_mutex_t existing_lock = PTHREAD_MUTEX_INITIALIZER;
static struct existing *oldest;

static void existing_fini(void *data)
{
	struct existing **at = &oldest, *e = data;
	bool was_live;

	pthread_mutex_lock(&existing_lock);
	while (*at && *at != e)
		at = &(*at)->next;
	was_live = *at != NULL;
	if (was_live)
		*at = e->next;
	pthread_mutex_unlock(&existing_lock);
	if (was_live)
		trim_later();
}

static struct slot existing_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct existing), .fini = existing_fini,
};
static struct slot *const slots[] = { &existing_slot, NULL };

static bool existing_start(struct config *cfg, struct diag_list *diags)
{
	struct existing **at = &oldest, *e = slot_of(&existing_slot, config_slots(cfg));

	e->config = cfg;
	e->since_us = clock_read_wall_us();
	pthread_mutex_lock(&existing_lock);
	while (*at)
		at = &(*at)->next;
	*at = e;
	pthread_mutex_unlock(&existing_lock);
	return true;
}

bool generation_get_info(unsigned n, struct generation_info *out)
{
	struct existing *e;

	pthread_mutex_lock(&existing_lock);
	for (e = oldest; e && n; e = e->next)
		n--;
	if (e)
		*out = (struct generation_info){
			.number = e->config->generation, .since_us = e->since_us,
			.references = __atomic_load_n(&e->config->refs, __ATOMIC_RELAXED),
			.live = e->config == generation_current(),
		};
	pthread_mutex_unlock(&existing_lock);
	return e != NULL;
}

/* --- answering ------------------------------------------------------------------------------- */

static void waiter_told(struct message *m)
{
	struct waiter *w = (struct waiter *)m;

	w->done(w->ctx, w->result, w->text ? w->text : "");
	free(w->text);
	free(w);
}

static void waiter_tell(struct waiter *w, enum reload_result result)
{
	w->result = result;
	w->message.run = waiter_told;
	mailbox_post(w->thread, &w->message);
}

/* The reload is over: its diagnostics go to the client that asked, and to standard error like those
 * of a start.
 */
static void reload_end(enum reload_result result)
{
	struct waiter *w = reload.waiter;
	struct strbuf text;

	strbuf_init(&text);
	diag_write(&reload.diags, DIAG_NOTICE, &text);
	strbuf_add_str(&text, "");
	w->text = text.ptr;
	diag_print(&reload.diags, DIAG_NOTICE, stderr);
	diag_list_fini(&reload.diags);
	__atomic_fetch_add(result == RELOAD_DONE ? &reload.done : &reload.failed, 1,
			   __ATOMIC_RELAXED);
	reload.waiter = NULL;
	waiter_tell(w, result);
	if (result == RELOAD_FAILED)
		trim_later(); /* what was refused may have been large */
}

/* --- old generations ------------------------------------------------------------------------- */

/* hard-stop-after bounds the life of a generation that was replaced, as it does a stop. */
struct sentence {
	struct sentence *next;
	unsigned generation;
	uint64_t at_ms;
};

static struct sentence *sentences; /* of thread 0; the one that is due first is the first */
static struct task *executioner;   /* of thread 0 */

static void kill_thread(void *ctx)
{
	streams_kill_older_thread((unsigned)(uintptr_t)ctx);
}

static void on_due(struct task *t, void *ctx, unsigned why)
{
	while (sentences && sentences->at_ms <= clock_now_ms()) {
		struct sentence *s = sentences;

		sentences = s->next;
		thread_call_all(kill_thread, NULL, (void *)(uintptr_t)s->generation);
		free(s);
	}
	if (sentences)
		task_schedule(t, sentences->at_ms);
}

/* Without memory it may live on. */
static void limit_life(const struct config *prev)
{
	int64_t ms = settings_of(prev)->hard_stop_ms;
	struct sentence *s = ms > 0 ? calloc(1, sizeof(*s)) : NULL, **at = &sentences;

	if (s && !executioner)
		executioner = task_new(on_due, NULL);
	if (!s || !executioner) {
		free(s);
		return;
	}
	s->generation = prev->generation;
	s->at_ms = clock_now_ms() + (uint64_t)ms;
	while (*at && (*at)->at_ms <= s->at_ms)
		at = &(*at)->next;
	s->next = *at;
	*at = s;
	task_schedule(executioner, sentences->at_ms);
}

static void reload_thread_fini(void)
{
	if (thread_id)
		return;
	task_free(&executioner);
	while (sentences) {
		struct sentence *s = sentences;

		sentences = s->next;
		free(s);
	}
}

/* --- switching ------------------------------------------------------------------------------- */

static void tour_thread(void *ctx)
{
	if (reload.tours)
		return; /* to have been here is enough */
	stats_sockets_start_thread(generation_current());
	listen_start_thread(generation_current());
	sessions_follow_thread();
	server_conns_follow_thread();
	checks_stop_thread(reload.prev);
	/* without memory the servers stay as they are known */
	if (!checks_start_thread(generation_current()))
		diag_say(DIAG_WARNING, "out of memory: some servers are not checked any more.");
}

static void tour_begin(void);

static void tour_over(void *ctx)
{
	if (!reload.tours) {
		listen_leave_all(reload.prev);
		stats_sockets_close(reload.prev, true);
	}
	if (++reload.tours < 3) {
		tour_begin();
		return;
	}
	limit_life(reload.prev);
	config_drop(&reload.prev);
	reload_end(RELOAD_DONE);
}

/* Out of memory there is no tour: the old generation then stays, with its sockets. */
static void tour_begin(void)
{
	if (thread_call_all(tour_thread, tour_over, NULL))
		return;
	reload.prev = NULL;
	reload_end(RELOAD_DONE);
}

static void give_up(void)
{
	door_end();
	if (reload.next) {
		listen_abandon_all(reload.next);
		stats_sockets_close(reload.next, false);
	}
	config_drop(&reload.next);
	config_drop(&reload.prev);
	reload_end(RELOAD_FAILED);
}

static void call_adopt(struct config *next, struct config *prev)
{
	for (const struct module *const *m = reload.modules; *m; m++)
		if ((*m)->adopt)
			(*m)->adopt(next, prev);
}

/* Servers that were added at run time stand in no file. */
static void tell_of_lost(struct config *next, struct config *prev)
{
	struct server *srv;

	for (struct proxy *px = proxies_first(prev); px; px = proxy_next(px))
		list_for_each(srv, &px->servers, link)
			if (srv->life.is_dynamic && !server_heir(next, srv))
				diag_add(&reload.diags, DIAG_WARNING, NULL, NULL, "Server '%s/%s' "
					 "was added at run time and is not in the configuration: "
					 "it is gone.", px->name, srv->name);
}

static void call_retire(struct config *prev)
{
	for (const struct module *const *m = reload.modules; *m; m++)
		if ((*m)->retire)
			(*m)->retire(prev);
}

/* On thread 0, the rest of a reload whose files are good: from here on nothing fails. */
static void switch_over(void)
{
	struct config *next = reload.next, *prev = reload.prev;

	limits_apply_again(next, prev, &reload.diags);
	settings_apply_again(next, prev);
	config_edit_begin(); /* no command adds to one of them meanwhile */
	proxies_adopt(next, prev);
	tell_of_lost(next, prev);
	call_adopt(next, prev);
	listen_inherit_all(next);
	proxies_publish(next);
	config_edit_end();
	proxies_settle(next);
	call_retire(prev);
	config_drop(&reload.prev); /* what was taken for the background */
	reload.prev = prev;        /* what main has held until now */
	reload.next = NULL;
	reload.tours = 0;
	tour_begin();
}

static void on_read(void *ctx)
{
	if (reload.good && stop_is_stopping()) {
		diag_add(&reload.diags, DIAG_ALERT, NULL, NULL, "The process is stopping.");
		reload.good = false;
	}
	if (reload.good)
		reload.good = generation_start_modules(reload.modules, reload.next, &reload.diags);
	door_end();
	if (reload.good)
		switch_over();
	else
		give_up();
}

/* In the background. */
static void read_files(void *ctx)
{
	if (!door_begin()) {
		diag_add(&reload.diags, DIAG_ALERT, NULL, NULL, "The master cannot be asked for "
			 "the configuration: %s.", strerror(errno));
		return;
	}
	reload.next = generation_read(reload.options, &reload.diags);
	if (!reload.next) {
		if (door_is_needed() && !worker_has_master())
			diag_add(&reload.diags, DIAG_NOTICE, NULL, NULL, "This process gave up "
				 "rights ('chroot', 'user', 'group'); with a master (-W) it would "
				 "have its help to read files and to open ports.");
		return;
	}
	settings_compare(reload.next, reload.prev, &reload.diags);
	limits_prepare_again(reload.next);
	if (generation_count_listeners(reload.next) + stats_sockets_count(reload.next) == 0) {
		diag_add(&reload.diags, DIAG_ALERT, NULL, NULL, "No enabled listener found (check "
			 "for 'bind' directives).");
		return;
	}
	reload.good = generation_open_sockets(reload.next, reload.prev, &reload.diags);
}

static void reload_begin(struct message *m)
{
	struct waiter *w = (struct waiter *)m;

	if (reload.waiter || stop_is_stopping()) {
		waiter_tell(w, reload.waiter ? RELOAD_BUSY : RELOAD_STOPPING);
		return;
	}
	reload.waiter = w;
	reload.good = false;
	diag_list_init(&reload.diags);
	reload.prev = config_take(generation_current());
	if (background_run(read_files, on_read, NULL))
		return;
	diag_add(&reload.diags, DIAG_ALERT, NULL, NULL, "out of memory.");
	give_up();
}

static void done_nobody(void *ctx, enum reload_result result, const char *text)
{
}

void reload_request(reload_done_fn *done, void *ctx)
{
	struct waiter *w = calloc(1, sizeof(*w));

	if (!w) {
		done(ctx, RELOAD_FAILED, "out of memory.\n");
		return;
	}
	w->thread = thread_id;
	w->done = done;
	w->ctx = ctx;
	w->message.run = reload_begin;
	mailbox_post(0, &w->message);
}

void reload_on_signal(int sig, void *ctx)
{
	diag_say(DIAG_NOTICE, "Reloading the configuration.");
	reload_request(done_nobody, NULL);
}

void reload_fini(void)
{
	background_fini();
	if (!reload.waiter)
		return;
	if (reload.next) {
		listen_abandon_all(reload.next);
		stats_sockets_close(reload.next, false);
	}
	config_drop(&reload.next);
	config_drop(&reload.prev);
	diag_list_fini(&reload.diags);
	reload.waiter->done(reload.waiter->ctx, RELOAD_STOPPING, "");
	free(reload.waiter);
}

const struct module mod_reload = { .name = "reload", .slots = slots, .start = existing_start,
				   .thread_fini = reload_thread_fini };
