/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of the index without room. Entries with chosen homes fill lines, move on to later lines,
 * and are in the way when lines are split and joined. Only who knows the seed can choose homes;
 * this test knows it.
 */
#include "abd_arc_hold.h"
#include "abd_arc_walk.h"
#include "arc_data.h"

enum { ENTRIES = 600, LINES = ABD_ARC_PAGE_LINES, SLOTS = ABD_ARC_LINE_SLOTS, SEED = 5 };

/* Entries in the order in which they were put in, and whether they still are. */
static struct {
	struct abd_arc_index *index;
	struct abd_arc_entry *entry;
	bool in[ENTRIES];
	size_t count;
	uint64_t next; /* number of the next key */
} crowd;

static void begin_lines(size_t lines)
{
	abd_init();
	memset(&crowd, 0, sizeof(crowd));
	crowd.index = abd_arc_index_new(lines * ABD_ARC_LINE_LOAD, SEED);
	crowd.entry = calloc(ENTRIES, sizeof(*crowd.entry));
	cr_assert(crowd.index != NULL && crowd.entry != NULL);
	cr_assert_eq(crowd.index->lines, lines);
}

static void end(void)
{
	abd_arc_index_free(crowd.index);
	free(crowd.entry);
}

static uint64_t hash_of(const struct abd_arc_entry *entry)
{
	return abd_arc_hash_key(SEED, &entry->key);
}

/* A key that was not used yet, whose hash ends in the bits of home. */
static abd_arc_key_t new_key(uint64_t home, uint64_t mask)
{
	abd_arc_key_t key;

	do
		key = arc_key(crowd.next++);
	while ((abd_arc_hash_key(SEED, &key) & mask) != home);
	return key;
}

/* Put a new entry of this home in; NULL: refused. */
static struct abd_arc_entry *add(uint64_t home, uint64_t mask)
{
	struct abd_arc_entry *entry = &crowd.entry[crowd.count], *old;

	cr_assert_lt(crowd.count, ENTRIES);
	entry->key = new_key(home, mask);
	if (!abd_arc_index_put(crowd.index, hash_of(entry), entry, &old))
		return NULL;
	cr_assert_null(old);
	crowd.in[crowd.count++] = true;
	return entry;
}

static void add_all(uint64_t home, uint64_t mask, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_assert_not_null(add(home, mask), "home %zu", (size_t)home);
}

static void take_out(const struct abd_arc_entry *entry)
{
	cr_assert(abd_arc_index_remove(crowd.index, hash_of(entry), entry));
	crowd.in[entry - crowd.entry] = false;
}

/* A walk, with the lock and without. */
static void all_are_walked_over(void)
{
	for (unsigned locked = 0; locked < 2; locked++) {
		struct abd_arc_walk walk = {.index = crowd.index};
		size_t found = 0, in = 0;
		bool once[ENTRIES] = {false};

		do {
			abd_arc_walk_step(&walk, locked != 0);
			for (size_t i = 0; i < walk.count; i++) {
				cr_assert_not(once[walk.found[i] - crowd.entry]);
				once[walk.found[i] - crowd.entry] = true;
				found++;
			}
		} while (abd_arc_walk_next(&walk));
		for (size_t i = 0; i < crowd.count; i++) {
			cr_assert_eq(once[i], crowd.in[i], "entry %zu", i);
			in += crowd.in[i];
		}
		cr_assert_eq(found, in);
	}
}

static void all_are_found(void)
{
	all_are_walked_over();
	for (size_t i = 0; i < crowd.count; i++) {
		struct abd_arc_entry *entry = &crowd.entry[i];

		cr_assert_eq(abd_arc_index_find(crowd.index, hash_of(entry), &entry->key),
			crowd.in[i] ? entry : NULL, "entry %zu", i);
	}
}

static void no_line_is_passed_when_all_are_out(void)
{
	for (size_t i = 0; i < crowd.count; i++)
		if (crowd.in[i])
			take_out(&crowd.entry[i]);
	for (size_t home = 0; home < crowd.index->lines; home++) {
		struct abd_arc_line *page = abd_arc_index_page(crowd.index, home);

		cr_assert_eq(page[home % LINES].tags >> 56, 0, "line %zu", home);
	}
}

static void shrink(void)
{
	cr_assert(abd_arc_index_shrink(crowd.index, 0));
	abd_arc_rcu_synchronize();
	abd_arc_index_shrink_end(crowd.index);
}

Test(arc_crowded, a_page_whose_lines_are_all_full_refuses_whatever_its_home)
{
	begin_lines(LINES);
	for (uint64_t home = 0; home < LINES; home++)
		add_all(home, LINES - 1, SLOTS);
	for (uint64_t home = 0; home < LINES; home++)
		cr_assert_null(add(home, LINES - 1), "home %zu", (size_t)home);
	all_are_found();
	no_line_is_passed_when_all_are_out();
	end();
}

Test(arc_crowded, what_is_not_in_can_not_be_taken_out)
{
	struct abd_arc_entry other;

	begin_lines(LINES);
	add_all(3, LINES - 1, 2 * SLOTS);
	other = crowd.entry[0];
	cr_assert_not(abd_arc_index_remove(crowd.index, hash_of(&other), &other));
	all_are_found();
	no_line_is_passed_when_all_are_out();
	end();
}

/*
 * Each line full, and each passed by one entry that found room only after a whole turn: from line
 * 11 in 10, from 12 in 11.
 */
