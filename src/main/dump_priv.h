/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump_priv.h - what the program tells of itself and of configurations on a terminal */
#ifndef MAIN_DUMP_PRIV_H
#define MAIN_DUMP_PRIV_H

#include <stdbool.h>
#include <stdio.h>
#include "base/diag.h"
#include "base/module.h"
#include "conf/conf.h"

struct compat;
struct main_options;

/* --- version.c */
const char *version_text(void);
const char *version_date(void);
void version_print(FILE *out);
/* -vq; <parts> of the numbers only: 3 for -vqs, 2 for -vqb. */
void version_print_word(FILE *out, int parts);
/* -vv. */
void version_print_build(FILE *out);
/* The last part of it, which -V shows too. */
void version_print_filters(FILE *out);
/* Tells the configuration engine about version, features and what <o> (kept) switches off. */
void version_publish_facts(const struct main_options *o);

/* --- dump.c */
/* -dL: the program's file, then those of its libraries; <places>: with their addresses. */
void libraries_dump(const char *program, bool places, FILE *out);
/* The program's file and those of its libraries, each behind the addresses where it is mapped. */
void libraries_dump_places(FILE *out);
/* -dA: writes the same files, with all their bytes, to <path>, in the format of tar. False: why was
 * said.
 */
bool libraries_archive(const char *program, const char *path);
/* -dK. False: unknown class, or help was asked for. */
bool keyword_dump(const char *classes, const struct module *const *modules, FILE *out);

/* --- help.c */
/* --help-keyword: all that the tables tell of a word. False: nothing. */
bool keyword_help(const struct module *const *modules, const char *name, FILE *out);
/* --explain: what the rules would do with a request, on stdout. False: said why not. */
bool request_explain(struct config *cfg, const struct main_options *o);

/* --- compat.c : what lines meant in older versions */
/* The number of a version ("2.6": 206), as of struct main_options; 0: it is none that is known. */
int compat_version(const char *text);
/* Collects the lines while a configuration is read, where --compat or -dD asks for them; else
 * NULL.
 */
struct compat *compat_begin(struct config *cfg, const struct main_options *o);
/* Tells what was found, to stdout (--compat) and <diags> (-dD), frees <c>, which may be NULL. */
void compat_end(struct compat *c, struct config *cfg, const struct main_options *o,
		struct diag_list *diags);

/* --- vocabulary.c : -dKdoc, everything that the tables tell, for the manual's tables */
void vocabulary_dump(const struct module *const *modules, FILE *out);

#endif
