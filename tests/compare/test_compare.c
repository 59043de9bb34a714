/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The comparison kernels against a byte-by-byte model, with unreadable memory at both ends.
 * Invariant: every test runs every kernel that this CPU has. ABD_TEST_LONG in the environment asks
 * for the whole grid of lengths and alignments, and for 10 million random cases per kernel instead
 * of 100,000.
 */
#include "abd_compare_kernel.h"
#include <abd/key.h>

#include "abd_test_room.h"

enum {
	LENGTH_MAX = 4200,
	LINE = 64,
	ROOM = ABD_TEST_ROOM,
};

struct guarded {
	uint8_t *start, *end;
};

static struct guarded guarded_map(void)
{
	uint8_t *room = abd_test_room_map();

	return (struct guarded){room, room + ROOM};
}

static bool test_is_long(void)
{
	return getenv("ABD_TEST_LONG") != NULL;
}

/* A generator of our own, so that a failing case comes again. */
static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static size_t random_below(uint64_t *state, size_t limit)
{
	return (size_t)(random_next(state) >> 11) % limit;
}

static void random_fill(uint8_t *p, size_t size, uint64_t seed)
{
	for (size_t i = 0; i < size; i++)
		p[i] = (uint8_t)(random_next(&seed) >> 32);
}

/* The model: nothing but bytes. */

static size_t model_diff(const uint8_t *a, const uint8_t *b, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (a[i] != b[i])
			return i;
	return size;
}

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

struct span_case {
	const uint8_t *a, *b;
	size_t size;
	const void *next_a, *next_b;
};

/*
 * Whether a kernel gives the answers that follow from the first difference; the question it got
 * wrong, or NULL.
 */
static const char *wrong_question(
	const struct abd_compare_kernel *k, const struct span_case *c, size_t diff)
{
	bool equal = diff == c->size;
	int order = equal ? 0 : (int)c->a[diff] - (int)c->b[diff];

	if (k->equal(c->a, c->b, c->size, c->next_a, c->next_b) != equal)
		return "equal";
	if (k->diff(c->a, c->b, c->size, c->next_a, c->next_b) != diff)
		return "diff";
	if (sign(k->order(c->a, c->b, c->size, c->next_a, c->next_b)) != sign(order))
		return "order";
	if (k->key_equal(c->a, c->b, c->size) != equal)
		return "key_equal";
	return NULL;
}

static void check_case(const struct abd_compare_kernel *k, const struct span_case *c, size_t diff)
{
	const char *wrong = wrong_question(k, c, diff);

	/* only a failure is reported: Criterion sends a message for each assertion */
	if (wrong != NULL)
		cr_assert(wrong == NULL,
			"%s of %s: size %zu, alignments %zu and %zu, difference at %zu", wrong,
			k->name, c->size, (size_t)((uintptr_t)c->a % LINE),
			(size_t)((uintptr_t)c->b % LINE), diff);
}

static void check_zero(const struct abd_compare_kernel *k, const uint8_t *p, size_t size,
	const void *next, bool zero)
{
	bool right = k->zero(p, size, next) == zero;

	if (!right)
		cr_assert(right, "zero of %s: size %zu, alignment %zu, expected %d", k->name, size,
			(size_t)((uintptr_t)p % LINE), zero);
}

#define FOR_EACH_KERNEL(k) ABD_TEST_EACH(abd_compare_kernel, k, abd_compare_kernels)

Test(abd_compare, every_kernel_is_complete_and_named_once)
{
	bool scalar_seen = false;

	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++) {
		const struct abd_compare_kernel *k = abd_compare_kernels[i];

		cr_assert(
			k->supported && k->order && k->equal && k->diff && k->zero && k->key_equal,
			"%s lacks a function", k->name);
		for (size_t j = 0; j < i; j++)
			cr_assert(strcmp(abd_compare_kernels[j]->name, k->name) != 0);
		scalar_seen |= strcmp(k->name, "scalar") == 0 && k->supported();
	}
	cr_assert(scalar_seen, "the reference is always there");
}

/*
 * Set up a and b as equal bytes, ask; change one byte at first, middle and last place, ask; put it
 * back.
 */
static void check_at(const struct abd_compare_kernel *k, const uint8_t *a, uint8_t *b, size_t size)
{
	struct span_case c = {a, b, size, NULL, NULL};
	size_t places[] = {0, size / 2, size - 1};

	check_case(k, &c, size);
	for (size_t i = 0; i < 3 && size > 0; i++) {
		b[places[i]] ^= 0x80;
		check_case(k, &c, places[i]);
		b[places[i]] ^= 0x80;
	}
}

