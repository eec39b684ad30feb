/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MARK_H
#define MARK_H

#define MARK  0x4c4d4d00 /* no program has a nop with such a number */
#define SIDES 8

#endif
