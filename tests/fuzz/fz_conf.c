/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fz_conf.c - any bytes as a configuration, with a small vocabulary: words, variables, conditions,
 * values, options. Nothing must crash or leak, and what failed must have been reported.
 */
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"

struct fuzz_object {
	uint64_t bits, size, big;
	int64_t time, seconds;
	int number;
	bool flag;
	const char *text;
};

static struct slot object_slot = { .of = SLOT_PROXY, .size = sizeof(struct fuzz_object) };
static union {
	struct fuzz_object object;
	char room[256];
} area __attribute__((aligned(16)));

static bool parse_options(struct conf_line *l)
{
	enum conf_place where = l->words[0][0] == 'b' ? CONF_BIND : CONF_SERVER;

	l->at = where == CONF_BIND ? 2 : 3;
	return conf_take_options(l, where, &area, (void *)&area);
}

static bool open_any(struct conf_line *l)
{
	if (l->count > 2)
		return conf_take_end(l);
	l->object = &area;
	l->slots = (void *)&area;
	return true;
}

static const struct conf_section sections[] = {
	{ .name = "defaults", .where = CONF_DEFAULTS, .open = open_any },
	{ .name = "frontend", .where = CONF_FRONTEND, .open = open_any },
	{ .name = "backend", .where = CONF_BACKEND, .open = open_any },
	{ .name = "listen", .where = CONF_LISTEN, .open = open_any },
	{ .name = "ring", .where = CONF_OTHER, .open = open_any },
	{ 0 }
};

#define ANY (CONF_PROXY | CONF_BIND | CONF_SERVER)
#define AT(member) .slot = &object_slot, .offset = offsetof(struct fuzz_object, member)

static const struct conf_keyword keywords[] = {
	{ .words = "flag", .where = ANY, .type = CONF_FLAG, .flags = CONF_CAN_NO, AT(flag) },
	{ .words = "option one", .where = CONF_DEF_FE, .type = CONF_BIT, .min = 1,
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT, AT(bits) },
	{ .words = "number", .where = ANY, .type = CONF_INT, .min = -5, .max = 5, AT(number) },
	{ .words = "big", .where = ANY, .type = CONF_UINT64, AT(big) },
	{ .words = "time out", .where = CONF_PROXY, .type = CONF_TIME_MS, AT(time) },
	{ .words = "time", .where = CONF_BIND | CONF_SERVER, .type = CONF_TIME_S, AT(seconds) },
	{ .words = "size", .where = ANY, .type = CONF_SIZE, AT(size) },
	{ .words = "text", .where = ANY, .type = CONF_STRING, AT(text) },
	{ .words = "tlv", .where = CONF_SERVER, .flags = CONF_PREFIX, .type = CONF_STRING,
	  AT(text) },
	{ .words = "new", .where = CONF_PROXY, .flags = CONF_EXPERIMENTAL, .type = CONF_FLAG,
	  AT(flag) },
	{ .words = "size", .where = CONF_OTHER, .section = "ring", .type = CONF_FLAG, AT(flag) },
	{ .words = "bind", .where = CONF_FE, .min_args = 1, .max_args = -1,
	  .parse = parse_options },
	{ .words = "server", .where = CONF_BE, .flags = CONF_STRICT_PLACE, .min_args = 2,
	  .max_args = -1, .parse = parse_options },
	{ 0 }
};

static const struct module fuzz_module = {
	.name = "fuzz", .sections = sections, .keywords = keywords
};
static const struct module *const modules[] = {
	&mod_conf, &fuzz_module, &mod_conf_legacy, NULL
};

static void start(void)
{
	static bool started;

	if (started)
		return;
	started = true;
	clearenv();
	setenv("A", "a b", 1);
	setenv("E", "", 1);
	slot_register(&object_slot);
	if (!conf_register(modules))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag_list diags;
	struct config *cfg;
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	bool good;

	start();
	/* default-path would move this very process about */
	if (memmem(data, size, "default-path", 12))
		return 0;
	cfg = config_new();
	out = open_memstream(&text, &len);
	if (!cfg || !out)
		abort();
	diag_list_init(&diags);
	good = conf_read_text(cfg, "fuzz", slice_make((const char *)data, size), &diags);
	if (good != (diags.alerts == 0))
		abort();
	diag_print(&diags, DIAG_DIAG, out);
	fclose(out);
	if (!good && !len)
		abort();
	free(text);
	diag_list_fini(&diags);
	config_drop(&cfg);
	return 0;
}
