/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compression_priv.h - compression: declarations shared by its files
 *
 *     compression_lines.c    settings        compression_choose.c  decisions, heads
 *     compression.c         the filters: bytes, limits, counters
 *     decompression.c       the filter that decompresses
 */
#ifndef EXT_COMPRESSION_PRIV_H
#define EXT_COMPRESSION_PRIV_H

#include "codec/compress.h"
#include "ext/compression.h"
#include "proxy/proxy.h"
#include "stream/filter.h"

struct comp_algo {
	const char *name;             /* name in the configuration */
	struct slice token;           /* name in Accept-Encoding */
	enum compress_format format;
	/* the body is not changed, and no Content-Encoding is added */
	bool is_identity;
};
/* Ends with a row without a name. */
extern const struct comp_algo comp_algos[];

/* An algorithm in a list; lists are in reverse order of the configuration. */
struct comp_choice {
	struct comp_choice *next;
	const struct comp_algo *algo;
};

struct comp_type {
	struct comp_type *next;
	struct slice text;            /* prefix of a Content-Type */
};

/* Settings of a proxy, per side. Lists are shared with the defaults section they were started in.
 */
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

/* Settings of the process. */
struct comp_config {
	int level;
	struct compress_params params;
	int64_t rate_kb, cpu_percent, memory_mb; /* limits; 0, 100, 0: none */
};
extern struct slot comp_config_slot;
const struct comp_config *comp_config_of(const struct stream *s);

/* State of a stream. */
struct comp_state {
	/* first the choice the request allows, later the algorithm in use; NULL: none */
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
/* Inserts the filter where settings require it. */
void comp_check(struct config *cfg, struct diag_list *diags);
/* Does the same for one proxy. */
void comp_check_proxy(struct proxy *px, struct diag_list *diags);

/* --- decisions: compression_choose.c --------------------------------------------------------- */

/* For a request whose rules have run: comp_choose() returns the algorithm for its answer,
 * comp_choose_request() the one for its own body; NULL: none.
 */
const struct comp_algo *comp_choose(const struct stream *s);
/* Returns true if the answer can be compressed at all. Answers to HTTP/1.0 and HEAD requests
 * cannot, but their servers are asked for the same answer as others (offload).
 */
bool comp_has_use(const struct stream *s);
const struct comp_algo *comp_choose_request(const struct stream *s);
/* Returns true if the answer may be compressed. Must be called before its rules. */
bool comp_answer_fits(const struct stream *s);
/* Edits a head for a compressed body. Returns false: no memory. */
bool comp_edit_head(struct http_msg *m, const struct comp_algo *algo);
bool comp_offloads(const struct stream *s);
/* Returns true unless the message says `no-transform`. */
bool comp_may_be_transformed(const struct http_msg *m);
/* Makes a strong ETag weak: the bytes change, only their meaning stays. Returns false: no memory.
 */
bool comp_edit_etag(struct http_msg *m);

#endif
