/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index by itself: against a plain array, with hashes that collide, with pages that are full,
 * and read while it grows and shrinks.
 */
#include "abd_arc_hold.h"
#include "arc_data.h"

enum { ENTRIES = 30000 };

static struct abd_arc_entry *entries;

static void begin(void)
{
	abd_init();
	entries = calloc(ENTRIES, sizeof(*entries));
	for (uint64_t n = 0; n < ENTRIES; n++)
		entries[n].key = arc_key(n);
}

static void end(void)
{
	free(entries);
}

TestSuite(arc_index, .init = begin, .fini = end);

static uint64_t hash_of(const struct abd_arc_index *index, uint64_t n)
{
	return abd_arc_hash_key(index->seed, &entries[n].key);
}

static struct abd_arc_entry *find(struct abd_arc_index *index, uint64_t n)
{
	return abd_arc_index_find(index, hash_of(index, n), &entries[n].key);
}

static void shrink(struct abd_arc_index *index, size_t count)
{
	if (!abd_arc_index_shrink(index, count))
		return;
	abd_arc_rcu_synchronize();
	abd_arc_index_shrink_end(index);
}

Test(arc_index, keys_of_one_hash_are_told_apart_by_comparing_them)
{
	struct abd_arc_index *index = abd_arc_index_new(0, 1);
	const uint64_t hash = 0x1234567890abcdefu;
	struct abd_arc_entry *old, other = entries[1];

	cr_assert(abd_arc_index_put(index, hash, &entries[0], &old));
	cr_assert_null(old);
	cr_assert_null(abd_arc_index_find(index, hash, &entries[1].key), "another key's entry");
	cr_assert(abd_arc_index_put(index, hash, &entries[1], &old));
	cr_assert_null(old, "replaced another key's entry");
	cr_assert_eq(abd_arc_index_find(index, hash, &entries[0].key), &entries[0]);
	cr_assert_eq(abd_arc_index_find(index, hash, &entries[1].key), &entries[1]);
	cr_assert_null(abd_arc_index_find(index, hash, &entries[2].key));
	cr_assert(abd_arc_index_put(index, hash, &other, &old));
	cr_assert_eq(old, &entries[1]);
	abd_arc_index_remove(index, hash, &entries[0]);
	cr_assert_null(abd_arc_index_find(index, hash, &entries[0].key));
	cr_assert_eq(abd_arc_index_find(index, hash, &entries[1].key), &other);
	abd_arc_index_free(index);
}

/*
 * Keys chosen by someone who can't know the seed. A factor of a product that a key can make 0 would
 * take all that the other says with it, whatever the seed: all keys of a kind would have one hash.
 */
static uint64_t chosen_hash(uint64_t seed, unsigned kind, uint64_t n)
{
	const abd_arc_key_t keys[] = {
		{7, {n * 4096 + 1, 0xd6e8feb86659fd93u}, 99},
		{0x9e3779b97f4a7c14u, {n, n * n + 3}, UINT64_MAX},
		{0x9e3779b97f4a7c15u, {5, 3}, n},
		{7, {5, n}, 9},
		{n, {5, 3}, 9},
	};

	return abd_arc_hash_key(seed, &keys[kind]);
}

static int compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

Test(arc_index, keys_that_collide_can_not_be_chosen_without_the_seed)
{
	enum { KEYS = 1000, KINDS = 5 };
	uint64_t random = 11, hashes[KEYS];

	for (unsigned round = 0; round < 20; round++) {
		uint64_t seed = abd_test_random(&random);

		for (unsigned kind = 0; kind < KINDS; kind++) {
			for (uint64_t n = 0; n < KEYS; n++)
				hashes[n] = chosen_hash(seed, kind, n);
			qsort(hashes, KEYS, sizeof(hashes[0]), compare_hashes);
			for (size_t n = 1; n < KEYS; n++)
				cr_assert_neq(hashes[n - 1], hashes[n], "kind %u", kind);
		}
	}
}

