/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that has nothing in reserve, because it never used the library.
 */
#include "abd_mem_cache.h"

#include "abd_test.h"

static void *relieve(void *answer)
{
	bool none = abd_thread_current == NULL && !abd_magazine_relieve(&abd_mem_cache_source, 0);

	return none && abd_thread_current == NULL ? answer : NULL;
}

Test(abd_magazine_none, a_thread_without_magazines_has_none_to_give)
{
	pthread_t thread;
	void *answer = &thread;

	cr_assert_eq(pthread_create(&thread, NULL, relieve, answer), 0);
	pthread_join(thread, &answer);
	cr_assert_not_null(answer, "it had, or was made some");
}
