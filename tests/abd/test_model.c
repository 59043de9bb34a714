/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model: random sequences of all operations over all kinds, against flat arrays of bytes.
 *
 *   ABD_TEST_OPS=100000000   operations (1,000,000): the long run before a release
 *   ABD_TEST_SEED=n          the first episode's seed (1). Episodes have EPISODE operations each and seeds that count up; a failure
 *                            names its episode's seed, which alone repeats it with ABD_TEST_OPS=20000, in the same build
 *   ABD_TEST_SHRINK=n        the episode of seed n alone, shrunk. A failed check is shrunk by itself; a crash wants this
 *
 * Shrinking drops operations for as long as the rest still fails, each try in a process of its own, and prints what is left as C:
 * a test for a file of its own beside this one (model_replay.h has its words). Each operation draws from a seed of its own, so that it stays what it
 * is when others are dropped.
 *
 * Buffers with memory of their own (bases) have a flat array each. Views and gangs are lists of slices of bases, as they
 * are worked out from the calls that made them, so what is written through one is expected through all others.
 * Invariant: after each operation the bases' real memory is what their arrays hold, at least around what was written, and
 * the gauges are what the living buffers add up to; every CHECK_ALL operations, and when a base ends, all of its memory.
 */
#include "abd_gang.h"
#include "abd_test.h"
#include "abd_test_child.h"
#include "abd_test_fault.h"
#include "abd_test_provider.h"

#include <criterion/criterion.h>
#include <lz4.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	EPISODE = 20000,
	OBJECTS = 64,
	ENTRIES = 48, /* a gang's children, and what it only needs to outlive it */
	BORROWS = 3,
	CHECK_ALL = 1000,
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

/* A gang's child: an object; or NULL, one that abd_from_iov() made. size 0: no child, but must outlive the gang. */
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
	unsigned id; /* its name in what is printed as C */
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

static struct {
	struct object *objects[OBJECTS];
	size_t count;
	uint64_t seed, random;
	size_t step;
	struct abd_stats expected;
	bool oom; /* memory may run out in this operation */
	bool test_provider;
	size_t callbacks;
	uint8_t *a, *b; /* ROOM bytes each */
	unsigned ids;
	FILE *trace;  /* where operations are printed as C, or NULL */
	bool replays; /* in a process that tries whether a sequence fails */
} m;

static void check_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What failed, in an episode and at a step that can be repeated. */
#define check(condition, ...)                      \
	do {                                       \
		if (!(condition))                  \
			check_failed(__VA_ARGS__); \
	} while (0)

/* One line of C; see model_replay.h for the words. */
#define trace(...)                                          \
	do {                                                \
		if (m.trace != NULL) {                      \
			fprintf(m.trace, "\t" __VA_ARGS__); \
			fprintf(m.trace, "\n");             \
		}                                           \
	} while (0)
#define ull(x) ((unsigned long long)(x))

static size_t below(size_t limit)
{
	return abd_test_random_below(&m.random, limit);
}

static bool one_in(size_t n)
{
	return below(n) == 0;
}

/* ---- slices ---- */

static void slice_add(struct object *o, struct object *base, size_t off, size_t len)
{
	cr_assert(o->slice_count < ENTRIES);
	o->slices[o->slice_count++] = (struct slice){base, off, len};
	o->writes &= base != NULL;
}

/* A walk over the slices that hold [off, off + n) of a buffer, each cut to that range. */
struct walk {
	const struct object *o;
	size_t off, n;
	size_t next, start;
	struct object *base;      /* the slice at hand */
	size_t base_off, at, len; /* at counts from off */
};

static struct walk walk_begin(const struct object *o, size_t off, size_t n)
{
	return (struct walk){.o = o, .off = off, .n = n};
}

static bool walk_next(struct walk *w)
{
	while (w->next < w->o->slice_count) {
		const struct slice *s = &w->o->slices[w->next++];
		size_t start = w->start, from = start > w->off ? start : w->off;
		size_t to = abd_min(start + s->len, w->off + w->n);

		w->start += s->len;
		if (from >= to)
			continue;
		w->base = s->base;
		w->base_off = s->off + (from - start);
		w->at = from - w->off;
		w->len = to - from;
		return true;
	}
	return false;
}

static uint8_t *model_read(const struct object *o, size_t off, size_t n, uint8_t *to)
{
	for (struct walk w = walk_begin(o, off, n); walk_next(&w);) {
		if (w.base != NULL)
			memcpy(to + w.at, w.base->data + w.base_off, w.len);
		else
			memset(to + w.at, 0, w.len);
	}
	return to;
}

static void model_write(const struct object *o, size_t off, size_t n, const uint8_t *from)
{
	for (struct walk w = walk_begin(o, off, n); walk_next(&w);)
		memcpy(w.base->data + w.base_off, from + w.at, w.len);
}

/* The real memory of a base: compare it with the model, or take it over. */
static bool raw_walk(const struct object *base, size_t off, size_t n, bool take)
{
	size_t start = 0;
	bool same = true;

	for (size_t i = 0; i < base->raw_count && start < off + n; i++) {
		size_t len = base->raw[i].iov_len;
		size_t from = start > off ? start : off;
		size_t to = start + len < off + n ? start + len : off + n;

		if (from < to) {
			uint8_t *memory = (uint8_t *)base->raw[i].iov_base + (from - start);

			same &= memcmp(memory, base->data + from, to - from) == 0;
			if (take)
				memcpy(base->data + from, memory, to - from);
		}
		start += len;
	}
	return same;
}

static void check_base(const struct object *base)
{
	check(raw_walk(base, 0, base->size, false), "a buffer of kind %d and %zu bytes is damaged",
		(int)base->kind, base->size);
}

/* What was written is there, and 16 bytes on each side are as they were. */
static void check_written(const struct object *o, size_t off, size_t n, const char *what)
{
	for (struct walk w = walk_begin(o, off, n); walk_next(&w);) {
		if (w.base == NULL)
			continue;

		size_t from = w.base_off - abd_min(w.base_off, 16);
		size_t to = abd_min(w.base_off + w.len + 16, w.base->size);

		check(raw_walk(w.base, from, to - from, false),
			"%s of [%zu, +%zu) of kind %d, %zu bytes: wrong near %zu of a base of kind "
			"%d",
			what, off, n, (int)o->kind, o->size, off + w.at, (int)w.base->kind);
	}
}

/* The range may hold anything: take what is there for the truth. */
static void resync(const struct object *o, size_t off, size_t n)
{
	for (struct walk w = walk_begin(o, off, n); walk_next(&w);)
		if (w.base != NULL)
			raw_walk(w.base, w.base_off, w.len, true);
}

static bool slices_overlap(const struct object *a, size_t a_off, size_t a_n, const struct object *b,
	size_t b_off, size_t b_n)
{
	for (struct walk x = walk_begin(a, a_off, a_n); walk_next(&x);)
		for (struct walk y = walk_begin(b, b_off, b_n); walk_next(&y);)
			if (x.base != NULL && x.base == y.base && x.base_off < y.base_off + y.len &&
				y.base_off < x.base_off + x.len)
				return true;
	return false;
}

/* Whether the range holds the same bytes twice, as a gang with a child twice may: no place for a codec's output. */
static bool slices_repeat(const struct object *o, size_t off, size_t n)
{
	for (struct walk w = walk_begin(o, off, n); walk_next(&w);)
		if (slices_overlap(o, off, w.at, o, off + w.at, w.len))
			return true;
	return false;
}

/* ---- objects ---- */

static void gauge_add(struct abd_stats *to, const struct abd_stats *gauge, uint64_t sign)
{
	to->struct_size += sign * gauge->struct_size;
	to->linear_cnt += sign * gauge->linear_cnt;
	to->linear_data_size += sign * gauge->linear_data_size;
	to->scatter_cnt += sign * gauge->scatter_cnt;
	to->scatter_data_size += sign * gauge->scatter_data_size;
	to->scatter_chunk_waste += sign * gauge->scatter_chunk_waste;
	to->scatter_multi_chunk += sign * gauge->scatter_multi_chunk;
	for (size_t i = 0; i < ABD_STATS_ORDERS; i++)
		to->scatter_order[i] += sign * gauge->scatter_order[i];
}

static struct object *object_new(enum kind kind, abd_t *abd)
{
	struct object *o = calloc(1, sizeof(*o));

