/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffer: one type over contiguous and scattered memory.
 *
 *   linear    one piece of memory                        abd_to_buf() gives its address
 *   scatter   runs of 4 KiB << n, from lib/mem         borrowed to be seen as one piece
 *   gang      other buffers, one after another           borrowed likewise
 *
 * Unless the tunable linear_page is 0, a scatter buffer that came out as one run is linear too:
 * abd_is_linear_page() is true for it, and borrowing it copies nothing. A view that lies within one
 * run of a scatter buffer is linear as well, but abd_is_linear_page() is false for it, as for every
 * view of linear memory. In OpenZFS only the build for Linux's kernel makes single-run buffers
 * linear, and a view is linear there only if its buffer is. abd_alloc_sametype() of a linear view
 * makes a linear buffer, here and in OpenZFS.
 *
 * All sizes and offsets are bytes. Buffers are not locked: any number of threads may read one; a
 * thread that writes to it, or frees it, must be the only one using it.
 *
 * Every build reports a broken contract (a range past the end, NULL, the wrong kind, ...): it
 * prints one line on stderr that names the call and the numbers, then calls the handler of
 * abd_contract_handler_set(). Inline calls that only return a field check nothing. Some mistakes
 * are found only by tracking (a return of another size, a parent that ends before its view):
 * checked builds (ABD_CHECKED) report those too.
 *
 * Calls that give back (free, return, release, reap, remove, trim, destroy, end, ...) keep errno,
 * in every header: an engine may make them after a call that failed, before it looks at errno.
 *
 * Stack: in an optimised build for x86-64, 24 KiB are enough for a thread that calls the library.
 * The calls of a request used 16 KiB there, including what the C library puts on a thread's stack.
 * Callbacks need theirs on top. No function of the library has a frame of more than 8 KiB.
 *
 * Cancellation: a thread may be cancelled (pthread_cancel()) at any time. It ends within
 * abd_pread() or abd_pwrite(), or outside of the library: any other call of any header returns
 * first, even if it waits. A callback must not end its thread. A thread that has set
 * PTHREAD_CANCEL_ASYNCHRONOUS must not call the library, nor nearly any function of the C library.
 *
 * After fork() in a program with threads, the child must not call the library, as POSIX
 * says of malloc().
 *
 * OpenZFS: include/sys/abd.h. Names, argument order and meaning are the same, with bool for
 * boolean_t and size_t sizes.
 */
#ifndef ABD_BUFFER_H
#define ABD_BUFFER_H

#include <abd/export.h>

ABD_BEGIN_DECLS

/** What a buffer is, in abd_flags. OpenZFS's names and values. */
typedef enum abd_flags {
	ABD_FLAG_LINEAR = 1 << 0,      /**< the data is one piece of memory */
	ABD_FLAG_OWNER = 1 << 1,       /**< the data is freed with the buffer */
	ABD_FLAG_META = 1 << 2,        /**< holds the engine's metadata */
	ABD_FLAG_MULTI_ZONE = 1 << 3,  /**< never set here: userspace sees no memory zones */
	ABD_FLAG_MULTI_CHUNK = 1 << 4, /**< owns more than one run */
	ABD_FLAG_LINEAR_PAGE = 1 << 5, /**< linear because it owns a single run */
	ABD_FLAG_GANG = 1 << 6,        /**< is made of other buffers */
	ABD_FLAG_GANG_FREE = 1 << 7,   /**< is freed by the gang it was added to */
	ABD_FLAG_ALLOCD = 1 << 8,      /**< the struct itself came from the library */
	/** never set here: userspace is given no pinned pages */
	ABD_FLAG_FROM_PAGES = 1 << 9,
} abd_flags_t;

struct abd_gang;
struct abd_end;

/*
 * The tag of abd_t's struct. C++ allows no type named abd beside abd.hpp's namespace abd, so the
 * tag is another one there. Code for both languages says abd_t.
 */
#ifdef __cplusplus
#define ABD_TAG abd_buffer
#else
#define ABD_TAG abd
#endif

