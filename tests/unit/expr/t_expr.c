/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_expr.c - expressions: what they give, as the reference program does, and what is refused */
#include "expr/modules.h"
#include "value.h"
#include "tap.h"
#include "line.h"

/* Values that HAProxy 3.2 gave for "%[...]". */
static const struct { const char *expression, *value; } values[] = {
	{ "bool(1),add(1)", "2" },
	{ "str(abc),json", "abc" },
	{ "str(abc),json()", "abc" },
	{ "str(abc),json(ascii)", "abc" },
	{ "bin(08090a0b0c0d1f202f5c227f80e9ff),json",
	  "\\b\\t\\n\\u000b\\f\\r\\u001f \\/\\\\\\\"\\u007f\\u0080\\u00e9\\u00ff" },
	{ "bin(08090a0b0c0d1f202f5c227fc3a9),json(utf8)",
	  "\\b\\t\\n\\u000b\\f\\r\\u001f \\/\\\\\\\"\\u007f\\u00e9" },
	{ "bin(41c3a942),json(utf8)", "A\\u00e9B" },
	{ "bin(41c342),json(utf8)", "" },
	{ "bin(41c342),json(utf8s)", "AB" },
	{ "bin(41c0aa42),json(utf8)", "" },
	{ "bin(41c0aa42),json(utf8s)", "AB" },
	{ "bin(41c0aa42),json(utf8p)", "A*B" },
	{ "bin(41c0aa42),json(utf8ps)", "A*B" },
	{ "bin(41eda08042),json(utf8)", "" },
	{ "bin(41eda08042),json(utf8ps)", "AB" },
	{ "bin(41f09f988042),json(utf8)", "" },
	{ "bin(41f09f988042),json(utf8s)", "AB" },
	{ "bin(41f09f988042),json(utf8ps)", "AB" },
	{ "bin(41e282ac42),json(utf8)", "A\\u20acB" },
	{ "bin(418042),json(utf8s)", "AB" },
	{ "bin(41e28242),json(utf8s)", "AB" },
	{ "bin(41f842),json(utf8s)", "AB" },
	{ "bin(41fe42),json(utf8s)", "AB" },
	{ "bin(41e282),json(utf8s)", "A" },
	{ "bin(41f88888888842),json(utf8s)", "AB" },
	{ "bin(41f88888888842),json(utf8ps)", "AB" },
	{ "bin(41efbfbf42),json(utf8s)", "AB" },
	{ "bin(41efbfbe42),json(utf8s)", "AB" },
	{ "bin(41e0808142),json(utf8s)", "AB" },
	{ "bin(41e0808142),json(utf8p)", "A\\u0001B" },
	{ "bin(41efb79042),json(utf8)", "A\\ufdd0B" },
	{ "str(),crc32", "0" },
	{ "str(abc),crc32", "891568578" },
	{ "str(abc),crc32c", "910901175" },
	{ "str(The quick brown fox),djb2", "2546203896" },
	{ "bin(ff80fe01),djb2", "2095785315" },
	{ "bin(ff80fe01),sdbm", "2555374916" },
	{ "str(abc),sdbm(0)", "807794786" },
	{ "str(abc),xxh32", "852579327" },
	{ "str(abc),xxh32(5)", "1562728233" },
	{ "str(abcdefghijklmnopqrstuvwxyz0123456789),xxh32(7)", "2952058505" },
	{ "str(abcdefghijklmnopqrstuvwxyz0123456789),xxh64", "7273945407305660262" },
	{ "str(abcdefghijklmnopqrstuvwxyz0123456789),xxh64(9)", "-7270649091975817034" },
	{ "str(),xxh32", "46947589" },
	{ "str(),xxh64", "-1205034819632174695" },
	{ "str(abcdefghijklmnop),xxh32", "2637007714" },
	{ "str(abcdefghijklmnopq),xxh32(-1)", "3559988094" },
	{ "str(abc),xxh64(-1)", "2895935887265243510" },
	{ "str(),base64", "" },
	{ "str(a),base64", "YQ==" },
	{ "str(ab),base64", "YWI=" },
	{ "str(abc),base64", "YWJj" },
	{ "bin(fffefd00),base64", "//79AA==" },
	{ "bin(fffefd00ff),ub64enc", "__79AP8" },
	{ "str(a),ub64enc", "YQ" },
	{ "str(YR==),b64dec,hex", "61" },
	{ "str(YWJj-_+/),ub64dec,hex", "" },
	{ "str(__79AP8),ub64dec,hex", "FFFEFD00FF" },
	{ "str(YWJj+/),ub64dec,hex", "" },
	{ "str(abc),hex2i", "2748" },
	{ "str(-1),hex2i", "" },
	{ "str(ffffffffffffffff),hex2i", "-1" },
	{ "str(fffffffffffffffff),hex2i", "-1" },
	{ "str(),hex2i", "0" },
	{ "str(xyz),hex2i", "" },
	{ "int(1),htonl,hex", "00000001" },
	{ "int(4294967298),htonl,hex", "00000002" },
	{ "str(a b/c?d=e&f~g-h_i.j!k*l(m),url_enc", "a%20b%2Fc%3Fd%3De%26f~g-h_i.j%21k%2Al%28m" },
	{ "str(a b/c?d=e&f~g-h_i.j!k*l),url_enc(query)", "a%20b%2Fc%3Fd%3De%26f~g-h_i.j%21k%2Al" },
	{ "str(a%20b+c?d+e%2f),url_dec(1)", "a b c?d e/" },
	{ "str(a%20b+c),url_dec(0)", "a b+c" },
	{ "bin(01020304050607),be2dec(:,2)", "258:772:1286:7" },
	{ "bin(01020304050607),be2dec(-,2,1)", "258-772-1286" },
	{ "bin(01020304050607),be2dec(,2,1)", "2587721286" },
	{ "bin(7f000001),be2dec(.,1)", "127.0.0.1" },
	{ "bin(ffffffffffffffff01),be2dec(.,8)", "18446744073709551615.1" },
	{ "bin(01020304050607),be2hex", "01020304050607" },
	{ "bin(01020304050607),be2hex(:,2)", "0102:0304:0506:07" },
	{ "bin(01020304050607),be2hex(--,2,1)", "0102--0304--0506" },
	{ "bin(0102030405060708),be2hex(,3,1)", "010203040506" },
	{ "int(1700000000),utime(%Y-%m-%dT%H:%M:%SZ)", "2023-11-14T22:13:20Z" },
	{ "int(1700000000),utime(%Y-%m-%dT%H:%M:%SZ,3600)", "2023-11-14T23:13:20Z" },
	{ "int(1700000000123),ms_utime(%H:%M:%S.%N)", "22:13:20.123000000" },
	{ "int(1700000000123456),us_utime(%H:%M:%S.%N)", "22:13:20.123456000" },
	{ "int(1700000000123456),us_utime(%3N|%6N|%9N|%1N)", "123|123456|123456000|1" },
	{ "int(1700000000123456),us_utime(%Y %3N %S)", "2023 123 20" },
	{ "int(1700000000999999),us_utime(%Y %3N %S)", "2023 999 20" },
	{ "int(1700000001000000),us_utime(%Y %3N %S)", "2023 000 21" },
	{ "int(1700000001000),ms_utime(%Y %3N %S)", "2023 000 21" },
	{ "int(1700000001007),ms_utime(%N)", "007000000" },
	{ "int(-1),ms_utime(%Y %3N)", "1969 999" },
	{ "int(1700000000123456),us_utime(%03N|%10N|%99999999999N|%2Y|%%3N)",
	  "123|123456000|123456000|2023|%3N" },
	{ "int(1700000000),utime()", "" },
	{ "int(1700000000),utime", "" },
	{ "int(1700000000),http_date", "Tue, 14 Nov 2023 22:13:20 GMT" },
	{ "int(1700000000),http_date(10)", "Tue, 14 Nov 2023 22:13:30 GMT" },
	{ "int(1700000000123),http_date(10,ms)", "Tue, 14 Nov 2023 22:13:20.133 GMT" },
	{ "int(1700000000123456),http_date(10,us)", "Tue, 14 Nov 2023 22:13:20.123466 GMT" },
	{ "str(YQ==),b64dec", "a" },
	{ "str(YWJ),b64dec", "" },
	{ "str(YQ=a),b64dec", "" },
	{ "str(YQ),ub64dec", "a" },
	{ "str(a%20b+c?d+e%2f),url_dec", "a b+c?d e/" },
	{ "str(a%2),url_dec", "" },
	{ "str(a=b&c=d&a=r),param(a)", "b" },
	{ "str(a&b=c),param(a)", "" },
	{ "str(a=&b&c=a),param(b)", "" },
	{ "str(a=1;b=2;c=4),param(b,;)", "2" },
	{ "str(ab=1&a=2),param(a)", "2" },
	{ "str(a=1),param(b)", "" },
	{ "str(),param(a)", "" },
	{ "str(&&a=3),param(a)", "3" },
	{ "bool(1),lower", "1" },
	{ "bool(1),hex", "0000000000000001" },
	{ "int(16777343),ipmask(8)", "1.0.0.0" },
	{ "int(1),lower", "1" },
	{ "int(1),hex", "0000000000000001" },
	{ "int(-5),lower", "-5" },
	{ "ipv4(1.2.3.4),add(1)", "16909061" },
	{ "ipv4(1.2.3.4),lower", "1.2.3.4" },
	{ "ipv4(1.2.3.4),hex", "01020304" },
	{ "ipv6(::1),lower", "::1" },
	{ "ipv6(::1),hex", "00000000000000000000000000000001" },
	{ "str(12a),add(1)", "13" },
	{ "str(a),add(1)", "1" },
	{ "str(),add(1)", "" },
	{ "str(-7),add(1)", "-6" },
	{ "str(+7),add(1)", "8" },
	{ "str(99999999999999999999),add(0)", "9223372036854775807" },
	{ "str( 7),add(1)", "1" },
	{ "str(1.2.3.4),ipmask(8)", "1.0.0.0" },
	{ "str(::1),ipmask(8,64)", "0.0.0.0" },
	{ "str(::1),ipmask(8)", "0.0.0.0" },
	{ "str(abc),ipmask(8)", "" },
	{ "str(1.2.3),ipmask(8)", "" },
	{ "str(ab),hex", "6162" },
	{ "bin(616263),lower", "abc" },
	{ "bin(616200),lower", "ab" },
	{ "meth(GET),lower", "get" },
	{ "meth(FOO),lower", "foo" },
	{ "meth(GET),hex", "474554" },
	{ "bool(1)", "1" },
	{ "bool(0)", "0" },
	{ "bool(true)", "1" },
	{ "int(010)", "10" },
	{ "bin(61620063)", "ab" },
	{ "ipv6(2001:db8::1)", "2001:db8::1" },
	{ "meth(GET)", "GET" },
	{ "always_true", "1" },
	{ "str(a b)", "a b" },
	{ "str(\"a,b\")", "a,b" },
	{ "str('a)b')", "a)b" },
	{ "env(EV)", "value" },
	{ "env(NOPE)", "" },
	{ "int(5),bool", "1" },
	{ "int(5),not", "0" },
	{ "int(5),odd", "1" },
	{ "int(5),even", "0" },
	{ "int(5),neg", "-5" },
	{ "int(5),cpl", "-6" },
	{ "int(5),mul(3)", "15" },
	{ "int(5),div(0)", "9223372036854775807" },
	{ "int(5),mod(0)", "0" },
	{ "int(5),mod(3)", "2" },
	{ "int(9223372036854775807),add(1)", "9223372036854775807" },
	{ "int(-9223372036854775808),sub(1)", "-9223372036854775808" },
	{ "int(9223372036854775807),mul(2)", "9223372036854775807" },
	{ "int(-9223372036854775807),mul(2)", "-9223372036854775808" },
	{ "int(-9223372036854775808),neg", "9223372036854775807" },
	{ "int(-9223372036854775808),div(-1)", "9223372036854775807" },
	{ "int(-7),div(2)", "-3" },
	{ "int(-7),mod(2)", "-1" },
	{ "int(5),and(3)", "1" },
	{ "int(5),or(3)", "7" },
	{ "int(5),xor(3)", "6" },
	{ "int(5),add()", "5" },
	{ "str(abc),field(1,b)", "a" },
	{ "str(a.b.c),field(2,.)", "b" },
	{ "str(a.b.c),field(2,.,2)", "b.c" },
	{ "str(a.b.c),field(2,.,0)", "b.c" },
	{ "str(a.b.c),field(-1,.)", "c" },
	{ "str(a.b.c),field(-2,.,2)", "a.b" },
	{ "str(a..c),field(2,.)", "" },
	{ "str(a..c),field(4,.)", "" },
	{ "str(a.b_c),field(2,._)", "b" },
	{ "str(a.b.c),word(2,.)", "b" },
	{ "str(a..c),word(2,.)", "c" },
	{ "str(..a..c..),word(1,.)", "a" },
	{ "str(..a..c..),word(-1,.)", "c" },
	{ "str(..a..c..),word(3,.)", "" },
	{ "str(a.b.c.d),word(2,.,2)", "b.c" },
	{ "str(a.b.c.d),word(3,.,-2)", "c.d" },
	{ "str(a.b.c.d),word(-2,.,2)", "b.c" },
	{ "str(a..b..c),word(1,.,0)", "a..b..c" },
	{ "str(a..b..c),field(1,.,0)", "a..b..c" },
	{ "str(a b),length", "3" },
	{ "bin(0011),length", "0" },
	{ "str(abc),upper", "ABC" },
	{ "str(ABC),lower", "abc" },
	{ "str(abc),bytes(1)", "bc" },
	{ "str(abc),bytes(1,1)", "b" },
	{ "str(abc),bytes(4)", "" },
	{ "str(abc),bytes(3)", "" },
	{ "str(abc),bytes(1,100)", "bc" },
	{ "str(abc),regsub(b,X)", "aXc" },
	{ "str(abcb),regsub(b,X)", "aXcb" },
	{ "str(abcb),regsub(b,X,g)", "aXcX" },
	{ "str(ABC),regsub(b,X,i)", "AXC" },
	{ "str(abc),regsub(\"(b)\",\"<\\\\1>\")", "a<b>c" },
	{ "str(abc),concat(x)", "abcx" },
	{ "bool(1),iif(a,b)", "a" },
	{ "bool(0),iif(a,b)", "b" },
	{ "str(  x  ),ltrim( )", "x  " },
	{ "str(  x  ),rtrim( )", "  x" },
	{ "str(a.b:80),host_only", "a.b" },
	{ "str(a.b:80),port_only", "80" },
	{ "str(a.b),port_only", "0" },
	{ "str(a\\r\\n),cut_crlf", "a" },
	{ "str(1.2.3.4),ipmask(255.255.0.0)", "1.2.0.0" },
	{ "str(1.2.3.4),ipmask(255.0.255.0)", "1.0.3.0" },
	{ "nbproc", "1" },
	{ "proc", "1" },
	{ "str(a\\\\b),hex", "615C62" },
	{ "str(a\\nb),hex", "610A62" },
	{ "str(a\\x41b),hex", "615C78343162" },
	{ "str(a\\ b),hex", "612062" },
	{ "str(\"a\\nb\"),hex", "610A62" },
	{ "str('a\\nb'),hex", "615C6E62" },
	{ "str(\"a\\x41\\\\\\\"b\"),hex", "615C7834315C2262" },
	{ "str(a\"b\"c),hex", "616263" },
	{ "str(a'b,c'c),hex", "61622C6363" },
	{ "str(\"a\"),hex", "61" },
	{ "str(a\\'b),hex", "612762" },
	{ "str(a\\qb),hex", "615C7162" },
	{ "str(\"a'b\"),hex", "612762" },
	{ "str(]),hex", "5D" },
	{ "str(\"]\"),hex", "5D" },
	{ "ipv6(2001:db8::1),ipmask(8)", "" },
	{ "ipv6(2001:db8::1),ipmask(8,32)", "2001:db8::" },
	{ "ipv6(::ffff:1.2.3.4),ipmask(8,64)", "1.0.0.0" },
	{ "ipv6(::ffff:1.2.3.4),ipmask(8)", "1.0.0.0" },
	{ "ipv4(1.2.3.4),ipmask(8,64)", "1.0.0.0" },
	{ "str(2001:db8::1),ipmask(8,32)", "2001:db8::" },
	{ "str(2001:db8::1),ipmask(8)", "" },
	{ "ipv4(1.2.3.4),ipmask(0)", "0.0.0.0" },
	{ "ipv4(1.2.3.4),ipmask(32)", "1.2.3.4" },
	{ "ipv6(2002:0102:0304::1),ipmask(16)", "1.2.0.0" },
	{ "str(7 ),add(1)", "8" },
	{ "str(-),add(1)", "1" },
	{ "str(--7),add(1)", "1" },
	{ "str(-99999999999999999999),add(0)", "-9223372036854775808" },
	{ "str(9223372036854775808),add(0)", "9223372036854775807" },
	{ "int(+5)", "5" },
	{ "int(99999999999999999999)", "9223372036854775807" },
	{ "bool(TRUE)", "1" },
	{ "bool(False)", "0" },
	{ "meth()", "" },
	{ "str()", "" },
	{ "str", "" },
	{ "int(1),add(1),add(2)", "4" },
	{ "str(1),bool", "1" },
	{ "bool(1),bool", "1" },
	{ "ipv4(1.2.3.4),bool", "1" },
	{ "env(A B)", "" },
	{ "int(5),add(-3)", "2" },
	{ "int(5),sub(-3)", "8" },
	{ "int(5),and()", "0" },
	{ "str(a.b.c),word(1,.,-1)", "a.b.c" },
	{ "str(a.b.c.d.e),word(4,.,-2)", "d.e" },
	{ "str(a.b.c.d.e),word(-4,.,-2)", "a.b" },
	{ "str(a.b.c.d.e),field(4,.,-2)", "d.e" },
	{ "str(a.b.c.d.e),field(-4,.,-2)", "a.b" },
	{ "str(a.b.c.d.e),field(-4,.,0)", "a.b" },
	{ "str(a.b.c.d.e),word(-4,.,0)", "a.b" },
	{ "str(a.b.c.d.e),field(-4,.,9)", "a.b" },
	{ "str(a.b.c.d.e),field(9,.,9)", "" },
	{ "str(a.b.c.d.e),field(-9,.)", "" },
	{ "str(a.b.c.d.e),word(-9,.)", "" },
	{ "str(),field(1,.)", "" },
	{ "str(),lower", "" },
	{ "str(),word(1,.)", "" },
	{ "str(.),field(1,.)", "" },
	{ "str(.),field(2,.)", "" },
	{ "str(.),field(3,.)", "" },
	{ "str(...a),word(1,.)", "a" },
	{ "str(a),field(1,.,-1)", "a" },
	{ "str(a.b),field(1,.,-1)", "a.b" },
	{ "str(a.b),field(2,.,-2)", "b" },
	{ "str(abc),regsub(x,y)", "abc" },
	{ "str(abc),regsub(b,)", "ac" },
	{ "str(aaa),regsub(a*,x,g)", "xx" },
	{ "str(abc),regsub(\"^\",\"x\",g)", "xabc" },
	{ "str(abc),regsub(\"b*\",\"-\",g)", "-a--c-" },
	{ "str(abc),regsub(b,\"\\\\0\\\\0\\\\x41\\\\.\")", "abbA.c" },
	{ "str(abc),concat()", "abc" },
	{ "str(abc),concat(a,,b)", "abcab" },
	{ "str(abc),iif(a,b)", "b" },
	{ "bool(1),iif(,b)", "" },
	{ "int(-9223372036854775808),mod(-1)", "0" },
	{ "int(5),mul(-3)", "-15" },
	{ "int(5),cpl,cpl", "5" },
	{ "int(-5),odd", "1" },
	{ "int(-4),even", "1" },
	{ "str(abc),ltrim(ab)", "c" },
	{ "str(abc),rtrim(bc)", "a" },
	{ "str(a..c),field(2,.),length", "0" },
	{ "str(a..c),field(4,.),length", "" },
	{ "str(.),field(1,.),length", "0" },
	{ "str(.),field(2,.),length", "0" },
	{ "str(.),field(3,.),length", "" },
	{ "str(),length", "0" },
	{ "str(),field(1,.),length", "0" },
	{ "str(..a..c..),word(1,.,0)", "a..c.." },
	{ "str(..a..c..),word(1,.,2)", "a..c" },
	{ "str(..a..c..),word(1,.,3)", "a..c.." },
	{ "str(..a..c..),word(-1,.,0)", "..a..c" },
	{ "str(..a..c..),word(-1,.,2)", "a..c" },
	{ "str(..a..c..),word(-1,.,3)", "..a..c" },
	{ "str(..a..c..),field(-1,.,0)", "..a..c.." },
	{ "str(..a..c..),field(1,.,0)", "..a..c.." },
	{ "str(..a..c..),word(2,.,0)", "c.." },
	{ "str(..a..c..),word(3,.),length", "" },
	{ "str(....),word(1,.),length", "" },
	{ "str(abc),bytes(3),length", "0" },
	{ "str(abc),bytes(4),length", "0" },
	{ "str(abc),regsub(abc,),length", "0" },
	{ "str(),lower,length", "0" },
	{ "env(NOPE),length", "" },
	{ "meth(),length", "0" },
	{ "str(  ),ltrim( ),length", "0" },
	{ "bin(00),length", "0" },
	{ "str(),upper", "" },
	{ "int(-5),div(0)", "9223372036854775807" },
	{ "int(-5),mod(0)", "0" },
	{ "int(-5),div(-2)", "2" },
	{ "int(0),mul(9223372036854775807)", "0" },
	{ "int(5),add(9223372036854775808)", "9223372036854775807" },
	{ "int(5),add(-)", "5" },
	{ "int(5),and(-1)", "5" },
	{ "bool(1),add(1),bool", "1" },
	{ "str(x),iif(a,b)", "b" },
	{ "str(1),iif(a,b)", "a" },
	{ "str(1),iif(,)", "" },
	{ "str(a),concat(,,)", "a" },
	{ "str(ab),bytes(0,1)", "a" },
	{ "str(ab),bytes(0)", "ab" },
	{ "str(ab),bytes", "ab" },
	{ "str(a),length()", "1" },
	{ "str(A),lower()", "a" },
	{ "ipv6(2001:db8::1),ipmask(8,ffff::)", "2001::" },
	{ "str(x),ipmask(8),length", "" },
	{ "str(a_b-c),word(2,_-)", "b" },
	{ "str(a_b-c),word(2,\"_-\")", "b" },
	{ "bool(0),not", "1" },
	{ "str(-0),add(0)", "0" },
	{ "str(1e3),add(0)", "1" },
	{ "always_false,iif(x,y)", "y" },
	{ "str(abc),ltrim(a)", "bc" },
	{ "str(abc),ltrim()", "abc" },
	{ "str(h.com:80),host_only", "h.com" },
	{ "str([::1]:80),host_only", "[::1]" },
	{ "str([::1]),host_only", "[::1]" },
	{ "str([::1]:80),port_only", "80" },
	{ "str(::1),port_only", "1" },
	{ "str(::1),host_only", ":" },
	{ "str(H.COM:),host_only", "h.com" },
	{ "str(H.COM:),port_only", "0" },
	{ "str(h:99999),port_only", "99999" },
	{ "str(h:8:9),host_only", "h:8" },
};