	cr_assert_not_null(o);
	o->kind = kind;
	o->abd = abd;
	o->writes = true;
	o->id = m.ids++;
	o->born = m.step;
	return o;
}

/* The object is ready: into the table, its gauges counted in. */
static void object_begin(struct object *o)
{
	o->size = abd_get_size(o->abd);
	if (!o->own_struct)
		o->gauge.struct_size += sizeof(abd_t);
	gauge_add(&m.expected, &o->gauge, 1);
	cr_assert(m.count < OBJECTS);
	m.objects[m.count++] = o;
}

static void object_forget(struct object *o)
{
	size_t i = 0;

	while (m.objects[i] != o)
		i++;
	m.objects[i] = m.objects[--m.count];
	gauge_add(&m.expected, &o->gauge, -(uint64_t)1);
	free(o->data);
	free(o->raw);
	free(o);
}

static void base_begin(struct object *o)
{
	o->data = malloc(abd_get_size(o->abd));
	cr_assert_not_null(o->data);
	slice_add(o, o, 0, abd_get_size(o->abd));
	object_begin(o);
	trace("fill(a, 0x%llx, %zu);", ull(m.random), o->size);
	trace("write_buf(o%u, 0, %zu, a);", o->id, o->size);
	abd_test_random_fill(&m.random, o->data, o->size);
	abd_copy_from_buf(o->abd, o->data, o->size);
	check_base(o);
}

static void raw_add(struct object *o, void *addr, size_t len)
{
	o->raw = realloc(o->raw, (o->raw_count + 1) * sizeof(*o->raw));
	cr_assert_not_null(o->raw);
	o->raw[o->raw_count++] = (struct iovec){addr, len};
}

static size_t order_of(size_t len)
{
	size_t order = 0;

	while (((size_t)4096 << order) < len)
		order++;
	return order;
}

static void scatter_begin(struct object *o)
{
	size_t size = abd_get_size(o->abd), classes = 0, last = SIZE_MAX;

	if (abd_is_linear_page(o->abd))
		raw_add(o, abd_to_buf(o->abd), size);
	for (size_t i = 0; !abd_is_linear(o->abd) && i < ABD_SCATTER(o->abd).abd_run_count; i++)
		raw_add(o, ABD_SCATTER(o->abd).abd_runs[i].iov_base,
			ABD_SCATTER(o->abd).abd_runs[i].iov_len);
	for (size_t i = 0; i < o->raw_count; i++) {
		size_t order = order_of(o->raw[i].iov_len);

		o->gauge.scatter_order[order]++;
		classes += order != last;
		last = order;
	}
	if (!abd_is_linear(o->abd))
		o->gauge.struct_size += sizeof(struct iovec) * o->raw_count +
					(classes > 1 ? (sizeof(size_t) + 8) * classes : 0);
	o->gauge.scatter_cnt = 1;
	o->gauge.scatter_data_size = size;
	o->gauge.scatter_chunk_waste = -size & 4095;
	o->gauge.scatter_multi_chunk = o->raw_count > 1;
	base_begin(o);
}

static void linear_begin(struct object *o)
{
	raw_add(o, abd_to_buf(o->abd), abd_get_size(o->abd));
	if (o->kind == LINEAR) {
		o->gauge.linear_cnt = 1;
		o->gauge.linear_data_size = abd_get_size(o->abd);
	}
	base_begin(o);
}

/* Each object draws a lot from the draw and the step it was made in, so that the choice does not change when others are not there. */
static struct object *any(void)
{
	uint64_t draw = abd_test_random(&m.random), highest = 0;
	struct object *chosen = NULL;

	for (size_t i = 0; i < m.count; i++) {
		uint64_t lot = (draw ^ m.objects[i]->born) * 0x9e3779b97f4a7c15u;

		lot = (lot ^ lot >> 32) * 0xd6e8feb86659fd93u;
		if (chosen == NULL || lot > highest) {
			highest = lot;
			chosen = m.objects[i];
		}
	}
	return chosen;
}

/* The gang's table may have grown. */
static void table_update(struct object *gang)
{
	const struct abd_gang *table = ABD_GANG(gang->abd).abd_table;
	size_t size =
		table == NULL ? 0 : sizeof(*table) + table->capacity * sizeof(table->entries[0]);

	m.expected.struct_size += size - gang->table_size;
	gang->table_size = size;
}

/* ---- what to do it to ---- */

static size_t random_size(void)
{
	size_t dice = below(1000);

	if (dice < 500)
		return 1 + below(5000);
	if (dice < 700)
		return 1 + below(24000);
	if (dice < 960)
		return (1 + below(9)) * 4096 + below(3) - 1;
	if (dice < 997)
		return 1 + below(150000);
	return 1 + below(1 << 20);
}

/* A place in o, most often near where something ends. */
static size_t random_place(const struct object *o)
{
	const struct slice *s = &o->slices[below(o->slice_count > 0 ? o->slice_count : 1)];
	size_t dice = below(10), place = 0;

	if (o->size == 0 || dice == 0)
		return 0;
	if (dice == 1)
		return o->size - below(2);
	if (dice < 4)
		return below(o->size + 1);
	for (const struct slice *before = o->slices; before < s; before++)
		place += before->len;
	if (s->base != NULL && s->base->raw_count > 1 && dice < 9) {
		size_t page = below((s->off + s->len) / 4096 + 1) * 4096;

		place += page > s->off ? page - s->off : 0;
	}
	place += below(3);
	return abd_min(place > 0 ? place - 1 : 0, o->size);
}

static void random_range(const struct object *o, size_t *off, size_t *n)
{
	size_t a = random_place(o), b = one_in(3) ? a + below(70) : random_place(o);

	b = abd_min(b, o->size);
	*off = abd_min(a, b);
	*n = (a > b ? a : b) - *off;
}

/* ---- making ---- */

/* Whether a constructor's answer was allowed; true when there is a buffer. */
static bool made(const abd_t *abd, const char *what)
{
	check(abd != NULL || (m.oom && errno == ENOMEM), "%s refused, errno %d", what, errno);
	return abd != NULL;
}

static void op_alloc(void)
{
	size_t size = random_size();
	bool meta = one_in(2), linear = abd_size_alloc_linear(size);
	struct object *like = any();
	abd_t *abd;

	switch (below(4)) {
	case 0:
		trace("abd_t *o%u = abd_alloc_for_io(%zu, %d);", m.ids, size, meta);
		abd = abd_alloc_for_io(size, meta);
		linear = linear && size >= 4096;
		break;
	case 1:
		if (like != NULL) {
			meta = (like->abd->abd_flags & ABD_FLAG_META) != 0;
			linear = linear ||
				 (abd_is_linear(like->abd) && !abd_is_linear_page(like->abd));
			trace("abd_t *o%u = abd_alloc_sametype(o%u, %zu);", m.ids, like->id, size);
			abd = abd_alloc_sametype(like->abd, size);
			break;
		}
		/* fall through */
	default:
		trace("abd_t *o%u = abd_alloc(%zu, %d);", m.ids, size, meta);
		abd = abd_alloc(size, meta);
	}
	trace("made(o%u, %d);", m.ids, abd != NULL);
	if (!made(abd, "alloc")) {
		m.ids++;
		return;
	}

	struct object *o = object_new(linear ? LINEAR : SCATTER, abd);

	check(((abd->abd_flags & ABD_FLAG_META) != 0) == meta, "metadata mark of %zu bytes", size);
	check(abd_get_size(abd) == size, "size %zu", abd_get_size(abd));
	check((abd_is_linear(abd) && !abd_is_linear_page(abd)) == linear, "kind of %zu bytes",
		size);
	if (linear)
		linear_begin(o);
	else
		scatter_begin(o);
}

static void op_alloc_linear(void)
{
	struct object *o = object_new(LINEAR, NULL);
	size_t size = random_size();

	o->own_struct = one_in(2);

	bool meta = one_in(2);

	trace("abd_t s%u, *o%u;", o->id, o->id);
	if (o->own_struct)
		trace("o%u = abd_alloc_linear_struct(&s%u, %zu, %d);", o->id, o->id, size, meta);
	else
		trace("o%u = abd_alloc_linear(%zu, %d);", o->id, size, meta);
	o->abd = o->own_struct ? abd_alloc_linear_struct(&o->own, size, meta)
			       : abd_alloc_linear(size, meta);
	trace("made(o%u, %d), (void)s%u;", o->id, o->abd != NULL, o->id);
	if (made(o->abd, "alloc_linear"))
		linear_begin(o);
	else
		free(o);
}

