/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: blocks with an index. A list makes a record, which is compressed with groups:
 * liblz4 must decode the block, every range must come out right, and the index must survive its
 * form. Then the index is damaged, or the block is one that was made without: whatever the index
 * says, a range is refused or has at most its size, and only its own memory is written. Allocations
 * of exactly their size show that. Wrong bytes are the block's own: the memory that the library
 * decodes through is made to differ between two runs, and the answers must not.
 */
#include "fuzz_lz4_buffers.h"

enum { RECORD_MAX = 200 << 10, STRETCH_MAX = 4, POINTS_MAX = 256 };

static uint8_t record[RECORD_MAX], again[RECORD_MAX], packed[LZ4_COMPRESSBOUND(RECORD_MAX)];
static uint8_t form[ABD_LZ4_INDEX_FORM + 16 + POINTS_MAX * 8];

/* What fills the memory that the library asks for. */
static int fill;

static void *give(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	void *buf;

	(void)is_metadata, (void)arg;
	if (posix_memalign(&buf, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) !=
		0)
		return NULL;
	return memset(buf, fill, size);
}

static void take(void *buf, size_t size, bool is_metadata, void *arg)
{
	(void)size, (void)is_metadata, (void)arg;
	free(buf);
}

struct indexed {
	struct fuzz_lz4_buffer block;
	size_t size, index_size;
	struct abd_lz4_index *index;
};

/* A range by the index, in memory of exactly its size. Returns the bytes; *got has the answer. */
static uint8_t *range(const struct indexed *from, size_t off, size_t size, int with, ssize_t *got)
{
	uint8_t *dst = malloc(size);

	fill = with;
	*got = abd_lz4_decompress_indexed_range_to_buf(
		dst, from->block.abd, off, size, 0, from->size, from->index);
	return dst;
}

static const char *check_sound(
	const struct indexed *from, size_t record_size, size_t off, size_t size)
{
	size_t there = off >= record_size ? 0 : record_size - off;
	const char *fault = NULL;
	ssize_t got;
	uint8_t *dst = range(from, off, size, 0x55, &got);

	there = there < size ? there : size;
	if (got != (ssize_t)there)
		fault = "indexed: another size than what is there";
	else if (there > 0 && memcmp(dst, record + off, there) != 0)
		fault = "indexed: other bytes";
	free(dst);
	return fault;
}

static const char *check_lie(const struct indexed *from, size_t off, size_t size)
{
	const char *fault = NULL;
	ssize_t got, second;
	uint8_t *a = range(from, off, size, 0x55, &got), *b = range(from, off, size, 0xaa, &second);

	if (got != second)
		fault = "lie: two answers";
	else if (got < 0)
		fault = got == -EBADMSG ? NULL : "lie: an error that can't be";
	else if ((size_t)got > size)
		fault = "lie: more than was asked for";
	else if (got > 0 && memcmp(a, b, (size_t)got) != 0)
		fault = "lie: bytes that were not decoded";
	free(a);
	free(b);
	return fault;
}

static const char *check_form(const struct indexed *from)
{
	struct abd_lz4_index *back = malloc(from->index_size);
	ssize_t size =
		abd_lz4_index_put(form, sizeof(form), from->index, from->index_size, from->size);
	const char *fault = NULL;

	if (size != (ssize_t)(from->index_size + ABD_LZ4_INDEX_FORM))
		fault = "form: not written";
	else if (abd_lz4_index_get(back, from->index_size, form, (size_t)size, from->size) != size)
		fault = "form: not read";
	else if (memcmp(back, from->index, from->index_size) != 0)
		fault = "form: another index";
	free(back);
	return fault;
}

/* The record that a list describes, once more through an encoder with groups. */
static const char *compress(
	struct indexed *to, const struct fuzz_lz4_input *input, size_t size, size_t group_size)
{
	size_t chunk = fuzz_lz4_two(input->header, FUZZ_CHUNK) % 4097;
	struct fuzz_lz4_buffer src, dst;
	ssize_t got;

