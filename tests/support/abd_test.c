/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The handler that turns a broken contract into a jump back to the test.
 */
#include "abd_test.h"

_Thread_local jmp_buf abd_test_jump;
_Thread_local char abd_test_message[256];

static void abd_test_handler(const char *message)
{
	snprintf(abd_test_message, sizeof(abd_test_message), "%s", message);
	longjmp(abd_test_jump, 1);
}

void abd_test_catch(void)
{
	abd_test_message[0] = '\0';
	abd_contract_handler_set(abd_test_handler);
}

void abd_test_release(void)
{
	abd_contract_handler_set(NULL);
}

struct abd_stats abd_test_stats(void)
{
	struct abd_stats stats;

	abd_stats_get(&stats, sizeof(stats));
	return stats;
}

static bool gauge_equal(const char *name, uint64_t before, uint64_t after)
{
	if (before != after)
		fprintf(stderr, "gauge %s: %llu before, %llu after\n", name,
			(unsigned long long)before, (unsigned long long)after);
	return before == after;
}

#define GAUGE_EQUAL(field) gauge_equal(#field, before->field, after->field)

bool abd_test_gauges_equal(const struct abd_stats *before, const struct abd_stats *after)
{
	bool equal = true;

	equal &= GAUGE_EQUAL(struct_size);
	equal &= GAUGE_EQUAL(linear_cnt);
	equal &= GAUGE_EQUAL(linear_data_size);
	equal &= GAUGE_EQUAL(scatter_cnt);
	equal &= GAUGE_EQUAL(scatter_data_size);
	equal &= GAUGE_EQUAL(scatter_chunk_waste);
	equal &= GAUGE_EQUAL(scatter_multi_chunk);
	for (unsigned order = 0; order < ABD_STATS_ORDERS; order++)
		equal &= GAUGE_EQUAL(scatter_order[order]);
	return equal;
}

size_t abd_test_share(size_t cases)
{
	static const double all = 1e6;
	const char *text = getenv("ABD_TEST_OPS");
	double ops = text != NULL ? strtod(text, NULL) : all;
	size_t least = (cases + 9) / 10,
	       share = ops < all ? (size_t)((double)cases * ops / all) : cases;

	return share > least ? share : least;
}

const char *abd_test_tunable(const char *name)
{
	static _Thread_local char text[512];
	const char *shown = abd_tuning_get(name);

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(shown, "("), shown);
	if (strchr(shown, '(') != NULL)
		text[strlen(text) - 1] = '\0';
	return text;
}

bool abd_test_sleeps(long tid)
{
	char path[64], state = '?';

	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", tid);

	FILE *file = fopen(path, "r");

	if (file != NULL) {
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = '?';
		fclose(file);
	}
	return state == 'S';
}
