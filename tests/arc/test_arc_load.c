/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is loaded is what is sound, the best of it if there is little room; and no file does harm.
 */
#include "abd_arc_hold.h"
#include "abd_arc_save.h"
#include "arc_saved.h"

enum { CAPACITY = 4 << 20, SMALL = 24, ROOM = 64 << 10 };

static char bytes[ROOM], changed[ROOM], got[ROOM];

static void put(abd_arc_t *arc, uint64_t n, size_t size)
{
	arc_fill(got, size, n, 1, 64);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), got, size), 0);
}

/* Whether the cache has record n; then it is the right one. */
static bool has(abd_arc_t *arc, uint64_t n)
{
	char record[8192];
	size_t size;
	ssize_t result = abd_arc_read_all(arc, arc_at(n), got, sizeof(got), &size);

	if (result == -ENOENT)
		return false;
	arc_fill(record, size, n, 1, 64);
	abd_test_check(
		result == (ssize_t)size && memcmp(got, record, size) == 0, "%u", (unsigned)n);
	return true;
}

/* Load these bytes. */
static struct abd_arc_saved load(abd_arc_t *arc, const char *from, size_t size, int expected)
{
	struct abd_arc_saved loaded;
	int fd = arc_file(from, size), error = abd_arc_load(arc, fd, &loaded, sizeof(loaded));

	abd_test_check(error == expected, "%d instead of %d", error, expected);
	close(fd);
	return loaded;
}

/* ---- damage ---------------------------------------------------------------------------------- */

enum { FEW = 5, HEAD = 8 * ABD_ARC_SAVE_HEAD_WORDS, FRAME = 8 * ABD_ARC_SAVE_RECORD_WORDS + SMALL };

/* A save of a few small records. Returns its size. */
static size_t small_save(void)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	for (uint64_t n = 0; n < FEW; n++)
		put(arc, n, SMALL);
	size_t size = arc_saved_bytes(arc, bytes, sizeof(bytes));

	cr_assert_eq(size, HEAD + FEW * FRAME + FRAME - SMALL);
	abd_arc_destroy(arc);
	return size;
}

static uint64_t count_and_remove(abd_arc_t *arc)
{
	uint64_t there = 0;

	for (uint64_t n = 0; n < FEW; n++)
		there += has(arc, n);
	cr_assert_eq(arc_stats(arc).entries, there);
	abd_arc_remove_pool(arc, arc_key(0).pool);
	return there;
}

Test(abd_arc_load, each_changed_byte_costs_one_record_at_most)
{
	static const char change[] = {1, (char)0x80, (char)0xff};
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	size_t size = small_save();

	for (size_t at = 0; at < size; at++) {
		for (size_t i = 0; i < sizeof(change); i++) {
			memcpy(changed, bytes, size);
			changed[at] ^= change[i];
			struct abd_arc_saved loaded =
				load(arc, changed, size, at < HEAD ? -EBADMSG : 0);
			uint64_t lost = at < HEAD ? FEW : at < HEAD + FEW * FRAME;

			cr_assert_eq(loaded.records, FEW - lost, "byte %zu", at);
			cr_assert_eq(count_and_remove(arc), FEW - lost);
			cr_assert_eq(loaded.damaged, at >= HEAD);
			cr_assert_eq(loaded.is_complete, at >= HEAD && at < HEAD + FEW * FRAME);
		}
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_load, of_a_file_that_was_cut_off_what_is_whole_is_there)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	size_t size = small_save();

	for (size_t end = 0; end <= size; end++) {
		struct abd_arc_saved loaded = load(arc, bytes, end, end < HEAD ? -EBADMSG : 0);
		uint64_t whole = end < HEAD ? 0 : abd_min((end - HEAD) / FRAME, FEW);

		cr_assert_eq(loaded.records, whole);
		cr_assert_eq(count_and_remove(arc), whole);
		cr_assert_eq(loaded.file_bytes, end);
		cr_assert_eq(loaded.is_complete, end == size);
	}
	abd_arc_destroy(arc);
}