/**
 * A buffer. A complete type, so that engines can embed it and initialise it with the _struct calls;
 * its content does not matter before that. All fields are private, except that abd_flags and
 * abd_size may be read.
 *
 * Owner: the struct is the library's (abd_alloc...) or the caller's (..._struct); abd_free() knows
 *        which. The data belongs to the buffer if ABD_FLAG_OWNER is set, else to its parent, its
 *        children, or the caller.
 */
typedef struct ABD_TAG {
	abd_flags_t abd_flags;
	uint8_t abd_provider;    /* private: which provider the runs go back to */
	uint8_t abd_class_count; /* private: scatter: how many orders occur in the run table */
	uint8_t abd_order; /* private: order of the first run; of linear memory: its magazine */
	uint8_t abd_zeros; /* private: scatter: all zeros, read-only */
	size_t abd_size;
	struct ABD_TAG *abd_parent; /* private: what a view was made from */
	uint32_t abd_gang_refs;     /* private, atomic: gang entries that refer to this buffer */
	uint32_t abd_children;      /* private, atomic: live views; counted in checked builds */
	void *abd_borrows; /* private: borrows not yet returned; tracked in checked builds */
	union {
		struct {
			void *abd_buf;
			union {
				struct abd_end *abd_end; /* abd_get_from_buf_cb(): the callback */
				uint32_t abd_holds; /* of a cached record: slots that hold it */
			};
			void *abd_home; /* of a cached record: the slab where it lies */
		} abd_linear;
		struct {
			struct iovec *abd_runs; /* the parent's, in a view */
			size_t abd_offset; /* of the first byte, from the start of abd_runs[0] */
			size_t abd_run_count;
		} abd_scatter;
		struct {
			struct abd_gang *abd_table; /* NULL while empty, and in a view */
			struct ABD_TAG *abd_root;   /* in a view: the gang whose table it shares */
			size_t abd_offset;          /* in a view: of the first byte, in the root */
		} abd_gang;
	} abd_u; /* private */
} abd_t;

/* ---- allocate -------------------------------------------------------------------------------- */

/**
 * A buffer of size bytes: scatter from the tunable scatter_min_size up, else linear. The content is
 * not initialised.
 *
 * Scatter memory comes as runs of 4 KiB << n: the highest order that fits first, lower ones where
 * the provider refuses. A buffer that comes out as one run is linear as well.
 *
 * Units:   size in bytes, from 1 up.
 * Returns: the buffer, or NULL with errno EINVAL (size 0) or ENOMEM.
 * Owner:   the caller, until abd_free().
 * Threads: any.
 * Source:  abd_alloc() in module/zfs/abd.c, abd_alloc_chunks() in module/os/linux/zfs/abd_os.c.
 */
ABD_API abd_t *abd_alloc(size_t size, bool is_metadata) __attribute__((warn_unused_result));

/**
 * A linear buffer of size bytes, from abd_buf_alloc(). The content is not initialised.
 *
 * Units:   size in bytes, from 1 up. The memory is aligned to 64 bytes from 64 bytes up, to 4 KiB
 *          from 4 KiB up.
 * Returns: the buffer, or NULL with errno EINVAL (size 0) or ENOMEM.
 * Owner:   the caller, until abd_free().
 * Threads: any.
 * Source:  abd_alloc_linear() in module/zfs/abd.c.
 */
ABD_API abd_t *abd_alloc_linear(size_t size, bool is_metadata) __attribute__((warn_unused_result));

/**
 * abd_alloc_linear() in the caller's struct.
 *
 * Units:   size in bytes, from 1 up.
 * Returns: abd, or NULL with errno EINVAL (size 0) or ENOMEM and *abd unchanged.
 * Owner:   the struct is the caller's, the memory the buffer's, until abd_free().
 * Threads: any; *abd is written.
 * Source:  abd_alloc_linear_struct() in module/zfs/abd.c.
 */
ABD_API abd_t *abd_alloc_linear_struct(abd_t *abd, size_t size, bool is_metadata);