static void check_zero_at(const struct abd_compare_kernel *k, uint8_t *p, size_t size)
{
	check_zero(k, p, size, NULL, true);
	if (size == 0)
		return;
	p[size - 1] = 1;
	check_zero(k, p, size, NULL, false);
	p[size - 1] = 0;
	p[0] = 0x80;
	check_zero(k, p, size, NULL, false);
	p[0] = 0;
}

/* Both orders of a guarded and a shifted span, so that each side is the one at the guard. */
static void check_pair(const uint8_t *model, uint8_t *a, uint8_t *b, size_t size)
{
	memcpy(a, model, size);
	memcpy(b, model, size);
	FOR_EACH_KERNEL(k)
	{
		check_at(k, a, b, size);
		check_at(k, b, a, size);
	}
}

/*
 * Lengths that matter in a short run: all that any kernel treats specially, then a stride that hits
 * every remainder.
 */
static size_t length_after(size_t length, bool whole)
{
	return whole || length < 1100 || length >= LENGTH_MAX - 8 ? length + 1 : length + 13;
}

static size_t shift_after(size_t shift, bool whole)
{
	static const uint8_t next[] = {1, 7, 8, 15, 16, 17, 31, 32, 33, 63, LINE};
	size_t i = 0;

	while (!whole && next[i] <= shift)
		i++;
	return whole ? shift + 1 : next[i];
}

/*
 * One side touches the guard, the other stands shift bytes off its own: over all shifts each kernel
 * meets every pair of alignments that a cache line allows, and what lies beyond the shifted span's
 * end differs between the sides.
 */
Test(abd_compare, no_kernel_reads_outside_the_span)
{
	struct guarded a = guarded_map(), b = guarded_map();
	uint8_t model[LENGTH_MAX];
	bool whole = test_is_long();

	random_fill(model, sizeof(model), 1);
	for (size_t size = 0; size <= LENGTH_MAX; size = length_after(size, whole)) {
		random_fill(a.start, 2 * LINE, size + 2);
		random_fill(b.end - 2 * LINE, 2 * LINE, size + 3);
		for (size_t shift = 0; shift < LINE; shift = shift_after(shift, whole)) {
			check_pair(model, a.start, b.start + shift, size);
			check_pair(model, a.end - size, b.end - size - shift, size);
		}
	}
	abd_test_room_unmap(a.start);
	abd_test_room_unmap(b.start);
}

Test(abd_compare, no_zero_test_reads_outside_the_span)
{
	struct guarded g = guarded_map();
	bool whole = test_is_long();

	for (size_t size = 0; size <= LENGTH_MAX; size = length_after(size, whole)) {
		for (size_t shift = 0; shift < LINE; shift = shift_after(shift, whole)) {
			uint8_t *front = g.start + shift, *back = g.end - size - shift;

			memset(g.start, 0xFF, ROOM);
			memset(front, 0, size);
			FOR_EACH_KERNEL(k)
			check_zero_at(k, front, size);
			memset(front, 0xFF, size);
			memset(back, 0, size);
			FOR_EACH_KERNEL(k)
			check_zero_at(k, back, size);
		}
	}
	abd_test_room_unmap(g.start);
}

/*
 * A block of exactly the span's size, at every alignment: a checker build sees an over-read of a
 * single byte.
 */
Test(abd_compare, no_kernel_reads_outside_a_heap_block)
{
	size_t step = test_is_long() ? 1 : 13;

	for (size_t shift = 0; shift < LINE; shift++) {
		for (size_t size = 0; size <= 600; size += size < 140 ? 1 : step) {
			uint8_t *a = malloc(shift + size), *b = malloc(size);

			cr_assert((a != NULL && b != NULL) || shift + size == 0 || size == 0);
			if (size > 0) {
				memset(a, 0, shift + size);
				memset(b, 0, size);
			}
			FOR_EACH_KERNEL(k)
			{
				check_at(k, a + shift, b, size);
				check_zero_at(k, a + shift, size);
			}
			free(a);
			free(b);
		}
	}
}

/*
 * Sizes as they come: mostly short, some around a page, a few long enough for the hints of long
 * runs.
 */
static size_t random_size(uint64_t *state)
{
	switch (random_below(state, 8)) {
	case 0:
	case 1:
	case 2:
		return random_below(state, 80);
	case 3:
	case 4:
		return random_below(state, 600);
	case 5:
	case 6:
		return random_below(state, LENGTH_MAX + 1);
	default:
		return random_below(state, 8) == 0 ? random_below(state, ROOM / 2) : 4096;
	}
}

