/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page_lines.c - pictures of the last hour and day, as SVG: lines of rows, charts of one
 *
 * Paths consist of relative steps in whole pixels, so the line of a row is some hundred bytes. Only
 * numbers are written here: no text of the configuration gets into an SVG.
 */
#include "base/bug.h"
#include "stats_page_priv.h"

#define LINE_POINTS 30
#define LINE_STEP 2
#define LINE_HEIGHT 13
#define CHART_POINTS 240
#define CHART_WIDTH 480
#define CHART_HEIGHT 80

/* --- points ----------------------------------------------------------------------------------- */

struct points {
	unsigned count, per;  /* <per>: steps, or minutes, of a point */
	bool minutes;
	uint64_t end;         /* the last step, or minute, of the last one */
};

/* Points of steps until the last one that is known of all objects; the first may know fewer. */
static struct points points_of_steps(const struct history_span *span, unsigned count, unsigned per)
{
	uint64_t known = (span->last - span->since + per - 1) / per;

	return (struct points){ .count = known < count ? (unsigned)known : count, .per = per,
				.end = span->last };
}

/* Points of whole minutes. */
static struct points points_of_minutes(const struct history_span *span, unsigned count,
				       unsigned per)
{
	uint64_t end = (span->last + 1) / HISTORY_MINUTE;
	uint64_t known = (end - (span->since + 1) / HISTORY_MINUTE + per - 1) / per;

	return (struct points){ .count = known < count ? (unsigned)known : count, .per = per,
				.minutes = true, .end = end - 1 };
}

static unsigned seconds_of_point(const struct points *p)
{
	return p->per * HISTORY_STEP_S * (p->minutes ? HISTORY_MINUTE : 1);
}

/* Point <i>: what was counted in it, or the most that was open. */
static uint64_t read_point(const struct history *h, enum history_figure f, const struct points *p,
			   unsigned i)
{
	uint64_t at = p->end - (uint64_t)(p->count - 1 - i) * p->per, sum = 0;

	for (unsigned n = 0; n < p->per; n++, at--) {
		uint64_t v = p->minutes ? history_minute(h, f, at) : history_step(h, f, at);

		if (f < HISTORY_COUNTED)
			sum += v;
		else if (v > sum)
			sum = v;
	}
	return sum;
}

/* Fills <out>; the largest. */
static uint64_t read_points(const struct history *h, enum history_figure f, const struct points *p,
			    uint64_t *out)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < p->count; i++) {
		out[i] = h ? read_point(h, f, p, i) : 0;
		if (out[i] > most)
			most = out[i];
	}
	return most;
}

/* --- paths ------------------------------------------------------------------------------------ */

struct frame {
	unsigned count, points;  /* of those that there are; room for */
	unsigned step;           /* pixels to the right for each */
	unsigned height;
	uint64_t top;            /* the value at the upper edge; above 0 */
	const char *attributes;  /* of the path */
};

/* The newest point stands at the right. */
static void put_path(struct strbuf *out, const uint64_t *values, const struct frame *f)
{
	double scale = (double)(f->height - 1) / (double)f->top;
	unsigned flat = 0;
	int y = 0;

	strbuf_add_str(out, "<path");
	strbuf_add_str(out, f->attributes);
	strbuf_add_str(out, " d=\"M");
	strbuf_add_uint(out, (f->points - f->count) * f->step);
	for (unsigned i = 0; i < f->count; i++) {
		int to = (int)(f->height - (unsigned)((double)values[i] * scale));

		if (i && to == y) {
			flat += f->step;
			continue;
		}
		if (flat) {
			strbuf_add_char(out, 'h');
			strbuf_add_uint(out, flat);
		}
		flat = 0;
		if (i) {
			strbuf_add_char(out, 'l');
			strbuf_add_uint(out, f->step);
		}
		strbuf_add_char(out, to < y ? '-' : ' ');
		strbuf_add_uint(out, (unsigned)(to < y ? y - to : to - y));
		y = to;
	}
	if (flat) {
		strbuf_add_char(out, 'h');
		strbuf_add_uint(out, flat);
	}
	strbuf_add_str(out, "\"/>");
}

