/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern_match.c - reading one pattern for its method, and finding the one that matches a sample
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "base/addr.h"
#include "base/bug.h"
#include "base/door.h"
#include "pattern_priv.h"

/* --- numbers ------------------------------------------------------------------------------ */

static bool read_number(const char **at, int64_t *out)
{
	const char *s = *at;
	bool negative = *s == '-';
	uint64_t v = 0;

	if (*s == '-' || *s == '+')
		s++;
	if (!ascii_is_digit(*s))
		return false;
	for (; ascii_is_digit(*s); s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (unsigned)(*s - '0'), &v) || v > INT64_MAX)
			return false;
	*out = negative ? -(int64_t)v : (int64_t)v;
	*at = s;
	return true;
}

/* "3" or "3.1": the integer part counts 65536. */
static bool read_dotted(const char **at, int64_t *out)
{
	int64_t major, minor = 0;

	if (!read_number(at, &major))
		return false;
	if (**at == '.') {
		(*at)++;
		if (!read_number(at, &minor) || minor > 65535)
			return false;
	}
	if (major < 0 || minor < 0 || major > 65535)
		return false;
	*out = major << 16 | minor;
	return true;
}

/* An operator that acl.c left in front of the number: "lt 5". */
static const char *skip_operator(const char *at, const char **op)
{
	static const char *const ops[] = { "eq ", "lt ", "le ", "gt ", "ge " };

	*op = "eq ";
	for (unsigned i = 0; i < ARRAY_LEN(ops); i++) {
		if (strncmp(at, ops[i], 3) != 0)
			continue;
		*op = ops[i];
		return at + 3;
	}
	return at;
}

/* Turns a range under an operator into the range of values that match. */
static void apply_operator(struct pattern_range *r, const char *op)
{
	switch (op[0]) {
	case 'g': /* above the lower bound; all values when there was none */
		r->max = INT64_MAX;
		if (op[1] == 't' && r->min != INT64_MIN)
			r->min++;
		break;
	case 'l':
		r->min = INT64_MIN;
		if (op[1] == 't' && r->max != INT64_MAX)
			r->max--;
		break;
	default:
		break;
	}
}

/* Makes room for the next range or regex. */
static bool grow_list(struct pattern_index *index, void **list, size_t item,
		      struct pattern_bin *bin, struct expr_error *e)
{
	uint32_t room = index->room ? index->room * 2 : 4;

	if (index->count < index->room)
		return true;
	if (!pattern_grow(bin, list, index->count * item, room * item)) {
		expr_fail(e, "out of memory");
		return false;
	}
	index->room = room;
	return true;
}

static bool add_range(struct pattern_index *set, const char *text, struct pattern_bin *bin,
		      struct expr_error *e)
{
	bool dotted = set->method == PATTERN_DOTTED, (*read)(const char **, int64_t *);
	struct pattern_range r = { .min = INT64_MIN, .max = INT64_MAX };
	const char *op, *at = skip_operator(text, &op), *word = at;
	const char *kind = dotted ? "dotted number" : "number";

	read = dotted ? read_dotted : read_number;
	if (*at == ':' && !at[1]) {
		expr_fail(e, "'%s' is not a valid %s range", word, kind);
		return false;
	}
	if (*at != ':') {
		if (!read(&at, &r.min) || (*at && *at != ':')) {
			expr_fail(e, "'%s' is not a %s", word, kind);
			return false;
		}
		r.max = *at ? INT64_MAX : r.min;
	}
	if (*at == ':' && at[1]) {
		at++;
		if (!read(&at, &r.max) || *at) {
			expr_fail(e, "'%s' is not a %s", word, kind);
			return false;
		}
	}
	if (r.min > r.max) {
		expr_fail(e, "'%s' is not a valid %s range", word, kind);
		return false;
	}
	apply_operator(&r, op);
	if (!grow_list(set, (void **)&set->ranges, sizeof(r), bin, e))
		return false;
	set->ranges[set->count] = r;
	__atomic_store_n(&set->count, set->count + 1, __ATOMIC_RELEASE);
	return true;
}

