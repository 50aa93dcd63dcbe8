/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compression_priv.h - compression: what its files share
 *
 *     compression_lines.c    settings        compression_choose.c  decisions, heads
 *     compression.c         the filters: bytes, limits, counters
 *     decompression.c       the filter that undoes it
 */
#ifndef EXT_COMPRESSION_PRIV_H
#define EXT_COMPRESSION_PRIV_H

#include "codec/compress.h"
#include "ext/compression.h"
#include "proxy/proxy.h"
#include "stream/filter.h"

struct comp_algo {
	const char *name;             /* what the configuration calls it */
	struct slice token;           /* what Accept-Encoding does */
	enum compress_format format;
	bool is_identity;             /* nothing is changed, and Content-Encoding does not say so */
};
/* Ends with a row without a name. */
extern const struct comp_algo comp_algos[];

/* An algorithm of a list: the last one of the configuration comes first. */
struct comp_choice {
	struct comp_choice *next;
	const struct comp_algo *algo;
};

struct comp_type {
	struct comp_type *next;
	struct slice text;            /* what a Content-Type begins with */
};

/* Of a proxy, by side. Lists are shared with the defaults section that they were begun in. */
struct comp_proxy {
	struct comp_choice *algos[FILTER_SIDES]; /* of requests: one */
	struct comp_type *types[FILTER_SIDES];
	uint64_t min_size[FILTER_SIDES];
	bool directions[FILTER_SIDES];
	bool is_used, offload;
};
extern struct slot comp_proxy_slot;

static inline const struct comp_proxy *comp_of(const struct proxy *px)
{
	return slot_of(&comp_proxy_slot, proxy_slots(px));
}

/* Of the process. */
struct comp_config {
	int level;
	struct compress_params params;
	int64_t rate_kb, cpu_percent, memory_mb; /* limits; 0, 100, 0: none */
};
extern struct slot comp_config_slot;
const struct comp_config *comp_config_of(const struct stream *s);

/* Of one stream. */
struct comp_state {
	/* what the request gives the choice of, then what is done; NULL: nothing */
	const struct comp_algo *algo[FILTER_SIDES];
	struct compressor *compressor[FILTER_SIDES];
	bool is_on[FILTER_SIDES];
	uint8_t level[FILTER_SIDES];
};

/* The kinds, in the order of compression.c. */
enum { COMP_KIND_REQ, COMP_KIND_RES, COMP_KIND_BOTH };
extern const struct filter_kind comp_kinds[];
extern const struct conf_keyword comp_keywords[];
bool comp_parse(struct conf_line *l, struct filter_conf *conf);
/* Puts the filter where settings ask for it. */
void comp_check(struct config *cfg, struct diag_list *diags);
/* As comp_check(), for one proxy. */
void comp_check_proxy(struct proxy *px, struct diag_list *diags);

/* --- decisions: compression_choose.c --------------------------------------------------------- */

/* Of a request whose rules have run: the algorithm for its answer, NULL: none; and for itself. */
const struct comp_algo *comp_choose(const struct stream *s);
/* Can the answer be compressed at all? Those of HTTP/1.0 and of HEAD cannot, but their servers are
 * asked for the same answer as those of others (offload).
 */
bool comp_has_use(const struct stream *s);
const struct comp_algo *comp_choose_request(const struct stream *s);
/* May the answer be compressed? Before its rules. */
bool comp_answer_fits(const struct stream *s);
/* Edits a head for a body that is compressed. False: no memory. */
bool comp_edit_head(struct http_msg *m, const struct comp_algo *algo);
bool comp_offloads(const struct stream *s);
/* Does nothing say `no-transform`? */
bool comp_may_be_transformed(const struct http_msg *m);
/* A strong ETag becomes a weak one: bytes are not the same any more, only what they mean. False: no
 * memory.
 */
bool comp_edit_etag(struct http_msg *m);

#endif
