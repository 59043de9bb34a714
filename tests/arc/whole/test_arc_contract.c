/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache's contracts, and configurations of other versions.
 */
#include "abd_arc_impl.h"
#include "abd_test.h"

#define broken(statement, text) abd_test_expect_contract(statement, text)

static abd_arc_t *make(size_t capacity, size_t expected)
{
	struct abd_arc_config config = {
		.config_size = sizeof(config),
		.capacity_bytes = capacity,
		.expected_entries = expected,
	};
	abd_arc_t *arc = abd_arc_create(&config);

	cr_assert_not_null(arc);
	return arc;
}

Test(abd_arc_contract, null_is_reported)
{
	broken(abd_arc_destroy(abd_arc_create(NULL)), "config is NULL");
	abd_arc_destroy(NULL); /* as free() */
}

/* Its place holds another record by then. */
Test(abd_arc_contract, a_copy_of_a_hold_is_not_released_again)
{
	abd_arc_t *volatile arc = make(1 << 20, 0);
	abd_arc_key_t one = {.pool = 1}, other = {.pool = 2};
	abd_arc_hold_t hold, copy, second;

	cr_assert_eq(abd_arc_put(arc, &one, "1", 1), 0);
	cr_assert_eq(abd_arc_put(arc, &other, "2", 1), 0);
	cr_assert_eq(abd_arc_hold(arc, &one, &hold), 0);
	copy = hold;
	abd_arc_release(&hold);
	broken(abd_arc_release(&copy), "released before");
	cr_assert_eq(abd_arc_hold(arc, &other, &second), 0);
	cr_assert_eq(second.entry, copy.entry);
	broken(abd_arc_release(&copy), "released before");
	abd_arc_release(&second);
	abd_arc_destroy(arc);
}

Test(abd_arc_contract, a_configuration_says_how_long_it_is)
{
	struct {
		struct abd_arc_config known;
		size_t unknown;
	} config = {.known = {.capacity_bytes = 1 << 20}};
	static const struct {
		size_t size, unknown;
		int error;
	} cases[] = {
		{0, 0, EINVAL},
		{sizeof(size_t), 0, EINVAL}, /* no capacity */
		{2 * sizeof(size_t), 0, 0},
		{2 * sizeof(size_t) + 1, 0, EINVAL},
		{sizeof(struct abd_arc_config), 1, 0},
		{sizeof(config), 0, 0},
		{sizeof(config), 1, E2BIG},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		config.known.config_size = cases[i].size;
		config.unknown = cases[i].unknown;
		errno = 0;

		abd_arc_t *arc = abd_arc_create(&config.known);

		cr_assert_eq(arc == NULL, cases[i].error != 0, "case %zu", i);
		cr_assert_eq(errno, cases[i].error, "case %zu", i);
		if (arc != NULL)
			abd_arc_destroy(arc);
	}
}

/* However many records are expected, the index takes no more than a quarter of the capacity. */
Test(abd_arc_contract, expectations_do_not_outgrow_the_capacity)
{
	abd_arc_t *arc = make(1 << 20, SIZE_MAX);

	cr_assert_leq(abd_arc_index_bytes(arc->index), (size_t)1 << 18);
	abd_arc_destroy(arc);
}

Test(abd_arc_contract, a_capacity_is_neither_too_small_nor_past_all_memory)
{
	struct abd_arc_config config = {.config_size = sizeof(config)};
	abd_arc_t *arc = make(1 << 20, 0);
	static const size_t wrong[] = {
		0, ABD_ARC_CAPACITY_MIN - 1, (size_t)PTRDIFF_MAX + 1, SIZE_MAX};

	for (size_t i = 0; i < 4; i++) {
		config.capacity_bytes = wrong[i];
		errno = 0;
		cr_assert_null(abd_arc_create(&config));
		cr_assert_eq(errno, EINVAL);
		cr_assert_eq(abd_arc_resize(arc, wrong[i]), -EINVAL);
	}
	cr_assert_eq(abd_arc_resize(arc, ABD_ARC_CAPACITY_MIN), 0);
	abd_arc_destroy(arc);
}

/* For every bit: a call knows it or says -EINVAL. Flags of caches and of records share none. */
Test(abd_arc_contract, flags_of_the_other_kind_are_refused)
{
	const unsigned of_caches =
		ABD_ARC_CHECKSUM | ABD_ARC_SECOND_TIME | ABD_ARC_NO_GHOSTS | ABD_ARC_DESTROY_EVICTS;
	abd_arc_t *arc = make(1 << 20, 0);
	abd_arc_key_t key = {.pool = 1}, missing = {.pool = 2};
	struct abd_arc_config config = {.config_size = sizeof(config), .capacity_bytes = 1 << 20};
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	char buf[8] = "record";

	cr_assert_eq(of_caches & 0xffff, 0);
	cr_assert_eq(abd_arc_put(arc, &key, buf, 8), 0);
	for (unsigned bit = 0; bit < 32; bit++) {
		unsigned flag = 1u << bit;
		bool is_put = flag == ABD_ARC_METADATA, is_read = flag == ABD_ARC_NO_TOUCH;
		bool is_fill = is_put || is_read || flag == ABD_ARC_NOWAIT;
		bool is_plain = flag == ABD_ARC_PLAIN;
		abd_t *abd = abd_alloc_linear(64, false);

		config.flags = flag;
		abd_arc_t *other = abd_arc_create(&config);
		cr_assert_eq(other != NULL, (of_caches & flag) != 0, "bit %u", bit);
		cr_assert(other != NULL || errno == EINVAL);
		abd_arc_destroy(other);

		cr_assert_eq(abd_arc_put_flags(arc, &key, buf, 8, flag), is_put ? 0 : -EINVAL);
		cr_assert_eq(abd_arc_read_flags(arc, &key, buf, 0, 8, flag), is_read ? 8 : -EINVAL);
		cr_assert_eq(abd_arc_hold_or_fill(arc, &key, 8, flag, &hold, &fill),
			is_fill ? 0 : -EINVAL);
		abd_arc_release(&hold);
		abd_zero(abd, 64);
		cr_assert_eq(abd_arc_put_abd(arc, &key, abd, 64, flag), is_plain ? 0 : -EINVAL);
		if (!is_plain)
			abd_free(abd);
		cr_assert_eq(abd_arc_hold_or_fill(arc, &missing, 8, 0, &hold, &fill), 1);
		abd_zero(fill.abd, 8);
		cr_assert_eq(abd_arc_fill_commit(&fill, 8, 8, flag, NULL), is_plain ? 0 : -EINVAL);
		(void)abd_arc_remove(arc, &missing);
	}
	abd_arc_destroy(arc);
}
