/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/flush by itself: what is sent where (by the recording backend), what the real kernels write
 * (against a flat array, between guard pages), which policy is chosen.
 */
#include "flush_recorder.h"

#include "abd_cpu.h"

#include "abd_test.h"

#define SIZE_MAX_TESTED 8192
#define PAGE ((size_t)4096)

static bool flush_long(void)
{
	return getenv("ABD_TEST_LONG") != NULL;
}

/*
 * Sizes 0 to 8,192: all of them in a long run; else all small ones, the neighbourhoods of powers of
 * two, a sprinkling.
 */
static size_t flush_next_size(size_t size)
{
	size_t near = (size + 1) & 511;

	if (flush_long() || size < 260 || near <= 1 || near == 511)
		return size + 1;
	return size + abd_min(61, 511 - near);
}

static _Alignas(64) uint8_t flush_source[SIZE_MAX_TESTED + 256];
static _Alignas(64) uint8_t flush_target[SIZE_MAX_TESTED + 256];
static uint8_t flush_model[SIZE_MAX_TESTED + 256];

static void flush_fill(void)
{
	uint64_t state = 4;

	for (size_t i = 0; i < sizeof(flush_source); i++) {
		flush_source[i] = (uint8_t)abd_test_random(&state);
		flush_target[i] = (uint8_t)(i * 7);
	}
	memcpy(flush_model, flush_target, sizeof(flush_model));
}

/* One span of size bytes at head of a line. */
static void flush_case(
	const struct abd_flush_kernel *kernel, size_t size, size_t head, unsigned flags)
{
	bool drained = (flags & ABD_FLUSH_NODRAIN) == 0;
	struct abd_flush_walk walk;
	const char *fault;

	recorder_reset();
	recorder_expect(flush_target + 64 + head, size);
	abd_flush_begin(&walk, __func__, size, flags);
	if (size > 0)
		abd_flush_span(&walk, flush_target + 64 + head, flush_source + size % 61, size);
	abd_flush_end(&walk, flags);
	fault = recorder_fault(drained);
	abd_test_check(fault == NULL, "%s: %zu bytes at %zu: %s", kernel->name, size, head, fault);
	if (!drained) {
		abd_flush_drain();
		fault = recorder_fault(true);
		abd_test_check(fault == NULL, "%s: drain after %zu bytes at %zu: %s", kernel->name,
			size, head, fault);
	}
	memcpy(flush_model + 64 + head, flush_source + size % 61, size);
}

static void flush_every_case(unsigned flags)
{
	flush_fill();
	for (size_t p = 0; p < RECORDER_KERNELS; p++) {
		flush_force(&recorder_kernels[p]);
		for (size_t size = 0; size <= SIZE_MAX_TESTED; size = flush_next_size(size)) {
			size_t step = flush_long() || size < 260 ? 1 : 9;

			for (size_t head = 0; head < 64; head += step)
				flush_case(&recorder_kernels[p], size, head, flags);
			abd_test_check(memcmp(flush_target, flush_model, sizeof(flush_model)) == 0,
				"%s: after spans of %zu bytes the content is wrong",
				recorder_kernels[p].name, size);
		}
	}
	flush_force(NULL);
}

Test(flush, every_line_is_sent_once_and_one_fence_follows)
{
	flush_every_case(0);
}

Test(flush, nodrain_leaves_the_fence_to_drain)
{
	flush_every_case(ABD_FLUSH_NODRAIN);
}

/*
 * 8 bytes after 8 bytes: around the cache if more may follow in the line, through it if a drain
 * follows, or if the size is of no whole words.
 */
Test(flush, words_go_around_the_cache_where_more_may_follow)
{
	struct recorder_line *line;

	flush_fill();
	flush_force(&recorder_kernels[1]);
	cr_assert_not_null(recorder_kernels[1].words);
	line = recorder_find((uintptr_t)flush_target + 64);
	flush_case(&recorder_kernels[1], 24, 8, ABD_FLUSH_NODRAIN);
	cr_assert(line->words == 0xffffff00 && line->flushes == 0);
	flush_case(&recorder_kernels[1], 24, 12, ABD_FLUSH_NODRAIN);
	cr_assert(line->words == 0 && line->flushes == 1);
	flush_case(&recorder_kernels[1], 60, 40, ABD_FLUSH_NODRAIN);
	cr_assert(line->words == 0 && line->flushes == 1);
	flush_case(&recorder_kernels[1], 24, 8, 0);
	cr_assert(line->words == 0 && line->flushes == 1);
	flush_force(NULL);
}

