/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffers of all kinds are made slot by slot, so that the memory of all kinds is equally old
 * and equally warm.
 */
#include "abd_perf_arc_set.h"
#include "abd_perf_clock.h"
#include "abd_perf_env.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>

#define ABD_PERF_PAGE ((size_t)4096)
#define ABD_PERF_SECTOR ((size_t)512)
#define ABD_PERF_SCATTER_MIN ((size_t)1536) /* smaller buffers would be linear with any rule */

static const char *const abd_perf_arc_kind_name[ABD_PERF_ARC_KINDS] = {
	"linear", "single, rule on", "single, rule off", "multi"};

size_t abd_perf_arc_cold(void)
{
	return 4 * abd_perf_env_last_cache();
}

static size_t abd_perf_arc_round(size_t size, size_t unit)
{
	return (size + unit - 1) / unit * unit;
}

/* The size of a buffer that is one run: whole sectors, or the next power of two of pages. */
static size_t abd_perf_arc_single_size(size_t payload_size)
{
	size_t pages = abd_perf_arc_round(payload_size, ABD_PERF_PAGE) / ABD_PERF_PAGE;
	size_t power = 1;

	while (power < pages)
		power *= 2;
	if (power != pages)
		return power * ABD_PERF_PAGE;
	payload_size = abd_perf_arc_round(payload_size, ABD_PERF_SECTOR);
	return payload_size > ABD_PERF_SCATTER_MIN ? payload_size : ABD_PERF_SCATTER_MIN;
}

static void abd_perf_arc_tune(const char *max_order, const char *linear_page)
{
	abd_perf_place_tune("max_order", max_order);
	abd_perf_place_tune("linear_page", linear_page);
}

static abd_t *abd_perf_arc_alloc(enum abd_perf_arc_kind kind, size_t payload_size)
{
	switch (kind) {
	case ABD_PERF_ARC_LINEAR:
		return abd_alloc_linear(abd_perf_arc_round(payload_size, ABD_PERF_PAGE), false);
	case ABD_PERF_ARC_ON:
		abd_perf_arc_tune("10", "1");
		return abd_alloc(abd_perf_arc_single_size(payload_size), false);
	case ABD_PERF_ARC_OFF:
		abd_perf_arc_tune("10", "0");
		return abd_alloc(abd_perf_arc_single_size(payload_size), false);
	default:
		abd_perf_arc_tune("0", "1");
		return abd_alloc(abd_perf_arc_round(payload_size, ABD_PERF_SECTOR), false);
	}
}

/*
 * Ends the program when a buffer is not of the kind that its path is named after: the comparison
 * would be wrong.
 */
static void abd_perf_arc_expect(enum abd_perf_arc_kind kind, const abd_t *abd)
{
	bool as_named = true;

	if (kind == ABD_PERF_ARC_ON)
		as_named = abd_is_linear_page(abd);
	else if (kind == ABD_PERF_ARC_OFF)
		as_named = !abd_is_linear(abd) && (abd->abd_flags & ABD_FLAG_MULTI_CHUNK) == 0;
	else if (kind == ABD_PERF_ARC_MULTI)
		as_named = (abd->abd_flags & ABD_FLAG_MULTI_CHUNK) != 0;
	if (!as_named)
		abd_perf_say_die(1,
			"a buffer of %zu bytes for '%s' came out as another kind (ABD_... set in "
			"the environment?)",
			abd_get_size(abd), abd_perf_arc_kind_name[kind]);
}

static void abd_perf_arc_set_slot(struct abd_perf_arc_set *set, size_t place, size_t slot)
{
	uint32_t number = set->members[slot % set->member_count];
	const struct abd_perf_record *record = &set->records->record[number];

	for (unsigned kind = 0; kind < set->kinds; kind++) {
		abd_t *abd = abd_perf_arc_alloc(kind, record->payload_size);

		if (abd == NULL)
			abd_perf_say_die(1, "no memory for %zu buffers of %s", set->slots,
				abd_perf_arc_kind_name[kind]);
		abd_perf_arc_expect(kind, abd);
		set->visit[kind][place] =
			(struct abd_perf_arc_visit){abd, record->payload_size, number};
	}
	set->payload_bytes += record->payload_size;
}

static void abd_perf_arc_set_shuffle_runs(struct abd_perf_arc_set *set)
{
	abd_t **buffers = malloc(set->slots * sizeof(*buffers));

	if (buffers == NULL)
		abd_perf_say_die(1, "no memory for %zu buffers", set->slots);
	for (size_t i = 0; i < set->slots; i++)
		buffers[i] = set->visit[ABD_PERF_ARC_MULTI][i].abd;
	abd_perf_place_shuffle(buffers, set->slots);
	set->place = abd_perf_place_look(buffers, set->slots);
	free(buffers);
}

