/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of the tests that the model test prints when it fails (model_shrink.c). Such a
 * test, put into a file tests/abd/test_NAME.c, is built and run with the others. Each function does
 * one operation and checks it against flat copies. holds() and gauges(), at the end, check what the
 * model expected at that point.
 */
#ifndef MODEL_REPLAY_H
#define MODEL_REPLAY_H

#include "abd_test.h"
#include "abd_test_fault.h"
#include "abd_test_provider.h"

#include <errno.h>
#include <fcntl.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM (6 << 20)

static unsigned char a[ROOM + 64], b[ROOM + 64], c[ROOM + 64], over[ROOM + 64];
static int wrong;

#define word static inline __attribute__((unused))
#define expect(condition) ((condition) ? (void)0 : not_so(__LINE__, #condition))
#define made(abd, there) expect(((abd) != NULL) == (there))

word void not_so(int line, const char *condition)
{
	fprintf(stderr, "line %d: not so: %s\n", line, condition);
	wrong = 1;
}

word int replayed(void)
{
	return !wrong;
}

word void fill(unsigned char *to, uint64_t state, size_t n)
{
	abd_test_random_fill(&state, to, n);
}

word int flat_piece(void *buf, size_t n, void *to)
{
	unsigned char **at = to;

	memcpy(*at, buf, n);
	*at += n;
	return 0;
}

word void flat(abd_t *abd, size_t off, size_t n, unsigned char *to)
{
	abd_iterate_func(abd, off, n, flat_piece, &to);
}

word int take_piece(void *buf, size_t n, void *from)
{
	unsigned char **at = from;

	memcpy(buf, *at, n);
	*at += n;
	return 0;
}

/* Bytes [off, off + n) are those of what. */
word int is(abd_t *abd, size_t off, size_t n, const unsigned char *what)
{
	flat(abd, off, n, c);
	return memcmp(c, what, n) == 0;
}

struct piece {
	unsigned char *memory;
	size_t at, n;
};

static struct piece pieces[ROOM / 4096 * 2];
static size_t piece_count;

word int piece_add(void *buf, size_t n, void *at)
{
	pieces[piece_count++] = (struct piece){buf, *(size_t *)at, n};
	*(size_t *)at += n;
	return 0;
}

/*
 * Where a piece's memory is also that of a later one, the later one's bytes are what was written
 * last.
 */
word void write_over(unsigned char *to, const struct piece *p, const struct piece *later,
	const unsigned char *what)
{
	unsigned char *from = p->memory > later->memory ? p->memory : later->memory;
	unsigned char *end = p->memory + p->n;

	if (end > later->memory + later->n)
		end = later->memory + later->n;
	if (from < end)
		memcpy(to + p->at + (from - p->memory), what + later->at + (from - later->memory),
			(size_t)(end - from));
}

/*
 * Bytes [off, off + n) are what was written there, front to back; a gang may hold the same bytes
 * twice.
 */
word int written(abd_t *abd, size_t off, size_t n, const unsigned char *what)
{
	size_t at = 0;

	piece_count = 0;
	abd_iterate_func(abd, off, n, piece_add, &at);
	memcpy(over, what, n);
	for (size_t i = 0; i < piece_count; i++)
		for (size_t j = i + 1; j < piece_count; j++)
			write_over(over, &pieces[i], &pieces[j], what);
	return is(abd, off, n, over);
}

word void write_buf(abd_t *abd, size_t off, size_t n, const unsigned char *from)
{
	abd_copy_from_buf_off(abd, from, off, n);
	expect(written(abd, off, n, from));
}

word void set_byte(abd_t *abd, size_t off, unsigned byte)
{
	abd_copy_from_buf_off(abd, &(unsigned char){(unsigned char)byte}, off, 1);
}

word uint64_t sum_of(const unsigned char *bytes, size_t n)
{
	uint64_t sum = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3u;
	return sum;
}

word void read_buf(abd_t *abd, size_t off, size_t n, uint64_t sum)
{
	abd_copy_to_buf_off(a, abd, off, n);
	expect(sum_of(a, n) == sum);
	expect(is(abd, off, n, a));
}

word void zero(abd_t *abd, size_t off, size_t n)
{
	memset(a, 0, n);
	abd_zero_off(abd, off, n);
	expect(written(abd, off, n, a));
}

