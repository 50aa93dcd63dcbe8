/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acl_priv.h - what conditions need of ACLs */
#ifndef SRC_EXPR_ACL_PRIV_H
#define SRC_EXPR_ACL_PRIV_H

#include "expr_priv.h"

struct acl_source {
	struct acl_source *next;
	struct pattern_set *set;
};

/* One line of an ACL. */
struct acl_test {
	struct acl_test *next;
	struct expr *expr;
	enum pattern_method method;
	struct acl_source *sources;
	const char *keyword; /* as written, for messages */
	const char *where;   /* what messages begin with */
};

struct acl {
	struct acl *next;
	const char *name; /* NULL: anonymous */
	struct acl_test *tests;
};

struct acl_set {
	struct config *cfg;
	struct acl *first;
};

/* One test at words l->at to <end> (exclusive). <where>: the start of messages, in the arena. NULL:
 * reported.
 */
struct acl_test *acl_test_parse(struct conf_line *l, int end, const char *where);
struct acl *acl_find(const struct acl_set *set, const char *name);
bool acl_is_predefined(const char *name);
struct acl *acl_find_predefined(struct conf_line *l, struct acl_set *set, const char *name,
				const char *where);
enum expr_result acl_eval(const struct acl *a, struct expr_ctx *ctx);

#endif
