/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prometheus.h - the service prometheus-exporter: counters as text for Prometheus
 *
 * Purpose: `http-request use-service prometheus-exporter` answers the figures of `show stat` and
 *          `show info` under the reference's metric names. Query: scope=, metrics=, no-maint,
 *          extra-counters.
 * Threads: any; each scrape takes the figures of a scope object by object and prints them then, in
 *          parts that let others run.
 * Manual : configuration 10 (services); the format is Prometheus' text format 0.0.4.
 */
#ifndef EXT_PROMETHEUS_H
#define EXT_PROMETHEUS_H

#include "base/module.h"

extern const struct module mod_prometheus;

#endif
