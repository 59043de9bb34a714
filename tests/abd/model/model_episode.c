/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Episodes: which operations there are, how a step draws one, and what is checked after it.
 * Invariant: after a step, the gauges are what the living buffers add up to.
 */
#include "model.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void tunable(const char *name, const char *value)
{
	trace("abd_tuning_set(\"%s\", \"%s\")", name, value);
	check(abd_tuning_set(name, value) == 0, "%s can't be %s", name, value);
}

/* One of the kernels of a name; those that this CPU or this platform has not are refused. */
static void kernel(const char *name, const char *const *kernels, size_t count)
{
	const char *value = kernels[model_below(count)];

	trace("abd_tuning_set(\"%s\", \"%s\")", name, value);
	(void)abd_tuning_set(name, value);
}

static void kernels_tune(void)
{
	static const char *const compare[] = {
		"auto", "auto", "scalar", "word", "libc", "sse2", "avx2", "avx512", "neon"};
	static const char *const lz4[] = {
		"auto", "auto", "scalar", "sse2", "avx2", "avx512", "neon"};
	static const char *const flush[] = {"auto", "auto", "nt-avx512", "nt-avx2", "nt-sse2",
		"movnti", "movdir64b", "clwb", "clflushopt", "clflush", "cvap", "cvac", "portable"};

	kernel("compare", compare, COUNT(compare));
	kernel("lz4", lz4, COUNT(lz4));
	kernel("flush", flush, COUNT(flush));
}

static void model_op_tune(void)
{
	static const char *const orders[] = {"0", "0", "1", "2", "5", "10"};
	static const char *const mins[] = {"0", "1536", "1536", "5000"};

	tunable("max_order", orders[model_below(6)]);
	model.linear_page = !model_one_in(3);
	tunable("linear_page", model.linear_page ? "1" : "0");
	tunable("scatter_min_size", mins[model_below(4)]);
	tunable("scatter_enabled", model_one_in(5) ? "0" : "1");
	kernels_tune();
	if (!model.test_provider)
		return;

	uint32_t orders_refused = (uint32_t)(model_below(2) * model_below(1024) * 2);
	unsigned percent = (unsigned)(model_below(3) * 30);
	bool adjacent = model_one_in(4);

	trace("abd_test_refuse_orders(0x%x)", (unsigned)orders_refused);
	trace("abd_test_refuse_random(0x%llx, %u)", ull(model.random), percent);
	trace("abd_test_runs_adjacent(%d)", adjacent);
	abd_test_refuse_nothing();
	abd_test_refuse_orders(orders_refused);
	abd_test_refuse_random(model.random, percent);
	abd_test_runs_adjacent(adjacent);
}

static void model_op_verify(void)
{
	struct object *o = model_any();

	if (o == NULL)
		return;
	trace("abd_verify(o%u)", o->id);
	abd_verify(o->abd);
	check(abd_get_size(o->abd) == o->size, "size %zu", o->size);
	check(abd_is_gang(o->abd) == (o->kind == GANG || (o->kind == VIEW && o->parent != NULL &&
								 abd_is_gang(o->parent->abd))),
		"gang or not: kind %d", (int)o->kind);
	if (model_one_in(20))
		abd_cache_reap_now();
}

static void (*const ops[])(void) = {
	model_op_alloc,
	model_op_alloc,
	model_op_alloc_linear,
	model_op_from_buf,
	model_op_zeros,
	model_op_gang,
	model_op_view,
	model_op_view,
	model_op_from_iov,
	model_op_gang_add,
	model_op_gang_add,
	model_op_gang_add,
	model_op_free,
	model_op_free,
	model_op_free,
	model_op_free,
	model_op_free,
	model_op_copy,
	model_op_copy,
	model_op_copy,
	model_op_copy_from_buf,
	model_op_copy_to_buf,
	model_op_zero,
	model_op_flush_copy,
	model_op_flush_copy_buf,
	model_op_iterate,
	model_op_iterate_stop,
	model_op_compare_buf,
	model_op_compare,
	model_op_compare,
	model_op_to_iov,
	model_op_pread,
	model_op_pwrite,
	model_op_borrow,
	model_op_borrow,
	model_op_return,
	model_op_return,
	model_op_return,
	model_op_ownership,
	model_op_lz4,
	model_op_lz4_length,
	model_op_checksum,
	model_op_raidz_gen,
	model_op_raidz_rec,
	model_op_verify,
};