static void callback(void *buf, size_t size, void *arg)
{
	struct object *o = arg;

	check(buf == o->memory && size == o->size, "free callback of %zu bytes", size);
	m.callbacks++;
	free(buf);
}

static void op_from_buf(void)
{
	struct object *o = object_new(FROM_BUF, NULL);
	size_t size = random_size();

	o->memory = malloc(size);
	o->memory_is_malloc = true;
	cr_assert_not_null(o->memory);
	trace("abd_t s%u, *o%u;", o->id, o->id);
	trace("void *m%u = malloc(%zu);", o->id, size);
	switch (below(3)) {
	case 0:
		o->own_struct = true;
		trace("o%u = abd_get_from_buf_struct(&s%u, m%u, %zu);", o->id, o->id, o->id, size);
		o->abd = abd_get_from_buf_struct(&o->own, o->memory, size);
		break;
	case 1:
		o->has_callback = true;
		trace("o%u = abd_get_from_buf_cb(m%u, %zu, callback, NULL);", o->id, o->id, size);
		o->abd = abd_get_from_buf_cb(o->memory, size, callback, o);
		break;
	default:
		trace("o%u = abd_get_from_buf(m%u, %zu);", o->id, o->id, size);
		o->abd = abd_get_from_buf(o->memory, size);
	}
	trace("made(o%u, %d), (void)s%u;", o->id, o->abd != NULL, o->id);
	if (made(o->abd, "get_from_buf")) {
		linear_begin(o);
		return;
	}
	free(o->memory);
	free(o);
}

static void op_zeros(void)
{
	struct object *o = object_new(ZEROS, NULL);
	size_t size = random_size();

	o->own_struct = one_in(2);
	trace("abd_t s%u, *o%u;", o->id, o->id);
	if (o->own_struct)
		trace("o%u = abd_get_zeros_struct(&s%u, %zu);", o->id, o->id, size);
	else
		trace("o%u = abd_get_zeros(%zu);", o->id, size);
	o->abd = o->own_struct ? abd_get_zeros_struct(&o->own, size) : abd_get_zeros(size);
	trace("made(o%u, %d), (void)s%u;", o->id, o->abd != NULL, o->id);
	if (!made(o->abd, "get_zeros")) {
		free(o);
		return;
	}
	slice_add(o, NULL, 0, size);
	object_begin(o);
}

static void op_gang(void)
{
	struct object *o = object_new(GANG, NULL);

	o->own_struct = one_in(2);
	trace("abd_t s%u, *o%u;", o->id, o->id);
	if (o->own_struct)
		trace("o%u = abd_alloc_gang_struct(&s%u);", o->id, o->id);
	else
		trace("o%u = abd_alloc_gang();", o->id);
	o->abd = o->own_struct ? abd_alloc_gang_struct(&o->own) : abd_alloc_gang();
	trace("made(o%u, %d), (void)s%u;", o->id, o->abd != NULL, o->id);
	if (made(o->abd, "alloc_gang"))
		object_begin(o);
	else
		free(o);
}

static void op_view(void)
{
	struct object *parent = any(), *o;
	size_t off, n;

	if (parent == NULL || parent->size == 0)
		return;
	random_range(parent, &off, &n);
	if (n == 0)
		return;
	o = object_new(VIEW, NULL);
	trace("abd_t s%u, *o%u;", o->id, o->id);
	switch (below(3)) {
	case 0:
		trace("o%u = abd_get_offset(o%u, %zu);", o->id, parent->id, off);
		o->abd = abd_get_offset(parent->abd, off);
		n = parent->size - off;
		break;
	case 1:
		o->own_struct = true;
		trace("o%u = abd_get_offset_struct(&s%u, o%u, %zu, %zu);", o->id, o->id, parent->id,
			off, n);
		o->abd = abd_get_offset_struct(&o->own, parent->abd, off, n);
		break;
	default:
		trace("o%u = abd_get_offset_size(o%u, %zu, %zu);", o->id, parent->id, off, n);
		o->abd = abd_get_offset_size(parent->abd, off, n);
	}
	trace("made(o%u, %d), (void)s%u;", o->id, o->abd != NULL, o->id);
	if (!made(o->abd, "get_offset")) {
		free(o);
		return;
	}
	check(abd_get_size(o->abd) == n, "a view of %zu bytes has %zu", n, abd_get_size(o->abd));
	for (struct walk w = walk_begin(parent, off, n); walk_next(&w);)
		slice_add(o, w.base, w.base_off, w.len);
	o->parent = parent;
	parent->users++;
	object_begin(o);
}

static void op_from_iov(void)
{
	struct object *base = any(), *o;
	struct iovec iov[5];
	int count = 1 + (int)below(5);
	size_t sum = 0;

	if (base == NULL || base->raw_count != 1)
		return;
	o = object_new(GANG, NULL);
	trace("struct iovec v%u[%d];", o->id, count);
	for (int i = 0; i < count; i++) {
		size_t off, n;

		random_range(base, &off, &n);
		iov[i] = (struct iovec){(char *)base->raw[0].iov_base + off, n};
		sum += n;
		trace("v%u[%d] = (struct iovec){(char *)abd_to_buf(o%u) + %zu, %zu};", o->id, i,
			base->id, off, n);
		if (n > 0) {
			slice_add(o, base, off, n);
			o->entries[o->entry_count++] = (struct entry){.size = n, .owned = true};
		}
	}
	trace("abd_t *o%u = abd_from_iov(v%u, %d);", o->id, o->id, count);
	o->abd = abd_from_iov(iov, count);
	trace("made(o%u, %d);", o->id, o->abd != NULL);
	if (o->abd == NULL) {
		check((sum == 0 && errno == EINVAL) || m.oom, "from_iov refused %zu bytes", sum);
		free(o);
		return;
	}
	base->users++;
	o->entries[o->entry_count++] = (struct entry){.child = base};
	for (size_t i = 0; i < o->slice_count; i++)
		o->gauge.struct_size += sizeof(abd_t); /* of the children */
	object_begin(o);
	table_update(o);
}

/* ---- gangs ---- */

static void entry_add(struct object *gang, struct object *child, size_t size, bool owned)
{
	cr_assert(gang->entry_count < 2 * ENTRIES);
	gang->entries[gang->entry_count++] =
		(struct entry){.child = child, .size = size, .owned = owned};
	if (child != NULL)
		child->users++;
}

/* The gang's children go over to another. */
static void entries_hand_over(struct object *gang, struct object *from)
{
	for (size_t i = 0; i < from->entry_count; i++) {
		struct entry *entry = &from->entries[i];

		if (entry->owned && entry->child != NULL)
			entry->child->owner = gang;
		gang->entries[gang->entry_count++] = *entry;
	}
	gang->gauge.struct_size += from->gauge.struct_size - (from->own_struct ? 0 : sizeof(abd_t));
	m.expected.struct_size += from->gauge.struct_size - (from->own_struct ? 0 : sizeof(abd_t));
}

static void view_ended(struct object *view)
{
	view->parent->users--;
}

/* The child gang is no more; m.expected is as after an abd_free() of it, but that its children live on. */
static void gang_swallow(struct object *gang, struct object *child)
{
	if (child->kind == GANG) {
		entries_hand_over(gang, child);
		m.expected.struct_size -= child->table_size;
	} else {
		entry_add(gang, child->parent, 0, false);
		view_ended(child);
	}
	object_forget(child);
}

/* Whether o must not outlive on: gangs that outlive each other could never end. A child that is freed with its gang lives on that. */
static bool lives_on(const struct object *o, const struct object *on)
{
	bool lives = o == on || (o->parent != NULL && lives_on(o->parent, on)) ||
		     (o->owner != NULL && lives_on(o->owner, on));

	for (size_t i = 0; i < o->entry_count && !lives; i++) {
		const struct object *child = o->entries[i].child;

		if (child != NULL && child->owner != o)
			lives = lives_on(child, on);
		else if (child != NULL && child->parent != NULL)
			lives = lives_on(child->parent, on);
	}
	return lives;
}

