/* SPDX-License-Identifier: BSD-2-Clause */
/* What is held stays, in a slot or counted, and is freed when it is held no more. */
#include "abd_arc_hold.h"
#include "arc_data.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

enum { CAPACITY = 1 << 20, SIZE = 64, SLOTS = ABD_ARC_SLOTS - ABD_ARC_SLOTS_READ };

static char data[SIZE];

static void put(abd_arc_t *arc, uint64_t n)
{
	arc_fill(data, SIZE, n, 0, 64);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), data, SIZE), 0);
}

static void hold(abd_arc_t *arc, uint64_t n, abd_arc_hold_t *held)
{
	cr_assert_eq(abd_arc_hold(arc, arc_at(n), held), 0);
}

/* Hold many records, which are not put again. */
static abd_arc_hold_t *hold_many(abd_arc_t *arc, uint64_t first, size_t count)
{
	abd_arc_hold_t *held = calloc(count, sizeof(*held));

	cr_assert(held != NULL);
	for (size_t i = 0; i < count; i++) {
		put(arc, first + i);
		hold(arc, first + i, &held[i]);
	}
	return held;
}

static void release_rest(abd_arc_hold_t *held, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (held[i].abd != NULL)
			abd_arc_release(&held[i]);
}

/* Release the rest, and end the cache. */
static void end(abd_arc_t *arc, abd_arc_hold_t *held, size_t count)
{
	release_rest(held, count);
	abd_arc_destroy(arc);
	free(held);
}

static void expect_content(const abd_arc_hold_t *held, uint64_t n)
{
	char got[SIZE];

	arc_fill(data, SIZE, n, 0, 64);
	cr_assert_eq(abd_arc_hold_read(held, got, 0, SIZE), SIZE);
	cr_assert_arr_eq(got, data, SIZE);
}

/* Retire something and free it: a grace period passes, and slots are looked at. */
static void look(abd_arc_t *arc)
{
	put(arc, 1u << 30);
	cr_assert_eq(abd_arc_remove(arc, arc_at(1u << 30)), 0);
	abd_arc_reclaim(arc);
}

static void evict(abd_arc_t *arc, uint64_t n)
{
	pthread_mutex_lock(&arc->lock);
	struct abd_arc_entry *entry = abd_arc_find(arc, abd_arc_hash(arc, arc_at(n)), arc_at(n));

	cr_assert(entry != NULL);
	abd_arc_evict(arc, entry);
	pthread_mutex_unlock(&arc->lock);
}

static size_t evicted_bytes(abd_arc_t *arc)
{
	return (size_t)arc_stats(arc).evicted_bytes;
}

/* Every count is the number of counted holds, and these hold what the others hold not. */
static void expect_counts(const abd_arc_hold_t *held, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (held[i].abd == NULL)
			continue;
		struct abd_arc_entry *entry = abd_arc_held_entry(&held[i]);
		uint32_t counted = 0;

		for (size_t j = 0; j < count; j++)
			counted += held[j].abd != NULL &&
				   abd_arc_handle_is_counted(held[j].entry) &&
				   abd_arc_held_entry(&held[j]) == entry;
		cr_assert_eq(abd_arc_entry_count(entry) / ABD_ARC_COUNT_HOLD, counted);
	}
}

/* ---- slots and counts ------------------------------------------------------------------------ */

Test(arc_hold, a_thread_has_48_slots_and_counts_what_is_beyond_them)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 3 * SLOTS);

	for (unsigned i = 0; i < 3 * SLOTS; i++)
		cr_assert_eq(abd_arc_handle_is_counted(held[i].entry), i >= SLOTS, "hold %u", i);
	expect_counts(held, 3 * SLOTS);
	/* One that is given up is used again, though others are looked at first. */
	abd_arc_release(&held[7]);
	for (unsigned i = 0; i < SLOTS; i++) {
		hold(arc, 7, &held[7]);
		if (!abd_arc_handle_is_counted(held[7].entry))
			break;
		abd_arc_release(&held[7]);
	}
	cr_assert_not(abd_arc_handle_is_counted(held[7].entry));
	end(arc, held, 3 * SLOTS);
}

