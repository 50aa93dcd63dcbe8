/* SPDX-License-Identifier: GPL-2.0-or-later */
/* what is said about broken lines: recorded from HAProxy 3.2, file and line and text
 *
 * Where the record shows the source line with its caret, so must we, to the column. Where it does
 * not, ours may stand there in addition: a source line, a caret, a hint.
 */
#include "fake.h"
#include "tap.h"

static const struct {
	const char *text, *said;
} broken[] = {
	{ "foo\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: unknown keyword 'foo' out of section.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "globl\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: unknown keyword 'globl' out of section."
	  "\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen\n",
	  "[ALERT]    : config : parsing [t.cfg:1] : 'listen' expects an <id> argument\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global foo\n",
	  "[ALERT]    : config : parsing [t.cfg:1] : 'global' cannot handle unexpected argu"
	  "ment 'foo'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo",
	  "[ALERT]    : config : parsing [t.cfg:2]: Missing LF on last line, file might hav"
	  "e been truncated at position 5.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unknown keyword 'foo' in 'global' sect"
	  "ion\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  "\tfoo bar\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unknown keyword 'foo' in 'global' sect"
	  "ion\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " tune.bufsze 3\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unknown keyword 'tune.bufsze' in 'glob"
	  "al' section; did you mean 'tune.bufsize' maybe ?\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " maxconn\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'maxconn' expects an integer argument."
	  "\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " maxconn abc\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : cannot parse 'maxconn' value 'abc', an"
	  " integer is expected.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " maxconn 1k\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : cannot parse 'maxconn' value '1k', an "
	  "integer is expected.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " maxconn 1.5\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : cannot parse 'maxconn' value '1.5', an"
	  " integer is expected.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " maxconn 10 20\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'maxconn' cannot handle unexpected arg"
	  "ument '20'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " nbthread 2 3\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'nbthread' cannot handle unexpected ar"
	  "gument '3'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " nbthread 0\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'nbthread' value must be between 1 and"
	  " 1024 (was 0)\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " tune.bufsize\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'tune.bufsize' expects an integer argu"
	  "ment\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " tune.bufsize 3x\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unexpected 'x' after size passed to 't"
	  "une.bufsize'\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " tune.bufsize 64kk\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unexpected 'k' after size passed to 't"
	  "une.bufsize'\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " tune.bufsize -1\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unexpected '-1' after size passed to '"
	  "tune.bufsize'\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " tune.bufsize 0x10\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unexpected 'x10' after size passed to "
	  "'tune.bufsize'\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " tune.bufsize 1.5k\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unexpected '.5k' after size passed to "
	  "'tune.bufsize'\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " force-cfg-parser-pause 3s\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'force-cfg-parser-pause' directive is "
	  "experimental, must be allowed via a global 'expose-experimental-directives'\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " nbproc 2\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : nbproc is not supported any more since"
	  " HAProxy 2.5. Threads will automatically be used on multi-processor machines if "
	  "available.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " stats bind-process 1\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'stats bind-process' is not supported "
	  "anymore.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " tune.chksize 3\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : option 'tune.chksize' is not supported"
	  " any more (tune.bufsize is used instead).\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " no maxconn 10\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: negation/default currently supported on"
	  "ly for options, log, busy-polling, set-dumpable, strict-limits, insecure-fork-wa"
	  "nted and numa-cpu-mapping.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " default maxconn 10\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: negation/default currently supported on"
	  "ly for options, log, busy-polling, set-dumpable, strict-limits, insecure-fork-wa"
	  "nted and numa-cpu-mapping.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " no\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: negation/default currently supported on"
	  "ly for options, log, busy-polling, set-dumpable, strict-limits, insecure-fork-wa"
	  "nted and numa-cpu-mapping.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " setenv A\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'setenv' expects environment variable "
	  "value for 'A'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " setenv A B C\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'setenv' cannot handle unexpected argu"
	  "ment 'C'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " setenv A=B C\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'setenv' failed on variable 'A=B' : In"
	  "valid argument.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " presetenv A\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'presetenv' expects environment variab"
	  "le value for 'A'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " presetenv A B C\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'presetenv' cannot handle unexpected a"
	  "rgument 'C'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " default-path\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : missing default-path mode '' for 'defa"
	  "ult-path', supported modes include 'current', 'config', 'parent', and 'origin'."
	  "\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " default-path foo\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unsupported default-path mode 'foo' fo"
	  "r 'default-path', supported modes include 'current', 'config', 'parent', and 'or"
	  "igin'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " default-path origin\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'default-path origin' expects a direct"
	  "ory as an argument.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " expose-experimental-directives foo\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'expose-experimental-directives' canno"
	  "t handle unexpected argument 'foo'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " expose-deprecated-directives x\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'expose-deprecated-directives' cannot "
	  "handle unexpected argument 'x'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " no expose-experimental-directives\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: negation/default currently supported on"
	  "ly for options, log, busy-polling, set-dumpable, strict-limits, insecure-fork-wa"
	  "nted and numa-cpu-mapping.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " foo bar\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unknown keyword 'foo' in 'listen' sect"
	  "ion\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " maxcon 3\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unknown keyword 'maxcon' in 'listen' s"
	  "ection; did you mean 'maxconn' maybe ?\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " optio httplog\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unknown keyword 'optio' in 'listen' se"
	  "ction; did you mean 'option' maybe ?\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " option httplg\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unknown option 'httplg'; did you mean "
	  "'httplog' maybe ?\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " option\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: 'option' expects an option name.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " option dontlognull x\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'option dontlognull' cannot handle une"
	  "xpected argument 'x'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " timeout client\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'timeout client' expects an integer va"
	  "lue (in milliseconds)\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " timeout client 3x\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unexpected character 'x' in 'timeout c"
	  "lient'\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " timeout client 3s 4\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'timeout client' : unexpected extra ar"
	  "gument '4' after value '3s'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " timeout client 25d\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : timer overflow in argument '25d' to 't"
	  "imeout client' (maximum value is 2147483647 ms or ~24.8 days)\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " timeout client 2147483648\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : timer overflow in argument '2147483648"
	  "' to 'timeout client' (maximum value is 2147483647 ms or ~24.8 days)\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " timeout client -1\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unexpected character '-' in 'timeout c"
	  "lient'\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " timeout client 1.5s\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unexpected character '.' in 'timeout c"
	  "lient'\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " timeout server \" 3\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unexpected character ' ' in 'timeout s"
	  "erver'\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " no timeout client 3s\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: negation/default currently supported on"
	  "ly for options, log, busy-polling, set-dumpable, strict-limits, insecure-fork-wa"
	  "nted and numa-cpu-mapping.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " mode http x\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'mode' cannot handle unexpected argume"
	  "nt 'x'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " nbthread 3\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : unknown keyword 'nbthread' in 'listen'"
	  " section\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " bind :23000 maxcon 3\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'bind :23000' in section 'listen': unk"
	  "nown keyword 'maxcon'; did you mean 'maxconn' maybe ?\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " bind :23002 maxconn\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'bind :23002' in section 'listen' : 'm"
	  "axconn' : missing value\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " server a 1.1.1.1 wight 3\n",
	  "[ALERT]    : config : [t.cfg:2] : 'server a/a' : unknown keyword 'wight'; did yo"
	  "u mean 'weight' maybe ?\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "frontend a\n"
	  " balance roundrobin\n",
	  "[WARNING]  : config : parsing [t.cfg:2] : 'balance' ignored because frontend 'a'"
	  " has no backend capability.\n" },
	{ "frontend a\n"
	  " retries 3\n",
	  "[WARNING]  : config : parsing [t.cfg:2] : 'retries' ignored because frontend 'a'"
	  " has no backend capability.\n" },
	{ "backend b\n"
	  " bind :1\n",
	  "[WARNING]  : config : parsing [t.cfg:2] : 'bind' ignored because backend 'b' has"
	  " no frontend capability.\n" },
	{ "backend b\n"
	  " maxconn 3\n",
	  "[WARNING]  : config : parsing [t.cfg:2] : 'maxconn' ignored because backend 'b' "
	  "has no frontend capability. Maybe you want 'fullconn' instead ?\n" },
	{ "defaults\n"
	  " bind :1\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'bind' not allowed in 'defaults' secti"
	  "on.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " redispatch\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : keyword 'redispatch' directive is not "
	  "supported anymore since HAProxy 2.1. Use 'option redispatch'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " redisp\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : keyword 'redisp' directive is not supp"
	  "orted anymore since HAProxy 2.1. Use 'option redispatch'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " contimeout 3\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : the 'contimeout' directive is not supp"
	  "orted anymore since HAProxy 2.1. Use 'timeout connect'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " clitimeout 3\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : the 'clitimeout' directive is not supp"
	  "orted anymore since HAProxy 2.1. Use 'timeout client'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " srvtimeout 3\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : the 'srvtimeout' directive is not supp"
	  "orted anymore since HAProxy 2.1. Use 'timeout server'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " reqadd x\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : The 'reqadd' directive is not supporte"
	  "d anymore since HAProxy 2.1. Use 'http-request add-header' instead.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " reqrep x y\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : The 'reqrep' directive is not supporte"
	  "d anymore since HAProxy 2.1. Use 'http-request replace-path', 'http-request repl"
	  "ace-uri' or 'http-request replace-header' instead.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " reqirep x y\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : The 'reqirep' directive is not support"
	  "ed anymore since HAProxy 2.1. Use 'http-request replace-header' instead.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " reqidel x\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : The 'reqidel' directive is not support"
	  "ed anymore since HAProxy 2.1. Use 'http-request del-header' instead.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " rspadd x\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : The 'rspadd' directive is not supporte"
	  "d anymore since HAProxy 2.1. Use 'http-response add-header' instead.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " rspirep x y\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : The 'rspirep' directive is not support"
	  "ed anymore since HAProxy 2.1. Use 'http-response replace-header' instead.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " block if TRUE\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : The 'block' directive is not supported"
	  " anymore since HAProxy 2.1. Use 'http-request deny' which uses the exact same sy"
	  "ntax.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "listen a\n"
	  " cliexp a b\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : The 'cliexp' directive is not supporte"
	  "d anymore since HAProxy 2.1. Use 'http-request replace-path', 'http-request repl"
	  "ace-uri' or 'http-request replace-header' instead.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".notice\n",
	  "[NOTICE]   : config : parsing [t.cfg:1]: ''.\n" },
	{ ".notice \"a b\"\n",
	  "[NOTICE]   : config : parsing [t.cfg:1]: 'a b'.\n" },
	{ ".notice a b\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: Unexpected argument 'b' for '.notice'. "
	  "Use quotes if the message should contain spaces.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".warning \"x\"\n",
	  "[WARNING]  : config : parsing [t.cfg:1]: 'x'.\n" },
	{ ".alert \"x\"\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: 'x'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".alert a b\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: Unexpected argument 'b' for '.alert'. U"
	  "se quotes if the message should contain spaces.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".diag \"a b\"\n",
	  "[DIAG]     : config : parsing [t.cfg:1]: 'a b'.\n" },
	{ ".diag a b\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: Unexpected argument 'b' for '.diag'. Us"
	  "e quotes if the message should contain spaces.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".foo\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: unknown directive '.foo'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ". foo\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: unknown directive '.'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".else\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: lone '.else' with no matching '.if'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".elif 1\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: lone '.elif' with no matching '.if'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".endif\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: lone '.endif' with no matching '.if'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".if 1\n"
	  ".else\n"
	  ".else\n"
	  ".endif\n",
	  "[ALERT]    : config : parsing [t.cfg:3]: '.else' after '.else' is not permitted."
	  "\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".if 1\n"
	  ".else\n"
	  ".elif 1\n"
	  ".endif\n",
	  "[ALERT]    : config : parsing [t.cfg:3]: '.elif' after '.else' is not permitted."
	  "\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".if 1\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: non-terminated '.if' block.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".if 0\n",
	  "[ALERT]    : config : parsing [t.cfg:1]: non-terminated '.if' block.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".if 0\n"
	  " foo \"abc\n"
	  ".endif\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unmatched quote at position 6:\n"
	  "  foo \"abc\n"
	  "      ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ ".if 0\n"
	  ".foo\n"
	  ".endif\n",
	  "" },
	{ ".if 0\n"
	  ".if foo(\n"
	  ".endif\n"
	  ".endif\n",
	  "" },
	{ ".if 1\n"
	  ".elif foo(\n"
	  ".endif\n",
	  "" },
	{ ".if 0\n"
	  ".elif foo(\n"
	  ".endif\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unparsable conditional expression 'foo("
	  "' in '.elif' at position 1:\n"
	  "  .elif foo(\n"
	  "        ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  ".notice \"${.FILE}:${.LINE}:<${.SECTION}>\"\n",
	  "[NOTICE]   : config : parsing [t.cfg:2]: 't.cfg:2:<global>'.\n" },
	{ ".notice \"<${.SECTION}>\"\n",
	  "[NOTICE]   : config : parsing [t.cfg:1]: '<>'.\n" },
	{ "global\n"
	  " setenv A 1\n"
	  ".notice \"$A\"\n"
	  " setenv A 2\n"
	  ".notice \"$A\"\n"
	  " unsetenv A\n"
	  ".notice \"<$A>\"\n"
	  " presetenv A 3\n"
	  " presetenv A 4\n"
	  ".notice \"$A\"\n"
	  " resetenv ONE\n"
	  ".notice \"$A$ONE$HOME\"\n",
	  "[NOTICE]   : config : parsing [t.cfg:3]: '1'.\n"
	  "[NOTICE]   : config : parsing [t.cfg:5]: '2'.\n"
	  "[NOTICE]   : config : parsing [t.cfg:7]: '<>'.\n"
	  "[NOTICE]   : config : parsing [t.cfg:10]: '3'.\n"
	  "[NOTICE]   : config : parsing [t.cfg:12]: '1'.\n" },
	{ ".if streq(\"$A\",1)\n"
	  ".notice T\n"
	  ".endif\n"
	  "global\n"
	  " setenv A 1\n",
	  "[NOTICE]   : config : parsing [t.cfg:2]: 'T'.\n" },
	{ "global\n"
	  " foo \"abc\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unmatched quote at position 6:\n"
	  "  foo \"abc\n"
	  "      ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo 'abc\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unmatched quote at position 6:\n"
	  "  foo 'abc\n"
	  "      ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"abc\\\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unmatched quote at position 6:\n"
	  "  foo \"abc\\\"\n"
	  "      ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  "\t foo \"a b\t  c  \n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unmatched quote at position 7:\n"
	  "  foo \"a b   c  \n"
	  "      ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"a\\x4\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: truncated or invalid hexadecimal sequen"
	  "ce at position 8:\n"
	  "  foo \"a\\x4\"\n"
	  "        ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \\xzz\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: truncated or invalid hexadecimal sequen"
	  "ce at position 6:\n"
	  "  foo \\xzz\n"
	  "      ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"$\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: forbidden first char in environment var"
	  "iable name at position 8:\n"
	  "  foo \"$\"\n"
	  "        ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"${\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: forbidden first char in environment var"
	  "iable name at position 9:\n"
	  "  foo \"${\"\n"
	  "         ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"$1\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: forbidden first char in environment var"
	  "iable name at position 8:\n"
	  "  foo \"$1\"\n"
	  "        ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"${1A}\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: forbidden first char in environment var"
	  "iable name at position 9:\n"
	  "  foo \"${1A}\"\n"
	  "         ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"${}\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: forbidden first char in environment var"
	  "iable name at position 9:\n"
	  "  foo \"${}\"\n"
	  "         ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"${A\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unmatched brace in environment variable"
	  " name at position 8:\n"
	  "  foo \"${A\"\n"
	  "        ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"${A x}\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unmatched brace in environment variable"
	  " name at position 8:\n"
	  "  foo \"${A x}\"\n"
	  "        ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"${A[1]}\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: truncated or invalid word expansion seq"
	  "uence at position 10:\n"
	  "  foo \"${A[1]}\"\n"
	  "          ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"${A[*}\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: truncated or invalid word expansion seq"
	  "uence at position 10:\n"
	  "  foo \"${A[*}\"\n"
	  "          ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"${A[*]x}\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unmatched brace in environment variable"
	  " name at position 8:\n"
	  "  foo \"${A[*]x}\"\n"
	  "        ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " foo \"${-x}\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: forbidden first char in environment var"
	  "iable name at position 9:\n"
	  "  foo \"${-x}\"\n"
	  "         ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " setenv A \"\"\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: argument number 2 at position 12 is emp"
	  "ty and marks the end of the argument list:\n"
	  "  setenv A \"\"\n"
	  "            ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  " setenv \"\" x\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: argument number 1 at position 10 is empt"
	  "y and marks the end of the argument list:\n"
	  "  setenv \"\" x\n"
	  "          ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  "  setenv A yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
	  "y \"abc zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unmatched quote at position 83:\n"
	  "  ...yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy \"abc zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"
	  "...\n"
	  "                                          ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\n"
	  "  setenv A yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy \"abc zz"
	  "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\n",
	  "[ALERT]    : config : parsing [t.cfg:2]: unmatched quote at position 73:\n"
	  "  setenv A yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy \"abc zz"
	  "zzz\n"
	  "                                                                        ^\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
	{ "global\r\n"
	  " setenv A\r\n",
	  "[ALERT]    : config : parsing [t.cfg:2] : 'setenv' expects environment variable "
	  "value for 'A'.\n"
	  "[ALERT]    : config : Error(s) found in configuration file : t.cfg\n" },
};

/* The length of the line at <at> with its line feed. */
static size_t line_len(const char *at)
{
	size_t len = strcspn(at, "\n");

	return len + (at[len] == '\n');
}

/* Compares line by line; what is indented on our side alone is an addition. */
static bool matches(const char *ours, const char *wanted)
{
	while (*ours || *wanted) {
		size_t len = line_len(wanted), own = line_len(ours);

		if (own == len && len && strncmp(ours, wanted, len) == 0) {
			ours += own;
			wanted += len;
			continue;
		}
		if (strncmp(ours, "  ", 2) != 0)
			return false;
		ours += own;
	}
	return true;
}

int main(void)
{
	fake_start();
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		char *said = fake_read(broken[i].text, strlen(broken[i].text), NULL);

		if (!ok(matches(said, broken[i].said), "text %zu", i))
			printf("# text:\n%s\n# said:\n%s\n# wanted:\n%s\n", broken[i].text, said,
			       broken[i].said);
		free(said);
	}
	return done_testing();
}
