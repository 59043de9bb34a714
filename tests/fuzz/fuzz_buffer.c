/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: bytes become operations on buffers of all kinds, checked against flat bytes.
 *
 * Each buffer's model is a list of cells, one for each byte, that point to the bytes of the memory
 * it is made of; so what is written through one buffer is expected through all that share it,
 * without the model knowing of runs, views or gangs.
 * Invariant: no contract is broken: a buffer is freed when nobody lives on it, a range lies within,
 * copies don't overlap.
 */
#include "fuzz_input.h"

#include <abd/abd.h>

#include <string.h>

enum { OBJECTS = 12, MEMBERS = 32, SIZE_MAX_ONE = 20000, SIZE_MAX_ALL = 60000, KINDS = 7 };

struct cell {
	uint8_t value;
	bool mark;
};

/* What a gang refers to: a buffer, which must live as long, and the gang that frees it. */
struct member {
	struct object *child, *owner;
};

struct object {
	abd_t *abd;
	size_t size;
	struct cell **cells, *own; /* own: of memory that begins with this buffer */
	uint8_t *memory;           /* of abd_get_from_buf() */
	unsigned users;            /* views of it, gangs with it */
	struct object *parent, *owner;
	struct member members[MEMBERS];
	size_t member_count;
	bool is_gang, writes;
};

static struct object *objects[OBJECTS];
static size_t object_count;
static struct cell zero;
static uint8_t a[SIZE_MAX_ALL], b[SIZE_MAX_ALL];

static struct object *object_new(abd_t *abd, size_t size)
{
	struct object *o = calloc(1, sizeof(*o));

	fuzz_check(o != NULL && abd != NULL, "size %zu", size);
	fuzz_check(abd_get_size(abd) == size, "size %zu", size);
	o->abd = abd;
	o->size = size;
	o->cells = calloc(size + 1, sizeof(struct cell *));
	o->writes = true;
	objects[object_count++] = o;
	return o;
}

/* ---- the model: what a buffer's bytes are, in a or b ----------------------------------------- */

FUZZ_UNSEEN static void model_read(const struct object *o, size_t off, size_t size, uint8_t *to)
{
	for (size_t i = 0; i < size; i++)
		to[i] = o->cells[off + i]->value;
}

/* In their order: a gang may show one byte twice. */
FUZZ_UNSEEN static void model_write(
	const struct object *o, size_t off, size_t size, const uint8_t *from)
{
	for (size_t i = 0; i < size; i++)
		o->cells[off + i]->value = from[i];
}

/* Cells of its own, or one for all bytes. */
FUZZ_UNSEEN static void model_cells(struct object *o, struct cell *cell, size_t step)
{
	for (size_t i = 0; i < o->size; i++)
		o->cells[i] = &cell[i * step];
}

FUZZ_UNSEEN static void model_fill(size_t size, unsigned seed, unsigned stride)
{
	for (size_t i = 0; i < size; i++)
		a[i] = (uint8_t)(seed + i * stride + i / 256);
}

/* Where a and b differ, or size. */
FUZZ_UNSEEN static size_t model_diff(size_t size)
{
	size_t at = 0;

	while (at < size && a[at] == b[at])
		at++;
	return at;
}

FUZZ_UNSEEN static bool model_overlap(
	struct object *d, size_t doff, struct object *s, size_t soff, size_t size)
{
	bool found = false;

