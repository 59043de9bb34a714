/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of this layer share: short names for the buffer's fields, making and freeing the
 * struct, start-up.
 *
 * How a buffer looks, by kind:
 *
 *   linear               scatter                             gang
 *   +--------+           +--------+                          +--------+    table
 *   | LINEAR |           |        |   abd_runs               | GANG   |   +-------------------+
 *   | size   |  data     | size   |   +-----------+  run     | size   |   | child, off, start |->
 *   | buf ---|-->[...]   | runs --|-->| base, len |-->[...]  | table -|-->| child, off, start |->
 *   +--------+           | offset |   | base, len |-->[...]  +--------+   +-------------------+
 *                        +--------+   +-----------+            each a linear or scatter buffer
 *                                     | classes   |  only when runs of several orders occur
 *                                     +-----------+
 *
 * Struct, run table and classes are one block ("head"), so that a cold buffer costs one miss more
 * than its data, not two. Orders never rise along a run table, so runs of one order (a class) stand
 * together: seeking costs a division by a power of two when there is one class, a walk over at most
 * 11 classes otherwise, never a walk over runs.
 * The last run's iov_len is what the data needs, so the table can be given to writev() as it is.
 */
#ifndef ABD_IMPL_H
#define ABD_IMPL_H

#include "abd_chunk.h"
#include "abd_contract.h"
#include "abd_counter.h"

#include <abd/buffer.h>

#include <assert.h>

#define ABD_BUF(abd) ((abd)->abd_u.abd_linear.abd_buf)
#define ABD_SCATTER(abd) ((abd)->abd_u.abd_scatter)
#define ABD_GANG(abd) ((abd)->abd_u.abd_gang)

/*
 * The struct's own counts (live views and borrows, gangs that refer to it) change in a const abd_t
 * too: const protects the data. No struct is a constant object, so casting the const away is
 * allowed.
 */
static inline abd_t *abd_books(const abd_t *abd)
{
	return (abd_t *)(uintptr_t)abd;
}

static_assert(
	sizeof(struct abd) == 64 || sizeof(void *) != 8, "a buffer's struct is one cache line");

/* ---- abd_struct.c ---- */

/**
 * Allocate a head of head_size bytes: a struct with tables behind it. The struct is ready, except
 * for kind and data. NULL: no memory, and errno is set.
 */
abd_t *abd_head_alloc(size_t head_size);
/** Clear the struct, and free the head if it is the library's. */
void abd_head_free(abd_t *abd, size_t head_size);
/** The same for a struct without tables. */
abd_t *abd_struct_alloc(void);
void abd_struct_free(abd_t *abd);
/** Make a struct ready, except for kind and data: the library's (ABD_FLAG_ALLOCD) or the caller's.
 */
static inline void abd_struct_init(abd_t *abd, abd_flags_t flags, size_t size)
{
	memset(abd, 0, sizeof(*abd));
	abd->abd_flags = flags;
	abd->abd_size = size;
}

/** Before a struct of the library's is freed: make it one that every call refuses. */
static inline void abd_struct_clear(abd_t *abd)
{
	abd->abd_flags = (abd_flags_t)0;
	abd->abd_size = 0;
}

/* The magazine of structs without tables. */
#define ABD_STRUCT_MAGAZINE ((unsigned)((sizeof(struct abd) - 1) / 64))

/**
 * The fast path of abd_struct_alloc(): a struct out of this thread's magazine. It calls nothing,
 * so a caller whose own fast path calls nothing either saves no registers. NULL: there is none.
 */
static inline abd_t *abd_struct_take(void)
{
	struct abd_thread *thread = abd_magazine_thread();
	abd_t *abd = ABD_LIKELY(thread != NULL) ? abd_magazine_get_own(thread, ABD_STRUCT_MAGAZINE)
						: NULL;

	if (ABD_UNLIKELY(abd == NULL))
		return NULL;
	abd_counter_add_to(thread, ABD_COUNTER(struct_size), sizeof(*abd));
	abd_struct_init(abd, ABD_FLAG_ALLOCD, 0);
	return abd;
}

/**
 * The fast path of abd_struct_free(). False: it can't; abd is as it was, but for its size. The last
 * free before a look at the clock goes the slow way, where the count begins again.
 */
static inline bool abd_struct_give(abd_t *abd)
{
	struct abd_thread *thread = abd_magazine_thread();
	abd_flags_t flags = abd->abd_flags;

	if (ABD_UNLIKELY(
		    (flags & ABD_FLAG_ALLOCD) == 0 || thread == NULL || thread->puts_left <= 1))
		return false;
	abd_struct_clear(abd);
	if (ABD_UNLIKELY(!abd_magazine_put_own(thread, ABD_STRUCT_MAGAZINE, abd))) {
		abd->abd_flags = flags;
		return false;
	}
	thread->puts_left--;
	abd_counter_add_to(thread, ABD_COUNTER(struct_size), -(uint64_t)sizeof(*abd));
	return true;
}

/**
 * Move a buffer whose head is a struct of the library's, and nothing more, into the caller's
 * struct. Nobody else may refer to the buffer yet.
 */
void abd_struct_move(abd_t *to, abd_t *from);
/** The reverse: the caller's struct is no buffer any more. NULL: no memory; nothing has changed. */
abd_t *abd_struct_move_out(const abd_t *from);

/* ---- abd_scatter.c ---- */

