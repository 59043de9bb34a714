/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calibration with a made-up clock: the test decides which kernel is faster and how busy the
 * machine is, so it knows what calibration must choose.
 */
#include "abd_flush_span.h"
#include "abd_test.h"
#include "abd_cpu.h"

#define expect(condition) abd_test_child_expect(condition)

/* abd_flush_calibrate.c's. */
enum { SIZES = 7, ROUNDS = 3 };

static struct {
	int64_t now;
	unsigned reads;
	unsigned candidates; /* policies that promise as much as the best */
	size_t kernel[ABD_FLUSH_KERNELS_MAX];
	int64_t cost[ABD_FLUSH_KERNELS_MAX]; /* ns of a candidate's samples */
} fake;

static void fake_begin(void)
{
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];
	size_t count = abd_flush_supported(kernels);

	memset(&fake, 0, sizeof(fake));
	for (size_t i = 0; i < count; i++) {
		if (abd_flush_durability_of(kernels[i]) < abd_flush_durability_of(kernels[0]))
			continue;
		fake.cost[fake.candidates] = 1000000;
		fake.kernel[fake.candidates++] = i;
	}
}

/* Each sample is one burst and takes its 0.2 ms; what is between samples takes nothing. */
static int64_t quiet(void)
{
	fake.now += fake.reads++ % 2 != 0 ? 200000 : 1;
	return fake.now;
}

/*
 * So busy that the time is over before the first sample: one round. Two looks at the clock to a
 * sample, and one after a round.
 */
static int64_t busy(void)
{
	unsigned read = fake.reads++;

	if (read > 0) {
		unsigned within = (read - 1) % (2 * fake.candidates + 1);

		fake.now += within % 2 != 0 ? fake.cost[within / 2] : 100000000;
	}
	return fake.now;
}

static int calibrate(int64_t (*clock)(void))
{
	int error;

	abd_test_wrap_clock(CLOCK_THREAD_CPUTIME_ID, clock);
	error = abd_flush_calibrate();
	abd_test_wrap_clock(CLOCK_THREAD_CPUTIME_ID, NULL);
	return error;
}

static const struct abd_flush_kernel *kernel_of(unsigned candidate)
{
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];

	abd_flush_supported(kernels);
	return kernels[fake.kernel[candidate]];
}

static const char *name_of(unsigned candidate)
{
	return kernel_of(candidate)->name;
}

static bool is_cached(unsigned candidate)
{
	return kernel_of(candidate)->lines == NULL;
}

/*
 * The last candidate that copies through the cache, or around it; fake.candidates: there is none.
 */
static unsigned last_candidate(bool cached)
{
	unsigned last = fake.candidates;

	for (unsigned i = 0; i < fake.candidates; i++)
		if (is_cached(i) == cached)
			last = i;
	return last;
}

static const char *const row_names[] = {"flush_auto", "flush_shared", "flush_exclusive"};

static void rows_set(const char *text)
{
	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(abd_tuning_set(row_names[i], text), 0, "%s", text);
}

static void row_is(const char *row, const char *text)
{
	const char *now = abd_test_tunable(row);

	cr_assert_str_eq(now, text, "%s: %s, not %s", row, now, text);
}

Test(flush_calibrate, a_quiet_machine_is_measured_in_three_rounds_and_a_busy_one_in_one)
{
	fake_begin();
	cr_assert_eq(calibrate(busy), 0);
	cr_assert_eq(fake.reads, 1 + SIZES * (2 * fake.candidates + 1));
	fake_begin();
	cr_assert_eq(calibrate(quiet), 0);
	cr_assert_geq(fake.reads, 1 + SIZES * (2 * ROUNDS * fake.candidates + ROUNDS - 1));
}