/*
 * Spans that go on where the one before ended, within lines: the line between is sent once, after
 * the second wrote to it.
 */
Test(flush, a_line_shared_by_two_spans_is_sent_once_after_both)
{
	flush_fill();
	for (size_t p = 0; p < RECORDER_KERNELS; p++)
		for (size_t first = 1; first < 300; first++)
			for (size_t second = 1; second < 300; second += 7) {
				struct abd_flush_walk walk;
				uint8_t *dst = flush_target + 64 + first % 67;
				size_t third = first % 5;
				const char *fault;

				flush_force(&recorder_kernels[p]);
				recorder_reset();
				recorder_expect(dst, first + second + third);
				abd_flush_begin(&walk, __func__, first + second, 0);
				abd_flush_span(&walk, dst, flush_source, first);
				abd_flush_span(&walk, dst + first, flush_source + first, second);
				if (third > 0)
					abd_flush_span(&walk, dst + first + second,
						flush_source + first + second, third);
				abd_flush_end(&walk, 0);
				fault = recorder_fault(true);
				abd_test_check(fault == NULL, "%s: %zu + %zu + %zu bytes: %s",
					recorder_kernels[p].name, first, second, third, fault);
				abd_test_check(
					memcmp(dst, flush_source, first + second + third) == 0,
					"%s: wrong content", recorder_kernels[p].name);
			}
	flush_force(NULL);
}

/*
 * Spans that end within a line and go on elsewhere, as a gang's children lie: the line they leave
 * is sent all the same.
 */
Test(flush, a_line_that_a_span_leaves_half_written_is_sent)
{
	flush_fill();
	for (size_t p = 0; p < RECORDER_KERNELS; p++)
		for (size_t first = 1; first < 200; first++)
			for (size_t second = 1; second < 200; second += 9) {
				struct abd_flush_walk walk;
				uint8_t *far = flush_target + 4096 + second % 64;
				const char *fault;

				flush_force(&recorder_kernels[p]);
				recorder_reset();
				recorder_expect(flush_target, first);
				recorder_expect(far, second);
				abd_flush_begin(&walk, __func__, first + second, 0);
				abd_flush_span(&walk, flush_target, flush_source, first);
				abd_flush_span(&walk, far, flush_source + first, second);
				abd_flush_end(&walk, 0);
				fault = recorder_fault(true);
				abd_test_check(fault == NULL, "%s: %zu bytes, %zu elsewhere: %s",
					recorder_kernels[p].name, first, second, fault);
			}
	flush_force(NULL);
}

/*
 * Bug 28 of tests/plants, first half: pmdk #5292. A copy whose lines were all written back and not
 * fenced is not durable.
 */
Test(flush, bug_28_a_missing_fence_is_seen)
{
	flush_fill();
	for (size_t p = 0; p < RECORDER_KERNELS; p++) {
		flush_force(&recorder_kernels[p]);
		flush_case(&recorder_kernels[p], 100, 30, 0); /* head and tail only */
		flush_case(&recorder_kernels[p], 128, 0, 0);  /* whole lines only */
		flush_case(&recorder_kernels[p], 8, 0, 0);    /* within one line */
	}
	flush_force(NULL);
}

/*
 * Bug 28 of tests/plants, second half: pmdk 05130a5f5. A range that begins late in a line and ends
 * early in another touches one line more than its length says.
 */
Test(flush, bug_28_an_unaligned_range_reaches_its_last_line)
{
	flush_fill();
	for (size_t p = 0; p < RECORDER_KERNELS; p++) {
		flush_force(&recorder_kernels[p]);
		flush_case(&recorder_kernels[p], 2, 63, 0);
		flush_case(&recorder_kernels[p], 64, 1, 0);
		flush_case(&recorder_kernels[p], 64, 63, 0);
		flush_case(&recorder_kernels[p], 130, 63, 0);
		flush_case(&recorder_kernels[p], 4096, 60, 0);
	}
	flush_force(NULL);
}

/* Two pages of memory between two that can't be touched. */
static uint8_t *flush_guarded(void)
{
	uint8_t *map = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(map != MAP_FAILED);
	cr_assert(mprotect(map + PAGE, 2 * PAGE, PROT_READ | PROT_WRITE) == 0);
	return map + PAGE;
}

