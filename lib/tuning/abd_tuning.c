/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tunables by name: each layer has its table, this one place knows them all.
 * Above every other layer, because it names them; nothing includes it.
 */
#include "abd_chunk.h"
#include "abd_compare.h"
#include "abd_contract.h"
#include "abd_flush_table.h"
#include "abd_impl.h"
#include "abd_lz4_decode.h"
#include "abd_tunable.h"

#include <abd/tuning.h>
#include <abd/version.h>

#include <string.h>

static const struct abd_tunables *const abd_tuning_tables[] = {
	&abd_base_tunables,
	&abd_chunk_tunables,
	&abd_compare_tunables,
	&abd_buffer_tunables,
	&abd_flush_tunables,
	&abd_codec_tunables,
};

/*
 * The layer starts first, so that its environment is read before, not after, what the caller sets.
 */
static const struct abd_tunable *abd_tuning_find(const char *name)
{
	for (size_t i = 0; i < sizeof(abd_tuning_tables) / sizeof(abd_tuning_tables[0]); i++) {
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

int abd_tuning_set(const char *name, const char *value)
{
	ABD_REQUIRE(name != NULL && value != NULL, "name or value is NULL");

	const struct abd_tunable *tunable = abd_tuning_find(name);

	return tunable != NULL ? tunable->set(value) : -ENOENT;
}

const char *abd_tuning_get(const char *name)
{
	static _Thread_local char text[128];

	ABD_REQUIRE(name != NULL, "name is NULL");

	const struct abd_tunable *tunable = abd_tuning_find(name);

	return tunable != NULL ? tunable->get(text, sizeof(text)) : NULL;
}

const char *abd_version(void)
{
	return ABD_VERSION_STRING;
}
