/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model of the model test (test_model.c): what buffers are to it, and what its files share.
 *
 * Buffers with memory of their own (bases) have a flat array each. Views and gangs are lists of
 * slices of bases, as they are worked out from the calls that made them, so what is written through
 * one is expected through all others.
 * Invariant: after each operation the bases' real memory is what their arrays hold, at least around
 * what was written, and the gauges are what the living buffers add up to; every CHECK_ALL
 * operations, and when a base ends, all of its memory.
 *
 *   model_bytes.c     slices and flat bytes, compared with real memory
 *   model_object.c    the table of living buffers, and their gauges
 *   model_draw.c      what is drawn: buffers, sizes, ranges
 *   model_make.c  model_gang.c  model_end.c  model_operate.c  model_flush.c  model_compare.c
 *   model_io.c  model_borrow.c  model_lz4.c  model_checksum.c  model_raidz.c
 *                     the operations, by family
 *   model_episode.c   the table of operations, one step, episodes
 *   model_shrink.c    leaves operations out while the rest fails, and prints what is left
 *
 * A new operation: a function model_op_NAME() in its family's file, declared below, with a line in
 * model_episode.c's table. It draws what it needs, says what it does with trace(), does it, does
 * the same to the flat bytes and check()s.
 */
#ifndef MODEL_H
#define MODEL_H

#include "abd_base.h"
#include "abd_test.h"

enum {
	EPISODE = 20000,
	OBJECTS = 64,
	ENTRIES = 48, /* a gang's children, and what it only needs to outlive it */
	BORROWS = 3,
	CHECK_ALL = 1000,
	FILE_ROOM = 128 << 10,
	ROOM = 6 << 20, /* five pieces of an iovec, 1 MiB each, and some */
	SHRINK_TRIES = 3000,
	CHECK_FAILED = 3, /* exit code */
};

struct object;

/* Bytes of a base; of zeros, where base is NULL. */
struct slice {
	struct object *base;
	size_t off, len;
};

/*
 * A gang's child: an object; or NULL, one that abd_from_iov() made. size 0: no child, but must
 * outlive the gang.
 */
struct entry {
	struct object *child;
	size_t size;
	bool owned;
};

struct borrowed {
	char *buf;
	size_t n;
	uint8_t *content; /* of a copy; NULL: buf is the buffer's own memory */
	unsigned id;
};

enum kind { LINEAR, FROM_BUF, SCATTER, ZEROS, GANG, VIEW };

struct object {
	enum kind kind;
	unsigned id; /* its name in what is printed */
	size_t born; /* the step it was made in */
	abd_t *abd, own;
	size_t size;
	bool own_struct, writes;
	struct slice slices[ENTRIES];
	size_t slice_count;
	unsigned users;                /* views and gangs that live on it */
	struct object *parent, *owner; /* owner: the gang that frees it */
	struct entry entries[2 * ENTRIES];
	size_t entry_count;
	struct borrowed borrows[BORROWS];
	size_t borrow_count;
	struct abd_stats gauge; /* what it adds to the gauges, but for a gang's table */
	size_t table_size;

	uint8_t *data; /* of a base: what its memory must hold */
	struct iovec *raw;
	size_t raw_count;
	void *memory; /* of FROM_BUF: to be ended with it */
	bool memory_is_malloc, has_callback;
};

struct model {
	struct object *objects[OBJECTS];
	size_t count;
	uint64_t seed, random;
	size_t step;
	struct abd_stats expected;
	bool oom; /* memory may run out in this operation */
	bool test_provider, linear_page;
	size_t callbacks;
	uint8_t *a, *b; /* ROOM bytes each */
	unsigned ids;
	FILE *trace; /* where operations are printed, or NULL */
	bool tries;  /* this process only tries whether a sequence fails */
	int file;
	uint8_t *file_data; /* FILE_ROOM bytes: what the file must hold */
};

extern struct model model;

void model_check_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What failed, in an episode and at a step that can be repeated. */
#define check(condition, ...)                            \
	do {                                             \
		if (!(condition))                        \
			model_check_failed(__VA_ARGS__); \
	} while (0)

