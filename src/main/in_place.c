/* SPDX-License-Identifier: GPL-2.0-or-later */
/* in_place.c - `reload-mode in-process` under a master: it has its worker reload, by the worker's
 * Runtime API, and tells the client that asked and the service manager the result
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/strbuf.h"
#include "master_priv.h"
#include "mode_priv.h"

/* Of a worker's answer: it faces the network, and might say more than there is room for. */
#define ANSWER_MAX ((size_t)16 << 20)

static struct {
	int fd;             /* owned: to the worker, -1: no reload goes on */
	int client;         /* owned: the client that asked, -1 none */
	struct strbuf text; /* the answer so far */
} asked = { .fd = -1, .client = -1 };

static void end(void)
{
	static const char good[] = "Success=1\n";
	bool success = asked.text.len >= sizeof(good) - 1 &&
		       memcmp(asked.text.ptr, good, sizeof(good) - 1) == 0;

	close(asked.fd);
	asked.fd = -1;
	if (asked.client >= 0) {
		if (!asked.text.len)
			strbuf_add_str(&asked.text, "Success=0\n--\nThe worker does not answer.\n");
		master_cli_answer(asked.client, strbuf_slice(&asked.text));
		asked.client = -1;
	}
	startup_log_replace(asked.text.ptr, asked.text.len);
	strbuf_fini(&asked.text);
	diag_say(success ? DIAG_NOTICE : DIAG_WARNING, success ? "Loading success."
		 : "The worker goes on with its configuration.");
	if (success && activation_is_stored() && master_serving_worker())
		activation_store(master_connect(master_serving_worker(), CTL_ADMIN));
	notify_ready(success ? "Ready." : "Reload failed!", success ? getpid() : 0);
	master_reloaded(success);
}

bool in_place_begin(const struct worker_process *w, int client)
{
	static const char command[] = "reload\n";

	asked.fd = master_connect(w, CTL_ADMIN);
	if (asked.fd < 0)
		return false;
	asked.client = client;
	strbuf_init(&asked.text);
	diag_say(DIAG_NOTICE, "Reloading HAProxy in its process");
	notify_reloading();
	/* the socket is new and has room */
	if (send(asked.fd, command, sizeof(command) - 1, MSG_NOSIGNAL) < 0 ||
	    shutdown(asked.fd, SHUT_WR) < 0)
		end();
	return true;
}

bool in_place_goes_on(void)
{
	return asked.fd >= 0;
}

unsigned in_place_poll(struct pollfd *fds, unsigned max)
{
	if (asked.fd < 0 || !max)
		return 0;
	fds[0] = (struct pollfd){ .fd = asked.fd, .events = POLLIN };
	return 1;
}

void in_place_handle(const struct pollfd *fds, unsigned count)
{
	char part[4096];
	ssize_t got;

	if (!count || !fds[0].revents)
		return;
	got = recv(asked.fd, part, sizeof(part), MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0)
		end();
	else if (asked.text.len < ANSWER_MAX) /* the rest is read and forgotten */
		strbuf_add(&asked.text, slice_make(part, (size_t)got));
}

void in_place_abandon(void)
{
	static const char why[] = "Success=0\n--\nAnother reload took its place.\n";

	if (asked.fd < 0)
		return;
	strbuf_reset(&asked.text);
	strbuf_add_str(&asked.text, why);
	end();
}

void in_place_fini(void)
{
	if (asked.fd >= 0)
		close(asked.fd);
	if (asked.client >= 0)
		close(asked.client);
	strbuf_fini(&asked.text);
	asked.fd = asked.client = -1;
}