/* --- lines of rows ---------------------------------------------------------------------------- */

/* The same for all rows: 150 seconds, 10 minutes, or an hour, whatever is known of. */
static struct points line_points(const struct history_span *span)
{
	uint64_t known = span->last - span->since;

	if (known <= LINE_POINTS)
		return points_of_steps(span, LINE_POINTS, 1);
	if (known <= (uint64_t)4 * LINE_POINTS)
		return points_of_steps(span, LINE_POINTS, 4);
	return points_of_minutes(span, LINE_POINTS, 2);
}

const char *stats_line_time(const struct history_span *span)
{
	struct points p = line_points(span);

	return p.minutes ? "hour" : p.per > 1 ? "10 minutes" : "150 seconds";
}

void stats_put_line(struct strbuf *out, const struct history *h, const struct history_span *span)
{
	struct points p = line_points(span);
	struct frame frame = { .count = p.count, .points = LINE_POINTS, .step = LINE_STEP,
			       .height = LINE_HEIGHT, .attributes = "" };
	uint64_t done[LINE_POINTS], errors[LINE_POINTS], most;

	frame.top = read_points(h, HISTORY_DONE, &p, done);
	most = read_points(h, HISTORY_ERRORS, &p, errors);
	if (most > frame.top)
		frame.top = most;
	if (!frame.top || p.count < 2)
		return;
	strbuf_add_str(out, "<svg class=\"spark\" viewBox=\"0 0 60 14\" aria-hidden=\"true\">");
	put_path(out, done, &frame);
	frame.attributes = " class=\"bad\"";
	if (most)
		put_path(out, errors, &frame);
	strbuf_add_str(out, "</svg>");
}

/* --- charts ----------------------------------------------------------------------------------- */

static void put_number(struct strbuf *out, uint64_t value, unsigned seconds)
{
	double rate = (double)value / seconds;

	strbuf_printf(out, rate < 10 && value % seconds ? "%.2f" : "%.0f", rate);
}

static void put_chart(struct strbuf *out, const struct history *h, const struct points *p,
		      const struct stats_chart *c)
{
	uint64_t values[CHART_POINTS], errors[CHART_POINTS], most, worst = 0;
	unsigned seconds = c->figure < HISTORY_COUNTED ? seconds_of_point(p) : 1;
	struct frame frame = { .count = p->count, .points = CHART_POINTS, .height = CHART_HEIGHT,
			       .step = CHART_WIDTH / CHART_POINTS, .attributes = "" };

	most = read_points(h, c->figure, p, values);
	if (c->figure == HISTORY_DONE)
		worst = read_points(h, HISTORY_ERRORS, p, errors);
	frame.top = most > worst ? most : worst;
	strbuf_printf(out, "<figure><figcaption>%s, last %s: now <b>", c->title,
		      p->minutes ? "day" : "hour");
	put_number(out, p->count ? values[p->count - 1] : 0, seconds);
	strbuf_add_str(out, "</b>, most ");
	put_number(out, most, seconds);
	if (worst) {
		strbuf_add_str(out, "; errors <b class=\"bad\">");
		put_number(out, errors[p->count - 1], seconds);
		strbuf_add_str(out, "</b>, most ");
		put_number(out, worst, seconds);
	}
	strbuf_printf(out, "</figcaption>\n<svg class=\"chart\" viewBox=\"0 0 %u %u\" "
		      "preserveAspectRatio=\"none\" aria-hidden=\"true\">", CHART_WIDTH,
		      CHART_HEIGHT + 1);
	if (frame.top)
		put_path(out, values, &frame);
	frame.attributes = " class=\"bad\"";
	if (worst)
		put_path(out, errors, &frame);
	strbuf_add_str(out, "</svg></figure>\n");
}

void stats_put_charts(struct strbuf *out, const struct history *h, const struct history_span *span,
		      const struct stats_chart *c)
{
	struct points hour = points_of_steps(span, CHART_POINTS, HISTORY_STEPS / CHART_POINTS);
	struct points day = points_of_minutes(span, CHART_POINTS, HISTORY_MINUTES / CHART_POINTS);

	put_chart(out, h, &hour, c);
	put_chart(out, h, &day, c);
}