/* All that is in has one hash: far from home at the end, and found all the same. */
Test(arc_index, a_full_page_refuses_and_loses_nothing)
{
	struct abd_arc_index *index = abd_arc_index_new(0, 1);
	const uint64_t hash = 0xff0000000000003eu;
	struct abd_arc_entry *old;
	uint64_t count = 0;

	while (abd_arc_index_put(index, hash, &entries[count], &old)) {
		count++;
		for (uint64_t n = 0; n <= count; n++)
			cr_assert_eq(abd_arc_index_find(index, hash, &entries[n].key),
				n < count ? &entries[n] : NULL, "%zu of %zu", (size_t)n,
				(size_t)count);
	}
	cr_assert_eq(count, ABD_ARC_LINE_SLOTS + 255, "as many as the first line can count: %zu",
		(size_t)count);

	struct abd_arc_entry *neighbour = abd_arc_index_neighbour(index, hash);

	cr_assert_not_null(neighbour);
	abd_arc_index_remove(index, hash, neighbour);
	cr_assert(abd_arc_index_put(index, hash, &entries[count], &old), "room was made");
	for (uint64_t n = 0; n <= count; n++)
		if (&entries[n] != neighbour)
			abd_arc_index_remove(index, hash, &entries[n]);
	for (size_t i = 0; i < ABD_ARC_PAGE_LINES; i++)
		cr_assert_eq(atomic_load(&abd_arc_index_page(index, 0)[i].tags) >> 56, 0,
			"line %zu has been passed by nobody", i);
	abd_arc_index_free(index);
}

/* Puts, removals, growth and shrinking at random; refusals of memory now and then. */
static void compare_with_array(uint64_t seed, bool refuse)
{
	struct abd_arc_index *index = abd_arc_index_new(0, seed);
	bool *in = calloc(ENTRIES, sizeof(*in));
	size_t count = 0;

	for (size_t step = 0; step < 200000; step++) {
		uint64_t random = abd_test_random(&seed), n = (random >> 8) % ENTRIES;
		bool filling = step / 40000 % 2 == 0;
		struct abd_arc_entry *old;

		cr_assert_eq(find(index, n), in[n] ? &entries[n] : NULL, "step %zu", step);
		if (in[n] && (!filling || random % 4 == 0)) {
			abd_arc_index_remove(index, hash_of(index, n), &entries[n]);
			in[n] = false;
			count--;
		} else if (filling || random % 4 == 0) {
			if (!abd_arc_index_put(index, hash_of(index, n), &entries[n], &old))
				continue;
			cr_assert_eq(old, in[n] ? &entries[n] : NULL);
			count += !in[n];
			in[n] = true;
		}
		if (refuse && random % 3 != 0)
			abd_test_fault_from(0);
		abd_arc_index_grow(index, count);
		if (refuse && random % 3 != 0)
			abd_test_fault_end();
		if (step % 20000 == 19999)
			shrink(index, count);
	}
	for (uint64_t n = 0; n < ENTRIES; n++)
		cr_assert_eq(find(index, n), in[n] ? &entries[n] : NULL, "%zu", (size_t)n);
	abd_arc_index_free(index);
	free(in);
}

Test(arc_index, finds_what_an_array_has_while_it_grows_and_shrinks)
{
	for (uint64_t seed = 1; seed <= 4; seed++)
		compare_with_array(seed, seed % 2 == 0);
}

Test(arc_index, memory_follows_what_is_in)
{
	struct abd_arc_index *index = abd_arc_index_new(0, 1);
	struct abd_arc_entry *old;

	for (uint64_t n = 0; n < ENTRIES; n++) {
		size_t most = abd_arc_index_bytes(index) + abd_arc_index_next_bytes(index, n);

		cr_assert(abd_arc_index_put(index, hash_of(index, n), &entries[n], &old));
		abd_arc_index_grow(index, n + 1);
		cr_assert_leq(abd_arc_index_bytes(index), most, "more than was said ahead");
		cr_assert_leq(abd_arc_index_bytes(index), 8192 + 27 * (n + 1));
	}
	for (uint64_t n = 1000; n < ENTRIES; n++)
		abd_arc_index_remove(index, hash_of(index, n), &entries[n]);
	for (size_t pages = index->pages + 1; pages > index->pages;) {
		pages = index->pages;
		shrink(index, 1000);
		cr_assert_leq(pages - index->pages, 64, "others wait for the lock meanwhile");
	}
	cr_assert_leq(index->pages, 4);
	for (uint64_t n = 0; n < ENTRIES; n++)
		cr_assert_eq(find(index, n), n < 1000 ? &entries[n] : NULL, "%zu", (size_t)n);
	abd_arc_index_free(index);

	index = abd_arc_index_new(ENTRIES, 1);
	size_t pages = index->pages;

	for (uint64_t n = 0; n < ENTRIES; n++) {
		cr_assert(abd_arc_index_put(index, hash_of(index, n), &entries[n], &old));
		abd_arc_index_grow(index, n + 1);
	}
	cr_assert_eq(index->pages, pages, "what was asked for ahead does");
	abd_arc_index_free(index);
}

