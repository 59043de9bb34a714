/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search. Extents are kept in the order of the walk, file by file, and sorted through a list of
 * their numbers.
 */
#include "abd_perf_dedupe_find.h"
#include "abd_perf_clock.h"
#include "abd_perf_dedupe_roll.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"
#include "abd_perf_stop.h"

#include <stdlib.h>
#include <string.h>

#define ABD_PERF_WINDOW_MIN ((size_t)1 << 20)

static size_t abd_perf_find_window(size_t extent_size)
{
	return extent_size * 4 > ABD_PERF_WINDOW_MIN ? extent_size * 4 : ABD_PERF_WINDOW_MIN;
}

void abd_perf_find_make(
	struct abd_perf_find *find, struct abd_perf_fileset *set, size_t extent_size, uint64_t seed)
{
	memset(find, 0, sizeof(*find));
	find->set = set;
	find->extent_size = extent_size;
	find->hash_mask = UINT64_MAX;
	abd_perf_place_tune("max_order", "0");
	for (unsigned i = 0; i < 2; i++)
		find->buf[i] = abd_alloc(abd_perf_pages(extent_size + ABD_PERF_PAGE), false);
	abd_perf_place_tune("max_order", "10");
	find->window = abd_alloc_linear(abd_perf_find_window(extent_size), false);
	if (find->buf[0] == NULL || find->buf[1] == NULL || find->window == NULL)
		abd_perf_say_die(1, "no memory for extents of %zu bytes", extent_size);
	abd_perf_place_shuffle(find->buf, 2, &seed);
}

void abd_perf_find_free(struct abd_perf_find *find)
{
	abd_free(find->buf[0]);
	abd_free(find->buf[1]);
	abd_free(find->window);
	free(find->extent);
	free(find->proof);
	memset(find, 0, sizeof(*find));
}

/* ---- hashing --------------------------------------------------------------------------------- */

static uint64_t abd_perf_find_hash_of(
	const struct abd_perf_find *find, const abd_t *abd, size_t off, size_t size)
{
	return abd_xxh3(abd, off, size, 0) & find->hash_mask;
}

static int abd_perf_find_roll_span(void *buf, size_t len, void *arg)
{
	uint64_t *hash = arg;

	*hash = abd_perf_roll(*hash, buf, len);
	return 0;
}

static struct abd_perf_extent *abd_perf_find_next(struct abd_perf_find *find)
{
	if (find->count == find->room) {
		find->room = find->room * 2 + 4096;
		find->extent = realloc(find->extent, find->room * sizeof(*find->extent));
		if (find->extent == NULL || find->room > UINT32_MAX)
			abd_perf_say_die(1, "no memory for a list of %zu extents", find->room);
	}
	return &find->extent[find->count++];
}

static bool abd_perf_find_hash_extent(
	struct abd_perf_find *find, size_t file, size_t off, size_t size)
{
	struct abd_perf_extent *extent;
	abd_t *abd;
	size_t abd_off;
	double start = abd_perf_clock_ns(), read, hashed;
	uint64_t roll = 0;

	if (!abd_perf_file_load(find->set, file, off, size, 0, find->buf[0], &abd, &abd_off))
		return false;
	extent = abd_perf_find_next(find);
	*extent = (struct abd_perf_extent){
		.off = off, .file = (uint32_t)file, .size = (uint32_t)size};
	read = abd_perf_clock_ns();
	extent->hash = abd_perf_find_hash_of(find, abd, abd_off, size);
	hashed = abd_perf_clock_ns();
	if (size == find->extent_size)
		abd_iterate_func(abd, abd_off, size, abd_perf_find_roll_span, &roll);
	extent->roll = roll;
	find->read_ns += read - start;
	find->hash_ns += hashed - read;
	find->roll_ns += abd_perf_clock_ns() - hashed;
	return true;
}

/* All of a file or nothing: what was hashed of one that then fails is dropped. */
static void abd_perf_find_hash_file(struct abd_perf_find *find, size_t file)
{
	size_t first = find->count, size = find->set->file[file].size;
	bool good = abd_perf_file_open(find->set, file, 0);

	for (size_t off = 0; off < size && good && !abd_perf_stop_wanted();
		off += find->extent_size)
		good = abd_perf_find_hash_extent(find, file, off,
			size - off < find->extent_size ? size - off : find->extent_size);
	if (!good || abd_perf_stop_wanted()) {
		find->count = first;
		return;
	}
	find->files++;
	find->bytes += size;
}

