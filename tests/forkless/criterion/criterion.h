/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of Criterion's interface that our tests use, for a runner that doesn't fork.
 * Criterion runs each test in a process of its own and hides what checkers find there: leaks,
 * valgrind's errors. This header stands in its place on the include path, so that the same tests
 * run in one process, whose exit code is the checker's too.
 *
 * Invariant: a failed cr_assert ends its test, a failed cr_expect doesn't; either makes the run
 * exit with 1.
 * A test with .signal or .exit_code runs in a child, because it must not end the run.
 */
#ifndef ABD_FORKLESS_CRITERION_H
#define ABD_FORKLESS_CRITERION_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct abd_forkless_options {
	int sentinel;
	void (*init)(void);
	void (*fini)(void);
	int signal;
	int exit_code;
	bool disabled;
	const char *description;
};

struct abd_forkless_test {
	const char *suite, *name;
	void (*run)(void);
	const struct abd_forkless_options *options;
	struct abd_forkless_test *next;
};

struct abd_forkless_suite {
	const char *name;
	const struct abd_forkless_options *options;
	struct abd_forkless_suite *next;
};

void abd_forkless_add_test(struct abd_forkless_test *test);
void abd_forkless_add_suite(struct abd_forkless_suite *suite);

/**
 * Count and print a failure. It has no format attribute, because that would warn about empty
 * messages.
 */
void abd_forkless_fail(const char *file, int line, const char *claim, const char *format, ...);

/** End the current test. */
_Noreturn void abd_forkless_stop(void);

/** Skip the current test: it neither passes nor fails. */
_Noreturn void abd_forkless_skip(const char *format, ...);

void abd_forkless_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define Test(suite_, name_, ...)                                                                 \
	static void abd_forkless_run_##suite_##_##name_(void);                                   \
	static const struct abd_forkless_options abd_forkless_options_##suite_##_##name_ = {     \
		.sentinel = 0, __VA_ARGS__};                                                     \
	static struct abd_forkless_test abd_forkless_test_##suite_##_##name_ = {#suite_, #name_, \
		abd_forkless_run_##suite_##_##name_, &abd_forkless_options_##suite_##_##name_,   \
		NULL};                                                                           \
	__attribute__((constructor)) static void abd_forkless_enter_##suite_##_##name_(void)     \
	{                                                                                        \
		abd_forkless_add_test(&abd_forkless_test_##suite_##_##name_);                    \
	}                                                                                        \
	static void abd_forkless_run_##suite_##_##name_(void)

#define TestSuite(suite_, ...)                                                     \
	static const struct abd_forkless_options abd_forkless_options_##suite_ = { \
		.sentinel = 0, __VA_ARGS__};                                       \
	static struct abd_forkless_suite abd_forkless_suite_##suite_ = {           \
		#suite_, &abd_forkless_options_##suite_, NULL};                    \
	__attribute__((constructor)) static void abd_forkless_enter_##suite_(void) \
	{                                                                          \
		abd_forkless_add_suite(&abd_forkless_suite_##suite_);              \
	}                                                                          \
	struct abd_forkless_suite /* takes the semicolon */

/* A message is a literal or missing, so "" can stand before it. */
#define ABD_FORKLESS_CHECK(stop, claim, condition, ...)                               \
	do {                                                                          \
		if (!(condition)) {                                                   \
			abd_forkless_fail(__FILE__, __LINE__, claim, "" __VA_ARGS__); \
			stop;                                                         \
		}                                                                     \
	} while (0)
#define ABD_FORKLESS_ONE(stop, a, ...) ABD_FORKLESS_CHECK(stop, #a, a, __VA_ARGS__)
#define ABD_FORKLESS_NOT(stop, a, ...) ABD_FORKLESS_CHECK(stop, "not " #a, !(a), __VA_ARGS__)
#define ABD_FORKLESS_NULL(stop, a, ...) \
	ABD_FORKLESS_CHECK(stop, #a " is NULL", (a) == NULL, __VA_ARGS__)
#define ABD_FORKLESS_SOME(stop, a, ...) \
	ABD_FORKLESS_CHECK(stop, #a " is not NULL", (a) != NULL, __VA_ARGS__)
#define ABD_FORKLESS_TWO(stop, op, a, b, ...) \
	ABD_FORKLESS_CHECK(stop, #a " " #op " " #b, (a)op(b), __VA_ARGS__)
#define ABD_FORKLESS_STR(stop, op, a, b, ...) \
	ABD_FORKLESS_CHECK(stop, #a " " #op " " #b, strcmp(a, b) op 0, __VA_ARGS__)
#define ABD_FORKLESS_ARR(stop, op, a, b, size, ...) \
	ABD_FORKLESS_CHECK(stop, #a " " #op " " #b, memcmp(a, b, size) op 0, __VA_ARGS__)

#define cr_assert(...) ABD_FORKLESS_ONE(abd_forkless_stop(), __VA_ARGS__)
#define cr_assert_not(...) ABD_FORKLESS_NOT(abd_forkless_stop(), __VA_ARGS__)
#define cr_assert_null(...) ABD_FORKLESS_NULL(abd_forkless_stop(), __VA_ARGS__)
#define cr_assert_not_null(...) ABD_FORKLESS_SOME(abd_forkless_stop(), __VA_ARGS__)
#define cr_assert_eq(...) ABD_FORKLESS_TWO(abd_forkless_stop(), ==, __VA_ARGS__)
#define cr_assert_neq(...) ABD_FORKLESS_TWO(abd_forkless_stop(), !=, __VA_ARGS__)
#define cr_assert_lt(...) ABD_FORKLESS_TWO(abd_forkless_stop(), <, __VA_ARGS__)
#define cr_assert_leq(...) ABD_FORKLESS_TWO(abd_forkless_stop(), <=, __VA_ARGS__)
#define cr_assert_gt(...) ABD_FORKLESS_TWO(abd_forkless_stop(), >, __VA_ARGS__)
#define cr_assert_geq(...) ABD_FORKLESS_TWO(abd_forkless_stop(), >=, __VA_ARGS__)
#define cr_assert_str_eq(...) ABD_FORKLESS_STR(abd_forkless_stop(), ==, __VA_ARGS__)
#define cr_assert_arr_eq(...) ABD_FORKLESS_ARR(abd_forkless_stop(), ==, __VA_ARGS__)

#define cr_expect(...) ABD_FORKLESS_ONE((void)0, __VA_ARGS__)
#define cr_expect_eq(...) ABD_FORKLESS_TWO((void)0, ==, __VA_ARGS__)
#define cr_expect_lt(...) ABD_FORKLESS_TWO((void)0, <, __VA_ARGS__)
#define cr_expect_leq(...) ABD_FORKLESS_TWO((void)0, <=, __VA_ARGS__)
#define cr_expect_gt(...) ABD_FORKLESS_TWO((void)0, >, __VA_ARGS__)
#define cr_expect_geq(...) ABD_FORKLESS_TWO((void)0, >=, __VA_ARGS__)

#define cr_assert_fail(...)                                                                   \
	do {                                                                                  \
		abd_forkless_fail(__FILE__, __LINE__, "this is not reached", "" __VA_ARGS__); \
		abd_forkless_stop();                                                          \
	} while (0)
#define cr_skip_test(...) abd_forkless_skip("" __VA_ARGS__)

#define cr_log_info(...) abd_forkless_log(__VA_ARGS__)

/* A signal handler: write out what coverage counted, then die of the signal. */
void abd_forkless_dump_and_die(int signal_number);

#endif