Test(arc_hold, what_a_slot_holds_is_kept_and_its_last_release_frees_it)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held, again;

	put(arc, 1);
	hold(arc, 1, &held);
	evict(arc, 1);
	for (unsigned i = 0; i < 3; i++) {
		look(arc);
		cr_assert_gt(evicted_bytes(arc), 0);
		cr_assert_eq(arc->waiting_bytes, evicted_bytes(arc));
		expect_content(&held, 1);
	}
	cr_assert_eq(arc->pinned_bytes, 0);
	/* Who finds it now takes the lock, and is counted. */
	hold(arc, 1, &again);
	cr_assert(abd_arc_handle_is_counted(again.entry) && again.abd == held.abd);
	abd_arc_release(&held);
	look(arc);
	cr_assert_eq(arc->pinned_bytes, evicted_bytes(arc));
	expect_content(&again, 1);
	abd_arc_release(&again);
	cr_assert_eq(evicted_bytes(arc), 0, "its last release frees it");

	put(arc, 1);
	hold(arc, 1, &held);
	cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	look(arc);
	abd_arc_release(&held);
	cr_assert_eq(evicted_bytes(arc), 0, "nobody has to put for that");
	abd_arc_destroy(arc);
}

/* A release that does not see yet what a look has found leaves it to the next one. */
Test(arc_hold, a_release_between_look_and_decision_frees_late)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	struct abd_arc_link freed = {&freed, &freed};
	abd_arc_hold_t held;

	put(arc, 1);
	hold(arc, 1, &held);
	evict(arc, 1);
	pthread_mutex_lock(&arc->lock);
	cr_assert(abd_arc_reclaim_begin(arc));
	pthread_mutex_unlock(&arc->lock);
	struct abd_arc_decision decision = {arc->waiting.prev, 0};

	abd_arc_reclaim_look(arc, false);
	abd_arc_release(&held);
	pthread_mutex_lock(&arc->lock);
	cr_assert_not(abd_arc_reclaim_decide(arc, &decision, &freed));
	pthread_mutex_unlock(&arc->lock);
	pthread_mutex_unlock(&arc->reclaim_lock);
	cr_assert_gt(evicted_bytes(arc), 0);
	look(arc);
	cr_assert_eq(evicted_bytes(arc), 0);
	abd_arc_destroy(arc);
}

Test(arc_hold, what_is_counted_is_pinned_and_its_last_release_frees_it)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = hold_many(arc, 0, 2 * SLOTS), again;

	evict(arc, SLOTS + 1);
	evict(arc, SLOTS + 2);
	abd_arc_release(&held[SLOTS + 2]);
	look(arc);
	cr_assert_eq(arc->pinned_bytes, evicted_bytes(arc), "and the other one is freed");
	cr_assert_gt(arc->pinned_bytes, 0);
	cr_assert_not(arc_contains(arc, SLOTS + 2));
	expect_content(&held[SLOTS + 1], SLOTS + 1);
	hold(arc, SLOTS + 1, &again);
	cr_assert_eq(again.abd, held[SLOTS + 1].abd);
	abd_arc_release(&held[SLOTS + 1]);
	cr_assert_gt(evicted_bytes(arc), 0);
	abd_arc_release(&again);
	cr_assert_eq(evicted_bytes(arc), 0);
	cr_assert_eq(arc->pinned_bytes, 0);
	end(arc, held, 2 * SLOTS);
}

/* ---- a reader that is waited for ------------------------------------------------------------- */

#ifndef URCU_BP_STANDIN_H /* the hook is in liburcu's call */

static struct {
	abd_arc_t *arc;
	struct abd_arc_entry *entry;
	void *handle;
} late;

/* As in a section that found the entry before it was evicted, and ends when it has noted it. */
static void note_late(void)
{
	late.handle = abd_arc_hold_take(late.arc, abd_arc_thread_enter(late.arc), late.entry);
}

