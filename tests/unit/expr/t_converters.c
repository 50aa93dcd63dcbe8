/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_converters.c - converters of dates, hashes, JSON, FIX, MQTT, Protocol Buffers, Forwarded */
#include "expr/modules.h"
#include "tap.h"
#include "value.h"

/* What HAProxy 3.2 gave for "%[...]". */
static const struct { const char *expression, *value; } values[] = {
	{ "bin(00ff41),base2", "000000001111111101000001" },
	{ "str(),base2", "" },
	{ "str(12345678),crc32(1)", "3843143269" },
	{ "str(ab),crc32(1)", "854450000" },
	{ "str(abc),crc32(1)", "930845320" },
	{ "str(eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee),crc32(1)",
	  "4015656391" },
	{ "str(sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "ss),crc32(1)",
	  "39547990" },
	{ "str(123456789),crc32(1)", "1130417534" },
	{ "str(wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww),crc32(1)", "1897924827" },
	{ "str(rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr),crc32(1)",
	  "3623770055" },
	{ "str(yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
	  "yyyyyyyyyyyyyyyyyyyy),crc32(1)",
	  "1978064414" },
	{ "str(uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu"
	  "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu),crc32(1)",
	  "1058645448" },
	{ "str(ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
	  "ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
	  "pppppppppppppppppppppppppppppppppppppppppp),crc32(1)",
	  "4117804565" },
	{ "str(iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii"
	  "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii),crc32(1)",
	  "2048247773" },
	{ "str(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	  "a),crc32(1)",
	  "4150452253" },
	{ "str(11111111111111111),crc32(1)", "3445464655" },
	{ "str(ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	  "ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	  "ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	  "ddddddddddddddddd),crc32c(1)",
	  "3070991487" },
	{ "str(eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee),crc32c(1)",
	  "1702315485" },
	{ "str(sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "ss),crc32c(1)",
	  "2027895075" },
	{ "str(rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr),crc32c(1)",
	  "919504073" },
	{ "str(11111111111111111),crc32c(1)", "1360607812" },
	{ "str(ooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo"
	  "ooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo"
	  "oo),crc32c(1)",
	  "4072749358" },
	{ "str(abc),crc32c(1)", "1285784220" },
	{ "str(iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii"
	  "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii),crc32c(1)",
	  "1813128148" },
	{ "str(x),crc32c(1)", "1634078987" },
	{ "str(ab),crc32c(1)", "728918594" },
	{ "str(abcd),crc32c(1)", "941516728" },
	{ "str(12345678),crc32c(1)", "1588066014" },
	{ "str(yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
	  "yyyyyyyyyyyyyyyyyyyy),crc32c(1)",
	  "3047279870" },
	{ "str(qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq),crc32c(1)", "3224787245" },
	{ "str('Sun, 06 Nov 1994 08:49:60 GMT'),date", "784111800" },
	{ "str('Sun, 06 Nov 1994 08:49:37 GMT '),date", "784111777" },
	{ "str('Sun, 06 Nov 1994 08:49:37 GMT'),date", "784111777" },
	{ "str('Sun Nov  6 08:49:37 1994'),date", "784111777" },
	{ "str('Sunday, 06-Nov-70 08:49:37 GMT'),date", "26729377" },
	{ "str('Sun Nov 16 08:49:37 1994'),date", "784975777" },
	{ "str('Sun, 06 Nov 9999 08:49:37 GMT'),date", "253397494177" },
	{ "str('Sunday, 06-Nov-26 08:49:37 GMT'),date", "1793954977" },
	{ "str('Sunday, 06-Nov-94 08:49:37 GMT'),date", "784111777" },
	{ "str('Sunday, 06-Nov-99 08:49:37 GMT'),date", "941878177" },
	{ "str('Mon, 06 Nov 1994 08:49:37 GMT'),date", "784111777" },
	{ "str('Sun, 6 Nov 1994 08:49:37 GMT'),date", "" },
	{ "str(),date", "" },
	{ "str('Sun, 06 Nov 1994 08:49:37'),date", "" },
	{ "str(11111111111111111),djb2(1)", "3753519535" },
	{ "str(qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq),djb2(1)", "344379515" },
	{ "str(123456789),djb2(1)", "2717138294" },
	{ "str(x),djb2(1)", "3554178265" },
	{ "str(ab),djb2(1)", "282820760" },
	{ "str(sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "ss),djb2(1)",
	  "946999868" },
	{ "str(12345678),djb2(1)", "1796257514" },
	{ "str(ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	  "ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	  "ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	  "ddddddddddddddddd),djb2(1)",
	  "3209156569" },
	{ "str(abc),djb2(1)", "2235766107" },
	{ "str(rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr),djb2(1)",
	  "2817667063" },
	{ "str(0000000000000000),djb2(1)", "559407821" },
	{ "str(abcd),djb2(1)", "1062536028" },
	{ "str(iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii"
	  "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii),djb2(1)",
	  "1506638273" },
	{ "str(ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt"
	  "ttttttttttttttttttt),djb2(1)",
	  "979347926" },
	{ "bin(383d4649582e342e3401393d31320133353d410134393d613d620131303d31343101),fix_is_"
	  "valid",
	  "1" },
	{ "bin(383d4649582e332e3001393d31350133353d410134393d530135363d540131303d32313901),f"
	  "ix_is_valid",
	  "0" },
	{ "bin(383d4649582e342e3401393d31360133353d410133353d42013034393d530131303d32353201)"
	  ",fix_is_valid",
	  "1" },
	{ "bin(383d4649582e342e3401393d380133353d41013d310131303d30333801),fix_is_valid", "0" },
	{ "bin(383d4649582e342e3401393d31350133353d410134393d530135363d540131303d32323401),f"
	  "ix_is_valid",
	  "1" },
	{ "bin(383d464f4f01393d31350133353d410134393d530135363d540131303d30323501),fix_is_va"
	  "lid",
	  "0" },
	{ "bin(383d4649582e342e3401393d330133353d410134393d530135363d540131303d31373301),fix"
	  "_is_valid",
	  "0" },
	{ "bin(383d4649582e342e3401393d31350133353d410131303d310134393d530131303d31373901),f"
	  "ix_is_valid",
	  "0" },
	{ "bin(383d4649582e342e3401393d390133353d4101783d310131303d31353901),fix_is_valid", "0" },
	{ "bin(383d4649582e322e3701393d31350133353d410134393d530135363d540131303d32323501),f"
	  "ix_is_valid",
	  "0" },
	{ "bin(383d4649582e342e3401393d31350133353d410134393d530135363d540131303d3101),fix_i"
	  "s_valid",
	  "0" },
	{ "bin(383d4649582e342e3401393d31300134393d530133353d410131303d32323201),fix_is_valid",
	  "0" },
	{ "bin(383d4649582e342e3401393d6162630133353d410134393d530135363d540131303d31363001)"
	  ",fix_is_valid",
	  "0" },
	{ "bin(383d4649582e342e3401393d30303031350133353d410134393d530135363d540131303d31313"
	  "201),fix_is_valid",
	  "1" },
	{ "bin(383d4649582e342e3401393d340133353d0131303d31313401),fix_is_valid", "" },
	{ "bin(383d4649582e342e34),fix_is_valid", "" },
	{ "bin(383d4649582e342e3401393d300131303d32303001),fix_is_valid", "" },
	{ "bin(383d4649582e342e3401393d30303031350133353d410134393d530135363d540131303d31313"
	  "201),fix_tag_value(BodyLength)",
	  "00015" },
	{ "bin(383d4649582e342e3401393d31350133353d410134393d530135363d540131303d32323401787"
	  "8),fix_tag_value(SenderCompID)",
	  "S" },
	{ "bin(383d4649582e342e3401393d30303031350133353d410134393d530135363d540131303d31313"
	  "201),fix_tag_value(35)",
	  "A" },
	{ "bin(383d4649582e342e3401393d30303031350133353d410134393d530135363d540131303d31313"
	  "201),fix_tag_value(10)",
	  "112" },
	{ "bin(383d4649582e342e3401393d380133353d410134390131303d30333701),fix_tag_value(35)",
	  "A" },
	{ "bin(383d4649582e342e3401393d31350133353d410134393d530135363d540131303d3101),fix_t"
	  "ag_value(10)",
	  "1" },
	{ "bin(383d4649582e342e3401393d31350133353d410131303d310134393d530131303d31373901),f"
	  "ix_tag_value(35)",
	  "A" },
	{ "bin(383d4649582e342e3401393d31350133353d410134393d530135363d540131303d32323401787"
	  "8),fix_tag_value(MsgType)",
	  "A" },
	{ "bin(383d4649582e342e3401393d30303031350133353d410134393d530135363d540131303d31313"
	  "201),fix_tag_value(8)",
	  "FIX.4.4" },
	{ "bin(383d4649582e342e3401393d31320133353d410134393d613d620131303d31343101),fix_tag"
	  "_value(10)",
	  "141" },
	{ "bin(383d4649582e342e3401393d31360133353d410133353d42013034393d530131303d32353201)"
	  ",fix_tag_value(8)",
	  "FIX.4.4" },
	{ "bin(383d4649582e342e3401393d31350133353d410134393d530135363d540131303d3101),fix_t"
	  "ag_value(35)",
	  "A" },
	{ "bin(383d4649582e342e3401393d31350133353d410134393d530135363d540131303d3030303101)"
	  ",fix_tag_value(8)",
	  "FIX.4.4" },
	{ "bin(383d4649582e342e3401393d300131303d32303001),fix_tag_value(CheckSum)", "200" },
	{ "bin(383d4649582e342e3401393d300131303d32303001),fix_tag_value(MsgType)", "" },
	{ "bin(383d464958),fix_tag_value(49)", "" },
	{ "str(),fix_tag_value(BeginString)", "" },
	{ "bin(7f),has_ctl()", "1" },
	{ "bin(09),has_ctl(any)", "1" },
	{ "bin(09),has_ctl", "0" },
	{ "bin(7f),has_ctl(4294967296)", "1" },
	{ "bin(7f),has_ctl(0x100000000)", "1" },
	{ "bin(0a),has_ctl(http)", "1" },
	{ "bin(0d),has_ctl", "1" },
	{ "str(),has_ctl", "0" },
	{ "bin(7b2261223a227461620968657265227d),json_query('$.a','int')", "tab\011here" },
	{ "bin(20207b2261223a317d),json_query('$.a')", "1" },
	{ "bin(7b2261223a2d393232333337323033363835343737353830397d),json_query('$.a')",
	  "-9.22337e+18" },
	{ "bin(7b2261223a30317d),json_query('$.a')", "1" },
	{ "bin(7b2261223a31326162637d),json_query('$.a')", "12" },
	{ "bin(7b2261223a22c3a9227d),json_query('$.a','int')", "\303\251" },
	{ "bin(5b312c325d),json_query('$')", "[1,2]" },
	{ "bin(7b2261223a312e3565337d),json_query('$.a','int')", "1" },
	{ "bin(227822),json_query('$')", "x" },
	{ "bin(7b2261223a3145327d),json_query('$.a')", "100" },
	{ "bin(5b312c325d),json_query('$[1]')", "2" },
	{ "bin(7b2261223a3132333435363738393031327d),json_query('$.a')", "1.23457e+11" },
	{ "bin(20207b2261223a317d),json_query('$.a','int')", "1" },
	{ "bin(74727565),json_query('$')", "1" },
	{ "bin(7b2261223a5b312c),json_query('$.a')", "" },
	{ "bin(7b2261223a393232333337323033363835343737353830377d),json_query('$.a','int')", "" },
	{ "bin(7b2261223a2e357d),json_query('$.a','int')", "" },
	{ "str(''),language(fr;en,zz)", "zz" },
	{ "str('fr-fr,en;q=0.8'),language(fr-FR;en)", "en" },
	{ "str('fr-FR,en;q=0.8'),language(fr;en)", "fr" },
	{ "str('fr;q=0.5,en;q=0.8'),language(en;fr)", "en" },
	{ "str('FR'),language(fr;en,zz)", "zz" },
	{ "str('de,fr'),language(fr;de)", "de" },
	{ "str('fr;q=0,en;q=0'),language(fr;en,zz)", "zz" },
	{ "str('de,fr'),language(fr;;de)", "de" },
	{ "str('fr,en;q=0.8'),language(en;fr)", "fr" },
	{ "str('de;q=x,fr'),language(de;fr)", "de" },
	{ "str('fr;q=0.9999,en;q=0.999'),language(en;fr)", "fr" },
	{ "str('fr ; q=0.1 , en'),language(fr;en,zz)", "en" },
	{ "str('fr;q=0.5,en;q=0.8'),language(de,xx)", "xx" },
	{ "str('*;q=0.3,en;q=0.1'),language(fr;en)", "en" },
	{ "str('*'),language(fr;en)", "" },
	{ "str('de,fr'),language()", "" },
	{ "str('fr;q=0.5,en;q=0.8'),language(de)", "" },
	{ "bin(106200044d51545405ce003c22110000000a21001427000001002200051901170015000461757"
	  "468160004646174610003636c691b1800000007010102000000090300026374080002727409000263"
	  "64000277740002776d000475736572000470617373),mqtt_field_value(connect,will_topic)",
	  "wt" },
	{ "bin(102300044d51545404ce003c0003636c69000277740002776d000475736572000470617373),m"
	  "qtt_field_value(connect,Flags)",
	  "206" },
	{ "bin(2003000000),mqtt_field_value(CONNACK,40)", "0" },
	{ "bin(106200044d51545405ce003c22110000000a21001427000001002200051901170015000461757"
	  "468160004646174610003636c691b1800000007010102000000090300026374080002727409000263"
	  "64000277740002776d000475736572000470617373),mqtt_field_value(connect,17)",
	  "10" },
	{ "bin(204100003e110000000a210014240125012700000100120004616369642200051f00037768792"
	  "80129012a011300201a000272691c00027372150002616d1600026164),mqtt_field_value(CONNA"
	  "CK,39)",
	  "256" },
	{ "bin(102300044d51545404ce003c0003636c69000277740002776d000475736572000470617373),m"
	  "qtt_field_value(connect,will_payload)",
	  "wm" },
	{ "bin(204100003e110000000a210014240125012700000100120004616369642200051f00037768792"
	  "80129012a011300201a000272691c00027372150002616d1600026164),mqtt_field_value(CONNA"
	  "CK,21)",
	  "am" },
	{ "bin(2003000000),mqtt_field_value(CONNACK,flags)", "0" },
	{ "bin(204100003e110000000a210014240125012700000100120004616369642200051f00037768792"
	  "80129012a011300201a000272691c00027372150002616d1600026164),mqtt_field_value(CONNA"
	  "CK,41)",
	  "1" },
	{ "bin(2003000000),mqtt_field_value(CONNACK,36)", "0" },
	{ "bin(106200044d51545405ce003c22110000000a21001427000001002200051901170015000461757"
	  "468160004646174610003636c691b1800000007010102000000090300026374080002727409000263"
	  "64000277740002776d000475736572000470617373),mqtt_field_value(connect,keepalive)",
	  "60" },
	{ "bin(102300044d51545404ce003c0003636c69000277740002776d000475736572000470617373),m"
	  "qtt_field_value(connect,will_topic)",
	  "wt" },
	{ "bin(106200044d51545405ce003c22110000000a21001427000001002200051901170015000461757"
	  "468160004646174610003636c691b1800000007010102000000090300026374080002727409000263"
	  "64000277740002776d000475736572000470617373),mqtt_field_value(connect,2)",
	  "9" },
	{ "bin(106200044d51545405ce003c22110000000a21001427000001002200051901170015000461757"
	  "468160004646174610003636c691b1800000007010102000000090300026374080002727409000263"
	  "64000277740002776d000475736572000470617373),mqtt_field_value(connect,username)",
	  "user" },
	{ "bin(100c00044d5154540402003c0000),mqtt_field_value(connect,1)", "" },
	{ "bin(20020100),mqtt_field_value(CONNACK,31)", "" },
	{ "bin(101700044d5154540502003c072600016b0001760003636c69),mqtt_field_value(connect,"
	  "21)",
	  "" },
	{ "bin(112300044d51545404ce003c0003636c69000277740002776d000475736572000470617373),m"
	  "qtt_is_valid",
	  "0" },
	{ "bin(e000),mqtt_is_valid", "0" },
	{ "bin(10ffffffff01),mqtt_is_valid", "0" },
	{ "bin(20020105),mqtt_is_valid", "1" },
	{ "bin(20020007),mqtt_is_valid", "1" },
	{ "bin(101a00044d5154540502003c0a110000000111000000010003636c69),mqtt_is_valid", "0" },
	{ "bin(106200044d51545405ce003c22110000000a21001427000001002200051901170015000461757"
	  "468160004646174610003636c691b1800000007010102000000090300026374080002727409000263"
	  "64000277740002776d000475736572000470617373),mqtt_is_valid",
	  "1" },
	{ "bin(102300044d51545404ce003c0003636c69000277740002776d000475736572000470617373),m"
	  "qtt_is_valid",
	  "1" },
	{ "bin(102300044d51545804ce003c0003636c69000277740002776d000475736572000470617373),m"
	  "qtt_is_valid",
	  "0" },
	{ "bin(101d00064d514973647003c2003c0003636c69000475736572000470617373),mqtt_is_valid",
	  "1" },
	{ "bin(102300044d51545406ce003c0003636c69000277740002776d000475736572000470617373),m"
	  "qtt_is_valid",
	  "0" },
	{ "bin(101200044d5154540502003c02fe000003636c69),mqtt_is_valid", "0" },
	{ "bin(101700044d515454041c003c0003636c69000277740002776d),mqtt_is_valid", "1" },
	{ "bin(204100003e110000000a210014240125012700000100120004616369642200051f00037768792"
	  "80129012a011300201a000272691c00027372150002616d1600026164),mqtt_is_valid",
	  "1" },
	{ "bin(102300044d51545404ce003c0003636c69000277740002776d0004757365720004706173),mqt"
	  "t_is_valid",
	  "" },
	{ "str(),mqtt_is_valid", "" },
	{ "bin(10),mqtt_is_valid", "" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(8,sfixed3"
	  "2)",
	  "1069547520" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a2060268),protobuf(1,int32),hex",
	  "0000000000000096" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(3.1,enum)"
	  ",hex",
	  "0000000000000096" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(5)",
	  "\367\377\377\377\377\377\377\377" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(9,double)"
	  ",hex",
	  "0000000000000002" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(6,bool),h"
	  "ex",
	  "FFFFFFFFFFFFFFFB" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(3.2)",
	  "abc" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(6,sint64)"
	  ",hex",
	  "8000000000000002" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(9,sfixed6"
	  "4),hex",
	  "4004000000000000" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(1,sint32)"
	  ",hex",
	  "000000000000004B" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(6,sint64)",
	  "-9223372036854775806" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(3.1,uint3"
	  "2),hex",
	  "0000000000000096" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(7,uint32)"
	  ",hex",
	  "0000000000000009" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(3.1),hex",
	  "9601" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(9,uint32)"
	  ",hex",
	  "" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(11,sint32"
	  "),hex",
	  "" },
	{ "bin(0896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff30fbfffffff"
	  "fffffffff013809450000c03f49000000000000044050010807a206026869),protobuf(7,fixed64"
	  "),hex",
	  "" },
	{ "bin(70726f746f3d68747470733b686f73743d22686170726f78792e6f72673a383022),rfc7239_f"
	  "ield(proto)",
	  "https" },
	{ "bin(666f723d3132372e302e302e313b70726f746f3d68747470),rfc7239_field(proto)", "http" },
	{ "bin(686f73743d612e623b70726f746f3d687474703b62793d5f783b666f723d756e6b6e6f776e),r"
	  "fc7239_field(by)",
	  "_x" },
	{ "bin(666f723d756e6b6e6f776e),rfc7239_field(for)", "unknown" },
	{ "bin(686f73743d612e623b70726f746f3d687474703b62793d5f783b666f723d756e6b6e6f776e),r"
	  "fc7239_field(host)",
	  "a.b" },
	{ "bin(62793d312e322e332e34),rfc7239_field(by)", "1.2.3.4" },
	{ "bin(686f73743d61),rfc7239_field(host)", "a" },
	{ "bin(686f73743d612e623b70726f746f3d687474703b62793d5f783b666f723d756e6b6e6f776e),r"
	  "fc7239_field(proto)",
	  "http" },
	{ "bin(666f723d312e322e332e343a3830),rfc7239_field(by)", "" },
	{ "bin(666f723d22312e322e332e343a22),rfc7239_field(host)", "" },
	{ "bin(666f723d22312e322e332e343a393939393922),rfc7239_field(for)", "" },
	{ "bin(666f723d225b3a3a666666663a312e322e332e345d22),rfc7239_is_valid", "0" },
	{ "bin(666f723d312e322e332e3420),rfc7239_is_valid", "0" },
	{ "bin(666f723d),rfc7239_is_valid", "0" },
	{ "bin(666f723d756e6b6e6f776e),rfc7239_is_valid", "1" },
	{ "bin(666f723d225f22),rfc7239_is_valid", "0" },
	{ "bin(686f73743d22613a383022),rfc7239_is_valid", "1" },
	{ "bin(666f723d223132372e302e302e313a5f7022),rfc7239_is_valid", "1" },
	{ "bin(686f73743d),rfc7239_is_valid", "0" },
	{ "bin(686f73743d61),rfc7239_is_valid", "1" },
	{ "bin(686f73743d2222),rfc7239_is_valid", "1" },
	{ "bin(666f723d225b3a3a315d22),rfc7239_is_valid", "1" },
	{ "bin(666f723d312e322e332e34203b70726f746f3d68747470),rfc7239_is_valid", "0" },
	{ "bin(666f723d312e322e332e342c70726f746f3d68747470),rfc7239_is_valid", "0" },
	{ "bin(62793d225f783a5f7922),rfc7239_is_valid", "1" },
	{ "bin(312e322e332e343a3635353335),rfc7239_n2nn", "1.2.3.4" },
	{ "bin(312e322e332e3478),rfc7239_n2nn,length", "7" },
	{ "bin(5f783a3830),rfc7239_n2nn,length", "2" },
	{ "bin(312e322e332e343a38303a3930),rfc7239_n2nn", "1.2.3.4" },
	{ "bin(5b3a3a315d),rfc7239_n2nn,length", "3" },
	{ "bin(5f612e622d635f64),rfc7239_n2nn", "_a.b-c_d" },
	{ "bin(5f612062),rfc7239_n2nn", "_a" },
	{ "bin(756e6b6e6f776e3a3830),rfc7239_n2nn,length", "7" },
	{ "bin(3132372e302e302e31),rfc7239_n2nn,length", "9" },
	{ "bin(3132372e302e302e313a39393939),rfc7239_n2nn,length", "9" },
	{ "bin(5f783a5f79),rfc7239_n2nn,length", "2" },
	{ "bin(5f783a5f79),rfc7239_n2nn", "_x" },
	{ "bin(756e6b6e6f776e3a3830),rfc7239_n2nn", "unknown" },
	{ "bin(3132372e302e302e31),rfc7239_n2nn", "127.0.0.1" },
	{ "bin(312e322e332e343a3939393939),rfc7239_n2nn,length", "" },
	{ "bin(5b3a3a315d3a),rfc7239_n2nn,length", "" },
	{ "bin(5b312e322e332e345d),rfc7239_n2nn,length", "" },
	{ "bin(5f783a3830),rfc7239_n2np", "80" },
	{ "bin(312e322e332e343a38303a3930),rfc7239_n2np,add(1)", "81" },
	{ "bin(3132372e302e302e313a39393939),rfc7239_n2np", "9999" },
	{ "bin(312e322e332e343a38303a3930),rfc7239_n2np", "80" },
	{ "bin(5f783a3830),rfc7239_n2np,add(1)", "81" },
	{ "bin(5b3a3a315d3a3830),rfc7239_n2np,add(1)", "81" },
	{ "bin(312e322e332e343a5f70),rfc7239_n2np,add(1)", "1" },
	{ "bin(312e322e332e343a3030303830),rfc7239_n2np", "80" },
	{ "bin(3132372e302e302e313a39393939),rfc7239_n2np,add(1)", "10000" },
	{ "bin(312e322e332e343a3635353335),rfc7239_n2np,add(1)", "65536" },
	{ "bin(312e322e332e343a3030303830),rfc7239_n2np,add(1)", "81" },
	{ "bin(312e322e332e343a5f70),rfc7239_n2np", "_p" },
	{ "bin(756e6b6e6f776e3a3830),rfc7239_n2np,add(1)", "81" },
	{ "bin(5b3a3a315d3a3830),rfc7239_n2np", "80" },
	{ "bin(312e322e332e343a2b35),rfc7239_n2np", "" },
	{ "bin(312e322e332e343a3635353336),rfc7239_n2np", "" },
	{ "bin(5b3a3a315d3a),rfc7239_n2np", "" },
	{ "int(80),rfc7239_nn", "_80" },
	{ "int(-1),rfc7239_nn", "_-1" },
	{ "str(a.b-c_1),rfc7239_nn", "_a.b-c_1" },
	{ "str(80),rfc7239_nn", "_80" },
	{ "int(70000),rfc7239_nn", "_70000" },
	{ "meth(GET),rfc7239_nn", "_GET" },
	{ "str(test),rfc7239_nn", "_test" },
	{ "str(),rfc7239_nn", "unknown" },
	{ "ipv6(ab:cd:ff:ff:ff:ff:ff:ff),rfc7239_nn", "[ab:cd:ff:ff:ff:ff:ff:ff]" },
	{ "int(5),rfc7239_nn", "_5" },
	{ "bin(41),rfc7239_nn", "_A" },
	{ "int(0),rfc7239_nn", "_0" },
	{ "str(_x),rfc7239_nn", "__x" },
	{ "ipv6(::1),rfc7239_nn", "[::1]" },
	{ "str(a b),rfc7239_nn", "" },
	{ "str(\303\251),rfc7239_nn", "" },
	{ "str(test),rfc7239_np", "_test" },
	{ "bool(1),rfc7239_np", "_1" },
	{ "ipv4(1.2.3.4),rfc7239_np", "_1.2.3.4" },
	{ "int(80),rfc7239_np", "80" },
	{ "int(65535),rfc7239_np", "65535" },
	{ "int(-1),rfc7239_np", "4294967295" },
	{ "str(a.b-c_1),rfc7239_np", "_a.b-c_1" },
	{ "str(1.2.3.4),rfc7239_np", "_1.2.3.4" },
	{ "int(70000),rfc7239_np", "70000" },
	{ "bin(41),rfc7239_np", "_A" },
	{ "str(80),rfc7239_np", "_80" },
	{ "int(0),rfc7239_np", "0" },
	{ "meth(GET),rfc7239_np", "_GET" },
	{ "str(_x),rfc7239_np", "__x" },
	{ "str(),rfc7239_np", "" },
	{ "str(\303\251),rfc7239_np", "" },
	{ "str(a b),rfc7239_np", "" },
	{ "str(qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq),sdbm(1)", "3180557449" },
	{ "str(abc),sdbm(1)", "659243622" },
	{ "str(rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr),sdbm(1)",
	  "3943542967" },
	{ "str(uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu"
	  "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu),sdbm(1)",
	  "2491391746" },
	{ "str(123456789),sdbm(1)", "3400502718" },
	{ "str(sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "ss),sdbm(1)",
	  "1099373491" },
	{ "str(ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
	  "ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
	  "pppppppppppppppppppppppppppppppppppppppppp),sdbm(1)",
	  "1066044848" },
	{ "str(eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee),sdbm(1)",
	  "293478225" },
	{ "str(ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	  "ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	  "ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	  "ddddddddddddddddd),sdbm(1)",
	  "3505025597" },
	{ "str(12345678),sdbm(1)", "4225258200" },
	{ "str(x),sdbm(1)", "2246094376" },
	{ "str(aaa),sdbm(1)", "1632281143" },
	{ "str(iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii"
	  "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii),sdbm(1)",
	  "1323588292" },
	{ "str(ab),sdbm(1)", "3352188731" },
	{ "bin(000000000000000000450896011204746578741a08089601120361626325f9ffffff29f7fffff"
	  "fffffffff30fbffffffffffffffff013809450000c03f49000000000000044050010807a206026869"
	  "),ungrpc(3.1,int32),hex",
	  "0000000000000096" },
	{ "bin(01000000450896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff3"
	  "0fbffffffffffffffff013809450000c03f49000000000000044050010807a206026869),ungrpc(3"
	  ".1),hex",
	  "9601" },
	{ "bin(000000000000000000450896011204746578741a08089601120361626325f9ffffff29f7fffff"
	  "fffffffff30fbffffffffffffffff013809450000c03f49000000000000044050010807a206026869"
	  "),ungrpc(3.1),hex",
	  "9601" },
	{ "bin(000000000000000000450896011204746578741a08089601120361626325f9ffffff29f7fffff"
	  "fffffffff30fbffffffffffffffff013809450000c03f49000000000000044050010807a206026869"
	  "),ungrpc(1,sint64),hex",
	  "000000000000004B" },
	{ "bin(00000001000896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff3"
	  "0fbffffffffffffffff013809450000c03f49000000000000044050010807a206026869),ungrpc(1"
	  "),hex",
	  "" },
	{ "bin(00000000),ungrpc(2,int32),hex", "" },
	{ "bin(00000000030896011204746578741a08089601120361626325f9ffffff29f7ffffffffffffff3"
	  "0fbffffffffffffffff013809450000c03f49000000000000044050010807a206026869),ungrpc(6"
	  "),hex",
	  "" },
	{ "str(ooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo"
	  "ooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo"
	  "oo),xxh3(-1)",
	  "-3498569242247434894" },
	{ "str(sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
	  "ss),xxh3(0)",
	  "8629774241991018499" },
	{ "str(123456789),xxh3(0)", "8276685427497336319" },
	{ "str(yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
	  "yyyyyyyyyyyyyyyyyyyy),xxh3(0)",
	  "7369965179303163881" },
	{ "str(ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
	  "ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
	  "pppppppppppppppppppppppppppppppppppppppppp),xxh3(5)",
	  "796315429341613737" },
	{ "str(abcd),xxh3(0)", "7248448420886124688" },
	{ "str(ooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo"
	  "ooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo"
	  "oo),xxh3(5)",
	  "-2529748824446847608" },
	{ "str(x),xxh3(0)", "-1517593895512126191" },
	{ "str(ab),xxh3(-1)", "-8664162457856252336" },
	{ "str(yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
	  "yyyyyyyyyyyyyyyyyyyy),xxh3(-1)",
	  "-7518808783909509569" },
	{ "str(ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
	  "ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
	  "pppppppppppppppppppppppppppppppppppppppppp),xxh3(0)",
	  "6412959109874432426" },
	{ "str(ab),xxh3(5)", "1924889608948152347" },
	{ "str(iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii"
	  "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii),xxh3(5)",
	  "-7018309714604004698" },
	{ "str(ab),xxh3(0)", "-6308573737569127588" },
};

int main(void)
{
	static const struct module *const modules[] = { EXPR_MODULE_LIST NULL };

	if (!line_setup(modules))
		return 1;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		test_value(values[i].expression, values[i].value);
	line_teardown();
	return done_testing();
}
