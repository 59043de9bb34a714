/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tunables by name. Each layer has a table of tunables that are numbers, switches or providers, and
 * choices of kernels, which are shown as plans. Only this file knows them all. It is above every
 * other layer, because it uses them; nothing includes it.
 */
#include "abd_chunk.h"
#include "abd_compare_kernel.h"
#include "abd_contract.h"
#include "abd_copy_span.h"
#include "abd_crc32c.h"
#include "abd_fletcher.h"
#include "abd_flush_table.h"
#include "abd_impl.h"
#include "abd_lz4_decode.h"
#include "abd_machine.h"
#include "abd_tunable.h"
#include "abd_xxh3.h"
#include "abd_zero_span.h"

#include <abd/tuning.h>
#include <abd/version.h>

#define ABD_TUNING_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct abd_tunables *const abd_tuning_tables[] = {
	&abd_magazine_tunables,
	&abd_chunk_tunables,
	&abd_buffer_tunables,
};

/* The first choice of a group is the one whose plan is shown for the group. */
static struct abd_choice *const abd_tuning_choices[] = {
	&abd_compare_choice,
	&abd_copy_choice,
	&abd_zero_choice,
	&abd_flush_choices[ABD_FLUSH_AUTO],
	&abd_flush_choices[ABD_FLUSH_SHARED],
	&abd_flush_choices[ABD_FLUSH_EXCLUSIVE],
	&abd_flush_line_choice,
	&abd_lz4_choice,
	&abd_fletcher_choice,
	&abd_crc32c_choice,
	&abd_xxh3_choice,
};

/*
 * Start the layer first, so that it reads the environment before the caller sets a value, not
 * after.
 */
static const struct abd_tunable *abd_tuning_find(const char *name)
{
	for (size_t i = 0; i < ABD_TUNING_COUNT(abd_tuning_tables); i++) {
		const struct abd_tunables *tunables = abd_tuning_tables[i];

		for (size_t j = 0; j < tunables->count; j++) {
			if (strcmp(tunables->table[j].name, name) != 0)
				continue;
			tunables->start();
			return &tunables->table[j];
		}
	}
	return NULL;
}

static bool abd_tuning_is_group(const struct abd_choice *choice, const char *name)
{
	return choice->group != NULL && strcmp(choice->group, name) == 0;
}

/* All choices of a group have the same table, so either each of them takes the value or none. */
static int abd_tuning_choice_set(const char *name, const char *value)
{
	int error = -ENOENT;

	for (size_t i = 0; i < ABD_TUNING_COUNT(abd_tuning_choices); i++) {
		struct abd_choice *choice = abd_tuning_choices[i];

		if (strcmp(choice->name, name) == 0)
			return abd_choice_set(choice, value, false);
		if (abd_tuning_is_group(choice, name))
			error = abd_choice_set(choice, value, true);
	}
	return error;
}

static const char *abd_tuning_choice_get(const char *name, char *text, size_t size)
{
	struct abd_plan plan;

	for (size_t i = 0; i < ABD_TUNING_COUNT(abd_tuning_choices); i++) {
		struct abd_choice *choice = abd_tuning_choices[i];
		bool group = abd_tuning_is_group(choice, name);

		if (!group && strcmp(choice->name, name) != 0)
			continue;
		abd_choice_plan_get(choice, group, &plan);
		abd_plan_print(&plan, text, size);
		return text;
	}
	return NULL;
}

int abd_tuning_set(const char *name, const char *value)
{
	ABD_REQUIRE(name != NULL, "name is NULL");
	ABD_REQUIRE(value != NULL, "value is NULL");

	const struct abd_tunable *tunable = abd_tuning_find(name);

	return tunable != NULL ? abd_tunable_set(tunable, value)
			       : abd_tuning_choice_set(name, value);
}

const char *abd_tuning_get(const char *name)
{
	static _Thread_local char text[ABD_PLAN_SHOWN];

	ABD_REQUIRE(name != NULL, "name is NULL");
	if (strcmp(name, "cpu") == 0)
		return abd_machine()->cpu;
	if (strcmp(name, "ignored") == 0)
		return abd_tunable_ignored_get(text, sizeof(text));

	const struct abd_tunable *tunable = abd_tuning_find(name);

	return tunable != NULL ? abd_tunable_get(tunable, text, sizeof(text))
			       : abd_tuning_choice_get(name, text, sizeof(text));
}

const char *abd_version(void)
{
	return ABD_VERSION_STRING;
}