Test(arc_hold, what_a_reader_notes_while_it_is_waited_for_is_kept)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	put(arc, 1);
	late.arc = arc;
	late.handle = NULL;
	pthread_mutex_lock(&arc->lock);
	late.entry = abd_arc_find(arc, abd_arc_hash(arc, arc_at(1)), arc_at(1));
	pthread_mutex_unlock(&arc->lock);
	evict(arc, 1);
	abd_test_wrap_synchronize(note_late);
	abd_arc_reclaim(arc);
	abd_test_wrap_synchronize(NULL);
	cr_assert_not_null(late.handle, "nobody was waited for");
	cr_assert_gt(evicted_bytes(arc), 0, "it was freed under a hold");
	abd_arc_hold_end(late.handle, late.entry);
	cr_assert_eq(evicted_bytes(arc), 0);
	abd_arc_destroy(arc);
}

#endif

/* ---- threads that stop in between ------------------------------------------------------------ */

static void *release_it(void *held)
{
	abd_arc_release(held);
	return NULL;
}

/* The last release of a pinned record has counted down, and has not freed the record yet. */
Test(arc_hold, what_is_about_to_be_freed_is_not_found)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t first, last;
	pthread_t thread;

	put(arc, 1);
	hold(arc, 1, &first);
	cr_assert_eq(abd_arc_hold_dup(&first, &last), 0);
	evict(arc, 1);
	abd_arc_release(&first);
	look(arc);
	cr_assert_gt(arc->pinned_bytes, 0);
	struct abd_arc_entry *entry = abd_arc_held_entry(&last);

	pthread_mutex_lock(&arc->lock);
	cr_assert_eq(pthread_create(&thread, NULL, release_it, &last), 0);
	while (abd_arc_entry_count(entry) != ABD_ARC_COUNT_PINNED)
		sched_yield();
	cr_assert_null(abd_arc_find(arc, abd_arc_hash(arc, arc_at(1)), arc_at(1)));
	pthread_mutex_unlock(&arc->lock);
	pthread_join(thread, NULL);
	cr_assert_eq(evicted_bytes(arc), 0);
	abd_arc_destroy(arc);
}

/* Between a look and the decision that follows, a hold passes from its slot to the count. */
Test(arc_hold, a_hold_that_moves_between_look_and_decision_is_noticed)
{
	for (unsigned counted_first = 0; counted_first < 2; counted_first++) {
		abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
		struct abd_arc_link freed = {&freed, &freed};
		abd_arc_hold_t held, copy;

		put(arc, 1);
		hold(arc, 1, &held);
		evict(arc, 1);
		pthread_mutex_lock(&arc->lock);
		cr_assert(abd_arc_reclaim_begin(arc));
		pthread_mutex_unlock(&arc->lock);
		struct abd_arc_decision decision = {arc->waiting.prev, 0};

		if (counted_first == 1) {
			cr_assert_eq(abd_arc_hold_dup(&held, &copy), 0);
			abd_arc_release(&held);
		}
		abd_arc_reclaim_look(arc, false);
		if (counted_first == 0) {
			cr_assert_eq(abd_arc_hold_dup(&held, &copy), 0);
			abd_arc_release(&held);
		}
		pthread_mutex_lock(&arc->lock);
		cr_assert_not(abd_arc_reclaim_decide(arc, &decision, &freed));
		pthread_mutex_unlock(&arc->lock);
		pthread_mutex_unlock(&arc->reclaim_lock);
		cr_assert_eq(freed.next, &freed);
		expect_content(&copy, 1);
		abd_arc_release(&copy);
		look(arc);
		cr_assert_eq(evicted_bytes(arc), 0);
		abd_arc_destroy(arc);
	}
}

/* ---- what is held, in bytes ------------------------------------------------------------------ */

Test(arc_hold, held_bytes_has_each_record_once)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0), *other = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held[5], elsewhere;

	put(arc, 1);
	put(other, 1);
	hold(other, 1, &elsewhere);
	cr_assert_eq(arc_stats(arc).held_bytes, 0);
	hold(arc, 1, &held[0]);
	size_t once = (size_t)arc_stats(arc).held_bytes;

	cr_assert_eq(once, abd_arc_held_entry(&held[0])->item.cost);
	hold(arc, 1, &held[1]);
	cr_assert_eq(arc_stats(arc).held_bytes, once, "two slots");
	cr_assert_eq(abd_arc_hold_dup(&held[0], &held[2]), 0);
	cr_assert_eq(arc_stats(arc).held_bytes, once, "two slots and a count");
	abd_arc_release(&held[0]);
	abd_arc_release(&held[1]);
	cr_assert_eq(arc_stats(arc).held_bytes, once, "a count");
	cr_assert_eq(abd_arc_hold_dup(&held[2], &held[3]), 0);
	abd_arc_release(&held[2]);
	cr_assert_eq(arc_stats(arc).held_bytes, once);
	evict(arc, 1);
	look(arc);
	cr_assert_eq(arc_stats(arc).held_bytes, once);
	abd_arc_release(&held[3]);
	cr_assert_eq(arc_stats(arc).held_bytes, 0);
	abd_arc_release(&elsewhere);
	abd_arc_destroy(other);
	abd_arc_destroy(arc);
}

