/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes each kind from simpler ones: first a base with memory of its own, then views and gangs,
 * whose pieces are slices of their parents' pieces.
 */
#include "abd_test.h"

#include "abd_impl.h"

#define SIZE ABD_TEST_KIND_SIZE

static uint8_t zeros[1 << 16]; /* stands for the memory of buffers of zeros; never written */

/* A buffer and the memory that it is known to lie in. */
struct made {
	abd_t *abd;
	struct iovec piece[ABD_TEST_PIECES];
	size_t piece_count;
};

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "test kinds: %s\n", what);
	abort();
}

static void piece_add(struct iovec *piece, size_t *count, void *addr, size_t len)
{
	require(*count < ABD_TEST_PIECES, "too many pieces");
	piece[(*count)++] = (struct iovec){addr, len};
}

static void keep(struct abd_test_buffer *b, abd_t *abd)
{
	require(abd != NULL && b->part_count < ABD_TEST_PARTS, "a part is missing");
	b->part[b->part_count++] = abd;
}

static struct made made_linear(abd_t *abd)
{
	struct made m = {.abd = abd};

	require(abd != NULL && abd_is_linear(abd), "not linear");
	piece_add(m.piece, &m.piece_count, ABD_BUF(abd), abd_get_size(abd));
	return m;
}

static struct made made_scatter(abd_t *abd)
{
	struct made m = {.abd = abd};

	require(abd != NULL && !abd_is_linear(abd) && !abd_is_gang(abd), "not scattered");
	for (size_t i = 0; i < ABD_SCATTER(abd).abd_run_count; i++) {
		struct iovec *run = &ABD_SCATTER(abd).abd_runs[i];

		piece_add(m.piece, &m.piece_count, run->iov_base, run->iov_len);
	}
	return m;
}

/* Append the pieces of bytes [off, off + size) of m to the pieces of to. */
static void slice(struct made *to, const struct made *m, size_t off, size_t size)
{
	for (size_t i = 0; i < m->piece_count && size > 0; i++) {
		size_t len = m->piece[i].iov_len;
		size_t n = off < len ? abd_min(len - off, size) : 0;

		if (n > 0)
			piece_add(
				to->piece, &to->piece_count, (char *)m->piece[i].iov_base + off, n);
		off -= abd_min(off, len);
		size -= n;
	}
}

/* ---- bases: they own their memory ---- */

static struct made base_linear(struct abd_test_buffer *b, size_t size)
{
	(void)b;
	return made_linear(abd_alloc_linear(size, false));
}

static struct made base_linear_struct(struct abd_test_buffer *b, size_t size)
{
	return made_linear(abd_alloc_linear_struct(&b->own[0], size, true));
}

/* At an odd address; the allocation ends where the buffer ends. */
static struct made base_from_buf(struct abd_test_buffer *b, size_t size)
{
	char *memory = malloc(size + 3);

	require(memory != NULL, "no memory");
	b->memory[b->memory_count++] = memory;
	return made_linear(abd_get_from_buf(memory + 3, size));
}

static struct made base_single(struct abd_test_buffer *b, size_t size)
{
	(void)b;
	return made_linear(abd_alloc(size, false));
}

static struct made base_table_of_one(struct abd_test_buffer *b, size_t size)
{
	(void)b;
	abd_tuning_set("linear_page", "0");

	struct made m = made_scatter(abd_alloc(size, false));

	abd_tuning_set("linear_page", "1");
	require(m.piece_count == 1, "not one run");
	return m;
}

static struct made base_multi(struct abd_test_buffer *b, size_t size)
{
	(void)b;
	abd_tuning_set("max_order", "0");

	struct made m = made_scatter(abd_alloc(size, true));

	abd_tuning_set("max_order", "10");
	return m;
}

static struct made base_adjacent(struct abd_test_buffer *b, size_t size)
{
	abd_test_runs_adjacent(true);

	struct made m = base_multi(b, size);

	abd_test_runs_adjacent(false);
	return m;
}