Test(flush_calibrate, policies_that_are_not_told_apart_keep_their_places)
{
	char text[64];

	fake_begin();

	unsigned other = last_candidate(is_cached(0));

	snprintf(text, sizeof(text), "%s<=256,%s", name_of(other), name_of(0));
	rows_set(text);
	snprintf(text, sizeof(text), "%s", abd_test_tunable("flush_auto"));
	for (unsigned i = 0; i < fake.candidates; i++)
		fake.cost[i] = 1000000 - 4000 * (int64_t)i; /* 4 % in all */
	cr_assert_eq(calibrate(busy), 0);
	for (size_t i = 0; i < 3; i++)
		row_is(row_names[i], text);
}

Test(flush_calibrate, the_fastest_gets_the_row_but_through_the_cache_only_a_single_writer_s)
{
	unsigned cached, around;

	fake_begin();
	cached = last_candidate(true);
	around = last_candidate(false);
	if (cached == fake.candidates || around == fake.candidates)
		return; /* a machine that has one kind */
	rows_set(name_of(0));
	fake.cost[cached] = 300000;
	fake.cost[around] = 400000;
	cr_assert_eq(calibrate(busy), 0);
	row_is("flush_exclusive", name_of(cached));
	row_is("flush_auto", name_of(around));
	row_is("flush_shared", name_of(around));
	rows_set(name_of(0));
}

/* Whatever it costs: "portable" promises nothing where another does, and is not in the race. */
Test(flush_calibrate, who_may_not_be_in_a_row_loses_its_place)
{
	char text[64];

	fake_begin();
	if (strcmp(name_of(fake.candidates - 1), "portable") == 0)
		return;
	rows_set("portable");
	cr_assert_eq(calibrate(busy), 0);
	for (size_t i = 0; i < 3; i++)
		row_is(row_names[i], name_of(0));

	/* Between two sizes that are measured. */
	snprintf(text, sizeof(text), "%s<=64,portable<=128,%s", name_of(0), name_of(0));
	rows_set(text);
	cr_assert_eq(calibrate(busy), 0);
	for (size_t i = 0; i < 3; i++)
		row_is(row_names[i], name_of(0));
}

Test(flush_calibrate, a_place_between_two_sizes_that_another_has_stays_its)
{
	unsigned last;
	char text[64];

	fake_begin();
	last = last_candidate(false);
	if (last == fake.candidates || last == 0)
		return;
	snprintf(text, sizeof(text), "%s<=64,%s<=128,%s", name_of(0), name_of(last), name_of(0));
	rows_set(text);
	cr_assert_eq(calibrate(busy), 0);
	for (size_t i = 0; i < 3; i++)
		row_is(row_names[i], text);
	rows_set(name_of(0));
}

Test(flush_calibrate, without_memory_the_rows_stay)
{
	char text[3][ABD_PLAN_TEXT];

	for (size_t i = 0; i < 3; i++)
		snprintf(text[i], sizeof(text[i]), "%s", abd_test_tunable(row_names[i]));
	fake_begin();
	abd_test_wrap_fail(ABD_TEST_MMAP, 1);
	cr_assert_eq(calibrate(busy), -ENOMEM);
	abd_test_wrap_fail(ABD_TEST_MMAP, 0);
	cr_assert_eq(fake.reads, 0);
	for (size_t i = 0; i < 3; i++)
		row_is(row_names[i], text[i]);
}

/* All it has goes through the cache: then every row may. */
ABD_TEST_CHILD(flush_calibrate_all_cached)
{
	abd_test_cpu_hide(1u << ABD_CPU_SSE2 | 1u << ABD_CPU_AVX2 | 1u << ABD_CPU_AVX512BW |
			  1u << ABD_CPU_MOVDIR64B);
	fake_begin();
	expect(last_candidate(false) == fake.candidates);
	fake.cost[fake.candidates - 1] = 300000;
	expect(calibrate(busy) == 0);
	for (size_t i = 0; i < 3; i++)
		expect(strcmp(abd_test_tunable(row_names[i]), name_of(fake.candidates - 1)) == 0);
	return 0;
}

Test(flush_calibrate, where_there_is_no_other_way_than_through_the_cache_it_is_measured)
{
	if (!ABD_TEST_X86)
		cr_skip_test("features that are hidden here are x86's");
	abd_test_child_passes("flush_calibrate_all_cached", NULL);
}
