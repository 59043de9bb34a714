/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scatter buffers: gathering runs, the run table, giving runs back.
 *
 * A buffer that comes out as one run is linear: abd_scatter_is_single() decides.
 * abd_scatter_cost() says what a buffer would cost.
 *
 * Order of a run: the highest that fits into what is left, at most max_order; where the provider
 * refuses an order, the rest of the buffer takes lower ones. So orders never rise along the
 * table, and the number of runs and classes is known ahead, as long as nothing is refused.
 * OpenZFS: abd_alloc_chunks(), abd_free_chunks() in module/os/linux/zfs/abd_os.c.
 */
#include "abd_impl.h"

#include <string.h>

static struct abd_run_class *abd_scatter_classes(const abd_t *abd)
{
	return (struct abd_run_class *)(void *)&ABD_SCATTER(abd)
		.abd_runs[ABD_SCATTER(abd).abd_run_count];
}

size_t abd_scatter_seek_class(const abd_t *abd, size_t at, size_t *within)
{
	const struct abd_run_class *classes = abd_scatter_classes(abd), *class = classes;

	/* Compare with all of them, without a branch to mispredict: at most 11, adjacent in memory.
	 */
	for (unsigned i = 1; i < abd->abd_class_count; i++)
		class += at >= classes[i].start;

	unsigned shift = ABD_CHUNK_SHIFT + class->order;

	at -= class->start;
	*within = at & (((size_t)1 << shift) - 1);
	return class->first_run + (at >> shift);
}

size_t abd_run_classes(struct abd_run_class *class, const struct iovec *runs, size_t run_count)
{
	size_t start = 0, count = 0;

	for (size_t i = 0; i < run_count; i++) {
		unsigned order = abd_run_order(runs[i].iov_len);

		if (count == 0 || class[count - 1].order != order) {
			if (count == ABD_CHUNK_ORDERS)
				return count + 1;
			class[count++] = (struct abd_run_class){start, (uint32_t)i, order};
		}
		start += ABD_CHUNK_SIZE << order;
	}
	return count;
}

bool abd_scatter_classes_hold(const abd_t *abd)
{
	const struct iovec *runs = ABD_SCATTER(abd).abd_runs;
	struct abd_run_class class[ABD_CHUNK_ORDERS];
	size_t count = abd_run_classes(class, runs, ABD_SCATTER(abd).abd_run_count);

	return count == abd->abd_class_count && abd_run_order(runs[0].iov_len) == abd->abd_order &&
	       (count == 1 ||
		       memcmp(class, abd_scatter_classes(abd), count * sizeof(class[0])) == 0);
}

void abd_run_free(unsigned provider, const struct iovec *runs, size_t run_count)
{
	for (size_t i = 0; i < run_count; i++)
		abd_chunk_free(provider, runs[i].iov_base, abd_run_order(runs[i].iov_len));
}

size_t abd_scatter_head_size(const abd_t *abd)
{
	return abd_scatter_head_bytes(ABD_SCATTER(abd).abd_run_count, abd->abd_class_count);
}

/* The runs gathered so far, and the table they need. */
struct abd_gathering {
	abd_t *abd;
	size_t head_size;
	size_t pages_left;
	size_t run_count;
	size_t class_count;
	unsigned order; /* of the last run */
	unsigned max_order;
	unsigned provider;
};

/*
 * The head size needed if nothing is refused from here on. Runs gathered so far are of higher
 * orders than those to come, so each order to come is a class of its own.
 */
static size_t abd_gathering_head_size(const struct abd_gathering *g)
{
	struct abd_run_plan plan = abd_run_plan(g->pages_left, g->max_order);

	return abd_scatter_head_bytes(
		g->run_count + plan.run_count, g->class_count + plan.class_count);
}

/* Allocate a head for all runs to come, and move the runs gathered so far into it. */
static bool abd_gathering_plan(struct abd_gathering *g)
{
	size_t head_size = abd_gathering_head_size(g);
	abd_t *abd = abd_head_alloc(head_size);

	if (abd == NULL)
		return false;
	if (g->abd != NULL) {
		memcpy(abd + 1, g->abd + 1, g->run_count * sizeof(struct iovec));
		abd_head_free(g->abd, g->head_size);
	}
	g->abd = abd;
	g->head_size = head_size;
	ABD_SCATTER(abd).abd_runs = (struct iovec *)(void *)(abd + 1);
	return true;
}

/* Count runs that are in the table already. */
static void abd_gathering_add(struct abd_gathering *g, unsigned order, size_t count)
{
	g->class_count += g->class_count == 0 || g->order != order;
	g->order = order;
	g->run_count += count;
	g->pages_left -= count << order;
}