/* ---- reads that never return ----------------------------------------------------------------- */

static sigjmp_buf left;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(left, 1);
}

/* Memory that can't be written. */
static char *forbidden(void)
{
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(page != MAP_FAILED);
	return page;
}

enum { WHOLE = 6000, LEFT = 20 }; /* records that compress, and how many a batch reads */

/* Every way to read records 1 to LEFT so that the page is written. */
static void read_one(abd_arc_t *arc, char *page)
{
	(void)abd_arc_read(arc, arc_at(1), page, 0, WHOLE);
}

static void read_rest(abd_arc_t *arc, char *page)
{
	(void)abd_arc_read_flags(arc, arc_at(1), page, 1, WHOLE - 1, ABD_ARC_NO_TOUCH);
}

static void read_all(abd_arc_t *arc, char *page)
{
	size_t size;

	(void)abd_arc_read_all(arc, arc_at(1), page, WHOLE, &size);
}

static void read_piece(abd_arc_t *arc, char *page)
{
	abd_t *abd = abd_get_from_buf(page, WHOLE);

	(void)abd_arc_read_abd(arc, arc_at(1), abd, 0, 0, WHOLE);
}

/* Into several runs, of which the second is the page. */
static void read_runs(abd_arc_t *arc, char *page, size_t size)
{
	static char buf[WHOLE];
	abd_t *gang = abd_alloc_gang();

	cr_assert_eq(abd_gang_add(gang, abd_get_from_buf(buf, WHOLE / 2), true), 0);
	cr_assert_eq(abd_gang_add(gang, abd_get_from_buf(page, WHOLE), true), 0);
	(void)abd_arc_read_abd(arc, arc_at(1), gang, 0, 0, size);
	abd_free(gang);
}

static void read_whole_runs(abd_arc_t *arc, char *page)
{
	read_runs(arc, page, WHOLE);
}

static void read_part_runs(abd_arc_t *arc, char *page)
{
	read_runs(arc, page, WHOLE - 1);
}

static void read_many(abd_arc_t *arc, char *page)
{
	static char buf[WHOLE];
	static abd_arc_io_t ios[LEFT];

	for (unsigned i = 0; i < LEFT; i++)
		ios[i] = (abd_arc_io_t){
			.key = arc_key(i + 1), .dst = i % 4 == 2 ? page : buf, .size = WHOLE};
	(void)abd_arc_read_many(arc, ios, LEFT);
}

static void (*const ways[])(abd_arc_t *arc, char *page) = {
	read_one, read_rest, read_all, read_piece, read_whole_runs, read_part_runs, read_many};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static void put_whole(abd_arc_t *arc, uint64_t n)
{
	static char buf[WHOLE];

	arc_fill(buf, WHOLE, n, 0, 8);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), buf, WHOLE), 0);
}

/* LeakSanitizer's, if the program has it: what is allocated from now on may be lost. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* Read in this way, and leave. */
static void read_and_leave(unsigned way, abd_arc_t *arc, char *page)
{
	struct sigaction leaves = {.sa_handler = leave}, before;

	if (__lsan_disable != NULL)
		__lsan_disable();
	sigaction(SIGSEGV, &leaves, &before);
	if (sigsetjmp(left, 1) == 0) {
		ways[way](arc, page);
		cr_assert(false, "the page could be written");
	}
	sigaction(SIGSEGV, &before, NULL);
	if (__lsan_enable != NULL)
		__lsan_enable();
}

