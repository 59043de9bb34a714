/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linear buffers, over memory of abd_buf_alloc() or of the caller; handing ownership over and back.
 * OpenZFS: abd_alloc_linear(), abd_get_from_buf(), abd_take_ownership_of_buf() ... in
 * module/zfs/abd.c.
 */
#include "abd_allocator.h"
#include "abd_check.h"
#include "abd_impl.h"

#include <abd/io.h>

static void abd_linear_count(const abd_t *abd, uint64_t sign)
{
	abd_counter_add(ABD_COUNTER(linear_cnt), sign);
	abd_counter_add(ABD_COUNTER(linear_data_size), sign * abd->abd_size);
}

static inline void abd_linear_init(
	abd_t *abd, void *buf, size_t size, bool is_metadata, bool allocated)
{
	abd_struct_init(abd,
		ABD_FLAG_LINEAR | ABD_FLAG_OWNER | is_metadata * ABD_FLAG_META |
			allocated * ABD_FLAG_ALLOCD,
		size);
	ABD_BUF(abd) = buf;
}

abd_t *abd_alloc_linear_struct(abd_t *abd, size_t size, bool is_metadata)
{
	ABD_REQUIRE(abd != NULL, "abd is NULL");

	void *buf = abd_buf_alloc(size, is_metadata);

	if (buf == NULL)
		return NULL;
	abd_linear_init(abd, buf, size, is_metadata, false);
	abd_linear_count(abd, 1);
	return abd;
}

/* Memory of up to 64 bytes and structs lie in one magazine, which gives no pairs. */
#define ABD_LINEAR_PAIR_MIN ((size_t)64 * (ABD_STRUCT_MAGAZINE + 1) + 1)

/*
 * Where memory of this size lies when it is free, beside its struct in this thread's magazines: the
 * number of the magazine + 1. 0: it lies in none, or in that of structs. abd_order keeps it.
 */
static inline unsigned abd_linear_magazine(size_t size)
{
	if (size < ABD_LINEAR_PAIR_MIN || size > ABD_MEM_CACHE_MAX || !abd_allocator_is_own())
		return 0;
	return abd_mem_cache_class(&size) + 1;
}

static inline void abd_linear_count_pair(struct abd_thread *thread, size_t size, uint64_t sign)
{
	abd_counter_add_to(thread, ABD_COUNTER(struct_size), sign * sizeof(abd_t));
	abd_counter_add_to(thread, ABD_COUNTER(linear_cnt), sign);
	abd_counter_add_to(thread, ABD_COUNTER(linear_data_size), sign * size);
}

static ABD_NOINLINE abd_t *abd_linear_alloc_slow(size_t size, bool is_metadata)
{
	void *buf = abd_buf_alloc(size, is_metadata);

	if (buf == NULL)
		return NULL;

	abd_t *abd = abd_struct_alloc();

	if (abd == NULL) {
		abd_allocator_put(buf, size, is_metadata);
		errno = ENOMEM;
		return NULL;
	}
	abd_linear_init(abd, buf, size, is_metadata, true);
	abd->abd_order = (uint8_t)abd_linear_magazine(size);
	abd_linear_count(abd, 1);
	return abd;
}

/* The fast path takes struct and memory together, out of this thread's magazines. */
abd_t *abd_alloc_linear(size_t size, bool is_metadata)
{
	struct abd_thread *thread = NULL;
	unsigned magazine = abd_linear_magazine(size);
	void *head, *buf;

	if (ABD_LIKELY(magazine > 0))
		thread = abd_magazine_get_pair(ABD_STRUCT_MAGAZINE, magazine - 1, &head, &buf);
	if (ABD_UNLIKELY(thread == NULL))
		return abd_linear_alloc_slow(size, is_metadata);

	abd_t *abd = head;

	abd_linear_init(abd, buf, size, is_metadata, true);
	abd->abd_order = (uint8_t)magazine;
	abd_linear_count_pair(thread, size, 1);
	return abd;
}

static ABD_NOINLINE void abd_linear_free_slow(abd_t *abd)
{
	abd_linear_count(abd, -(uint64_t)1);
	abd_allocator_put(ABD_BUF(abd), abd->abd_size, (abd->abd_flags & ABD_FLAG_META) != 0);
	abd_struct_free(abd);
}

void abd_linear_free(abd_t *abd)
{
	abd_flags_t flags = abd->abd_flags;
	size_t size = abd->abd_size;
	unsigned magazine = abd->abd_order;
	struct abd_thread *thread = NULL;

	if (ABD_LIKELY(magazine > 0)) {
		abd_struct_clear(abd);
		thread =
			abd_magazine_put_pair(ABD_STRUCT_MAGAZINE, magazine - 1, abd, ABD_BUF(abd));
	}
	if (ABD_LIKELY(thread != NULL)) {
		abd_linear_count_pair(thread, size, -(uint64_t)1);
		return;
	}
	abd->abd_flags = flags;
	abd->abd_size = size;
	abd_linear_free_slow(abd);
}

