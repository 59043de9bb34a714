/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine's own allocator: it must be set before the first allocation, and then it alone serves
 * linear memory. Each test needs a process that has not allocated yet.
 */
#include "abd_test.h"

static struct {
	/* threads race for them in one of the tests */
	_Atomic size_t allocs, frees, bytes, metadata, misaligned;
	size_t shift; /* from the alignment that was asked for */
	bool empty;
} engine;

static void *engine_alloc(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	size_t least = size >= 4096 ? 4096 : size >= 64 ? 64 : 1;

	if (engine.empty || arg != &engine)
		return NULL;
	engine.allocs++;
	engine.bytes += size;
	engine.metadata += is_metadata;
	engine.misaligned += alignment < least || (alignment & (alignment - 1)) != 0;
	return (char *)aligned_alloc(
		       alignment, (size + engine.shift + alignment - 1) / alignment * alignment) +
	       engine.shift;
}

static void engine_free(void *buf, size_t size, bool is_metadata, void *arg)
{
	engine.misaligned += arg != &engine;
	engine.frees++;
	engine.bytes -= size;
	engine.metadata -= is_metadata;
	free(buf);
}

static const struct abd_allocator pair = {engine_alloc, engine_free, &engine};

#define expect(condition)                                                               \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
			return 1;                                                       \
		}                                                                       \
	} while (0)

ABD_TEST_CHILD(allocator_serves)
{
	expect(abd_allocator_set(&pair) == 0);
	expect(abd_allocator_set(&pair) == -EBUSY);
	for (size_t size = 1; size < 9000; size += 7) {
		void *buf = abd_buf_alloc(size, size % 2 != 0);
		abd_t *abd = abd_alloc_linear(size, true);

		expect(buf != NULL && abd != NULL);
		memset(buf, 1, size);
		abd_zero(abd, size);
		expect(engine.metadata == 1 + size % 2);
		abd_buf_free_marked(buf, size, size % 2 != 0);
		expect(engine.metadata == 1);
		abd_free(abd);
		expect(engine.metadata == 0);
	}
	expect(engine.allocs == 2 * 1286 && engine.frees == engine.allocs && engine.bytes == 0);
	expect(engine.misaligned == 0);

	/* The buffer's mark decides, whoever marked it; abd_buf_free() says: no metadata. */
	void *taken_over = abd_buf_alloc(100, true);
	abd_t *owner = abd_get_from_buf(taken_over, 100);

	abd_take_ownership_of_buf(owner, true);
	abd_free(owner);
	expect(engine.metadata == 0);
	abd_buf_free(abd_buf_alloc(100, false), 100);
	expect(engine.metadata == 0 && engine.bytes == 0);
	engine.allocs -= 2;

	/* Runs are not the engine's; the copy that a borrow needs is. */
	abd_t *abd = abd_alloc(5 << 12, false);
	void *buf;

	expect(engine.allocs == 2 * 1286);
	buf = abd_borrow_buf(abd, 9000);
	expect(engine.allocs == 2 * 1286 + 1 && engine.bytes == 9000);
	memset(buf, 0, 9000);
	abd_return_buf_copy(abd, buf, 9000);
	expect(engine.bytes == 0 && engine.metadata == 0);
	engine.empty = true;
	errno = 0;
	expect(abd_alloc_linear(100, false) == NULL && errno == ENOMEM);
	expect(abd_borrow_buf(abd, 9000) == NULL);
	abd_free(abd);
	return 0;
}

ABD_TEST_CHILD(allocator_comes_late)
{
	abd_buf_free(abd_buf_alloc(1, false), 1);
	expect(abd_allocator_set(&pair) == -EBUSY);
	abd_free(abd_alloc_linear(100, false));
	expect(engine.allocs == 0);
	return 0;
}

/* Runs are not what the pair serves, so a scatter buffer that exists already is in no way. */
ABD_TEST_CHILD(allocator_after_scatter)
{
	abd_t *abd = abd_alloc(5 << 12, false);

	expect(abd != NULL && abd_allocator_set(&pair) == 0);
	abd_free(abd_alloc_linear(100, false));
	expect(engine.allocs == 1 && engine.frees == 1);
	expect(abd_allocator_set(&pair) == -EBUSY);
	abd_free(abd);
	return 0;
}

ABD_TEST_CHILD(allocator_set_twice)
{
	expect(abd_allocator_set(&pair) == 0);
	expect(abd_allocator_set(&pair) == -EBUSY);
	return 0;
}

/*
 * zio_buf_alloc() of OpenZFS: caches of half powers of two, each aligned to its size's lowest bit,
 * and to no more.
 */
static void *zio_alloc(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	size_t room = 512, align;
	char *start;

	while (room < size)
		room += room < 1024 ? 512 : (size_t)1 << (62 - __builtin_clzll(room));
	align = room % 4096 == 0 ? 4096 : room & -room;
	start = aligned_alloc(2 * align, (room + 3 * align - 1) / (2 * align) * (2 * align));
	((void **)(void *)(start + align))[-1] = start;
	engine.allocs++;
	return start + align;
}

