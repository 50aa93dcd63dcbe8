/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error_page.c - answers for requests that cannot be served */
#include "http/error_page.h"

#include <errno.h>
#include <stdlib.h>
#include "base/file.h"
#include "base/bug.h"
#include "error_page_priv.h"

#define FIELD_TEXT(symbol, name_text, value_text) \
	{ .name = SLICE(name_text), .value = value_text, .id = FIELD_##symbol }

/* Fields of an errorfile: more than that is surely a mistake. */
#define PAGE_FIELDS_MAX 100

/* The built-in pages: each status has its body, and a field list with the body's length. */
#define PAGE_BODY(status, reason, text) \
	"<html><body><h1>" #status " " reason "</h1>\n" text "\n</body></html>\n"

/* The decimal text of a length of 10 to 999, as constant expressions. */
#define LENGTH_TEXT(n) \
	{ (n) >= 100 ? '0' + (n) / 100 : '0' + (n) / 10, \
	  (n) >= 100 ? '0' + (n) / 10 % 10 : '0' + (n) % 10, \
	  (n) >= 100 ? '0' + (n) % 10 : '\0' }

#define X(status, reason, text, flags) \
	static const char length_##status[3] = \
		LENGTH_TEXT(sizeof(PAGE_BODY(status, reason, text)) - 1); \
	static const struct h1_field fields_##status[] = { \
		FIELD_TEXT(CONTENT_LENGTH, "content-length", \
			   ((struct slice){ length_##status, \
			     sizeof(PAGE_BODY(status, reason, text)) > 100 ? 3 : 2 })), \
		FIELD_TEXT(CACHE_CONTROL, "cache-control", SLICE("no-cache")), \
		FIELD_TEXT(CONTENT_TYPE, "content-type", SLICE("text/html")), \
	};
HTTP_PAGES(X)
#undef X

static const struct http_page builtin_pages[HTTP_PAGE_COUNT] = {
#define X(code, reason_text, text, page_flags) \
	[HTTP_PAGE_##code] = { \
		.status = code, .version = 11, .body_kind = HTTP_BODY_LENGTH, \
		.flags = HTTP_MSG_RESPONSE | (page_flags), .reason = SLICE(reason_text), \
		.fields = fields_##code, .field_count = ARRAY_LEN(fields_##code), \
		.body = SLICE(PAGE_BODY(code, reason_text, text)), \
	},
	HTTP_PAGES(X)
#undef X
};

struct slot http_page_proxy_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct http_page_proxy),
};

int http_page_index(unsigned status)
{
	int i;

	for (i = 0; i < HTTP_PAGE_COUNT; i++) {
		if (builtin_pages[i].status == status)
			return i;
	}
	return -1;
}

const struct http_page *http_page_builtin(unsigned status)
{
	int index = http_page_index(status);

	return &builtin_pages[index < 0 ? HTTP_PAGE_500 : index];
}

const struct http_page *http_page_custom(const struct slot_area *proxy_slots, unsigned status)
{
	const struct http_page_proxy *pages;
	int index = http_page_index(status);

	if (!proxy_slots)
		return NULL;
	pages = slot_of(&http_page_proxy_slot, proxy_slots);
	index = index < 0 ? HTTP_PAGE_500 : index;
	return pages->entries[index] ? pages->entries[index]->page : NULL;
}

const void *http_page_mark(const struct slot_area *proxy_slots, int index)
{
	const struct http_page_proxy *pages = slot_of(&http_page_proxy_slot, proxy_slots);

	return pages->entries[index];
}

const struct http_page *http_page_find(const struct slot_area *backend,
				       const struct slot_area *frontend, unsigned status)
{
	const struct http_page *page = http_page_custom(backend, status);

	if (!page)
		page = http_page_custom(frontend, status);
	return page ? page : http_page_builtin(status);
}

bool http_page_fill(const struct http_page *page, struct http_msg *head, struct slice *body)
{
	if (page->silent || !http_fields_reserve(&head->fields, head->arena, page->field_count + 4))
		return false;
	if (page->field_count)
		memcpy(head->fields.list, page->fields, page->field_count * sizeof(*page->fields));
	head->fields.count = page->field_count;
	head->flags = page->flags;
	head->version = page->version;
	head->version_text = page->version == 11 ? SLICE("HTTP/1.1") : SLICE("HTTP/1.0");
	head->status = page->status;
	head->reason = page->reason;
	head->body = page->body_kind;
	head->content_length = page->body_kind == HTTP_BODY_LENGTH ? page->body.len : 0;
	*body = page->body;
	return true;
}

bool http_error_page(const struct slot_area *proxy_slots, unsigned status, struct http_msg *head,
		     struct slice *body)
{
	return http_page_fill(http_page_find(NULL, proxy_slots, status), head, body);
}

/* --- making pages --------------------------------------------------------------------------- */

