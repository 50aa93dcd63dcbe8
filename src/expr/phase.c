/* SPDX-License-Identifier: GPL-2.0-or-later */
/* phase.c - the phases in which each kind of fetch has a value: the matrix of -dKsmp */
#include <stdio.h>
#include "base/bug.h"
#include "expr_priv.h"

/* Points <first> to <last> of enum expr_phase, by bit number. */
#define FROM_TO(first, last) (((2u << (last)) - 1) & ~((1u << (first)) - 1))
#define RESPONSE_DATA (FROM_TO(11, 17) | EXPR_BE_CHK_RUL)

static const struct {
	unsigned phases;
	const char *name; /* as messages say it */
} uses[] = {
	/* in the order of enum expr_use */
	{ FROM_TO(0, 21), "constant" },
	{ FROM_TO(0, 21) & ~EXPR_CFG_PARSER, "internal state" },
	{ FROM_TO(0, 19), "client address" },
	{ FROM_TO(1, 18), "client-side connection" },
	{ FROM_TO(0, 18), "frontend" },
	{ FROM_TO(2, 10), "request buffer" },
	{ FROM_TO(2, 10), "HTTP request headers" },
	{ FROM_TO(2, 18), "HTTP request" },
	{ FROM_TO(2, 10), "HTTP request headers" },
	{ FROM_TO(6, 19), "backend" },
	{ FROM_TO(10, 19), "server" },
	{ FROM_TO(11, 19), "server address" },
	{ FROM_TO(11, 19), "server-side connection" },
	{ RESPONSE_DATA, "response buffer" },
	{ RESPONSE_DATA, "HTTP response headers" },
	{ FROM_TO(11, 19), "HTTP response" },
	{ RESPONSE_DATA, "HTTP response headers" },
	{ FROM_TO(2, 18), "request buffer statistics" },
	{ FROM_TO(9, 18), "response buffer statistics" },
	{ EXPR_FE_LOG_END, "session statistics" },
};

static const char *const phase_names[] = {
	"frontend tcp-request connection rule",
	"frontend tcp-request session rule",
	"frontend tcp-request content rule",
	"frontend http-request header rule",
	"frontend http-request body rule",
	"frontend use-backend rule",
	"backend tcp-request content rule",
	"backend http-request header rule",
	"backend http-request body rule",
	"backend use-server, balance or stick-match rule",
	"server source selection",
	"backend tcp-response content rule",
	"backend http-response header rule",
	"backend http-response body rule",
	"backend stick-store rule",
	"frontend tcp-response content rule",
	"frontend http-response header rule",
	"frontend http-response body rule",
	"logs",
	"backend tcp-check rule",
	"configuration parser",
	"CLI parser",
};

unsigned expr_use_phases(unsigned mask)
{
	unsigned phases = 0;

	for (unsigned i = 0; i < ARRAY_LEN(uses); i++)
		if (mask >> i & 1)
			phases |= uses[i].phases;
	return phases;
}

const char *expr_use_name(unsigned mask)
{
	for (unsigned i = 0; i < ARRAY_LEN(uses); i++)
		if (mask >> i & 1)
			return uses[i].name;
	return "";
}

const char *expr_phase_name(unsigned phases)
{
	for (unsigned i = 0; i < ARRAY_LEN(phase_names); i++)
		if (phases >> i & 1)
			return phase_names[i];
	return "";
}

/* The slanted legend above the columns of -dKsmp, then the columns' rails. */
void expr_phase_legend(FILE *out)
{
	const int count = (int)ARRAY_LEN(phase_names);

	for (int row = 0; row < count; row++) {
		fprintf(out, "#%*s", count + 1 - row, "");
		for (int i = 0; i < row; i++)
			fputs("/ ", out);
		fputs("_.", out);
		for (int i = row; i < count; i++)
			fputc('-', out);
		fprintf(out, " %s\n", phase_names[row]);
	}
	fputs("# ", out);
	for (int i = 0; i < count; i++)
		fputs("/ ", out);
	fputs(" \n# ", out);
	for (int i = 0; i < count; i++)
		fputs("| ", out);
	fputs("\n", out);
}

void expr_phase_columns(FILE *out, unsigned phases)
{
	fputs("[ ", out);
	for (unsigned i = 0; i < ARRAY_LEN(phase_names); i++)
		fputs(phases >> i & 1 ? "Y " : ". ", out);
	fputs("] ", out);
}
