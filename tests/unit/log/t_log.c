/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_log.c - headers of each syslog format, targets read from lines, messages as they arrive */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "log_priv.h"
#include "tap.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "log/log.h"

static struct config *cfg;

/* Texts that HAProxy 3.2 wrote, at another date. */
static const struct {
	enum syslog_format format;
	const char *hostname, *data, *header;
} headers[] = {
	{ SYSLOG_LOCAL, "", "", "<158>Nov  3 22:13:20 haproxy[77]: " },
	{ SYSLOG_LOCAL, "hh", "", "<158>Nov  3 22:13:20 haproxy[77]: " },
	{ SYSLOG_RFC3164, "", "", "<158>Nov  3 22:13:20 localhost haproxy[77]: " },
	{ SYSLOG_RFC3164, "hh", "", "<158>Nov  3 22:13:20 hh haproxy[77]: " },
	{ SYSLOG_RFC5424, "", "", "<158>1 2023-11-03T22:13:20.123456+00:00 - haproxy 77 - - " },
	{ SYSLOG_RFC5424, "hh", "[a@1 b=\"c\"]",
	  "<158>1 2023-11-03T22:13:20.123456+00:00 hh haproxy 77 - [a@1 b=\"c\"] " },
	{ SYSLOG_PRIORITY, "hh", "", "<158>" },
	{ SYSLOG_SHORT, "hh", "", "<6>" },
	{ SYSLOG_TIMED, "hh", "", "<6>2023-11-03T22:13:20.123456+00:00 " },
	{ SYSLOG_ISO, "hh", "", "2023-11-03T22:13:20.123456+00:00 " },
	{ SYSLOG_RAW, "hh", "", "" },
};

static void test_headers(void)
{
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct syslog_header h = {
			.format = headers[i].format, .priority = 19 * 8 + 6, .pid = 77,
			.hostname = slice_of(headers[i].hostname), .tag = SLICE("haproxy"),
			.structured_data = slice_of(headers[i].data),
			.wall_us = 1699049600123456ull,
		};
		struct strbuf out;
		char area[256] = "";

		strbuf_init_fixed(&out, area, sizeof(area));
		ok(syslog_header_write(&out, &h), "header of format %d", h.format);
		is_str(area, headers[i].header, "its text");
	}
}

/* --- targets ------------------------------------------------------------------------------ */

static char message[512];

static bool parse(const char *text, struct log_targets **targets)
{
	struct conf_line l;
	struct diag_list diags;
	char copy[256], *words[32] = { NULL };
	int columns[32] = { 0 };
	bool good;

	snprintf(copy, sizeof(copy), "%s", text);
	diag_list_init(&diags);
	l = (struct conf_line){ .cfg = cfg, .diags = &diags, .words = words, .columns = columns,
				.where = CONF_GLOBAL, .place = { .file = "test", .line = 1 } };
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		words[l.count++] = w;
	good = log_target_parse(&l, targets);
	snprintf(message, sizeof(message), "%s", list_is_empty(&diags.diags) ? "" :
		 list_first(&diags.diags, struct diag, link)->message);
	diag_list_fini(&diags);
	return good;
}

static const struct { const char *line, *error;
} wrong[] = {
	{"", "log : expects <address> and <facility>  as arguments"},
	{"127.0.0.1", "log : expects <address> and <facility>  as arguments"},
	{"127.0.0.1 foo", "log : unknown log facility 'foo'"},
	{"127.0.0.1 local0 foo", "log : unknown optional log level 'foo'"},
	{"127.0.0.1 local0 info foo", "log : unknown optional minimum log level 'foo'"},
	{"127.0.0.1 local0 info debug x", "log : cannot handle unexpected argument 'x'"},
	{"127.0.0.1 len 10 local0", "log : invalid log length '10', must be between 80 and 65535"},
	{"127.0.0.1 format foo local0", "log : unknown log format 'foo'"},
	{"127.0.0.1 sample x local0", "log : Missing sample size"},
	{"127.0.0.1 sample 2-1:3 local0", "log : wrong sample range '2-1'"},
	{"127.0.0.1 sample 0:3 local0", "log : wrong sample range '0'"},
	{"127.0.0.1 sample 1,1:3 local0", "log : ranges are overlapping"},
	{"127.0.0.1 sample 3:2 local0", "log : sample size 2 should be greater or equal to 3 the "
					"maximum of the high ranges limits"},
	{"127.0.0.1 len 80 len 90 local0", "log : unknown log facility 'len'"},
	{"127.0.0.1:70000 local0", "log : invalid port '70000'"},
};