abd_t *abd_get_from_buf_struct(abd_t *abd, void *buf, size_t size)
{
	ABD_REQUIRE(abd != NULL, "abd is NULL");
	ABD_REQUIRE(buf != NULL || size == 0, "buf is NULL");
	if (size == 0) {
		errno = EINVAL;
		return NULL;
	}
	abd_struct_init(abd, ABD_FLAG_LINEAR, size);
	ABD_BUF(abd) = buf;
	return abd;
}

abd_t *abd_get_from_buf(void *buf, size_t size)
{
	ABD_REQUIRE(buf != NULL || size == 0, "buf is NULL");
	if (size == 0) {
		errno = EINVAL;
		return NULL;
	}

	abd_t *abd = abd_struct_alloc();

	if (abd == NULL)
		return NULL;
	abd->abd_flags |= ABD_FLAG_LINEAR;
	abd->abd_size = size;
	ABD_BUF(abd) = buf;
	return abd;
}

/* The free callback of abd_get_from_buf_cb(). */
struct abd_end {
	void (*free_cb)(void *buf, size_t size, void *arg);
	void *arg;
};

abd_t *abd_get_from_buf_cb(
	void *buf, size_t size, void (*free_cb)(void *buf, size_t size, void *arg), void *arg)
{
	ABD_REQUIRE(free_cb != NULL, "free_cb is NULL");
	ABD_REQUIRE(buf != NULL || size == 0, "buf is NULL");

	abd_t *abd = abd_get_from_buf(buf, size);
	struct abd_end *end;

	if (abd == NULL)
		return NULL;
	end = abd_mem_cache_alloc(sizeof(*end));
	if (end == NULL) {
		abd_struct_free(abd);
		errno = ENOMEM;
		return NULL;
	}
	*end = (struct abd_end){free_cb, arg};
	abd->abd_u.abd_linear.abd_end = end;
	return abd;
}

/* A function of its own, so that buffers without a callback save no registers for errno. */
static ABD_NOINLINE void abd_linear_end_by(struct abd_end *end, abd_t *abd)
{
	void *buf = ABD_BUF(abd);
	size_t size = abd->abd_size;
	ABD_KEEP_ERRNO;

	abd_struct_free(abd);
	end->free_cb(buf, size, end->arg);
	abd_mem_cache_free(end, sizeof(*end));
}

void abd_linear_end(abd_t *abd)
{
	struct abd_end *end = abd->abd_u.abd_linear.abd_end;

	if (ABD_LIKELY(end == NULL))
		abd_struct_free(abd);
	else
		abd_linear_end_by(end, abd);
}

void *abd_to_buf(abd_t *abd)
{
	abd_check(__func__, abd);
	ABD_REQUIRE(abd_is_linear(abd), "buffer of %zu bytes is not linear", abd->abd_size);
	return ABD_BUF(abd);
}

const void *abd_to_buf_const(const abd_t *abd)
{
	abd_check(__func__, abd);
	ABD_REQUIRE(abd_is_linear(abd), "buffer of %zu bytes is not linear", abd->abd_size);
	return ABD_BUF(abd);
}

void abd_take_ownership_of_buf(abd_t *abd, bool is_metadata)
{
	abd_check(__func__, abd);
	ABD_REQUIRE(abd_is_linear(abd), "buffer of %zu bytes is not linear", abd->abd_size);
	ABD_REQUIRE((abd->abd_flags & (ABD_FLAG_OWNER | ABD_FLAG_LINEAR_PAGE)) == 0 &&
			    abd->abd_parent == NULL && abd->abd_u.abd_linear.abd_end == NULL,
		"the memory of a buffer of %zu bytes belongs to somebody already", abd->abd_size);
	abd->abd_flags |= ABD_FLAG_OWNER | (is_metadata ? ABD_FLAG_META : 0);
	abd_linear_count(abd, 1);
}

void abd_release_ownership_of_buf(abd_t *abd)
{
	abd_check(__func__, abd);
	ABD_REQUIRE(abd_is_linear(abd) && !abd_is_linear_page(abd),
		"the memory of a buffer of %zu bytes is made of runs, not of abd_buf_alloc()",
		abd->abd_size);
	ABD_REQUIRE((abd->abd_flags & ABD_FLAG_OWNER) != 0,
		"a buffer of %zu bytes does not own its memory", abd->abd_size);
	abd_linear_count(abd, -(uint64_t)1);
	abd->abd_flags &= ~(unsigned)(ABD_FLAG_OWNER | ABD_FLAG_META);
}
