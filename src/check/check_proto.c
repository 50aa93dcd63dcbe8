/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_proto.c - checks that speak a protocol: MySQL, PostgreSQL, Redis, SMTP, LDAP, SSLv3, SPOP
 *
 * Each is a list of rules: bytes to send, and judges of the answer. A judge examines all bytes
 * received since the last send, again whenever more arrive, and never reads beyond them. Bytes that
 * are not (yet) the answer of a healthy server are a failure once no more can come: the same as in
 * the reference, whose text checks wait for a match until the server closes or the time is over.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/bug.h"
#include "codec/spop.h"
#include "conf/conf.h"
#include "proxy/proxy.h"
#include "check_priv.h"

/* --- building ------------------------------------------------------------------------------- */

static bool add_send(struct arena *a, struct check_rules *to, const void *bytes, size_t len)
{
	struct check_rule *rule = check_rule_add(a, to, CHECK_SEND);

	if (rule)
		rule->send.text = arena_copy(a, slice_make(bytes, len));
	return rule && rule->send.text.ptr;
}

static bool add_judge(struct arena *a, struct check_rules *to, check_judge_fn *judge)
{
	struct check_rule *rule = check_rule_add(a, to, CHECK_EXPECT);

	if (rule)
		rule->expect = (struct check_expect){ .match = EXPECT_FUNCTION, .judge = judge };
	return rule != NULL;
}

/* The connection of a protocol with a farewell: it is closed, not reset. */
static bool add_connect(struct arena *a, struct check_rules *to)
{
	struct check_rule *rule = check_rule_add(a, to, CHECK_CONNECT);

	if (rule) {
		rule->step = 0;
		rule->connect.implicit = rule->connect.linger = true;
	}
	return rule != NULL;
}

/* --- helpers of judges ---------------------------------------------------------------------- */

/* The first line, or what there is of it, as text of the result. */
static const char *first_line(struct check *c, struct slice in)
{
	size_t n = 0;

	while (n < in.len && in.ptr[n] != '\r' && in.ptr[n] != '\n' && n < CHECK_TEXT_MAX - 1)
		n++;
	return arena_printf(&c->run->arena, "%.*s", (int)n, in.ptr);
}

static enum expect_verdict fail(struct check_result *r, enum check_status status, int code,
				const char *text)
{
	*r = (struct check_result){ .status = status, .code = code, .text = text };
	return VERDICT_FAIL;
}

static enum expect_verdict pass(struct check_result *r, int code, const char *text)
{
	*r = (struct check_result){ .status = CHECK_L7OK, .code = code, .text = text };
	return VERDICT_OK;
}

/* In the reference's words; it counts the steps in its own way. */
#define EMPTY(step) "TCPCHK got an empty response at step " #step

/* Not all that is needed has come; <nothing>: the text when there is nothing at all. */
static enum expect_verdict lacking(struct slice in, bool is_last, const char *nothing,
				   struct check_result *r)
{
	return is_last ? fail(r, CHECK_L7RSP, 0, in.len ? NULL : nothing) : VERDICT_WAIT;
}

/* --- Redis ---------------------------------------------------------------------------------- */

static enum expect_verdict judge_redis(struct check *c, struct slice in, bool is_last,
				       struct check_result *r)
{
	if (slice_starts(in, SLICE("+PONG\r\n")))
		return pass(r, 0, "Redis server is ok");
	return is_last ? fail(r, CHECK_L7STS, 0, first_line(c, in)) : VERDICT_WAIT;
}

static bool make_redis(struct conf_line *l, struct check_rules *to)
{
	static const char ping[] = "*1\r\n$4\r\nPING\r\n";
	struct arena *a = &l->cfg->arena;

	return conf_take_end(l) && add_send(a, to, ping, sizeof(ping) - 1) &&
		add_judge(a, to, judge_redis);
}

/* --- SMTP ----------------------------------------------------------------------------------- */

/* The last line of a reply: "250 done", where lines before it are "250-..." . False: none yet. */
static bool last_reply_line(struct slice in, struct slice *line)
{
	size_t at = 0, end;

	while ((end = slice_find_char(in, at, '\n')) != SIZE_MAX) {
		*line = slice_sub(in, at, end);
		if (line->len < 4 || line->ptr[3] != '-')
			return true;
		at = end + 1;
	}
	return false;
}

/* What was said in the end. */
static enum expect_verdict judge_smtp_end(struct check *c, struct slice in, struct slice line,
					  struct check_result *r)
{
	int code = 0;

