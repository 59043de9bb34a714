/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model test: random sequences of all operations over all kinds, against flat arrays of bytes.
 * model/model.h says how.
 *
 *   ABD_TEST_OPS=100000000   operations (1,000,000): the long run before a release
 *   ABD_TEST_SEED=n          the first episode's seed (1). Episodes have EPISODE operations each
 *                            and seeds that count up; a failure names its episode's seed, which
 *                            alone repeats it with ABD_TEST_OPS=20000, in the same build
 *   ABD_TEST_SHRINK=n        the episode of seed n alone, shrunk. A failed check is shrunk by
 *                            itself; a crash, or a step that never ends, wants this
 *   ABD_TEST_STEPS="3 17"    these steps of the episode of ABD_TEST_SEED alone, printed as they
 *                            are done: what shrinking says, for a debugger
 */
#include "model/model.h"

#include "abd_test.h"

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value != NULL ? strtoull(value, NULL, 0) : otherwise;
}

static void repeat(uint64_t seed, char *steps)
{
	FILE *list = fmemopen(steps, strlen(steps), "r");

	cr_assert_not_null(list);
	model.seed = seed;
	model.trace = stderr;
	model_repeat(list);
	model.trace = NULL;
	fclose(list);
}

Test(abd_model, random_operations_do_what_flat_bytes_do)
{
	uint64_t seed = setting("ABD_TEST_SEED", 1), left = setting("ABD_TEST_OPS", 1000000);
	uint64_t count = 0;

	model_memory_begin();
	model.seed = setting("ABD_TEST_SHRINK", 0);
	if (getenv("ABD_TEST_STEPS") != NULL) {
		repeat(seed, getenv("ABD_TEST_STEPS"));
		left = 0;
	} else if (model.seed != 0) {
		model_shrink(EPISODE);
		left = 0;
	}
	for (; left > 0; seed++) {
		size_t steps = left < EPISODE ? (size_t)left : EPISODE;

		model_episode(seed, steps);
		left -= steps;
		count += steps;
	}
	fprintf(stderr, "abd_model: %llu operations\n", (unsigned long long)count);
	model_memory_end();
}