/**
 * An empty gang; see abd_gang_add().
 *
 * Units:   its size is 0 bytes.
 * Returns: the gang, or NULL with errno ENOMEM.
 * Owner:   the caller, until abd_free().
 * Threads: any.
 * Source:  abd_alloc_gang() in module/zfs/abd.c.
 */
ABD_API abd_t *abd_alloc_gang(void) __attribute__((warn_unused_result));

/**
 * An empty gang in the caller's struct.
 *
 * Units:   its size is 0 bytes.
 * Returns: abd; can't fail, allocates nothing.
 * Owner:   the struct is the caller's; the gang ends with abd_free().
 * Threads: any; *abd is written.
 * Source:  abd_alloc_gang_struct() in module/zfs/abd.c.
 */
ABD_API abd_t *abd_alloc_gang_struct(abd_t *abd);

/**
 * A buffer fit for direct I/O: as abd_alloc(), but every piece starts at a multiple of 4 KiB,
 * whatever the size. Only the linear memory of an engine's own pair (struct abd_allocator) may be
 * aligned to less.
 *
 * Units:   size in bytes, from 1 up.
 * Returns: the buffer, or NULL with errno EINVAL (size 0) or ENOMEM.
 * Owner:   the caller, until abd_free().
 * Threads: any.
 * Source:  abd_alloc_for_io() in module/os/linux/zfs/abd_os.c, which is abd_alloc().
 */
ABD_API abd_t *abd_alloc_for_io(size_t size, bool is_metadata) __attribute__((warn_unused_result));

/**
 * A buffer of size bytes with the kind and the metadata mark of sabd. If sabd is linear, so is the
 * new buffer. If sabd is a scatter buffer, a single-run one (linear_page) or a gang, the new buffer
 * is what abd_alloc() gives.
 *
 * Units:   size in bytes, from 1 up; need not be that of sabd.
 * Returns: the buffer, or NULL with errno EINVAL (size 0) or ENOMEM.
 * Owner:   the caller, until abd_free(); nothing of sabd is shared.
 * Threads: any; sabd is read.
 * Source:  abd_alloc_sametype() in module/zfs/abd.c.
 */
ABD_API abd_t *abd_alloc_sametype(abd_t *sabd, size_t size) __attribute__((warn_unused_result));

/**
 * Whether abd_alloc() of this size would make a linear buffer from abd_buf_alloc().
 *
 * Units:   size in bytes.
 * Returns: true below the tunable scatter_min_size, and always while scatter_enabled is 0.
 * Threads: any.
 * Source:  abd_size_alloc_linear() in module/os/linux/zfs/abd_os.c.
 */
ABD_API bool abd_size_alloc_linear(size_t size);

/**
 * Free a buffer of any kind, its data if it owns them, and the children that were added to it with
 * free_on_free.
 *
 * Contract: nobody uses it or borrows from it any more, and it is a member of no gang. Its
 *           views have been freed before (checked builds report it).
 * Returns:  nothing; NULL is ignored. A struct that belongs to the caller is left with size 0.
 * Owner:    the caller has no buffer any more.
 * Threads:  any; the buffer is written.
 * Source:   abd_free() in module/zfs/abd.c.
 */
ABD_API void abd_free(abd_t *abd);

/**
 * Give back to the system what the library keeps in reserve, in all threads. Where the system has
 * no membarrier(2), other threads give theirs back when they next allocate or free.
 *
 * Returns: nothing; can't fail.
 * Owner:   nothing that is in use changes hands.
 * Threads: any.
 * Source:  abd_cache_reap_now() in module/os/linux/zfs/abd_os.c, which is empty there.
 */
ABD_API void abd_cache_reap_now(void);

/* ---- views ----------------------------------------------------------------------------------- */

/**
 * A view of sabd from off to its end; see abd_get_offset_size().
 *
 * Units:    off in bytes.
 * Returns:  the view, or NULL with errno ENOMEM.
 * Contract: off lies before the end of sabd; sabd outlives the view.
 * Owner:    the caller; abd_free() ends the view only.
 * Threads:  any; sabd is read.
 * Source:   abd_get_offset() in module/zfs/abd.c.
 */