static void op_gang_add(void)
{
	struct object *gang = any(), *child = any();
	bool free_it = one_in(2), is_gang;

	if (gang == NULL || gang->kind != GANG || child->owner != NULL || lives_on(child, gang))
		return;
	is_gang = abd_is_gang(child->abd);
	if (gang->slice_count + child->slice_count > ENTRIES ||
		gang->entry_count + child->entry_count + child->slice_count + 1 > 2 * ENTRIES ||
		gang->size + child->size > ROOM)
		return;
	/* To be freed: nobody else may need it, nor what it frees; the gang itself may, by a view that it frees. */
	if (child->users > 0 || child->borrow_count > 0 || lives_on(gang, child))
		free_it = false;

	size_t child_size = child->size;
	int error = abd_gang_add(gang->abd, child->abd, free_it);

	trace("expect(abd_gang_add(o%u, o%u, %d) == %d);", gang->id, child->id, free_it, error);

	table_update(gang);
	check(error == 0 || (m.oom && error == -ENOMEM), "gang_add gave %d", error);
	if (error != 0) {
		check(abd_get_size(gang->abd) == gang->size, "gang changed: %zu", gang->size);
		return;
	}
	for (size_t i = 0; i < child->slice_count; i++)
		slice_add(gang, child->slices[i].base, child->slices[i].off, child->slices[i].len);
	gang->size += child_size;
	check(abd_get_size(gang->abd) == gang->size, "gang of %zu bytes", gang->size);
	if (is_gang && free_it) {
		gang_swallow(gang, child);
		return;
	}
	child->owner = free_it ? gang : NULL;
	entry_add(gang, child, is_gang ? 0 : child_size, free_it);
}

/* ---- ending ---- */

static size_t entries_of(const struct object *gang, const struct object *child)
{
	size_t count = 0;

	for (size_t i = 0; i < gang->entry_count; i++)
		count += gang->entries[i].child == child;
	return count;
}

static bool may_end(const struct object *o)
{
	if (o->users > 0 || o->borrow_count > 0 || o->owner != NULL)
		return false;
	for (size_t i = 0; i < o->entry_count; i++) {
		const struct object *child = o->entries[i].child;

		if (o->entries[i].owned && child != NULL &&
			(child->borrow_count > 0 || child->users != entries_of(o, child)))
			return false;
	}
	return true;
}

static void object_memory_free(const struct object *o)
{
	trace("free(m%u);", o->id);
	free(o->memory);
}

static void object_memory_give(const struct object *o)
{
	trace("abd_buf_free(m%u, %zu);", o->id, o->size);
	abd_buf_free(o->memory, o->size);
}

/* What the model does when the buffer itself has ended. memory and callback are those of a base. */
static void object_ended(struct object *o)
{
	if (o->kind == VIEW)
		view_ended(o);
	for (size_t i = 0; i < o->entry_count; i++)
		if (o->entries[i].child != NULL)
			o->entries[i].child->users--;
	for (size_t i = 0; i < o->entry_count; i++)
		if (o->entries[i].owned && o->entries[i].child != NULL)
			object_ended(o->entries[i].child);
	if (o->kind == FROM_BUF && o->memory_is_malloc && !o->has_callback)
		object_memory_free(o);
	else if (o->kind == FROM_BUF && !o->has_callback)
		object_memory_give(o);
	m.expected.struct_size -= o->table_size;
	object_forget(o);
}

static size_t callbacks_of(const struct object *o)
{
	size_t count = o->has_callback;

	for (size_t i = 0; i < o->entry_count; i++)
		if (o->entries[i].owned && o->entries[i].child != NULL)
			count += callbacks_of(o->entries[i].child);
	return count;
}

static void op_free(void)
{
	struct object *o = any();

	if (o == NULL || !may_end(o))
		return;
	if (o->raw_count > 0)
		check_base(o);
	for (size_t i = 0; i < o->entry_count; i++)
		if (o->entries[i].child != NULL && o->entries[i].child->raw_count > 0)
			check_base(o->entries[i].child);

	size_t callbacks = m.callbacks + callbacks_of(o);

	trace("abd_free(o%u);", o->id);
	abd_free(o->abd);
	check(m.callbacks == callbacks, "%zu free callbacks ran", m.callbacks);
	object_ended(o);
}

/* ---- reading and writing ---- */

static void op_copy(void)
{
	struct object *d = any(), *s = any();
	size_t d_off, d_n, s_off, n;

	if (d == NULL || !d->writes)
		return;
	random_range(d, &d_off, &d_n);
	random_range(s, &s_off, &n);
	if (d == s && one_in(2))
		s_off = d_off;
	n = abd_min(abd_min(n, d_n), s->size - s_off);
	if (d == s && s_off == d_off && n > 0 && d->slice_count == 1) {
		trace("copy(o%u, o%u, %zu, %zu, %zu);", d->id, s->id, d_off, s_off, n);
		abd_copy_off(d->abd, s->abd, d_off, s_off, n);
	} else if (!slices_overlap(d, d_off, n, s, s_off, n)) {
		trace("copy(o%u, o%u, %zu, %zu, %zu);", d->id, s->id, d_off, s_off, n);
		if (d_off == 0 && s_off == 0)
			abd_copy(d->abd, s->abd, n);
		else
			abd_copy_off(d->abd, s->abd, d_off, s_off, n);
		model_write(d, d_off, n, model_read(s, s_off, n, m.a));
	}
	check_written(d, d_off, n, "copy_off");
}

static void op_copy_from_buf(void)
{
	struct object *o = any();
	size_t off, n;

	if (o == NULL || !o->writes)
		return;
	random_range(o, &off, &n);
	trace("fill(a, 0x%llx, %zu);", ull(m.random), n);
	trace("write_buf(o%u, %zu, %zu, a);", o->id, off, n);
	abd_test_random_fill(&m.random, m.a, n);
	if (off == 0)
		abd_copy_from_buf(o->abd, m.a, n);
	else
		abd_copy_from_buf_off(o->abd, m.a, off, n);
	model_write(o, off, n, m.a);
	check_written(o, off, n, "copy_from_buf_off");
}

static void op_copy_to_buf(void)
{
	struct object *o = any();
	size_t off, n;

	if (o == NULL)
		return;
	random_range(o, &off, &n);
	m.a[n] = 0xa5;
	trace("read_buf(o%u, %zu, %zu);", o->id, off, n);
	if (off == 0)
		abd_copy_to_buf(m.a, o->abd, n);
	else
		abd_copy_to_buf_off(m.a, o->abd, off, n);
	check(m.a[n] == 0xa5, "copy_to_buf_off wrote behind %zu bytes", n);
	check(memcmp(m.a, model_read(o, off, n, m.b), n) == 0,
		"copy_to_buf_off [%zu, +%zu) of kind %d", off, n, (int)o->kind);
}

static void op_zero(void)
{
	struct object *o = any();
	size_t off, n;

	if (o == NULL || !o->writes)
		return;
	random_range(o, &off, &n);
	trace("zero(o%u, %zu, %zu);", o->id, off, n);
	if (off == 0)
		abd_zero(o->abd, n);
	else
		abd_zero_off(o->abd, off, n);
	memset(m.a, 0, n);
	model_write(o, off, n, m.a);
	check_written(o, off, n, "zero_off");
}

static int iterate_write(void *buf, size_t len, void *priv)
{
	size_t *at = priv;

	memcpy(buf, m.a + *at, len);
	*at += len;
	return 0;
}

static int iterate_read(void *buf, size_t len, void *priv)
{
	size_t *at = priv;
	bool same = memcmp(buf, m.a + *at, len) == 0;

	*at += len;
	return same ? 0 : -EIO;
}

static int iterate_copy(void *bufa, void *bufb, size_t len, void *priv)
{
	memcpy(bufa, bufb, len);
	*(size_t *)priv += len;
	return 0;
}

