/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump_priv.h - output about the program and about configurations on a terminal */
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
/* -vq; only the first <parts> of the numbers: 3 for -vqs, 2 for -vqb. */
void version_print_word(FILE *out, int parts);
/* -vv. */
void version_print_build(FILE *out);
/* The last part of -vv, which -V prints, too. */
void version_print_filters(FILE *out);
/* Passes version, features and the features that <o> (kept) switches off to the configuration
 * engine.
 */
void version_publish_facts(const struct main_options *o);

/* --- dump.c */
/* -dL: prints the program's file, then those of its libraries; <places>: with their addresses. */
void libraries_dump(const char *program, bool places, FILE *out);
/* Prints the program's file and those of its libraries, each after the addresses where it is
 * mapped.
 */
void libraries_dump_places(FILE *out);
/* -dA: writes the same files, with their contents, to <path>, in tar format. Returns false:
 * reported.
 */
bool libraries_archive(const char *program, const char *path);
/* -dK. Returns false: unknown class, or help was requested. */
bool keyword_dump(const char *classes, const struct module *const *modules, FILE *out);

/* --- help.c */
/* --help-keyword: prints everything in the tables about a word. Returns false: nothing found. */
bool keyword_help(const struct module *const *modules, const char *name, FILE *out);
/* --explain: prints what the rules would do with a request, on stdout. Returns false: reported. */
bool request_explain(struct config *cfg, const struct main_options *o);

/* --- compat.c: meanings of lines in older versions */
/* Returns the number of a version ("2.6": 206), as in struct main_options; 0: unknown version. */
int compat_version(const char *text);
/* Starts to collect lines while a configuration is read, if --compat or -dD requires it; otherwise
 * returns NULL.
 */
struct compat *compat_begin(struct config *cfg, const struct main_options *o);
/* Prints the matches to stdout (--compat) and <diags> (-dD), and frees <c>, which may be NULL. */
void compat_end(struct compat *c, struct config *cfg, const struct main_options *o,
		struct diag_list *diags);

/* --- vocabulary.c: -dKdoc, everything in the keyword tables, for the manual's tables */
void vocabulary_dump(const struct module *const *modules, FILE *out);

#endif
