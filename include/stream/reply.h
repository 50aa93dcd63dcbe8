/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reply.h - answers made by rules: deny, tarpit, return
 *
 * A reply is parsed once and built as often as its rule applies. Owned by the configuration.
 * Manual: configuration 4.4 return.
 */
#ifndef STREAM_REPLY_H
#define STREAM_REPLY_H

#include "http/error_page.h"
#include "stream/action.h"

struct reply;

/* Parses the words up to the condition. <status>: when none is given. <deny>: the action is deny or
 * tarpit, which answers an error page unless told otherwise. NULL: reported.
 */
struct reply *reply_parse(struct conf_line *l, const struct rule *r, unsigned status, bool deny);
/* Resolves the http-errors section that it names. */
bool reply_check(struct config *cfg, struct reply *reply, const struct rule *r,
		 struct diag_list *diags);

/* What http-error lines give beside pages: answers to be made each time. */
struct reply_pages {
	const struct reply *replies[HTTP_PAGE_COUNT];
	const void *since[HTTP_PAGE_COUNT]; /* http_page_mark() when it was said */
};

/* Parses `http-error`: what never changes becomes a page of the proxy. *pages, shared with others
 * or NULL, is replaced by one of the line's proxy.
 */
bool reply_error_line_parse(struct conf_line *l, const struct reply_pages **pages);
/* The answer for <status> unless a page was given later; NULL: none, as when <pages> is NULL.
 * <slots>: the proxy's.
 */
const struct reply *reply_of_pages(const struct reply_pages *pages, const struct slot_area *slots,
				   unsigned status);

enum reply_result { REPLY_DONE, REPLY_SILENT, REPLY_FAILED };
/* Builds it in s->res. SILENT: nothing is to be sent. */
enum reply_result reply_make(const struct reply *reply, struct stream *s, struct expr_ctx *ctx);

#endif
