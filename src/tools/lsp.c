/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lsp.c - --language-server: messages of LSP 3.17 on stdin and stdout, dispatch of requests */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "codec/json.h"
#include "codec/json_text.h"
#include "lsp_priv.h"

#define MESSAGE_MAX ((size_t)64 << 20)

enum { PARSE_ERROR = -32700, UNKNOWN_METHOD = -32601, NOT_RENAMED = -32803 };

/* --- out ------------------------------------------------------------------------------------- */

static void send_message(struct lsp *x, struct slice body)
{
	fprintf(x->out, "Content-Length: %zu\r\n\r\n", body.len);
	fwrite(body.ptr, 1, body.len, x->out);
	fflush(x->out);
}

/* <id>: as it came, quotes included. */
static void put_head(struct strbuf *b, struct slice id)
{
	strbuf_add_str(b, "{\"jsonrpc\":\"2.0\",\"id\":");
	strbuf_add(b, id);
}

static void answer(struct lsp *x, struct slice id, struct slice result)
{
	struct strbuf b;

	strbuf_init(&b);
	put_head(&b, id);
	strbuf_add_str(&b, ",\"result\":");
	strbuf_add(&b, result.len ? result : SLICE("null"));
	strbuf_add_char(&b, '}');
	send_message(x, strbuf_slice(&b));
	strbuf_fini(&b);
}

static void answer_error(struct lsp *x, struct slice id, int code, const char *why)
{
	struct strbuf b;

	strbuf_init(&b);
	put_head(&b, id);
	strbuf_printf(&b, ",\"error\":{\"code\":%d,\"message\":", code);
	json_put_string(&b, slice_of(why));
	strbuf_add_str(&b, "}}");
	send_message(x, strbuf_slice(&b));
	strbuf_fini(&b);
}

void lsp_publish(struct lsp *x, struct slice body)
{
	send_message(x, body);
}

/* --- requests -------------------------------------------------------------------------------- */

static void initialize(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct slice encodings = slice_none();

	json_find(params, SLICE("$.capabilities.general.positionEncodings"), &encodings);
	x->utf8 = encodings.ptr && slice_find(encodings, SLICE("\"utf-8\"")) != SIZE_MAX;
	strbuf_printf(
		out,
		"{\"capabilities\":{\"positionEncoding\":\"%s\","
		"\"textDocumentSync\":{\"openClose\":true,\"change\":2,\"save\":true},"
		"\"completionProvider\":{\"triggerCharacters\":[\" \",\",\",\"(\",\"[\"]},"
		"\"hoverProvider\":true,\"definitionProvider\":true,\"referencesProvider\":true,"
		"\"renameProvider\":true,\"documentSymbolProvider\":true,"
		"\"documentFormattingProvider\":true},"
		"\"serverInfo\":{\"name\":\"haproxy\"}}",
		x->utf8 ? "utf-8" : "utf-16");
}

static struct lsp_document *document_of(struct lsp *x, struct slice params)
{
	struct slice uri = slice_none();

	json_find(params, SLICE("$.textDocument.uri"), &uri);
	return lsp_find(x, uri);
}

/* The whole text is replaced, where it would be another. */
static void format_document(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct lsp_document *d = document_of(x, params);
	struct strbuf text;

	strbuf_add_str(out, "[");
	strbuf_init(&text);
	if (d && !d->source.is_truncated && format_source(&d->source, &text) &&
	    !slice_eq(strbuf_slice(&text), strbuf_slice(&d->text))) {
		strbuf_printf(out,
			      "{\"range\":{\"start\":{\"line\":0,\"character\":0},\"end\":"
			      "{\"line\":%d,\"character\":0}},\"newText\":",
			      d->source.count);
		json_put_string(out, strbuf_slice(&text));
		strbuf_add_char(out, '}');
	}
	strbuf_fini(&text);
	strbuf_add_char(out, ']');
}

static void shut_down(struct lsp *x, struct slice params, struct strbuf *out)
{
	x->is_shut = true;
}

static const struct request {
	const char *method;
	void (*run)(struct lsp *x, struct slice params, struct strbuf *out);
} requests[] = {
	{ "initialize", initialize },
	{ "shutdown", shut_down },
	{ "textDocument/completion", lsp_complete },
	{ "textDocument/hover", lsp_hover },
	{ "textDocument/definition", lsp_definition },
	{ "textDocument/references", lsp_references },
	{ "textDocument/rename", lsp_rename },
	{ "textDocument/documentSymbol", lsp_symbols },
	{ "textDocument/formatting", format_document },
};

static void take_request(struct lsp *x, const char *method, struct slice id, struct slice params)
{
	struct strbuf out;

	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		if (strcmp(requests[i].method, method) != 0)
			continue;
		strbuf_init(&out);
		requests[i].run(x, params, &out);
		if (!out.len && requests[i].run == lsp_rename)
			answer_error(x, id, NOT_RENAMED,
				     "there is no name here, or the new one has "
				     "characters that names have not");
		else
			answer(x, id, strbuf_slice(&out));
		strbuf_fini(&out);
		return;
	}
	answer_error(x, id, UNKNOWN_METHOD, "this server does not know the method");
}

/* --- notifications ---------------------------------------------------------------------------- */

static void take_open(struct lsp *x, struct slice params)
{
	struct slice uri = slice_none(), text = slice_none();
	char *plain;
	long len;

	json_find(params, SLICE("$.textDocument.uri"), &uri);
	json_find(params, SLICE("$.textDocument.text"), &text);
	plain = malloc(text.len + 1);
	len = plain ? json_text_decode(text, plain) : -1;
	if (len >= 0)
		lsp_open(x, uri, slice_make(plain, (size_t)len));
	free(plain);
}