static void op_iterate(void)
{
	struct object *o = any(), *s = any();
	size_t off, n, s_off, s_n, at = 0;

	if (o == NULL)
		return;
	random_range(o, &off, &n);
	random_range(s, &s_off, &s_n);
	model_read(o, off, n, m.a);
	check(abd_iterate_func(o->abd, off, n, iterate_read, &at) == 0,
		"iterate_func reads [%zu, +%zu)", off, n);
	check(at == n, "iterate_func met %zu bytes of %zu", at, n);
	if (!o->writes)
		return;
	if (one_in(2)) {
		trace("fill(a, 0x%llx, %zu);", ull(m.random), n);
		trace("iterate_buf(o%u, %zu, %zu);", o->id, off, n);
		abd_test_random_fill(&m.random, m.a, n);
		at = 0;
		abd_iterate_func(o->abd, off, n, iterate_write, &at);
		model_write(o, off, n, m.a);
		check_written(o, off, n, "iterate_func");
		return;
	}
	n = abd_min(n, s_n);
	if (slices_overlap(o, off, n, s, s_off, n))
		return;
	at = 0;
	trace("iterate_two(o%u, o%u, %zu, %zu, %zu);", o->id, s->id, off, s_off, n);
	abd_iterate_func2(o->abd, s->abd, off, s_off, n, iterate_copy, &at);
	check(at == n, "iterate_func2 met %zu bytes of %zu", at, n);
	model_write(o, off, n, model_read(s, s_off, n, m.a));
	check_written(o, off, n, "iterate_func2");
}

/* ---- comparing ---- */

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t at = 0;

	if (memcmp(a, b, n) == 0)
		return n;
	while (a[at] == b[at])
		at++;
	return at;
}

/* Make two ranges equal but for one byte, or not even that, so that comparing goes far. */
static void make_alike(struct object *d, struct object *s, size_t d_off, size_t s_off, size_t n)
{
	uint8_t other;

	if (!d->writes || n == 0 || slices_overlap(d, d_off, n, s, s_off, n))
		return;
	model_read(s, s_off, n, m.a);
	trace("copy(o%u, o%u, %zu, %zu, %zu);", d->id, s->id, d_off, s_off, n);
	abd_copy_from_buf_off(d->abd, m.a, d_off, n);
	model_write(d, d_off, n, m.a);
	if (one_in(2))
		return;

	size_t at = one_in(3) ? n - 1 : below(n);

	other = (uint8_t)(m.a[at] + 1 + below(255));
	trace("set_byte(o%u, %zu, %u);", d->id, d_off + at, other);
	abd_copy_from_buf_off(d->abd, &other, d_off + at, 1);
	model_write(d, d_off + at, 1, &other);
}

static void op_compare_buf(void)
{
	struct object *o = any();
	size_t off, n;

	if (o == NULL)
		return;
	random_range(o, &off, &n);
	model_read(o, off, n, m.a);
	memcpy(m.b, m.a, n);
	trace("flat(o%u, %zu, %zu, b);", o->id, off, n);
	if (n > 0 && one_in(2)) {
		size_t at = one_in(3) ? n - 1 : below(n);

		m.b[at] ^= (uint8_t)(1 + below(255));
		trace("b[%zu] = %u;", at, m.b[at]);
	}
	trace("compare_buf(o%u, %zu, %zu);", o->id, off, n);

	int order = sign(memcmp(m.a, m.b, n));

	check(sign(abd_cmp_buf_off(o->abd, m.b, off, n)) == order, "cmp_buf_off [%zu, +%zu)", off,
		n);
	check(off != 0 || sign(abd_cmp_buf(o->abd, m.b, n)) == order, "cmp_buf of %zu", n);
	check(abd_equal_buf_off(o->abd, m.b, off, n) == (order == 0), "equal_buf_off [%zu, +%zu)",
		off, n);
	check(abd_key_equal(m.a, m.b, n) == (order == 0), "key_equal of %zu", n);
	memset(m.b, 0, n);
	check((abd_cmp_zero_off(o->abd, off, n) == 0) == (memcmp(m.a, m.b, n) == 0),
		"cmp_zero_off [%zu, +%zu)", off, n);
	check(off != 0 || (abd_cmp_zero(o->abd, n) == 0) == (memcmp(m.a, m.b, n) == 0),
		"cmp_zero %zu", n);
}

static void op_compare(void)
{
	struct object *a = any(), *b = any();
	size_t a_off, b_off, n, b_n;

	if (a == NULL)
		return;
	random_range(a, &a_off, &n);
	random_range(b, &b_off, &b_n);
	if (a->size == b->size && one_in(2))
		a_off = b_off = 0, n = b_n = a->size;
	n = abd_min(n, b_n);
	make_alike(a, b, a_off, b_off, n);
	model_read(a, a_off, n, m.a);
	model_read(b, b_off, n, m.b);

	size_t diff = first_difference(m.a, m.b, n);

	trace("compare(o%u, o%u, %zu, %zu, %zu);", a->id, b->id, a_off, b_off, n);

	check(abd_diff_off(a->abd, b->abd, a_off, b_off, n) == diff,
		"diff_off %zu, %zu, %zu: not %zu", a_off, b_off, n, diff);
	check(abd_equal_off(a->abd, b->abd, a_off, b_off, n) == (diff == n),
		"equal_off %zu, %zu, %zu", a_off, b_off, n);
	if (a->size != b->size) {
		check(!abd_equal(a->abd, b->abd), "%zu equals %zu bytes", a->size, b->size);
	} else if (n == a->size) {
		check(abd_equal(a->abd, b->abd) == (diff == n), "equal of %zu", n);
		check(sign(abd_cmp(a->abd, b->abd)) == sign(memcmp(m.a, m.b, n)), "cmp of %zu", n);
	}
}

static void op_to_iov(void)
{
	struct object *o = any();
	size_t off, n, done = 0;
	int iov_max = 1 + (int)below(8);

	if (o == NULL)
		return;
	random_range(o, &off, &n);
	model_read(o, off, n, m.a);
	trace("to_iov(o%u, %zu, %zu, %d);", o->id, off, n, iov_max);
	while (done < n) {
		struct iovec iov[8];
		size_t covered, sum = 0;
		int count = abd_to_iov(o->abd, off + done, n - done, iov, iov_max, &covered);

		check(count > 0 && count <= iov_max, "to_iov gave %d entries", count);
		for (int i = 0; i < count; i++) {
			check(memcmp(iov[i].iov_base, m.a + done + sum, iov[i].iov_len) == 0,
				"to_iov [%zu, +%zu)", off, n);
			sum += iov[i].iov_len;
		}
		check(sum == covered, "to_iov covered %zu, described %zu", covered, sum);
		done += covered;
	}
	check(done == n, "to_iov described %zu of %zu", done, n);
}

/* ---- borrowing ---- */

static void op_borrow(void)
{
	struct object *o = any();
	bool copy = one_in(2);

	if (o == NULL || o->size == 0 || o->borrow_count == BORROWS)
		return;

	size_t n = one_in(2) ? o->size : 1 + abd_min(random_place(o), o->size - 1);
	unsigned id = m.ids++;
	char *buf = copy ? abd_borrow_buf_copy(o->abd, n) : abd_borrow_buf(o->abd, n);

	trace("char *m%u = borrow(o%u, %zu, %d, %d);", id, o->id, n, copy, buf != NULL);

	check(buf != NULL || (m.oom && errno == ENOMEM), "borrow of %zu refused", n);
	if (buf == NULL)
		return;

	bool linear = abd_is_linear(o->abd);
	struct borrowed *borrowed = &o->borrows[o->borrow_count++];

	m.expected.borrow_cnt++;
	m.expected.borrow_copy_cnt += !linear;
	m.expected.borrow_copy_bytes += !linear && copy ? n : 0;
	*borrowed = (struct borrowed){buf, n, NULL, id};
	model_read(o, 0, n, m.a);
	if (linear) {
		check(buf == abd_to_buf(o->abd), "a linear buffer of %zu bytes lent other memory",
			n);
		return;
	}
	borrowed->content = malloc(n);
	cr_assert_not_null(borrowed->content);
	check(!copy || memcmp(buf, m.a, n) == 0, "borrow_buf_copy of %zu", n);
	trace("flat(o%u, 0, %zu, a);", o->id, n);
	if (o->writes && one_in(2)) {
		trace("fill(a, 0x%llx, %zu);", ull(m.random), n);
		abd_test_random_fill(&m.random, m.a, n);
	}
	trace("memcpy(m%u, a, %zu);", id, n);
	memcpy(buf, m.a, n);
	memcpy(borrowed->content, m.a, n);
}

static void return_linear(struct object *o, struct borrowed *borrowed)
{
	if (one_in(2)) {
		size_t at = below(borrowed->n);
		uint8_t byte = (uint8_t)below(256);

		borrowed->buf[at] = (char)byte;
		trace("m%u[%zu] = (char)%u;", borrowed->id, at, byte);
		trace("abd_return_buf_copy(o%u, m%u, %zu);", o->id, borrowed->id, borrowed->n);
		model_write(o, at, 1, &byte);
		abd_return_buf_copy(o->abd, borrowed->buf, borrowed->n);
	} else {
		trace("abd_return_buf(o%u, m%u, %zu);", o->id, borrowed->id, borrowed->n);
		abd_return_buf(o->abd, borrowed->buf, borrowed->n);
	}
}