static void abd_gathering_undo(struct abd_gathering *g)
{
	if (g->abd == NULL)
		return;
	abd_run_free(g->provider, ABD_SCATTER(g->abd).abd_runs, g->run_count);
	abd_head_free(g->abd, g->head_size);
}

/* A run, or NULL: refused. A refused page is requested once more after the reserve has gone back.
 */
static inline void *abd_scatter_run(unsigned provider, unsigned order)
{
	void *run = abd_chunk_alloc(provider, order);

	if (ABD_UNLIKELY(run == NULL) && order == 0 && abd_chunk_relieve(provider))
		run = abd_chunk_alloc(provider, order);
	return run;
}

/* Take as many runs of this order as the buffer needs and this thread has in reserve, or else one
 * from the provider. Returns how many; 0: refused. */
static size_t abd_gathering_take(struct abd_gathering *g, unsigned order)
{
	struct iovec *runs = ABD_SCATTER(g->abd).abd_runs + g->run_count;
	size_t wanted = order == g->max_order ? g->pages_left >> order : 1;
	size_t count = wanted > 1 ? abd_chunk_alloc_many(g->provider, order, runs, wanted) : 0;

	if (count > 0)
		return count;

	void *run = abd_scatter_run(g->provider, order);

	*runs = (struct iovec){run, ABD_CHUNK_SIZE << order};
	return run != NULL;
}

/* Gather all runs. False: no memory; the caller gives back what was gathered. */
static bool abd_gathering_run(struct abd_gathering *g)
{
	while (g->pages_left > 0) {
		unsigned fits = abd_log2(g->pages_left);
		unsigned order = fits < g->max_order ? fits : g->max_order;
		size_t count = abd_gathering_take(g, order);

		if (ABD_LIKELY(count > 0)) {
			abd_gathering_add(g, order, count);
			continue;
		}
		if (order == 0)
			return false;
		abd_counter_add(ABD_COUNTER(scatter_alloc_retry), 1);
		g->max_order = order - 1;
		if (!abd_gathering_plan(g))
			return false;
	}
	return true;
}

/* Add a buffer and all its runs to the counters (sign 1), or subtract them (-1). */
static void abd_scatter_count(const abd_t *abd, uint64_t sign)
{
	size_t waste = -abd->abd_size & (ABD_CHUNK_SIZE - 1);

	abd_counter_add(ABD_COUNTER(scatter_cnt), sign);
	abd_counter_add(ABD_COUNTER(scatter_data_size), sign * abd->abd_size);
	abd_counter_add(ABD_COUNTER(scatter_chunk_waste), sign * waste);
	if (abd_is_linear_page(abd)) {
		abd_counter_add(ABD_COUNTER(scatter_order) + abd_run_order(abd->abd_size), sign);
		return;
	}

	size_t run_count = ABD_SCATTER(abd).abd_run_count;

	if (run_count > 1)
		abd_counter_add(ABD_COUNTER(scatter_multi_chunk), sign);
	if (abd->abd_class_count == 1) {
		abd_counter_add(ABD_COUNTER(scatter_order) + abd->abd_order, sign * run_count);
		return;
	}

	const struct abd_run_class *class = abd_scatter_classes(abd);

	for (unsigned i = 0; i < abd->abd_class_count; i++) {
		size_t end = i + 1u < abd->abd_class_count ? class[i + 1].first_run : run_count;

		abd_counter_add(ABD_COUNTER(scatter_order) + class[i].order,
			sign * (end - class[i].first_run));
	}
}

/* The same for a buffer of one run whose struct comes from a magazine, or goes to one. */
static inline void abd_scatter_count_pair(
	struct abd_thread *thread, size_t size, unsigned order, uint64_t sign)
{
	size_t waste = -size & (ABD_CHUNK_SIZE - 1);

	abd_counter_add_to(thread, ABD_COUNTER(struct_size), sign * sizeof(abd_t));
	abd_counter_add_to(thread, ABD_COUNTER(scatter_cnt), sign);
	abd_counter_add_to(thread, ABD_COUNTER(scatter_data_size), sign * size);
	abd_counter_add_to(thread, ABD_COUNTER(scatter_chunk_waste), sign * waste);
	abd_counter_add_to(thread, ABD_COUNTER(scatter_order) + order, sign);
}

/* The single run as a linear buffer, without a table. *refused: there was no run of this order. */
static abd_t *abd_scatter_alloc_single(unsigned provider, unsigned order, bool *refused)
{
	abd_t *abd = abd_struct_alloc();

	*refused = false;
	if (ABD_UNLIKELY(abd == NULL))
		return NULL;

	void *run = abd_scatter_run(provider, order);

	if (ABD_UNLIKELY(run == NULL)) {
		*refused = true;
		abd_struct_free(abd);
		return NULL;
	}
	abd->abd_flags |= ABD_FLAG_LINEAR | ABD_FLAG_LINEAR_PAGE;
	abd->abd_order = (uint8_t)order;
	ABD_BUF(abd) = run;
	return abd;
}