static int64_t find_range(const struct pattern_index *set, const struct pattern_view *view,
			  int64_t v)
{
	uint32_t count = __atomic_load_n(&set->count, __ATOMIC_ACQUIRE);
	const struct pattern_range *ranges = __atomic_load_n(&set->ranges, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (v >= ranges[i].min && v <= ranges[i].max && pattern_is_seen(view, i))
			return i;
	return -1;
}

/* --- addresses ---------------------------------------------------------------------------- */

static bool read_ipv4(const char *text, uint32_t *ip)
{
	struct addr a;

	if (!addr_parse_short_ip(slice_of(text), &a))
		return false;
	*ip = a.v4;
	return true;
}

static bool read_mask4(const char *text, uint32_t *mask)
{
	int64_t bits;

	if (strchr(text, '.'))
		return inet_pton(AF_INET, text, mask) == 1;
	if (!ascii_is_digit(*text) || !read_number(&text, &bits) || *text || bits > 32)
		return false;
	*mask = htonl(bits ? ~0u << (32 - bits) : 0);
	return true;
}

static bool resolve_ipv4(const char *name, uint32_t *ip)
{
	struct sockaddr_storage found;
	socklen_t len;

	if (!door_host(name, AF_INET, &found, &len))
		return false;
	memcpy(ip, &((struct sockaddr_in *)&found)->sin_addr, 4);
	return true;
}

static bool add_mask(struct pattern_index *set, uint32_t ip, uint32_t mask, uint32_t number,
		     struct pattern_bin *bin)
{
	struct pattern_mask m = { .ip = ip & mask, .mask = mask, .number = number };
	uint32_t room = set->mask_room ? set->mask_room * 2 : 4;

	if (set->mask_count == set->mask_room) {
		if (!pattern_grow(bin, (void **)&set->masks, set->mask_count * sizeof(m),
				  room * sizeof(m)))
			return false;
		set->mask_room = room;
	}
	set->masks[set->mask_count] = m;
	__atomic_store_n(&set->mask_count, set->mask_count + 1, __ATOMIC_RELEASE);
	return true;
}

static bool add_ipv4(struct pattern_index *set, uint32_t ip, uint32_t mask, uint32_t number,
		     struct pattern_bin *bin)
{
	uint32_t host = ntohl(mask), bits = (uint32_t)__builtin_popcount(host);
	uint8_t bytes[16] = { 0 };

	if (host != (bits ? ~0u << (32 - bits) : 0))
		return add_mask(set, ip, mask, number, bin);
	memcpy(bytes, &ip, 4);
	return net_table_add(&set->net4, bytes, bits, number, bin);
}

/* The patterns were written: "<address>[/<mask>]" or a name. */
static bool add_addr(struct pattern_index *set, const char *text, uint32_t number,
		     struct pattern_bin *bin, struct expr_error *e)
{
	char word[256];
	char *slash;
	uint32_t ip, mask = ~0u;
	uint8_t ip6[16];
	int64_t bits = 128;
	bool ok = false;

	if (slice_copy(slice_of(text), word, sizeof(word)) == strlen(text)) {
		slash = strchr(word, '/');
		if (slash)
			*slash++ = 0;
		if (strchr(word, ':')) {
			const char *at = slash;

			ok = inet_pton(AF_INET6, word, ip6) == 1 &&
			     (!slash ||
			      (read_number(&at, &bits) && !*at && bits >= 0 && bits <= 128)) &&
			     net_table_add(&set->net6, ip6, (unsigned)bits, number, bin);
		} else {
			ok = (!slash || read_mask4(slash, &mask)) &&
			     (read_ipv4(word, &ip) ||
			      (!(set->flags & PATTERN_NO_DNS) && !bin && !ascii_is_digit(word[0]) &&
			       *word && resolve_ipv4(word, &ip))) &&
			     add_ipv4(set, ip, mask, number, bin);
		}
	}
	if (!ok)
		expr_fail(e, "'%s' is not a valid IPv4 or IPv6 address", text);
	return ok;
}

static int64_t find_ipv4(const struct pattern_index *set, const struct pattern_view *view,
			 uint32_t ip)
{
	uint32_t count = __atomic_load_n(&set->mask_count, __ATOMIC_ACQUIRE);
	const struct pattern_mask *masks = __atomic_load_n(&set->masks, __ATOMIC_ACQUIRE);
	uint8_t bytes[16] = { 0 };
	int64_t found;

	memcpy(bytes, &ip, 4);
	found = net_table_find(&set->net4, view, bytes);
	for (uint32_t i = 0; found < 0 && i < count; i++)
		if ((ip & masks[i].mask) == masks[i].ip && pattern_is_seen(view, masks[i].number))
			found = masks[i].number;
	return found;
}

static int64_t find_addr(const struct pattern_index *set, const struct pattern_view *view,
			 const struct sample *s)
{
	struct sample other = *s;
	int64_t found = s->type == SMP_IPV4 ? find_ipv4(set, view, s->ipv4) :
			net_table_find(&set->net6, view, s->ipv6);

	if (found >= 0)
		return found;
	if (s->type == SMP_IPV4 && sample_cast(&other, SMP_IPV6, NULL))
		return net_table_find(&set->net6, view, other.ipv6);
	if (s->type == SMP_IPV6 && sample_cast(&other, SMP_IPV4, NULL))
		return find_ipv4(set, view, other.ipv4);
	return -1;
}

/* --- texts -------------------------------------------------------------------------------- */

static int hex_value(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Hexadecimal digits become the bytes of a key, in the index's arena. */
static bool add_bytes(struct pattern_index *set, struct slice text, struct pattern_bin *bin,
		      struct expr_error *e)
{
	char *bytes = arena_alloc(&set->arena, text.len / 2 + 1);

	if (text.len % 2) {
		expr_fail(e, "an even number of hex digit is expected");
		return false;
	}
	for (size_t i = 0; bytes && i < text.len; i += 2) {
		int high = hex_value(text.ptr[i]), low = hex_value(text.ptr[i + 1]);

		if (high < 0 || low < 0) {
			expr_fail(e, "an hex digit is expected (found '%c')",
				  text.ptr[high < 0 ? i : i + 1]);
			return false;
		}
		bytes[i / 2] = (char)(high << 4 | low);
	}
	if (bytes && key_table_add(&set->keys, slice_make(bytes, text.len / 2), bin))
		return true;
	expr_fail(e, "out of memory");
	return false;
}

static bool is_one_of(char c, const char *chars)
{
	return c && strchr(chars, c);
}

static struct slice trim_delimiters(struct slice s, const char *delimiters)
{
	while (s.len && is_one_of(s.ptr[0], delimiters))
		s.ptr++, s.len--;
	while (s.len && is_one_of(s.ptr[s.len - 1], delimiters))
		s.len--;
	return s;
}

#define DIR_DELIMITERS "/?"
#define DOM_DELIMITERS "/?.:"

static bool add_key(struct pattern_index *set, struct slice key, struct pattern_bin *bin,
		    struct expr_error *e)
{
	if (key_table_add(&set->keys, key, bin))
		return true;
	expr_fail(e, "out of memory");
	return false;
}

static bool add_regex(struct pattern_index *set, struct slice text, struct pattern_bin *bin,
		      struct expr_error *e)
{
	if (!grow_list(set, (void **)&set->regexes, sizeof(*set->regexes), bin, e))
		return false;
	set->regexes[set->count] = regex_new(text, set->flags & PATTERN_NOCASE ? REGEX_NOCASE : 0,
					     e->text, sizeof(e->text));
	if (!set->regexes[set->count])
		return false;
	__atomic_store_n(&set->count, set->count + 1, __ATOMIC_RELEASE);
	return true;
}

bool pattern_index_add(struct pattern_index *set, const struct pattern_entry *entry,
		       struct pattern_bin *bin, struct expr_error *e)
{
	struct slice text = pattern_entry_text(entry);
	uint32_t number = (uint32_t)(entry - set->table->entries);
	char word[256];

	slice_copy(text, word, sizeof(word));
	switch (set->method) {
	case PATTERN_INT:
	case PATTERN_LEN:
	case PATTERN_DOTTED:
		return add_range(set, word, bin, e);
	case PATTERN_IP:
		if (text.len < sizeof(word))
			return add_addr(set, word, number, bin, e);
		expr_fail(e, "'%s' is not a valid IPv4 or IPv6 address", word);
		return false;
	case PATTERN_BIN:
		return add_bytes(set, text, bin, e);
	case PATTERN_STR:
	case PATTERN_BEG:
	case PATTERN_END:
	case PATTERN_SUB:
	case PATTERN_METH:
		return add_key(set, text, bin, e);
	case PATTERN_DIR:
		return add_key(set, trim_delimiters(text, DIR_DELIMITERS), bin, e);
	case PATTERN_DOM:
		return add_key(set, trim_delimiters(text, DOM_DELIMITERS), bin, e);
	case PATTERN_REG:
		return add_regex(set, text, bin, e);
	default:
		return true; /* found, bool: values mean nothing */
	}
}

/* --- an index as a whole ------------------------------------------------------------------ */

void pattern_index_free(void *ptr)
{
	struct pattern_index *index = ptr;

	key_table_fini(&index->keys);
	net_table_fini(&index->net4);
	net_table_fini(&index->net6);
	for (uint32_t i = 0; index->regexes && i < index->count; i++)
		regex_free(&index->regexes[i]);
	free(index->regexes);
	free(index->ranges);
	free(index->masks);
	arena_fini(&index->arena);
	free(index);
}

static bool index_fill(struct pattern_index *index, const char *file, struct expr_error *e)
{
	const struct pattern_table *t = index->table;

	for (uint32_t i = 0; i < t->count; i++) {
		struct expr_error inner = { "" };

		if (pattern_index_add(index, &t->entries[i], NULL, &inner))
			continue;
		if (file)
			expr_fail(e, "%s at line %u of file '%s'", inner.text,
				  t->entries[i].line, file);
		else
			expr_fail(e, "%s", inner.text);
		return false;
	}
	if (key_table_build(&index->keys) && net_table_build(&index->net4) &&
	    net_table_build(&index->net6))
		return true;
	expr_fail(e, "out of memory");
	return false;
}

struct pattern_index *pattern_index_new(struct pattern_table *table, enum pattern_method method,
					unsigned flags, const char *file, struct expr_error *e)
{
	struct pattern_index *index = calloc(1, sizeof(*index));

	if (!index) {
		expr_fail(e, "out of memory");
		return NULL;
	}
	arena_init(&index->arena, 0);
	index->table = table;
	index->method = method;
	index->flags = flags;
	index->keys.nocase = flags & PATTERN_NOCASE;
	index->keys.whole = !index->keys.nocase && (method == PATTERN_STR ||
						    method == PATTERN_BIN ||
						    method == PATTERN_METH);
	index->keys.reverse = method == PATTERN_END;
	index->keys.listed = method == PATTERN_SUB;
	index->net4.bytes = 4;
	index->net6.bytes = 16;
	if (index_fill(index, file, e))
		return index;
	pattern_index_free(index);
	return NULL;
}

/* --- finding ------------------------------------------------------------------------------ */

static int64_t find_substring(const struct pattern_index *set, const struct pattern_view *view,
			      struct slice text)
{
	uint32_t count = __atomic_load_n(&set->keys.count, __ATOMIC_ACQUIRE);
	const struct slice *keys = __atomic_load_n(&set->keys.keys, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++) {
		size_t at = set->flags & PATTERN_NOCASE ? slice_find_nocase(text, keys[i]) :
			    slice_find(text, keys[i]);

		if (at != SIZE_MAX && pattern_is_seen(view, i))
			return i;
	}
	return -1;
}

static int64_t find_regex(const struct pattern_index *set, const struct pattern_view *view,
			  struct slice text)
{
	uint32_t count = __atomic_load_n(&set->count, __ATOMIC_ACQUIRE);
	struct regex *const *regexes = __atomic_load_n(&set->regexes, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (pattern_is_seen(view, i) && regex_match(regexes[i], text))
			return i;
	return -1;
}

/* Well-known methods are compared as they are, whatever -i says of others. */
static int64_t find_method(const struct pattern_index *set, const struct pattern_view *view,
			   const struct sample *s)
{
	struct slice name = sample_method_name(s);
	int64_t found = key_table_find(&set->keys, view, name);
	const struct slice *keys = __atomic_load_n(&set->keys.keys, __ATOMIC_ACQUIRE);

	return found >= 0 && s->method && !slice_eq(keys[found], name) ? -1 : found;
}

int64_t pattern_index_find(const struct pattern_index *set, const struct pattern_view *v,
			   const struct sample *s)
{
	switch (set->method) {
	case PATTERN_FOUND:
		return 0;
	case PATTERN_BOOL:
		return s->boolean ? 0 : -1;
	case PATTERN_INT:
	case PATTERN_DOTTED:
		return find_range(set, v, s->integer);
	case PATTERN_LEN:
		return find_range(set, v, (int64_t)s->text.len);
	case PATTERN_IP:
		return find_addr(set, v, s);
	case PATTERN_STR:
	case PATTERN_BIN:
		return key_table_find(&set->keys, v, s->text);
	case PATTERN_METH:
		return find_method(set, v, s);
	case PATTERN_BEG:
		return key_table_find_longest(&set->keys, v, s->text);
	case PATTERN_END:
		return key_table_find_first(&set->keys, v, s->text);
	case PATTERN_SUB:
		return find_substring(set, v, s->text);
	case PATTERN_DIR:
		return key_table_find_part(&set->keys, v, s->text, DIR_DELIMITERS);
	case PATTERN_DOM:
		return key_table_find_part(&set->keys, v, s->text, DOM_DELIMITERS);
	case PATTERN_REG:
		return find_regex(set, v, s->text);
	default:
		return -1;
	}
}
