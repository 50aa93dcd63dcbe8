/* SPDX-License-Identifier: GPL-2.0-or-later */
/* anon.c - replacements for names and addresses in anonymised sessions */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/hash.h"
#include "session_priv.h"

static uint32_t common_key; /* atomic */

void ctl_set_anon_key(uint32_t key)
{
	__atomic_store_n(&common_key, key, __ATOMIC_RELAXED);
}

uint32_t ctl_anon_key(const struct ctl_request *rq)
{
	return rq->session->anon_key;
}

/* 24 bits: many texts have the same hash, so that a reader cannot tell which one it was. */
static unsigned hide(uint32_t key, const char *text)
{
	return hash_xxh32(text, strlen(text), key) & 0xffffff;
}

const char *ctl_hide(uint32_t key, const char *text, char out[CTL_HIDE_MAX])
{
	if (!key)
		return text;
	snprintf(out, CTL_HIDE_MAX, "%06x", hide(key, text));
	return out;
}

const char *ctl_hide_ip(uint32_t key, const char *ip, char out[CTL_HIDE_MAX])
{
	if (!key || strncmp(ip, "127.", 4) == 0 || strcmp(ip, "::1") == 0 || strcmp(ip, "-") == 0)
		return ip;
	if (!strpbrk(ip, ".:"))
		return ctl_hide(key, ip, out);
	snprintf(out, CTL_HIDE_MAX, "IPV%c(%06x)", strchr(ip, ':') ? '6' : '4', hide(key, ip));
	return out;
}

/* --- commands --------------------------------------------------------------------------------- */

/* Never 0. */
static uint32_t random_key(void)
{
	uint32_t key = 0;

	if (getrandom(&key, sizeof(key), 0) != sizeof(key) || !key)
		key = 1 + (uint32_t)(ctl_uptime_ns() & 0xffff);
	return key;
}

/* False: not a number of 32 bits. */
static bool parse_key(const char *word, uint32_t *key)
{
	char *end;
	unsigned long long value = strtoull(word, &end, 10);

	*key = (uint32_t)value;
	return end != word && !*end && *word != '-' && value <= UINT32_MAX;
}

static enum ctl_step set_anon_on(struct ctl_request *rq)
{
	const char *word = rq->words[rq->at];
	uint32_t key = __atomic_load_n(&common_key, __ATOMIC_RELAXED);

	if (word && (!parse_key(word, &key) || !key))
		ctl_error(rq, "Value out of range (1 to 4294967295 expected).");
	else
		rq->session->anon_key = key ? key : random_key();
	return CTL_DONE;
}

static enum ctl_step set_anon_off(struct ctl_request *rq)
{
	if (rq->words[rq->at])
		ctl_error(rq, "Key can't be added while disabling anonymized mode");
	else
		rq->session->anon_key = 0;
	return CTL_DONE;
}

static enum ctl_step set_anon_global_key(struct ctl_request *rq)
{
	const char *word = rq->words[rq->at];
	uint32_t key;

	if (!word)
		ctl_error(rq, "Expects an integer value.");
	else if (!parse_key(word, &key))
		ctl_error(rq, "Value out of range (0 to 4294967295 expected).");
	else
		ctl_set_anon_key(key);
	return CTL_DONE;
}

static enum ctl_step show_anon(struct ctl_request *rq)
{
	uint32_t key = rq->session->anon_key;

	if (key)
		ctl_say(rq, "Anonymized mode enabled\nKey : %u", key);
	else
		ctl_say(rq, "Anonymized mode disabled");
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "set anon global-key", .level = CTL_ADMIN, .syntax = "<value>",
	  .help = "set the key of sessions that set none; 0: a random one",
	  .run = set_anon_global_key },
	{ .words = "set anon off", .help = "show names and addresses again", .run = set_anon_off },
	{ .words = "set anon on", .syntax = "[value]",
	  .help = "hide names and addresses in the answers of this session",
	  .run = set_anon_on },
	{ .words = "show anon", .help = "show whether names are hidden, and with which key",
	  .run = show_anon },
	{ 0 }
};

const struct module mod_ctl_anon = { .name = "ctl_anon", .commands = commands };
