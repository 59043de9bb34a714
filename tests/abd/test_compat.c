/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenZFS's dialect when memory is refused: each of its calls is tried again after a reap, then as
 * often as the engine's handler asks for, and then ends the program in a line that names it.
 */
#include "abd_test.h"

#include <abd/compat/openzfs.h>

#define SIZE ABD_TEST_KIND_SIZE

/* What the cases work on. */
static struct abd_test_buffer mixed;
static abd_t *linear, *gang, *full;
static abd_t own;
static char flat[64];

static void begin(void)
{
	abd_test_provider_begin();
	abd_test_build(&mixed, 7, 1);
	linear = abd_alloc_linear(SIZE, false);
	gang = abd_alloc_gang();
	full = abd_alloc_gang();
	for (size_t i = 0; i < 6; i++)
		abd_gang_add(full, linear, false);
}

static void end(void)
{
	abd_free(full);
	abd_free(gang);
	abd_free(linear);
	abd_test_drop(&mixed);
	abd_test_provider_end();
}

/* Each case calls once, and ends what it made. */

static void alloc(void)
{
	abd_free(abd_alloc(SIZE, false));
}

static void alloc_linear(void)
{
	abd_free(abd_alloc_linear(SIZE, false));
}

static void alloc_linear_struct(void)
{
	abd_free(abd_alloc_linear_struct(&own, SIZE, false));
}

static void alloc_gang(void)
{
	abd_free(abd_alloc_gang());
}

static void alloc_for_io(void)
{
	abd_free(abd_alloc_for_io(SIZE, false));
}

static void alloc_sametype(void)
{
	abd_free(abd_alloc_sametype(mixed.abd, SIZE));
}

static void get_offset(void)
{
	abd_free(abd_get_offset(mixed.abd, 0));
}

static void get_offset_size(void)
{
	abd_free(abd_get_offset_size(mixed.abd, 0, SIZE));
}

static void get_zeros(void)
{
	abd_free(abd_get_zeros(SIZE));
}

static void get_from_buf(void)
{
	abd_free(abd_get_from_buf(flat, sizeof(flat)));
}

static void borrow_buf(void)
{
	abd_return_buf_copy(mixed.abd, abd_borrow_buf(mixed.abd, SIZE), SIZE);
}

static void borrow_buf_copy(void)
{
	abd_return_buf(mixed.abd, abd_borrow_buf_copy(mixed.abd, SIZE), SIZE);
}

static void gang_add(void)
{
	abd_gang_add(full, linear, false);
	abd_free(full);
	full = abd_alloc_gang();
	for (size_t i = 0; i < 6; i++)
		abd_gang_add(full, linear, false);
}

static const struct refusal {
	const char *name;
	size_t size;
	void (*call)(void);
} refusals[] = {
	{"abd_alloc", SIZE, alloc},
	{"abd_alloc_linear", SIZE, alloc_linear},
	{"abd_alloc_linear_struct", SIZE, alloc_linear_struct},
	{"abd_alloc_gang", sizeof(abd_t), alloc_gang},
	{"abd_alloc_for_io", SIZE, alloc_for_io},
	{"abd_alloc_sametype", SIZE, alloc_sametype},
	{"abd_get_offset", SIZE, get_offset},
	{"abd_get_offset_size", SIZE, get_offset_size},
	{"abd_get_zeros", SIZE, get_zeros},
	{"abd_get_from_buf", sizeof(flat), get_from_buf},
	{"abd_borrow_buf", SIZE, borrow_buf},
	{"abd_borrow_buf_copy", SIZE, borrow_buf_copy},
	{"abd_gang_add", SIZE, gang_add},
};

#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

Test(abd_compat, what_serves_a_refusal_needs_no_memory_itself)
{
	abd_test_no_memory_is(zfs_abd_scatter_enabled, 1);
	abd_test_no_memory(abd_compat_refusal_handler_set(NULL));
	abd_test_no_memory(abd_compat_refused("abd_alloc", 1, 0));
}

