/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The encoder's two searches: a greedy one that looks at one place per hash, and one that follows
 * chains of places and looks one byte ahead before it takes a match.
 * Both keep two tables for a record with groups: where each hash was seen last, and where it was
 * seen last within the hub. Without the second, later groups would overwrite what they can reach.
 * The greedy search begins each group with a copy of the second, and so looks only once.
 * Without groups the greedy search keeps places modulo 64 KiB in one table, so that none is out of
 * reach: liblz4, which keeps whole ones above 64 KiB, has to ask that of each, and guesses wrong at
 * half of them where bytes are random.
 * Invariant: a place from a table is taken only if it may be reached and holds the same bytes.
 */
#include "abd_lz4_encode.h"

#include <assert.h>
#include <stdint.h>

enum {
	MATCH_MIN = 4,
	LAST_LITERALS = 5,
	LAST_MATCH = 12, /* bytes from the last match's begin to the record's end */
	OFFSET_MAX = 65535,
	FAST_BITS = 14,  /* more would cost small groups too much: each copies a table */
	PLAIN_BITS = 12, /* without groups: as many places as liblz4 keeps */
	DEEP_BITS = 14,
	SKIP_BITS = 6, /* after 64 looks without a match only every second place is looked at, and
			  so on */
	LAZY_MAX = 64, /* a match of so many bytes is taken without a look at the next place */
};

/* Places within these 64 KiB. 0 is their first place or none: bytes are compared anyway. */
struct abd_lz4_fast {
	uint16_t seen[1 << FAST_BITS];
	uint16_t hub[1 << FAST_BITS];
};

/* Places are stored plus 1: 0 is none. */
struct abd_lz4_deep {
	uint32_t seen[1 << DEEP_BITS];
	uint32_t hub[1 << DEEP_BITS];
	uint16_t back[1 << 16]; /* from each place to the one before it with this hash; 0: none */
};

static_assert(sizeof(struct abd_lz4_deep) <= (size_t)256 << 10, "a thread keeps no larger block");

struct abd_lz4_match {
	size_t at, from, size;
};

struct abd_lz4_encoder {
	const uint8_t *src;
	size_t size;
	uint8_t *dst, *op, *end;
	size_t anchor; /* where the next sequence begins */
	size_t base;   /* its matches reach back to here */
	size_t hub, hub_end;
	size_t group_end; /* of the place being looked at: no match goes on past it */
	size_t event;     /* the next place at which something is to be done */
	struct abd_lz4_index *index;
	size_t points; /* how many are set */
	size_t point;  /* where the next one may be, SIZE_MAX: there is none */
	unsigned depth;
	void *work;
};

static inline uint64_t load_64(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return word;
#else
	return __builtin_bswap64(word);
#endif
}

static inline bool same_4(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, MATCH_MIN) == 0;
}

/* The greedy search hashes five bytes, which leads to longer matches; the other one four. */
static inline size_t hash_5(const uint8_t *p, unsigned bits)
{
	return (size_t)(((load_64(p) << 24) * 889523592379u) >> (64 - bits));
}

static inline size_t hash_4(const uint8_t *p)
{
	return (uint32_t)load_64(p) * 2654435761u >> (32 - DEEP_BITS);
}

/* How many bytes at a and b are equal, at most most. b lies behind a. */
static inline size_t common(const uint8_t *a, const uint8_t *b, size_t most)
{
	size_t n = 0;

	for (; n + 8 <= most; n += 8) {
		uint64_t differ = load_64(a + n) ^ load_64(b + n);

		if (differ != 0)
			return n + (size_t)__builtin_ctzll(differ) / 8;
	}
	while (n < most && a[n] == b[n])
		n++;
	return n;
}

static inline uint8_t *put_length(uint8_t *op, size_t length)
{
	for (; length >= 255; length -= 255)
		*op++ = 255;
	*op++ = (uint8_t)length;
	return op;
}

/* Bytes that a length takes outside the token. */
static inline size_t length_size(size_t length)
{
	return length < 15 ? 0 : (length - 15) / 255 + 1;
}

/* The token and the length of a sequence's literals; match is its length less 4. */
static inline uint8_t *put_token(uint8_t *op, size_t literals, size_t match)
{
	*op++ = (uint8_t)(abd_min(literals, 15) << 4 | abd_min(match, 15));
	return literals < 15 ? op : put_length(op, literals - 15);
}

/*
 * A sequence that begins at anchor, and will be written to op, is the first of its group, and maybe
 * of some before it.
 */
