/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How OpenZFS's callers use buffers, one pattern a function: compressors' glue, received streams,
 * split blocks, devices that check alignment, MACs, printing, faults on purpose.
 * docs/notes/reliances.md says who uses which.
 * Invariant: written to OpenZFS's sys/abd.h, so that it would compile over that header as well.
 * Each pattern meets every kind of buffer, and every byte is compared with plain memory.
 */
#include <abd/compat/openzfs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR 512
#define PAGE 4096
#define SIZE (9 * SECTOR + 4 * PAGE)

static unsigned char model[SIZE], bytes[SIZE];
static unsigned long checks;

#define CHECK(cond)                                                            \
	do {                                                                   \
		checks++;                                                      \
		if (!(cond)) {                                                 \
			printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);                                               \
		}                                                              \
	} while (0)

/* ---- one buffer of every kind, holding the model --------------------------------------------- */

typedef struct kind {
	const char *name;
	abd_t *abd;
	abd_t *parents[3];
} kind_t;

static abd_t *gang(void)
{
	abd_t *abd = abd_alloc_gang();

	abd_gang_add(abd, abd_alloc_linear(PAGE, B_FALSE), B_TRUE);
	abd_gang_add(abd, abd_alloc(SIZE - PAGE - SECTOR, B_FALSE), B_TRUE);
	abd_gang_add(abd, abd_alloc_linear(SECTOR, B_FALSE), B_TRUE);
	return abd;
}

#define KINDS 6

static kind_t make(uint_t kind)
{
	static const char *const names[KINDS] = {"linear", "scatter", "gang", "view of a scatter",
		"view of a gang", "view of a view of a gang"};
	kind_t k = {.name = names[kind]};

	switch (kind) {
	case 0:
		k.abd = abd_alloc_linear(SIZE, B_FALSE);
		break;
	case 1:
		k.abd = abd_alloc(SIZE, B_FALSE);
		break;
	case 2:
		k.abd = gang();
		break;
	case 3:
		k.parents[0] = abd_alloc(SIZE + PAGE, B_FALSE);
		k.abd = abd_get_offset_size(k.parents[0], SECTOR, SIZE);
		break;
	default:
		k.parents[0] = gang();
		k.abd = abd_get_offset(k.parents[0], 0);
		if (kind == 5) {
			k.parents[1] = k.abd;
			k.abd = abd_get_offset_size(k.parents[1], 0, SIZE);
		}
	}
	for (size_t i = 0; i < SIZE; i++)
		model[i] = (unsigned char)(i * 7 + i / 251 + kind);
	abd_copy_from_buf(k.abd, model, SIZE);
	return k;
}

static void check(const kind_t *k, const char *where)
{
	checks++;
	if (abd_cmp_buf(k->abd, model, SIZE) != 0) {
		printf("FAIL %s: a %s differs\n", where, k->name);
		exit(1);
	}
}