/* As many runs as it takes, with a table; none of an order above max_order. */
static abd_t *abd_scatter_alloc_multi(unsigned provider, size_t size, unsigned max_order)
{
	struct abd_gathering g;

	g.abd = NULL;
	g.pages_left = abd_round_up(size, ABD_CHUNK_SIZE) >> ABD_CHUNK_SHIFT;
	g.run_count = 0;
	g.class_count = 0;
	g.max_order = max_order;
	g.provider = provider;
	if (!abd_gathering_plan(&g) || !abd_gathering_run(&g)) {
		abd_gathering_undo(&g);
		return NULL;
	}

	abd_t *abd = g.abd;
	struct iovec *last = &ABD_SCATTER(abd).abd_runs[g.run_count - 1];

	last->iov_len -= -size & (ABD_CHUNK_SIZE - 1);
	ABD_SCATTER(abd).abd_run_count = g.run_count;
	abd->abd_order = (uint8_t)abd_run_order(ABD_SCATTER(abd).abd_runs[0].iov_len);
	abd->abd_class_count = (uint8_t)g.class_count;
	if (g.class_count > 1)
		abd_run_classes(abd_scatter_classes(abd), ABD_SCATTER(abd).abd_runs, g.run_count);
	if (g.run_count > 1)
		abd->abd_flags |= ABD_FLAG_MULTI_CHUNK;
	assert(abd_scatter_head_size(abd) == g.head_size);
	return abd;
}

/* Whether so many pages are one run, which makes the buffer linear, unless that run is refused. */
static inline bool abd_scatter_is_single(size_t pages, unsigned max_order)
{
	return (pages & (pages - 1)) == 0 && abd_log2(pages) <= max_order && ABD_TUNE(linear_page);
}

struct abd_scatter_cost abd_scatter_cost(size_t size)
{
	struct abd_gathering g = {
		.pages_left = abd_round_up(size, ABD_CHUNK_SIZE) >> ABD_CHUNK_SHIFT,
		.max_order = ABD_TUNE(max_order),
	};
	struct abd_scatter_cost cost = {.run_bytes = g.pages_left << ABD_CHUNK_SHIFT};

	if (!abd_scatter_is_single(g.pages_left, g.max_order))
		cost.head_size = abd_gathering_head_size(&g);
	return cost;
}

static abd_t *abd_scatter_gather(unsigned provider, size_t size)
{
	size_t pages = abd_round_up(size, ABD_CHUNK_SIZE) >> ABD_CHUNK_SHIFT;
	unsigned order = abd_log2(pages), max_order = ABD_TUNE(max_order);

	if (abd_scatter_is_single(pages, max_order)) {
		bool refused;
		abd_t *abd = abd_scatter_alloc_single(provider, order, &refused);

		if (abd != NULL || !refused || order == 0)
			return abd;
		abd_counter_add(ABD_COUNTER(scatter_alloc_retry), 1);
		max_order = order - 1;
	}
	return abd_scatter_alloc_multi(provider, size, max_order);
}

/* What lies behind the data in the last chunk, for the deep checks. */
struct abd_last_run {
	void *run;
	size_t used, size;
};

static inline struct abd_last_run abd_scatter_last_run(const abd_t *abd)
{
	size_t waste = -abd->abd_size & (ABD_CHUNK_SIZE - 1);

	if (abd_is_linear_page(abd))
		return (struct abd_last_run){ABD_BUF(abd), abd->abd_size, abd->abd_size + waste};

	const struct iovec *last = &ABD_SCATTER(abd).abd_runs[ABD_SCATTER(abd).abd_run_count - 1];

	return (struct abd_last_run){last->iov_base, last->iov_len, last->iov_len + waste};
}

static inline abd_flags_t abd_scatter_flags(bool is_metadata)
{
	return ABD_FLAG_OWNER | is_metadata * ABD_FLAG_META;
}

static ABD_NOINLINE abd_t *abd_scatter_alloc_slow(size_t size, bool is_metadata)
{
	unsigned provider = abd_chunk_provider_now();
	abd_t *abd = NULL;

	if (size <= abd_mem_bytes_max())
		abd = abd_scatter_gather(provider, size);
	if (ABD_UNLIKELY(abd == NULL)) {
		errno = ENOMEM;
		return NULL;
	}
	abd->abd_flags |= abd_scatter_flags(is_metadata);
	abd->abd_size = size;
	abd->abd_provider = (uint8_t)provider;
	abd_scatter_count(abd, 1);

	struct abd_last_run last = abd_scatter_last_run(abd);

	abd_quarantine_guard(last.run, last.used, last.size);
	return abd;
}

