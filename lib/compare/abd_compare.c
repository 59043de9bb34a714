/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which kernel answers: the table, and the choice.
 * Invariant: active is NULL or a record that is never written again, so a reader needs one load and
 * no lock.
 */
#include "abd_compare.h"

#include "abd_tunable.h"

#include <abd/key.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

extern const struct abd_compare_kernel abd_compare_scalar;
extern const struct abd_compare_kernel abd_compare_word;
extern const struct abd_compare_kernel abd_compare_libc;
extern const struct abd_compare_kernel abd_compare_sse2;
extern const struct abd_compare_kernel abd_compare_avx2;
extern const struct abd_compare_kernel abd_compare_avx512;
extern const struct abd_compare_kernel abd_compare_neon;

/*
 * Best first. Equality of equal data as a multiple of the memcmp that the C library has for the
 * same instruction set, 4 KiB in L1 and 128 KiB of scattered 4 KiB pages: avx512 1.5 and 1.06, avx2
 * 1.0 and 0.85, sse2 0.87 and 0.96; libc 0.93 and 0.95 (a call per page and the hints), word 0.24
 * and 0.28, scalar 0.03 and 0.05.
 */
const struct abd_compare_kernel *const abd_compare_kernels[] = {
#if defined(__x86_64__) && !defined(__ILP32__)
	&abd_compare_avx512,
	&abd_compare_avx2,
	&abd_compare_sse2,
#elif defined(__aarch64__)
	&abd_compare_neon,
#endif
	&abd_compare_libc,
	&abd_compare_word,
	&abd_compare_scalar,
	NULL,
};

static struct abd_compare_kernel abd_compare_auto = {.name = "auto"};
static pthread_once_t abd_compare_auto_once = PTHREAD_ONCE_INIT;
static _Atomic(const struct abd_compare_kernel *) abd_compare_current;

static bool abd_compare_always(void)
{
	return true;
}

static const struct abd_compare_kernel *abd_compare_best(void)
{
	const struct abd_compare_kernel *const *kernel = abd_compare_kernels;

	while (!(*kernel)->supported())
		kernel++;
	return *kernel;
}

static void abd_compare_compose(void)
{
	const struct abd_compare_kernel *best = abd_compare_best();

	abd_compare_auto = *best;
	/*
	 * memcmp with 16-byte vectors is 7 % faster than ours in L1. It doesn't say where, nor
	 * zero: half as fast for those.
	 */
	if (strcmp(best->name, "sse2") == 0) {
		abd_compare_auto.order = abd_compare_libc.order;
		abd_compare_auto.equal = abd_compare_libc.equal;
	}
	abd_compare_auto.name = "auto";
	abd_compare_auto.supported = abd_compare_always;
}

static const struct abd_compare_kernel *abd_compare_auto_get(void)
{
	pthread_once(&abd_compare_auto_once, abd_compare_compose);
	return &abd_compare_auto;
}

/* The first call of all: auto, unless the environment or a call named another. */
static void abd_compare_start_once(void)
{
	const struct abd_compare_kernel *none = NULL;

	abd_tunable_from_environment(&abd_compare_tunables);
	atomic_compare_exchange_strong(&abd_compare_current, &none, abd_compare_auto_get());
}

static void abd_compare_tunables_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_compare_start_once);
}

static ABD_COLD const struct abd_compare_kernel *abd_compare_start(void)
{
	abd_compare_tunables_start();
	return atomic_load(&abd_compare_current);
}

const struct abd_compare_kernel *abd_compare_active(void)
{
	/*
	 * acquire, since auto is composed at run time; on x86 it is the same instruction as relaxed
	 */
	const struct abd_compare_kernel *kernel =
		atomic_load_explicit(&abd_compare_current, memory_order_acquire);

	return ABD_LIKELY(kernel != NULL) ? kernel : abd_compare_start();
}

static const struct abd_compare_kernel *abd_compare_find(const char *name)
{
	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++)
		if (strcmp(abd_compare_kernels[i]->name, name) == 0)
			return abd_compare_kernels[i];
	return strcmp(name, "auto") == 0 ? abd_compare_auto_get() : NULL;
}

int abd_compare_force(const char *name)
{
	const struct abd_compare_kernel *kernel = abd_compare_find(name);

	if (kernel == NULL)
		return -ENOENT;
	if (!kernel->supported())
		return -EINVAL;
	atomic_store_explicit(&abd_compare_current, kernel, memory_order_release);
	return 0;
}

void abd_compare_names(char *buf, size_t size)
{
	size_t used = 0;

	if (size == 0)
		return;
	used = (size_t)snprintf(buf, size, "auto");
	for (size_t i = 0; abd_compare_kernels[i] != NULL && used < size; i++)
		if (abd_compare_kernels[i]->supported())
			used += (size_t)snprintf(
				buf + used, size - used, " %s", abd_compare_kernels[i]->name);
}

bool abd_key_equal_long(const void *a, const void *b, size_t size)
{
	return abd_compare_active()->key_equal(a, b, size);
}

static int abd_compare_tune_set(const char *value)
{
	return abd_compare_force(value) == 0 ? 0 : -EINVAL;
}

static const char *abd_compare_tune_get(char *text, size_t size)
{
	(void)text, (void)size;
	return abd_compare_active()->name;
}

static const struct abd_tunable abd_compare_tunable_table[] = {
	{"compare", abd_compare_tune_set, abd_compare_tune_get},
};

const struct abd_tunables abd_compare_tunables = {
	abd_compare_tunable_table,
	sizeof(abd_compare_tunable_table) / sizeof(abd_compare_tunable_table[0]),
	abd_compare_tunables_start,
};
