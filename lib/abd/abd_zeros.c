/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers of zeroes, of any size: a scatter buffer whose runs are all the same read-only memory. It
 * is never written, so all its pages are the system's one zero page.
 * OpenZFS: abd_get_zeros() in module/zfs/abd.c, abd_alloc_zero_scatter() in
 * module/os/linux/zfs/abd_os.c; a 16 MiB table of one page there.
 */
#include "abd_impl.h"

#include <pthread.h>
#include <sys/mman.h>

static struct iovec abd_zeros_table;
static pthread_mutex_t abd_zeros_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct iovec *_Atomic abd_zeros_made;

static ABD_COLD const struct iovec *abd_zeros_make(void)
{
	const struct iovec *made;

	pthread_mutex_lock(&abd_zeros_lock);
	made = atomic_load(&abd_zeros_made);
	if (made == NULL && !abd_mem_refused()) {
		void *zeros =
			mmap(NULL, ABD_ZEROS_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (zeros != MAP_FAILED) {
			abd_zeros_table = (struct iovec){zeros, ABD_ZEROS_SIZE};
			made = &abd_zeros_table;
			atomic_store(&abd_zeros_made, made);
		}
	}
	pthread_mutex_unlock(&abd_zeros_lock);
	return made;
}

const struct iovec *abd_zeros_run(void)
{
	const struct iovec *made = atomic_load_explicit(&abd_zeros_made, memory_order_acquire);

	return ABD_LIKELY(made != NULL) ? made : abd_zeros_make();
}

static bool abd_zeros_can(size_t size)
{
	if (size == 0)
		errno = EINVAL;
	else if (abd_zeros_run() == NULL)
		errno = ENOMEM;
	else
		return true;
	return false;
}

static void abd_zeros_init(abd_t *abd, size_t size)
{
	abd->abd_zeros = 1;
	abd->abd_size = size;
	abd->abd_class_count = 1;
	ABD_SCATTER(abd).abd_runs = &abd_zeros_table;
	ABD_SCATTER(abd).abd_run_count = 1;
}

abd_t *abd_get_zeros_struct(abd_t *abd, size_t size)
{
	ABD_REQUIRE(abd != NULL, "abd is NULL");
	if (!abd_zeros_can(size))
		return NULL;
	abd_struct_init(abd, (abd_flags_t)0, size);
	abd_zeros_init(abd, size);
	return abd;
}

abd_t *abd_get_zeros(size_t size)
{
	if (!abd_zeros_can(size))
		return NULL;

	abd_t *abd = abd_struct_alloc();

	if (abd != NULL)
		abd_zeros_init(abd, size);
	return abd;
}