/* The fast path takes struct and run together, out of this thread's magazines. */
abd_t *abd_scatter_alloc(size_t size, bool is_metadata)
{
	unsigned provider = atomic_load_explicit(&abd_chunk_provider_number, memory_order_acquire),
		 order = abd_run_order(size);
	struct abd_thread *thread = NULL;
	void *head, *run;

	if (ABD_LIKELY(provider < ABD_CHUNK_PROVIDERS) &&
		abd_scatter_is_single(((size - 1) >> ABD_CHUNK_SHIFT) + 1, ABD_TUNE(max_order)))
		thread = abd_magazine_get_pair(
			ABD_STRUCT_MAGAZINE, abd_chunk_magazine(provider, order), &head, &run);
	if (ABD_UNLIKELY(thread == NULL))
		return abd_scatter_alloc_slow(size, is_metadata);

	abd_t *abd = head;

	abd_struct_init(abd,
		ABD_FLAG_ALLOCD | ABD_FLAG_LINEAR | ABD_FLAG_LINEAR_PAGE |
			abd_scatter_flags(is_metadata),
		size);
	abd->abd_provider = (uint8_t)provider;
	abd->abd_order = (uint8_t)order;
	ABD_BUF(abd) = run;
	abd_scatter_count_pair(thread, size, order, 1);
	return abd;
}

static ABD_NOINLINE void abd_scatter_free_slow(abd_t *abd)
{
	unsigned provider = abd->abd_provider;
	struct abd_last_run last = abd_scatter_last_run(abd);

	abd_quarantine_unguard(last.run, last.used, last.size);
	abd_scatter_count(abd, -(uint64_t)1);
	if (abd_is_linear_page(abd)) {
		abd_chunk_free(provider, ABD_BUF(abd), abd->abd_order);
		abd_struct_free(abd);
		return;
	}

	struct iovec *runs = ABD_SCATTER(abd).abd_runs;
	size_t run_count = ABD_SCATTER(abd).abd_run_count, i = 0;

	if (abd->abd_class_count == 1)
		i = abd_chunk_free_many(provider, abd->abd_order, runs, run_count);
	abd_run_free(provider, runs + i, run_count - i);
	abd_head_free(abd, abd_scatter_head_size(abd));
}

bool abd_scatter_trims(const abd_t *abd, size_t size)
{
	size_t less = abd->abd_size - size, last = abd->abd_size;

	if ((abd->abd_flags & ABD_FLAG_OWNER) == 0 ||
		(abd_is_linear(abd) && !abd_is_linear_page(abd)))
		return false;
	if (!abd_is_linear(abd))
		last = ABD_SCATTER(abd).abd_runs[ABD_SCATTER(abd).abd_run_count - 1].iov_len;
	return less < last && abd_run_order(last - less) == abd_run_order(last);
}

void abd_scatter_trim(abd_t *abd, size_t size)
{
	struct abd_last_run last = abd_scatter_last_run(abd);

	assert(abd_scatter_trims(abd, size));
	abd_quarantine_unguard(last.run, last.used, last.size);
	abd_scatter_count(abd, -(uint64_t)1);
	if (!abd_is_linear(abd))
		ABD_SCATTER(abd).abd_runs[ABD_SCATTER(abd).abd_run_count - 1].iov_len -=
			abd->abd_size - size;
	abd->abd_size = size;
	abd_scatter_count(abd, 1);
	last = abd_scatter_last_run(abd);
	abd_quarantine_guard(last.run, last.used, last.size);
}

void abd_scatter_free(abd_t *abd)
{
	abd_flags_t flags = abd->abd_flags;
	size_t size = abd->abd_size;
	unsigned order = abd->abd_order;
	struct abd_thread *thread = NULL;

	if ((flags & (ABD_FLAG_LINEAR_PAGE | ABD_FLAG_ALLOCD)) ==
		(ABD_FLAG_LINEAR_PAGE | ABD_FLAG_ALLOCD)) {
		abd_struct_clear(abd);
		thread = abd_magazine_put_pair(ABD_STRUCT_MAGAZINE,
			abd_chunk_magazine(abd->abd_provider, order), abd, ABD_BUF(abd));
	}
	if (ABD_LIKELY(thread != NULL)) {
		abd_scatter_count_pair(thread, size, order, -(uint64_t)1);
		return;
	}
	abd->abd_flags = flags;
	abd->abd_size = size;
	abd_scatter_free_slow(abd);
}