static void begin_sequence(struct abd_lz4_encoder *e, const uint8_t *op, size_t anchor)
{
	struct abd_lz4_index *index = e->index;
	size_t whole = anchor & ~(ABD_LZ4_HUB_EVERY - 1);

	for (; e->points < index->count && e->point <= anchor; e->points++) {
		index->points[e->points].logical = (uint32_t)anchor;
		index->points[e->points].stored = (uint32_t)(op - e->dst);
		e->point += index->group_size;
	}
	if (e->points == index->count)
		e->point = SIZE_MAX;
	e->base = anchor;
	if (e->hub < whole || anchor == 0) {
		e->hub = anchor;
		e->hub_end = whole + index->hub_size;
	}
}

/*
 * Write a sequence; left is how many bytes the record has from its literals on. Returns where it
 * ends; NULL: no room. Far from both ends few literals are copied as 16 or 32 bytes.
 */
static inline uint8_t *put_sequence(uint8_t *op, const uint8_t *end, const uint8_t *from,
	size_t left, size_t literals, size_t offset, size_t size)
{
	size_t match = size - MATCH_MIN, room = (size_t)(end - op);

	if (ABD_LIKELY(literals <= 32 && match < 4096 && room >= 96 && left >= 32)) {
		op = put_token(op, literals, match);
		memcpy(op, from, 16);
		if (literals > 16)
			memcpy(op + 16, from + 16, 16);
	} else {
		size_t lengths = length_size(literals) + length_size(match);

		if (1 + literals + lengths + 2 + 1 + LAST_LITERALS > room)
			return NULL;
		op = put_token(op, literals, match);
		memcpy(op, from, literals);
	}
	op += literals;
	*op++ = (uint8_t)offset;
	*op++ = (uint8_t)(offset >> 8);
	return match < 15 ? op : put_length(op, match - 15);
}

/*
 * The last literals, from anchor on, and the points of the groups in which no sequence begins.
 * Returns the block's bytes, or 0: no room.
 */
static size_t finish(const struct abd_lz4_encoder *e, uint8_t *op, size_t anchor)
{
	struct abd_lz4_index *index = e->index;
	size_t literals = e->size - anchor;

	if (1 + length_size(literals) + literals > (size_t)(e->end - op))
		return 0;
	op = put_token(op, literals, 0);
	memcpy(op, e->src + anchor, literals);
	op += literals;
	for (size_t i = e->points; index != NULL && i < index->count; i++) {
		index->points[i].logical = (uint32_t)e->size;
		index->points[i].stored = (uint32_t)(op - e->dst);
	}
	return (size_t)(op - e->dst);
}

/*
 * at has reached the end of a hub, or of a group. What is known of 64 KiB is forgotten at their
 * end: nothing reaches back across it.
 */
static void pass(struct abd_lz4_encoder *e, size_t at, void *seen, void *hub, size_t bytes)
{
	size_t group = e->index->group_size, whole = at & ~(ABD_LZ4_HUB_EVERY - 1);
	size_t hub_end = whole + e->index->hub_size;

	if (e->group_end <= whole) {
		memset(seen, 0, bytes);
		memset(hub, 0, bytes);
	} else if (e->event == hub_end) {
		memcpy(hub, seen, bytes);
	}
	e->group_end = at - at % group + group;
	e->event = at < hub_end ? hub_end : e->group_end;
}

/* How long a match at at may be. */
static inline size_t most_at(const struct abd_lz4_encoder *e, size_t at)
{
	return abd_min(e->size - LAST_LITERALS, e->group_end) - at;
}

/*
 * Take the match at from, if it is one, is longer than m and can be reached: if from lies in the
 * group, or within the hub as a whole.
 */
static inline void look(const struct abd_lz4_encoder *e, struct abd_lz4_match *m, size_t at,
	size_t from, size_t end)
{
	size_t most = most_at(e, at);

	if (end - from < most)
		most = end - from;
	if (most < MATCH_MIN || !same_4(e->src + from, e->src + at))
		return;

	size_t size = common(e->src + from, e->src + at, most);

	if (size > m->size)
		*m = (struct abd_lz4_match){at, from, size};
}

/* Lengthen a match to the front, over bytes that would be literals. */
static void lengthen(const struct abd_lz4_encoder *e, struct abd_lz4_match *m)
{
	size_t least = m->from >= e->base ? e->base : e->hub;

	while (m->at > e->anchor && m->from > least && e->src[m->at - 1] == e->src[m->from - 1]) {
		m->at--;
		m->from--;
		m->size++;
	}
}

