/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_rules.c - what --lint may say: identifiers, explanations, suggestions;
 * doc/configuration/tools.md lists them
 */
#include "lint_priv.h"

#define NOTE(name, why, suggestion)                                                                \
	{                                                                                          \
		name, LINT_NOTE, why, suggestion                                                   \
	}
#define WARN(name, why, suggestion)                                                                \
	{                                                                                          \
		name, LINT_WARNING, why, suggestion                                                \
	}
#define ERROR(name, why, suggestion)                                                               \
	{                                                                                          \
		name, LINT_ERROR, why, suggestion                                                  \
	}

const struct lint_rule lint_rules[LINT_COUNT] = {
	[LINT_PARSER_ERROR] = ERROR("parser-error", "the program does not start with this file",
				    "see the message"),
	[LINT_PARSER_WARNING] =
		WARN("parser-warning", "the program prints this when it starts", "see the message"),
	[LINT_PARSER_DIAGNOSTIC] =
		NOTE("parser-diagnostic", "-dD prints this: the line is accepted, but suspicious",
		     "see the message"),

	[LINT_UNUSED_BACKEND] = WARN("unused-backend",
				     "no rule and no line names this backend: it "
				     "gets no request",
				     "remove it, or write the `use_backend` rule that is missing"),
	[LINT_UNUSED_ACL] = WARN("unused-acl", "an ACL does nothing until a condition names it",
				 "remove it, or write the condition that is missing"),
	[LINT_UNUSED_SECTION] = WARN("unused-section", "nothing refers to this section by its name",
				     "remove it, or name it where it was meant to be used"),
	[LINT_UNUSED_DEFAULTS] =
		WARN("unused-defaults",
		     "no section says `from` this name, and none "
		     "follows",
		     "remove it, or write `from NAME` after the names of sections"),
	[LINT_UNUSED_VARIABLE] = NOTE("unused-variable",
				      "a variable is set for each request and read "
				      "nowhere in these files",
				      "remove the rule"),
	[LINT_UNUSED_TABLE] = WARN("unused-table",
				   "no rule tracks or sticks with this table: it stays "
				   "empty",
				   "write a `track-sc0` or `stick on` rule, or remove the table"),
	[LINT_UNUSED_CHECK] = WARN("unused-check",
				   "a check is configured, but no server line has `check`: "
				   "no server is checked",
				   "write `check` on the server lines"),
	[LINT_RULE_AFTER_FINAL] = WARN("rule-after-final",
				       "a rule without a condition ends its list: "
				       "later rules never run",
				       "give the earlier rule a condition, or remove this one"),
	[LINT_DEFAULT_BACKEND_DEAD] = WARN("default-backend-dead",
					   "an unconditional `use_backend` "
					   "leaves nothing for the default",
					   "give that rule a condition, or remove this line"),
	[LINT_SAME_CONDITION] = WARN("same-condition",
				     "an earlier rule has the same condition and ends "
				     "the list",
				     "remove this rule, or change its condition"),
	[LINT_NEVER_TRUE] = WARN("never-true",
				 "terms side by side must all be true, and these cannot",
				 "write `or` between them, or remove the rule"),
	[LINT_OVERRIDDEN] =
		WARN("overridden", "only the last line of this setting in a section counts",
		     "keep one of the two lines"),
	[LINT_CONTRADICTORY_OPTION] = WARN("contradictory-option",
					   "an option is set and unset in one "
					   "section: the last line counts",
					   "keep one of the two lines"),
	[LINT_DUPLICATE_ACL] = NOTE("duplicate-acl",
				    "lines of one ACL are alternatives: the same line "
				    "twice changes nothing",
				    "remove one"),
	[LINT_DUPLICATE_RULE] =
		NOTE("duplicate-rule", "the same rule runs twice for each request", "remove one"),
	[LINT_DUPLICATE_BIND] = WARN("duplicate-bind",
				     "two lines bind one address: clients reach either "
				     "by chance",
				     "bind another address, or put the rules into one section"),
	[LINT_DUPLICATE_SERVER] = NOTE("duplicate-server",
				       "two servers of a backend have one address: "
				       "it gets twice its share",
				       "use `weight`, or correct the address"),
	[LINT_COOKIE_UNSET] = WARN("cookie-unset",
				   "without a `cookie` value of its server a client is "
				   "not brought back to it",
				   "write `cookie NAME` on the server line"),
	[LINT_COOKIE_UNUSED] = WARN("cookie-unused",
				    "values on servers mean nothing without a `cookie` "
				    "line in the backend",
				    "write `cookie NAME insert indirect nocache httponly`"),

	[LINT_ACL_SHADOWS] = WARN("acl-shadows",
				  "an ACL of this name is predefined, and readers expect that one",
				  "choose another name"),
	[LINT_PATTERN_NO_REGEX] = NOTE("pattern-no-regex",
				       "a plain text is looked up in a tree, a "
				       "regular expression is run for each request",
				       "use -m str, beg, end or sub"),
	[LINT_REGEX_DOT] = WARN("regex-dot",
				"in a regular expression a dot is any character: "
				"wwwXexample.com matches, too",
				"write \\. (or -m str)"),
	[LINT_HOST_SUBSTRING] = WARN("host-substring",
				     "a part of a name is found in the names of "
				     "others: example.com.evil.net",
				     "compare the whole name: -m str, or -m end with a dot"),
	[LINT_HOST_SUFFIX] = WARN("host-suffix",
				  "without a dot before it, the end of a name is that of "
				  "others, too: notexample.com",
				  "write .example.com, and example.com with -m str"),
	[LINT_HOST_CASE] = WARN("host-case",
				"names of hosts have no case; clients send them in lower "
				"case, patterns are compared as written",
				"write lower case, and -i"),
	[LINT_REDIRECT_LOOP] = ERROR("redirect-loop",
				     "clients that use TLS are redirected to TLS again, for ever",
				     "add `if !{ ssl_fc }`"),
	[LINT_COUNTER_UNTRACKED] = WARN("counter-untracked",
					"a counter of a tracked key is empty as "
					"long as no rule tracks one: the limit never applies",
					"write `http-request track-sc0 src` before it"),
	[LINT_COUNTER_UNSTORED] = WARN("counter-unstored",
				       "a table keeps only what `store` lists: other "
				       "data reads as 0",
				       "add it to `store` of the stick-table"),
	[LINT_TABLE_NO_EXPIRE] =
		NOTE("table-no-expire",
		     "without `expire` entries leave only to make "
		     "room for others",
		     "write `expire 10m`, a little longer than the period of its rates"),

	[LINT_TIMEOUT_INFINITE] = WARN("timeout-infinite",
				       "a silent peer keeps its connection for ever",
				       "write a time, however long"),
	[LINT_NO_REQUEST_TIMEOUT] = NOTE("no-request-timeout",
					 "clients that send a byte now and then "
					 "hold connections (slowloris)",
					 "write `timeout http-request 10s` into defaults"),
	[LINT_PARTLY_CHECKED] = WARN("partly-checked",
				     "a server without checks still gets requests when it is down",
				     "write `check` on its line"),
	[LINT_ONLY_BACKUP] = WARN("only-backup",
				  "backup servers are used when no other is left: "
				  "there is no other, and one of them gets everything",
				  "remove `backup`, or `option allbackups`"),
	[LINT_MAXCONN_ABOVE] = NOTE("maxconn-above", "the limit of the process is reached first",
				    "raise `maxconn` in global, or lower this one"),
	[LINT_LOG_NOWHERE] =
		WARN("log-nowhere",
		     "`log global` takes the targets of section global, and "
		     "there are none",
		     "write `log stdout format raw local0`, or the address of a syslog server"),
	[LINT_LOG_DAEMON] =
		WARN("log-daemon", "a daemon closes its standard output",
		     "log to a file, a syslog server, or run in the foreground (-W, -Ws)"),
	[LINT_LOG_NO_HTTP] = NOTE("log-no-http",
				  "without `option httplog` a line has the addresses "
				  "only",
				  "write `option httplog`"),

	[LINT_WEAK_TLS_VERSION] = WARN("weak-tls-version",
				       "SSL 3.0, TLS 1.0 and 1.1 are broken or "
				       "withdrawn (RFC 8996)",
				       "write ssl-min-ver TLSv1.2"),
	[LINT_WEAK_CIPHER] = WARN("weak-cipher",
				  "this cipher, or one of the group, can be broken or "
				  "does not authenticate",
				  "remove it, or write !NAME"),
	[LINT_WEAK_DH] = WARN("weak-dh", "small groups of Diffie-Hellman can be broken",
			      "write 2048 or more"),
	[LINT_VERIFY_NONE] =
		WARN("verify-none", "TLS without verification does not keep attackers out",
		     "write `verify required ca-file @system-ca`, or a file with your authority"),
	[LINT_EARLY_DATA] =
		WARN("early-data", "0-RTT data can be replayed: a POST may be done twice",
		     "write `http-request wait-for-handshake if !METH_GET`"),
	[LINT_PORT_443] =
		NOTE("port-443", "clients speak TLS on this port", "write `ssl crt FILE`"),
	[LINT_SECRET_IN_CLEAR] = WARN("secret-in-clear",
				      "anyone who can read the file, a backup or a "
				      "ticket with it knows the secret",
				      "use a hash (`password`), a variable of the environment, or "
				      "proc. variables"),
	[LINT_STATS_OPEN] = NOTE("stats-open",
				 "names and addresses of servers are shown to "
				 "anyone",
				 "bind a private address, or write `stats auth`"),
	[LINT_STATS_ADMIN] = ERROR("stats-admin", "without a password anyone may stop servers",
				   "write `stats auth`, or a condition that only you meet"),
	[LINT_SOCKET_OPEN] =
		WARN("socket-open", "the Runtime API changes servers, certificates and maps",
		     "use a UNIX socket with mode 600 or 660"),
	[LINT_RUNS_AS_ROOT] = WARN("runs-as-root",
				   "a mistake in the program, or in a script, has the "
				   "rights of root",
				   "write `user haproxy` and `group haproxy`"),
	[LINT_COOKIE_SCRIPT] = NOTE("cookie-script",
				    "without `httponly` scripts of a page can read the cookie",
				    "write `httponly`, and `secure` with TLS"),
};