static void end(kind_t *k)
{
	abd_free(k->abd);
	abd_free(k->parents[1]);
	abd_free(k->parents[0]);
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* A compressor: the source is lent with its bytes, the target without; it "saves" saved bytes. */
static size_t compressor(abd_t *src, abd_t *dst, size_t size, size_t room, size_t saved)
{
	unsigned char *s = abd_borrow_buf_copy(src, size);
	unsigned char *d = abd_borrow_buf(dst, room);

	memset(d, 0xee, room);
	for (size_t i = 0; i < size - saved; i++)
		d[i] = s[i] ^ 0xff;
	abd_return_buf(src, s, size);
	abd_return_buf_copy(dst, d, room);
	return size - saved;
}

/* The rest of the last sector is zeroed: at the very end, that is no byte at the buffer's size. */
static void compress(kind_t *k)
{
	static const size_t saved[] = {0, 1, SECTOR, SECTOR + 3};

	for (uint_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++) {
		abd_t *dst = abd_alloc_sametype(k->abd, SIZE);
		size_t size = compressor(k->abd, dst, SIZE, SIZE, saved[i]);

		abd_zero_off(dst, size, SIZE - size);
		abd_copy_to_buf(bytes, dst, SIZE);
		for (size_t j = 0; j < SIZE; j++)
			CHECK(bytes[j] == (j < size ? model[j] ^ 0xff : 0));
		abd_free(dst);
	}
	check(k, "compress");
}

/* Both sides are the caller's memory, in structs on the stack that held something else. */
static void compress_on_the_stack(void)
{
	static unsigned char out[SIZE];
	abd_t sabd, dabd, *dst;

	memset(&sabd, 0xa5, sizeof(sabd));
	memset(&dabd, 0x5a, sizeof(dabd));
	abd_get_from_buf_struct(&sabd, model, SIZE);
	dst = abd_get_from_buf_struct(&dabd, out, SIZE - 1);
	CHECK(dst == &dabd && abd_get_size(dst) == SIZE - 1 && abd_to_buf(dst) == out);
	CHECK(compressor(&sabd, dst, SIZE - 1, SIZE - 1, 0) == SIZE - 1);
	abd_free(&dabd);
	abd_free(&sabd);
	for (size_t i = 0; i < SIZE - 1; i++)
		CHECK(out[i] == (model[i] ^ 0xff));
	CHECK(out[SIZE - 1] == 0);
}

/* A received record: its buffer is replaced by a linear one of another size, known by it alone. */
static void receive(kind_t *k)
{
	abd_t *abd = abd_alloc_linear(abd_get_size(k->abd) - SECTOR, B_FALSE);

	(void)compressor(k->abd, abd, abd_get_size(abd), abd_get_size(abd), 0);
	CHECK(abd_get_size(abd) == SIZE - SECTOR);
	for (size_t i = 0; i < abd_get_size(abd); i++)
		CHECK(((unsigned char *)abd_to_buf(abd))[i] == (model[i] ^ 0xff));
	abd_free(abd);
	check(k, "receive");
}

/* A block in three parts elsewhere: copies of each are compared, the good one comes back. */
static void split(kind_t *k)
{
	static const size_t ends[] = {0, SECTOR, PAGE + SECTOR, SIZE};
	abd_t *whole = abd_get_offset(k->abd, 0);

	CHECK(abd_get_size(whole) == SIZE);
	for (uint_t i = 0; i + 1 < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t off = ends[i], size = ends[i + 1] - off;
		abd_t *part = abd_get_offset_size(whole, off, size);
		abd_t *good = abd_alloc_sametype(k->abd, size);
		abd_t *bad = abd_alloc_sametype(part, size);

		abd_copy(good, part, size);
		abd_zero(bad, abd_get_size(bad));
		CHECK(abd_cmp(good, part) == 0 && abd_cmp(bad, good) != 0);
		abd_zero(part, size);
		abd_copy_off(k->abd, good, off, 0, size);
		CHECK(abd_cmp(part, good) == 0);
		abd_free(bad);
		abd_free(good);
		abd_free(part);
	}
	abd_free(whole);
	check(k, "split");
}

/* What one walk over the pieces saw, as a device driver counts the pages. */
typedef struct walk {
	size_t pieces, size;
	void *first, *last;
	size_t stop_after; /* pieces */
} walk_t;

static int piece(void *buf, size_t size, void *priv)
{
	walk_t *w = priv;

	if (w->pieces == 0)
		w->first = buf;
	w->last = buf;
	w->pieces++;
	w->size += size;
	return w->pieces == w->stop_after ? 45 : 0;
}

/* Counted first, filled in then: both walks see the same pieces. A refusal ends the first. */
static void device(kind_t *k)
{
	walk_t counted = {0}, filled = {0}, refused = {.stop_after = 1};
	unsigned char *data;

	CHECK(abd_iterate_func(k->abd, 0, SIZE, piece, &counted) == 0);
	CHECK(abd_iterate_func(k->abd, 0, SIZE, piece, &filled) == 0);
	CHECK(counted.size == SIZE && filled.size == SIZE && counted.pieces == filled.pieces);
	CHECK(counted.first == filled.first && counted.last == filled.last);
	CHECK(!abd_is_linear(k->abd) || counted.pieces == 1);
	CHECK(abd_iterate_func(k->abd, 0, SIZE, piece, &refused) == 45 && refused.pieces == 1);

	/* A read that failed is returned by the same call as one that did not: what the device left
	 * in the memory is then in the buffer. */
	data = abd_borrow_buf(k->abd, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		data[i] = model[i] = (unsigned char)(model[i] + 1);
	abd_return_buf_copy(k->abd, data, SIZE);
	check(k, "device");
}

/* Not aligned as the device wants it: through a buffer that is, of the same mark. */
static void bounce(kind_t *k)
{
	abd_t *io = abd_alloc_for_io(SIZE, k->abd->abd_flags & ABD_FLAG_META);
	abd_t *marked = abd_alloc(SECTOR, B_TRUE);
	abd_t *meta = abd_alloc_for_io(SECTOR, marked->abd_flags & ABD_FLAG_META);

	CHECK((meta->abd_flags & ABD_FLAG_META) != 0 && (io->abd_flags & ABD_FLAG_META) == 0);
	abd_copy(io, k->abd, SIZE);
	abd_zero(k->abd, SIZE);
	abd_copy(k->abd, io, SIZE);
	abd_free(meta);
	abd_free(marked);
	abd_free(io);
	check(k, "bounce");
}

/* A MAC in a record's middle: written in when made; when checked, all goes back as it was. */
static void mac(kind_t *k)
{
	size_t n = SIZE - PAGE;

	for (uint_t made = 0; made < 2; made++) {
		unsigned char *buf = abd_borrow_buf_copy(k->abd, n);

		CHECK(memcmp(buf, model, n) == 0);
		if (made) {
			memset(buf + n - 40, 0x77, 32);
			memset(model + n - 40, 0x77, 32);
			abd_return_buf_copy(k->abd, buf, n);
		} else {
			abd_return_buf(k->abd, buf, n);
		}
		check(k, "mac");
	}
}

/* Looked at only, but returned by the call that writes back; sizes that are no word's multiple. */
static void print(kind_t *k)
{
	static const size_t sizes[] = {1, 20, SECTOR, PAGE + 3, SIZE};

	for (uint_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		walk_t w = {0};
		unsigned char *buf = abd_borrow_buf_copy(k->abd, sizes[i]);

		CHECK(memcmp(buf, model, sizes[i]) == 0);
		abd_return_buf_copy(k->abd, buf, sizes[i]);
		CHECK(abd_iterate_func(k->abd, 0, sizes[i], piece, &w) == 0 && w.size == sizes[i]);
	}
	check(k, "print");
}

static int flip(void *buf, size_t size, void *priv)
{
	size_t *left = priv;

	if (*left < size) {
		((unsigned char *)buf)[*left] ^= 0x10;
		return 1;
	}
	*left -= size;
	return 0;
}

/* A fault on purpose: one bit, wherever it is; then the walk ends. */
static void inject(kind_t *k)
{
	for (size_t at = 0; at < SIZE; at += SIZE / 7) {
		size_t left = at;

		CHECK(abd_iterate_func(k->abd, 0, SIZE, flip, &left) == 1);
		model[at] ^= 0x10;
		check(k, "inject");
	}
}

int main(void)
{
	static void (*const patterns[])(kind_t *) = {
		compress, receive, split, device, bounce, mac, print, inject};

	abd_init();
	for (uint_t kind = 0; kind < KINDS; kind++) {
		for (uint_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
			kind_t k = make(kind);

			patterns[i](&k);
			end(&k);
		}
		compress_on_the_stack();
	}
	abd_fini();
	printf("%lu checks\n", checks);
	return 0;
}