/* What is done, in a line. */
#define trace(...)                                         \
	do {                                               \
		if (model.trace != NULL) {                 \
			fprintf(model.trace, __VA_ARGS__); \
			fprintf(model.trace, "\n");        \
		}                                          \
	} while (0)
#define ull(x) ((unsigned long long)(x))

/* ---- model_bytes.c ---- */

/* A walk over the slices that hold [off, off + n) of a buffer, each cut to that range. */
struct walk {
	const struct object *o;
	size_t off, n;
	size_t next, start;
	struct object *base;      /* the slice at hand */
	size_t base_off, at, len; /* at counts from off */
};

struct walk model_walk(const struct object *o, size_t off, size_t n);
bool model_walk_next(struct walk *w);
void model_slice_add(struct object *o, struct object *base, size_t off, size_t len);
uint8_t *model_read(const struct object *o, size_t off, size_t n, uint8_t *to);
void model_write(const struct object *o, size_t off, size_t n, const uint8_t *from);
void model_check_base(const struct object *base);
void model_check_written(const struct object *o, size_t off, size_t n, const char *what);
void model_resync(const struct object *o, size_t off, size_t n);
bool model_overlap(const struct object *a, size_t a_off, size_t a_n, const struct object *b,
	size_t b_off, size_t b_n);
bool model_repeats(const struct object *o, size_t off, size_t n);

/* ---- model_object.c ---- */

struct object *model_object_new(enum kind kind, abd_t *abd);
void model_object_begin(struct object *o);
void model_object_forget(struct object *o);
void model_scatter_begin(struct object *o);
void model_linear_begin(struct object *o);
void model_gauge_add(struct abd_stats *to, const struct abd_stats *gauge, uint64_t sign);
void model_table_update(struct object *gang);

/* ---- model_draw.c ---- */

size_t model_below(size_t limit);
bool model_one_in(size_t n);
struct object *model_any(void);
size_t model_random_size(void);
size_t model_random_place(const struct object *o);
void model_random_range(const struct object *o, size_t *off, size_t *n);

/** What a copy may be of: n bytes of each, at the same place of one object now and then. */
struct model_pair {
	struct object *d, *s;
	size_t d_off, s_off, n;
};

/** False: the destination can't be written. */
bool model_random_pair(struct model_pair *pair);
/** A copy onto itself, which is allowed where no byte stands twice. */
bool model_pair_is_same(const struct model_pair *pair);

/* ---- the operations ---- */

bool model_made(const abd_t *abd, const char *what);
void model_op_alloc(void);
void model_op_alloc_linear(void);
void model_op_from_buf(void);
void model_op_zeros(void);
void model_op_gang(void);
void model_op_view(void);

void model_view_ended(struct object *view);
void model_op_gang_add(void);

void model_memory_free(const struct object *o, size_t size);
bool model_may_end(const struct object *o);
void model_object_ended(struct object *o);
void model_op_free(void);

void model_op_copy(void);
void model_op_copy_from_buf(void);
void model_op_copy_to_buf(void);
void model_op_zero(void);
void model_op_flush_copy(void);
void model_op_flush_copy_buf(void);
void model_op_iterate(void);
void model_op_iterate_stop(void);

void model_op_compare_buf(void);
void model_op_compare(void);

void model_op_from_iov(void);
void model_op_to_iov(void);
void model_op_pread(void);
void model_op_pwrite(void);

void model_borrow_return(struct object *o);
void model_borrows_resync(void);
void model_op_borrow(void);
void model_op_return(void);
void model_op_ownership(void);

void model_op_lz4(void);
void model_op_lz4_length(void);
void model_op_checksum(void);

void model_op_raidz_gen(void);
void model_op_raidz_rec(void);

/* ---- model_episode.c, model_shrink.c ---- */

void model_memory_begin(void);
void model_memory_end(void);
void model_episode_begin(uint64_t seed);
void model_step(size_t number);
void model_episode_end(void);
void model_episode(uint64_t seed, size_t steps);
void model_shrink(size_t steps);
/** The episode of model.seed with these steps alone: numbers, in a file. */
void model_repeat(FILE *steps);

#endif