/* Records 1 to LEFT, of which the first are evicted already, but held. */
static void put_left(abd_arc_t *arc, unsigned evicted, abd_arc_hold_t held[])
{
	for (unsigned n = 1; n <= LEFT; n++)
		put_whole(arc, n);
	for (unsigned n = 1; n <= evicted; n++) {
		hold(arc, n, &held[n]);
		evict(arc, n);
	}
	look(arc);
}

static void release_and_evict(abd_arc_t *arc, unsigned evicted, abd_arc_hold_t held[])
{
	for (unsigned n = 1; n <= evicted; n++)
		abd_arc_release(&held[n]);
	for (unsigned n = evicted + 1; n <= LEFT; n++)
		evict(arc, n);
	look(arc);
}

/* It holds its record until the thread reads again, and then it does not; nor does it in the end.
 */
Test(arc_hold, a_read_of_any_kind_that_is_left_holds_until_its_thread_reads_again)
{
	abd_arc_t *other = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held[LEFT + 1];
	char *page = forbidden(), byte;

	put(other, 1);
	for (unsigned way = 0; way < 2 * WAYS; way++) {
		unsigned evicted = way < WAYS ? 0 : LEFT;
		abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

		for (unsigned round = 0; round < 3; round++) {
			put_left(arc, evicted, held);
			read_and_leave(way % WAYS, arc, page);
			release_and_evict(arc, evicted, held);
			abd_test_check(evicted_bytes(arc) > 0, "way %u holds", way);
			cr_assert_eq(abd_arc_read(other, arc_at(1), &byte, 0, 1), 1);
			look(arc);
			abd_test_check(evicted_bytes(arc) == 0 && arc_stats(arc).held_bytes == 0 &&
					       arc->pinned_bytes == 0,
				"way %u, round %u: %zu bytes stay", way, round, evicted_bytes(arc));
		}
		put_left(arc, evicted, held);
		read_and_leave(way % WAYS, arc, page);
		release_and_evict(arc, evicted, held);
		abd_arc_destroy(arc);
		cr_assert_eq(abd_arc_read(other, arc_at(1), &byte, 0, 1), 1);
		cr_assert_eq(abd_arc_thread_self->reading, 0);
	}
	abd_arc_destroy(other);
	munmap(page, 4096);
}

/* What another thread's reads hold in the end. */
struct leaver {
	abd_arc_t *arc;
	char *page;
	unsigned way;
};

static void *leave_and_end(void *arg)
{
	const struct leaver *leaver = arg;

	read_and_leave(leaver->way, leaver->arc, leaver->page);
	return NULL;
}

Test(arc_hold, what_a_read_that_was_left_holds_ends_with_its_thread)
{
	abd_arc_hold_t held[LEFT + 1];
	struct leaver leaver = {.page = forbidden()};

	for (unsigned i = 0; i < 2 * WAYS; i++) {
		unsigned evicted = i < WAYS ? 0 : LEFT;
		pthread_t thread;

		leaver.arc = arc_make(CAPACITY, 0, 0);
		leaver.way = i % WAYS;
		put_left(leaver.arc, evicted, held);
		cr_assert_eq(pthread_create(&thread, NULL, leave_and_end, &leaver), 0);
		pthread_join(thread, NULL);
		release_and_evict(leaver.arc, evicted, held);
		abd_test_check(evicted_bytes(leaver.arc) == 0, "way %u", leaver.way);
		abd_arc_destroy(leaver.arc);
	}
	munmap(leaver.page, 4096);
}

/* ---- in callbacks ---------------------------------------------------------------------------- */

static unsigned callbacks, found;

/* Make a cache with this callback, which gets its address, and put until it is called. */
static void evict_with(abd_arc_t **arc, void (*evicted_cb)(abd_arc_evicted_t *, void *))
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = CAPACITY,
		.evicted_cb = evicted_cb,
		.evicted_arg = arc,
		.shards = 1};

	*arc = abd_arc_create(&config);
	callbacks = 0;
	for (uint64_t n = 0; callbacks == 0; n++)
		put(*arc, n);
}

/* Nobody holds it, so it is freed behind this call. */
static void look_for_it(abd_arc_evicted_t *evicted, void *arc)
{
	callbacks++;
	found += abd_arc_contains(*(abd_arc_t **)arc, &evicted->key);
}