static void return_copy(struct object *o, struct borrowed *borrowed)
{
	size_t n = borrowed->n;
	bool same = memcmp(model_read(o, 0, n, m.a), borrowed->content, n) == 0;

	check(memcmp(borrowed->buf, borrowed->content, n) == 0, "a borrow of %zu was changed", n);
	if (!o->writes && !same) {
		trace("flat(o%u, 0, %zu, (unsigned char *)m%u);", o->id, n, borrowed->id);
		memcpy(borrowed->buf, m.a, n);
	}
	if (!o->writes || (same && one_in(2))) {
		trace("abd_return_buf(o%u, m%u, %zu);", o->id, borrowed->id, n);
		abd_return_buf(o->abd, borrowed->buf, n);
	} else {
		trace("return_copy(o%u, m%u, %zu);", o->id, borrowed->id, n);
		abd_return_buf_copy(o->abd, borrowed->buf, n);
		m.expected.borrow_copy_bytes += n;
		model_write(o, 0, n, borrowed->content);
		check_written(o, 0, n, "return_buf_copy");
	}
	free(borrowed->content);
}

static void borrow_return(struct object *o)
{
	struct borrowed borrowed;
	size_t i = below(o->borrow_count);

	borrowed = o->borrows[i];
	o->borrows[i] = o->borrows[--o->borrow_count];
	if (borrowed.content != NULL)
		return_copy(o, &borrowed);
	else
		return_linear(o, &borrowed);
}

static void op_return(void)
{
	struct object *o = any();

	if (o != NULL && o->borrow_count > 0)
		borrow_return(o);
}

static void op_ownership(void)
{
	struct object *o = any();

	if (o == NULL || (o->kind != LINEAR && o->kind != FROM_BUF) || o->memory_is_malloc)
		return;
	gauge_add(&m.expected, &o->gauge, -(uint64_t)1);
	if (o->kind == LINEAR) {
		o->memory = abd_to_buf(o->abd);
		trace("void *m%u = abd_to_buf(o%u);", o->id, o->id);
		trace("abd_release_ownership_of_buf(o%u);", o->id);
		abd_release_ownership_of_buf(o->abd);
		o->kind = FROM_BUF;
		o->gauge.linear_cnt = 0;
		o->gauge.linear_data_size = 0;
	} else {
		trace("abd_take_ownership_of_buf(o%u, false);", o->id);
		abd_take_ownership_of_buf(o->abd, one_in(2));
		o->kind = LINEAR;
		o->gauge.linear_cnt = 1;
		o->gauge.linear_data_size = o->size;
	}
	gauge_add(&m.expected, &o->gauge, 1);
}

/* ---- lz4 ---- */

/* How many borrows a codec needs is its own affair. */
static void borrows_resync(void)
{
	struct abd_stats now = abd_test_stats();

	m.expected.borrow_cnt = now.borrow_cnt;
	m.expected.borrow_copy_cnt = now.borrow_copy_cnt;
	m.expected.borrow_copy_bytes = now.borrow_copy_bytes;
}

/* What liblz4 makes of a block, or less: it lets some damage pass that the format forbids. */
static bool decompressed(ssize_t got, int expected, bool damaged)
{
	return got == expected || (got == -EBADMSG && (expected < 0 || damaged)) ||
	       (m.oom && got == -ENOMEM);
}

/* Decompress size bytes at off of src. */
static void decompress(struct object *src, size_t off, size_t size, size_t room, bool damaged)
{
	struct object *d = any();
	size_t d_off, d_n;
	ssize_t got;
	int expected;

	model_read(src, off, size, m.a);
	expected = LZ4_decompress_safe((char *)m.a, (char *)m.b, (int)size, (int)room);
	memset(m.a, 0xa5, room + 1);
	trace("abd_lz4_decompress_to_buf(a, o%u, %zu, %zu, %zu);", src->id, room, off, size);
	got = abd_lz4_decompress_to_buf(m.a, src->abd, room, off, size);
	check(decompressed(got, expected, damaged), "lz4_decompress_to_buf gave %zd, not %d", got,
		expected);
	check(got < 0 || memcmp(m.a, m.b, (size_t)got) == 0, "lz4_decompress_to_buf of %zd", got);
	check(m.a[room] == 0xa5, "lz4_decompress_to_buf wrote behind %zu", room);

	random_range(d, &d_off, &d_n);
	if (!d->writes || d_n < room || slices_overlap(d, d_off, room, src, off, size) ||
		slices_repeat(d, d_off, room))
		return;
	trace("abd_lz4_decompress(o%u, o%u, %zu, %zu, %zu, %zu);", d->id, src->id, d_off, room, off,
		size);
	got = abd_lz4_decompress(d->abd, src->abd, d_off, room, off, size);
	check(decompressed(got, expected, damaged), "lz4_decompress gave %zd, not %d", got,
		expected);
	if (got > 0)
		model_write(d, d_off, (size_t)got, m.b);
	if (got > 0)
		resync(d, d_off + (size_t)got, room - (size_t)got);
	else
		resync(d, d_off, room);
	check_written(d, d_off, room, "lz4_decompress");
}

static void damage(struct object *o, size_t off, size_t size)
{
	uint8_t byte = (uint8_t)below(256);
	size_t at = off + below(size);

	trace("set_byte(o%u, %zu, %u);", o->id, at, byte);
	abd_copy_from_buf_off(o->abd, &byte, at, 1);
	model_write(o, at, 1, &byte);
}

static void op_lz4(void)
{
	struct object *src = any(), *dst = any();
	size_t off, n, d_off, unused;

	if (dst == NULL || !dst->writes)
		return;
	random_range(src, &off, &n);
	n = abd_min(n, 40000);
	random_range(dst, &d_off, &unused);

	size_t bound = (size_t)LZ4_compressBound((int)n);
	size_t room = abd_min(dst->size - d_off, bound);

	if (slices_overlap(src, off, n, dst, d_off, room) || slices_repeat(dst, d_off, room))
		return;

	ssize_t got = abd_lz4_compress(dst->abd, src->abd, d_off, off, n);

	trace("compress(o%u, o%u, %zu, %zu, %zu, %zd);", dst->id, src->id, d_off, off, n, got);

	resync(dst, d_off, room);
	check_written(dst, d_off, room, "lz4_compress");
	check((got > 0 && (size_t)got <= room) || (got == -ENOSPC && room < bound) ||
			(got == -ENOMEM && m.oom),
		"lz4_compress of %zu into %zu gave %zd", n, room, got);
	if (got > 0) {
		model_read(dst, d_off, (size_t)got, m.a);
		check(LZ4_decompress_safe((char *)m.a, (char *)m.b, (int)got, (int)n) == (int)n &&
				memcmp(m.b, model_read(src, off, n, m.a), n) == 0,
			"lz4_compress of %zu bytes lost them", n);

		bool damaged = one_in(3);

		if (damaged)
			damage(dst, d_off, (size_t)got);
		decompress(dst, d_off, (size_t)got, one_in(2) ? n : n / 2 + below(100), damaged);
	}
	borrows_resync();
}

/* ---- raidz ---- */

static struct {
	unsigned parity;
	size_t at;
	bool odd; /* a piece that was no multiple of 512 was met */
	bool wrong;
} raidz;

static void raidz_gen(void **c, const void *d, size_t csize, size_t dsize)
{
	raidz.wrong |= raidz.odd || dsize > csize || (dsize > 0) != (d != NULL);
	raidz.odd = csize % 512 != 0;
	for (unsigned i = 0; i < raidz.parity; i++)
		for (size_t k = 0; k < csize; k++)
			((uint8_t *)c[i])[k] ^=
				k < dsize ? ((const uint8_t *)d)[k] : (uint8_t)(i + 1);
	raidz.at += csize;
}

static void raidz_rec(void **t, const size_t tsize, void **c, const unsigned *mul)
{
	raidz.wrong |= raidz.odd;
	raidz.odd = tsize % 512 != 0;
	for (unsigned i = 0; i < raidz.parity; i++)
		for (size_t k = 0; k < tsize; k++)
			((uint8_t *)t[i])[k] ^= (uint8_t)(((uint8_t *)c[i])[k] * mul[i]);
	raidz.at += tsize;
}