	for (size_t i = 0; i < size; i++)
		d->cells[doff + i]->mark = true;
	for (size_t i = 0; i < size; i++)
		found |= s->cells[soff + i]->mark;
	for (size_t i = 0; i < size; i++)
		d->cells[doff + i]->mark = false;
	return found;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Memory of its own, filled. */
static void object_base(struct object *o, uint8_t seed)
{
	o->own = calloc(o->size, sizeof(struct cell));
	model_cells(o, o->own, 1);
	model_fill(o->size, seed, 7);
	model_write(o, 0, o->size, a);
	abd_copy_from_buf_off(o->abd, a, 0, o->size);
}

static struct object *choose(struct fuzz_input *in)
{
	return object_count > 0 ? objects[fuzz_byte(in) % object_count] : NULL;
}

/* A range within o, often at its ends. */
static size_t range(struct fuzz_input *in, const struct object *o, size_t *off)
{
	*off = fuzz_below(in, o->size + 1);
	return fuzz_below(in, o->size - *off + 1);
}

/* The model's bytes, and that the buffer has them. */
static void check_range(struct object *o, size_t off, size_t size)
{
	memset(b, 0xee, size + 1 < sizeof(b) ? size + 1 : size);
	abd_copy_to_buf_off(b, o->abd, off, size);
	model_read(o, off, size, a);
	fuzz_check(memcmp(a, b, size) == 0, "byte %zu of %zu", off + model_diff(size), o->size);
	fuzz_check(size + 1 >= sizeof(b) || b[size] == 0xee, "a byte behind %zu", size);
	fuzz_check(size == 0 || abd_cmp_buf_off(o->abd, a, off, size) == 0, "cmp [%zu, +%zu)", off,
		size);
}

static void op_alloc(struct fuzz_input *in)
{
	size_t size = 1 + fuzz_below(in, SIZE_MAX_ONE);
	uint8_t kind = fuzz_byte(in) % KINDS, seed = fuzz_byte(in);
	struct object *o;

	if (object_count == OBJECTS)
		return;
	if (kind == 0) {
		o = object_new(abd_get_zeros(size), size);
		model_cells(o, &zero, 0);
		o->writes = false;
		return;
	}
	if (kind == 1) {
		uint8_t *memory = malloc(size);

		o = object_new(abd_get_from_buf(memory, size), size);
		o->memory = memory;
	} else if (kind == 2) {
		o = object_new(abd_alloc_linear(size, false), size);
	} else if (kind == 3) {
		o = object_new(abd_alloc_for_io(size, true), size);
	} else {
		o = object_new(abd_alloc(size, false), size);
	}
	object_base(o, seed);
}

static void op_gang(struct fuzz_input *in)
{
	(void)in;
	if (object_count < OBJECTS)
		object_new(abd_alloc_gang(), 0)->is_gang = true;
}

static void op_view(struct fuzz_input *in)
{
	struct object *parent = choose(in), *o;
	size_t off, size;

	if (parent == NULL || object_count == OBJECTS)
		return;
	size = range(in, parent, &off);
	if (size == 0)
		return;
	o = object_new(abd_get_offset_size(parent->abd, off, size), size);
	memcpy(o->cells, parent->cells + off, size * sizeof(struct cell *));
	o->parent = parent;
	o->is_gang = parent->is_gang;
	o->writes = parent->writes;
	parent->users++;
}

/*
 * Whether a gang must end before another can: it shows what that one frees, or what one frees that
 * must, and so on.
 */
static bool gang_needs(const struct object *gang, const struct object *other)
{
	for (size_t i = 0; i < gang->member_count; i++) {
		const struct object *owner = gang->members[i].owner;

		if (owner != NULL && (owner == other || gang_needs(owner, other)))
			return true;
	}
	return false;
}

/* Whether gang may show what owner frees: not if each would then have to end before the other. */
static bool gang_may_refer(const struct object *gang, const struct object *owner)
{
	return owner == NULL || owner == gang || !gang_needs(owner, gang);
}

static void gang_refer(struct object *gang, struct object *child, struct object *owner)
{
	if (owner == gang)
		owner = NULL;
	gang->members[gang->member_count++] = (struct member){child, owner};
	child->users++;
	if (owner != NULL)
		owner->users++;
}

static struct object *member_owner(const struct member *m)
{
	return m->owner != NULL ? m->owner : m->child->owner;
}

/* The gang whose children a gang or a view of one shows. */
static struct object *gang_root(struct object *o)
{
	while (o->parent != NULL)
		o = o->parent;
	return o;
}

/* All of a gang's members are taken for referred to, those out of a view's range too. */
static bool gang_take(struct object *gang, struct object *child)
{
	struct object *from = gang_root(child);

	if (gang->member_count + from->member_count > MEMBERS || from == gang)
		return false;
	for (size_t i = 0; i < from->member_count; i++)
		if (!gang_may_refer(gang, member_owner(&from->members[i])))
			return false;
	for (size_t i = 0; i < from->member_count; i++)
		gang_refer(gang, from->members[i].child, member_owner(&from->members[i]));
	return true;
}

/*
 * Whether it shows what a gang frees: in a gang, that one perhaps, there would be no right time to
 * free it.
 */
static bool shows_owned(const struct object *o)
{
	while ((o = o->parent) != NULL)
		if (o->owner != NULL)
			return true;
	return false;
}

static void op_gang_add(struct fuzz_input *in)
{
	struct object *gang = choose(in), *child = choose(in);
	bool owned = fuzz_byte(in) % 2 != 0;
	size_t size;

	if (gang == NULL || !gang->is_gang || gang->parent != NULL || child == gang ||
		gang->member_count == MEMBERS || gang->size + child->size > SIZE_MAX_ALL)
		return;
	if (child->is_gang) {
		if (!gang_take(gang, child))
			return;
		owned = false;
	} else {
		if (child->size == 0 || shows_owned(child) || !gang_may_refer(gang, child->owner))
			return;
		owned = owned && child->users == 0 && child->owner == NULL;
		gang_refer(gang, child, child->owner);
	}
	fuzz_check(abd_gang_add(gang->abd, child->abd, owned) == 0, "gang of %zu", gang->size);
	if (owned)
		child->owner = gang;
	size = gang->size + child->size;
	gang->cells = realloc(gang->cells, (size + 1) * sizeof(struct cell *));
	memcpy(gang->cells + gang->size, child->cells, child->size * sizeof(struct cell *));
	gang->size = size;
	gang->writes = gang->writes && child->writes;
	fuzz_check(abd_get_size(gang->abd) == size, "%zu bytes", abd_get_size(gang->abd));
}

/* The model's end of a buffer, when its real one has come. */
static void object_end(struct object *o)
{
	size_t at = 0;

	while (objects[at] != o)
		at++;
	objects[at] = objects[--object_count];
	for (size_t i = 0; i < o->member_count; i++) {
		o->members[i].child->users--;
		if (o->members[i].owner != NULL)
			o->members[i].owner->users--;
	}
	for (size_t i = 0; i < object_count; i++)
		if (objects[i]->owner == o) {
			object_end(objects[i]);
			i = (size_t)-1;
		}
	if (o->parent != NULL)
		o->parent->users--;
	free(o->memory);
	free(o->own);
	free(o->cells);
	free(o);
}

static void op_free(struct fuzz_input *in)
{
	struct object *o = choose(in);

	if (o == NULL || o->users > 0 || o->owner != NULL)
		return;
	/* What it frees must not be used by others either. */
	for (size_t i = 0; i < object_count; i++)
		if (objects[i]->owner == o)
			for (size_t k = 0; k < object_count; k++)
				if (objects[k]->parent == objects[i])
					return;
	check_range(o, 0, o->size);
	abd_free(o->abd);
	object_end(o);
}

static void op_write(struct fuzz_input *in)
{
	struct object *o = choose(in);
	uint8_t seed = fuzz_byte(in);
	size_t off, size;

	if (o == NULL || !o->writes)
		return;
	size = range(in, o, &off);
	model_fill(size, seed, 1);
	model_write(o, off, size, a);
	abd_copy_from_buf_off(o->abd, a, off, size);
	check_range(o, off, size);
}

static void op_zero(struct fuzz_input *in)
{
	struct object *o = choose(in);
	size_t off, size;

	if (o == NULL || !o->writes)
		return;
	size = range(in, o, &off);
	memset(a, 0, size);
	model_write(o, off, size, a);
	abd_zero_off(o->abd, off, size);
	fuzz_check(abd_cmp_zero_off(o->abd, off, size) == 0, "[%zu, +%zu)", off, size);
}

/* Two buffers and a range that lies within both. */
static bool choose_pair(struct fuzz_input *in, struct object *o[2], size_t off[2], size_t *size)
{
	size_t other;

	o[0] = choose(in);
	o[1] = choose(in);
	if (o[0] == NULL)
		return false;
	*size = range(in, o[0], &off[0]);
	other = range(in, o[1], &off[1]);
	*size = *size < other ? *size : other;
	return true;
}

static void op_copy(struct fuzz_input *in)
{
	struct object *o[2];
	size_t off[2], size;

	if (!choose_pair(in, o, off, &size) || !o[0]->writes ||
		model_overlap(o[0], off[0], o[1], off[1], size))
		return;
	model_read(o[1], off[1], size, a);
	model_write(o[0], off[0], size, a);
	if (fuzz_byte(in) % 2 != 0)
		abd_copy_off(o[0]->abd, o[1]->abd, off[0], off[1], size);
	else
		abd_flush_copy_off(o[0]->abd, o[1]->abd, off[0], off[1], size, fuzz_byte(in) % 3u);
	check_range(o[0], off[0], size);
}

static void op_compare(struct fuzz_input *in)
{
	struct object *o[2];
	size_t off[2], size, at;

	if (!choose_pair(in, o, off, &size))
		return;
	model_read(o[0], off[0], size, a);
	model_read(o[1], off[1], size, b);
	at = model_diff(size);
	fuzz_check(abd_equal_off(o[0]->abd, o[1]->abd, off[0], off[1], size) == (at == size),
		"at %zu of %zu", at, size);
	fuzz_check(abd_diff_off(o[0]->abd, o[1]->abd, off[0], off[1], size) == at, "at %zu of %zu",
		at, size);
}

static void op_borrow(struct fuzz_input *in)
{
	struct object *o = choose(in);
	size_t n, at;
	uint8_t *buf;

	if (o == NULL || o->size == 0)
		return;
	n = 1 + fuzz_below(in, o->size);
	at = fuzz_below(in, n);
	buf = abd_borrow_buf_copy(o->abd, n);
	fuzz_check(buf != NULL, "%zu of %zu", n, o->size);
	model_read(o, 0, n, a);
	fuzz_check(memcmp(buf, a, n) == 0, "%zu of %zu", n, o->size);
	/* A gang that shows a byte twice gets the later one: leave those alone. */
	if (!o->writes || o->is_gang) {
		abd_return_buf(o->abd, buf, n);
		return;
	}
	buf[at] ^= 0x55;
	o->cells[at]->value ^= 0x55;
	abd_return_buf_copy(o->abd, buf, n);
	check_range(o, 0, n);
}

static int count_bytes(void *buf, size_t len, void *arg)
{
	size_t *left = arg;

	fuzz_check(buf != NULL && len > 0 && len <= *left, "%zu of %zu", len, *left);
	*left -= len;
	return 0;
}

static void op_iterate(struct fuzz_input *in)
{
	struct object *o = choose(in);
	size_t off, size, left;

	if (o == NULL)
		return;
	left = size = range(in, o, &off);
	fuzz_check(abd_iterate_func(o->abd, off, size, count_bytes, &left) == 0, "size %zu", size);
	fuzz_check(left == 0, "%zu of %zu left", left, size);
	abd_verify(o->abd);
}

/*
 * Checksums over pieces are those of the same bytes in one piece, and crc32c's of two parts that of
 * the whole.
 */
static void op_sum(struct fuzz_input *in)
{
	struct object *o = choose(in);
	size_t off, size, part;
	uint64_t sum[2][4];
	uint32_t crc;
	abd_t *flat;

	if (o == NULL)
		return;
	size = range(in, o, &off);
	part = fuzz_below(in, size + 1);
	if (size == 0)
		return;
	model_read(o, off, size, a);
	flat = abd_get_from_buf(a, size);
	abd_fletcher_4(o->abd, off, size, sum[0]);
	abd_fletcher_4(flat, 0, size, sum[1]);
	fuzz_check(memcmp(sum[0], sum[1], sizeof(sum[0])) == 0, "[%zu, +%zu)", off, size);
	fuzz_check(abd_xxh3(o->abd, off, size, part) == abd_xxh3(flat, 0, size, part),
		"[%zu, +%zu)", off, size);
	crc = abd_crc32c(o->abd, off, part, 0);
	crc = abd_crc32c(o->abd, off + part, size - part, crc);
	fuzz_check(crc == abd_crc32c(flat, 0, size, 0), "[%zu, +%zu, +%zu)", off, part, size);
	abd_free(flat);
}

/* A range as iovecs, a few at a time; and a gang made of those, which is compared and freed. */
static void op_iov(struct fuzz_input *in)
{
	struct object *o = choose(in);
	struct iovec iov[8];
	size_t off, size, covered, at = 0;
	int most = 1 + fuzz_byte(in) % 8, count;
	abd_t *gang;

	if (o == NULL)
		return;
	size = range(in, o, &off);
	model_read(o, off, size, a);
	while (at < size) {
		count = abd_to_iov(o->abd, off + at, size - at, iov, most, &covered);
		fuzz_check(count > 0 && count <= most && covered > 0 && covered <= size - at,
			"%d entries, %zu of %zu", count, covered, size - at);
		gang = abd_from_iov(iov, count);
		fuzz_check(gang != NULL && abd_get_size(gang) == covered &&
				   abd_cmp_buf(gang, a + at, covered) == 0,
			"%zu at %zu", covered, off + at);
		abd_free(gang);
		at += covered;
	}
}

static void op_tune(struct fuzz_input *in)
{
	static const char *const tuning[][2] = {{"max_order", "0"}, {"max_order", "1"},
		{"max_order", "10"}, {"linear_page", "0"}, {"linear_page", "1"},
		{"scatter_enabled", "0"}, {"scatter_enabled", "1"}, {"scatter_min_size", "0"},
		{"scatter_min_size", "1536"}, {"scatter_min_size", "5000"}, {"compare", "auto"},
		{"compare", "scalar"}, {"compare", "word"}, {"thread_cache_bytes", "0"}};
	size_t i = fuzz_byte(in) % (sizeof(tuning) / sizeof(tuning[0]));

	fuzz_check(abd_tuning_set(tuning[i][0], tuning[i][1]) == 0, "%s", tuning[i][0]);
}

static void (*const operations[])(struct fuzz_input *in) = {op_alloc, op_alloc, op_gang, op_view,
	op_gang_add, op_gang_add, op_free, op_write, op_zero, op_copy, op_compare, op_borrow,
	op_iterate, op_tune, op_sum, op_iov};

static void end_all(void)
{
	while (object_count > 0) {
		size_t before = object_count;

		for (size_t i = 0; i < object_count; i++) {
			uint8_t byte = (uint8_t)i;
			struct fuzz_input in = {&byte, &byte + 1};

			op_free(&in);
		}
		fuzz_check(object_count < before, "%zu buffers can't be freed", before);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, data + size};
	struct abd_stats before, after;

	abd_stats_get(&before, sizeof(before));
	while (in.next < in.end)
		operations[fuzz_byte(&in) % (sizeof(operations) / sizeof(operations[0]))](&in);
	end_all();
	abd_stats_get(&after, sizeof(after));
	fuzz_check(before.struct_size == after.struct_size &&
			   before.linear_data_size == after.linear_data_size &&
			   before.scatter_data_size == after.scatter_data_size,
		"%zu bytes of input", size);
	return 0;
}
