/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a capacity holds records: what is neither their stored bytes nor 160 bytes for each
 * of them is waste, whatever their sizes are. Written with arc.h alone in hand.
 */
#include "arc_data.h"

enum { LARGEST = 1 << 20 };

struct mix {
	const char *name;
	size_t smallest, octaves; /* each octave of sizes has as many records; 0: uniform, to */
	size_t to;
	double most[2]; /* waste in % of 64 MiB, and of 256, unless it is 0 */
};

static const struct mix mixes[] = {
	{"64 bytes to 64 KiB", 64, 10, 0, {5, 4}},
	{"64 bytes to 1 MiB", 64, 14, 0, {3.5, 3}},
	{"64 bytes to 4 KiB", 64, 6, 0, {6, 5.5}},
	{"64 bytes to 1 KiB", 64, 4, 0, {4.5, 4}},
	{"1,600 to 4,000 bytes", 1600, 0, 4000, {5.5, 5}},
	{"64 bytes to 8 KiB, uniform", 64, 0, 8192, {6.2, 5.5}},
	{"64 bytes to 64 KiB, uniform", 64, 0, 65536, {3.5, 3.5}},
	{"65 bytes", 65, 0, 66, {3, 0}},
	{"129 bytes", 129, 0, 130, {4, 0}},
	{"200 bytes", 200, 0, 201, {4, 0}},
	{"1,100 bytes", 1100, 0, 1101, {4.5, 0}},
	{"3,000 bytes", 3000, 0, 3001, {6.2, 0}},
};

static char data[2 * LARGEST];

static size_t size_of(const struct mix *mix, uint64_t *seed)
{
	size_t from = mix->smallest, to = mix->to;

	if (mix->octaves > 0) {
		from <<= abd_test_random(seed) % mix->octaves;
		to = 2 * from;
	}
	return from + (size_t)(abd_test_random(seed) % (to - from));
}

/* Put three times what fits; a third of the keys come back. Returns the waste in %, in the mean. */
static double waste_of(const struct mix *mix, size_t capacity)
{
	abd_arc_t *arc = arc_make(capacity, 0, 0);
	uint64_t seed = 1;
	double sum = 0;
	size_t looks = 0, bytes = 0;
	char byte;

	for (uint64_t n = 1; bytes < 3 * capacity; n++) {
		uint64_t old = abd_test_random(&seed) % n;
		size_t size = size_of(mix, &seed);

		(void)abd_arc_read(arc, arc_at(old), &byte, 0, 1);
		abd_test_check(abd_arc_put(arc, arc_at(n), data + n % 1000 * 64, size) == 0, "put");
		bytes += size;
		if (bytes < 2 * capacity || n % 64 != 0)
			continue;

		struct abd_arc_stats stats = arc_stats(arc);

		sum += (double)capacity - (double)stats.stored_bytes -
		       160.0 * (double)stats.entries;
		looks++;
	}
	abd_arc_destroy(arc);
	abd_cache_reap_now(); /* else its memory counts as other caches' for a while */
	return 100 * sum / (double)looks / (double)capacity;
}

Test(arc_packing, little_is_waste_whatever_the_sizes)
{
	static const size_t capacity[] = {(size_t)64 << 20, (size_t)256 << 20};

	arc_fill(data, sizeof(data), 1, 1, 64);
	for (size_t i = 0; i < abd_test_share(sizeof(mixes) / sizeof(mixes[0])); i++) {
		for (size_t j = 0; j < abd_test_share(2) && mixes[i].most[j] > 0; j++) {
			double waste = waste_of(&mixes[i], capacity[j]);

			cr_log_info(
				"%s: %.1f %% of %zu MiB", mixes[i].name, waste, capacity[j] >> 20);
			cr_expect(waste <= mixes[i].most[j], "%s: %.1f %% of %zu MiB",
				mixes[i].name, waste, capacity[j] >> 20);
		}
	}
}