static void check_gauges(void)
{
	struct abd_stats now = abd_test_stats();

	check(abd_test_gauges_equal(&model.expected, &now), "%zu buffers and other gauges",
		model.count);
	check(model.expected.borrow_cnt == now.borrow_cnt &&
			model.expected.borrow_copy_cnt == now.borrow_copy_cnt &&
			model.expected.borrow_copy_bytes == now.borrow_copy_bytes,
		"borrows: %llu expected, %llu counted",
		(unsigned long long)model.expected.borrow_cnt, (unsigned long long)now.borrow_cnt);
}

/* Memory runs out in one step of a hundred: at one site, or from one on. */
static void step_fault(void)
{
	size_t site = model_below(4);
	bool from = model_one_in(2);

	trace("abd_test_fault_%s(%zu)", from ? "from" : "at", site);
	if (from)
		abd_test_fault_from(site);
	else
		abd_test_fault_at(site);
}

void model_step(size_t number)
{
	model.step = number;
	model.random = model.seed + (number + 1) * 0xd1342543de82ef95u;
	abd_test_random(&model.random);
	trace("step %zu", number);

	void (*op)(void) = ops[model_below(COUNT(ops))];

	if (model_one_in(500))
		model_op_tune();
	while (model.count >= OBJECTS - 1)
		model_op_return(), model_op_free();
	model.oom = model_one_in(100);
	if (model.oom)
		step_fault();
	op();
	if (model.oom)
		abd_test_fault_end();
	check_gauges();
	for (size_t i = 0; number % CHECK_ALL == 0 && i < model.count; i++)
		if (model.objects[i]->raw_count > 0)
			model_check_base(model.objects[i]);
}

static void end_all(void)
{
	model.oom = false;
	for (size_t i = 0; i < model.count; i++)
		while (model.objects[i]->borrow_count > 0)
			model_borrow_return(model.objects[i]);
	while (model.count > 0)
		model_op_free();
	check_gauges();
}

void model_episode_begin(uint64_t seed)
{
	model.seed = model.random = seed;
	model.step = 0;
	model.test_provider = model_one_in(2);
	trace("%s()",
		model.test_provider ? "abd_test_provider_begin" : "abd_test_tunables_restore");
	if (model.test_provider)
		abd_test_provider_begin();
	else
		abd_test_tunables_restore();
	model.expected = abd_test_stats();
	memset(model.file_data, 0, FILE_ROOM);
	check(pwrite(model.file, model.file_data, FILE_ROOM, 0) == FILE_ROOM,
		"the file can't be emptied, errno %d", errno);
	model_op_tune();
}

void model_episode_end(void)
{
	end_all();
	if (model.test_provider)
		check(abd_test_runs_out_all() == 0, "%zu runs were not given back",
			abd_test_runs_out_all());
	abd_test_provider_end();
	tunable("lz4", "auto");
	tunable("flush", "auto");
}

void model_memory_begin(void)
{
	model.a = malloc(ROOM + 64);
	model.b = malloc(ROOM + 64);
	model.file_data = malloc(FILE_ROOM);
	model.file = memfd_create("abd_model", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert(model.a != NULL && model.b != NULL && model.file_data != NULL);
	cr_assert(ftruncate(model.file, FILE_ROOM) == 0);
	cr_assert(fcntl(model.file, F_ADD_SEALS, F_SEAL_GROW) == 0);
}

void model_memory_end(void)
{
	free(model.a);
	free(model.b);
	free(model.file_data);
	close(model.file);
}

void model_episode(uint64_t seed, size_t steps)
{
	model_episode_begin(seed);
	for (size_t i = 0; i < steps; i++)
		model_step(i);
	model_episode_end();
}
