/* SPDX-License-Identifier: GPL-2.0-or-later */
/* door_priv.h - the functions in force, for file.c */
#ifndef BASE_DOOR_PRIV_H
#define BASE_DOOR_PRIV_H

#include "base/door.h"

const struct door *door_get(void);

#endif