static void test_wrong_lines(void)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct log_targets *targets = NULL;

		ok(!parse(wrong[i].line, &targets), "'%s' is refused", wrong[i].line);
		is_str(message, wrong[i].error, "and why");
	}
	for (const char *const *stream =
		     (const char *const[]){"tcp@127.0.0.1:1 local0", "stream+unix@/x local0",
					   NULL};
	     *stream; stream++) {
		struct log_targets *targets = NULL;

		ok(!parse(*stream, &targets) && strstr(message, "no ring"),
		   "'%s' needs somebody who makes rings", *stream);
	}
}

/* --- messages ----------------------------------------------------------------------------- */

static int server = -1;

static const char *receive(void)
{
	static char text[2048];
	ssize_t len = recv(server, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[len > 0 ? len : 0] = 0;
	return text;
}

static void send_text(enum log_level level, const char *text)
{
	struct log_message m = { .level = level, .tag = SLICE("tag"), .text = slice_of(text),
				 .wall_us = 1699049600123456ull };

	log_send(cfg, NULL, &m);
}

/* The global section's list becomes what <line> says. */
static bool use(const char *line)
{
	struct log_settings *s = slot_of(&log_config_slot, config_slots(cfg));

	log_config_slot.fini(s);
	return parse(line, &s->targets);
}

static void test_messages(const char *address)
{
	char line[200], text[300];

	snprintf(line, sizeof(line), "%s format short local0 notice warning", address);
	ok(use(line), "%s", line);
	ok(log_is_wanted(cfg, NULL), "somebody listens");
	send_text(LOG_LVL_NOTICE, "hello");
	is_str(receive(), "<5>hello\n", "a line arrives");
	send_text(LOG_LVL_INFO, "hello");
	is_str(receive(), "", "a line of no interest does not");
	send_text(LOG_LVL_EMERG, "hello");
	is_str(receive(), "<4>hello\n", "a severe one is capped");

	snprintf(line, sizeof(line), "%s len 80 format rfc3164 local0", address);
	ok(use(line), "%s", line);
	is_int(log_max_len(cfg, NULL), 80, "the length is known");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	send_text(LOG_LVL_INFO, text);
	is_int((long long)strlen(receive()), 80, "a long line is cut, its end included");

	snprintf(line, sizeof(line), "%s format raw sample 1,3:3 local0", address);
	ok(use(line), "%s", line);
	for (int i = 1; i <= 6; i++) {
		snprintf(text, sizeof(text), "%d", i);
		send_text(LOG_LVL_INFO, text);
	}
	is_str(receive(), "1\n", "the first of three is taken");
	is_str(receive(), "3\n", "so is the third");
	is_str(receive(), "4\n", "and it starts again");
	is_str(receive(), "6\n", "to the end");
	is_str(receive(), "", "no other");
}

static void test_udp(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);
	char address[64];

	server = socket(AF_INET, SOCK_DGRAM, 0);
	ok(server >= 0 && bind(server, (struct sockaddr *)&in, len) == 0 &&
	   getsockname(server, (struct sockaddr *)&in, &len) == 0, "a UDP server");
	snprintf(address, sizeof(address), "127.0.0.1:%d", ntohs(in.sin_port));
	test_messages(address);
	close(server);
}

static void test_unix(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	uint64_t before = log_dropped();

	snprintf(un.sun_path, sizeof(un.sun_path), "/tmp/t_log.%d", getpid());
	unlink(un.sun_path);
	server = socket(AF_UNIX, SOCK_DGRAM, 0);
	ok(server >= 0 && bind(server, (struct sockaddr *)&un, sizeof(un)) == 0, "a UNIX server");
	test_messages(un.sun_path);
	close(server);
	unlink(un.sun_path);
	send_text(LOG_LVL_INFO, "lost");
	is_int((long long)(log_dropped() - before), 1, "a line that nobody takes is counted");
}

static void test_fd(void)
{
	char line[64], got[128] = "";
	int ends[2];

	if (!ok(pipe(ends) == 0, "a pipe"))
		return;
	snprintf(line, sizeof(line), "fd@%d format raw daemon", ends[1]);
	ok(use(line), "%s", line);
	send_text(LOG_LVL_INFO, "to a pipe");
	ok(read(ends[0], got, sizeof(got) - 1) > 0, "something arrives");
	is_str(got, "to a pipe\n", "the line");
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	static const struct module *const modules[] = { &mod_log, NULL };

	setenv("TZ", "UTC", 1);
	for (struct slot *const *s = modules[0]->slots; *s; s++)
		slot_register(*s);
	clock_refresh();
	cfg = config_new();
	if (!cfg)
		return 1;
	test_headers();
	test_wrong_lines();
	test_udp();
	test_unix();
	test_fd();
	is_int(log_level_find(SLICE("warning")), LOG_LVL_WARNING, "levels have names");
	is_int(log_facility_find(SLICE("local7")), 23, "facilities too");
	is_str(log_level_name(LOG_LVL_ERR), "err", "both ways");
	config_drop(&cfg);
	mod_log.thread_fini();
	return done_testing();
}
