/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Policies: the architecture's list, less what this CPU lacks.
 */
#include "abd_flush_policy.h"
#include "abd_flush_arch.h"

#include <pthread.h>
#include <string.h>

#define ABD_FLUSH_POLICIES_MAX 12

static pthread_once_t abd_flush_policy_once = PTHREAD_ONCE_INIT;
static struct abd_flush_policy abd_flush_policy_list[ABD_FLUSH_POLICIES_MAX];
static size_t abd_flush_policy_count;

static const struct abd_flush_line *abd_flush_line_best(void)
{
	const struct abd_flush_line *const *line = abd_flush_arch_lines;

	while (!(*line)->supported())
		line++;
	return *line;
}

/* A copy around the cache needs a line flush for heads and tails: the best there is. */
static void abd_flush_policy_prepare(void)
{
	const struct abd_flush_line *best = abd_flush_line_best();

	for (const struct abd_flush_policy *from = abd_flush_arch_policies; from->name != NULL;
		from++) {
		struct abd_flush_policy *to = &abd_flush_policy_list[abd_flush_policy_count];

		*to = *from;
		if (to->line == NULL)
			to->line = best;
		if (to->copy->supported() && to->line->supported())
			abd_flush_policy_count++;
	}
}

const struct abd_flush_policy *abd_flush_policies(size_t *count)
{
	pthread_once(&abd_flush_policy_once, abd_flush_policy_prepare);
	*count = abd_flush_policy_count;
	return abd_flush_policy_list;
}

const struct abd_flush_policy *abd_flush_policy_find(const char *name, size_t length)
{
	size_t count;
	const struct abd_flush_policy *policy = abd_flush_policies(&count);

	for (; count > 0; policy++, count--)
		if (strlen(policy->name) == length && memcmp(policy->name, name, length) == 0)
			return policy;
	return NULL;
}