	/* it left while it was spoken to, or before it greeted */
	if (!in.len)
		return fail(r, c->run->filled ? CHECK_L7STS : CHECK_L7RSP, 0, NULL);
	for (size_t i = 0; i < 3; i++) {
		if (i >= line.len || !ascii_is_digit(line.ptr[i]))
			return fail(r, CHECK_L7RSP, 0, first_line(c, line));
		code = code * 10 + line.ptr[i] - '0';
	}
	if (line.len > 3 && line.ptr[3] != ' ' && line.ptr[3] != '\r' && line.ptr[3] != '-')
		return fail(r, CHECK_L7RSP, 0, first_line(c, line));
	line = slice_sub(line, 4, line.len);
	if (code / 100 != 2)
		return fail(r, CHECK_L7STS, code, first_line(c, line));
	return pass(r, code, first_line(c, line));
}

static enum expect_verdict judge_smtp(struct check *c, struct slice in, bool is_last,
				      struct check_result *r)
{
	struct slice line = in;

	if (!last_reply_line(in, &line) && !is_last)
		return VERDICT_WAIT;
	if (judge_smtp_end(c, in, line, r) == VERDICT_OK)
		return VERDICT_OK;
	return is_last ? VERDICT_FAIL : VERDICT_WAIT;
}

/* [<hello> <domain>] */
static bool make_smtp(struct conf_line *l, struct check_rules *to)
{
	struct arena *a = &l->cfg->arena;
	const char *hello = "HELO", *domain = "localhost", *text;

	if (l->count - l->at >= 2) {
		if (strcmp(conf_next(l), "EHLO") == 0)
			hello = "EHLO";
		domain = conf_next(l);
		if (strcmp(l->words[l->at - 2], "EHLO") != 0 &&
		    strcmp(l->words[l->at - 2], "HELO") != 0)
			domain = "localhost";
	} else {
		conf_next(l);
	}
	text = arena_printf(a, "%s %s\r\n", hello, domain);
	return conf_take_end(l) && text && add_connect(a, to) && add_judge(a, to, judge_smtp) &&
		add_send(a, to, text, strlen(text)) && add_judge(a, to, judge_smtp) &&
		add_send(a, to, "QUIT\r\n", 6) && add_judge(a, to, judge_smtp);
}

/* --- MySQL ---------------------------------------------------------------------------------- */

/* A packet: three bytes of length, one of sequence, then the first byte tells. *left: bytes behind
 * it. False: it is not complete.
 */
static bool mysql_packet(struct slice in, struct slice *body)
{
	const unsigned char *p = (const unsigned char *)in.ptr;
	size_t len;

	if (in.len < 4)
		return false;
	len = p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16;
	*body = slice_make(in.ptr + 4, len);
	return in.len - 4 >= len;
}

/* An error packet: ff, code, text. */
static enum expect_verdict mysql_error(struct check *c, struct slice body, struct check_result *r)
{
	const unsigned char *p = (const unsigned char *)body.ptr;

	if (body.len < 3)
		return fail(r, CHECK_L7RSP, 0, NULL);
	return fail(r, CHECK_L7STS, p[1] | p[2] << 8, first_line(c, slice_sub(body, 3, body.len)));
}

static enum expect_verdict judge_mysql_hello(struct check *c, struct slice in, bool is_last,
					     struct check_result *r)
{
	struct slice body;

	if (!mysql_packet(in, &body))
		return lacking(in, is_last, c->run->rule->next ? EMPTY(3) : EMPTY(2), r);
	if (!body.len)
		return fail(r, CHECK_L7RSP, 0, NULL);
	if ((unsigned char)body.ptr[0] == 0xff)
		return mysql_error(c, body, r);
	/* protocol 10 of all servers since 3.22; 9 before; then the version, up to a NUL */
	if (body.ptr[0] != 9 && body.ptr[0] != 10)
		return fail(r, CHECK_L7RSP, 0, NULL);
	c->run->note = arena_printf(&c->run->arena, "%.*s",
				    (int)strnlen(body.ptr + 1, body.len - 1), body.ptr + 1);
	return pass(r, 0, c->run->note);
}

static enum expect_verdict judge_mysql_answer(struct check *c, struct slice in, bool is_last,
					      struct check_result *r)
{
	struct slice body;

	if (!mysql_packet(in, &body))
		return lacking(in, is_last, EMPTY(4), r);
	if (!body.len)
		return fail(r, CHECK_L7RSP, 0, NULL);
	if ((unsigned char)body.ptr[0] == 0xff)
		return mysql_error(c, body, r);
	return pass(r, 0, c->run->note);
}

/* What a client of each protocol sends to log in without a password: capabilities, the largest
 * packet and the charset; zeros up to <fixed>; the name, an empty password; and the method, where
 * the server is told it (CLIENT_PLUGIN_AUTH).
 */