/* ---- read while lines are split and joined --------------------------------------------------- */

struct reading {
	struct abd_arc_index *index;
	_Atomic uint64_t in; /* entries [0, in) have been in since before this was set, and stay */
	atomic_bool stop;
	atomic_size_t missing, looks;
};

static void *read_all_the_time(void *arg)
{
	struct reading *reading = arg;
	uint64_t state = 7;

	while (!atomic_load(&reading->stop)) {
		abd_arc_rcu_read_lock(); /* whoever takes some out waits for this section first */
		uint64_t in = atomic_load(&reading->in), n = abd_test_random(&state) % in;

		if (find(reading->index, n) != &entries[n])
			atomic_fetch_add(&reading->missing, 1);
		abd_arc_rcu_read_unlock();
		atomic_fetch_add_explicit(&reading->looks, 1, memory_order_relaxed);
	}
	return NULL;
}

static void fill(struct reading *reading, uint64_t from)
{
	struct abd_arc_entry *old;

	for (uint64_t n = from; n < ENTRIES; n++) {
		cr_assert(abd_arc_index_put(
			reading->index, hash_of(reading->index, n), &entries[n], &old));
		abd_arc_index_grow(reading->index, n + 1);
		atomic_store(&reading->in, n + 1);
	}
}

static void empty(struct reading *reading, uint64_t to)
{
	atomic_store(&reading->in, to);
	abd_arc_rcu_synchronize();
	for (uint64_t n = to; n < ENTRIES; n++)
		abd_arc_index_remove(reading->index, hash_of(reading->index, n), &entries[n]);
	shrink(reading->index, to);
}

Test(arc_index, no_reader_misses_what_stays_in_while_lines_are_split_and_joined)
{
	struct reading reading = {.index = abd_arc_index_new(0, 5)};
	const unsigned rounds = getenv("ABD_TEST_LONG") != NULL ? 2000 : 30;
	struct abd_arc_entry *old;
	pthread_t thread[2];

	cr_assert(abd_arc_index_put(reading.index, hash_of(reading.index, 0), &entries[0], &old));
	atomic_store(&reading.in, 1);
	for (unsigned i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, read_all_the_time, &reading), 0);
	for (unsigned round = 0; round < rounds; round++) {
		fill(&reading, round == 0 ? 1 : 200);
		empty(&reading, 200);
	}
	atomic_store(&reading.stop, true);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	cr_expect_eq(atomic_load(&reading.missing), 0, "%zu of %zu look-ups found nothing",
		atomic_load(&reading.missing), atomic_load(&reading.looks));
	abd_arc_index_free(reading.index);
}

/*
 * The low bits say where an entry's home is, the top ones are its tag: keys that are alike must not
 * share them.
 */
Test(arc_index, every_bit_of_a_key_changes_every_bit_of_its_hash_half_of_the_time)
{
	enum { TRIALS = 400, KEY_BITS = 256 };
	static unsigned changes[KEY_BITS][64];
	uint64_t random = 5;

	for (unsigned trial = 0; trial < TRIALS; trial++) {
		abd_arc_key_t key = arc_key(trial), other;
		uint64_t seed = abd_test_random(&random), word;
		uint64_t hash = abd_arc_hash_key(seed, &key);

		for (unsigned bit = 0; bit < KEY_BITS; bit++) {
			other = key;
			memcpy(&word, (char *)&other + bit / 64 * 8, 8);
			word ^= (uint64_t)1 << bit % 64;
			memcpy((char *)&other + bit / 64 * 8, &word, 8);

			uint64_t difference = hash ^ abd_arc_hash_key(seed, &other);

			for (unsigned i = 0; i < 64; i++)
				changes[bit][i] += (unsigned)(difference >> i & 1);
		}
	}
	/* 200 on average, with a deviation of 10. */
	for (unsigned bit = 0; bit < KEY_BITS; bit++)
		for (unsigned i = 0; i < 64; i++)
			cr_assert(changes[bit][i] > 130 && changes[bit][i] < 270,
				"bit %u of a key: bit %u changes %u times in %d", bit, i,
				changes[bit][i], TRIALS);
}