static void take_notification(struct lsp *x, const char *method, struct slice params)
{
	struct lsp_document *d = document_of(x, params);

	if (strcmp(method, "textDocument/didOpen") == 0) {
		take_open(x, params);
	} else if (strcmp(method, "textDocument/didChange") == 0 && d) {
		lsp_change(x, d, params);
	} else if (strcmp(method, "textDocument/didSave") == 0 && d) {
		d->is_stale = true;
	} else if (strcmp(method, "textDocument/didClose") == 0 && d) {
		lsp_close(x, slice_of(d->uri));
	}
}

/* --- in -------------------------------------------------------------------------------------- */

struct input {
	struct strbuf bytes;
	size_t at;
	bool ended;
};

static bool fill(struct input *in)
{
	ssize_t got;

	if (in->at > in->bytes.len / 2 && in->at) {
		memmove(in->bytes.ptr, in->bytes.ptr + in->at, in->bytes.len - in->at);
		in->bytes.len -= in->at;
		in->at = 0;
	}
	if (!strbuf_reserve(&in->bytes, 1 << 16))
		return false;
	do {
		got = read(STDIN_FILENO, in->bytes.ptr + in->bytes.len, 1 << 16);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	in->bytes.len += (size_t)got;
	return true;
}

/* The next message, if it is all there: its body. False: more is needed. <bad>: it never will be.
 */
static bool next_message(struct input *in, struct slice *body, bool *bad)
{
	static const char field[] = "content-length:";
	struct slice rest = slice_sub(strbuf_slice(&in->bytes), in->at, in->bytes.len);
	size_t end = slice_find(rest, SLICE("\r\n\r\n"));
	struct slice head = slice_sub(rest, 0, end);
	size_t at = slice_find_nocase(head, slice_of(field)), len = 0;

	*bad = end == SIZE_MAX && rest.len > 4096;
	if (end == SIZE_MAX)
		return false;
	for (at = at == SIZE_MAX ? head.len : at + strlen(field);
	     at < head.len && (head.ptr[at] == ' ' || ascii_is_digit(head.ptr[at])) &&
	     len < MESSAGE_MAX;
	     at++)
		if (head.ptr[at] != ' ')
			len = len * 10 + (size_t)(head.ptr[at] - '0');
	*bad = !len || len >= MESSAGE_MAX;
	if (*bad || rest.len - end - 4 < len)
		return false;
	*body = slice_sub(rest, end + 4, end + 4 + len);
	in->at += end + 4 + len;
	return true;
}

/* Carries one out. False: it was "exit". */
static bool take_message(struct lsp *x, struct slice body)
{
	struct slice method = slice_none(), id = slice_none(), params = slice_none();
	enum json_type type = json_find(body, SLICE("$.id"), &id);
	char name[128];

	if (json_find(body, SLICE("$.method"), &method) != JSON_STRING) {
		if (json_find(body, SLICE("$"), &params) != JSON_OBJECT)
			answer_error(x, SLICE("null"), PARSE_ERROR, "this is no message");
		return true; /* an answer to nothing that was asked */
	}
	if (type == JSON_STRING)
		id = slice_make(id.ptr - 1, id.len + 2);
	json_find(body, SLICE("$.params"), &params);
	slice_copy(method, name, sizeof(name));
	if (strcmp(name, "exit") == 0)
		return false;
	if (type == JSON_NONE)
		take_notification(x, name, params);
	else
		take_request(x, name, id, params);
	return true;
}

#define CHECKS_MAX 16 /* at once */

/* Waits for bytes of the client, and meanwhile for what children say of documents that were
 * changed; they are started once no message waits, for an editor sends one for each key.
 */
static void wait_for_more(struct lsp *x)
{
	struct pollfd fds[CHECKS_MAX + 1] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	struct lsp_document *documents[CHECKS_MAX + 1];

	while (poll(fds, 1, 0) == 0) {
		nfds_t count = 1;

		for (struct lsp_document *d = x->documents; d && count <= CHECKS_MAX; d = d->next) {
			if (d->is_stale)
				lsp_check_begin(x, d);
			if (!d->checker)
				continue;
			documents[count] = d;
			fds[count++] = (struct pollfd){ .fd = d->fd, .events = POLLIN };
		}
		if (poll(fds, count, -1) < 0)
			return;
		for (nfds_t i = 1; i < count; i++)
			if (fds[i].revents)
				lsp_check_take(x, documents[i]);
		if (fds[0].revents)
			return;
	}
}

/* Until the client says exit, or is gone. */
static void serve(struct lsp *x)
{
	struct input in = { .at = 0 };
	bool bad = false, over = false;
	struct slice body;

	strbuf_init(&in.bytes);
	while (!over && !bad) {
		if (next_message(&in, &body, &bad)) {
			over = !take_message(x, body);
		} else if (!bad) {
			wait_for_more(x);
			over = !fill(&in);
		}
	}
	if (bad)
		fprintf(stderr, "language server: no message of LSP on stdin\n");
	strbuf_fini(&in.bytes);
}

int language_server_run(const struct tools_host *host)
{
	struct lsp x = { .host = host, .out = stdout };
	bool good = lsp_vocabulary_read(&x);

	if (good)
		serve(&x);
	while (x.documents)
		lsp_close(&x, slice_of(x.documents->uri));
	free(x.words);
	arena_fini(&x.arena);
	return good && x.is_shut ? 0 : 1;
}
