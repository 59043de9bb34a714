/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calibration with a made-up clock: the test decides which kernel is faster and how busy the
 * machine is, so it knows what calibration must choose.
 */
#include "abd_cpu.h"
#include "abd_flush_span.h"
#include "abd_test.h"

#define expect(condition) abd_test_child_expect(condition)

enum { SIZES = 13, ROUNDS = 2 }; /* abd_flush_calibrate.c's */

static struct {
	int64_t now;
	unsigned reads;
	unsigned count; /* of candidates: kernels that promise as much as the first */
	const struct abd_flush_kernel *kernel[ABD_FLUSH_KERNELS_MAX];
	int64_t cost[ABD_FLUSH_KERNELS_MAX]; /* ns of a candidate's samples */
} fake;

static const char *const plans[] = {"flush_auto", "flush_shared", "flush_exclusive"};

/* All plans are text; every candidate costs the same. */
static void begin_with(const char *text)
{
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];
	size_t count = abd_flush_supported(kernels);

	memset(&fake, 0, sizeof(fake));
	for (size_t i = 0; i < count; i++) {
		if (abd_flush_durability_of(kernels[i]) < abd_flush_durability_of(kernels[0]))
			continue;
		fake.cost[fake.count] = 1000000;
		fake.kernel[fake.count++] = kernels[i];
	}
	for (size_t i = 0; i < 3; i++)
		abd_tuning_set(plans[i], text != NULL ? text : kernels[0]->name);
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
		unsigned within = (read - 1) % (2 * fake.count + 1);

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

/* The last candidate of its kind; fake.count: there is none. */
static unsigned last_candidate(bool cached)
{
	unsigned last = fake.count;

	for (unsigned i = 0; i < fake.count; i++)
		if ((fake.kernel[i]->lines == NULL) == cached)
			last = i;
	return last;
}

static void plans_are(const char *text)
{
	for (size_t i = 0; i < 3; i++)
		cr_assert_str_eq(abd_test_tunable(plans[i]), text, "%s: %s, not %s", plans[i],
			abd_test_tunable(plans[i]), text);
}

static void end(void)
{
	abd_test_tunables_restore();
}

TestSuite(flush_calibrate, .fini = end);

Test(flush_calibrate, a_quiet_machine_is_measured_in_two_rounds_and_a_busy_one_in_one)
{
	begin_with(NULL);
	cr_assert_eq(calibrate(busy), 0);
	cr_assert_eq(fake.reads, 1 + SIZES * (2 * fake.count + 1));
	begin_with(NULL);
	cr_assert_eq(calibrate(quiet), 0);
	cr_assert_geq(fake.reads, 1 + SIZES * (2 * ROUNDS * fake.count + ROUNDS - 1));
}

Test(flush_calibrate, kernels_that_are_not_told_apart_keep_their_places)
{
	char text[64];
	unsigned other;

	begin_with(NULL);
	other = last_candidate(fake.kernel[0]->lines == NULL);
	snprintf(text, sizeof(text), "%s<=64,%s", fake.kernel[0]->name, fake.kernel[other]->name);
	begin_with(text);
	snprintf(text, sizeof(text), "%s", abd_test_tunable("flush_auto"));
	for (unsigned i = 0; i < fake.count; i++)
		fake.cost[i] = 1000000 - 4000 * (int64_t)i; /* 4 % in all */
	cr_assert_eq(calibrate(busy), 0);
	plans_are(text);
}

Test(flush_calibrate, the_fastest_wins_but_through_the_cache_only_a_single_writer_s_plan)
{
	unsigned cached, around;

	begin_with(NULL);
	cached = last_candidate(true);
	around = last_candidate(false);
	if (cached == fake.count || around == fake.count)
		return; /* a machine that has one kind */
	fake.cost[cached] = 300000;
	fake.cost[around] = 400000;
	cr_assert_eq(calibrate(busy), 0);
	cr_assert_str_eq(abd_test_tunable("flush_exclusive"), fake.kernel[cached]->name);
	cr_assert_str_eq(abd_test_tunable("flush_auto"), fake.kernel[around]->name);
	cr_assert_str_eq(abd_test_tunable("flush_shared"), fake.kernel[around]->name);
}

/* Whatever it costs: "portable" promises nothing where another does, and is not in the race. */
Test(flush_calibrate, a_kernel_that_promises_less_loses_its_place)
{
	char text[64];

	begin_with(NULL);
	if (strcmp(fake.kernel[fake.count - 1]->name, "portable") == 0)
		return;
	snprintf(text, sizeof(text), "%s<=64,portable<=128,%s", fake.kernel[0]->name,
		fake.kernel[0]->name);
	begin_with(text);
	cr_assert_eq(calibrate(busy), 0);
	plans_are(fake.kernel[0]->name);
}

Test(flush_calibrate, without_memory_the_plans_stay)
{
	begin_with("portable");
	abd_test_wrap_fail(ABD_TEST_MMAP, 1);
	cr_assert_eq(calibrate(busy), -ENOMEM);
	abd_test_wrap_fail(ABD_TEST_MMAP, 0);
	cr_assert_eq(fake.reads, 0);
	plans_are("portable");
}

/* All it has goes through the cache: then every plan may. */
ABD_TEST_CHILD(flush_calibrate_all_cached)
{
	abd_test_cpu_hide(1u << ABD_CPU_SSE2 | 1u << ABD_CPU_AVX2 | 1u << ABD_CPU_AVX512 |
			  1u << ABD_CPU_MOVDIR64B);
	begin_with(NULL);
	expect(last_candidate(false) == fake.count);
	fake.cost[fake.count - 1] = 300000;
	expect(calibrate(busy) == 0);
	for (size_t i = 0; i < 3; i++)
		expect(strcmp(abd_test_tunable(plans[i]), fake.kernel[fake.count - 1]->name) == 0);
	return 0;
}

Test(flush_calibrate, where_there_is_no_other_way_than_through_the_cache_it_is_measured)
{
	if (!ABD_TEST_X86)
		cr_skip_test("features that are hidden here are x86's");
	abd_test_child_passes("flush_calibrate_all_cached", NULL);
}