/* A sector that never came, or came twice. */
Test(abd_arc_load, what_follows_bytes_that_are_missing_or_too_many_is_found)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	size_t size = small_save();

	for (size_t at = HEAD; at + 50 < HEAD + (FEW - 1) * FRAME; at++) {
		memcpy(changed, bytes, at);
		memcpy(changed + at, bytes + at + 50, size - at - 50);
		struct abd_arc_saved loaded = load(arc, changed, size - 50, 0);

		cr_assert(
			loaded.records >= FEW - 2 && loaded.is_complete == 1 && loaded.damaged > 0);
		cr_assert_eq(count_and_remove(arc), loaded.records);

		memcpy(changed + at, bytes + at - 20, size - at + 20);
		loaded = load(arc, changed, size + 20, 0);
		cr_assert(
			loaded.records >= FEW - 2 && loaded.is_complete == 1 && loaded.damaged > 0);
		cr_assert_eq(count_and_remove(arc), loaded.records);
	}
	abd_arc_destroy(arc);
}

/* In a save whose head is damaged just in front of it. */
Test(abd_arc_load, a_record_that_is_itself_a_save_is_never_taken_for_a_part_of_one)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0), *two = arc_make(CAPACITY, 0, 0);
	size_t size = small_save();
	struct abd_arc_saved loaded;

	cr_assert_eq(abd_arc_put(arc, arc_at(1000), bytes, size), 0);
	size = arc_saved_bytes(arc, bytes, sizeof(bytes));
	bytes[HEAD] ^= 1;
	loaded = load(two, bytes, size, 0);
	cr_assert(loaded.records == 0 && loaded.damaged == 1 && loaded.is_complete == 1);
	abd_arc_destroy(arc);
	abd_arc_destroy(two);
}

/* ---- files made to harm ---------------------------------------------------------------------- */

/* Set words of the first record's head, and make its checksum agree. */
static void forge(size_t word, uint64_t value)
{
	uint64_t head[ABD_ARC_SAVE_RECORD_WORDS], salt;

	memcpy(changed, bytes, sizeof(changed));
	memcpy(&salt, bytes + 16, 8);
	memcpy(head, bytes + HEAD, sizeof(head));
	head[word] = htole64(value);
	head[1] = htole64(abd_arc_save_checksum(head + 2, sizeof(head) - 16, le64toh(salt)));
	memcpy(changed + HEAD, head, sizeof(head));
}

Test(abd_arc_load, sizes_that_cannot_be_are_refused)
{
	static const uint64_t sizes[] = {0, 1, SMALL - 1, SMALL + 1, ROOM, 0x7dffffff, 0x7e000000,
		0x7e000001, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
	enum { SIZES = sizeof(sizes) / sizeof(*sizes) };
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	size_t size = small_save();

	for (size_t i = 0; i < SIZES * SIZES; i++) {
		uint64_t logical = sizes[i / SIZES], stored = sizes[i % SIZES];

		forge(6, logical | stored << 32);
		struct abd_arc_saved loaded = load(arc, changed, size, 0);

		/* Bytes behind what it says it has are no head. */
		cr_assert(loaded.damaged + loaded.skipped >= 1 && loaded.damaged <= 2);
		cr_assert_leq(loaded.records, FEW - 1);
		(void)abd_arc_remove_pool(arc, arc_key(0).pool);
	}
	for (size_t i = 1; i < SIZES; i++) {
		forge(7, sizes[i]); /* an index of so many bytes */
		struct abd_arc_saved loaded = load(arc, changed, size, 0);

		cr_assert(loaded.damaged + loaded.skipped >= 1 && loaded.records <= FEW - 1);
		(void)abd_arc_remove_pool(arc, arc_key(0).pool);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_load, random_heads_with_right_checksums_do_no_harm)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	size_t size = small_save(), ops = abd_test_share(3000);
	uint64_t state = 1;

	for (size_t i = 0; i < ops; i++) {
		uint64_t value = abd_test_random(&state) >> abd_test_random_below(&state, 64);

		forge(2 + abd_test_random_below(&state, 7), value);
		(void)load(arc, changed, size, 0);
		abd_arc_remove_pool(arc, arc_key(0).pool);
	}
	abd_arc_destroy(arc);
}

/* Bytes of a block are the file's author's; who reads them learns that they are none. */
Test(abd_arc_load, what_is_no_block_is_found_when_it_is_read)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	size_t size = small_save();
	char part[100];

	forge(6, 100 | (uint64_t)SMALL << 32);
	cr_assert_eq(load(arc, changed, size, 0).records, FEW);
	ssize_t result = 0;

	for (uint64_t n = 0; n < FEW; n++) {
		ssize_t one = abd_arc_read(arc, arc_at(n), part, 0, 100);

		cr_assert(one == -EINVAL || one == -EBADMSG || one == 100);
		result += one == -EBADMSG;
	}
	cr_assert_eq(result, 1);
	abd_arc_destroy(arc);
}

