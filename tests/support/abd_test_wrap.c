/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wrapped calls. No header declares them: --wrap fixes their names.
 */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include "abd_test.h"

#include "abd_cpu.h"

#include <sys/random.h>
#include <sys/sysinfo.h>

static atomic_uint countdown[ABD_TEST_CALLS];

void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t off);
int __real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __real_pthread_setspecific(pthread_key_t key, const void *value);
int __real_sysinfo(struct sysinfo *info);
ssize_t __real_getrandom(void *buf, size_t size, unsigned flags);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __real_madvise(void *address, size_t size, int advice);
int __real_munmap(void *address, size_t size);
void __real_free(void *block);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_nanosleep(const struct timespec *time, struct timespec *left);
long __real_syscall(long number, ...);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);

void abd_test_wrap_fail(enum abd_test_call call, unsigned n)
{
	atomic_store(&countdown[call], n);
}

static bool fails(enum abd_test_call call)
{
	unsigned left = atomic_load(&countdown[call]);

	while (left > 0 && !atomic_compare_exchange_weak(&countdown[call], &left, left - 1))
		;
	return left == 1;
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t off)
{
	return fails(ABD_TEST_MMAP) ? MAP_FAILED
				    : __real_mmap(address, size, protection, flags, fd, off);
}

int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	return fails(ABD_TEST_KEY_CREATE) ? EAGAIN : __real_pthread_key_create(key, destructor);
}

int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
	return fails(ABD_TEST_SETSPECIFIC) ? ENOMEM : __real_pthread_setspecific(key, value);
}

static atomic_ulong more_swap;

void abd_test_wrap_swap(unsigned long more)
{
	atomic_store(&more_swap, more);
}

int __wrap_sysinfo(struct sysinfo *info)
{
	if (fails(ABD_TEST_SYSINFO) || __real_sysinfo(info) != 0)
		return -1;
	info->totalswap += atomic_load(&more_swap);
	return 0;
}

ssize_t __wrap_getrandom(void *buf, size_t size, unsigned flags)
{
	return fails(ABD_TEST_GETRANDOM) ? -1 : __real_getrandom(buf, size, flags);
}

/* ---- calls that succeed, and set errno ---- */

static atomic_int errno_set;
static atomic_uint errno_times;

unsigned abd_test_wrap_errno(int error)
{
	atomic_store(&errno_set, error);
	return atomic_exchange(&errno_times, 0);
}

static void set_errno(void)
{
	int error = atomic_load(&errno_set);

	if (error != 0) {
		errno = error;
		atomic_fetch_add(&errno_times, 1);
	}
}

static atomic_uint refused;

void abd_test_wrap_refuse(unsigned what)
{
	atomic_store(&refused, what);
}

/* MADV_DONTNEED and MADV_DONTNEED_LOCKED, which older C libraries do not name. */
static bool is_refused(int advice)
{
	return (atomic_load(&refused) & 2) != 0 && (advice == MADV_DONTNEED || advice == 24);
}

/* Weak: some test programs have a madvise() of their own. */
__attribute__((weak)) int __wrap_madvise(void *address, size_t size, int advice)
{
	int result = is_refused(advice) ? -1 : __real_madvise(address, size, advice);

	set_errno();
	return result;
}

int __wrap_munmap(void *address, size_t size)
{
	int result = (atomic_load(&refused) & 1) != 0 ? -1 : __real_munmap(address, size);

	set_errno();
	return result;
}

void __wrap_free(void *block)
{
	__real_free(block);
	set_errno();
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	void *block = __real_aligned_alloc(alignment, size);

	set_errno();
	return block;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	int result = __real_nanosleep(time, left);

	set_errno();
	return result;
}

/* As many arguments as any of the library's own system calls has: mbind(2). */
long __wrap_syscall(long number, ...)
{
	va_list list;
	long argument[6], result;

	va_start(list, number);
	for (size_t i = 0; i < 6; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	result = __real_syscall(number, argument[0], argument[1], argument[2], argument[3],
		argument[4], argument[5]);
	set_errno();
	return result;
}

static _Atomic clockid_t told_clock;
static int64_t (*_Atomic told_time)(void);

void abd_test_wrap_clock(clockid_t clock, int64_t (*now)(void))
{
	atomic_store(&told_clock, clock);
	atomic_store(&told_time, now);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int64_t (*ask)(void) = clock == atomic_load(&told_clock) ? atomic_load(&told_time) : NULL;
	/* Always call it: only from this call does MemorySanitizer learn that *now is written. */
	int error = __real_clock_gettime(clock, now);

	if (ask != NULL) {
		int64_t ns = ask();

		now->tv_sec = (time_t)(ns / 1000000000);
		now->tv_nsec = (long)(ns % 1000000000);
	}
	return error;
}

/* ---- how often a mutex is taken -------------------------------------------------------------- */

static pthread_mutex_t *_Atomic counted;
static atomic_uint locks;

unsigned abd_test_wrap_locks(pthread_mutex_t *mutex)
{
	atomic_store(&counted, mutex);
	return atomic_exchange(&locks, 0);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (atomic_load_explicit(&counted, memory_order_relaxed) == mutex)
		atomic_fetch_add(&locks, 1);
	return __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int error = __real_pthread_mutex_trylock(mutex);

	if (error == 0 && atomic_load_explicit(&counted, memory_order_relaxed) == mutex)
		atomic_fetch_add(&locks, 1);
	return error;
}

/* ---- waiting for readers --------------------------------------------------------------------- */

/* Weak: there is none where nothing waits for readers. */
__attribute__((weak)) void __real_urcu_bp_synchronize_rcu(void);

static void (*_Atomic before_waiting)(void);

void abd_test_wrap_synchronize(void (*function)(void))
{
	atomic_store(&before_waiting, function);
}

void __wrap_urcu_bp_synchronize_rcu(void)
{
	void (*function)(void) = atomic_load(&before_waiting);

	if (function != NULL)
		function();
	__real_urcu_bp_synchronize_rcu();
}