void abd_perf_find_hash(struct abd_perf_find *find)
{
	for (size_t file = 0; file < find->set->count && !abd_perf_stop_wanted(); file++) {
		if (!find->set->file[file].skip)
			abd_perf_find_hash_file(find, file);
	}
}

/* ---- proving --------------------------------------------------------------------------------- */

static void abd_perf_find_proven(struct abd_perf_find *find, const struct abd_perf_proof *proof)
{
	if (find->proofs == find->proof_room) {
		find->proof_room = find->proof_room * 2 + 4096;
		find->proof = realloc(find->proof, find->proof_room * sizeof(*find->proof));
		if (find->proof == NULL)
			abd_perf_say_die(
				1, "no memory for a list of %zu duplicates", find->proof_room);
	}
	find->proof[find->proofs++] = *proof;
	find->duplicates[proof->kind]++;
	find->duplicate_bytes[proof->kind] += proof->size;
}

/* Whether the two ranges, which had that hash, hold the same bytes. */
static bool abd_perf_find_prove(
	struct abd_perf_find *find, const struct abd_perf_proof *proof, uint64_t hash)
{
	abd_t *src, *dst;
	size_t src_off, dst_off;
	double start = abd_perf_clock_ns(), read;
	bool equal;

	if (!abd_perf_file_load(find->set, proof->src_file, proof->src_off, proof->size, 0,
		    find->buf[0], &src, &src_off) ||
		!abd_perf_file_load(find->set, proof->dst_file, proof->dst_off, proof->size, 1,
			find->buf[1], &dst, &dst_off)) {
		find->changed++;
		return false;
	}
	read = abd_perf_clock_ns();
	equal = abd_equal_off(dst, src, dst_off, src_off, proof->size);
	find->proof_ns += abd_perf_clock_ns() - read;
	find->proof_read_ns[proof->kind] += read - start;
	if (equal)
		abd_perf_find_proven(find, proof);
	else if (abd_perf_find_hash_of(find, src, src_off, proof->size) == hash &&
		 abd_perf_find_hash_of(find, dst, dst_off, proof->size) == hash)
		find->collisions++;
	else
		find->changed++;
	return equal;
}

/* ---- extents that equal extents -------------------------------------------------------------- */

/* By size and hash, and in the order of the walk. */
static int abd_perf_find_order(const void *a, const void *b, void *arg)
{
	const struct abd_perf_extent *extent = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct abd_perf_extent *x = &extent[i], *y = &extent[j];

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return i < j ? -1 : i > j;
}

/*
 * list: extents of one size and hash, in order. What differs from all that came before is moved to
 * its front, so that the next are compared with it too: with a good hash that is the first one
 * only.
 */
static void abd_perf_find_group(struct abd_perf_find *find, uint32_t *list, size_t count)
{
	size_t originals = 1;

	for (size_t i = 1; i < count && !abd_perf_stop_wanted(); i++) {
		struct abd_perf_extent *dst = &find->extent[list[i]];

		for (size_t j = 0; j < originals && !dst->duplicate; j++) {
			const struct abd_perf_extent *src = &find->extent[list[j]];
			struct abd_perf_proof proof = {src->off, dst->off, src->file, dst->file,
				dst->size, ABD_PERF_ALIGNED};

			dst->duplicate = abd_perf_find_prove(find, &proof, dst->hash);
		}
		if (!dst->duplicate)
			list[originals++] = list[i];
	}
}

void abd_perf_find_aligned(struct abd_perf_find *find)
{
	uint32_t *list = malloc((find->count + 1) * sizeof(*list));

	if (list == NULL)
		abd_perf_say_die(1, "no memory to sort %zu extents", find->count);
	for (size_t i = 0; i < find->count; i++)
		list[i] = (uint32_t)i;
	qsort_r(list, find->count, sizeof(*list), abd_perf_find_order, find->extent);
	for (size_t i = 0, end; i < find->count && !abd_perf_stop_wanted(); i = end) {
		const struct abd_perf_extent *first = &find->extent[list[i]];

		for (end = i + 1; end < find->count; end++) {
			const struct abd_perf_extent *next = &find->extent[list[end]];

			if (next->size != first->size || next->hash != first->hash)
				break;
		}
		abd_perf_find_group(find, list + i, end - i);
	}
	free(list);
}

