/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers by name, who depends on whom, and the counters.
 */
#include "abd_explain_world.h"
#include "abd_explain_heap.h"
#include "abd_explain_memory.h"

#include <stdlib.h>
#include <string.h>

/* The tunables that every script starts with, regardless of the environment. */
static const char *const abd_explain_tunables[][2] = {
	{"scatter_enabled", "1"},
	{"scatter_min_size", "1536"},
	{"max_order", "10"},
	{"linear_page", "1"},
	{"compare", "auto"},
};

static void abd_explain_world_tune(void)
{
	for (size_t i = 0; i < sizeof(abd_explain_tunables) / sizeof(abd_explain_tunables[0]); i++)
		abd_tuning_set(abd_explain_tunables[i][0], abd_explain_tunables[i][1]);
}

void abd_explain_world_begin(struct abd_explain_world *world, struct abd_explain_trace *trace)
{
	memset(world, 0, sizeof(*world));
	world->trace = trace;
	abd_explain_heap_begin();
	/*
	 * No reserves: freed memory goes back to the pool at once, so that the same script always
	 * gets the same pages.
	 */
	abd_tuning_set("thread_cache_bytes", "0");
	abd_tuning_set("pool_size", "2097152");
	abd_explain_world_tune();
}

/* Frees the newest first: views before their parents, gangs before children they don't own. */
static void abd_explain_world_free_all(struct abd_explain_world *world)
{
	for (struct abd_explain_borrow *borrow = world->borrows; borrow != NULL;
		borrow = borrow->next) {
		/* Undo changes, as abd_return_buf() requires: zeros could not be written back. */
		if (borrow->is_copy)
			abd_copy_to_buf(borrow->memory, borrow->buffer->abd, borrow->size);
		abd_return_buf(borrow->buffer->abd, borrow->memory, borrow->size);
	}
	world->borrows = NULL;
	for (struct abd_explain_buffer *buffer = world->buffers; buffer != NULL;
		buffer = buffer->next)
		buffer->borrow_count = 0;
	for (bool more = true; more;) {
		more = false;
		for (struct abd_explain_buffer *buffer = world->buffers; buffer != NULL;
			buffer = buffer->next) {
			if (buffer->abd == NULL ||
				abd_explain_world_why_not_free(world, buffer) != NULL)
				continue;
			abd_free(buffer->abd);
			abd_explain_world_ended(world, buffer, 1);
			more = true;
		}
	}
}

void abd_explain_world_reset(struct abd_explain_world *world)
{
	abd_explain_cache_end(world->cache);
	world->cache = NULL;
	abd_explain_world_free_all(world);
	abd_explain_memory_unhold(world);
	abd_explain_heap_reset();
	abd_explain_world_tune();
	world->buffers = NULL;
	world->buffer_count = 0;
	abd_stats_get(&world->base, sizeof(world->base));
	world->before = world->base;
}

void abd_explain_world_end(struct abd_explain_world *world)
{
	abd_explain_world_reset(world);
	free(world->pages);
	free(world->held);
	abd_fini();
}

struct abd_explain_buffer *abd_explain_world_find(struct abd_explain_world *world, const char *name)
{
	struct abd_explain_buffer *buffer = world->buffers;

	while (buffer != NULL && strcmp(buffer->name, name) != 0)
		buffer = buffer->next;
	return buffer;
}

struct abd_explain_buffer *abd_explain_world_newest(struct abd_explain_world *world)
{
	struct abd_explain_buffer *buffer = world->buffers;

	while (buffer != NULL && buffer->abd == NULL)
		buffer = buffer->next;
	return buffer;
}

const char *abd_explain_world_name(struct abd_explain_world *world)
{
	const char *name;

	for (unsigned n = 0;; n++) {
		char letter = (char)('a' + n % 26);

		name = n < 26 ? abd_explain_trace_text(world->trace, "%c", letter)
			      : abd_explain_trace_text(world->trace, "%c%u", letter, n / 26);
		if (abd_explain_world_find(world, name) == NULL)
			return name;
	}
}

struct abd_explain_buffer *abd_explain_world_add(
	struct abd_explain_world *world, const char *name, abd_t *abd)
{
	struct abd_explain_buffer *buffer = abd_explain_trace_new(world->trace, sizeof(*buffer));

	buffer->name = name;
	buffer->abd = abd;
	buffer->next = world->buffers;
	world->buffers = buffer;
	world->buffer_count++;
	abd_explain_memory_learn(world, buffer);
	return buffer;
}

/* ---- who depends on whom --------------------------------------------------------------------- */

static void abd_explain_world_child(struct abd_explain_world *world,
	struct abd_explain_buffer *gang, struct abd_explain_buffer *child, bool is_owned)
{
	struct abd_explain_child *children =
		abd_explain_trace_new(world->trace, (gang->child_count + 1) * sizeof(*children));

	if (gang->child_count > 0)
		memcpy(children, gang->children, gang->child_count * sizeof(*children));
	children[gang->child_count++] = (struct abd_explain_child){child, is_owned};
	gang->children = children;
	child->gang_count++;
}

void abd_explain_world_adopt(struct abd_explain_world *world, struct abd_explain_buffer *gang,
	struct abd_explain_buffer *child, bool is_owned)
{
	struct abd_explain_buffer *root = child;

