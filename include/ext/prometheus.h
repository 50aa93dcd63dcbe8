/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prometheus.h - the service prometheus-exporter: counters in Prometheus' text format
 *
 * Purpose: `http-request use-service prometheus-exporter` returns the figures of `show stat` and
 *          `show info` under the reference's metric names. Query: scope=, metrics=, no-maint,
 *          extra-counters.
 * Threads: any; each scrape collects the figures of a scope object by object and then prints them,
 *          in parts between which the thread does other work.
 * Manual : configuration 10 (services); the format is Prometheus' text format 0.0.4.
 */
#ifndef EXT_PROMETHEUS_H
#define EXT_PROMETHEUS_H

#include "base/module.h"

extern const struct module mod_prometheus;

#endif