/* Somewhere in the room, every third time touching a guard. */
static uint8_t *random_place(uint64_t *state, struct guarded g, size_t size)
{
	size_t slack = (size_t)(g.end - g.start) - size;

	switch (random_below(state, 6)) {
	case 0:
		return g.start;
	case 1:
		return g.end - size;
	default:
		return g.start + random_below(state, slack + 1);
	}
}

/* NULL, or an address that would fault if it were read. */
static const void *random_hint(uint64_t *state, struct guarded g)
{
	return random_below(state, 2) == 0 ? NULL : g.end + random_below(state, LINE);
}

/* Make up to three differences; bytes whose sign bit matters among them. */
static void random_damage(uint64_t *state, uint8_t *p, size_t size)
{
	for (size_t n = random_below(state, 4); n > 0 && size > 0; n--)
		p[random_below(state, size)] ^= (uint8_t)(1u << random_below(state, 8));
}

static void random_case(
	uint64_t *state, const struct abd_compare_kernel *k, struct guarded a, struct guarded b)
{
	size_t size = random_size(state);
	uint8_t *x = random_place(state, a, size), *y = random_place(state, b, size);
	struct span_case c = {x, y, size, random_hint(state, a), random_hint(state, b)};

	if (random_below(state, 4) == 0) {
		memset(y, 0, size);
		random_damage(state, y, size);
		check_zero(k, y, size, c.next_b, abd_test_is_all(y, size, 0));
	}
	memcpy(y, x, size);
	random_damage(state, y, size);
	check_case(k, &c, model_diff(x, y, size));
}

Test(abd_compare, every_kernel_equals_the_reference)
{
	struct guarded a = guarded_map(), b = guarded_map();
	size_t cases = test_is_long() ? 10000000 : 100000;

	random_fill(a.start, ROOM, 5);
	FOR_EACH_KERNEL(k)
	{
		uint64_t state = 88172645463325252u;

		for (size_t i = 0; i < cases; i++) {
			if (i % 4096 == 0)
				random_fill(a.start, ROOM, i + 7);
			random_case(&state, k, a, b);
		}
	}
	abd_test_room_unmap(a.start);
	abd_test_room_unmap(b.start);
}

static void check_every_position(const struct abd_compare_kernel *k, const uint8_t *a, uint8_t *b,
	size_t size, const void *next)
{
	struct span_case c = {a, b, size, next, next};

	for (size_t i = 0; i < size; i++) {
		uint8_t bit = (uint8_t)(1u << i % 8);

		b[i] ^= bit;
		check_case(k, &c, i);
		b[i] ^= bit;
	}
}

/*
 * Each bit of each byte can be the only one: no lane of a fold, and no step of a walk, may be lost.
 */
Test(abd_compare, a_single_bit_is_found_at_every_position)
{
	static const size_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 47, 48,
		63, 64, 65, 96, 127, 128, 129, 191, 192, 255, 256, 257, 320, 383, 511, 512, 513,
		640, 769, 1023, 1025, 2049, 4095, 4096, 4097};
	struct guarded a = guarded_map(), b = guarded_map();

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t size = lengths[i];

		random_fill(a.end - size, size, size);
		memcpy(b.end - size, a.end - size, size);
		FOR_EACH_KERNEL(k)
		{
			check_every_position(k, a.end - size, b.end - size, size, NULL);
			check_every_position(k, a.end - size, b.end - size, size, a.end);
		}
	}
	abd_test_room_unmap(a.start);
	abd_test_room_unmap(b.start);
}

Test(abd_compare, a_single_bit_is_not_zero_at_any_position)
{
	struct guarded g = guarded_map();

	for (size_t size = 1; size <= 5000; size += size < 300 ? 1 : 457) {
		uint8_t *p = g.end - size;

		FOR_EACH_KERNEL(k)
		{
			for (size_t i = 0; i < size; i++) {
				p[i] = (uint8_t)(1u << i % 8);
				check_zero(k, p, size, NULL, false);
				check_zero(k, p, size, g.end, false);
				p[i] = 0;
			}
		}
	}
	abd_test_room_unmap(g.start);
}