Test(abd_arc_load, of_two_records_of_a_key_the_first_stays)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	size_t size = small_save();

	memcpy(changed, bytes, HEAD + FRAME);
	memcpy(changed + HEAD + FRAME, bytes + HEAD, size - HEAD);
	struct abd_arc_saved loaded = load(arc, changed, size + FRAME, 0);

	cr_assert(loaded.records == FEW && loaded.skipped == 1 && loaded.damaged == 0);
	cr_assert_eq(count_and_remove(arc), FEW);
	abd_arc_destroy(arc);
}

Test(abd_arc_load, another_version_or_no_save_at_all_is_refused)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	size_t size = small_save();
	struct abd_arc_saved loaded;
	int folder = open(".", O_RDONLY);

	bytes[7] = 2;
	load(arc, bytes, size, -EBADMSG);
	load(arc, "", 0, -EBADMSG);
	cr_assert_eq(abd_arc_load(arc, folder, &loaded, sizeof(loaded)), -EISDIR);
	cr_assert_eq(abd_arc_load(arc, -1, &loaded, sizeof(loaded)), -EBADF);
	cr_assert_eq(abd_arc_load(arc, -1, &loaded, 0), -EINVAL);
	cr_assert_eq(abd_arc_load(arc, -1, &loaded, 4), -EINVAL);
	abd_test_breaks(abd_arc_load, NULL, 0, &loaded, 8);
	abd_test_breaks(abd_arc_load, arc, 0, NULL, 8);
	close(folder);
	abd_arc_destroy(arc);
}

/* ---- where to -------------------------------------------------------------------------------- */

enum { MANY = 1000, RECORD = 1500 };

/* The first half was used often, and of it what comes first is the oldest. */
static int large_save(size_t shards)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = CAPACITY,
		.hit_batch = 1,
		.shards = shards};
	abd_arc_t *arc = abd_arc_create(&config);
	int fd = arc_file(NULL, 0);

	for (uint64_t n = 0; n < MANY; n++)
		put(arc, n, RECORD);
	for (uint64_t n = 0; n < MANY / 2; n++)
		cr_assert_eq(abd_arc_read(arc, arc_at(n), got, 0, RECORD), RECORD);
	cr_assert_eq(arc_save(arc, fd).records, MANY);
	abd_arc_destroy(arc);
	return fd;
}

static uint64_t count_between(abd_arc_t *arc, uint64_t from, uint64_t to)
{
	uint64_t there = 0;

	for (uint64_t n = from; n < to; n++)
		there += arc_contains(arc, n);
	return there;
}

/* The key of each record in a list, the newest first. */
static size_t list_of(const struct abd_arc_list *list, uint64_t *keys)
{
	size_t count = 0;

	for (struct abd_arc_link *link = list->head.next; link != &list->head; link = link->next)
		keys[count++] = abd_arc_link_entry(link)->key.dva[0];
	return count;
}

Test(abd_arc_load, the_lists_are_as_they_were)
{
	uint64_t keys[MANY];
	int fd = large_save(1);
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	if (arc->shards > 1) { /* each has lists of its own */
		abd_arc_destroy(arc);
		return;
	}
	cr_assert_eq(arc_load(arc, fd).records, MANY);
	cr_assert_eq(list_of(&arc->policy.frequent, keys), MANY / 2);
	for (uint64_t n = 0; n < MANY / 2; n++)
		cr_assert_eq(keys[n], MANY / 2 - 1 - n);
	cr_assert_eq(list_of(&arc->policy.recent, keys), MANY / 2);
	for (uint64_t n = 0; n < MANY / 2; n++)
		cr_assert_eq(keys[n], MANY - 1 - n);

	/* What comes later is newer, and what was loaded is evicted in its order. */
	put(arc, MANY, RECORD);
	cr_assert_eq(list_of(&arc->policy.recent, keys), MANY / 2 + 1);
	cr_assert_eq(keys[0], MANY);
	for (uint64_t n = 0; n < 10; n++) {
		struct abd_arc_item *victim = abd_arc_policy_victim(&arc->policy, false);

		cr_assert_eq(abd_arc_entry_of(victim)->key.dva[0], MANY / 2 + n);
		abd_arc_drop(arc, abd_arc_entry_of(victim));
	}
	close(fd);
	abd_arc_destroy(arc);
}

