/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prometheus_none.c - USE_PROMEX=0: no exporter */
#include "base/module.h"
#include "ext/prometheus.h"

const struct module mod_prometheus = { .name = "prometheus" };