word void copy(abd_t *d, abd_t *s, size_t d_off, size_t s_off, size_t n)
{
	flat(s, s_off, n, a);
	if (d_off == 0 && s_off == 0)
		abd_copy(d, s, n);
	else
		abd_copy_off(d, s, d_off, s_off, n);
	expect(written(d, d_off, n, a));
}

word void iterate_buf(abd_t *abd, size_t off, size_t n)
{
	unsigned char *from = a;

	abd_iterate_func(abd, off, n, take_piece, &from);
	expect(written(abd, off, n, a));
}

struct stop {
	size_t at, after;
};

word int stop_piece(void *buf, size_t n, void *priv)
{
	struct stop *stop = priv;

	(void)buf;
	stop->after += stop->at == 0;
	stop->at -= n < stop->at ? n : stop->at;
	return stop->at == 0 ? 77 : 0;
}

/* The function says 77 at byte at, and is not called again. */
word void iterate_stop(abd_t *abd, size_t off, size_t n, size_t at)
{
	struct stop stop = {at, 0};

	expect(abd_iterate_func(abd, off, n, stop_piece, &stop) == (n > 0 ? 77 : 0));
	expect(stop.at == 0 && stop.after == 0);
}

word void flush_copy(abd_t *d, abd_t *s, size_t d_off, size_t s_off, size_t n, unsigned flags)
{
	flat(s, s_off, n, a);
	abd_flush_copy_off(d, s, d_off, s_off, n, flags);
	expect(written(d, d_off, n, a));
}

/* Of a. */
word void flush_write(abd_t *abd, size_t off, size_t n, unsigned flags)
{
	abd_flush_copy_from_buf_off(abd, a, off, n, flags);
	expect(written(abd, off, n, a));
}

word void flush_read(abd_t *abd, size_t off, size_t n, unsigned flags)
{
	a[0] = a[n + 1] = 0xa5;
	abd_flush_copy_to_buf_off(a + 1, abd, off, n, flags);
	expect(a[0] == 0xa5 && a[n + 1] == 0xa5);
	expect(is(abd, off, n, a + 1));
}

