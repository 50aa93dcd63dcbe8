/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of protocols: what it finds by name, ALPN and preface, and what is missing in a row. */
#include <string.h>
#include "base/module.h"
#include "mux/mux.h"
#include "mux/mux_init.h"
#include "tap.h"

static const struct module here = { .name = "here", .muxes = mux_rows };

/* A protocol of a floor above. */
static const struct mux_kind above = {
	.name = "toy", .label = "TOY", .alpn = SLICE("\x03toy"), .preface = SLICE("PRI to"),
	.mode = MUX_HTTP, .sides = MUX_FRONT, .traits = MUX_MULTIPLEX, .major = 3,
};
static const struct mux_kind *const rows_above[] = { &above, NULL };
static const struct module there = { .name = "there", .muxes = rows_above };
static const struct module none = { .name = "none" };

static const char *found(const struct mux_kind *k)
{
	return k ? k->name : "";
}

static void test_names(void)
{
	is_str(found(mux_find("h2")), "h2", "a name");
	is_str(found(mux_find("toy")), "toy", "of a module above");
	ok(!mux_find("H2"), "names have their case");
	ok(!mux_find("h4"), "an unknown one");
	ok(mux_find("spop") && !mux_find("spop")->back_new, "one that is a name only");
	is_str(found(mux_default(MUX_TCP)), "none", "the default of mode tcp");
	is_str(found(mux_default(MUX_HTTP)), "h1", "and of mode http");
	ok(mux_fits(mux_find("toy"), MUX_FRONT, MUX_HTTP), "it fits to its side and mode");
	ok(!mux_fits(mux_find("toy"), MUX_BACK, MUX_HTTP), "not to another side");
	ok(!mux_fits(mux_find("toy"), MUX_FRONT, MUX_TCP), "nor another mode");
	ok(!mux_fits(mux_find("spop"), MUX_BACK, MUX_TCP) &&
	   !mux_fits(mux_find("spop"), MUX_BACK, MUX_HTTP), "nor what is a name only");
}

static void test_numbers(void)
{
	ok(mux_of_number(mux_number(&above)) == &above, "a number stands for its row");
	is_int(mux_number(NULL), 0, "0 stands for none");
	ok(!mux_of_number(0), "and back");
}

static void test_alpn(void)
{
	struct slice front = mux_alpn_list(MUX_FRONT), back = mux_alpn_list(MUX_BACK);

	ok(slice_eq(front, SLICE("\2h2\10http/1.1\3toy")), "what is offered to clients, in order");
	ok(slice_eq(back, SLICE("\2h2\10http/1.1")), "and to servers");
	is_str(found(mux_of_alpn(SLICE("h2"))), "h2", "what was chosen");
	is_str(found(mux_of_alpn(slice_none())), "h1", "nothing was");
	is_str(found(mux_of_alpn(SLICE("h2c"))), "h1", "nothing of ours");
	is_str(found(mux_of_alpn(SLICE("h"))), "h1", "a part of a name is none");
	ok(!mux_protocol(mux_find("none")).len, "no protocol, no name in ALPN");
}

static void test_preface(void)
{
	bool more;

	is_str(found(mux_of_preface(SLICE("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0"), &more)), "h2",
	       "a preface with bytes behind it");
	is_str(found(mux_of_preface(SLICE("PRI toys"), &more)), "toy", "another one");
	ok(!mux_of_preface(SLICE("PRI "), &more) && more, "the start of two");
	ok(!mux_of_preface(SLICE("PRI *"), &more) && more, "of one");
	ok(!mux_of_preface(SLICE("PRI ?"), &more) && !more, "of none");
	ok(!mux_of_preface(SLICE("GET / HTTP/1.1\r\n"), &more) && !more, "a request");
}

/* Owners rely on it: what one operation needs is there when the other is. */
static void test_rows(void)
{
	for (const struct mux_kind *const *at = mux_rows; *at; at++) {
		const struct mux_kind *k = *at;
		bool front = k->sides & MUX_FRONT, back = k->sides & MUX_BACK;

		if (k->mode == MUX_SPOP)
			continue; /* a name only: no stream uses it */
		ok(!front == !k->front_new && !front == !k->front_start, "%s: clients", k->name);
		ok(!back == !k->back_new, "%s: servers", k->name);
		ok(!k->back_attach == !k->back_close && !k->back_attach == !k->back_room &&
		   !k->back_attach == !k->back_detach_thread &&
		   !k->back_attach == !k->back_attach_thread, "%s: kept connections", k->name);
		ok(!k->sides || k->mode == MUX_TCP || (k->set_settings && k->back_attach),
		   "%s: what mode http asks for", k->name);
		ok(!front || k->mode == MUX_TCP || (k->front_give && k->front_stop),
		   "%s: and of clients", k->name);
		ok(!(k->traits & MUX_MULTIPLEX) || k->back_is_ending,
		   "%s: who has many streams ends in steps", k->name);
	}
}

int main(void)
{
	const struct module *modules[] = { &none, &here, &there, NULL };

	ok(muxes_register(modules), "the table is made");
	ok(muxes_register(modules), "and made anew");
	test_names();
	test_numbers();
	test_alpn();
	test_preface();
	test_rows();
	return done_testing();
}