ABD_API abd_t *abd_get_offset(abd_t *sabd, size_t off) __attribute__((warn_unused_result));

/**
 * A view of size bytes of sabd from off; sabd may be of any kind. The view shares the memory and
 * the run table, so it costs the same for 2 chunks and for 4,096.
 *
 * Units:    off and size in bytes.
 * Returns:  the view, or NULL with errno ENOMEM.
 * Contract: size > 0, off + size within sabd; sabd outlives the view. A view of a gang has its own
 *           size, but nothing can be added to it.
 * Owner:    the caller; abd_free() ends the view only.
 * Threads:  any; sabd is read. Writing through the view is writing sabd.
 * Source:   abd_get_offset_size() in module/zfs/abd.c, abd_get_offset_scatter() in
 *           module/os/linux/zfs/abd_os.c.
 */
ABD_API abd_t *abd_get_offset_size(abd_t *sabd, size_t off, size_t size)
	__attribute__((warn_unused_result));

/**
 * abd_get_offset_size() in the caller's struct.
 *
 * Units:    off and size in bytes.
 * Returns:  abd; can't fail, allocates nothing.
 * Contract: as abd_get_offset_size(); abd is not sabd.
 * Owner:    the struct is the caller's; the view ends with abd_free().
 * Threads:  any; sabd is read, *abd written.
 * Source:   abd_get_offset_struct() in module/zfs/abd.c.
 */
ABD_API abd_t *abd_get_offset_struct(abd_t *abd, abd_t *sabd, size_t off, size_t size);

/**
 * abd_get_offset_size() of a buffer that may only be read, such as a cached one.
 *
 * Units:    off and size in bytes.
 * Returns:  the view, or NULL with errno ENOMEM.
 * Contract: as abd_get_offset_size().
 * Owner:    the caller; abd_free_const() ends the view only.
 * Threads:  any; sabd is read.
 * Source:   none in OpenZFS, where no abd_t is const.
 */
ABD_API const abd_t *abd_get_offset_const(const abd_t *sabd, size_t off, size_t size)
	__attribute__((warn_unused_result));

/**
 * Free a view made by abd_get_offset_const(), or a gang made by abd_from_pieces().
 *
 * Contract: view is a view or such a gang, and nobody uses it any more.
 * Returns:  nothing; NULL is ignored.
 * Owner:    the caller has no view any more; the viewed buffer is not touched.
 * Threads:  any.
 * Source:   none in OpenZFS, where no abd_t is const.
 */
ABD_API void abd_free_const(const abd_t *view);

/**
 * A buffer that reads as zero and can't be written.
 *
 * Units:   size in bytes, any from 1 up.
 * Returns: the buffer, or NULL with errno EINVAL (size 0) or ENOMEM.
 * Owner:   the caller, until abd_free(); it owns no data.
 * Threads: any.
 * Source:  abd_get_zeros() in module/zfs/abd.c; up to 16 MiB there.
 */
ABD_API abd_t *abd_get_zeros(size_t size) __attribute__((warn_unused_result));

/**
 * abd_get_zeros() in the caller's struct.
 *
 * Units:   size in bytes, any from 1 up.
 * Returns: abd, or NULL with errno EINVAL (size 0) or ENOMEM and *abd unchanged.
 * Owner:   the struct is the caller's; the buffer ends with abd_free().
 * Threads: any; *abd is written.
 * Source:  abd_get_zeros_struct() in module/zfs/abd.c.
 */
ABD_API abd_t *abd_get_zeros_struct(abd_t *abd, size_t size);

/**
 * A linear buffer over the caller's memory.
 *
 * Units:   size in bytes, from 1 up.
 * Returns: the buffer, or NULL with errno EINVAL (size 0) or ENOMEM.
 * Owner:   the buffer is the caller's, until abd_free(); the memory stays the caller's and must
 *          outlive it.
 * Threads: any.
 * Source:  abd_get_from_buf() in module/zfs/abd.c.
 */
ABD_API abd_t *abd_get_from_buf(void *buf, size_t size) __attribute__((warn_unused_result));

