/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stats.h - the figures of an object as the columns of `show stat`
 *
 * Purpose: one array of values per object, whatever prints it: CSV, typed, JSON, a page, a
 * metric.
 * Owns   : nothing: texts are borrowed or stand in the row.
 * Threads: any; values are sums of shards at about the same time.
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
	char tag[4];             /* origin, nature, scope: "MCP"; the fourth letter of the
				  * manual (9.2) is the column's */
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

/* Each fills the whole row. */
void stats_fill_frontend(struct stats_row *r, const struct proxy *px);
void stats_fill_backend(struct stats_row *r, const struct proxy *px, bool with_counts);
void stats_fill_server(struct stats_row *r, const struct server *srv);
void stats_fill_listener(struct stats_row *r, const struct listener_conf *lc);

/* What `show stat` prints of a row, and before the rows of CSV. JSON: without commas between. */
void stats_print_csv_header(struct strbuf *out);
void stats_print_csv(struct strbuf *out, const struct stats_row *r);
void stats_print_typed(struct strbuf *out, const struct stats_row *r, bool desc);
void stats_print_json(struct strbuf *out, const struct stats_row *r);

/* The JSON schema of `show stat json` and `show info json`. */
void stats_print_schema(struct strbuf *out);

/* The column's name; <field> below STATS_COUNT. */
const char *stats_field_name(unsigned field);
/* What it is, in a few words. */
const char *stats_field_help(unsigned field);

/* The function that gives the extra counters (of transports and protocols); without one they are
 * zeros. The object is a struct proxy, server or listener_conf, by <kind>.
 */
typedef uint64_t stats_extra_fn(enum stats_kind kind, const void *object, enum stats_extra field);

/* The function that gives the name of a backend's persistence cookie; it returns NULL if the
 * backend has none.
 */
typedef const char *stats_cookie_fn(const struct proxy *px);
/* The same of the value that means a server: its own, or one that is computed in <room>; NULL if it
 * has none.
 */
typedef const char *stats_server_cookie_fn(const struct server *srv, char room[17]);
void stats_set_cookie(stats_cookie_fn *fn, stats_server_cookie_fn *of_server);

/* One field of `show info`. */
struct stats_process_field {
	const char *name, *help;
	double number;
	const char *text;        /* NULL: a number */
};
typedef void stats_process_emit_fn(void *ctx, const struct stats_process_field *field);
/* The function that calls <emit> for each field of the process. Set once, before traffic. */
typedef void stats_process_fn(const struct config *cfg, stats_process_emit_fn *emit, void *ctx);
void stats_set_process(stats_process_fn *fn);
/* Has <emit> called for each of them; for none when no function was set. */
void stats_each_process_field(const struct config *cfg, stats_process_emit_fn *emit, void *ctx);

#endif