Test(arc_hold, what_a_callback_gets_is_found_no_more)
{
	abd_arc_t *arc;

	found = 0;
	evict_with(&arc, look_for_it);
	cr_assert_eq(found, 0, "%u of %u", found, callbacks);
	abd_arc_destroy(arc);
}

/* A read that calls the engine back holds its record meanwhile, whatever the callback reads. */
static void read_in_callback(abd_arc_evicted_t *evicted, void *arg)
{
	abd_arc_t *const *arc = arg;
	char byte;

	cr_assert_eq(abd_arc_thread_self->reading, ABD_ARC_READING_CALLBACK);
	cr_assert_eq(abd_arc_read(*arc, arc_at(7777), &byte, 0, 1), -ENOENT);
	callbacks++;
}

Test(arc_hold, a_callback_that_reads_uses_none_of_the_slots_of_reads)
{
	abd_arc_t *arc;
	char byte;

	evict_with(&arc, read_in_callback);
	struct abd_arc_thread *thread = abd_arc_thread_self;

	cr_assert_eq(thread->reading, 0);
	put(arc, 1);
	put(arc, 2);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), &byte, 0, 1), 1);
	cr_assert_null(atomic_load(&thread->slot[0].entry));
	struct abd_arc_entry *entry =
		abd_arc_index_find_any(arc->index, abd_arc_hash(arc, arc_at(1)), arc_at(1));
	(void)abd_arc_slot_fill(&thread->slot[0], arc, entry);
	bool was = abd_arc_callback_set(true);

	cr_assert_not(was);
	cr_assert_eq(abd_arc_read(arc, arc_at(2), &byte, 0, 1), 1);
	cr_assert_eq(atomic_load(&thread->slot[0].entry), entry);
	abd_arc_callback_set(was);
	cr_assert_eq(abd_arc_read(arc, arc_at(2), &byte, 0, 1), 1);
	cr_assert_null(atomic_load(&thread->slot[0].entry));
	abd_arc_destroy(arc);
}

/*
 * The engine's allocator reads while a record is decoded into runs; then a read into runs is left.
 */
static abd_arc_t *reading;
static unsigned disturbed;

static void *reading_alloc(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	char byte;

	(void)is_metadata, (void)arg;
	if (reading != NULL) {
		struct abd_arc_hold_slot *slot = &abd_arc_thread_self->slot[0];
		const struct abd_arc_entry *entry = atomic_load(&slot->entry);

		callbacks++;
		disturbed += entry == NULL || abd_arc_read(reading, arc_at(2), &byte, 0, 1) != 1 ||
			     atomic_load(&slot->entry) != entry;
	}
	return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void reading_free(void *buf, size_t size, bool is_metadata, void *arg)
{
	(void)size, (void)is_metadata, (void)arg;
	free(buf);
}

ABD_TEST_CHILD(the_allocator_reads)
{
	struct abd_allocator engine = {.alloc = reading_alloc, .free = reading_free};
	char *buf = malloc(2 * WHOLE), *page = forbidden(), byte;

	abd_test_child_expect(buf != NULL && abd_allocator_set(&engine) == 0);
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	put_whole(arc, 1);
	put_whole(arc, 2);
	for (size_t i = 0; i < 2; i++) {
		reading = arc;
		read_runs(arc, buf, WHOLE - i);
		reading = NULL;
		abd_test_child_expect(callbacks == i + 1 && disturbed == 0);
		read_and_leave(4 + (unsigned)i, arc, page);
		abd_test_child_expect(abd_arc_read(arc, arc_at(2), &byte, 0, 1) == 1);
		abd_test_child_expect(atomic_load(&abd_arc_thread_self->slot[0].entry) == NULL);
		abd_test_child_expect(abd_arc_thread_self->reading == 0);
	}
	abd_arc_destroy(arc);
	free(buf);
	return 0;
}

Test(arc_hold, an_allocator_that_reads_leaves_the_read_its_record)
{
	abd_test_child_passes("the_allocator_reads", NULL);
}

/* Others that put meanwhile do not wait for a page that comes late. */
static void *read_into(void *arg)
{
	void **arc_and_page = arg;

	return (void *)abd_arc_read(arc_and_page[0], arc_at(1), arc_and_page[1], 0, SIZE);
}

static atomic_bool is_waiting, may_come;

static void wait_for_page(int signal, siginfo_t *info, void *context)
{
	atomic_store(&is_waiting, true);
	while (!atomic_load(&may_come))
		sched_yield();
	mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095), 4096,
		PROT_READ | PROT_WRITE);
}