/* Copies the head's facts into a page; Connection fields go, since muxes write their own. */
static bool page_set_head(struct config *cfg, struct http_page *page, const struct h1_head *h)
{
	struct h1_field *list = arena_alloc(&cfg->arena, (h->field_count + 1) * sizeof(*list));
	unsigned i;

	if (!list)
		return false;
	page->fields = list;
	for (i = 0; i < h->field_count; i++) {
		if (h->fields[i].id != FIELD_CONNECTION)
			list[page->field_count++] = h->fields[i];
	}
	page->status = h->status;
	page->version = h->minor == 0 ? 10 : 11;
	page->reason = h->reason;
	page->flags = HTTP_MSG_RESPONSE;
	if (h->flags & H1_FL_CONN_CLOSE)
		page->flags |= HTTP_MSG_CONN_CLOSE;
	page->body_kind = HTTP_BODY_CLOSE;
	if (h->flags & H1_FL_CONTENT_LENGTH)
		page->body_kind = HTTP_BODY_LENGTH;
	else if (h->body == H1_BODY_NONE)
		page->body_kind = HTTP_BODY_NONE;
	return true;
}

static struct http_page *page_no_memory(const char **error)
{
	*error = "out of memory";
	return NULL;
}

/* Says why the head and body that were parsed cannot be a page; NULL: they can. */
static const char *page_head_error(struct config *cfg, const struct h1_head *h, size_t body_len)
{
	const char *text = NULL;

	if (h->status < 200)
		text = "1xx response not supported";
	else if (h->flags & H1_FL_CHUNKED)
		text = "chunk-encoded payload not supported";
	else if ((h->flags & H1_FL_CONTENT_LENGTH) && h->content_length != body_len)
		text = arena_printf(&cfg->arena, "payload size does not match the announced "
				    "content-length (%zu != %llu)", body_len,
				    (unsigned long long)h->content_length);
	else if (h->body == H1_BODY_NONE && !(h->flags & H1_FL_CONTENT_LENGTH) && body_len)
		text = "payload not allowed with this status";
	return text;
}

struct http_page *http_page_parse(struct config *cfg, struct slice raw, const char **error)
{
	struct http_page *page = arena_zalloc(&cfg->arena, sizeof(*page));
	struct h1_field fields[PAGE_FIELDS_MAX];
	struct h1_head head = { .fields = fields, .field_capacity = PAGE_FIELDS_MAX };
	struct slice copy = arena_copy(&cfg->arena, raw);
	struct h1_parser parser;
	enum h1_status status;

	if (!page || !copy.ptr)
		return page_no_memory(error);
	page->silent = raw.len == 0;
	if (page->silent)
		return page;
	h1_parser_init(&parser, H1_OPT_RESPONSE);
	status = h1_parse_head(&parser, copy, &head);
	if (status != H1_DONE) {
		*error = status == H1_MORE ? "unable to parse headers (incomplete)" :
			arena_printf(&cfg->arena, "unable to parse headers (%s, error offset: %u)",
				     h1_error_text(parser.error), parser.error_offset);
		return *error ? NULL : page_no_memory(error);
	}
	page->body = slice_sub(copy, head.length, copy.len);
	*error = page_head_error(cfg, &head, page->body.len);
	if (*error)
		return NULL;
	return page_set_head(cfg, page, &head) ? page : page_no_memory(error);
}

struct http_page *http_page_load(struct config *cfg, const char *path, const char **error)
{
	size_t size = block_size(), len;
	char *area = file_load(path, size, &len);
	struct http_page *page;

	if (!area) {
		*error = errno == EFBIG
				 ? arena_printf(&cfg->arena,
						"'%s': larger than tune.bufsize (%zu bytes)",
						path, size)
				 : arena_printf(&cfg->arena, "error opening file '%s'", path);
		return *error ? NULL : page_no_memory(error);
	}
	page = http_page_parse(cfg, slice_make(area, len), error);
	if (!page)
		*error = arena_printf(&cfg->arena, "'%s': %s", path, *error);
	free(area);
	return page || *error ? page : page_no_memory(error);
}

struct http_page *http_page_redirect(struct config *cfg, unsigned status, struct slice location)
{
	struct http_page *page = arena_zalloc(&cfg->arena, sizeof(*page));
	struct h1_field *list = arena_alloc(&cfg->arena, 3 * sizeof(*list));

	if (!page || !list)
		return NULL;
	list[0] = (struct h1_field)FIELD_TEXT(CACHE_CONTROL, "cache-control", SLICE("no-cache"));
	list[1] = (struct h1_field)FIELD_TEXT(CONTENT_LENGTH, "content-length", SLICE("0"));
	list[2] = (struct h1_field)FIELD_TEXT(LOCATION, "location", location);
	*page = (struct http_page){
		.status = status, .version = 11, .body_kind = HTTP_BODY_LENGTH,
		.flags = HTTP_MSG_RESPONSE, .reason = http_reason(status), .fields = list,
		.field_count = 3, .body = SLICE(""),
	};
	return page;
}