/* What it said of those that it refused. */
static const struct { const char *expression, *error;
} errors[] = {
	{"bool(1),ipmask(8)", "converter 'ipmask' cannot be applied."},
	{"ipv6(::1),add(1)", "converter 'add' cannot be applied."},
	{"bin(616263),add(1)", "converter 'add' cannot be applied."},
	{"bin(616263),ipmask(8)", "converter 'ipmask' cannot be applied."},
	{"meth(GET),add(1)", "converter 'add' cannot be applied."},
	{"int(0x10)",
	 "fetch method 'int' : failed to parse '0x10' as type 'integer' at position 1."},
	{"ipv4(10.1)",
	 "fetch method 'ipv4' : failed to parse '10.1' as type 'IPv4 address' at position 1."},
	{"str(a,b)", "fetch method 'str' : expected ')' before ',b)'."},
	{"str(a\\,b)", "fetch method 'str' : expected ')' before ',b)'."},
	{"int(5),add(foo)",
	 "invalid args in converter 'add' : expects an integer or a variable name."},
	{"str(a.b.c),field(0,.)",
	 "invalid args in converter 'field' : Unexpected value 0 for index."},
	{"str(abc),bytes(-1)",
	 "invalid args in converter 'bytes' : expects a non-negative integer."},
	{"str(abc),regsub((b),[\\1])", "invalid arg 2 in converter 'regsub' : missing arguments "
				       "(got 1/2), type 'string' expected."},
	{"int( 5)", "fetch method 'int' : failed to parse ' 5' as type 'integer' at position 1."},
	{"int(5 )", "fetch method 'int' : failed to parse '5 ' as type 'integer' at position 1."},
	{"int(1), add(1)", "unknown converter ''."},
	{"bytes(1)", "unknown fetch method 'bytes'."},
	{"ipv6(1.2.3.4)",
	 "fetch method 'ipv6' : failed to parse '1.2.3.4' as type 'IPv6 address' at position 1."},
	{"ipv4(::1)",
	 "fetch method 'ipv4' : failed to parse '::1' as type 'IPv4 address' at position 1."},
	{"ipv6(::1),bool", "converter 'bool' cannot be applied."},
	{"bin(01),bool", "converter 'bool' cannot be applied."},
	{"meth(GET),bool", "converter 'bool' cannot be applied."},
	{"bin(6),hex",
	 "invalid args in fetch method 'bin' : an even number of hex digit is expected."},
	{"bin(6z),hex",
	 "invalid args in fetch method 'bin' : an hex digit is expected (found 'z')."},
	{"bin(61 62),hex",
	 "invalid args in fetch method 'bin' : an even number of hex digit is expected."},
	{"str(a),str", "unknown converter 'str'."},
	{"int(5),and(0x3)",
	 "invalid args in converter 'and' : expects an integer or a variable name."},
	{"str(abc),field(1,)", "invalid args in converter 'field' : Empty separators list."},
	{"str(abc),field(1)", "invalid arg 2 in converter 'field' : missing arguments (got 1/2), "
			      "type 'string' expected."},
	{"str(abc),word(0,.)", "invalid args in converter 'word' : Unexpected value 0 for index."},
	{"str(abc),bytes(1,0)", "invalid args in converter 'bytes' : expects a positive integer."},
	{"str(abc),bytes(a)",
	 "invalid args in converter 'bytes' : expects an integer or a variable name."},
	{"int(5),add(1x)",
	 "invalid args in converter 'add' : expects an integer or a variable name."},
	{"str(1),iif(a)",
	 "invalid arg 2 in converter 'iif' : missing arguments (got 1/2), type 'string' expected."},
};