static void zio_free(void *buf, size_t size, bool is_metadata, void *arg)
{
	engine.frees++;
	free(((void **)buf)[-1]);
}

/* Every size of OpenZFS's, and what lies between. */
ABD_TEST_CHILD(allocator_of_openzfs)
{
	const struct abd_allocator zio = {zio_alloc, zio_free, NULL};
	size_t misaligned = 0;

	expect(abd_allocator_set(&zio) == 0);
	for (size_t size = 1; size < 70000; size += size < 8192 ? 511 : 1024) {
		abd_t *abd = abd_alloc_linear(size, false);

		expect(abd != NULL);
		abd_zero(abd, size);
		expect(abd_is_aligned(abd, 0, size - size % 512, 512));
		misaligned += !abd_is_aligned(abd, 0, size - size % 4096, 4096);
		abd_free(abd);
	}
	/* What is for direct I/O tells that it may not be fit for it; runs are. */
	abd_t *io = abd_alloc_for_io(6144, false);

	expect(abd_is_aligned(io, 0, 4096, 4096));
	abd_free(io);
	expect(misaligned > 0 && engine.allocs == engine.frees);
	return 0;
}

/* It does not return. */
ABD_TEST_CHILD(allocator_misaligned_to_256)
{
	engine.shift = 256;
	expect(abd_allocator_set(&pair) == 0);
	abd_buf_free(abd_buf_alloc(4096, false), 4096);
	return 0;
}

/* It does not return. */
ABD_TEST_CHILD(allocator_misaligned)
{
	engine.shift = 32;
	expect(abd_allocator_set(&pair) == 0);
	expect(abd_buf_alloc(63, false) != NULL); /* a multiple of 16 was asked for, and came */
	abd_buf_free(abd_buf_alloc(64, false), 64);
	return 0;
}

ABD_TEST_CHILD(allocator_lacks)
{
	struct abd_allocator half = {engine_alloc, NULL, NULL};

	expect(abd_allocator_set(NULL) == -EINVAL);
	expect(abd_allocator_set(&half) == -EINVAL);
	half = (struct abd_allocator){NULL, engine_free, NULL};
	expect(abd_allocator_set(&half) == -EINVAL);
	expect(abd_allocator_set(&pair) == 0);
	return 0;
}

static pthread_barrier_t barrier;
static _Atomic int taken;

static void *set_or_allocate(void *arg)
{
	pthread_barrier_wait(&barrier);
	if (arg != NULL)
		taken += abd_allocator_set(&pair) == 0;
	else
		abd_buf_free(abd_buf_alloc(100, false), 100);
	return NULL;
}

/* Whoever is first, what was taken goes back where it came from. */
ABD_TEST_CHILD(allocator_races)
{
	pthread_t thread[8];

	pthread_barrier_init(&barrier, NULL, 8);
	for (size_t i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, set_or_allocate, i % 4 == 0 ? &barrier : NULL);
	for (size_t i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	expect(taken <= 1 && engine.allocs == engine.frees && (taken == 1 || engine.allocs == 0));
	return 0;
}

Test(abd_allocator, the_engines_pair_serves_all_linear_memory)
{
	abd_test_child_passes("allocator_serves", NULL);
}

Test(abd_allocator, after_the_first_allocation_it_is_too_late)
{
	abd_test_child_passes("allocator_comes_late", NULL);
}

Test(abd_allocator, a_pair_is_two_functions)
{
	abd_test_child_passes("allocator_lacks", NULL);
}

Test(abd_allocator, scatter_buffers_may_exist_before)
{
	abd_test_child_passes("allocator_after_scatter", NULL);
}

Test(abd_allocator, a_second_pair_is_refused_before_any_allocation_too)
{
	abd_test_child_passes("allocator_set_twice", NULL);
}

Test(abd_allocator, misaligned_memory_of_the_engine_is_reported)
{
	char text[512];
	int status = abd_test_child_run("allocator_misaligned", NULL, text, sizeof(text));

	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %x: %s",
		(unsigned)status, text);
	cr_assert(strstr(text, "abd_allocator.alloc: ") != NULL &&
			  strstr(text, "for 64 bytes is not aligned to 64") != NULL,
		"%s", text);
}

Test(abd_allocator, zio_buf_alloc_as_it_is_will_do)
{
	abd_test_child_passes("allocator_of_openzfs", NULL);
}

Test(abd_allocator, memory_that_direct_io_can_never_use_is_reported)
{
	char text[512];
	int status = abd_test_child_run("allocator_misaligned_to_256", NULL, text, sizeof(text));

	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %x: %s",
		(unsigned)status, text);
	cr_assert(strstr(text, "for 4096 bytes is not aligned to 512") != NULL, "%s", text);
}

Test(abd_allocator, setting_races_allocating)
{
	for (size_t i = 0; i < 10; i++)
		abd_test_child_passes("allocator_races", NULL);
}
