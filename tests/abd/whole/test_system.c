/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A system that refuses address space, thread keys, or to say how much memory it has. The library
 * does without, or returns ENOMEM, and works again once the system does.
 */
#include "abd_chunk.h"
#include "abd_mem.h"
#include "abd_test.h"

#include <sys/sysinfo.h>

#define expect(condition) abd_test_child_expect(condition)

/* Buffers of each kind made, used, and ended, with the counters right at each point. */
static int everyday(void)
{
	struct abd_stats before = abd_test_stats(), now;
	abd_t *scatter = abd_alloc(5 << 12, false), *linear = abd_alloc_linear(100, true);
	char *buf;

	expect(scatter != NULL && linear != NULL);
	now = abd_test_stats();
	expect(now.scatter_cnt == before.scatter_cnt + 1);
	expect(now.linear_data_size == before.linear_data_size + 100);
	abd_zero(scatter, 5 << 12);
	buf = abd_borrow_buf_copy(scatter, 5 << 12);
	expect(buf != NULL && buf[5000] == 0);
	buf[5000] = 1;
	abd_return_buf_copy(scatter, buf, 5 << 12);
	expect(abd_cmp_zero(scatter, 5 << 12) != 0);
	abd_free(scatter);
	abd_free(linear);
	now = abd_test_stats();
	expect(now.borrow_cnt == before.borrow_cnt + 1);
	expect(abd_test_gauges_equal(&before, &now));
	return 0;
}

static void *everyday_thread(void *arg)
{
	return everyday() == 0 ? NULL : (void *)1;
}

ABD_TEST_CHILD(no_thread_key)
{
	pthread_t thread;
	void *failed;

	abd_test_wrap_fail(ABD_TEST_KEY_CREATE, 1);
	expect(everyday() == 0);
	expect(pthread_create(&thread, NULL, everyday_thread, NULL) == 0);
	expect(pthread_join(thread, &failed) == 0 && failed == NULL);
	abd_cache_reap_now();
	return everyday();
}

Test(abd_system, without_a_thread_key_nothing_is_kept_in_reserve_and_all_is_counted)
{
	abd_test_child_passes("no_thread_key", NULL);
}

ABD_TEST_CHILD(no_thread_value)
{
	abd_test_wrap_fail(ABD_TEST_SETSPECIFIC, 1);
	expect(everyday() == 0);
	abd_test_wrap_fail(ABD_TEST_SETSPECIFIC, 0);
	return everyday();
}

Test(abd_system, a_thread_that_can_not_be_told_apart_goes_without_reserve)
{
	abd_test_child_passes("no_thread_value", NULL);
}

ABD_TEST_CHILD(no_zero_page)
{
	abd_t own;

	abd_test_wrap_fail(ABD_TEST_MMAP, 1);
	errno = 0;
	expect(abd_get_zeros(100000) == NULL && errno == ENOMEM);
	abd_test_wrap_fail(ABD_TEST_MMAP, 1);
	expect(abd_get_zeros_struct(&own, 5) == NULL && errno == ENOMEM);
	expect(abd_get_zeros_struct(&own, 5) == &own);
	expect(abd_cmp_zero(&own, 5) == 0);
	abd_free(&own);
	return 0;
}

Test(abd_system, zeros_wait_for_their_page)
{
	abd_test_child_passes(
		"no_zero_page", (const char *const[]){"ABD_CHUNK_PROVIDER=malloc", NULL});
}

ABD_TEST_CHILD(no_pool)
{
	void *base;
	size_t size;

	expect(everyday() == 0);
	abd_test_wrap_fail(ABD_TEST_MMAP, 1);
	expect(abd_pool_region(&base, &size) == -ENOMEM);
	abd_test_wrap_fail(ABD_TEST_MMAP, 1);
	expect(abd_tuning_set("chunk_provider", "pool") == -EINVAL);
	expect(abd_pool_region(&base, &size) == 0 && (uintptr_t)base % (2 << 20) == 0);
	expect(abd_tuning_set("chunk_provider", "pool") == 0);
	return everyday();
}

Test(abd_system, a_pool_that_had_no_room_is_made_when_there_is)
{
	abd_test_child_passes("no_pool", (const char *const[]){"ABD_CHUNK_PROVIDER=malloc", NULL});
}

/* First the region is refused, then what it is looked up by. */
ABD_TEST_CHILD(no_region_index)
{
	expect(strcmp(abd_tuning_get("chunk_provider"), "regions") == 0);
	for (unsigned refused = 1; refused <= 2; refused++) {
		abd_test_wrap_fail(ABD_TEST_MMAP, refused);
		errno = 0;
		expect(abd_alloc(4096, false) == NULL && errno == ENOMEM);
	}
	return everyday();
}

Test(abd_system, without_address_space_for_a_region_there_is_no_memory)
{
	abd_test_child_passes(
		"no_region_index", (const char *const[]){"ABD_CHUNK_PROVIDER=regions", NULL});
}

ABD_TEST_CHILD(no_sysinfo)
{
	abd_test_wrap_fail(ABD_TEST_SYSINFO, 1);
	expect(abd_mem_bytes_max() == PTRDIFF_MAX / 2);
	expect(abd_alloc(PTRDIFF_MAX, false) == NULL && errno == ENOMEM);
	return everyday();
}

Test(abd_system, memory_that_is_not_told_is_taken_for_all_there_may_be)
{
	abd_test_child_passes("no_sysinfo", NULL);
}

ABD_TEST_CHILD(swap)
{
	struct sysinfo info;

	abd_test_wrap_swap(1000000);
	expect(sysinfo(&info) == 0 && info.totalswap >= 1000000);
	expect(abd_mem_bytes_max() == (size_t)(info.totalram + info.totalswap) * info.mem_unit);
	return everyday();
}

Test(abd_system, what_the_machine_can_serve_is_its_memory_and_its_swap)
{
	abd_test_child_passes("swap", NULL);
}

ABD_TEST_CHILD(first_call)
{
	const char *call = getenv("FIRST_CALL");
	char a[100] = {1}, b[100] = {1};

	if (strcmp(call, "key") == 0)
		return abd_key_equal(a, b, 100) ? 0 : 1;
	if (strcmp(call, "provider") == 0)
		return abd_chunk_provider_now() < ABD_CHUNK_PROVIDERS ? 0 : 1;
	if (strcmp(call, "drain") == 0)
		return abd_flush_drain(), 0;
	return everyday();
}

Test(abd_system, any_call_may_be_the_first)
{
	static const char *const calls[] = {
		"FIRST_CALL=key", "FIRST_CALL=provider", "FIRST_CALL=drain", "FIRST_CALL=everyday"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		abd_test_child_passes("first_call", (const char *const[]){calls[i], NULL});
}
