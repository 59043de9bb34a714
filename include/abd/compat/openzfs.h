/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenZFS's spellings over libabd, for code written against its sys/abd.h: include this in that
 * header's place. Defines macros and types without the abd_ prefix, so only such code should
 * include it.
 */
#ifndef ABD_COMPAT_OPENZFS_H
#define ABD_COMPAT_OPENZFS_H

#include <abd/abd.h>

/*
 * In OpenZFS's own tree boolean_t and FTAG come from where its sys/abd.h has them. Any other host
 * that has a boolean_t of its own defines ABD_COMPAT_BOOLEAN.
 */
#ifdef __has_include
#if __has_include(<sys/zfs_refcount.h>)
#include <sys/zfs_refcount.h>
#define ABD_COMPAT_BOOLEAN
#endif
#endif
#if !defined(B_TRUE) && !defined(ABD_COMPAT_BOOLEAN)
typedef bool boolean_t;
#define B_FALSE false
#define B_TRUE true
typedef unsigned int uint_t;
#endif

ABD_BEGIN_DECLS

/*
 * No call fails here, as in OpenZFS, whose callers look at no result: abd_gang_add() returns
 * nothing, and calls that allocate do not return NULL. When memory is refused, the call tries again
 * after abd_cache_reap_now(), and then as long as the handler below returns true. After that, one
 * line on stderr names the call and the bytes it was asked for, the handler of
 * abd_contract_handler_set() gets this line, and the program ends. Size 0 is a broken contract
 * here, not an error.
 */

/**
 * Set the handler that is called when memory is still refused after a reap. It gets the call's name
 * and the bytes that the call was asked for; it may make room, sleep, and return true to try once
 * more. If it returns false, or is NULL, the program ends. It may call the library.
 *
 * Units:   size in bytes.
 * Returns: nothing; can't fail.
 * Owner:   call is a constant of the library's.
 * Threads: any; handler is called in the thread whose call was refused.
 * Source:  KM_SLEEP, with which OpenZFS's abd.c allocates, waits in such a case.
 */
ABD_API void abd_compat_refusal_handler_set(bool (*handler)(const char *call, size_t size));

/**
 * What the calls below do when memory is refused: tries is 0 at the first refusal of a call.
 *
 * Contract: size is not 0.
 * Units:    size in bytes, as call was asked for.
 * Returns:  nothing, if call is to be tried again; else it does not return.
 * Threads:  any.
 * Source:   none in OpenZFS.
 */
ABD_API void abd_compat_refused(const char *call, size_t size, unsigned tries);

/**
 * abd_gang_add() that returns nothing, as in OpenZFS, and does not fail.
 *
 * Contract: as abd_gang_add().
 * Units:    as abd_gang_add().
 * Returns:  nothing; can't fail.
 * Owner:    as abd_gang_add().
 * Threads:  as abd_gang_add().
 * Source:   abd_gang_add() in module/zfs/abd.c.
 */
ABD_API void abd_compat_gang_add(abd_t *pabd, abd_t *cabd, bool free_on_free);

#define ABD_COMPAT_SURE(type, name, parameters, arguments, bytes)                \
	static inline type abd_compat_##name parameters                          \
	{                                                                        \
		type made;                                                       \
                                                                                 \
		for (unsigned tries = 0; (made = abd_##name arguments) == NULL;) \
			abd_compat_refused("abd_" #name, bytes, tries++);        \
		return made;                                                     \
	}
ABD_COMPAT_SURE(abd_t *, alloc, (size_t size, bool is_metadata), (size, is_metadata), size)
ABD_COMPAT_SURE(abd_t *, alloc_linear, (size_t size, bool is_metadata), (size, is_metadata), size)
ABD_COMPAT_SURE(abd_t *, alloc_linear_struct, (abd_t * abd, size_t size, bool is_metadata),
	(abd, size, is_metadata), size)
ABD_COMPAT_SURE(abd_t *, alloc_gang, (void), (), sizeof(abd_t))
ABD_COMPAT_SURE(abd_t *, alloc_for_io, (size_t size, bool is_metadata), (size, is_metadata), size)
ABD_COMPAT_SURE(abd_t *, alloc_sametype, (abd_t * sabd, size_t size), (sabd, size), size)
ABD_COMPAT_SURE(
	abd_t *, get_offset, (abd_t * sabd, size_t off), (sabd, off), abd_get_size(sabd) - off)
ABD_COMPAT_SURE(
	abd_t *, get_offset_size, (abd_t * sabd, size_t off, size_t size), (sabd, off, size), size)
ABD_COMPAT_SURE(abd_t *, get_zeros, (size_t size), (size), size)
ABD_COMPAT_SURE(abd_t *, get_zeros_struct, (abd_t * abd, size_t size), (abd, size), size)
ABD_COMPAT_SURE(abd_t *, get_from_buf, (void *buf, size_t size), (buf, size), size)
ABD_COMPAT_SURE(
	abd_t *, get_from_buf_struct, (abd_t * abd, void *buf, size_t size), (abd, buf, size), size)
ABD_COMPAT_SURE(void *, borrow_buf, (abd_t * abd, size_t n), (abd, n), n)
ABD_COMPAT_SURE(void *, borrow_buf_copy, (abd_t * abd, size_t n), (abd, n), n)
#undef ABD_COMPAT_SURE

/*
 * The address of the tunable scatter_enabled, for zfs_abd_scatter_enabled. It belongs to the
 * library; do not change the pointer. Any thread may use the tunable, but an assignment races with
 * reads, as with any int. The first allocation reads the environment: ABD_SCATTER_ENABLED, if set,
 * overrides what was assigned before.
 */
ABD_API extern int *abd_compat_scatter_enabled;

ABD_END_DECLS

/*
 * Assignable, as in OpenZFS; a macro, because no symbol of ours lacks abd_. An engine's own "extern
 * int zfs_abd_scatter_enabled;" comes out as one more declaration of the variable above.
 */
#define zfs_abd_scatter_enabled (*abd_compat_scatter_enabled)

#define abd_alloc abd_compat_alloc
#define abd_alloc_linear abd_compat_alloc_linear
#define abd_alloc_linear_struct abd_compat_alloc_linear_struct
#define abd_alloc_gang abd_compat_alloc_gang
#define abd_alloc_for_io abd_compat_alloc_for_io
#define abd_alloc_sametype abd_compat_alloc_sametype
#define abd_get_offset abd_compat_get_offset
#define abd_get_offset_size abd_compat_get_offset_size
#define abd_get_zeros abd_compat_get_zeros
#define abd_get_zeros_struct abd_compat_get_zeros_struct
#define abd_get_from_buf abd_compat_get_from_buf
#define abd_get_from_buf_struct abd_compat_get_from_buf_struct
#define abd_borrow_buf abd_compat_borrow_buf
#define abd_borrow_buf_copy abd_compat_borrow_buf_copy
#define abd_gang_add abd_compat_gang_add

#endif
