/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stats.h - the figures of an object as the columns of `show stat`
 *
 * Purpose: one array of values per object for all outputs: CSV, typed, JSON, a page, a metric.
 * Owns   : nothing: texts are borrowed or lie in the row.
 * Threads: any; values are sums of shards, read at about the same time.
 * Manual : management 9.1, 9.2.
 */
#ifndef MANAGE_STATS_H
#define MANAGE_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include "proxy/check.h"
#include "manage/stats_fields.h"

struct config;
struct listener_conf;
struct proxy;
struct server;
struct strbuf;

#define X(id, name, what) STATS_##id,
enum stats_field { STATS_FIELDS(X) STATS_BASE_COUNT };
#undef X
#define X(name, sides, nature) STATS_EXTRA_##name,
enum stats_extra { STATS_EXTRA(X) STATS_EXTRA_COUNT };
#undef X
#define STATS_CSV_COUNT (STATS_BASE_COUNT + STATS_EXTRA_COUNT)
#define X(id, name, sides, nature, what) STATS_##id,
enum stats_own { STATS_BEFORE_OWN = STATS_CSV_COUNT - 1, STATS_OWN(X) STATS_COUNT };
#undef X

enum stats_type { STATS_EMPTY, STATS_STR, STATS_U32, STATS_S32, STATS_U64 };

struct stats_value {
	enum stats_type type;
	/* origin, nature, scope: "MCP"; the fourth letter of the manual (9.2) belongs to the column
	 */
	char tag[4];
	union {
		const char *text;
		int64_t number;
	};
};

enum stats_kind { STATS_FRONTEND, STATS_BACKEND, STATS_SERVER, STATS_LISTENER };

struct stats_row {
	enum stats_kind kind;
	unsigned proxy_id, id;
	char address[160], status[64], cookie[17];
	char check_status[12], agent_status[12], tracked[256];
	char check_text[CHECK_TEXT_MAX], agent_text[CHECK_TEXT_MAX];
	struct stats_value values[STATS_COUNT];
};

/* Each function fills a whole row. */
void stats_fill_frontend(struct stats_row *r, const struct proxy *px);
void stats_fill_backend(struct stats_row *r, const struct proxy *px, bool with_counts);
void stats_fill_server(struct stats_row *r, const struct server *srv);
void stats_fill_listener(struct stats_row *r, const struct listener_conf *lc);

/* Print a row, and the header of CSV, for `show stat`. JSON: without commas between rows. */
void stats_print_csv_header(struct strbuf *out);
void stats_print_csv(struct strbuf *out, const struct stats_row *r);
void stats_print_typed(struct strbuf *out, const struct stats_row *r, bool desc);
void stats_print_json(struct strbuf *out, const struct stats_row *r);

/* Prints the JSON schema of `show stat json` and `show info json`. */
void stats_print_schema(struct strbuf *out);

/* Returns the name of a column; <field> must be below STATS_COUNT. */
const char *stats_field_name(unsigned field);
/* Returns the description of a column. */
const char *stats_field_help(unsigned field);

/* Returns an extra counter (of transports and protocols); without such a function they are zero.
 * The object is a struct proxy, server or listener_conf, depending on <kind>.
 */
typedef uint64_t stats_extra_fn(enum stats_kind kind, const void *object, enum stats_extra field);

/* Returns the name of a backend's persistence cookie, or NULL. */
typedef const char *stats_cookie_fn(const struct proxy *px);
/* Returns the cookie value of a server, its own or one computed in <room>, or NULL. */
typedef const char *stats_server_cookie_fn(const struct server *srv, char room[17]);
void stats_set_cookie(stats_cookie_fn *fn, stats_server_cookie_fn *of_server);

/* One field of `show info`. */
struct stats_process_field {
	const char *name, *help;
	double number;
	const char *text;        /* NULL: a number */
};
typedef void stats_process_emit_fn(void *ctx, const struct stats_process_field *field);
/* Calls <emit> for each field of the process. Installed once, before traffic. */
typedef void stats_process_fn(const struct config *cfg, stats_process_emit_fn *emit, void *ctx);
void stats_set_process(stats_process_fn *fn);
/* Calls <emit> for each field; never if no function was installed. */
void stats_each_process_field(const struct config *cfg, stats_process_emit_fn *emit, void *ctx);

#endif