static const struct mysql_form {
	const char *word;
	struct slice head;
	size_t fixed; /* bytes of the packet before the name */
	const char *plugin;
} mysql_forms[] = {
	{ "post-41", SLICE("\x00\x82\x00\x00" "\x00\x80\x00\x01" "\x21"), 32, NULL },
	{ "pre-41", SLICE("\x00\x80" "\x00\x00\x01"), 5, NULL },
	{ "post-80", SLICE("\x00\x82\x08\x00" "\x00\x80\x00\x01" "\x21"), 32,
	  "mysql_native_password" },
};

/* The form of that word, the first one without a word, or NULL. */
static const struct mysql_form *mysql_form_find(const char *word)
{
	for (size_t i = 0; i < sizeof(mysql_forms) / sizeof(*mysql_forms); i++)
		if (!word || strcmp(word, mysql_forms[i].word) == 0)
			return &mysql_forms[i];
	return NULL;
}

/* The authentication without password, then the end. */
static bool mysql_login(struct arena *a, struct check_rules *to, const char *user,
			const struct mysql_form *form)
{
	static const char quit[] = "\x01\x00\x00\x00\x01";
	size_t plugin = form->plugin ? strlen(form->plugin) + 1 : 0, name = strlen(user);
	size_t len = form->fixed + name + 2 + plugin;
	char *p = arena_zalloc(a, 4 + len);

	if (!p)
		return false;
	p[0] = (char)(len & 0xff);
	p[1] = (char)(len >> 8 & 0xff);
	p[3] = 1;
	memcpy(p + 4, form->head.ptr, form->head.len);
	memcpy(p + 4 + form->fixed, user, name);
	if (form->plugin)
		strcpy(p + 4 + form->fixed + name + 2, form->plugin);
	return add_send(a, to, p, 4 + len) && add_send(a, to, quit, sizeof(quit) - 1);
}

/* [user <username> [post-41|pre-41|post-80]] */
static bool make_mysql(struct conf_line *l, struct check_rules *to)
{
	struct arena *a = &l->cfg->arena;
	const char *word = conf_next(l), *user;
	const struct mysql_form *form;

	if (!word)
		return add_connect(a, to) && add_judge(a, to, judge_mysql_hello);
	if (strcmp(word, "user") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s mysql-check' only supports "
				  "optional values: 'user' (got '%s').", l->words[0], word);
	user = conf_next(l);
	if (!user || !*user)
		return conf_error(l, l->at - 1, NULL, "'%s mysql-check user' expects "
				  "<username> as argument.", l->words[0]);
	if (strlen(user) > 255)
		return conf_error(l, l->at - 1, NULL, "this user name is too long.");
	word = conf_next(l);
	form = mysql_form_find(word);
	if (!form)
		return conf_error(l, l->at - 1, NULL, "keyword 'user' only supports 'post-41', "
				  "'pre-41' and 'post-80' (got '%s').", word);
	return conf_take_end(l) && add_connect(a, to) && add_judge(a, to, judge_mysql_hello) &&
		mysql_login(a, to, user, form) && add_judge(a, to, judge_mysql_answer);
}

/* --- PostgreSQL ----------------------------------------------------------------------------- */

/* 'R', a length of 8 and more, a known kind of authentication. */
static bool pgsql_is_auth_request(const unsigned char *p)
{
	return p[0] == 'R' && !p[1] && !p[2] && p[4] >= 8 && !p[5] && !p[6] && !p[7] &&
		p[8] <= 12;
}

static enum expect_verdict judge_pgsql(struct check *c, struct slice in, bool is_last,
				       struct check_result *r)
{
	const unsigned char *p = (const unsigned char *)in.ptr;

	if (in.len < 9)
		return is_last ? fail(r, CHECK_L7STS, 0, "PostgreSQL unknown error")
			: VERDICT_WAIT;
	if (p[0] == 'E') {
		/* the first field: a letter, then text up to a NUL */
		struct slice text = slice_sub(in, 6, in.len);
		size_t end = slice_find_char(text, 0, 0);

		return fail(r, CHECK_L7RSP, 0,
			    first_line(c, slice_sub(text, 0, end == SIZE_MAX ? text.len : end)));
	}
	if (!pgsql_is_auth_request(p))
		return fail(r, CHECK_L7STS, 0, "PostgreSQL unknown error");
	return pass(r, 0, "PostgreSQL server is ok");
}