static void flush_content_case(
	uint8_t *dst, uint8_t *dst_page, const uint8_t *src, size_t size, const char *name)
{
	struct abd_flush_walk walk;
	size_t before = (size_t)(dst - dst_page), after = 2 * PAGE - before - size;

	memset(dst_page, 0xa5, 2 * PAGE);
	abd_flush_begin(&walk, __func__, size, 0);
	if (size > 0)
		abd_flush_span(&walk, dst, src, size);
	abd_flush_end(&walk, 0);
	abd_test_check(
		memcmp(dst, src, size) == 0, "%s: %zu bytes at %zu differ", name, size, before);
	for (size_t i = 0; i < before; i++)
		abd_test_check(dst_page[i] == 0xa5, "%s: %zu bytes at %zu: byte %zu before changed",
			name, size, before, before - i);
	for (size_t i = 0; i < after; i++)
		abd_test_check(dst[size + i] == 0xa5,
			"%s: %zu bytes at %zu: byte %zu behind changed", name, size, before, i);
}

/*
 * Destination at every place of a line from the guard's end, or up to the guard; the source up to
 * its guard.
 */
Test(flush, every_policy_of_this_cpu_copies_as_memcpy_between_guard_pages)
{
	uint8_t *dst = flush_guarded(), *src = flush_guarded();
	uint64_t state = 28;
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];
	size_t count = abd_flush_supported(kernels);

	for (size_t i = 0; i < 2 * PAGE; i++)
		src[i] = (uint8_t)abd_test_random(&state);
	for (size_t p = 0; p < count; p++) {
		const char *name = kernels[p]->name;

		cr_assert(abd_tuning_set("flush", name) == 0, "%s is listed, not taken", name);
		cr_assert(strcmp(abd_test_tunable("flush"), name) == 0);
		for (size_t size = 0; size <= 2 * PAGE - 64; size += size < 321 ? 1 : 173) {
			const uint8_t *from = src + 2 * PAGE - size;

			for (size_t head = 0; head < 64; head += flush_long() ? 1 : 5)
				flush_content_case(dst + head, dst, from, size, name);
			flush_content_case(dst + 2 * PAGE - size, dst, from, size, name);
			flush_content_case(dst + 2 * PAGE - size, dst, src, size, name);
		}
	}
	cr_assert(abd_tuning_set("flush", "auto") == 0);
	munmap(dst - PAGE, 4 * PAGE);
	munmap(src - PAGE, 4 * PAGE);
}

/* The same bytes on both sides: nothing changes, everything is sent. */
Test(flush, a_copy_onto_itself_changes_nothing)
{
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];
	size_t count = abd_flush_supported(kernels);

	flush_fill();
	for (size_t p = 0; p < count; p++) {
		struct abd_flush_walk walk;

		flush_force(kernels[p]);
		abd_flush_begin(&walk, __func__, 5000, 0);
		abd_flush_span(&walk, flush_target + 3, flush_target + 3, 5000);
		abd_flush_end(&walk, 0);
		abd_test_check(memcmp(flush_target, flush_model, sizeof(flush_model)) == 0, "%s",
			kernels[p]->name);
	}
	flush_force(NULL);
}

static void *flush_neighbour(void *arg)
{
	_Atomic uint8_t *byte = arg;

	for (unsigned i = 0; i < 20000; i++)
		atomic_fetch_add(byte, 1);
	return NULL;
}

/* Another thread counts in a byte of the line that holds the copy's head, or its tail. */
Test(flush, neighbours_that_another_thread_writes_meanwhile_are_kept)
{
	static _Alignas(64) uint8_t target[320];
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];
	size_t count = abd_flush_supported(kernels);

	flush_fill();
	for (size_t p = 0; p < count; p++) {
		_Atomic uint8_t *before = (_Atomic uint8_t *)&target[0];
		_Atomic uint8_t *behind = (_Atomic uint8_t *)&target[319];
		pthread_t threads[2];

		memset(target, 0, sizeof(target));
		flush_force(kernels[p]);
		cr_assert(pthread_create(&threads[0], NULL, flush_neighbour, (void *)before) == 0);
		cr_assert(pthread_create(&threads[1], NULL, flush_neighbour, (void *)behind) == 0);
		for (unsigned i = 0; i < 20000; i++) {
			struct abd_flush_walk walk;

			abd_flush_begin(&walk, __func__, 318, 0);
			abd_flush_span(&walk, target + 1, flush_source, 318);
			abd_flush_end(&walk, 0);
		}
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
		cr_assert(*before == (uint8_t)20000, "%s lost a write in front", kernels[p]->name);
		cr_assert(*behind == (uint8_t)20000, "%s lost a write behind", kernels[p]->name);
	}
	flush_force(NULL);
}

