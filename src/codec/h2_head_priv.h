/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_head_priv.h - shared by the files about HTTP/2 heads */
#ifndef CODEC_H2_HEAD_PRIV_H
#define CODEC_H2_HEAD_PRIV_H

#include "h1_priv.h"
#include "codec/h2_head.h"

/* An additional option: a section of HTTP/3. */
#define H2_HEAD_OPT_H3 0x100

/* A walk over the fields of a head. */
struct h2_walk {
	struct h2_head *head;
	unsigned options;      /* H2_HEAD_OPT_* */
	unsigned pseudo_seen;  /* bits, by id - FIELD_COUNT */
	size_t size;           /* of the list, as list_max counts it */
	size_t cookie_len;     /* total length of crumbs and separators */
	uint32_t count;        /* fields seen, including pseudo-fields */
	uint16_t cookies;
	uint8_t kind;          /* enum h2_head_kind */
	uint8_t error;         /* enum h2_head_error */
	bool fields_begun;     /* no pseudo-field may follow */
	bool too_large;
};

/* Handles a pseudo-field. Returns an enum h2_head_error. */
uint8_t h2_take_pseudo(struct h2_walk *w, const struct hpack_field *field);
/* Call after the pseudo-fields: puts Host first if there was ":authority". */
void h2_put_host(struct h2_head *head);
/* Checks what a request must have. Returns an enum h2_head_error. */
uint8_t h2_finish_request(struct h2_walk *w);
/* Are all bytes allowed in a host and port? */
bool h2_is_authority(struct slice s);

#endif