void abd_perf_arc_set_make(struct abd_perf_arc_set *set, size_t slots, uint64_t seed)
{
	uint32_t *order = malloc(slots * sizeof(*order));
	uint64_t random = seed;

	set->slots = slots;
	set->payload_bytes = 0;
	for (unsigned kind = 0; kind < set->kinds; kind++) {
		set->visit[kind] = malloc(slots * sizeof(*set->visit[kind]));
		if (set->visit[kind] == NULL || order == NULL)
			abd_perf_say_die(1, "no memory for %zu buffers", slots);
	}
	for (uint32_t i = 0; i < slots; i++)
		order[i] = i;
	abd_perf_shuffle(order, slots, &random);
	for (size_t slot = 0; slot < slots; slot++)
		abd_perf_arc_set_slot(set, order[slot], slot);
	free(order);
	abd_perf_arc_tune("10", "1");
	if (set->kinds > ABD_PERF_ARC_MULTI)
		abd_perf_arc_set_shuffle_runs(set);
	for (size_t i = 0; i < slots; i++) {
		for (unsigned kind = 0; kind < set->kinds; kind++) {
			const struct abd_perf_arc_visit *visit = &set->visit[kind][i];

			abd_copy_from_buf(visit->abd, set->records->record[visit->record].payload,
				visit->payload_size);
		}
	}
}

void abd_perf_arc_set_free(struct abd_perf_arc_set *set)
{
	for (unsigned kind = 0; kind < set->kinds; kind++) {
		for (size_t i = 0; i < set->slots; i++)
			abd_free(set->visit[kind][i].abd);
		free(set->visit[kind]);
	}
	abd_cache_reap_now();
}

void abd_perf_arc_set_damage(struct abd_perf_arc_set *set)
{
	const struct abd_perf_arc_visit *visit = &set->visit[set->kinds - 1][set->slots / 2];
	unsigned char byte;

	abd_copy_to_buf_off(&byte, visit->abd, visit->payload_size / 2, 1);
	byte ^= 1;
	abd_copy_from_buf_off(visit->abd, &byte, visit->payload_size / 2, 1);
}

static bool abd_perf_arc_visit_check(const struct abd_perf_arc_set *set,
	const struct abd_perf_arc_way *way, const struct abd_perf_arc_visit *visit, char *dst)
{
	size_t record_size = set->records->record_size;

	/* Overwrite what an earlier way decoded, or it could pass as this way's result. */
	memset(dst, 0x5a, record_size);
	if (abd_perf_arc_decode(visit, way->own_decoder, dst, (int)record_size) &&
		memcmp(dst, set->records->record[visit->record].source, record_size) == 0)
		return true;
	abd_perf_say_warn(
		"%s: a record of %zu bytes, compressed to %u, was not read back as it was written",
		way->name, record_size, visit->payload_size);
	return false;
}

static bool abd_perf_arc_way_check(
	const struct abd_perf_arc_set *set, const struct abd_perf_arc_way *way, char *dst)
{
	const struct abd_perf_arc_visit *visit = abd_perf_arc_visits(set, way);
	struct abd_stats before, after;

	abd_stats_get(&before, sizeof(before));
	for (size_t i = 0; i < set->slots; i++) {
		if (!abd_perf_arc_visit_check(set, way, &visit[i], dst))
			return false;
	}
	abd_stats_get(&after, sizeof(after));

	uint64_t copies = after.borrow_copy_cnt - before.borrow_copy_cnt;

	if (way->own_decoder || copies == (way->kind >= ABD_PERF_ARC_OFF ? set->slots : 0))
		return true;
	abd_perf_say_warn(
		"%s: %lu of %zu borrows copied", way->name, (unsigned long)copies, set->slots);
	return false;
}

bool abd_perf_arc_set_check(
	const struct abd_perf_arc_set *set, const struct abd_perf_arc_way *way, unsigned count)
{
	char *dst = aligned_alloc(4096, abd_perf_arc_round(set->records->record_size, 4096));
	bool right = dst != NULL;

	for (; count > 0 && right; count--, way++)
		right = !abd_perf_arc_has(set, way) || abd_perf_arc_way_check(set, way, dst);
	free(dst);
	return right;
}

double abd_perf_arc_set_single_share(const struct abd_perf_arc_set *set)
{
	size_t member_count = set->member_count;
	size_t single = 0, sample = member_count < 2000 ? member_count : 2000;

	for (size_t i = 0; i < sample; i++) {
		uint32_t size =
			set->records->record[set->members[i * member_count / sample]].payload_size;
		abd_t *abd = abd_alloc(abd_perf_arc_round(size, ABD_PERF_SECTOR), false);

		single += abd != NULL && abd_is_linear(abd);
		abd_free(abd);
	}
	return (double)single / (double)sample;
}