static void fill_and_pass_every_line(void)
{
	const struct abd_arc_entry *in_11;

	begin_lines(LINES);
	for (uint64_t home = 0; home < LINES; home++)
		add_all(home, LINES - 1, home == 10 ? SLOTS - 1 : SLOTS);
	in_11 = &crowd.entry[11 * SLOTS - 1];
	add_all(11, LINES - 1, 1);
	take_out(in_11);
	add_all(12, LINES - 1, 1);
	for (size_t i = 0; i < LINES; i++)
		cr_assert_gt(abd_arc_index_page(crowd.index, 0)[i].tags >> 56, 0, "line %zu", i);
}

Test(arc_crowded, a_look_up_ends_where_every_line_has_been_passed)
{
	struct abd_arc_entry absent;

	fill_and_pass_every_line();
	all_are_found();
	for (uint64_t home = 0; home < LINES; home++) {
		abd_arc_key_t key = new_key(home, LINES - 1);

		uint64_t hash = abd_arc_hash_key(SEED, &key);

		cr_assert_null(abd_arc_index_find(crowd.index, hash, &key));
		cr_assert_null(abd_arc_index_find_any(crowd.index, hash, &key));
		cr_assert_not(abd_arc_index_remove(crowd.index, hash, &absent));
	}
	no_line_is_passed_when_all_are_out();
	end();
}

Test(arc_crowded, lines_that_all_have_been_passed_are_split)
{
	fill_and_pass_every_line();
	for (unsigned i = 0; i < LINES; i++)
		abd_arc_index_grow(crowd.index, 2 * LINES * ABD_ARC_LINE_LOAD);
	cr_assert_eq(crowd.index->lines, 2 * LINES);
	all_are_found();
	shrink();
	cr_assert_eq(crowd.index->lines, LINES);
	all_are_found();
	no_line_is_passed_when_all_are_out();
	end();
}

/*
 * Eight entries are to move from line 4 to 68, of which seven have room: entries of line 67 have
 * passed it 248 times.
 */
Test(arc_crowded, a_line_that_finds_no_room_is_not_split)
{
	enum { MASK = 2 * LINES - 1 };
	size_t first, last;

	begin_lines(LINES);
	add_all(LINES + 4, MASK, SLOTS + 1);
	abd_arc_index_grow(crowd.index, LINES * ABD_ARC_LINE_LOAD + 1);
	cr_assert_eq(crowd.index->lines, LINES + 4);
	first = crowd.count;
	while (add(LINES + 3, MASK) != NULL)
		continue;
	last = crowd.count;
	cr_assert_eq(last - first, SLOTS + 255);
	all_are_found();

	abd_arc_index_grow(crowd.index, crowd.count);
	cr_assert_eq(crowd.index->lines, LINES + 4, "split all the same");
	all_are_found();

	for (size_t i = first; i < last; i++)
		take_out(&crowd.entry[i]);
	abd_arc_index_grow(crowd.index, 0);
	cr_assert_eq(crowd.index->lines, LINES + 8, "a doubling that was begun goes on");
	all_are_found();
	no_line_is_passed_when_all_are_out();
	end();
}

Test(arc_crowded, a_line_that_finds_no_room_is_not_joined)
{
	enum { MASK = 2 * LINES - 1 };

	begin_lines(2 * LINES);
	for (uint64_t home = 0; home < LINES; home++)
		add_all(home, MASK, SLOTS);
	add_all(2 * LINES - 1, MASK, 1);
	shrink();
	cr_assert_eq(crowd.index->lines, 2 * LINES, "joined all the same");
	all_are_found();

	take_out(&crowd.entry[5 * SLOTS]);
	shrink();
	cr_assert_eq(crowd.index->lines, LINES);
	all_are_found();
	no_line_is_passed_when_all_are_out();
	end();
}

/* Records, not entries alone: one of the page makes room for each that comes. */
static abd_arc_key_t key_at_9(const abd_arc_t *arc, uint64_t *n)
{
	abd_arc_key_t key;

	do
		key = arc_key((*n)++);
	while (abd_arc_hash(arc, &key) % LINES != 9);
	return key;
}

Test(arc_crowded, a_record_whose_page_is_full_takes_the_place_of_another)
{
	enum { ROOM = SLOTS + 255, RECORDS = ROOM + 20 };
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	size_t found = 0;
	uint64_t n = 0;
	char got;

	cr_assert_not_null(arc);
	for (size_t i = 0; i < RECORDS; i++) {
		abd_arc_key_t key = key_at_9(arc, &n);

		got = 0;
		cr_assert_eq(abd_arc_put(arc, &key, "x", 1), 0);
		cr_assert_eq(abd_arc_read(arc, &key, &got, 0, 1), 1);
		cr_assert_eq(got, 'x');
	}
	cr_assert_eq(arc->index->lines, LINES);
	cr_assert_eq(arc_stats(arc).entries, ROOM);
	cr_assert_eq(arc_stats(arc).evictions, RECORDS - ROOM);

	/* One that is leaving gives its place up, too. */
	abd_arc_key_t last = key_at_9(arc, &n);

	pthread_mutex_lock(&arc->lock);
	abd_arc_evict(arc, abd_arc_index_neighbour(arc->index, 9));
	pthread_mutex_unlock(&arc->lock);
	cr_assert_eq(arc->leaving, 1);
	cr_assert_eq(abd_arc_put(arc, &last, "x", 1), 0);
	cr_assert_eq(arc->leaving, 0);
	cr_assert_eq(arc_stats(arc).entries, ROOM);
	for (uint64_t i = 0; i < n; i++)
		found += abd_arc_read(arc, arc_at(i), &got, 0, 1) == 1;
	cr_assert_eq(found, ROOM);
	abd_arc_destroy(arc);
}