/* They are a quarter of the cache: some 200 KiB less than half of the records that were saved. */
Test(abd_arc_load, a_smaller_cache_has_the_best)
{
	static const size_t shards[][2] = {{1, 1}, {1, 4}, {8, 1}, {4, 2}};

	for (size_t i = 0; i < sizeof(shards) / sizeof(*shards); i++) {
		struct abd_arc_config config = {.config_size = sizeof(config),
			.capacity_bytes = 600 << 10,
			.shards = shards[i][1]};
		abd_arc_t *arc = abd_arc_create(&config);
		int fd = large_save(shards[i][0]);
		struct abd_arc_saved loaded = arc_load(arc, fd);
		struct abd_arc_stats now = arc_stats(arc);

		cr_assert(now.used_bytes <= now.capacity_bytes && now.evictions == 0);
		cr_assert(now.used_bytes > now.capacity_bytes * 3 / 4, "%u",
			(unsigned)now.used_bytes);
		cr_assert_eq(loaded.is_complete, 1);
		cr_assert_eq(loaded.records, now.entries);
		/* T1's target was 0. */
		cr_assert_eq(count_between(arc, MANY / 2, MANY), 0);
		/* The newest, but for what differs between shards. */
		uint64_t newest = count_between(arc, MANY / 2 - now.entries, MANY / 2);

		cr_assert(newest >= now.entries * (shards[i][1] > 1 ? 80 : 95) / 100, "%u of %u",
			(unsigned)newest, (unsigned)now.entries);
		close(fd);
		abd_arc_destroy(arc);
	}
}

/* A record that no cache so small can have is passed over, and no memory is taken for it. */
Test(abd_arc_load, what_is_too_large_is_passed_over)
{
	enum { LARGE = 3 << 20 };
	abd_arc_t *arc = arc_make(2 * LARGE, 0, 0), *two = arc_make(1 << 20, 0, 0);
	char *large = malloc(LARGE);
	int fd = arc_file(NULL, 0);
	struct abd_arc_saved loaded;

	if (arc->shards > 1)
		goto out;
	arc_fill(large, LARGE, 5, 1, 64);
	put(arc, 1, 100);
	cr_assert_eq(abd_arc_put(arc, arc_at(5), large, LARGE), 0);
	put(arc, 2, 100);
	cr_assert_eq(arc_save(arc, fd).records, 3);
	loaded = arc_load(two, fd);
	cr_assert(loaded.records == 2 && loaded.skipped == 1 && loaded.is_complete == 1);
	cr_assert(has(two, 1) && has(two, 2));
	/* Into one that can, it goes whole, through more than one read. */
	abd_arc_destroy(two);
	two = arc_make(2 * LARGE, 0, 0);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_eq(arc_load(two, fd).records, 3);
	memset(large, 0, LARGE);
	cr_assert_eq(abd_arc_read(two, arc_at(5), large, 0, LARGE), LARGE);
	char *expected = malloc(LARGE);

	arc_fill(expected, LARGE, 5, 1, 64);
	cr_assert_eq(memcmp(large, expected, LARGE), 0);
	free(expected);
out:
	free(large);
	close(fd);
	abd_arc_destroy(arc);
	abd_arc_destroy(two);
}

Test(abd_arc_load, nothing_makes_way_and_no_fill_is_overtaken)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	size_t size = small_save();
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	char record[4];

	cr_assert_eq(abd_arc_put(arc, arc_at(0), "new", 4), 0);
	cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(1), 4, 0, &hold, &fill), 1);
	struct abd_arc_saved loaded = load(arc, bytes, size, 0);

	cr_assert(loaded.records == FEW - 2 && loaded.skipped == 2);
	cr_assert_eq(arc_stats(arc).replaces, 0);
	abd_copy_from_buf(fill.abd, "new", 4);
	cr_assert_eq(abd_arc_fill_commit(&fill, 4, 4, 0, NULL), 0);
	for (uint64_t n = 0; n < 2; n++) {
		cr_assert_eq(abd_arc_read(arc, arc_at(n), record, 0, 4), 4);
		cr_assert_arr_eq(record, "new", 4);
	}
	abd_arc_destroy(arc);
}