Test(arc_hold, a_reader_whose_page_comes_late_keeps_nobody_waiting)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	struct sigaction waits = {.sa_sigaction = wait_for_page, .sa_flags = SA_SIGINFO}, before;
	char *page = forbidden();
	void *arc_and_page[2] = {arc, page}, *got;
	pthread_t thread;

	put(arc, 1);
	sigaction(SIGSEGV, &waits, &before);
	cr_assert_eq(pthread_create(&thread, NULL, read_into, arc_and_page), 0);
	while (!atomic_load(&is_waiting))
		sched_yield();
	for (uint64_t n = 2; n < 20000; n++)
		put(arc, n);
	cr_assert_gt(arc_stats(arc).waits, 10);
	atomic_store(&may_come, true);
	pthread_join(thread, &got);
	sigaction(SIGSEGV, &before, NULL);
	cr_assert_eq((ssize_t)got, SIZE);
	arc_fill(data, SIZE, 1, 0, 64);
	cr_assert_arr_eq(page, data, SIZE);
	abd_arc_destroy(arc);
	munmap(page, 4096);
}

/* ---- second holds --------------------------------------------------------------------------- */

Test(abd_arc_hold_dup, each_of_two_holds_is_released_alone)
{
	for (unsigned first = 0; first < 2; first++) {
		abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
		abd_arc_hold_t held[2];

		put(arc, 1);
		hold(arc, 1, &held[0]);
		cr_assert_eq(abd_arc_hold_dup(&held[0], &held[1]), 0);
		cr_assert(held[1].entry != held[0].entry && held[1].abd == held[0].abd);
		cr_assert_eq(arc_stats(arc).hits, 1, "it is no look-up");
		cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
		look(arc);
		cr_assert_gt(evicted_bytes(arc), 0);
		abd_arc_release(&held[first]);
		look(arc);
		expect_content(&held[1 - first], 1);
		abd_arc_release(&held[1 - first]);
		look(arc);
		cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
		abd_arc_destroy(arc);
	}
}

/* Its count was the number of its holds: the second one has to count too. */
Test(abd_arc_hold_dup, of_what_was_evicted_before_keeps_it)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held[3];

	put(arc, 1);
	hold(arc, 1, &held[0]);
	evict(arc, 1);
	look(arc);
	cr_assert_gt(evicted_bytes(arc), 0);
	cr_assert_eq(abd_arc_hold_dup(&held[0], &held[1]), 0);
	cr_assert_eq(abd_arc_hold_dup(&held[1], &held[2]), 0);
	expect_counts(held, 3);
	cr_assert_gt(arc_stats(arc).held_bytes, 0);
	for (unsigned i = 0; i < 2; i++) {
		abd_arc_release(&held[i]);
		look(arc);
		expect_content(&held[2], 1);
	}
	abd_arc_release(&held[2]);
	cr_assert_eq(evicted_bytes(arc), 0);
	abd_arc_destroy(arc);
}

Test(abd_arc_hold_dup, of_nothing_breaks_the_contract)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held = {.entry = NULL}, copy, released;

	abd_test_expect_contract((void)abd_arc_hold_dup(NULL, &copy), "hold is NULL");
	abd_test_expect_contract((void)abd_arc_hold_dup(&held, &copy), "nothing is held");
	put(arc, 1);
	hold(arc, 1, &held);
	abd_test_expect_contract((void)abd_arc_hold_dup(&held, NULL), "copy is NULL");
	abd_test_expect_contract((void)abd_arc_hold_dup(&held, &held), "copy is the hold itself");
	released = held;
	abd_arc_release(&held);
	abd_test_expect_contract((void)abd_arc_hold_dup(&released, &copy), "released before");
	abd_arc_destroy(arc);
}

static _Atomic bool is_over;