/* Every allocation site alone refuses once. */
Test(abd_compat, a_refusal_is_tried_again_after_a_reap, .init = begin, .fini = end)
{
	for (size_t i = 0; i < REFUSALS; i++) {
		struct abd_stats before = abd_test_stats(), after;

		abd_test_fault_count();
		refusals[i].call();

		size_t sites = abd_test_fault_end();

		cr_assert(sites > 0, "%s asks for no memory", refusals[i].name);
		for (size_t n = 0; n < sites; n++) {
			abd_test_fault_at(n);
			refusals[i].call();
			abd_test_fault_end();
		}
		after = abd_test_stats();
		cr_assert(abd_test_gauges_equal(&before, &after), "%s leaks", refusals[i].name);
	}
}

static char asked_call[64];
static size_t asked_size;
static unsigned asked, room_after;

/* Finds room when it is asked the room_after-th time. */
static bool make_room(const char *call, size_t size)
{
	snprintf(asked_call, sizeof(asked_call), "%s", call);
	asked_size = size;
	if (++asked == room_after)
		abd_test_fault_end();
	return true;
}

Test(abd_compat, the_handler_is_asked_until_it_finds_room, .init = begin, .fini = end)
{
	abd_compat_refusal_handler_set(make_room);
	for (size_t i = 0; i < REFUSALS; i++) {
		asked = 0;
		room_after = 1 + (unsigned)i % 3;
		abd_test_fault_from(0);
		refusals[i].call();
		abd_test_fault_end();
		cr_assert_str_eq(asked_call, refusals[i].name);
		cr_assert_eq(asked_size, refusals[i].size);
		cr_assert_eq(asked, room_after);
	}
	abd_compat_refusal_handler_set(NULL);
}

static bool find_none(const char *call, size_t size)
{
	asked++;
	return false;
}

static void end_by(const struct refusal *refusal)
{
	char line[128];

	snprintf(line, sizeof(line), "abd: no memory: %s: %zu bytes", refusal->name, refusal->size);
	abd_test_fault_from(0);
	abd_test_expect_contract(refusal->call(), "abd: no memory: ");
	abd_test_fault_end();
	cr_assert_str_eq(abd_test_message, line);
}

Test(abd_compat, without_room_the_program_ends_with_call_and_size, .init = begin, .fini = end)
{
	for (size_t i = 0; i < REFUSALS; i++) {
		abd_compat_refusal_handler_set(i % 2 == 0 ? find_none : NULL);
		asked = 0;
		end_by(&refusals[i]);
		cr_assert_eq(asked, i % 2 == 0);
	}
	abd_compat_refusal_handler_set(NULL);
}

/* OpenZFS's callers would go on with NULL. */
Test(abd_compat, size_0_is_a_broken_contract_of_the_call)
{
	abd_test_expect_contract((void)abd_alloc(0, false), "broken: abd_alloc: size 0");
	abd_test_expect_contract((void)abd_alloc_linear(0, false), "abd_alloc_linear: size 0");
	abd_test_expect_contract(
		(void)abd_alloc_linear_struct(&own, 0, false), "abd_alloc_linear_struct: size 0");
	abd_test_expect_contract((void)abd_get_zeros(0), "abd_get_zeros: size 0");
	abd_test_expect_contract(
		(void)abd_get_zeros_struct(&own, 0), "abd_get_zeros_struct: size 0");
	abd_test_expect_contract((void)abd_get_from_buf(flat, 0), "abd_get_from_buf: size 0");
	abd_test_expect_contract(
		(void)abd_get_from_buf_struct(&own, flat, 0), "abd_get_from_buf_struct: size 0");
	abd_test_expect_contract(abd_compat_refused("x", 0, 0), "broken: x: size 0");
}

Test(abd_compat, gang_add_by_itself_returns_nothing, .init = begin, .fini = end)
{
	abd_test_expect_contract(
		abd_compat_gang_add(linear, gang, false), "broken: abd_gang_add: ");
	abd_compat_gang_add(gang, linear, false);
	abd_test_no_memory(abd_compat_gang_add(gang, linear, false));
	cr_assert_eq(abd_get_size(gang), 2 * SIZE);
}

/* In a program of its own nobody catches: one line, then abort(). */
ABD_TEST_CHILD(compat_refused)
{
	abd_test_fault_from(0);
	(void)abd_alloc(SIZE, false);
	return 0;
}

Test(abd_compat, the_line_comes_alone_before_abort)
{
	char text[512];
	int status = abd_test_child_run("compat_refused", NULL, text, sizeof(text));

	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %x: %s",
		(unsigned)status, text);
	cr_assert_str_eq(text, "abd: no memory: abd_alloc: 16000 bytes\n");
}
