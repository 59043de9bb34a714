/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine's pair is set before the first allocation, or never; the state says which.
 * OpenZFS: zio_buf_alloc() and zio_data_buf_alloc() in module/zfs/zio.c.
 */
#include "abd_allocator.h"
#include "abd_contract.h"
#include "abd_mem_cache.h"

atomic_int abd_allocator_state = ABD_ALLOCATOR_UNDECIDED;
static pthread_mutex_t abd_allocator_lock = PTHREAD_MUTEX_INITIALIZER; /* of deciding */
static struct abd_allocator abd_allocator_engine;
_Thread_local unsigned abd_allocator_calls;

int abd_allocator_set(const struct abd_allocator *allocator)
{
	bool undecided;

	if (allocator == NULL || allocator->alloc == NULL || allocator->free == NULL)
		return -EINVAL;
	pthread_mutex_lock(&abd_allocator_lock);
	undecided = atomic_load(&abd_allocator_state) == ABD_ALLOCATOR_UNDECIDED;
	if (undecided) {
		abd_allocator_engine = *allocator;
		atomic_store(&abd_allocator_state, ABD_ALLOCATOR_ENGINE);
	}
	pthread_mutex_unlock(&abd_allocator_lock);
	return undecided ? 0 : -EBUSY;
}

/* The first allocation decides. */
static ABD_COLD int abd_allocator_decide(void)
{
	int state;

	pthread_mutex_lock(&abd_allocator_lock);
	state = atomic_load(&abd_allocator_state);
	if (state == ABD_ALLOCATOR_UNDECIDED) {
		state = ABD_ALLOCATOR_OWN;
		atomic_store(&abd_allocator_state, state);
	}
	pthread_mutex_unlock(&abd_allocator_lock);
	return state;
}

static inline bool abd_allocator_is_engine(void)
{
	int state = atomic_load_explicit(&abd_allocator_state, memory_order_acquire);

	if (ABD_UNLIKELY(state == ABD_ALLOCATOR_UNDECIDED))
		state = abd_allocator_decide();
	return state == ABD_ALLOCATOR_ENGINE;
}

/* Not inlined, nor is the other: all allocations would save registers for its calls. */
static ABD_NOINLINE void *abd_allocator_engine_get(size_t size, bool is_metadata)
{
	size_t alignment = size >= 4096 ? 4096 : size >= 64 ? 64 : 16;
	size_t least = abd_min(alignment, 512);

	if (abd_mem_refused())
		return NULL;

	abd_allocator_calls++;
	void *buf =
		abd_allocator_engine.alloc(size, alignment, is_metadata, abd_allocator_engine.arg);

	abd_allocator_calls--;
	ABD_REQUIRE_IN("abd_allocator.alloc", ((uintptr_t)buf & (least - 1)) == 0,
		"%p for %zu bytes is not aligned to %zu", buf, size, least);
	return buf;
}

void *abd_allocator_get(size_t size, bool is_metadata)
{
	if (ABD_LIKELY(!abd_allocator_is_engine()))
		return abd_mem_cache_alloc(size);
	return abd_allocator_engine_get(size, is_metadata);
}

static ABD_NOINLINE void abd_allocator_engine_put(void *buf, size_t size, bool is_metadata)
{
	ABD_KEEP_ERRNO;

	abd_allocator_calls++;
	abd_allocator_engine.free(buf, size, is_metadata, abd_allocator_engine.arg);
	abd_allocator_calls--;
}

/* Memory that comes back was allocated, so the state is decided already. */
void abd_allocator_put(void *buf, size_t size, bool is_metadata)
{
	if (ABD_LIKELY(atomic_load_explicit(&abd_allocator_state, memory_order_acquire) !=
		       ABD_ALLOCATOR_ENGINE))
		abd_mem_cache_free(buf, size);
	else
		abd_allocator_engine_put(buf, size, is_metadata);
}

void *abd_buf_alloc(size_t size, bool is_metadata)
{
	if (size == 0) {
		errno = EINVAL;
		return NULL;
	}

	void *buf = abd_allocator_get(size, is_metadata);

	if (buf == NULL)
		errno = ENOMEM;
	return buf;
}

static void abd_buf_end(const char *call, void *buf, size_t size, bool is_metadata)
{
	if (buf == NULL)
		return;
	ABD_REQUIRE_IN(call, size > 0,
		"size 0 for memory at %p; was the size read after abd_free()?", buf);
	abd_allocator_put(buf, size, is_metadata);
}

void abd_buf_free(void *buf, size_t size)
{
	abd_buf_end(__func__, buf, size, false);
}

void abd_buf_free_marked(void *buf, size_t size, bool is_metadata)
{
	abd_buf_end(__func__, buf, size, is_metadata);
}