/* A hold passes from slot to slot, while looks go over the slots. */
static void *pass_on(void *arc)
{
	while (!atomic_load(&is_over)) {
		abd_arc_hold_t held, copy;
		char got[SIZE], expected[SIZE];

		if (abd_arc_hold(arc, arc_at(1), &held) != 0)
			continue;
		arc_fill(expected, SIZE, 1, 0, 64);
		for (unsigned i = 0; i < 50; i++) {
			abd_test_check(abd_arc_hold_dup(&held, &copy) == 0, "dup");
			abd_arc_release(&held);
			abd_test_check(abd_arc_hold_read(&copy, got, 0, SIZE) == SIZE &&
					       memcmp(got, expected, SIZE) == 0,
				"its content");
			held = copy;
		}
		abd_arc_release(&held);
	}
	return NULL;
}

Test(abd_arc_hold_dup, what_is_passed_on_is_never_freed)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	pthread_t thread[2];

	atomic_store(&is_over, false);
	for (unsigned i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, pass_on, arc), 0);
	for (unsigned i = 0; i < 3000; i++) {
		put(arc, 1);
		(void)abd_arc_remove(arc, arc_at(1));
		put(arc, 2); /* into the slot of 1, if that is free */
		look(arc);
		(void)abd_arc_remove(arc, arc_at(2));
	}
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	look(arc);
	cr_assert_eq(evicted_bytes(arc), 0);
	abd_arc_destroy(arc);
}

/* ---- any order ------------------------------------------------------------------------------- */

static void hold_again(
	const abd_arc_hold_t *held, abd_arc_hold_t *copy, const uint64_t *of, uint64_t *to)
{
	cr_assert_eq(abd_arc_hold_dup(held, copy), 0);
	*to = *of;
}

/* Puts, holds, second holds, releases, evictions and looks: what is held keeps its content, and its
 * count. */
Test(arc_hold, in_any_order)
{
	enum { HELD = 200, KEYS = 300, STEPS = 60000 };
	static abd_arc_hold_t held[HELD];
	static uint64_t key[HELD];
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	uint64_t seed = 6;

	for (unsigned step = 0; step < STEPS; step++) {
		uint64_t n = abd_test_random(&seed) % KEYS, i = abd_test_random(&seed) % HELD;
		uint64_t what = abd_test_random(&seed) % 100;

		if (what < 30)
			put(arc, n);
		else if (what < 60 && held[i].abd == NULL && arc_contains(arc, n))
			hold(arc, key[i] = n, &held[i]);
		else if (what < 70 && held[i].abd == NULL && held[n % HELD].abd != NULL)
			hold_again(&held[n % HELD], &held[i], &key[n % HELD], &key[i]);
		else if (what < 80 && held[i].abd != NULL && i % 4 == 0)
			abd_arc_release(&held[i]);
		else if (what < 90 && arc_contains(arc, n))
			(void)abd_arc_remove(arc, arc_at(n));
		else if (what < 95)
			look(arc);
		if (held[i].abd != NULL)
			expect_content(&held[i], key[i]);
		if (step % 100 == 0)
			expect_counts(held, HELD);
		/* Now and then, those that stay change too. */
		if (step % 5000 == 0)
			for (i = 0; i < HELD; i++)
				if (held[i].abd != NULL && abd_test_random(&seed) % 2 == 0)
					abd_arc_release(&held[i]);
	}
	release_rest(held, HELD);
	look(arc);
	cr_assert_eq(evicted_bytes(arc), 0);
	cr_assert_eq(arc->pinned_bytes + arc->waiting_bytes, 0);
	abd_arc_destroy(arc);
}

Test(arc_hold, what_is_retired_beside_a_release_waits_for_one_reclaim)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t kept, retired;

	put(arc, 1);
	hold(arc, 1, &kept);
	evict(arc, 1);
	look(arc);
	put(arc, 2);
	hold(arc, 2, &retired);
	cr_assert_eq(abd_arc_remove(arc, arc_at(2)), 0);
	abd_arc_release(&kept); /* looks again, at what a slot holds */
	abd_arc_release(&retired);
	abd_arc_reclaim(arc);
	cr_assert_eq(evicted_bytes(arc), 0);
	abd_arc_destroy(arc);
}
