/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table's first content and where it comes from, its text form, and the choice.
 */
#include "abd_flush_table.h"
#include "abd_flush_arch.h"

#include "abd_tunable.h"

#include <stdatomic.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ABD_FLUSH_ROW_TEXT 128

_Atomic(const struct abd_flush_policy *) abd_flush_cells[ABD_FLUSH_INTENTS][ABD_FLUSH_CLASSES];

/*
 * Rows and the forced policy, from which the cells follow once all of them have had their first
 * value.
 */
static pthread_mutex_t abd_flush_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t abd_flush_rows[ABD_FLUSH_INTENTS][ABD_FLUSH_CLASSES];
static _Atomic(const struct abd_flush_policy *) abd_flush_forced;
static bool abd_flush_ready;

static void abd_flush_cells_set(void)
{
	const struct abd_flush_policy *forced = atomic_load(&abd_flush_forced), *policies;
	size_t count;

	policies = abd_flush_policies(&count);
	for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS && abd_flush_ready; intent++)
		for (unsigned class = 0; class < ABD_FLUSH_CLASSES; class ++)
			atomic_store_explicit(&abd_flush_cells[intent][class],
				forced != NULL ? forced : policies + abd_flush_rows[intent][class],
				memory_order_release);
}

void abd_flush_row_set(unsigned intent, const uint8_t row[ABD_FLUSH_CLASSES])
{
	pthread_mutex_lock(&abd_flush_lock);
	memcpy(abd_flush_rows[intent], row, ABD_FLUSH_CLASSES);
	abd_flush_cells_set();
	pthread_mutex_unlock(&abd_flush_lock);
}

void abd_flush_row_get(unsigned intent, uint8_t row[ABD_FLUSH_CLASSES])
{
	pthread_mutex_lock(&abd_flush_lock);
	memcpy(row, abd_flush_rows[intent], ABD_FLUSH_CLASSES);
	pthread_mutex_unlock(&abd_flush_lock);
}

static void abd_flush_forced_set(const struct abd_flush_policy *policy)
{
	pthread_mutex_lock(&abd_flush_lock);
	atomic_store(&abd_flush_forced, policy);
	abd_flush_cells_set();
	pthread_mutex_unlock(&abd_flush_lock);
}

/*
 * A row as text: policies from small sizes to large, each but the last with the largest size it
 * serves, a power of two from 64 to 8 MiB: "clwb:1024,nt-avx512".
 */

/* "<size>," at text: the first column that the size does not reach, and what follows; or false. */
static bool abd_flush_step_parse(const char *text, unsigned *class, const char **rest)
{
	char digits[16];
	size_t length = strcspn(text, ",");
	uint64_t size;

	if (text[length] != ',' || length >= sizeof(digits))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (!abd_tunable_parse(
		    digits, ABD_LINE_SIZE, abd_flush_class_size(ABD_FLUSH_CLASSES - 2), &size) ||
		(size & (size - 1)) != 0)
		return false;
	*class = abd_flush_class((size_t)size) + 1;
	*rest = text + length + 1;
	return true;
}

static bool abd_flush_row_parse(const char *text, uint8_t row[ABD_FLUSH_CLASSES])
{
	size_t count;
	const struct abd_flush_policy *policies = abd_flush_policies(&count);

	for (unsigned class = 0, end = 0; class < ABD_FLUSH_CLASSES; class = end) {
		size_t length = strcspn(text, ":");
		const struct abd_flush_policy *policy = abd_flush_policy_find(text, length);

		end = ABD_FLUSH_CLASSES;
		if (policy == NULL)
			return false;
		if (text[length] == ':' && !abd_flush_step_parse(text + length + 1, &end, &text))
			return false;
		if (end <= class)
			return false;
		memset(row + class, (int)(policy - policies), end - class);
	}
	return true;
}

/*
 * The first content: for each intent rows in order of preference, of which the first that this CPU
 * can serve is taken. It is what a process starts with; abd_flush_calibrate() and the tunables
 * replace it.
 *
 * With movdir64b, whoever else writes: measured to ordinary memory on an Intel server CPU that has
 * it (2 cores of a virtual machine, 2 MiB of L2 each), it is level with the vector stores around
 * the cache at all sizes when a fence follows each copy, and 1 to 3 % ahead from 64 KiB. It starts
 * slower: without a fence, copies of 64 bytes come at 6.8 GB/s with it, at 7.9 with nt-avx512,
 * which therefore has the sizes up to 256. clwb reaches 0.93 of them at 64 bytes, 0.73 at 1 KiB,
 * 0.29 from 64 KiB (abd-perf run flush).
 * Without movdir64b, around the cache with the widest vectors: on an AMD Zen 5 server CPU that beat
 * cached stores + clwb at every size, 11.4 against 6.6 GB/s at 4 KiB, 24 against 9.8 at 64 KiB; and
 * on Optane when there are many writers, 2.8 against 1.7 GB/s with three, 2.5 against 0.8 with five
 * (the source's figures).
 * A single writer to Optane is the exception: from 1 KiB up cached stores + write-back won, 1.1
 * GB/s against 725 MB/s at 2 KiB, 496 against 373 MB/s the other way at 512 bytes (the source's).
 * CPUs that drive Optane have clwb and, but for the last, no movdir64b; who says EXCLUSIVE there
 * gets that.
 */
#define ABD_FLUSH_AROUND \
	"nt-avx512:256,movdir64b", "nt-avx2:256,movdir64b", "nt-avx512", "nt-avx2", "nt-sse2"
#define ABD_FLUSH_CACHED "cvap", "cvac", "portable"