/* The one file of a test, of the size of the model's. */
word int the_file(void)
{
	static int file = -1;

	if (file >= 0)
		return file;
	file = memfd_create("model_replay", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	expect(ftruncate(file, 128 << 10) == 0);
	expect(fcntl(file, F_ADD_SEALS, F_SEAL_GROW) == 0);
	return file;
}

word void file_write(abd_t *abd, size_t off, size_t n, size_t at)
{
	flat(abd, off, n, a);
	expect(abd_pwrite(the_file(), abd, off, n, (off_t)at) == (ssize_t)n);
	expect(pread(the_file(), b, n, (off_t)at) == (ssize_t)n);
	expect(memcmp(a, b, n) == 0);
}

/* The file has there of these bytes. */
word void file_read(abd_t *abd, size_t off, size_t n, size_t at, size_t there)
{
	expect(pread(the_file(), b, n, (off_t)at) == (ssize_t)there);
	expect(abd_pread(the_file(), abd, off, n, (off_t)at) == (ssize_t)there);
	expect(is(abd, off, there, b));
}

word int copy_piece(void *d, void *s, size_t n, void *sum)
{
	memcpy(d, s, n);
	*(size_t *)sum += n;
	return 0;
}

word void iterate_two(abd_t *d, abd_t *s, size_t d_off, size_t s_off, size_t n)
{
	size_t sum = 0;

	flat(s, s_off, n, a);
	abd_iterate_func2(d, s, d_off, s_off, n, copy_piece, &sum);
	expect(sum == n);
	expect(written(d, d_off, n, a));
}

word int sign(int x)
{
	return (x > 0) - (x < 0);
}

/* Against b. */
word void compare_buf(abd_t *abd, size_t off, size_t n)
{
	int order;

	flat(abd, off, n, a);
	order = sign(memcmp(a, b, n));
	expect(sign(abd_cmp_buf_off(abd, b, off, n)) == order);
	expect(abd_equal_buf_off(abd, b, off, n) == (order == 0));
	expect(abd_key_equal(a, b, n) == (order == 0));
	memset(b, 0, n);
	expect((abd_cmp_zero_off(abd, off, n) == 0) == (memcmp(a, b, n) == 0));
}

word void compare(abd_t *x, abd_t *y, size_t x_off, size_t y_off, size_t n)
{
	size_t same = 0;

	flat(x, x_off, n, a);
	flat(y, y_off, n, b);
	while (same < n && a[same] == b[same])
		same++;
	expect(abd_diff_off(x, y, x_off, y_off, n) == same);
	expect(abd_equal_off(x, y, x_off, y_off, n) == (same == n));
	if (abd_get_size(x) == n && abd_get_size(y) == n) {
		expect(abd_equal(x, y) == (same == n));
		expect(sign(abd_cmp(x, y)) == sign(memcmp(a, b, n)));
	}
}

word void to_iov(abd_t *abd, size_t off, size_t n, int iov_max)
{
	size_t done = 0, covered = 1;

	flat(abd, off, n, a);
	for (; done < n && covered > 0; done += covered) {
		struct iovec iov[8];
		size_t sum = 0;
		int count = abd_to_iov(abd, off + done, n - done, iov, iov_max, &covered);

		expect(count > 0 && count <= iov_max);
		for (int i = 0; i < count; sum += iov[i++].iov_len)
			expect(memcmp(iov[i].iov_base, a + done + sum, iov[i].iov_len) == 0);
		expect(count == iov_max || covered == n - done);
		expect(sum == covered);
	}
	expect(done == n);
}

word char *borrow(abd_t *abd, size_t n, int with_copy, int there, uint64_t sum)
{
	char *buf = with_copy ? abd_borrow_buf_copy(abd, n) : abd_borrow_buf(abd, n);

	expect((buf != NULL) == there);
	if (with_copy && buf != NULL)
		expect(sum_of((unsigned char *)buf, n) == sum);
	return buf;
}

word void return_copy(abd_t *abd, void *buf, size_t n)
{
	memcpy(a, buf, n);
	abd_return_buf_copy(abd, buf, n);
	expect(written(abd, 0, n, a));
}

/* Into what has room for room bytes; with oom memory may run out. */
word void compress(abd_t *d, abd_t *s, size_t d_off, size_t s_off, size_t n, size_t room, int oom)
{
	ssize_t got;

	flat(s, s_off, n, a);
	got = abd_lz4_compress(d, s, d_off, s_off, n);
	expect((got > 0 && (size_t)got <= room) || (oom && got == -ENOMEM) ||
		(got == -ENOSPC && room < (size_t)LZ4_compressBound((int)n)));
	if (got <= 0)
		return;
	flat(d, d_off, (size_t)got, c);
	expect(LZ4_decompress_safe((char *)c, (char *)b, (int)got, (int)n) == (int)n);
	expect(memcmp(a, b, n) == 0);
}

/* liblz4's word on a block, and its bytes in b. */
word int block(abd_t *src, size_t off, size_t size, size_t room)
{
	flat(src, off, size, c);
	return LZ4_decompress_safe((char *)c, (char *)b, (int)size, (int)room);
}

word int decoded(ssize_t got, int liblz4, int damaged, int oom)
{
	return got == liblz4 || (oom && got == -ENOMEM) ||
	       (got == -EBADMSG && (liblz4 < 0 || damaged));
}

word void decompress_to_buf(abd_t *src, size_t room, size_t off, size_t size, int damaged, int oom)
{
	int liblz4 = block(src, off, size, room);
	ssize_t got;

	memset(a, 0xa5, room + 1);
	got = abd_lz4_decompress_to_buf(a, src, room, off, size);
	expect(decoded(got, liblz4, damaged, oom));
	expect(got < 0 || memcmp(a, b, (size_t)got) == 0);
	expect(a[room] == 0xa5);
}

word void decompress(abd_t *d, abd_t *src, size_t d_off, size_t room, size_t off, size_t size,
	int damaged, int oom)
{
	int liblz4 = block(src, off, size, room);
	ssize_t got = abd_lz4_decompress(d, src, d_off, room, off, size);

	expect(decoded(got, liblz4, damaged, oom));
	expect(got <= 0 || is(d, d_off, (size_t)got, b));
}

/* Of a record of n bytes. */
word void decompress_range(abd_t *src, size_t from, size_t room, size_t off, size_t size, size_t n,
	int damaged, int oom)
{
	size_t there = from >= n ? 0 : room < n - from ? room : n - from;
	ssize_t got;

	block(src, off, size, n);
	memset(a, 0xa5, room + 1);
	got = abd_lz4_decompress_range_to_buf(a, src, from, room, off, size);
	expect(a[room] == 0xa5);
	if (damaged)
		return;
	expect(got == (ssize_t)there || (oom && got == -ENOMEM));
	expect(got <= 0 || memcmp(a, b + from, (size_t)got) == 0);
}

/* The first and the last of four sums; adding up the other byte order is another function. */
word void fletcher(abd_t *abd, size_t off, size_t n, uint64_t first, uint64_t last)
{
	uint64_t sum[4], swapped[4];

	abd_fletcher_4(abd, off, n, sum);
	expect(sum[0] == first && sum[3] == last);
	flat(abd, off, n, a);
	memset(a + n, 0, 4);
	for (size_t i = 0; i < n; i += 4) {
		uint32_t four;

		memcpy(&four, a + i, 4);
		four = __builtin_bswap32(four);
		memcpy(a + i, &four, 4);
	}
	abd_fletcher_4_swapped(abd, off, n, sum);
	abd_t turned;

	abd_fletcher_4(abd_get_from_buf_struct(&turned, a, (n + 7) & ~(size_t)3), 0,
		(n + 3) & ~(size_t)3, swapped);
	expect(memcmp(sum, swapped, sizeof(sum)) == 0);
	abd_free(&turned);
}

static unsigned raidz_parity;

word void raidz_gen_piece(void **p, const void *d, size_t n, size_t d_n)
{
	for (unsigned i = 0; i < raidz_parity; i++)
		for (size_t k = 0; k < n; k++)
			((uint8_t *)p[i])[k] ^=
				k < d_n ? ((const uint8_t *)d)[k] : (uint8_t)(i + 1);
}

word void raidz_rec_piece(void **t, const size_t n, void **p, const unsigned *mul)
{
	for (unsigned i = 0; i < raidz_parity; i++)
		for (size_t k = 0; k < n; k++)
			((uint8_t *)t[i])[k] ^= (uint8_t)(((uint8_t *)p[i])[k] * mul[i]);
}

word void raidz_gen(abd_t **p, abd_t *d, size_t off, size_t n, size_t d_n, size_t parity)
{
	raidz_parity = (unsigned)parity;
	abd_raidz_gen_iterate(p, d_n > 0 ? d : NULL, off, n, d_n, raidz_parity, raidz_gen_piece);
}

word void raidz_rec(abd_t **p, abd_t **t, size_t n, size_t parity)
{
	raidz_parity = (unsigned)parity;
	abd_raidz_rec_iterate(p, t, n, raidz_parity, raidz_rec_piece, (const unsigned[]){3, 5, 7});
}

static size_t callbacks;

word void callback(void *buf, size_t size, void *arg)
{
	(void)size, (void)arg;
	callbacks++;
	free(buf);
}

/* The buffer's bytes add up to what the model's do. */
word void holds(abd_t *abd, uint64_t expected)
{
	size_t size = abd_get_size(abd);

	flat(abd, 0, size, a);
	expect(sum_of(a, size) == expected);
}

static struct abd_stats before;

/* From here on gauges are counted: what another test left is none of this one's. */
word void begin(void)
{
	expect(abd_stats_get(&before, sizeof(before)) == 0);
}

word void gauges(uint64_t struct_size, uint64_t linear_cnt, uint64_t linear_data_size,
	uint64_t scatter_cnt, uint64_t scatter_data_size, uint64_t scatter_chunk_waste,
	uint64_t scatter_multi_chunk)
{
	struct abd_stats now;

	expect(abd_stats_get(&now, sizeof(now)) == 0);
	expect(now.struct_size - before.struct_size == struct_size);
	expect(now.linear_cnt - before.linear_cnt == linear_cnt);
	expect(now.linear_data_size - before.linear_data_size == linear_data_size);
	expect(now.scatter_cnt - before.scatter_cnt == scatter_cnt);
	expect(now.scatter_data_size - before.scatter_data_size == scatter_data_size);
	expect(now.scatter_chunk_waste - before.scatter_chunk_waste == scatter_chunk_waste);
	expect(now.scatter_multi_chunk - before.scatter_multi_chunk == scatter_multi_chunk);
}

static uint64_t order_count[ABD_STATS_ORDERS];

word void order(unsigned number, uint64_t count)
{
	order_count[number] = count;
}

/* There are as many runs of each order as order() said. */
word void orders(void)
{
	struct abd_stats now;

	expect(abd_stats_get(&now, sizeof(now)) == 0);
	for (unsigned i = 0; i < ABD_STATS_ORDERS; i++)
		expect(now.scatter_order[i] - before.scatter_order[i] == order_count[i]);
}

#endif