/* Nor where first puts are only remembered, or metadata may have no more. */
Test(abd_arc_load, into_a_cache_with_other_rules)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = CAPACITY,
		.flags = ABD_ARC_SECOND_TIME | ABD_ARC_CHECKSUM,
		.metadata_max_bytes = CAPACITY / 32,
		.shards = arc_shards(CAPACITY)};
	abd_arc_t *one = arc_make(CAPACITY, 0, 0), *two = abd_arc_create(&config);
	int fd = arc_file(NULL, 0);
	struct abd_arc_stats now;

	for (uint64_t n = 0; n < 200; n++) {
		arc_fill(got, RECORD, n, 1, 64);
		cr_assert_eq(abd_arc_put_flags(
				     one, arc_at(n), got, RECORD, n % 2 ? ABD_ARC_METADATA : 0),
			0);
	}
	cr_assert_eq(arc_save(one, fd).records, 200);
	struct abd_arc_saved loaded = arc_load(two, fd);

	now = arc_stats(two);
	cr_assert_eq(now.remembered, 0);
	cr_assert_eq(now.entries, loaded.records);
	cr_assert(now.metadata_entries > 20 && now.metadata_entries < 100);
	cr_assert_eq(now.entries - now.metadata_entries, 100, "the others have room");
	cr_assert_leq(now.metadata_bytes, CAPACITY / 32);
	cr_assert_eq(now.evictions, 0);
	for (uint64_t n = 0; n < 200; n++)
		cr_assert(has(two, n) || n % 2 == 1, "%u", (unsigned)n);
	close(fd);
	abd_arc_destroy(one);
	abd_arc_destroy(two);
}

Test(abd_arc_load, what_t1_should_have_comes_with_it)
{
	abd_arc_t *one = arc_make(CAPACITY, 0, 0), *two = arc_make(CAPACITY / 2, 0, 0);
	int fd = arc_file(NULL, 0);

	for (uint32_t i = 0; i < one->shards; i++)
		one[i].policy.target_recent = one[i].policy.capacity / 4;
	put(one, 1, 100);
	arc_save(one, fd);
	arc_load(two, fd);
	size_t target = two->policy.target_recent, part = two->policy.capacity / 4;

	cr_assert(target <= part && target + part / 100 >= part, "%zu of %zu", target, part);
	close(fd);
	abd_arc_destroy(one);
	abd_arc_destroy(two);
}

Test(abd_arc_load, without_memory_what_was_loaded_stays)
{
	int fd = large_save(1), error = -ENOMEM;
	struct abd_arc_saved loaded;

	for (size_t n = 0; error == -ENOMEM; n += 1 + n / 8) {
		abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

		cr_assert(n < 3000);
		cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
		abd_test_fault_from(n);
		error = abd_arc_load(arc, fd, &loaded, sizeof(loaded));
		abd_test_fault_end();
		cr_assert(error == 0 || error == -ENOMEM, "%d", error);
		cr_assert_eq(arc_stats(arc).entries, loaded.records);
		cr_assert_eq(loaded.is_complete, error == 0);
		for (uint64_t at = 0; at < MANY; at += 50)
			(void)has(arc, at);
		abd_arc_destroy(arc);
	}
	close(fd);
}

/* Memory for it is refused when it is read, and when it is put. What is behind it comes in. */
Test(abd_arc_load, a_large_record_for_which_there_is_no_memory_is_passed_over)
{
	enum { LARGE = 3 << 20 };
	abd_arc_t *arc = arc_make(2 * LARGE, 0, 0);
	char *large = malloc(LARGE);
	int fd = arc_file(NULL, 0), error = -ENOMEM;
	unsigned left_out = 0;
	struct abd_arc_saved loaded = {.skipped = 1};

	if (arc->shards > 1)
		goto out;
	arc_fill(large, LARGE, 5, 1, 64);
	put(arc, 1, 100);
	cr_assert_eq(abd_arc_put(arc, arc_at(5), large, LARGE), 0);
	put(arc, 2, 100);
	cr_assert_eq(arc_save(arc, fd).records, 3);
	for (size_t n = 0; error != 0 || loaded.records < 3; n++) {
		abd_arc_t *two = arc_make(2 * LARGE, 0, 0);

		cr_assert(n < 1000);
		cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
		abd_test_fault_at(n);
		error = abd_arc_load(two, fd, &loaded, sizeof(loaded));
		abd_test_fault_end();
		cr_assert(error == 0 || error == -ENOMEM, "%d", error);
		cr_assert_eq(loaded.is_complete, error == 0);
		cr_assert_eq(arc_stats(two).entries, loaded.records);
		if (error == 0 && loaded.records < 3) {
			cr_assert(loaded.records == 2 && loaded.skipped == 1);
			cr_assert(has(two, 1) && has(two, 2));
			left_out++;
		}
		abd_arc_destroy(two);
	}
	cr_assert_geq(left_out, 2);
out:
	free(large);
	close(fd);
	abd_arc_destroy(arc);
}