/* user <username> */
static bool make_pgsql(struct conf_line *l, struct check_rules *to)
{
	struct arena *a = &l->cfg->arena;
	const char *word = conf_next(l), *user = conf_next(l);
	size_t len;
	char *p;

	if (!word || strcmp(word, "user") != 0 || !user || !*user)
		return conf_error(l, l->at - 1, NULL, "'%s pgsql-check' expects 'user "
				  "<username>' as argument.", l->words[0]);
	len = 8 + 5 + strlen(user) + 2;
	p = arena_zalloc(a, len);
	if (!p || len > 1000)
		return conf_error(l, l->at - 1, NULL, "this user name is too long.");
	p[2] = (char)(len >> 8);
	p[3] = (char)(len & 0xff);
	p[5] = 3; /* protocol 3.0 */
	memcpy(p + 8, "user", 4);
	strcpy(p + 13, user);
	return conf_take_end(l) && add_connect(a, to) && add_send(a, to, p, len) &&
		add_judge(a, to, judge_pgsql);
}

/* --- LDAP ----------------------------------------------------------------------------------- */

/* Moves behind one BER header and gives the length of its content; false: not there or too large
 * for an answer to a bind. RFC 4511 5.1.
 */
static bool ber_open(struct slice *in, unsigned char tag, size_t *len)
{
	const unsigned char *p = (const unsigned char *)in->ptr;
	size_t more, n = 0;

	if (in->len < 2 || p[0] != tag)
		return false;
	more = p[1] & 0x80 ? p[1] & 0x7fu : 0;
	if (more > 3 || in->len < 2 + more)
		return false;
	for (size_t i = 0; i < more; i++)
		n = n << 8 | p[2 + i];
	*len = more ? n : p[1];
	*in = slice_sub(*in, 2 + more, in->len);
	return true;
}

static enum expect_verdict judge_ldap(struct check *c, struct slice in, bool is_last,
				      struct check_result *r)
{
	static const char not_ldap[] = "Not LDAPv3 protocol";
	size_t len;

	if (!in.len || ((unsigned char)in.ptr[0] == 0x30 && in.len < 14 && !is_last))
		return in.len || !is_last ? VERDICT_WAIT : fail(r, CHECK_L7RSP, 0, not_ldap);
	if (!ber_open(&in, 0x30, &len) || !ber_open(&in, 0x02, &len) || in.len < len)
		return fail(r, CHECK_L7RSP, 0, not_ldap);
	in = slice_sub(in, len, in.len);
	if (!ber_open(&in, 0x61, &len) || !ber_open(&in, 0x0a, &len) || len != 1 || !in.len)
		return fail(r, CHECK_L7RSP, 0, not_ldap);
	if (in.ptr[0])
		return fail(r, CHECK_L7STS, (unsigned char)in.ptr[0],
			    "See RFC: http://tools.ietf.org/html/rfc4511#section-4.1.9");
	return pass(r, 0, "Success");
}

/* An anonymous simple bind, then nothing. */
static bool make_ldap(struct conf_line *l, struct check_rules *to)
{
	static const char bind[] = "\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00";
	struct arena *a = &l->cfg->arena;

	return conf_take_end(l) && add_send(a, to, bind, sizeof(bind) - 1) &&
		add_judge(a, to, judge_ldap);
}

/* --- SPOP ----------------------------------------------------------------------------------- */

/* What a frame may have at most: as in HELLO. */
#define SPOP_SIZE_MAX (block_size() - SPOP_LENGTH_SIZE)

static const char *spop_text(unsigned error)
{
	switch (error) {
#define X(name, number, text) \
	case number: \
		return text;
	SPOP_ERRORS(X)
#undef X
	}
	return "an unknown error occurred";
}

static enum expect_verdict spop_fail(unsigned error, struct check_result *r)
{
	return fail(r, CHECK_L7RSP, 0, spop_text(error));
}

static enum expect_verdict judge_spop(struct check *c, struct slice in, bool is_last,
				      struct check_result *r)
{
	struct spop_frame frame;
	struct spop_hello hello;
	struct slice message;
	enum spop_error e;