abd_t *abd_scatter_alloc(size_t size, bool is_metadata);
void abd_scatter_free(abd_t *abd);
/**
 * Whether a buffer can be shortened to its first size bytes: it owns runs, and the last of them
 * keeps its order. Then trim does it; what is cut off stays allocated.
 */
bool abd_scatter_trims(const abd_t *abd, size_t size);
void abd_scatter_trim(abd_t *abd, size_t size);

/* Runs of one order. They stand behind the run table when there is more than one class. */
struct abd_run_class {
	size_t start; /* of the first one, in bytes from the start of the table */
	uint32_t first_run;
	uint32_t order;
};

/*
 * The runs of so many pages, if the provider refuses none: as many of max_order as fit, then one
 * for each bit of the rest.
 */
struct abd_run_plan {
	size_t run_count;
	size_t class_count;
};

static inline struct abd_run_plan abd_run_plan(size_t pages, unsigned max_order)
{
	size_t full = pages >> max_order;
	size_t bits = (size_t)__builtin_popcountl(pages & (((size_t)1 << max_order) - 1));

	return (struct abd_run_plan){full + bits, (full > 0) + bits};
}

/**
 * Describe runs by their orders, in at most ABD_CHUNK_ORDERS classes. Returns how many there are;
 * more than that: the orders rise, which they never do.
 */
size_t abd_run_classes(struct abd_run_class *class, const struct iovec *runs, size_t run_count);
/** Give runs back to their provider. */
void abd_run_free(unsigned provider, const struct iovec *runs, size_t run_count);

/** Bytes of struct, run table and classes, for so many of them. */
static inline size_t abd_scatter_head_bytes(size_t run_count, size_t class_count)
{
	return sizeof(struct abd) + run_count * sizeof(struct iovec) +
	       (class_count > 1 ? class_count * sizeof(struct abd_run_class) : 0);
}

/** What abd_alloc() of a scatter buffer will take, if the provider refuses no order. */
struct abd_scatter_cost {
	size_t run_bytes; /* whole pages: the waste behind the data is included */
	size_t head_size; /* struct, run table and classes in one block; 0: linear, no table */
};
struct abd_scatter_cost abd_scatter_cost(size_t size);

/** Bytes of struct, run table and classes. */
size_t abd_scatter_head_size(const abd_t *abd);
/** Whether the first order and the classes, which seeking uses, agree with the run table. */
bool abd_scatter_classes_hold(const abd_t *abd);
/**
 * The run that holds the byte at position at of the run table; *within is the byte's place in it.
 */
size_t abd_scatter_seek_class(const abd_t *abd, size_t at, size_t *within);

/** The order of a run that has len bytes in use. */
static inline unsigned abd_run_order(size_t len)
{
	return len <= ABD_CHUNK_SIZE ? 0 : abd_log2((len - 1) >> ABD_CHUNK_SHIFT) + 1;
}

static inline size_t abd_scatter_seek(const abd_t *abd, size_t at, size_t *within)
{
	unsigned shift = ABD_CHUNK_SHIFT + abd->abd_order;

	if (ABD_UNLIKELY(abd->abd_class_count > 1))
		return abd_scatter_seek_class(abd, at, within);
	*within = at & (((size_t)1 << shift) - 1);
	return at >> shift;
}

/* ---- abd_split.c ---- */

/**
 * What struct and tables of a split buffer of size bytes take, which has whole pages and a rest.
 */
size_t abd_split_head_size(size_t size);
/**
 * Make a split buffer: head, which has head_size bytes, is the caller's, and so is the memory of
 * its last size % 4 KiB bytes, tail. NULL: no memory; or max_order has changed since head_size was
 * right.
 */
abd_t *abd_split_make(void *head, size_t head_size, size_t size, void *tail, bool is_metadata);
/** Give its pages back. Head and tail stay the caller's. */
void abd_split_free(abd_t *abd);

/* ---- abd_linear.c ---- */

void abd_linear_free(abd_t *abd);
/** End a linear buffer that does not own its memory, running the free callback if there is one. */
void abd_linear_end(abd_t *abd);

/* ---- abd_gang.c ---- */

void abd_gang_free(abd_t *abd, void (*free_child)(abd_t *child));

/* ---- abd_zeros.c ---- */

#define ABD_ZEROS_SIZE ((size_t)64 << 10)

/** ABD_ZEROS_SIZE bytes of read-only zeroes, or NULL. */
const struct iovec *abd_zeros_run(void);

/* ---- abd_tune.c ---- */

struct abd_tune {
	int scatter_enabled; /* must be an int: engines written for OpenZFS assign to it */
	int linear_page;
	size_t scatter_min_size;
	unsigned max_order;
};

extern struct abd_tune abd_tune __attribute__((visibility("hidden")));
extern const struct abd_tunables abd_buffer_tunables;
extern atomic_bool abd_started __attribute__((visibility("hidden")));

void abd_start_slow(void);

/** Read the environment, once, before anything of this layer is used. */
static inline void abd_start(void)
{
	if (ABD_UNLIKELY(!atomic_load_explicit(&abd_started, memory_order_acquire)))
		abd_start_slow();
}

#define ABD_TUNE(field) __atomic_load_n(&abd_tune.field, __ATOMIC_RELAXED)

/* ---- calls made on behalf of another public call, which a broken contract names ---- */

/** abd_free() and abd_copy_from_buf_off(); call is what the user called. */
void abd_free_as(const char *call, abd_t *abd);
void abd_copy_from_buf_as(const char *call, abd_t *abd, const void *buf, size_t off, size_t size);

#endif