/**
 * abd_get_from_buf() in the caller's struct.
 *
 * Units:   size in bytes, from 1 up.
 * Returns: abd, or NULL with errno EINVAL (size 0) and *abd unchanged.
 * Owner:   struct and memory stay the caller's; the memory must outlive the buffer.
 * Threads: any; *abd is written.
 * Source:  abd_get_from_buf_struct() in module/zfs/abd.c.
 */
ABD_API abd_t *abd_get_from_buf_struct(abd_t *abd, void *buf, size_t size);

/**
 * Append a child to a gang. Gangs never nest: if cabd is a gang, its children are appended one by
 * one. Appending one child costs constant time on average.
 *
 * Contract: pabd is a gang, not a view of one, and not cabd. With free_on_free, cabd is in no gang
 *           yet.
 * Units:    the gang grows by abd_get_size(cabd) bytes.
 * Returns:  0, or -ENOMEM with both unchanged.
 * Owner:    with free_on_free the gang owns the child and frees it at its own end; a child gang is
 *           freed at once, and pabd takes over the children that it owned. Without free_on_free
 *           the child must outlive the gang; it may be in several gangs, and in one gang more than
 *           once.
 * Threads:  the gang is written. Several threads may add one child to several gangs at the same
 *           time, without free_on_free.
 * Source:   abd_gang_add(), abd_gang_add_gang() in module/zfs/abd.c.
 */
ABD_API int abd_gang_add(abd_t *pabd, abd_t *cabd, bool free_on_free);

/**
 * Append a copy of size bytes of buf to a gang. It goes behind what was appended last, if there is
 * room; else into a new member, which has room for a quarter of what the gang holds. So appending
 * costs what copying costs, however small the pieces are. To append a buffer without a copy, use
 * abd_gang_add() with free_on_free.
 *
 * Contract: abd is a gang, not a view of one.
 * Units:    size in bytes; 0 appends nothing.
 * Returns:  0, or -ENOMEM with the gang unchanged.
 * Owner:    buf stays the caller's; new members are the gang's.
 * Threads:  the gang is written, so its views must not be used meanwhile. Other gangs that have
 *           the same members may be read meanwhile. Views and those gangs keep their bytes.
 * Source:   none in OpenZFS; folly's IOBufQueue, Ceph's bufferlist.
 */
ABD_API int abd_append(abd_t *abd, const void *buf, size_t size)
	__attribute__((warn_unused_result));

/**
 * Put a copy of size bytes of buf in front of what a gang holds. Like
 * abd_append(), the call keeps spare room, but in front. The offsets of all bytes in the gang grow
 * by size.
 *
 * Contract: abd is a gang, not a view of one, and has no views.
 * Units:    size in bytes; 0 changes nothing.
 * Returns:  0, or -ENOMEM with the gang unchanged.
 * Owner:    buf stays the caller's; new members are the gang's.
 * Threads:  the gang is written.
 * Source:   none in OpenZFS; folly's IOBufQueue, Ceph's bufferlist.
 */
ABD_API int abd_prepend(abd_t *abd, const void *buf, size_t size)
	__attribute__((warn_unused_result));

/** Part of a buffer that is only read. */
struct abd_piece {
	const abd_t *abd;
	size_t off, size;
};

/**
 * A gang over parts of buffers that may only be read, such as cached records, one after another.
 * No byte is copied: a request over 16 records becomes one buffer, for one abd_pwrite() or
 * abd_to_iov(). Pieces of 0 bytes are skipped.
 *
 * Contract: each piece lies within its buffer. The buffers outlive the gang; a record stays held.
 * Units:    count in pieces, off and size in bytes.
 * Returns:  the gang, or NULL with errno EINVAL (no bytes, or more than SIZE_MAX) or ENOMEM.
 * Owner:    the caller; abd_free_const() ends the gang only.
 * Threads:  any; the buffers are read.
 * Source:   none in OpenZFS, where no abd_t is const.
 */
ABD_API const abd_t *abd_from_pieces(const struct abd_piece *pieces, size_t count)
	__attribute__((warn_unused_result));

