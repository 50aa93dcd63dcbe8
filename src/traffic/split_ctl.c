/* SPDX-License-Identifier: GPL-2.0-or-later */
/* split_ctl.c - edge file: show use_backends, set use_backends: the weights of canaries */
#include <string.h>
#include "base/num.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "proxy/walk.h"
#include "stream/rule_list.h"
#include "stream/split.h"

/* --- show use_backends ------------------------------------------------------------------------ */

static bool begin_show(struct ctl_request *rq)
{
	const char *word = rq->words[rq->at];
	struct proxy_walk *d = proxy_walk_begin(rq, sizeof(*d));

	if (!d)
		return false;
	if (word) {
		d->only = proxy_find(d->config, word, PROXY_FE);
		if (!d->only) {
			ctl_error(rq, "No such frontend.");
			return false;
		}
	}
	strbuf_add_str(rq->out, "# frontend/rule backend weight configured chosen (place)\n");
	return true;
}

static void dump_frontend(const struct proxy *fe, struct strbuf *out)
{
	struct switch_rule *sr = NULL;
	unsigned number = 0;

	while ((sr = split_next(fe, sr)) != NULL) {
		number++;
		for (unsigned i = 0; i < sr->split->count; i++) {
			const struct split_target *t = &sr->split->targets[i];
			struct rule_hits hits = rule_hits_sum(rule_proxy_of(fe),
							      sr->number + 1 + i);

			strbuf_printf(out, "%s/%u %s %u %u %llu (%s:%d)\n", fe->name, number,
				      t->name, split_weight(sr->split, i), t->weight,
				      (unsigned long long)hits.matched, sr->file ? sr->file : "-",
				      sr->line);
		}
	}
}

static enum ctl_step show_use_backends(struct ctl_request *rq)
{
	struct proxy_walk *d;

	if (!rq->state && !begin_show(rq))
		return CTL_DONE;
	d = rq->state;
	for (; d->at; d->at = proxy_next(d->at)) {
		if (ctl_is_due(rq))
			return CTL_MORE;
		if (d->at->caps & PROXY_FE && !(d->at->caps & PROXY_DEFAULTS) &&
		    (!d->only || d->at == d->only))
			dump_frontend(d->at, rq->out);
	}
	return CTL_DONE;
}

/* --- set use_backends ------------------------------------------------------------------------- */

static struct switch_rule *rule_of(struct ctl_request *rq, const struct proxy *fe, uint64_t number)
{
	struct switch_rule *sr = split_next(fe, NULL);

	if (!sr) {
		ctl_error(rq, "Frontend '%s' has no use_backends rule.", fe->name);
		return NULL;
	}
	if (!number && split_next(fe, sr)) {
		ctl_error(rq, "Frontend '%s' has several use_backends rules: '%s/1' is the first.",
			  fe->name, fe->name);
		return NULL;
	}
	while (sr && number > 1) {
		sr = split_next(fe, sr);
		number--;
	}
	if (!sr)
		ctl_error(rq, "No such rule: 'show use_backends %s' lists them.", fe->name);
	return sr;
}

/* "frontend", or "frontend/2". NULL: said. */
static struct switch_rule *take_rule(struct ctl_request *rq)
{
	const char *word = rq->at < rq->count ? rq->words[rq->at] : "";
	const char *slash = strrchr(word, '/');
	const struct proxy *fe = *word ? proxy_find(proxies_current(), word, PROXY_FE) : NULL;
	uint64_t number = 0;
	char name[256];

	if (!fe && slash && (size_t)(slash - word) < sizeof(name) &&
	    num_parse_u64(slice_of(slash + 1), &number) && number) {
		slice_copy(slice_make(word, (size_t)(slash - word)), name, sizeof(name));
		fe = proxy_find(proxies_current(), name, PROXY_FE);
	}
	if (!fe) {
		ctl_error(rq, *word ? "No such frontend." : "A frontend name is expected.");
		return NULL;
	}
	rq->at++;
	return rule_of(rq, fe, number);
}

static int target_of(const struct split *sp, struct slice name)
{
	for (unsigned i = 0; i < sp->count; i++)
		if (slice_eq(slice_of(sp->targets[i].name), name))
			return (int)i;
	return -1;
}

/* Reads the words into <weights>, which holds those in force. False: said. */
static bool take_weights(struct ctl_request *rq, const struct split *sp, unsigned *weights)
{
	uint64_t sum = 0;

	if (rq->at >= rq->count) {
		ctl_error(rq, "<backend>:<weight> is expected.");
		return false;
	}
	for (; rq->at < rq->count; rq->at++) {
		const char *word = rq->words[rq->at];
		unsigned weight;
		size_t len;
		int i;

		if (!split_read(word, &len, &weight)) {
			ctl_error(rq, "<backend>:<weight> is expected, a weight from 0 to %d.",
				  SPLIT_WEIGHT_MAX);
			return false;
		}
		i = target_of(sp, slice_make(word, len));
		if (i < 0) {
			ctl_error(rq, "The rule has no backend '%.*s'.", (int)len, word);
			return false;
		}
		weights[i] = weight;
	}
	for (unsigned i = 0; i < sp->count; i++)
		sum += weights[i];
	if (!sum)
		ctl_error(rq, "A backend must keep a weight above 0.");
	return sum > 0;
}

/* All weights are read before one is changed. */
static void set_locked(struct ctl_request *rq)
{
	const struct switch_rule *sr = take_rule(rq);
	unsigned weights[SPLIT_MAX];

	if (!sr)
		return;
	for (unsigned i = 0; i < sr->split->count; i++)
		weights[i] = split_weight(sr->split, i);
	if (!take_weights(rq, sr->split, weights))
		return;
	for (unsigned i = 0; i < sr->split->count; i++)
		__atomic_store_n(&sr->split->weights[i], weights[i], __ATOMIC_RELAXED);
}

static enum ctl_step set_use_backends(struct ctl_request *rq)
{
	config_edit_begin(); /* a reload takes the weights before or behind */
	set_locked(rq);
	config_edit_end();
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show use_backends", .level = CTL_OPERATOR, .syntax = "[<frontend>]",
	  .help = "show the weights of use_backends rules, and the requests of each backend",
	  .run = show_use_backends, .release = proxy_walk_release },
	{ .words = "set use_backends", .level = CTL_ADMIN,
	  .syntax = "<frontend>[/<rule>] <backend>:<weight>...",
	  .help = "change weights of a use_backends rule", .run = set_use_backends },
	{ 0 }
};

const struct module mod_split_ctl = { .name = "split_ctl", .commands = commands };
