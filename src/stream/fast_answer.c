/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fast_answer.c - answers of services without a stream
 *
 *     h1_parse -> service_answer -> kind->direct -> the connection's output
 *
 * Only for configurations that enable it: rules, logs and `show sess` do not see such a request.
 */
#include "base/clock.h"
#include "conf/conf.h"
#include "stream/service.h"
#include "account_priv.h"
#include "stream_conf_priv.h"

bool service_make_direct(struct conf_line *l, const struct service_kind *kind)
{
	const struct proxy *px = l->object;
	struct stream_proxy *sp = slot_of(&stream_proxy_slot, l->slots);

	if (!(px->caps & (PROXY_FE | PROXY_DEFAULTS)))
		return conf_error(l, l->at - 1, NULL, "'direct' is not allowed because %s %s is "
				  "not a frontend", proxy_kind_name(px), px->name);
	if (conf_peek(l))
		return conf_error(l, l->at, "rules without 'direct' may have conditions",
				  "'direct' holds for all requests: nothing may follow it");
	sp->direct = kind;
	return true;
}

bool service_answer(void *owner, const struct front_request *rq, struct block_queue *out)
{
	struct session *sess = owner;
	const struct service_kind *kind = stream_proxy(sess->fe)->direct;
	unsigned status;

	if (!kind || session_config(sess) != proxies_current())
		return false; /* its stream follows the generation */
	status = kind->direct(rq->target, out);
	if (!status)
		return false;
	sess->requests++;
	sess->idle_from_ns = clock_now_ns();
	session_count_answer(sess, status, rq->length, out->len);
	return true;
}