/* ---- convert --------------------------------------------------------------------------------- */

/**
 * The memory of a linear buffer.
 *
 * Contract: abd_is_linear().
 * Units:    the memory is abd_get_size() bytes long.
 * Returns:  the address of the first byte.
 * Owner:    the owner of the memory does not change; the address is valid until the buffer ends.
 * Threads:  any; abd is read.
 * Source:   abd_to_buf() in module/zfs/abd.c.
 */
ABD_API void *abd_to_buf(abd_t *abd);

/**
 * abd_to_buf() for callers that only read.
 *
 * Contract: abd_is_linear().
 * Units:    the memory is abd_get_size() bytes long.
 * Returns:  the address of the first byte.
 * Owner:    the owner of the memory does not change; the address is valid until the buffer ends.
 * Threads:  any; abd is read.
 * Source:   none in OpenZFS, where no abd_t is const.
 */
ABD_API const void *abd_to_buf_const(const abd_t *abd);

/**
 * The first n bytes as one piece of memory. For a linear buffer this is its own memory, without a
 * copy. For other kinds it is memory from abd_buf_alloc(), whose content is not initialised.
 *
 * Contract: 0 < n <= abd_get_size(). The caller returns the memory once, with the same n, before
 *           the buffer ends.
 * Units:    n in bytes.
 * Returns:  the memory, or NULL with errno ENOMEM.
 * Owner:    the caller borrows, until abd_return_buf() or abd_return_buf_copy().
 * Threads:  any; abd is read. Writing to memory borrowed from a linear buffer writes the buffer.
 * Source:   abd_borrow_buf() in module/os/linux/zfs/abd_os.c.
 */
ABD_API void *abd_borrow_buf(abd_t *abd, size_t n) __attribute__((warn_unused_result));

/**
 * As abd_borrow_buf(); if the buffer is not linear, its content is copied into the memory.
 *
 * Contract: as abd_borrow_buf().
 * Units:    n in bytes.
 * Returns:  the memory, or NULL with errno ENOMEM.
 * Owner:    the caller borrows, until abd_return_buf() or abd_return_buf_copy().
 * Threads:  any; abd is read.
 * Source:   abd_borrow_buf_copy() in module/os/linux/zfs/abd_os.c.
 */
ABD_API void *abd_borrow_buf_copy(abd_t *abd, size_t n) __attribute__((warn_unused_result));

/**
 * abd_borrow_buf_copy() for callers that only read.
 *
 * Contract: 0 < n <= abd_get_size(). The caller returns the memory once, by abd_return_buf_const()
 *           and with the same n, before the buffer ends.
 * Units:    n in bytes.
 * Returns:  the memory, or NULL with errno ENOMEM.
 * Owner:    the caller borrows, until abd_return_buf_const().
 * Threads:  any; abd is read.
 * Source:   none in OpenZFS, where no abd_t is const.
 */
ABD_API const void *abd_borrow_buf_const(const abd_t *abd, size_t n)
	__attribute__((warn_unused_result));

/**
 * End a borrow of abd_borrow_buf_const().
 *
 * Contract: buf came from abd_borrow_buf_const() of n bytes of abd, and still equals abd's content.
 * Units:    n in bytes, as borrowed.
 * Returns:  nothing; can't fail.
 * Owner:    buf is no longer the caller's.
 * Threads:  any; abd is read.
 * Source:   none in OpenZFS, where no abd_t is const.
 */
ABD_API void abd_return_buf_const(const abd_t *abd, const void *buf, size_t n);

/**
 * End a borrow that was only read.
 *
 * Contract: buf came from a borrow of n bytes of abd, and equals abd's content (checked builds
 *           report a difference). So memory that abd_borrow_buf() gave for a buffer that is not
 *           linear must go back by abd_return_buf_copy().
 * Units:    n in bytes, as borrowed.
 * Returns:  nothing; can't fail.
 * Owner:    buf is no longer the caller's.
 * Threads:  any; abd is read.
 * Source:   abd_return_buf() in module/os/linux/zfs/abd_os.c.
 */