/* Order 2 is refused; order 1 is granted once and then refused: runs of 2, 1 and 1 pages. */
static struct made base_mixed(struct abd_test_buffer *b, size_t size)
{
	(void)b;
	abd_test_refuse_script("x.x");

	struct made m = made_scatter(abd_alloc(size, false));

	abd_test_refuse_nothing();
	require(m.piece_count == 3, "not three runs");
	return m;
}

static struct made base_zeros(struct abd_test_buffer *b, size_t size)
{
	struct made m = {.abd = abd_get_zeros(size)};

	require(size <= sizeof(zeros), "too large");
	piece_add(m.piece, &m.piece_count, zeros, size);
	b->writes = false;
	return m;
}

typedef struct made make_t(struct abd_test_buffer *b, size_t size);

/* ---- views ---- */

static struct made view_of(struct abd_test_buffer *b, struct made parent, size_t off, size_t size)
{
	struct made m = {.abd = abd_get_offset_size(parent.abd, off, size)};

	keep(b, parent.abd);
	slice(&m, &parent, off, size);
	return m;
}

static struct made view_odd(struct abd_test_buffer *b, make_t *base, size_t size)
{
	return view_of(b, base(b, size + 37), 13, size);
}

/* Starts at the last byte of the second run. */
static struct made view_late(struct abd_test_buffer *b, size_t size)
{
	return view_of(b, base_multi(b, size + 2 * ABD_CHUNK_SIZE), 2 * ABD_CHUNK_SIZE - 1, size);
}

static struct made view_of_view(struct abd_test_buffer *b, size_t size)
{
	return view_of(b, view_of(b, base_mixed(b, size + 200), 77, size + 100), 31, size);
}

static struct made view_struct(struct abd_test_buffer *b, size_t size)
{
	struct made parent = base_multi(b, size + 5000), m = {.abd = &b->own[0]};

	keep(b, parent.abd);
	require(abd_get_offset_struct(&b->own[0], parent.abd, 4097, size) == &b->own[0], "view");
	slice(&m, &parent, 4097, size);
	return m;
}

/* ---- gangs ---- */

static void gang_add(struct abd_test_buffer *b, struct made *gang, struct made child, bool free_it)
{
	require(abd_gang_add(gang->abd, child.abd, free_it) == 0, "a child could not be added");
	if (!free_it)
		keep(b, child.abd);
	slice(gang, &child, 0, SIZE_MAX);
}

static struct made gang_mixed(struct abd_test_buffer *b, size_t size)
{
	struct made gang = {.abd = abd_alloc_gang()};

	gang_add(b, &gang, base_linear(b, 700), true);
	gang_add(b, &gang, base_multi(b, 5000), true);
	gang_add(b, &gang, base_single(b, 4096), false);
	gang_add(b, &gang, base_from_buf(b, 300), true);
	gang_add(b, &gang, view_odd(b, base_multi, size - 700 - 5000 - 4096 - 300), false);
	return gang;
}

static struct made gang_zeros(struct abd_test_buffer *b, size_t size)
{
	struct made gang = {.abd = abd_alloc_gang_struct(&b->own[1])};

	gang_add(b, &gang, base_mixed(b, 3 * ABD_CHUNK_SIZE + 1), false);
	gang_add(b, &gang, base_zeros(b, 1), true);
	gang_add(b, &gang, base_linear(b, 1), true);
	gang_add(b, &gang, base_zeros(b, size - 3 * ABD_CHUNK_SIZE - 3), true);
	return gang;
}

/* The bytes of one parent in another order: a gang of views of it. */
static struct made gang_views(struct abd_test_buffer *b, size_t size)
{
	struct made parent = base_multi(b, size), gang = {.abd = abd_alloc_gang()};
	size_t at[] = {9000, 0, 4095, 9000};

	keep(b, parent.abd);
	for (size_t i = 0; i < 3; i++) {
		size_t end = i == 0 ? size : at[i + 1];
		struct made view = {.abd = abd_get_offset_size(parent.abd, at[i], end - at[i])};

		slice(&view, &parent, at[i], end - at[i]);
		gang_add(b, &gang, view, true);
	}
	return gang;
}

