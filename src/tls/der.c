/* SPDX-License-Identifier: GPL-2.0-or-later */
/* der.c - the parts of a certificate needed to choose it, without OpenSSL's decoders */
#include "cert_priv.h"
#include "der.h"
#include <string.h>

#define INTEGER 0x02
#define BIT_STRING 0x03
#define OCTET_STRING 0x04
#define OID 0x06
#define SEQUENCE 0x30
#define SET 0x31
#define EXTENSIONS 0xa3
#define VERSION 0xa0
#define DNS_NAME 0x82

/* Takes the element at the start of *in; its content in *out. False: none, or cut short. */
static bool take_any(struct slice *in, unsigned *tag, struct slice *out)
{
	const unsigned char *p = (const unsigned char *)in->ptr;
	size_t head = 2, len;

	if (in->len < 2 || (p[0] & 0x1f) == 0x1f)
		return false;
	*tag = p[0];
	len = p[1];
	if (len & 0x80) {
		size_t n = len & 0x7f;

		if (!n || n > 4 || in->len < 2 + n)
			return false;
		len = 0;
		for (size_t i = 0; i < n; i++)
			len = len << 8 | p[2 + i];
		head += n;
	}
	if (len > in->len - head)
		return false;
	*out = slice_make(in->ptr + head, len);
	*in = slice_make(in->ptr + head + len, in->len - head - len);
	return true;
}

/* As take_any(), but only an element with the tag <want>. */
static bool take(struct slice *in, unsigned want, struct slice *out)
{
	struct slice rest = *in;
	unsigned tag;

	if (!take_any(&rest, &tag, out) || tag != want)
		return false;
	*in = rest;
	return true;
}

static bool is_oid(struct slice oid, const char *bytes, size_t len)
{
	return oid.len == len && memcmp(oid.ptr, bytes, len) == 0;
}
#define IS(oid, bytes) is_oid(oid, bytes, sizeof(bytes) - 1)

/* SubjectPublicKeyInfo */
static bool look_at_key(struct slice info, struct der_cert *out)
{
	struct slice algorithm, oid, bits, inner, modulus;

	if (!take(&info, SEQUENCE, &algorithm) || !take(&algorithm, OID, &oid) ||
	    !take(&info, BIT_STRING, &bits) || bits.len < 2)
		return false;
	bits = slice_make(bits.ptr + 1, bits.len - 1);
	if (IS(oid, "\x2a\x86\x48\xce\x3d\x02\x01")) {
		out->type = TLS_KEY_ECDSA;
		out->public_key = bits;
		return true;
	}
	if (!IS(oid, "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01"))
		return false; /* rare ones are left to OpenSSL */
	out->type = TLS_KEY_RSA;
	if (!take(&bits, SEQUENCE, &inner) || !take(&inner, INTEGER, &modulus))
		return false;
	out->public_key = modulus;
	return true;
}

/* Extensions: finds the alternative names. */
static bool look_at_extensions(struct slice in, struct der_cert *out)
{
	struct slice list, one, oid, value;
	unsigned tag;

	if (!take(&in, SEQUENCE, &list))
		return false;
	while (take(&list, SEQUENCE, &one)) {
		if (!take(&one, OID, &oid))
			return false;
		if (!IS(oid, "\x55\x1d\x11"))
			continue;
		while (take_any(&one, &tag, &value))
			if (tag == OCTET_STRING && !take(&value, SEQUENCE, &out->alt_names))
				return false;
	}
	return list.len == 0;
}

bool der_cert_look(struct slice der, struct der_cert *out)
{
	struct slice cert, tbs, skip, key;
	unsigned tag;

	*out = (struct der_cert){ .alt_names = slice_none() };
	if (!take(&der, SEQUENCE, &cert) || der.len || !take(&cert, SEQUENCE, &tbs) ||
	    !take(&cert, SEQUENCE, &skip) || !take(&cert, BIT_STRING, &skip) || cert.len)
		return false;
	take(&tbs, VERSION, &skip);
	/* serial, signature, issuer, validity, subject, key */
	if (!take(&tbs, INTEGER, &skip) || !take(&tbs, SEQUENCE, &skip) ||
	    !take(&tbs, SEQUENCE, &skip) || !take(&tbs, SEQUENCE, &skip) ||
	    !take(&tbs, SEQUENCE, &out->subject) || !take(&tbs, SEQUENCE, &key) ||
	    !look_at_key(key, out))
		return false;
	while (take_any(&tbs, &tag, &skip))
		if (tag == EXTENSIONS && !look_at_extensions(skip, out))
			return false;
	return tbs.len == 0;
}

static void tell(void (*name)(void *, struct slice), void *ctx, struct slice s)
{
	if (s.len && !memchr(s.ptr, 0, s.len))
		name(ctx, s);
}

/* Strings of one byte a character: UTF8, Printable, T61, IA5. */
static bool is_text(unsigned tag)
{
	return tag == 0x0c || tag == 0x13 || tag == 0x14 || tag == 0x16;
}

void der_cert_names(const struct der_cert *c, void (*name)(void *ctx, struct slice name), void *ctx)
{
	struct slice names = c->alt_names, subject = c->subject, set, pair, oid, value;
	unsigned tag;

	while (take_any(&names, &tag, &value))
		if (tag == DNS_NAME)
			tell(name, ctx, value);
	while (take(&subject, SET, &set))
		while (take(&set, SEQUENCE, &pair))
			if (take(&pair, OID, &oid) && IS(oid, "\x55\x04\x03") &&
			    take_any(&pair, &tag, &value) && is_text(tag))
				tell(name, ctx, value);
}