ABD_API void abd_return_buf(abd_t *abd, void *buf, size_t n);

/**
 * End a borrow and write its n bytes back into abd.
 *
 * Contract: buf came from a borrow of n bytes of abd.
 * Units:    n in bytes, as borrowed.
 * Returns:  nothing; can't fail.
 * Owner:    buf is no longer the caller's.
 * Threads:  abd is written.
 * Source:   abd_return_buf_copy() in module/os/linux/zfs/abd_os.c.
 */
ABD_API void abd_return_buf_copy(abd_t *abd, void *buf, size_t n);

/**
 * Make a buffer from abd_get_from_buf() own its memory.
 *
 * Contract: abd is linear, does not own its memory, is no view, and has no callback. The memory
 *           came from abd_buf_alloc() of the buffer's size, with the same is_metadata.
 * Returns:  nothing; can't fail.
 * Owner:    the memory is the buffer's from now on, and freed with it.
 * Threads:  abd is written.
 * Source:   abd_take_ownership_of_buf() in module/zfs/abd.c.
 */
ABD_API void abd_take_ownership_of_buf(abd_t *abd, bool is_metadata);

/**
 * Make a linear buffer give up its memory.
 *
 * Contract: abd is linear, owns its memory, and is not linear_page (a run does not come from
 *           abd_buf_alloc()).
 * Returns:  nothing; can't fail.
 * Owner:    the memory is the caller's, who frees it with abd_buf_free(buf, abd_get_size()) after
 *           freeing the buffer.
 * Threads:  abd is written.
 * Source:   abd_release_ownership_of_buf() in module/zfs/abd.c.
 */
ABD_API void abd_release_ownership_of_buf(abd_t *abd);

/* ---- ask ------------------------------------------------------------------------------------- */

/** Whether the data is one piece of memory. True for single-run scatter buffers and for views
 * within one run, too. */
static inline bool abd_is_linear(const abd_t *abd)
{
	return (abd->abd_flags & ABD_FLAG_LINEAR) != 0;
}

/** Whether it is linear because it owns a single run; false for views of it. */
static inline bool abd_is_linear_page(const abd_t *abd)
{
	return (abd->abd_flags & ABD_FLAG_LINEAR_PAGE) != 0;
}

/** Whether it is made of pages that belong to somebody else: false in userspace. */
static inline bool abd_is_from_pages(const abd_t *abd)
{
	return (abd->abd_flags & ABD_FLAG_FROM_PAGES) != 0;
}

/** Whether it came from abd_get_zeros(), or is a view of such a buffer. False for a gang, even of
 * zeros. */
static inline bool abd_is_zeros(const abd_t *abd)
{
	return abd->abd_zeros != 0;
}

/** Whether it is made of other buffers. */
static inline bool abd_is_gang(const abd_t *abd)
{
	return (abd->abd_flags & ABD_FLAG_GANG) != 0;
}

/** Bytes in the buffer. */
static inline size_t abd_get_size(const abd_t *abd)
{
	return abd->abd_size;
}

/* ---- memory, start-up, contracts ------------------------------------------------------------- */

/**
 * Memory of the kind that linear buffers use. The content is not initialised.
 *
 * Units:   size in bytes, from 1 up; aligned to 64 bytes from 64 bytes up, to 4 KiB from 4 KiB up.
 * Returns: the memory, or NULL with errno EINVAL (size 0) or ENOMEM.
 * Owner:   the caller, until abd_buf_free() or abd_take_ownership_of_buf().
 * Threads: any.
 * Source:  zio_buf_alloc(), zio_data_buf_alloc() in module/zfs/zio.c.
 */
ABD_API void *abd_buf_alloc(size_t size, bool is_metadata) __attribute__((warn_unused_result));

/**
 * Give back memory of abd_buf_alloc(). An engine's own free function (abd_allocator_set()) gets
 * is_metadata false.
 *
 * Contract: nothing refers to it any more.
 * Units:    size in bytes, as allocated. If it comes from abd_get_size(), read it before
 *           abd_free().
 * Returns:  nothing; NULL is ignored.
 * Owner:    buf is no longer the caller's.
 * Threads:  any.
 * Source:   zio_data_buf_free() in module/zfs/zio.c.
 */
