/* SPDX-License-Identifier: GPL-2.0-or-later */
/* curve.c - the run as a picture: requests a second and time to the first byte along the run, and
 * times by percentile on an axis of nines
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include "base/file.h"
#include "load_priv.h"

#include <fcntl.h>
#include <unistd.h>

#define WIDTH 900
#define LEFT 80
#define RIGHT 820
#define PANEL 220
#define GAP 60
#define TOP 40

struct panel {
	FILE *out;
	double top, x_max, y_max;
};

static double x_of(const struct panel *p, double x)
{
	return LEFT + (RIGHT - LEFT) * (p->x_max > 0 ? x / p->x_max : 0);
}

static double y_of(const struct panel *p, double y)
{
	return p->top + PANEL * (1 - (p->y_max > 0 ? y / p->y_max : 0));
}

/* 1, 2 or 5 times a power of ten, at or above <v>. */
static double round_up(double v)
{
	double power = pow(10, floor(log10(v > 0 ? v : 1)));

	return v <= power ? power : v <= 2 * power ? 2 * power : v <= 5 * power ? 5 * power
										: 10 * power;
}

static void put_frame(const struct panel *p, const char *title, const char *unit)
{
	fprintf(p->out, "<rect x=\"%d\" y=\"%.0f\" width=\"%d\" height=\"%d\" class=\"frame\"/>\n"
		"<text x=\"%d\" y=\"%.0f\" class=\"title\">%s</text>\n", LEFT, p->top,
		RIGHT - LEFT, PANEL, LEFT, p->top - 10, title);
	for (int i = 0; i <= 4; i++) {
		double v = p->y_max * i / 4;

		fprintf(p->out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>"
			"<text x=\"%d\" y=\"%.1f\" class=\"left\">%g%s</text>\n", LEFT, RIGHT,
			y_of(p, v), y_of(p, v), LEFT - 6, y_of(p, v) + 4, v, unit);
	}
}

static void put_x_label(const struct panel *p, double x, const char *text)
{
	fprintf(p->out, "<text x=\"%.1f\" y=\"%.0f\" class=\"below\">%s</text>\n", x_of(p, x),
		p->top + PANEL + 18, text);
}

static void put_seconds(struct panel *p, const struct load_second *s, unsigned count, bool ttfb)
{
	char text[32];

	p->x_max = count ? s[count - 1].seconds : 1;
	p->y_max = 0;
	for (unsigned i = 0; i < count; i++)
		p->y_max = fmax(p->y_max, ttfb ? s[i].ttfb_us : s[i].rps);
	p->y_max = round_up(p->y_max);
	put_frame(p, ttfb ? "mean time to first byte (us)" : "requests per second", "");
	fprintf(p->out, "<polyline class=\"%s\" points=\"", ttfb ? "b" : "a");
	for (unsigned i = 0; i < count; i++)
		fprintf(p->out, "%.1f,%.1f ", x_of(p, s[i].seconds),
			y_of(p, ttfb ? s[i].ttfb_us : s[i].rps));
	fprintf(p->out, "\"/>\n");
	for (int i = 0; i <= 5; i++) {
		snprintf(text, sizeof(text), "%.3g s", p->x_max * i / 5);
		put_x_label(p, p->x_max * i / 5, text);
	}
}

/* The share of values left of <nines> on the axis: 1 is 90 %, 2 is 99 %. */
static double part_of(double nines)
{
	return 1 - pow(10, -nines);
}

/* Times are drawn by their logarithm, from 1 us on. */
static double height_of(uint64_t ns)
{
	return ns > 1000 ? log10((double)ns / 1000) : 0;
}

static void put_histogram(const struct panel *p, const struct histogram *h, const char *class)
{
	fprintf(p->out, "<polyline class=\"%s\" points=\"", class);
	for (double nines = 0; nines <= p->x_max + 0.001; nines += 0.02)
		fprintf(p->out, "%.1f,%.1f ", x_of(p, nines),
			y_of(p, height_of(histogram_percentile(h, part_of(nines)))));
	fprintf(p->out, "\"/>\n");
}

static void put_percentiles(struct panel *p, const struct histogram *ttfb,
			    const struct histogram *total)
{
	static const char *const labels[] = {
		"0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %",
	};

	p->x_max = 6;
	p->y_max = ceil(height_of(total->max));
	if (p->y_max < 1)
		p->y_max = 1;
	fprintf(p->out, "<rect x=\"%d\" y=\"%.0f\" width=\"%d\" height=\"%d\" class=\"frame\"/>\n"
		"<text x=\"%d\" y=\"%.0f\" class=\"title\">time by percentile: first byte (blue), "
		"whole answer (red)</text>\n", LEFT, p->top, RIGHT - LEFT, PANEL, LEFT,
		p->top - 10);
	for (int i = 0; i <= (int)p->y_max; i++)
		fprintf(p->out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>"
			"<text x=\"%d\" y=\"%.1f\" class=\"left\">%g us</text>\n", LEFT, RIGHT,
			y_of(p, i), y_of(p, i), LEFT - 6, y_of(p, i) + 4, pow(10, i));
	for (int i = 0; i <= 6; i++)
		put_x_label(p, i, labels[i]);
	put_histogram(p, total, "a");
	put_histogram(p, ttfb, "b");
}

bool curve_write(const char *path, const struct load_second *seconds, unsigned count,
		 const struct histogram *ttfb, const struct histogram *total)
{
	int fd = file_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	struct panel p = { .out = fd < 0 ? NULL : fdopen(fd, "w"), .top = TOP };
	bool good;

	if (!p.out) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	fprintf(p.out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<style>"
		".frame{fill:none;stroke:#888}.grid{stroke:#ddd}.title{font-weight:bold}"
		".left{text-anchor:end}.below{text-anchor:middle}"
		"polyline{fill:none;stroke-width:1.5}.a{stroke:#c33}.b{stroke:#36c}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, TOP + 3 * (PANEL + GAP));
	put_seconds(&p, seconds, count, false);
	p.top += PANEL + GAP;
	put_seconds(&p, seconds, count, true);
	p.top += PANEL + GAP;
	put_percentiles(&p, ttfb, total);
	fprintf(p.out, "</svg>\n");
	good = !ferror(p.out);
	return !fclose(p.out) && good;
}
