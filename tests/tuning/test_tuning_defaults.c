/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The defaults of all tunables: they must be those in brackets in include/abd/tuning.h. A new
 * default must be changed there too.
 */
#include "abd_test.h"

static const struct {
	const char *name, *value;
} defaults[] = {
	{"scatter_enabled", "1"},
	{"scatter_min_size", "1536"},
	{"max_order", "10"},
	{"linear_page", "1"},
	{"pool_size", "1073741824"},
	{"thread_cache_bytes", "8388608"},
	{"reserve_bytes", "67108864"},
	{"reserve_ms", "12000"},
};

ABD_TEST_CHILD(defaults_are_shown)
{
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		const char *value = abd_tuning_get(defaults[i].name);

		if (value != NULL && strcmp(value, defaults[i].value) == 0)
			continue;
		fprintf(stderr, "%s is %s, documented as %s\n", defaults[i].name,
			value != NULL ? value : "unknown", defaults[i].value);
		return 1;
	}
	return 0;
}

Test(abd_tuning_defaults, a_fresh_process_has_what_the_header_says)
{
	abd_test_child_passes("defaults_are_shown", NULL);
}