static void test_values(void)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		test_value(values[i].expression, values[i].value);
}

static void test_errors(void)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct line line;
		const char *message;

		line_word(&line, errors[i].expression);
		ok(!expr_take(&line.l, 0), "%s is refused", errors[i].expression);
		message = strstr(line_message(&line), "> : ");
		is_str(message ? message + 4 : line_message(&line), errors[i].error, "and why: %s",
		       errors[i].expression);
		line_end(&line);
	}
}

/* --- fetches of the test's own ------------------------------------------------------------ */

static enum expr_result fetch_late(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	return EXPR_WAIT;
}

static enum expr_result fetch_data(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	out->type = SMP_STR;
	out->text = slice_of(ctx->data);
	return EXPR_FOUND;
}

static const struct expr_fetch fetches[] = {
	{ .name = "test.late", .out = SMP_STR, .use = EXPR_USE_HTTP_REQUEST_VOLATILE,
	  .fetch = fetch_late },
	{ .name = "test.data", .out = SMP_STR, .use = EXPR_USE_HTTP_RESPONSE_VOLATILE,
	  .fetch = fetch_data, .data = "shared" },
	{ .name = "test.backend", .args_min = 1, .args = { ARG_BACKEND }, .out = SMP_INT,
	  .use = EXPR_USE_INTERNAL, .fetch = fetch_data },
	{ 0 }
};
static const struct module mod_test = { .name = "test", .fetches = fetches };