static inline bool hub_serves(const struct abd_lz4_encoder *e, size_t at)
{
	return e->base >= e->hub_end && (at ^ e->hub) < ABD_LZ4_HUB_EVERY;
}

/* at has reached an event: forget what is out of reach now. Returns where these 64 KiB begin. */
static size_t fast_pass(struct abd_lz4_encoder *e, size_t at)
{
	struct abd_lz4_fast *fast = e->work;
	bool group = at >= e->group_end;

	pass(e, at, fast->seen, fast->hub, sizeof(fast->seen));
	if (group)
		memcpy(fast->seen, fast->hub, sizeof(fast->seen));
	return at & ~(ABD_LZ4_HUB_EVERY - 1);
}

/* Where matches may come from and how far they go, in registers. */
struct abd_lz4_reach {
	size_t base, hub, hub_end; /* as in the encoder */
	size_t limit;              /* where matches end */
};

static inline struct abd_lz4_reach fast_reach(const struct abd_lz4_encoder *e)
{
	return (struct abd_lz4_reach){
		e->base, e->hub, e->hub_end, abd_min(e->size - LAST_LITERALS, e->group_end)};
}

/* How long a match of at and from may be, 0 if from can't be reached; and where from may begin. */
static inline size_t fast_most(
	const struct abd_lz4_reach *reach, size_t at, size_t from, size_t *least)
{
	*least = reach->base;
	if (from >= reach->base)
		return reach->limit - at;
	if (from < reach->hub || from >= reach->hub_end)
		return 0;
	*least = reach->hub;
	return abd_min(reach->limit - at, reach->hub_end - from);
}

/* common() of places that have their first four bytes in common: most matches end in the next 8. */
static inline size_t fast_common(const uint8_t *a, const uint8_t *b, size_t most)
{
	if (ABD_LIKELY(most >= MATCH_MIN + 8)) {
		uint64_t differ = load_64(a + MATCH_MIN) ^ load_64(b + MATCH_MIN);

		if (differ != 0)
			return MATCH_MIN + (size_t)__builtin_ctzll(differ) / 8;
	}
	return MATCH_MIN + common(a + MATCH_MIN, b + MATCH_MIN, most - MATCH_MIN);
}

/*
 * What each sequence changes is in variables: in the encoder's memory, the next place to look at
 * would wait for a store, which makes it a quarter slower (AMD Zen 4). The next place's hash is
 * known before this one's match is. groups is a constant.
 */
static inline __attribute__((always_inline)) size_t encode_fast(
	struct abd_lz4_encoder *e, bool groups)
{
	struct abd_lz4_fast *fast = e->work;
	struct abd_lz4_reach reach = fast_reach(e);
	const unsigned bits = groups ? FAST_BITS : PLAIN_BITS;
	const uint8_t *src = e->src;
	uint8_t *op = e->op;
	size_t at = 0, anchor = 0, step = 1 << SKIP_BITS, last = e->size - LAST_MATCH, whole = 0;
	size_t stop = abd_min(e->event, last), hash = hash_5(src, bits);

	memset(fast->seen, 0, sizeof(fast->seen[0]) << bits);
	for (;;) {
		size_t next = at + (step++ >> SKIP_BITS), from, least = 0, most, size;
		uint16_t *seen = &fast->seen[hash];

		if (ABD_UNLIKELY(next > stop)) {
			if (next > last)
				return finish(e, op, anchor);
			if (at >= e->event) {
				whole = fast_pass(e, at);
				reach = fast_reach(e);
				stop = abd_min(e->event, last);
			}
		}
		hash = hash_5(src + next, bits);
		from = groups ? whole + *seen : at - (uint16_t)(at - *seen);
		*seen = (uint16_t)at;
		most = reach.limit - at;
		/* 0 for none is the place itself where 64 KiB begin. */
		if (!same_4(src + from, src + at) || from >= at ||
			(groups && (most = fast_most(&reach, at, from, &least)) < MATCH_MIN)) {
			at = next;
			continue;
		}
		size = fast_common(src + at, src + from, most);
		for (; at > anchor && from > least && src[at - 1] == src[from - 1]; size++) {
			at--;
			from--;
		}
		op = put_sequence(
			op, e->end, src + anchor, e->size - anchor, at - anchor, at - from, size);
		if (op == NULL)
			return 0;
		at = anchor = at + size;
		if (groups && ABD_UNLIKELY(anchor >= e->point)) {
			begin_sequence(e, op, anchor);
			reach = fast_reach(e);
		}
		step = 1 << SKIP_BITS;
		if (at < last) {
			fast->seen[hash_5(src + at - 2, bits)] = (uint16_t)(at - 2);
			hash = hash_5(src + at, bits);
		}
	}
}