/* Spans beyond every cache are walked differently. */
Test(abd_compare, huge_spans_are_compared_to_the_last_byte)
{
	enum { SIZE = (16 << 20) + 77 };
	static const size_t places[] = {0, 63, 300, SIZE / 2, SIZE - 258, SIZE - 65, SIZE - 1};
	uint8_t *a = malloc(SIZE), *b = malloc(SIZE);
	struct span_case c = {a, b, SIZE, NULL, NULL};

	cr_assert(a != NULL && b != NULL);
	memset(a, 0x5A, SIZE);
	memset(b, 0x5A, SIZE);
	FOR_EACH_KERNEL(k)
	{
		check_case(k, &c, SIZE);
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			b[places[i]] ^= 0x80;
			check_case(k, &c, places[i]);
			b[places[i]] ^= 0x80;
		}
	}
	free(a);
	free(b);
}

/* The compiler does not know the size. */
static bool key_equal_called(const void *a, const void *b, size_t size)
{
	return abd_key_equal(a, b, size);
}

static bool key_equal_inline(const void *a, const void *b, size_t size)
{
	return size > ABD_KEY_INLINE_SIZE ? abd_key_equal_long(a, b, size)
					  : abd_key_equal_inline(a, b, size);
}

static void check_keys(bool (*equal)(const void *, const void *, size_t))
{
	struct guarded a = guarded_map(), b = guarded_map();

	for (size_t size = 0; size <= ABD_KEY_INLINE_SIZE + 1; size++) {
		for (size_t shift = 0; shift < LINE; shift++) {
			uint8_t *x = a.end - size, *y = b.end - size - shift;

			random_fill(x, size, size + 1);
			memcpy(y, x, size);
			cr_assert(equal(x, y, size), "size %zu", size);
			for (size_t i = 0; i < size; i++) {
				y[i] ^= (uint8_t)(1u << i % 8);
				cr_assert(!equal(x, y, size), "size %zu, byte %zu", size, i);
				cr_assert(!equal(y, x, size), "size %zu, byte %zu", size, i);
				y[i] ^= (uint8_t)(1u << i % 8);
			}
		}
	}
	abd_test_room_unmap(a.start);
	abd_test_room_unmap(b.start);
}

Test(abd_compare, key_equality_equals_the_model)
{
	check_keys(key_equal_called);
	check_keys(key_equal_inline);
}

Test(abd_compare, long_keys_ask_the_kernel_in_use)
{
	uint8_t a[1000], b[1000];

	random_fill(a, sizeof(a), 3);
	memcpy(b, a, sizeof(b));
	FOR_EACH_KERNEL(k)
	{
		cr_assert_eq(abd_choice_set(&abd_compare_choice, k->name, false), 0);
		cr_assert(abd_key_equal_long(a, b, sizeof(a)));
		b[999] ^= 1;
		cr_assert(!abd_key_equal_long(a, b, sizeof(a)));
		b[999] ^= 1;
	}
	cr_assert_eq(abd_choice_set(&abd_compare_choice, "auto", false), 0);
}

Test(abd_compare, a_forced_kernel_is_the_one_in_use)
{
	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++) {
		const struct abd_compare_kernel *k = abd_compare_kernels[i];
		const struct abd_compare_kernel *before = abd_compare_for(0);

		if (k->supported()) {
			cr_assert_eq(abd_choice_set(&abd_compare_choice, k->name, false), 0);
			cr_assert(abd_compare_for(0) == k && abd_compare_for(SIZE_MAX) == k);
		} else {
			cr_assert_eq(abd_choice_set(&abd_compare_choice, k->name, false), -EINVAL);
			cr_assert(abd_compare_for(0) == before);
		}
	}
	cr_assert_eq(abd_choice_set(&abd_compare_choice, "auto", false), 0);
}

struct chooser {
	_Atomic bool stop;
	_Atomic size_t wrong;
};

static void *asking_thread(void *arg)
{
	struct chooser *c = arg;
	uint8_t a[128] = {0}, b[128] = {0};

	while (!c->stop) {
		const struct abd_compare_kernel *k = abd_compare_for(0);

		b[100] = !b[100];
		c->wrong += k->equal(a, b, sizeof(a), NULL, NULL) != (b[100] == 0);
	}
	return NULL;
}

Test(abd_compare, kernels_may_be_switched_while_others_compare)
{
	struct chooser c = {.stop = false, .wrong = 0};
	pthread_t threads[2];

	for (size_t i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, asking_thread, &c), 0);
	for (size_t round = 0; round < 2000; round++)
		FOR_EACH_KERNEL(k)
	abd_choice_set(&abd_compare_choice, round % 8 == 0 ? "auto" : k->name, false);
	c.stop = true;
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(c.wrong, 0);
	cr_assert_eq(abd_choice_set(&abd_compare_choice, "auto", false), 0);
}