/* Views that divide one linear buffer within lines: pieces that are neighbours in memory. */
static struct made gang_within_lines(struct abd_test_buffer *b, size_t size)
{
	struct made parent = base_linear(b, size), gang = {.abd = abd_alloc_gang()};

	keep(b, parent.abd);
	for (size_t at = 0, n = 40; at < size; at += n, n = n * 3 % 2039 + 1) {
		n = abd_min(n, size - at);

		struct made view = {.abd = abd_get_offset_size(parent.abd, at, n)};

		slice(&view, &parent, at, n);
		gang_add(b, &gang, view, true);
	}
	return gang;
}

/* A gang that swallowed one gang and shares the children of another. */
static struct made gang_spliced(struct abd_test_buffer *b, size_t size)
{
	struct made gang = {.abd = abd_alloc_gang()}, first = {.abd = abd_alloc_gang()};
	struct made second = {.abd = abd_alloc_gang()};

	gang_add(b, &gang, base_linear(b, 11), true);
	gang_add(b, &first, base_multi(b, 4099), true);
	gang_add(b, &first, base_linear(b, 64), true);
	gang_add(b, &second, base_single(b, 4096), true);
	gang_add(b, &second, base_multi(b, size - 11 - 4099 - 64), true);
	gang_add(b, &gang, first, true);

	/*
	 * A view shares them: it begins with the last byte of the second gang's first child and
	 * ends one byte before that gang does.
	 */
	gang_add(b, &gang, view_of(b, second, 4095, size - 11 - 4099 - 64), false);
	return gang;
}

static struct made view_gang(struct abd_test_buffer *b, size_t size)
{
	return view_of(b, gang_mixed(b, size + 800), 699, size);
}

static struct made view_view_gang(struct abd_test_buffer *b, size_t size)
{
	return view_of(b, view_of(b, gang_mixed(b, size + 800), 701, size + 60), 59, size);
}

static const struct {
	const char *name;
	make_t *make;
	bool is_view_of_it;
} kinds[] = {
	{"linear", base_linear, false},
	{"linear in the caller's struct", base_linear_struct, false},
	{"from_buf at an odd address", base_from_buf, false},
	{"single run", base_single, false},
	{"single run without the rule", base_table_of_one, false},
	{"runs of one order", base_multi, false},
	{"runs next to each other", base_adjacent, false},
	{"runs of two orders", base_mixed, false},
	{"zeros", base_zeros, false},
	{"view of linear", base_linear, true},
	{"view of a single run", base_single, true},
	{"view of a single run without the rule", base_table_of_one, true},
	{"view of runs of one order", base_multi, true},
	{"view of runs of two orders", base_mixed, true},
	{"view of zeros", base_zeros, true},
	{"view from a run's last byte", view_late, false},
	{"view of a view", view_of_view, false},
	{"view in the caller's struct", view_struct, false},
	{"gang of mixed children", gang_mixed, false},
	{"gang with zeros", gang_zeros, false},
	{"gang of views", gang_views, false},
	{"gang within lines", gang_within_lines, false},
	{"gang of gangs' children", gang_spliced, false},
	{"view of a gang", view_gang, false},
	{"view of a view of a gang", view_view_gang, false},
};

const size_t abd_test_kind_count = sizeof(kinds) / sizeof(kinds[0]);

size_t abd_test_kind(const char *name)
{
	size_t kind = 0;

	while (kind < abd_test_kind_count && strcmp(kinds[kind].name, name) != 0)
		kind++;
	require(kind < abd_test_kind_count, name);
	return kind;
}

static bool is_zeros(const struct iovec *piece)
{
	const uint8_t *addr = piece->iov_base;

	return addr >= zeros && addr < zeros + sizeof(zeros);
}

void abd_test_fill(struct abd_test_buffer *b, uint64_t seed)
{
	uint8_t *model = b->model;

	for (size_t i = 0; i < b->piece_count; i++) {
		size_t len = b->piece[i].iov_len;

		if (is_zeros(&b->piece[i])) {
			memset(model, 0, len);
		} else {
			abd_test_random_fill(&seed, model, len);
			memcpy(b->piece[i].iov_base, model, len);
		}
		model += len;
	}
}