	if (!abd_is_gang(child->abd)) {
		abd_explain_world_child(world, gang, child, is_owned);
		return;
	}
	/*
	 * Gangs don't nest: adding a gang adds its children, and moves them if the gang is handed
	 * over. For a view of a gang, all children are recorded, not only those in its range:
	 * dependencies need no more.
	 */
	while (root->parent != NULL)
		root = root->parent;
	for (size_t i = 0; i < root->child_count; i++) {
		bool goes_over = is_owned && root == child && root->children[i].is_owned;

		abd_explain_world_child(world, gang, root->children[i].buffer, goes_over);
		if (goes_over)
			root->children[i].is_owned = false;
	}
}

static size_t abd_explain_world_count(
	const struct abd_explain_buffer *gang, const struct abd_explain_buffer *child)
{
	size_t count = 0;

	for (size_t i = 0; i < gang->child_count; i++)
		count += gang->children[i].buffer == child;
	return count;
}

const char *abd_explain_world_why_not_free(
	struct abd_explain_world *world, const struct abd_explain_buffer *buffer)
{
	struct abd_explain_trace *trace = world->trace;

	if (buffer->view_count > 0)
		return abd_explain_trace_text(trace,
			"%s has %u living view%s; views end before their parent", buffer->name,
			buffer->view_count, buffer->view_count > 1 ? "s" : "");
	if (buffer->gang_count > 0)
		return abd_explain_trace_text(
			trace, "%s is a member of a gang; free the gang first", buffer->name);
	if (buffer->borrow_count > 0)
		return abd_explain_trace_text(
			trace, "%s is borrowed from; return the borrow first", buffer->name);
	for (size_t i = 0; i < buffer->child_count; i++) {
		const struct abd_explain_buffer *child = buffer->children[i].buffer;

		if (buffer->children[i].is_owned &&
			(child->view_count > 0 || child->borrow_count > 0 ||
				child->gang_count > abd_explain_world_count(buffer, child)))
			return abd_explain_trace_text(trace,
				"%s would end with its gang %s, and something else still uses it",
				child->name, buffer->name);
	}
	return NULL;
}

void abd_explain_world_ended(
	struct abd_explain_world *world, struct abd_explain_buffer *buffer, unsigned line)
{
	abd_explain_memory_forget(world, buffer);
	buffer->abd = NULL;
	buffer->ended = line;
	if (buffer->parent != NULL)
		buffer->parent->view_count--;
	for (size_t i = 0; i < buffer->child_count; i++)
		buffer->children[i].buffer->gang_count--;
	for (size_t i = 0; i < buffer->child_count; i++)
		if (buffer->children[i].is_owned && buffer->children[i].buffer->abd != NULL)
			abd_explain_world_ended(world, buffer->children[i].buffer, line);
	buffer->child_count = 0;
}

/* ---- counters -------------------------------------------------------------------------------- */

static struct abd_explain_delta **abd_explain_world_delta(struct abd_explain_world *world,
	struct abd_explain_delta **end, const char *name, const uint64_t values[3], bool all)
{
	uint64_t base = values[0], before = values[1], now = values[2];

	if (all ? now == base : now == before)
		return end;
	*end = abd_explain_trace_new(world->trace, sizeof(**end));
	**end = (struct abd_explain_delta){name, now - base, (int64_t)now - (int64_t)before, NULL};
	return &(*end)->next;
}

static struct abd_explain_delta *abd_explain_world_list(struct abd_explain_world *world, bool all)
{
	struct abd_explain_delta *first = NULL, **end = &first;
	const struct abd_stats *base = &world->base, *before = &world->before;
	struct abd_stats now;

	abd_stats_get(&now, sizeof(now));
#define ABD_EXPLAIN_COUNTER(name)      \
	end = abd_explain_world_delta( \
		world, end, #name, (const uint64_t[]){base->name, before->name, now.name}, all)
	ABD_EXPLAIN_COUNTER(struct_size);
	ABD_EXPLAIN_COUNTER(linear_cnt);
	ABD_EXPLAIN_COUNTER(linear_data_size);
	ABD_EXPLAIN_COUNTER(scatter_cnt);
	ABD_EXPLAIN_COUNTER(scatter_data_size);
	ABD_EXPLAIN_COUNTER(scatter_chunk_waste);
	for (unsigned order = 0; order < ABD_STATS_ORDERS; order++)
		end = abd_explain_world_delta(world, end,
			abd_explain_trace_text(world->trace, "scatter_order[%u]", order),
			(const uint64_t[]){base->scatter_order[order], before->scatter_order[order],
				now.scatter_order[order]},
			all);
	ABD_EXPLAIN_COUNTER(scatter_multi_chunk);
	ABD_EXPLAIN_COUNTER(scatter_alloc_retry);
	ABD_EXPLAIN_COUNTER(borrow_cnt);
	ABD_EXPLAIN_COUNTER(borrow_copy_cnt);
	ABD_EXPLAIN_COUNTER(borrow_copy_bytes);
#undef ABD_EXPLAIN_COUNTER
	if (!all)
		world->before = now;
	return first;
}

void abd_explain_world_uncount(struct abd_explain_world *world)
{
	uint64_t *base = (uint64_t *)&world->base, *before = (uint64_t *)&world->before;
	struct abd_stats stats;
	const uint64_t *now = (const uint64_t *)&stats;

	abd_stats_get(&stats, sizeof(stats));
	for (size_t i = 0; i < sizeof(stats) / sizeof(*now); i++) {
		base[i] = (uint64_t)((int64_t)base[i] + (int64_t)now[i] - (int64_t)before[i]);
		before[i] = now[i];
	}
}

struct abd_explain_delta *abd_explain_world_deltas(struct abd_explain_world *world)
{
	return abd_explain_world_list(world, false);
}

struct abd_explain_delta *abd_explain_world_counters(struct abd_explain_world *world)
{
	return abd_explain_world_list(world, true);
}
