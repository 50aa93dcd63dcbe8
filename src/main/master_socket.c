/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master_socket.c - the sockets of -S: opening and listing them */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "generation_priv.h"
#include "master_priv.h"
#include "mode_priv.h"

#define LISTENERS_MAX 16

static struct {
	int fd;
	enum ctl_level level;
} listeners[LISTENERS_MAX];
static unsigned listener_count;

bool master_socket_listen(int fd, enum ctl_level level)
{
	if (fd < 0 || listener_count == LISTENERS_MAX)
		return false;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	listeners[listener_count].fd = fd;
	listeners[listener_count++].level = level;
	return true;
}

int master_socket_get(unsigned n, enum ctl_level *level)
{
	if (n >= listener_count)
		return -1;
	*level = listeners[n].level;
	return listeners[n].fd;
}

void master_sockets_close(void)
{
	while (listener_count)
		close(listeners[--listener_count].fd);
}

/* Its options are those of a `stats socket` line, with commas in between. */
static bool read_socket_line(struct config *cfg, const char *text)
{
	struct diag_list diags;
	struct strbuf b;
	bool good;

	strbuf_init(&b);
	strbuf_add_str(&b, "global\n\tstats socket ");
	if (!strstr(text, ",level,"))
		strbuf_printf(&b, "%.*s level admin", (int)strcspn(text, ","), text);
	else
		strbuf_printf(&b, "%.*s", (int)strcspn(text, ","), text);
	for (const char *at = text + strcspn(text, ","); *at; at++)
		strbuf_add_char(&b, *at == ',' ? ' ' : *at);
	strbuf_add_char(&b, '\n');
	diag_list_init(&diags);
	good = b.ptr && conf_read_text(cfg, "-S", slice_make(b.ptr, b.len), &diags);
	diag_print(&diags, DIAG_WARNING, stderr);
	diag_list_fini(&diags);
	strbuf_fini(&b);
	return good;
}

bool master_open_socket(const char *text)
{
	struct config *cfg = config_new();
	unsigned count = 0;
	bool good = cfg && read_socket_line(cfg, text);

	if (good)
		count = stats_sockets_count(cfg);
	for (unsigned n = 0; good && n < count; n++) {
		char error[256];
		enum ctl_level level;
		int fd = stats_socket_listen(cfg, n, &level, error, sizeof(error));

		good = fd >= 0 && master_socket_listen(fd, level);
		if (!good)
			diag_say(DIAG_ALERT, "[%s] : %s", text, fd < 0 ? error : "out of "
				 "resources");
	}
	config_drop(&cfg);
	return good && count;
}