/* Pieces end at multiples of 512 of the buffer: one base, from a sector's start. */
static bool in_sectors(const struct object *o)
{
	return o->slice_count == 1 && o->slices[0].base != NULL && o->slices[0].off % 512 == 0;
}

static bool raidz_choose(struct object **o, size_t count, bool last_may_be_read_only)
{
	for (size_t i = 0; i < count; i++) {
		o[i] = any();
		if (o[i] == NULL || !in_sectors(o[i]) ||
			(!o[i]->writes && !(last_may_be_read_only && i + 1 == count)))
			return false;
		for (size_t j = 0; j < i; j++)
			if (slices_overlap(o[i], 0, o[i]->size, o[j], 0, o[j]->size))
				return false;
	}
	return true;
}

static void op_raidz_gen(void)
{
	struct object *o[4];
	abd_t *cabds[3];
	size_t parity = 1 + below(3), csize = SIZE_MAX, off, dsize;

	if (!raidz_choose(o, parity + 1, true))
		return;
	for (size_t i = 0; i < parity; i++) {
		cabds[i] = o[i]->abd;
		csize = abd_min(csize, o[i]->size);
	}
	csize = abd_min(csize, 40000);
	off = abd_min(one_in(2) ? 0 : 512, csize & ~(size_t)511);
	csize -= off;
	dsize = o[parity]->size < off ? 0 : abd_min(o[parity]->size - off, csize);
	if (dsize < csize)
		dsize &= ~(size_t)511;
	raidz.parity = (unsigned)parity;
	raidz.at = 0;
	raidz.odd = raidz.wrong = false;
	trace("raidz_gen((abd_t *[]){o%u, o%u, o%u}, o%u, %zu, %zu, %zu, %zu);", o[0]->id,
		o[parity > 1 ? 1 : 0]->id, o[parity > 2 ? 2 : 0]->id, o[parity]->id, off, csize,
		dsize, parity);
	abd_raidz_gen_iterate(cabds, dsize > 0 ? o[parity]->abd : NULL, off, csize, dsize,
		(unsigned)parity, raidz_gen);
	check(raidz.at == csize && !raidz.wrong, "raidz_gen: %zu of %zu, %zu of data", raidz.at,
		csize, dsize);
	for (size_t i = 0; i < parity; i++) {
		model_read(o[i], off, csize, m.a);
		model_read(o[parity], off, dsize, m.b);
		for (size_t k = 0; k < csize; k++)
			m.a[k] ^= k < dsize ? m.b[k] : (uint8_t)(i + 1);
		model_write(o[i], off, csize, m.a);
		check_written(o[i], off, csize, "raidz_gen");
	}
}

static void op_raidz_rec(void)
{
	struct object *o[6];
	abd_t *tabds[3], *cabds[3];
	unsigned mul[] = {3, 5, 7};
	size_t parity = 1 + below(3), tsize = 40000;

	if (!raidz_choose(o, 2 * parity, false))
		return;
	for (size_t i = 0; i < parity; i++) {
		tabds[i] = o[i]->abd;
		cabds[i] = o[parity + i]->abd;
		tsize = abd_min(tsize, abd_min(o[i]->size, o[parity + i]->size));
	}
	raidz.parity = (unsigned)parity;
	raidz.at = 0;
	raidz.odd = raidz.wrong = false;
	trace("raidz_rec((abd_t *[]){o%u, o%u, o%u}, (abd_t *[]){o%u, o%u, o%u}, %zu, %zu);",
		o[parity]->id, o[parity > 1 ? parity + 1 : 0]->id,
		o[parity > 2 ? parity + 2 : 0]->id, o[0]->id, o[parity > 1 ? 1 : 0]->id,
		o[parity > 2 ? 2 : 0]->id, tsize, parity);
	abd_raidz_rec_iterate(cabds, tabds, tsize, (unsigned)parity, raidz_rec, mul);
	check(raidz.at == tsize && !raidz.wrong, "raidz_rec: %zu of %zu", raidz.at, tsize);
	for (size_t i = 0; i < parity; i++) {
		model_read(o[i], 0, tsize, m.a);
		model_read(o[parity + i], 0, tsize, m.b);
		for (size_t k = 0; k < tsize; k++)
			m.a[k] ^= (uint8_t)(m.b[k] * mul[i]);
		model_write(o[i], 0, tsize, m.a);
		check_written(o[i], 0, tsize, "raidz_rec");
	}
}

/* ---- everything else ---- */

static void tunable(const char *name, const char *value)
{
	trace("expect(abd_tuning_set(\"%s\", \"%s\") == 0);", name, value);
	check(abd_tuning_set(name, value) == 0, "%s can't be %s", name, value);
}

static void op_tune(void)
{
	static const char *const orders[] = {"0", "0", "1", "2", "5", "10"};
	static const char *const mins[] = {"0", "1536", "1536", "5000"};
	static const char *const kernels[] = {"auto", "scalar", "word", "libc"};

	tunable("max_order", orders[below(6)]);
	tunable("linear_page", one_in(3) ? "0" : "1");
	tunable("scatter_min_size", mins[below(4)]);
	tunable("scatter_enabled", one_in(5) ? "0" : "1");
	tunable("compare", kernels[below(4)]);
	if (!m.test_provider)
		return;

	uint32_t orders_refused = (uint32_t)(below(2) * below(1024) * 2);
	unsigned percent = (unsigned)(below(3) * 30);
	bool adjacent = one_in(4);

	trace("abd_test_refuse_nothing();");
	trace("abd_test_refuse_orders(0x%x);", (unsigned)orders_refused);
	trace("abd_test_refuse_random(0x%llx, %u);", ull(m.random), percent);
	trace("abd_test_runs_adjacent(%d);", adjacent);
	abd_test_refuse_nothing();
	abd_test_refuse_orders(orders_refused);
	abd_test_refuse_random(m.random, percent);
	abd_test_runs_adjacent(adjacent);
}

static void op_verify(void)
{
	struct object *o = any();

	if (o == NULL)
		return;
	trace("abd_verify(o%u);", o->id);
	abd_verify(o->abd);
	check(abd_get_size(o->abd) == o->size, "size %zu", o->size);
	check(abd_is_gang(o->abd) == (o->kind == GANG || (o->kind == VIEW && o->parent != NULL &&
								 abd_is_gang(o->parent->abd))),
		"gang or not: kind %d", (int)o->kind);
	if (one_in(20))
		abd_cache_reap_now();
}

static void (*const ops[])(void) = {
	op_alloc,
	op_alloc,
	op_alloc_linear,
	op_from_buf,
	op_zeros,
	op_gang,
	op_view,
	op_view,
	op_from_iov,
	op_gang_add,
	op_gang_add,
	op_gang_add,
	op_free,
	op_free,
	op_free,
	op_free,
	op_free,
	op_copy,
	op_copy,
	op_copy,
	op_copy_from_buf,
	op_copy_to_buf,
	op_zero,
	op_iterate,
	op_compare_buf,
	op_compare,
	op_compare,
	op_to_iov,
	op_borrow,
	op_borrow,
	op_return,
	op_return,
	op_return,
	op_ownership,
	op_lz4,
	op_raidz_gen,
	op_raidz_rec,
	op_verify,
};

static void check_gauges(void)
{
	struct abd_stats now = abd_test_stats();

	check(abd_test_gauges_equal(&m.expected, &now), "%zu buffers and other gauges", m.count);
	check(m.expected.borrow_cnt == now.borrow_cnt &&
			m.expected.borrow_copy_cnt == now.borrow_copy_cnt &&
			m.expected.borrow_copy_bytes == now.borrow_copy_bytes,
		"borrows: %llu expected, %llu counted", (unsigned long long)m.expected.borrow_cnt,
		(unsigned long long)now.borrow_cnt);
}

/* Memory runs out in one step of a hundred: at one site, or from one on. */
static void step_fault(void)
{
	size_t site = below(4);
	bool from = one_in(2);

	trace("abd_test_fault_%s(%zu);", from ? "from" : "at", site);
	if (from)
		abd_test_fault_from(site);
	else
		abd_test_fault_at(site);
}

