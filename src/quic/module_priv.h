/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module_priv.h - QUIC: the parts of its module descriptor: settings of the configuration, of lines
 * and of servers (tune.c), and commands (quic_ctl.c)
 */
#ifndef QUIC_MODULE_PRIV_H
#define QUIC_MODULE_PRIV_H

#include "base/slot.h"
#include "ctl/ctl.h"
#include "quic/quic.h"

extern struct slot quic_tune_slot, quic_line_slot, quic_server_slot; /* tune.c */
struct quic_both_tunes {
	struct quic_tunes fe, be;
};

extern const struct ctl_command quic_commands[];

#endif