	to->index_size = abd_lz4_index_size(size, group_size);
	to->index = malloc(to->index_size);
	fuzz_lz4_buffer_make(&src, size, chunk, 0, input->seed);
	fuzz_lz4_buffer_make(&dst, (size_t)LZ4_compressBound((int)size), 0, 0, input->seed + 1);
	if (size > 0)
		abd_copy_from_buf_off(src.abd, record, 0, size);
	got = abd_lz4_compress_indexed(
		dst.abd, src.abd, 0, 0, size, group_size, input->header[FUZZ_SKIP] % 4, to->index);
	to->size = got < 0 ? 0 : (size_t)got;
	if (got > 0)
		abd_copy_to_buf_off(packed, dst.abd, 0, to->size);
	fuzz_lz4_buffer_free(&src);
	fuzz_lz4_buffer_free(&dst);
	fuzz_lz4_buffer_make(&to->block, to->size, chunk, 0, input->seed + 2);
	if (to->size > 0)
		abd_copy_from_buf_off(to->block.abd, packed, 0, to->size);
	if (got <= 0)
		return "encoder: an error that can't be";
	if (abd_lz4_index_check(to->index, to->index_size, to->size) != 0)
		return "encoder: an index that is refused";
	if (LZ4_decompress_safe((const char *)packed, (char *)again, (int)to->size,
		    (int)sizeof(again)) != (int)size ||
		memcmp(again, record, size) != 0)
		return "encoder: liblz4 decodes something else";
	return NULL;
}

/*
 * An index of the input's own block, which was not made for one: where groups and a hub would be,
 * matches reach everywhere.
 */
static void invent(
	struct indexed *to, const struct fuzz_lz4_input *input, size_t size, size_t group_size)
{
	size_t count = (size + group_size - 1) / group_size, made = 0, at = 0, i = 0;

	to->index_size = abd_lz4_index_size(size, group_size);
	to->index = malloc(to->index_size);
	*to->index = (struct abd_lz4_index){
		(uint32_t)group_size, (uint32_t)group_size, (uint32_t)count, 0};
	to->index->hub_size >>= input->header[FUZZ_MORE] % 8;
	while (i < count) {
		bool end = made >= size || at >= input->size;

		if (end || i * group_size <= made) {
			to->index->points[i].logical = (uint32_t)made;
			to->index->points[i++].stored = (uint32_t)at;
			continue;
		}
		unsigned token = input->block[at++];
		size_t literals = token >> 4;

		if (literals == 15)
			literals += lz4_walk_extension(input->block, input->size, &at);
		at += literals + 2;
		made += literals + (token & 15) + 4;
		if ((token & 15) == 15 && at < input->size)
			made += lz4_walk_extension(input->block, input->size, &at);
	}
	fuzz_lz4_buffer_make(&to->block, input->size, 0, 0, input->seed);
	if (input->size > 0)
		abd_copy_from_buf_off(to->block.abd, input->block, 0, input->size);
	to->size = input->size;
}

/* Change a few words, mostly of points: to any value, or by a little. count only falls. */
static void damage(struct indexed *from, const struct fuzz_lz4_input *input)
{
	size_t words = from->index_size / 4, changes = 1 + input->header[FUZZ_LESS] % 4;
	uint64_t state = input->seed;
	uint32_t *word;

	for (size_t i = 0; i < changes; i++) {
		size_t at = (size_t)(state >> 33) % words;

		state = state * 6364136223846793005u + 1442695040888963407u;
		word = (uint32_t *)(void *)from->index + at;
		if (at == 2)
			*word = *word > 0 ? *word - 1 : 0;
		else if ((state >> 60) % 2 == 0)
			*word += (uint32_t)(state >> 40) % 61 - 30;
		else
			*word = (uint32_t)(state >> 20) >> (state >> 56) % 32;
	}
}

static const char *check(const struct fuzz_lz4_input *input, size_t off, size_t size)
{
	size_t group_size = (size_t)1024 << (input->header[FUZZ_SKIP] / 4 % 7);
	struct indexed from;
	const char *fault = NULL;
	size_t made = fuzz_lz4_model(record, sizeof(record), input->block, input->size);

	if (input->header[FUZZ_DECODER] >= 192) {
		fault = compress(&from, input, made, group_size);
		if (fault == NULL)
			fault = check_sound(&from, made, off, size);
		if (fault == NULL)
			fault = check_form(&from);
	} else {
		invent(&from, input, made, group_size);
	}
	if (fault == NULL) {
		if (input->header[FUZZ_LESS] % 2 == 0)
			damage(&from, input);
		fault = check_lie(&from, off, size);
	}
	fuzz_lz4_buffer_free(&from.block);
	free(from.index);
	return fault;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct abd_allocator allocator = {give, take, NULL};
	static bool begun;
	struct fuzz_lz4_input input;
	const char *fault;
	size_t off;

	if (!begun)
		abd_allocator_set(&allocator);
	begun = true;
	if (!fuzz_lz4_read(&input, data, size, STRETCH_MAX))
		return 0;
	off = fuzz_lz4_two(data, FUZZ_STOP) * 37 % (input.output + 2);
	abd_tuning_set("lz4", fuzz_lz4_decoder(&input)->name);
	fault = check(&input, off, fuzz_lz4_two(data, FUZZ_RANGE));
	if (fault != NULL)
		fuzz_lz4_found(&input, fault);
	return 0;
}
