/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump.c - -dK: the registered keywords, class by class; -dL: the loaded libraries */
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "ctl/ctl.h"
#include "expr/expr.h"
#include "dump_priv.h"
#include "stream/filter.h"
#include "stream/service.h"

static const struct {
	const char *name, *title;
	void (*dump)(FILE *out);
} classes[] = {
	{ "acl", "ACL keywords", expr_dump_acls },
	{ "cfg", "configuration keywords", conf_dump_keywords },
	{ "cli", "CLI keywords", ctl_dump_commands },
	{ "cnv", "sample converter functions", expr_dump_converters },
	{ "flt", "filter names", filters_dump },
	{ "smp", "sample fetch functions", expr_dump_fetches },
	{ "svc", "service names", services_dump },
};

#define CLASS_COUNT (sizeof(classes) / sizeof(*classes))

static void dump_class(size_t i, FILE *out)
{
	fprintf(out, "# List of registered %s:\n", classes[i].title);
	classes[i].dump(out);
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(text, word, len) == 0;
}

static bool dump_named(const char *name, size_t len, FILE *out)
{
	for (size_t i = 0; i < CLASS_COUNT; i++) {
		if (is_word(name, len, classes[i].name)) {
			dump_class(i, out);
			return true;
		}
	}
	return false;
}

static void dump_help(void)
{
	fprintf(stderr, "# List of supported keyword classes:\nall: list all keywords\n");
	for (size_t i = 0; i < CLASS_COUNT; i++)
		fprintf(stderr, "%s: %s\n", classes[i].name, classes[i].title);
}

bool keyword_dump(const char *list, const struct module *const *modules, FILE *out)
{
	while (*list) {
		size_t len = strcspn(list, ",");

		if (is_word(list, len, "all")) {
			for (size_t i = 0; i < CLASS_COUNT; i++)
				dump_class(i, out);
		} else if (is_word(list, len, "doc")) {
			vocabulary_dump(modules, out); /* a class of our own: not in "all" */
		} else if (!dump_named(list, len, out)) {
			dump_help();
			return false;
		}
		list += len + (list[len] == ',');
	}
	fflush(out);
	return true;
}

static int print_object(struct dl_phdr_info *info, size_t size, void *out)
{
	/* the program itself comes first, without a name; the kernel's has no file */
	if (info->dlpi_name[0] == '/')
		fprintf(out, "%s\n", info->dlpi_name);
	return 0;
}

static int print_place(struct dl_phdr_info *info, size_t size, void *out)
{
	uintptr_t low = UINTPTR_MAX, high = 0;
	const char *name = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	char program[PATH_MAX] = "";

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + h->p_vaddr < low)
			low = info->dlpi_addr + h->p_vaddr;
		if (info->dlpi_addr + h->p_vaddr + h->p_memsz > high)
			high = info->dlpi_addr + h->p_vaddr + h->p_memsz;
	}
	if (name[0] != '/' || low >= high)
		return 0;
	if (!info->dlpi_name[0] && readlink(name, program, sizeof(program) - 1) > 0)
		name = program;
	fprintf(out, "0x%012" PRIxPTR "-0x%012" PRIxPTR " (0x%07" PRIxPTR ") %s\n", low, high - 1,
		high - low, name);
	return 0;
}

void libraries_dump_places(FILE *out)
{
	dl_iterate_phdr(print_place, out);
}

void libraries_dump(const char *program, bool places, FILE *out)
{
	fprintf(out, "List of loaded object files:\n");
	if (places) {
		libraries_dump_places(out);
	} else {
		fprintf(out, "%s\n", program);
		dl_iterate_phdr(print_object, out);
	}
	fflush(out);
}