Test(flush, unknown_flags_break_the_contract)
{
	static const unsigned unknown[] = {3, 4, 1 << 7, 1 << 9, ABD_FLUSH_NODRAIN | 3, 1u << 31};

	for (volatile size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		abd_test_expect_contract(abd_flush_choose("call", 1, unknown[i]), "flags");
	for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS; intent++) {
		cr_assert(abd_flush_choose("call", 1, intent) != NULL);
		cr_assert(abd_flush_choose("call", 1, intent | ABD_FLUSH_NODRAIN) ==
			  abd_flush_choose("call", 1, intent));
	}
}

Test(flush, the_portable_policy_promises_no_durability)
{
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];

	abd_flush_supported(kernels);
	cr_assert(abd_flush_durability() == abd_flush_durability_of(kernels[0]));
	cr_assert(abd_tuning_set("flush", "portable") == 0);
	cr_assert(abd_flush_durability() == ABD_FLUSH_DURABILITY_NONE);
	cr_assert(abd_tuning_set("flush", "auto") == 0);
	/* The kernels are of x86-64. */
	if (sizeof(void *) == 8 && abd_cpu_has(ABD_CPU_CLFLUSH))
		cr_assert(abd_flush_durability() == ABD_FLUSH_DURABILITY_PERSISTENCE);
}

static int flush_calibrate_ms(void)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	cr_assert(abd_flush_calibrate() == 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return (int)((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000);
}

Test(flush, calibrating_takes_less_than_100_ms_and_leaves_rows_that_can_be_set)
{
	char text[ABD_PLAN_TEXT], shared[ABD_PLAN_TEXT];
	int ms = flush_calibrate_ms();

	/*
	 * Builds without optimisation, or counting every line, promise nothing; a neighbour may
	 * spoil one try.
	 */
#if defined(NDEBUG) && !defined(ABD_COVERAGE)
	for (int try = 0; try < 4 && ms >= 100; try++)
		ms = flush_calibrate_ms();
	cr_assert(ms < 100, "%d ms of CPU time", ms);
#endif
	cr_assert(ms < 60000);
	snprintf(shared, sizeof(shared), "%s", abd_test_tunable("flush_shared"));
	cr_assert(strcmp(shared, abd_test_tunable("flush_auto")) == 0);
	snprintf(text, sizeof(text), "%s", abd_test_tunable("flush_auto"));
	cr_assert(abd_tuning_set("flush_auto", text) == 0, "\"%s\"", text);
	cr_assert(strcmp(abd_test_tunable("flush_auto"), text) == 0);
	snprintf(text, sizeof(text), "%s", abd_test_tunable("flush_exclusive"));
	cr_assert(abd_tuning_set("flush_exclusive", text) == 0, "\"%s\"", text);
	cr_assert(strstr(text, "portable") == NULL || abd_flush_durability() == 0,
		"calibrating chose a policy that promises less: %s", text);
}

static atomic_bool flush_stop;

static void *flush_copier(void *arg)
{
	static const uint8_t source[3000] = {1, 2, 3};
	uint8_t target[3000];

	while (!atomic_load(&flush_stop)) {
		struct abd_flush_walk walk;

		memset(target, 9, sizeof(target));
		abd_flush_begin(&walk, __func__, sizeof(target), 0);
		abd_flush_span(&walk, target, source, sizeof(target));
		abd_flush_end(&walk, 0);
		if (memcmp(target, source, sizeof(target)) != 0)
			return arg;
	}
	return NULL;
}

Test(flush, copies_go_on_while_the_table_is_measured_and_policies_are_forced)
{
	pthread_t thread;
	void *wrong;
	const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX];
	size_t count = abd_flush_supported(kernels);

	atomic_store(&flush_stop, false);
	cr_assert(pthread_create(&thread, NULL, flush_copier, &flush_stop) == 0);
	cr_assert(abd_flush_calibrate() == 0);
	for (size_t i = 0; i < 2000; i++)
		cr_assert(abd_tuning_set("flush", kernels[i % count]->name) == 0);
	cr_assert(abd_tuning_set("flush", "auto") == 0);
	atomic_store(&flush_stop, true);
	pthread_join(thread, &wrong);
	cr_assert(wrong == NULL, "a copy went wrong");
}