static void step(size_t number)
{
	m.step = number;
	m.random = m.seed + (number + 1) * 0xd1342543de82ef95u;
	abd_test_random(&m.random);
	trace("/* step %zu */", number);

	void (*op)(void) = ops[below(sizeof(ops) / sizeof(ops[0]))];

	if (one_in(500))
		op_tune();
	while (m.count >= OBJECTS - 1)
		op_return(), op_free();
	m.oom = one_in(100);
	if (m.oom)
		step_fault();
	op();
	if (m.oom) {
		trace("abd_test_fault_end();");
		abd_test_fault_end();
	}
	check_gauges();
	for (size_t i = 0; number % CHECK_ALL == 0 && i < m.count; i++)
		if (m.objects[i]->raw_count > 0)
			check_base(m.objects[i]);
}

static void end_all(void)
{
	m.oom = false;
	for (size_t i = 0; i < m.count; i++)
		while (m.objects[i]->borrow_count > 0)
			borrow_return(m.objects[i]);
	while (m.count > 0)
		op_free();
	check_gauges();
}

static void episode_begin(uint64_t seed)
{
	m.seed = m.random = seed;
	m.step = 0;
	m.test_provider = one_in(2);
	trace("%s();", m.test_provider ? "abd_test_provider_begin" : "abd_test_tunables_restore");
	if (m.test_provider)
		abd_test_provider_begin();
	else
		abd_test_tunables_restore();
	m.expected = abd_test_stats();
	op_tune();
}

static void episode_end(void)
{
	end_all();
	if (m.test_provider)
		check(abd_test_runs_out_all() == 0, "%zu runs were not given back",
			abd_test_runs_out_all());
	abd_test_provider_end();
}

static void memory_begin(void)
{
	m.a = malloc(ROOM + 64);
	m.b = malloc(ROOM + 64);
	cr_assert(m.a != NULL && m.b != NULL);
}

/* ---- shrinking ---- */

/* What a base holds, as model_replay.h adds it up. */
static uint64_t content_sum(const struct object *o)
{
	uint64_t sum = 0xcbf29ce484222325u;

	for (size_t i = 0; i < o->size; i++)
		sum = (sum ^ o->data[i]) * 0x100000001b3u;
	return sum;
}

/* The end of the program: what all is to be, by the model. */
static void trace_end(const char *message)
{
	struct abd_stats *e = &m.expected;

	trace("/* the model: %s */", message);
	for (size_t i = 0; i < m.count; i++)
		if (m.objects[i]->data != NULL)
			trace("holds(o%u, 0x%llx);", m.objects[i]->id,
				ull(content_sum(m.objects[i])));
	trace("gauges(%llu, %llu, %llu, %llu, %llu, %llu, %llu);", ull(e->struct_size),
		ull(e->linear_cnt), ull(e->linear_data_size), ull(e->scatter_cnt),
		ull(e->scatter_data_size), ull(e->scatter_chunk_waste),
		ull(e->scatter_multi_chunk));
	for (unsigned order = 0; order < ABD_STATS_ORDERS; order++)
		if (e->scatter_order[order] != 0)
			trace("order(%u, %llu);", order, ull(e->scatter_order[order]));
	trace("orders();");
}

static void shrink(size_t steps);

static void check_failed(const char *format, ...)
{
	char message[256];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (m.replays) {
		if (m.trace != NULL)
			trace_end(message);
		if (m.trace != NULL)
			fclose(m.trace);
		_exit(CHECK_FAILED);
	}
	fprintf(stderr, "ABD_TEST_SEED=%llu step %zu: %s\n", ull(m.seed), m.step, message);
	shrink(m.step + 1);
	cr_assert(false, "ABD_TEST_SEED=%llu step %zu: %s", ull(m.seed), m.step, message);
}

/* The steps of a file, in a process of their own: whether they fail. */
ABD_TEST_CHILD(model_replay)
{
	const char *trace_name = getenv("MODEL_TRACE");
	FILE *steps = fopen(getenv("MODEL_STEPS"), "r");
	size_t number;

	m.replays = true;
	memory_begin();
	if (trace_name != NULL)
		m.trace = fopen(trace_name, "w");
	episode_begin(strtoull(getenv("MODEL_SEED"), NULL, 0));
	while (steps != NULL && fscanf(steps, "%zu", &number) == 1) {
		step(number);
		if (m.trace != NULL)
			fflush(m.trace);
	}
	episode_end();
	return 0;
}

static bool shrink_try(const size_t *steps, size_t count, const char *trace_name)
{
	char name[] = "/tmp/abd_model_XXXXXX", seed[64], list[64], where[128], text[64];
	FILE *file = fdopen(mkstemp(name), "w");
	int status;

	cr_assert_not_null(file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%zu\n", steps[i]);
	fclose(file);
	snprintf(seed, sizeof(seed), "MODEL_SEED=%llu", ull(m.seed));
	snprintf(list, sizeof(list), "MODEL_STEPS=%s", name);
	snprintf(where, sizeof(where), "MODEL_TRACE=%s", trace_name != NULL ? trace_name : "");
	status = abd_test_child_run("model_replay",
		(const char *const[]){seed, list, trace_name != NULL ? where : NULL, NULL}, text,
		sizeof(text));
	unlink(name);
	return abd_test_child_exit(status) != 0;
}

/* Leave out pieces, ever smaller ones, for as long as the rest fails. Returns how many steps are left. */
static size_t shrink_steps(size_t *steps, size_t count)
{
	size_t *fewer = malloc(count * sizeof(*fewer));
	size_t tries = 0;

	cr_assert_not_null(fewer);
	for (size_t piece = (count + 1) / 2; piece > 0 && tries < SHRINK_TRIES;) {
		size_t before = count;

		for (size_t at = 0; at < count && tries < SHRINK_TRIES; tries++) {
			size_t gone = abd_min(piece, count - at);

			memcpy(fewer, steps, at * sizeof(*steps));
			memcpy(fewer + at, steps + at + gone, (count - at - gone) * sizeof(*steps));
			if (shrink_try(fewer, count - gone, NULL)) {
				count -= gone;
				memcpy(steps, fewer, count * sizeof(*steps));
			} else {
				at += gone;
			}
		}
		/* Single ones again and again: what one needed may be gone now. */
		if (piece > 1 || count == before)
			piece /= 2;
	}
	free(fewer);
	return count;
}

static void print_program(const char *trace_name, size_t count)
{
	FILE *file = fopen(trace_name, "r");
	char line[512];

	fprintf(stderr,
		"/* ABD_TEST_SEED=%llu, shrunk to %zu operations */\n"
		"#include \"model_replay.h\"\n\n#include <criterion/criterion.h>\n\n"
		"Test(abd_model_found, seed_%llu)\n{\n",
		ull(m.seed), count, ull(m.seed));
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		fputs(line, stderr);
	fprintf(stderr, "\tcr_assert(replayed());\n}\n");
	if (file != NULL)
		fclose(file);
}

static void shrink(size_t steps)
{
	char trace_name[] = "/tmp/abd_model_XXXXXX";
	size_t *list = malloc(steps * sizeof(*list));
	int fd = mkstemp(trace_name);

	cr_assert(list != NULL && fd >= 0);
	close(fd);
	for (size_t i = 0; i < steps; i++)
		list[i] = i;
	if (shrink_try(list, steps, NULL)) {
		steps = shrink_steps(list, steps);
		shrink_try(list, steps, trace_name);
		print_program(trace_name, steps);
	} else {
		fprintf(stderr, "alone, the episode of seed %llu does not fail\n", ull(m.seed));
	}
	unlink(trace_name);
	free(list);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value != NULL ? strtoull(value, NULL, 0) : otherwise;
}

static void episode(uint64_t seed, size_t steps)
{
	episode_begin(seed);
	for (size_t i = 0; i < steps; i++)
		step(i);
	episode_end();
}

Test(abd_model, random_operations_do_what_flat_bytes_do)
{
	uint64_t seed = setting("ABD_TEST_SEED", 1), left = setting("ABD_TEST_OPS", 1000000);

	memory_begin();
	m.seed = setting("ABD_TEST_SHRINK", 0);
	if (m.seed != 0) {
		shrink(EPISODE);
		left = 0;
	}
	for (; left > 0; seed++) {
		size_t steps = left < EPISODE ? (size_t)left : EPISODE;

		episode(seed, steps);
		left -= steps;
	}
	free(m.a);
	free(m.b);
}
