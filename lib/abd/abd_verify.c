/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks every invariant of a buffer, one by one: when the user calls abd_verify(), and at every
 * call in checked builds.
 * OpenZFS: abd_verify() in module/zfs/abd.c, abd_verify_scatter() in module/os/linux/zfs/abd_os.c.
 */
#include "abd_check.h"
#include "abd_gang.h"

#include <abd/operate.h>

/* The flags that can be set here. */
#define ABD_FLAGS_ALL ((ABD_FLAG_ALLOCD << 1) - 1)

static void abd_verify_flags(const char *call, const abd_t *abd)
{
	unsigned flags = (unsigned)abd->abd_flags;

	ABD_REQUIRE_IN(call, (flags & ~(unsigned)ABD_FLAGS_ALL) == 0,
		"flags 0x%x: used after it was freed, or never made", flags);
	ABD_REQUIRE_IN(call, abd->abd_size > 0 || abd_is_gang(abd),
		"size 0: used after it was freed, or never made");
	ABD_REQUIRE_IN(call,
		!abd_is_gang(abd) || ((flags & ABD_FLAG_LINEAR) == 0 && !abd_is_zeros(abd)),
		"flags 0x%x: a gang is neither linear nor zeros", flags);
	ABD_REQUIRE_IN(call,
		!abd_is_linear_page(abd) || (abd_is_linear(abd) && (flags & ABD_FLAG_OWNER) != 0),
		"flags 0x%x: a single run is linear and owned", flags);
	ABD_REQUIRE_IN(call,
		!abd_is_zeros(abd) || (flags & (ABD_FLAG_LINEAR | ABD_FLAG_OWNER)) == 0,
		"flags 0x%x: zeros are neither linear nor owned", flags);
	ABD_REQUIRE_IN(call, (flags & ABD_FLAG_OWNER) == 0 || abd->abd_parent == NULL,
		"flags 0x%x: a view owns nothing", flags);
	ABD_REQUIRE_IN(call, (flags & ABD_FLAG_MULTI_CHUNK) == 0 || !abd_is_linear(abd),
		"flags 0x%x: a linear buffer has not several runs", flags);
}

/* Check what an owner needs to give its runs back. */
static void abd_verify_owner(const char *call, const abd_t *abd)
{
	bool multi = (abd->abd_flags & ABD_FLAG_MULTI_CHUNK) != 0;

	ABD_REQUIRE_IN(call, abd->abd_provider < ABD_CHUNK_PROVIDERS, "there is no provider %u",
		abd->abd_provider);
	ABD_REQUIRE_IN(call, multi == (ABD_SCATTER(abd).abd_run_count > 1),
		"flags 0x%x, but %zu runs", (unsigned)abd->abd_flags,
		ABD_SCATTER(abd).abd_run_count);
}

static void abd_verify_scatter(const char *call, const abd_t *abd)
{
	const struct iovec *runs = ABD_SCATTER(abd).abd_runs;
	size_t run_count = ABD_SCATTER(abd).abd_run_count;
	size_t bytes = 0;

	ABD_REQUIRE_IN(call, runs != NULL && run_count > 0, "a scatter buffer without runs");
	for (size_t i = 0; i < run_count; i++) {
		unsigned order = abd_run_order(runs[i].iov_len);
		bool last = i + 1 == run_count;

		ABD_REQUIRE_IN(call, runs[i].iov_base != NULL && runs[i].iov_len > 0,
			"run %zu is empty", i);
		ABD_REQUIRE_IN(call, last || runs[i].iov_len == ABD_CHUNK_SIZE << order,
			"run %zu of %zu has %zu bytes, which is not 4 KiB << n", i, run_count,
			runs[i].iov_len);
		ABD_REQUIRE_IN(call,
			order <= (i > 0 ? abd_run_order(runs[i - 1].iov_len) : abd->abd_order),
			"run %zu has order %u, a higher one than the run before it", i, order);
		bytes += runs[i].iov_len;
	}
	ABD_REQUIRE_IN(call,
		ABD_SCATTER(abd).abd_offset <= bytes &&
			abd->abd_size <= bytes - ABD_SCATTER(abd).abd_offset,
		"runs hold %zu bytes, but the buffer has %zu from %zu", bytes, abd->abd_size,
		ABD_SCATTER(abd).abd_offset);
	ABD_REQUIRE_IN(call, abd_scatter_classes_hold(abd),
		"order %u and %u classes do not describe the %zu runs", abd->abd_order,
		abd->abd_class_count, run_count);
	if ((abd->abd_flags & ABD_FLAG_OWNER) != 0)
		abd_verify_owner(call, abd);
}

static void abd_verify_gang(const char *call, const abd_t *abd)
{
	const struct abd_gang *gang = abd_gang_table(abd);
	size_t first = gang != NULL && gang->count > 0 ? gang->entries[0].start : 0;
	size_t bytes = 0, off = ABD_GANG(abd).abd_offset - first;

	for (size_t i = 0; gang != NULL && i < gang->count; i++) {
		const struct abd_gang_entry *entry = &gang->entries[i];

		ABD_REQUIRE_IN(call, entry->start - first == bytes && entry->size > 0,
			"child %zu starts at %zu, not at %zu", i, entry->start - first, bytes);
		ABD_REQUIRE_IN(call, !abd_is_gang(entry->child), "child %zu is a gang", i);
		ABD_REQUIRE_IN(call,
			__atomic_load_n(&entry->child->abd_gang_refs, __ATOMIC_RELAXED) > 0,
			"child %zu does not know of its gang, or was freed", i);
		abd_require_range(call, "child", entry->child, entry->child_off, entry->size);
		abd_verify_as(call, entry->child);
		bytes += entry->size;
	}
	ABD_REQUIRE_IN(call, off <= bytes && abd->abd_size <= bytes - off,
		"children hold %zu bytes, but the gang has %zu from %zu", bytes, abd->abd_size,
		off);
}

void abd_verify_as(const char *call, const abd_t *abd)
{
	abd_verify_flags(call, abd);
	if (abd_is_gang(abd))
		abd_verify_gang(call, abd);
	else if (abd_is_linear(abd))
		ABD_REQUIRE_IN(call, ABD_BUF(abd) != NULL, "a linear buffer without memory");
	else if (!abd_is_zeros(abd))
		abd_verify_scatter(call, abd);
}

void abd_verify(const abd_t *abd)
{
	ABD_REQUIRE(abd != NULL, "abd is NULL");
	abd_verify_as(__func__, abd);
}