void abd_test_build(struct abd_test_buffer *b, size_t kind, uint64_t seed)
{
	memset(b, 0, sizeof(*b));
	b->kind = kinds[kind].name;
	b->size = SIZE;
	b->writes = true;

	struct made m = kinds[kind].is_view_of_it ? view_odd(b, kinds[kind].make, SIZE)
						  : kinds[kind].make(b, SIZE);

	require(m.abd != NULL && abd_get_size(m.abd) == SIZE, kinds[kind].name);
	b->abd = m.abd;
	memcpy(b->piece, m.piece, sizeof(b->piece));
	b->piece_count = m.piece_count;
	b->model = malloc(SIZE);
	require(b->model != NULL, "no memory");
	abd_test_fill(b, seed);
}

void abd_test_drop(struct abd_test_buffer *b)
{
	abd_free(b->abd);
	while (b->part_count > 0)
		abd_free(b->part[--b->part_count]);
	while (b->memory_count > 0)
		free(b->memory[--b->memory_count]);
	free(b->model);
}

size_t abd_test_differs(const struct abd_test_buffer *b)
{
	size_t at = 0;

	for (size_t i = 0; i < b->piece_count; at += b->piece[i].iov_len, i++) {
		const uint8_t *memory = b->piece[i].iov_base;

		if (memcmp(memory, b->model + at, b->piece[i].iov_len) == 0)
			continue;
		while (*memory == b->model[at])
			memory++, at++;
		return at;
	}
	return at;
}

size_t abd_test_offsets(const struct abd_test_buffer *b, size_t offsets[ABD_TEST_OFFSETS])
{
	size_t count = 0, at = 0;
	size_t wanted[3 * ABD_TEST_PIECES + 4], wanted_count = 0;

	wanted[wanted_count++] = 0;
	wanted[wanted_count++] = 1;
	for (size_t i = 0; i + 1 < b->piece_count; i++) {
		at += b->piece[i].iov_len;
		wanted[wanted_count++] = at - 1;
		wanted[wanted_count++] = at;
		wanted[wanted_count++] = at + 1;
	}
	wanted[wanted_count++] = b->size - 1;
	wanted[wanted_count++] = b->size;
	for (size_t i = 0; i < wanted_count && count < ABD_TEST_OFFSETS; i++)
		if (wanted[i] <= b->size && (count == 0 || wanted[i] > offsets[count - 1]))
			offsets[count++] = wanted[i];
	return count;
}

void abd_test_each_kind(void (*try)(struct abd_test_buffer *buffer))
{
	for (size_t kind = 0; kind < abd_test_kind_count; kind++) {
		struct abd_test_buffer b;

		abd_test_build(&b, kind, kind);
		try(&b);
		abd_test_drop(&b);
	}
}

void abd_test_each_pair(void (*try)(struct abd_test_buffer *a, struct abd_test_buffer *b))
{
	for (size_t i = 0; i < abd_test_kind_count * abd_test_kind_count; i++) {
		struct abd_test_buffer a, b;

		abd_test_build(&a, i / abd_test_kind_count, i);
		abd_test_build(&b, i % abd_test_kind_count, i + 1000);
		try(&a, &b);
		abd_test_drop(&b);
		abd_test_drop(&a);
	}
}

void abd_test_each_range(void (*try)(struct abd_test_buffer *buffer, size_t off, size_t size))
{
	for (size_t kind = 0; kind < abd_test_kind_count; kind++) {
		struct abd_test_buffer b;
		size_t offsets[ABD_TEST_OFFSETS];

		abd_test_build(&b, kind, kind);

		size_t count = abd_test_offsets(&b, offsets);

		for (size_t i = 0; i < count; i++)
			for (size_t j = i; j < count; j++)
				try(&b, offsets[i], offsets[j] - offsets[i]);
		abd_test_drop(&b);
	}
}