	switch (spop_frame_take(&in, SPOP_SIZE_MAX, &frame)) {
	case SPOP_MORE:
		if (!is_last)
			return VERDICT_WAIT;
		return in.len ? spop_fail(SPOP_ERR_INVALID, r)
			      : fail(r, CHECK_L7RSP, 0, EMPTY(3));
	case SPOP_TOO_BIG:
	case SPOP_INVALID:
		return spop_fail(SPOP_ERR_INVALID, r);
	case SPOP_TAKEN:
		break;
	}
	if (frame.type == SPOP_AGENT_DISCONNECT)
		return spop_fail(spop_disconnect_read(frame.payload, &message), r);
	if (frame.type != SPOP_AGENT_HELLO || in.len || frame.stream || frame.frame ||
	    !(frame.flags & SPOP_FIN))
		return spop_fail(SPOP_ERR_INVALID, r);
	e = spop_hello_read(frame.payload, SPOP_SIZE_MAX, &hello);
	if (!e && !hello.says_size)
		e = SPOP_ERR_NO_FRAME_SIZE;
	if (!e && !hello.says_capabilities)
		e = SPOP_ERR_NO_CAPABILITIES;
	return e ? spop_fail(e, r) : pass(r, 0, NULL);
}

/* A hello that says what it is for: the agent answers, and closes. */
static bool make_spop(struct conf_line *l, struct check_rules *to)
{
	struct arena *a = &l->cfg->arena;
	char room[256];
	struct strbuf b;

	strbuf_init_fixed(&b, room, sizeof(room));
	spop_add_hello(&b, SPOP_SIZE_MAX, false, slice_none(), true);
	return conf_take_end(l) && add_send(a, to, b.ptr, b.len) && add_judge(a, to, judge_spop);
}

/* --- SSLv3 hello ---------------------------------------------------------------------------- */

static enum expect_verdict judge_ssl_hello(struct check *c, struct slice in, bool is_last,
					   struct check_result *r)
{
	if (!in.len)
		return is_last ? fail(r, CHECK_L6RSP, 0, EMPTY(2)) : VERDICT_WAIT;
	/* a handshake record, or an alert: it speaks TLS */
	if (in.ptr[0] != 0x16 && in.ptr[0] != 0x15)
		return fail(r, CHECK_L6RSP, 0, NULL);
	*r = (struct check_result){ .status = CHECK_L6OK };
	return VERDICT_OK;
}

/* RFC 6101: a hello with every cipher suite of its time. */
static bool make_ssl_hello(struct conf_line *l, struct check_rules *to)
{
	static const char random_text[] = "HAPROXYSSLCHK\nHAPROXYSSLCHK\n";
	struct arena *a = &l->cfg->arena;
	unsigned char hello[126] = { 0x16, 3, 0, 0, 121, 1, 0, 0, 117, 3, 0 };
	uint32_t now = (uint32_t)time(NULL);
	size_t at = 43;

	for (unsigned i = 0; i < 4; i++)
		hello[11 + i] = (unsigned char)(now >> (24 - 8 * i));
	memcpy(hello + 15, random_text, 28);
	hello[at++] = 0;  /* no session */
	hello[at++] = 0;
	hello[at++] = 78; /* bytes of suites */
	for (unsigned suite = 0x01; suite <= 0x3a; suite++)
		if (suite <= 0x1b || suite >= 0x2f) {
			hello[at++] = 0;
			hello[at++] = (unsigned char)suite;
		}
	hello[at++] = 1;  /* one compression: none */
	hello[at++] = 0;
	BUG_ON(at != sizeof(hello));
	if (!conf_take_end(l) || !add_send(a, to, hello, at) || !add_judge(a, to, judge_ssl_hello))
		return false;
	container_of(to->last, struct check_rule, next)->expect.timeout = CHECK_L6TOUT;
	return true;
}

/* --- options -------------------------------------------------------------------------------- */

bool check_proto_parse(struct conf_line *l)
{
	static const struct {
		const char *name;
		bool (*make)(struct conf_line *l, struct check_rules *to);
	} protocols[] = {
		{ "redis-check", make_redis }, { "smtpchk", make_smtp },
		{ "mysql-check", make_mysql }, { "pgsql-check", make_pgsql },
		{ "ldap-check", make_ldap }, { "spop-check", make_spop },
		{ "ssl-hello-chk", make_ssl_hello },
	};
	struct check_proxy *cp = check_proxy_of_line(l);
	struct check_rules rules = { 0 };

	for (unsigned i = 0; i < ARRAY_LEN(protocols); i++)
		if (strcmp(l->words[1], protocols[i].name) == 0) {
			if (!protocols[i].make(l, &rules))
				return false;
			cp->kind = CHECK_KIND_PROTO;
			cp->proto = rules.first;
			return true;
		}
	return false;
}

struct check_rule *check_rules_agent(struct arena *a)
{
	struct check_rules rules = { 0 };
	struct check_rule *connect = check_rule_add(a, &rules, CHECK_CONNECT);

	if (!connect || !check_rule_add(a, &rules, CHECK_SEND) ||
	    !add_judge(a, &rules, agent_judge))
		return NULL;
	connect->connect.implicit = true;
	return rules.first;
}