static const char *const abd_flush_first[ABD_FLUSH_INTENTS][10] = {
	[ABD_FLUSH_AUTO] = {ABD_FLUSH_AROUND, ABD_FLUSH_CACHED},
	[ABD_FLUSH_SHARED] = {ABD_FLUSH_AROUND, ABD_FLUSH_CACHED},
	[ABD_FLUSH_EXCLUSIVE] = {"nt-avx512:256,movdir64b", "nt-avx2:256,movdir64b",
		"nt-avx512:512,clwb", "nt-avx2:512,clwb", "nt-avx2", "nt-sse2", ABD_FLUSH_CACHED},
};

static void abd_flush_row_first(unsigned intent)
{
	const char *const *text = abd_flush_first[intent];
	uint8_t row[ABD_FLUSH_CLASSES];

	while (!abd_flush_row_parse(*text, row))
		text++;
	abd_flush_row_set(intent, row);
}

/*
 * A cell that is not NULL tells others that all is ready, so no cell is set before the environment
 * is read.
 */
static void abd_flush_start_once(void)
{
	for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS; intent++)
		abd_flush_row_first(intent);
	abd_tunable_from_environment(&abd_flush_tunables);
	pthread_mutex_lock(&abd_flush_lock);
	abd_flush_ready = true;
	abd_flush_cells_set();
	pthread_mutex_unlock(&abd_flush_lock);
}

void abd_flush_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_flush_start_once);
}

void abd_flush_force(const struct abd_flush_policy *policy)
{
	abd_flush_start();
	abd_flush_forced_set(policy);
}

const struct abd_flush_fence *abd_flush_fence(void)
{
	const struct abd_flush_policy *forced =
		atomic_load_explicit(&abd_flush_forced, memory_order_acquire);

	return forced != NULL ? forced->fence : abd_flush_arch_fence;
}

/* The weakest of all cells: what holds whatever the flags and the size. */
enum abd_flush_durability abd_flush_durability(void)
{
	enum abd_flush_durability weakest = ABD_FLUSH_DURABILITY_PERSISTENCE;

	for (unsigned intent = 0; intent < ABD_FLUSH_INTENTS; intent++)
		for (unsigned class = 0; class < ABD_FLUSH_CLASSES; class ++) {
			const struct abd_flush_policy *policy =
				abd_flush_choose(__func__, abd_flush_class_size(class), intent);

			if (policy->line->durability < weakest)
				weakest = policy->line->durability;
		}
	return weakest;
}

static void abd_flush_row_print(unsigned intent, char *text, size_t size)
{
	const struct abd_flush_policy *policies;
	uint8_t row[ABD_FLUSH_CLASSES];
	size_t count, used = 0;

	policies = abd_flush_policies(&count);
	abd_flush_row_get(intent, row);
	for (unsigned class = 0; class < ABD_FLUSH_CLASSES; class ++) {
		bool last = class == ABD_FLUSH_CLASSES - 1;

		if (used >= size || (!last && row[class] == row[class + 1]))
			continue;
		used += (size_t)snprintf(text + used, size - used, last ? "%s" : "%s:%zu,",
			policies[row[class]].name, abd_flush_class_size(class));
	}
}

static int abd_flush_row_tune(unsigned intent, const char *value)
{
	uint8_t row[ABD_FLUSH_CLASSES];

	/*
	 * What can be set can be read: the text of abd_tuning_get() holds no more, and is never
	 * longer than what was set.
	 */
	if (strlen(value) >= ABD_FLUSH_ROW_TEXT || !abd_flush_row_parse(value, row))
		return -EINVAL;
	abd_flush_row_set(intent, row);
	return 0;
}

static int abd_flush_tune_set(const char *value)
{
	const struct abd_flush_policy *policy = abd_flush_policy_find(value, strlen(value));

	if (policy == NULL && strcmp(value, "auto") != 0)
		return -EINVAL;
	abd_flush_forced_set(policy);
	return 0;
}

static const char *abd_flush_tune_get(char *text, size_t size)
{
	const struct abd_flush_policy *forced =
		atomic_load_explicit(&abd_flush_forced, memory_order_acquire);

	(void)text, (void)size;
	return forced != NULL ? forced->name : "auto";
}

static int abd_flush_tune_auto_set(const char *value)
{
	return abd_flush_row_tune(ABD_FLUSH_AUTO, value);
}

static int abd_flush_tune_shared_set(const char *value)
{
	return abd_flush_row_tune(ABD_FLUSH_SHARED, value);
}

static int abd_flush_tune_exclusive_set(const char *value)
{
	return abd_flush_row_tune(ABD_FLUSH_EXCLUSIVE, value);
}

static const char *abd_flush_tune_auto_get(char *text, size_t size)
{
	abd_flush_row_print(ABD_FLUSH_AUTO, text, size);
	return text;
}

static const char *abd_flush_tune_shared_get(char *text, size_t size)
{
	abd_flush_row_print(ABD_FLUSH_SHARED, text, size);
	return text;
}

static const char *abd_flush_tune_exclusive_get(char *text, size_t size)
{
	abd_flush_row_print(ABD_FLUSH_EXCLUSIVE, text, size);
	return text;
}

static const struct abd_tunable abd_flush_tunable_table[] = {
	{"flush", abd_flush_tune_set, abd_flush_tune_get},
	{"flush_auto", abd_flush_tune_auto_set, abd_flush_tune_auto_get},
	{"flush_shared", abd_flush_tune_shared_set, abd_flush_tune_shared_get},
	{"flush_exclusive", abd_flush_tune_exclusive_set, abd_flush_tune_exclusive_get},
};

const struct abd_tunables abd_flush_tunables = {
	abd_flush_tunable_table,
	sizeof(abd_flush_tunable_table) / sizeof(abd_flush_tunable_table[0]),
	abd_flush_start,
};