/* ---- windows that equal extents -------------------------------------------------------------- */

struct abd_perf_scan {
	struct abd_perf_find *find;
	struct abd_perf_roll_set set;
	uint64_t power;
	double prove_ns; /* spent in proofs, which is no part of scanning */
};

/*
 * Whether the window at off of a file, at window_off of the buffer, is an earlier extent's double.
 */
static bool abd_perf_scan_match(
	struct abd_perf_scan *scan, uint64_t roll, uint32_t file, size_t off, size_t window_off)
{
	struct abd_perf_find *find = scan->find;
	size_t size = find->extent_size, at = 0;
	uint32_t index;

	while (abd_perf_roll_set_find(&scan->set, roll, &at, &index)) {
		const struct abd_perf_extent *src = &find->extent[index];
		struct abd_perf_proof proof = {
			src->off, off, src->file, file, (uint32_t)size, ABD_PERF_SHIFTED};
		double start;
		bool equal;

		if (src->file > file ||
			(src->file == file && (off < size || src->off > off - size)))
			continue;
		if (abd_perf_find_hash_of(find, find->window, window_off, size) != src->hash)
			continue;
		start = abd_perf_clock_ns();
		equal = abd_perf_find_prove(find, &proof, src->hash);
		scan->prove_ns += abd_perf_clock_ns() - start;
		if (equal)
			return true;
	}
	return false;
}

/*
 * Slide over n bytes in the buffer, which are those of a file at off. Returns how many are done
 * with: windows begin behind.
 */
static size_t abd_perf_scan_window(struct abd_perf_scan *scan, uint32_t file, size_t off, size_t n)
{
	const unsigned char *p = abd_to_buf(scan->find->window);
	size_t size = scan->find->extent_size, i = 0;
	uint64_t roll = abd_perf_roll(0, p, size);

	for (;;) {
		if (abd_perf_roll_set_maybe(&scan->set, roll) &&
			abd_perf_scan_match(scan, roll, file, off + i, i)) {
			i += size;
			if (n - i < size)
				return i;
			roll = abd_perf_roll(0, p + i, size);
			continue;
		}
		if (i == n - size)
			return i + 1;
		roll = abd_perf_roll_next(roll, p[i + size], p[i], scan->power);
		i++;
	}
}

/* Bytes [off, end) of a file, in which no extent is a duplicate. */
static void abd_perf_scan_gap(struct abd_perf_scan *scan, uint32_t file, size_t off, size_t end)
{
	struct abd_perf_find *find = scan->find;
	size_t most = abd_perf_find_window(find->extent_size);

	/* A window that begins where an extent does was looked up with the extents. */
	if (end - off <= find->extent_size)
		return;
	while (end - off >= find->extent_size && !abd_perf_stop_wanted()) {
		size_t n = end - off < most ? end - off : most;

		if (!abd_perf_file_read(find->set, file, off, n, find->window)) {
			find->changed++;
			return;
		}
		off += abd_perf_scan_window(scan, file, off, n);
	}
}

static void abd_perf_scan_all(struct abd_perf_scan *scan)
{
	const struct abd_perf_find *find = scan->find;
	const struct abd_perf_extent *extent = find->extent;

	for (size_t i = 0, end; i < find->count && !abd_perf_stop_wanted(); i = end) {
		for (end = i; end < find->count && !extent[end].duplicate &&
			      extent[end].file == extent[i].file;
			end++)
			;
		if (end == i)
			end++;
		else
			abd_perf_scan_gap(scan, extent[i].file, extent[i].off,
				extent[end - 1].off + extent[end - 1].size);
	}
}

void abd_perf_find_shifted(struct abd_perf_find *find)
{
	struct abd_perf_scan scan = {.find = find, .power = abd_perf_roll_power(find->extent_size)};
	double start = abd_perf_clock_ns();

	if (!abd_perf_roll_set_make(&scan.set, find->count))
		abd_perf_say_die(1, "no memory for a table of %zu extents", find->count);
	for (size_t i = 0; i < find->count; i++) {
		if (!find->extent[i].duplicate && find->extent[i].size == find->extent_size)
			abd_perf_roll_set_add(&scan.set, find->extent[i].roll, (uint32_t)i);
	}
	abd_perf_scan_all(&scan);
	abd_perf_roll_set_free(&scan.set);
	find->scan_ns += abd_perf_clock_ns() - start - scan.prove_ns;
}
