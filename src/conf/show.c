/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show.c - -dC: the lines of a configuration as they were read, and without their secrets
 *
 * With a key, only the first words of a line are shown, and words that name or locate something are
 * shown as a hash: a reader with the key can match them with an anonymised dump of the Runtime API.
 * Manual: management 2, -dC.
 */
#include <arpa/inet.h>
#include <string.h>
#include "conf_priv.h"

/* What a word behind the keyword is. */
enum word_kind { PLAIN, NAME, ADDRESS, PATH, SECRET };

/* How lines that begin so are shown, without what follows the words that <kinds> tells of. */
static const struct shown {
	const char *words;
	uint8_t kept; /* words at most, the keyword included */
	uint8_t kinds[2];
} shapes[] = {
	{ "acl", 3, { NAME, PLAIN } },
	{ "bind", 2, { ADDRESS } },
	{ "cache", 2, { NAME } }, /* as other sections below, until there are such */
	{ "cookie", 9, { NAME, PLAIN } },
	{ "default_backend", 2, { NAME } },
	{ "dgram-bind", 2, { ADDRESS } },
	{ "dispatch", 2, { ADDRESS } },
	{ "errorfile", 3, { PLAIN, PATH } },
	{ "errorloc", 3, { PLAIN, PATH } },
	{ "errorloc302", 3, { PLAIN, PATH } },
	{ "errorloc303", 3, { PLAIN, PATH } },
	{ "fcgi-app", 2, { NAME } },
	{ "filter", 2, { PLAIN } },
	{ "group", 2, { NAME } },
	{ "http-after-response", 2, { PLAIN } },
	{ "http-request", 2, { PLAIN } },
	{ "http-response", 2, { PLAIN } },
	{ "log", 2, { ADDRESS } },
	{ "mailer", 3, { NAME, ADDRESS } },
	{ "nameserver", 3, { NAME, ADDRESS } },
	{ "peer", 3, { NAME, ADDRESS } },
	{ "peers", 2, { NAME } },
	{ "program", 2, { NAME } },
	{ "redirect", 3, { PLAIN, PATH } },
	{ "route", 3, { PLAIN, NAME } },
	{ "server", 3, { NAME, ADDRESS } },
	{ "server-template", 3, { NAME, PLAIN } },
	{ "source", 2, { ADDRESS } },
	{ "stats auth", 2, { SECRET } },
	{ "stats socket", 2, { SECRET } },
	{ "use-server", 2, { NAME } },
	{ "use-ruleset", 2, { NAME } },
	{ "use_backend", 2, { NAME } },
	{ "use_backends", 1, { PLAIN } },
	{ "user", 2, { NAME } },
};

static const struct shown plain = { "", 3, { PLAIN, PLAIN } };

/* The shape of a line, and which of its words is the first that <kinds> tells of. */
static const struct shown *shape_of(const struct conf_tokens *t, int *first)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const char *name = shapes[i].words;
		size_t len = strcspn(name, " ");

		*first = 1;
		if (strlen(t->words[0]) != len || strncmp(t->words[0], name, len) != 0)
			continue;
		if (!name[len])
			return &shapes[i];
		*first = 2;
		if (t->count > 1 && strcmp(t->words[1], name + len + 1) == 0)
			return &shapes[i];
	}
	*first = 1;
	return &plain;
}

/* Is it the address of this host, or of none in particular? */
static bool tells_nothing(const char *word)
{
	static const char *const starts[] = {
		":", "*:", "0.0.0.0", "127.", "[::1]", "::1", "[::]", "localhost", "fd@", "$",
	};
	static const char *const words[] = { "global", "stdout", "stderr", "none", "" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (strncmp(word, starts[i], strlen(starts[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* Cuts "ipv4@10.0.0.1:80" into an IP address in <ip> and its port; false: it has none. */
static bool cut_address(const char *word, char ip[INET6_ADDRSTRLEN], const char **port)
{
	const char *host = strchr(word, '@') ? strchr(word, '@') + 1 : word, *end;
	char bytes[sizeof(struct in6_addr)];
	size_t len;

	if (*host == '[') {
		end = strchr(++host, ']');
		*port = end && end[1] == ':' ? end + 2 : "";
	} else {
		end = strrchr(host, ':');
		*port = end ? end + 1 : "";
		end = end ? end : host + strlen(host);
	}
	len = end ? (size_t)(end - host) : 0;
	if (!len || len >= INET6_ADDRSTRLEN)
		return false;
	memcpy(ip, host, len);
	ip[len] = '\0';
	return inet_pton(AF_INET, ip, bytes) == 1 || inet_pton(AF_INET6, ip, bytes) == 1;
}

static void show_address(const struct conf_show *how, const char *word)
{
	char ip[INET6_ADDRSTRLEN], hidden[CONF_HIDDEN_MAX];
	const char *port;

	if (tells_nothing(word)) {
		fputs(word, how->out);
		return;
	}
	if (!cut_address(word, ip, &port)) {
		fputs(how->hide(how->key, word, hidden), how->out);
		return;
	}
	fputs(how->hide_ip(how->key, ip, hidden), how->out);
	port += *port == '+';
	if (strspn(port, "0123456789"))
		fprintf(how->out, ":%.*s", (int)strspn(port, "0123456789"), port);
}

static void show_word(const struct conf_show *how, const char *word, enum word_kind kind)
{
	char hidden[CONF_HIDDEN_MAX];

	switch (kind) {
	case PLAIN:
		fputs(word, how->out);
		return;
	case ADDRESS:
		show_address(how, word);
		return;
	case SECRET:
		fputs(how->hide(how->key, word, hidden), how->out);
		return;
	case NAME:
	case PATH:
		fprintf(how->out, "%s(%s)", kind == NAME ? "ID" : "PATH",
			how->hide(how->key, word, hidden));
		return;
	}
}

static void show_hidden(const struct conf_show *how, const struct conf_tokens *t)
{
	int first, kept;
	const struct shown *s = shape_of(t, &first);

	kept = s->kept + first - 1;
	for (int i = 0; i < t->count && i < kept; i++) {
		bool told = i >= first && i < first + 2;

		show_word(how, t->words[i], told ? s->kinds[i - first] : PLAIN);
		fputc(' ', how->out);
	}
	if (t->count > kept)
		fputs("[...]", how->out);
}

void conf_show_line(const struct conf_show *how, const struct conf_tokens *t, int line)
{
	bool section = conf_section_find(t->words[0], NULL) != NULL;

	if (how->numbered)
		fprintf(how->out, "%d\t", line);
	if (!section)
		fputc('\t', how->out);
	if (how->key && section) {
		fputs(t->words[0], how->out);
		if (t->count > 1) {
			fputc(' ', how->out);
			show_word(how, t->words[1], NAME);
		}
	} else if (how->key) {
		show_hidden(how, t);
	} else {
		for (int i = 0; i < t->count; i++)
			fprintf(how->out, "%s ", t->words[i]);
	}
	fputc('\n', how->out);
}

void conf_show_lines(struct config *cfg, const struct conf_show *how)
{
	cfg->state->show = how;
}

void conf_watch_lines(struct config *cfg, const struct conf_watch *watch)
{
	cfg->state->watch = watch;
}