ABD_API void abd_buf_free(void *buf, size_t size);

/**
 * abd_buf_free() that passes is_metadata to an engine's own free function (abd_allocator_set()).
 * Without one, is_metadata makes no difference.
 *
 * Contract: as abd_buf_free(); is_metadata as for abd_buf_alloc().
 * Units:    size in bytes, as allocated.
 * Returns:  nothing; NULL is ignored.
 * Owner:    buf is no longer the caller's.
 * Threads:  any.
 * Source:   zio_buf_free(), zio_data_buf_free() in module/zfs/zio.c.
 */
ABD_API void abd_buf_free_marked(void *buf, size_t size, bool is_metadata);

/**
 * An engine's pair of functions: linear buffers, abd_buf_alloc(), and borrows that need a copy get
 * their memory from it. Such borrows are metadata, as in OpenZFS. Both functions get arg.
 *
 * alloc returns size bytes at a multiple of alignment (16, 64 from 64 bytes up, 4096 from 4 KiB
 * up), or NULL if it has no memory. Instead of 4096, a multiple of 512 will do: OpenZFS's
 * zio_buf_alloc() aligns 4608 to 6144 bytes to 2048. Direct I/O (O_DIRECT) with such memory works
 * on devices with sectors of 512 bytes, and fails with EINVAL on others. abd_is_aligned() (io.h)
 * says whether a buffer is aligned. Bytes of one that is not have to go through a scatter buffer,
 * whose runs do not come from the pair.
 *
 * free gets back what alloc returned, with the same size and is_metadata. For memory that a buffer
 * took over (abd_take_ownership_of_buf()), is_metadata is what was given to that call.
 */
struct abd_allocator {
	void *(*alloc)(size_t size, size_t alignment, bool is_metadata, void *arg);
	void (*free)(void *buf, size_t size, bool is_metadata, void *arg);
	void *arg;
};

/**
 * Make abd_buf_alloc() and abd_buf_free() call the engine's own pair of functions. This can be done
 * once, before the first such memory has been handed out. Runs of scatter buffers do not come from
 * this pair, so scatter buffers may exist before.
 *
 * Contract: alloc's memory is aligned as struct abd_allocator says; if not, the program stops at
 *           once.
 * Returns:  0; -EBUSY when a pair was set before, or linear memory has been handed out already;
 *           -EINVAL when a function is missing.
 * Owner:    *allocator is copied; what arg points to stays the caller's, and must outlive all
 *           buffers.
 * Threads:  any; both functions are called by any thread.
 * Source:   OpenZFS's caches are built in: zio_buf_alloc() in module/zfs/zio.c.
 */
ABD_API int abd_allocator_set(const struct abd_allocator *allocator);

/**
 * Set what happens after a broken contract has been reported on stderr. handler gets the printed
 * line and must not return (it may exit, throw or longjmp); if it does return, the process aborts.
 * NULL, the default: abort at once.
 *
 * Returns: nothing; can't fail.
 * Owner:   the line is the library's, and is valid only during the call of handler.
 * Threads: any; handler is called in the thread that broke the contract.
 * Source:  VERIFY() and panic() play this part in OpenZFS.
 */
ABD_API void abd_contract_handler_set(void (*handler)(const char *message));

/**
 * Optional: do the start-up now that the first call would do.
 *
 * Returns: nothing; can't fail.
 * Threads: any, any number of times.
 * Source:  abd_init() in module/os/linux/zfs/abd_os.c, which must be called there.
 */
ABD_API void abd_init(void);

/**
 * Optional, at the end of a program: abd_cache_reap_now(). All calls still work afterwards.
 *
 * Returns: nothing; can't fail.
 * Owner:   nothing that is in use changes hands.
 * Threads: any, any number of times.
 * Source:  abd_fini() in module/os/linux/zfs/abd_os.c, after which nothing works there.
 */
ABD_API void abd_fini(void);

ABD_END_DECLS

#endif