static inline void deep_insert(struct abd_lz4_encoder *e, struct abd_lz4_deep *deep, size_t at)
{
	size_t hash = hash_4(e->src + at), back;

	if (ABD_UNLIKELY(at >= e->event))
		pass(e, at, deep->seen, deep->hub, sizeof(deep->seen));
	back = at + 1 - deep->seen[hash];
	deep->back[at & OFFSET_MAX] =
		(uint16_t)(deep->seen[hash] == 0 || back > OFFSET_MAX ? 0 : back);
	deep->seen[hash] = (uint32_t)at + 1;
}

/* Follow a chain of places from the one at from (plus 1) on, down to least. */
static inline void deep_follow(const struct abd_lz4_encoder *e, struct abd_lz4_match *m, size_t at,
	size_t from, size_t least, size_t end)
{
	const struct abd_lz4_deep *deep = e->work;

	for (unsigned left = e->depth; left > 0 && from > least; left--) {
		size_t back = deep->back[(from - 1) & OFFSET_MAX];

		if (at - (from - 1) > OFFSET_MAX)
			return;
		look(e, m, at, from - 1, end);
		if (back == 0)
			return;
		from -= back;
	}
}

/* The longest match at at, which becomes known. */
static inline struct abd_lz4_match deep_find(struct abd_lz4_encoder *e, size_t at)
{
	struct abd_lz4_deep *deep = e->work;
	struct abd_lz4_match m = {0, 0, 0};

	deep_insert(e, deep, at);

	size_t hash = hash_4(e->src + at), back = deep->back[at & OFFSET_MAX];

	if (back > 0)
		deep_follow(e, &m, at, at + 1 - back, e->base, e->size);
	if (hub_serves(e, at))
		deep_follow(e, &m, at, deep->hub[hash], e->hub, e->hub_end);
	return m;
}

static size_t encode_deep(struct abd_lz4_encoder *e)
{
	struct abd_lz4_deep *deep = e->work;
	size_t at = 0, last = e->size - LAST_MATCH;

	memset(deep->seen, 0, sizeof(deep->seen));
	while (at <= last) {
		struct abd_lz4_match m = deep_find(e, at);

		if (m.size == 0) {
			at++;
			continue;
		}
		while (m.size < LAZY_MAX && at < last) {
			struct abd_lz4_match next = deep_find(e, at + 1);

			at++;
			if (next.size <= m.size)
				break;
			m = next;
		}
		lengthen(e, &m);
		e->op = put_sequence(e->op, e->end, e->src + e->anchor, e->size - e->anchor,
			m.at - e->anchor, m.at - m.from, m.size);
		if (e->op == NULL)
			return 0;
		e->anchor = m.at + m.size;
		if (e->anchor >= e->point)
			begin_sequence(e, e->op, e->anchor);
		for (at++; at < e->anchor && at <= last; at++)
			deep_insert(e, deep, at);
		at = e->anchor;
	}
	return finish(e, e->op, e->anchor);
}

size_t abd_lz4_encode_work_size(int effort, bool groups)
{
	return effort >= 3 ? sizeof(struct abd_lz4_deep)
	       : groups    ? sizeof(struct abd_lz4_fast)
			   : sizeof(uint16_t) << PLAIN_BITS;
}

size_t abd_lz4_encode(void *dst, size_t room, const void *src, size_t size, int effort,
	struct abd_lz4_index *index, void *work)
{
	struct abd_lz4_encoder e = {
		.src = src,
		.size = size,
		.dst = dst,
		.op = dst,
		.end = (uint8_t *)dst + room,
		.group_end = SIZE_MAX,
		.event = SIZE_MAX,
		.index = index,
		.hub_end = SIZE_MAX,
		.point = SIZE_MAX,
		.depth = effort < 3 ? 1 : 1u << (effort < 12 ? effort - 1 : 11),
		.work = work,
	};

	if (index != NULL) {
		e.point = 0;
		begin_sequence(&e, e.op, 0);
		e.group_end = index->group_size;
		e.event = index->hub_size;
	}
	if (size <= LAST_MATCH)
		return finish(&e, e.op, 0);
	if (effort >= 3)
		return encode_deep(&e);
	return index != NULL ? encode_fast(&e, true) : encode_fast(&e, false);
}
