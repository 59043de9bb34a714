/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations between buffers and the outside: iovecs of buffers, gangs of iovecs, a file.
 * Invariant: the file has FILE_ROOM bytes, equal to file_data, and can't grow: a write without end
 * would fill the memory.
 */
#include "model.h"

void model_op_to_iov(void)
{
	struct object *o = model_any();
	size_t off, n, done = 0;
	int iov_max = 1 + (int)model_below(8);

	if (o == NULL)
		return;
	model_random_range(o, &off, &n);
	model_read(o, off, n, model.a);
	trace("to_iov(o%u, %zu, %zu, %d)", o->id, off, n, iov_max);
	while (done < n) {
		struct iovec iov[8];
		size_t covered, sum = 0;
		int count = abd_to_iov(o->abd, off + done, n - done, iov, iov_max, &covered);

		check(count > 0 && count <= iov_max, "to_iov gave %d entries", count);
		for (int i = 0; i < count; i++) {
			check(memcmp(iov[i].iov_base, model.a + done + sum, iov[i].iov_len) == 0,
				"to_iov [%zu, +%zu)", off, n);
			sum += iov[i].iov_len;
		}
		check(count == iov_max || covered == n - done,
			"to_iov gave %d of %d entries, and not all", count, iov_max);
		check(sum == covered, "to_iov covered %zu, described %zu", covered, sum);
		done += covered;
	}
	check(done == n, "to_iov described %zu of %zu", done, n);
}

void model_op_from_iov(void)
{
	struct object *base = model_any(), *o;
	struct iovec iov[5];
	int count = 1 + (int)model_below(5);
	size_t sum = 0;

	if (base == NULL || base->raw_count != 1)
		return;
	o = model_object_new(GANG, NULL);
	for (int i = 0; i < count; i++) {
		size_t off, n;

		model_random_range(base, &off, &n);
		iov[i] = (struct iovec){(char *)base->raw[0].iov_base + off, n};
		sum += n;
		trace("v[%d] = {o%u + %zu, %zu}", i, base->id, off, n);
		if (n > 0) {
			model_slice_add(o, base, off, n);
			o->entries[o->entry_count++] = (struct entry){.size = n, .owned = true};
		}
	}
	trace("o%u = abd_from_iov(v, %d)", o->id, count);
	o->abd = abd_from_iov(iov, count);
	if (o->abd == NULL) {
		check((sum == 0 && errno == EINVAL) || model.oom, "from_iov refused %zu bytes",
			sum);
		free(o);
		return;
	}
	base->users++;
	o->entries[o->entry_count++] = (struct entry){.child = base};
	for (size_t i = 0; i < o->slice_count; i++)
		o->gauge.struct_size += sizeof(abd_t); /* of the children */
	model_object_begin(o);
	model_table_update(o);
}

void model_op_pwrite(void)
{
	struct object *o = model_any();
	size_t off, n, at = model_below(FILE_ROOM);

	if (o == NULL)
		return;
	model_random_range(o, &off, &n);
	n = abd_min(n, FILE_ROOM - at);
	trace("file_write(o%u, %zu, %zu, %zu)", o->id, off, n, at);
	check(abd_pwrite(model.file, o->abd, off, n, (off_t)at) == (ssize_t)n,
		"pwrite of [%zu, +%zu) at %zu, errno %d", off, n, at, errno);
	model_read(o, off, n, model.file_data + at);
	at -= abd_min(at, 16);
	n = abd_min(n + 32, FILE_ROOM - at);
	check(pread(model.file, model.b, n, (off_t)at) == (ssize_t)n &&
			memcmp(model.b, model.file_data + at, n) == 0,
		"pwrite of [%zu, +%zu): the file is wrong behind %zu", off, n, at);
}

/* Past the file's end now and then, where there is less to be read. */
void model_op_pread(void)
{
	struct object *o = model_any();
	size_t off, n, at = model_below(FILE_ROOM + 100), there;

	if (o == NULL || !o->writes)
		return;
	model_random_range(o, &off, &n);
	if (model_repeats(o, off, n))
		return;
	there = at < FILE_ROOM ? abd_min(n, FILE_ROOM - at) : 0;
	trace("file_read(o%u, %zu, %zu, %zu, %zu)", o->id, off, n, at, there);
	check(abd_pread(model.file, o->abd, off, n, (off_t)at) == (ssize_t)there,
		"pread into [%zu, +%zu) from %zu, errno %d", off, n, at, errno);
	model_write(o, off, there, model.file_data + at);
	model_check_written(o, off, n, "pread");
}
