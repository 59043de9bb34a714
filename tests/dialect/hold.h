/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a holder of a cached record does with it: it may only read, so the hold's buffer is const.
 * Compiled as C and as C++, with -Wcast-qual.
 * Invariant: no cast; each question is answered as plain memory answers it.
 */
#ifndef HOLD_H
#define HOLD_H

#include <abd/abd.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOLD_SIZE 20000

static unsigned char hold_model[HOLD_SIZE], hold_back[HOLD_SIZE];

static int hold_expect(bool right, const char *what)
{
	if (!right)
		printf("FAIL: %s\n", what);
	return right ? 0 : 1;
}

static int hold_sum(const void *buf, size_t size, void *priv)
{
	unsigned long *sum = (unsigned long *)priv;
	const unsigned char *bytes = (const unsigned char *)buf;

	for (size_t i = 0; i < size; i++)
		*sum += bytes[i];
	return 0;
}

static int hold_look(const abd_t *abd)
{
	const abd_t *view = abd_get_offset_const(abd, 5000, 9000);
	abd_t *copy = abd_alloc(HOLD_SIZE, false);
	unsigned long sum = 0, expected = 0;
	const void *lent = abd_borrow_buf_const(view, 9000);
	int failed = 0;

	for (size_t i = 5000; i < 14000; i++)
		expected += hold_model[i];
	failed +=
		hold_expect(abd_iterate_func_const(view, 0, 9000, hold_sum, &sum) == 0, "iterated");
	failed += hold_expect(sum == expected, "sum");
	failed += hold_expect(memcmp(lent, hold_model + 5000, 9000) == 0, "lent");
	abd_return_buf_const(view, lent, 9000);
	abd_copy(copy, abd, HOLD_SIZE);
	failed += hold_expect(abd_cmp(abd, copy) == 0 && abd_equal(copy, abd), "compared");
	failed += hold_expect(abd_equal_off(view, copy, 0, 5000, 9000), "a view compared");
	failed += hold_expect(abd_cmp_buf(abd, hold_model, HOLD_SIZE) == 0, "compared to memory");
	abd_free(copy);
	abd_free_const(view);
	return failed;
}

static int hold_write(const abd_t *abd)
{
	FILE *file = tmpfile();
	int fd, failed;

	if (file == NULL)
		return hold_expect(false, "no temporary file");
	fd = fileno(file);
	failed = hold_expect(abd_pwrite(fd, abd, 0, HOLD_SIZE, 0) == HOLD_SIZE, "written");
	failed += hold_expect(pread(fd, hold_back, HOLD_SIZE, 0) == HOLD_SIZE &&
				      memcmp(hold_back, hold_model, HOLD_SIZE) == 0,
		"read back");
	fclose(file);
	return failed;
}

static int hold_run(void)
{
	struct abd_arc_config config;
	abd_arc_key_t key;
	abd_arc_hold_t hold;
	abd_arc_t *arc;
	uint64_t random = 1;
	int failed;

	memset(&config, 0, sizeof(config));
	memset(&key, 0, sizeof(key));
	config.config_size = sizeof(config);
	config.capacity_bytes = ABD_ARC_CAPACITY_MIN;
	for (size_t i = 0; i < HOLD_SIZE; i++) { /* nothing repeats, so it is stored as it is */
		random = random * 6364136223846793005u + 1442695040888963407u;
		hold_model[i] = (unsigned char)(random >> 56);
	}
	arc = abd_arc_create(&config);
	if (arc == NULL || abd_arc_put(arc, &key, hold_model, HOLD_SIZE) != 0 ||
		abd_arc_hold(arc, &key, &hold) != 0)
		return hold_expect(false, "no hold");
	failed = hold_expect(!hold.compressed && hold.stored_size == HOLD_SIZE, "stored as it is");
	if (failed == 0)
		failed = hold_look(hold.abd) + hold_write(hold.abd);
	abd_arc_release(&hold);
	abd_arc_destroy(arc);
	return failed;
}

#endif