static void test_waiting(void)
{
	struct arena arena;
	struct expr_ctx ctx = { .arena = &arena };
	struct line line;
	struct sample s;
	struct expr *e;

	arena_init(&arena, 0);
	line_word(&line, "test.late,lower");
	e = expr_take(&line.l, EXPR_FE_HRQ_HDR);
	ok(e, "a late fetch compiles");
	is_int(e ? (int)expr_eval(e, &ctx, &s) : -1, EXPR_WAIT, "it is not known yet");
	ctx.flags = EXPR_FINAL;
	is_int(e ? (int)expr_eval(e, &ctx, &s) : -1, EXPR_NONE, "at the end it does not exist");
	line_end(&line);
	arena_fini(&arena);
}

static void test_phases(void)
{
	struct line line;
	struct expr *e;

	line_word(&line, "test.data");
	ok(!expr_take(&line.l, EXPR_FE_HRQ_HDR), "a response fetch is refused in a request");
	is_str(line_message(&line),
	       "sample fetch <test.data> may not be reliably used here because it "
	       "needs 'HTTP response headers' which is not available here.",
	       "and why");
	line_end(&line);
	line_word(&line, "test.data");
	e = expr_take(&line.l, EXPR_BE_HRS_HDR);
	ok(e && expr_phases(e) & EXPR_FE_HRS_HDR, "it is valid in a response");
	ok(e && !expr_is_constant(e), "and not constant");
	line_end(&line);
	line_word(&line, "str(a),upper");
	e = expr_take(&line.l, EXPR_BE_HRS_HDR);
	ok(e && expr_is_constant(e), "constants are folded through converters");
	line_end(&line);
	is_int(expr_use_phases(EXPR_USE_CONST), 0x3fffff, "constants are valid everywhere");
	is_int(expr_use_phases(EXPR_USE_HTTP_REQUEST_VOLATILE | EXPR_USE_HTTP_RESPONSE_VOLATILE),
	       0xbfffc & ~(1 << 18), "hdr: requests, responses and checks, not logs");
}

static void test_pending(void)
{
	const struct expr_pending *p;
	struct line line;

	line_word(&line, "test.backend(other)");
	ok(expr_take(&line.l, 0), "a fetch of a backend compiles");
	p = expr_pending_first(cfg);
	ok(p && p->arg && !p->arg->object, "its argument waits to be resolved");
	is_str(p ? p->arg->name.ptr : "", "other", "by name");
	is_str(p ? p->keyword : "", "test.backend", "for that fetch");
	line_end(&line);
	line_word(&line, "test.backend");
	ok(expr_take(&line.l, 0), "the backend may be left out");
	p = expr_pending_first(cfg);
	is_int(p ? (int)p->arg->name.len : -1, 0, "the name is then empty");
	line_end(&line);
}

int main(void)
{
	static const struct module *const modules[] = {
		EXPR_MODULE_LIST &mod_test, NULL
	};

	setenv("EV", "value", 1);
	if (!line_setup(modules))
		return 1;
	test_values();
	test_errors();
	test_waiting();
	test_phases();
	test_pending();
	line_teardown();
	return done_testing();
}
