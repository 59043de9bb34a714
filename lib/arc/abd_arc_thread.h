/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread has for all caches: one block, whatever number of caches and shards there is.
 *
 *   thread's block
 *   +----------------------------------------------------+
 *   | slots   | reads: 16        | holds: 48             |   what this thread reads and holds
 *   | seats   | shard, counts    | shard, counts   | ... |   64; a shard has the same seat in all
 *   | notes   | hit | hit | hit | ...                    |   512 hits that no policy knows of yet
 *   +----------------------------------------------------+
 *
 * Two shards may have the same seat. Who comes takes it: the counts of the one before are added to
 * those of its shard, and its noted hits are reported or dropped. So counts are never lost.
 *
 * A read that is left by a jump, because its destination can't be written, still holds its record.
 * Its thread's next read drops that: what stands in the slots of reads when one begins is left from
 * such a read, unless a callback of the engine's runs, which may be in a read.
 *
 * Only its own thread writes a block, with these exceptions: any thread may clear a slot of a hold;
 * a cache that ends clears its seats, and what reads that were left hold there.
 * Other threads read slots and counts, under the registry's lock.
 *
 * When a thread ends, its block is freed. If some slot still holds a record, the block waits for
 * the next new thread, which takes it over with those holds.
 *
 * Invariants: while a thread has the registry's lock, what it reads from a slot is not freed
 * (abd_arc_hold.h). The registry's lock comes before all locks of caches: no thread takes it while
 * it has one of those.
 */
#ifndef ABD_ARC_THREAD_H
#define ABD_ARC_THREAD_H

#include "abd_arc_impl.h"
#include "abd_arc_rcu.h"

#define ABD_ARC_SLOTS 64
/** The first slots are those of reads. No other call uses them, and none is used between reads. */
#define ABD_ARC_SLOTS_READ 16
#define ABD_ARC_SEATS 64
#define ABD_ARC_NOTES 512

struct abd_arc_hold_slot {
	struct abd_arc_entry *_Atomic entry; /* NULL: the slot is free */
	struct abd_arc *arc;                 /* the shard of entry */
};

/** What is unusual about the reads of a thread. */
enum abd_arc_reading {
	/* a callback of the engine's runs, perhaps in a read: if it reads, it holds */
	ABD_ARC_READING_CALLBACK = 1 << 0,
	ABD_ARC_READING_BATCH = 1 << 1,   /* of slots, not the first alone is used */
	ABD_ARC_READING_COUNTED = 1 << 2, /* one is counted in its record, which was evicted */
	ABD_ARC_READING_RUNS = 1 << 3,    /* the decoder may call the engine's allocator */
};

struct abd_arc_seat {
	struct abd_arc *_Atomic arc; /* NULL: nobody's */
	_Atomic int64_t count[ABD_ARC_COUNTS];
	uint64_t slab_frees; /* frees of the store when the first of the noted hits was noted */
	uint16_t noted;      /* hits of this shard in notes */
	uint16_t last;       /* the last of them */
	uint32_t patience;   /* the lock was busy: how many hits to drop before trying it again */
};

struct abd_arc_thread {
	struct abd_arc_hold_slot slot[ABD_ARC_SLOTS];
	struct abd_arc_hold_slot *next_slot; /* where a free one is looked for first */
	struct urcu_bp_reader *rcu;          /* the thread's entry */
	pthread_t self;
	struct abd_arc_hold_slot counted; /* what a read counts, which looks do not see */
	/* ends that count if the read was left. Under the registry's lock */
	void (*forsake)(struct abd_arc_entry *counted);
	unsigned reading; /* of enum abd_arc_reading */
	bool idle;        /* its thread has ended. Under the registry's lock */
	uint16_t notes;   /* used of note[] */
	uint16_t noted;   /* those of them that are some seat's */
	struct abd_arc_entry *note[ABD_ARC_NOTES];
	uint16_t before[ABD_ARC_NOTES]; /* the note of the same seat before this one */
	_Alignas(64) struct abd_arc_seat seat[ABD_ARC_SEATS];
	struct abd_arc_thread *next;
};

static_assert(sizeof(struct abd_arc_seat) == 64 || sizeof(void *) != 8, "a cache line");
static_assert(sizeof(struct abd_arc_thread) <= 16384, "arc.h: what a thread takes");
static_assert(ABD_ARC_HIT_BATCH_MAX <= ABD_ARC_NOTES, "a batch of one shard can be noted");

/** This thread's block, or NULL: it has none yet. */
extern _Thread_local struct abd_arc_thread *abd_arc_thread_self
	__attribute__((visibility("hidden")));

/** Say whether a callback runs now, and return whether one did. */
static inline bool abd_arc_callback_set(bool runs)
{
	struct abd_arc_thread *thread = abd_arc_thread_self;

	if (thread == NULL)
		return false;
	bool was = (thread->reading & ABD_ARC_READING_CALLBACK) != 0;

	thread->reading &= ~(unsigned)ABD_ARC_READING_CALLBACK;
	thread->reading |= runs ? ABD_ARC_READING_CALLBACK : 0;
	return was;
}

/** Make a block for this thread. NULL: no memory, or the thread is about to end. */
struct abd_arc_thread *abd_arc_thread_start(void);
/** Take the seat that this shard uses from another one. Outside of sections and locks. */
void abd_arc_seat_take(struct abd_arc_thread *thread, struct abd_arc *arc);

/** Enter a cache that begins in the registry; take one that ends out of it. */
void abd_arc_thread_open(struct abd_arc *first);
/** End reads of a cache that never returned. Nothing is read in it now. */
void abd_arc_thread_end_reads(struct abd_arc *first);
/** Whether a read of this thread may be under way that called the engine. */
bool abd_arc_thread_is_nested(const struct abd_arc_thread *thread);
/**
 * A read begins: whether it has the slots of reads. What they hold is dropped then, at the latest
 * when they are filled. Outside of sections and locks.
 */
bool abd_arc_thread_reads(struct abd_arc_thread *thread);

void abd_arc_thread_close(struct abd_arc *first);
/** What all threads have counted for this shard. Outside of locks. */
void abd_arc_thread_counts(struct abd_arc *arc, int64_t count[ABD_ARC_COUNTS]);
/** Bytes of all blocks. */
size_t abd_arc_thread_bytes(void);

/** The registry's lock. */
void abd_arc_thread_lock(void);
void abd_arc_thread_unlock(void);
/** Call visit for what each slot holds. Under the registry's lock. */
void abd_arc_thread_visit(void (*visit)(struct abd_arc_entry *entry, void *arg), void *arg);

/** Report the noted hits of a shard to its policy. Under its lock. */
void abd_arc_thread_report(struct abd_arc_thread *thread, struct abd_arc *arc);
void abd_arc_thread_settle_slow(struct abd_arc_thread *thread, struct abd_arc *arc);

/** Begin a section. thread may be NULL. Returns what ends it. */
static inline struct urcu_bp_reader *abd_arc_thread_section(const struct abd_arc_thread *thread)
{
	return abd_arc_rcu_begin(
		thread != NULL ? thread->rcu : NULL, thread != NULL ? thread->self : 0);
}

static inline struct abd_arc_seat *abd_arc_seat_of(
	struct abd_arc_thread *thread, const struct abd_arc *arc)
{
	return &thread->seat[arc->seat];
}

static inline bool abd_arc_seat_is_of(const struct abd_arc_seat *seat, const struct abd_arc *arc)
{
	return ABD_LIKELY(atomic_load_explicit(&seat->arc, memory_order_relaxed) == arc);
}

/**
 * This thread's block, with a seat for the shard; NULL: no memory. Outside of sections and locks.
 */
static inline struct abd_arc_thread *abd_arc_thread_enter(struct abd_arc *arc)
{
	struct abd_arc_thread *thread = abd_arc_thread_self;

	if (ABD_UNLIKELY(thread == NULL)) {
		thread = abd_arc_thread_start();
		if (thread == NULL)
			return NULL;
	}
	if (ABD_UNLIKELY(!abd_arc_seat_is_of(abd_arc_seat_of(thread, arc), arc)))
		abd_arc_seat_take(thread, arc);
	return thread;
}

/** Only the seat's own thread does this. */
static inline void abd_arc_seat_add(
	struct abd_arc_seat *seat, enum abd_arc_count which, int64_t add)
{
	int64_t value = atomic_load_explicit(&seat->count[which], memory_order_relaxed);

	atomic_store_explicit(&seat->count[which], value + add, memory_order_relaxed);
}

/** Add to a count of this shard: in the thread's seat, or without one in the shard. */
static inline void abd_arc_count_add(
	struct abd_arc *arc, struct abd_arc_thread *thread, enum abd_arc_count which, int64_t add)
{
	if (ABD_LIKELY(thread != NULL) && abd_arc_seat_is_of(abd_arc_seat_of(thread, arc), arc))
		abd_arc_seat_add(abd_arc_seat_of(thread, arc), which, add);
	else
		atomic_fetch_add_explicit(&arc->count[which], add, memory_order_relaxed);
}

static inline void abd_arc_count(
	struct abd_arc *arc, struct abd_arc_thread *thread, enum abd_arc_count which)
{
	abd_arc_count_add(arc, thread, which, 1);
}

/** Note a hit of an entry that this thread holds. */
static inline void abd_arc_thread_note(
	struct abd_arc *arc, struct abd_arc_thread *thread, struct abd_arc_entry *entry)
{
	struct abd_arc_seat *seat = abd_arc_seat_of(thread, arc);

	if (!abd_arc_policy_wants(&arc->policy, &entry->item))
		return;
	if (ABD_UNLIKELY(seat->noted == arc->hit_batch || thread->notes == ABD_ARC_NOTES ||
			 !abd_arc_seat_is_of(seat, arc))) {
		abd_arc_count(arc, thread, ABD_ARC_COUNT_DROPPED);
		seat->patience -= seat->patience > 0;
		return;
	}
	if (seat->noted == 0)
		seat->slab_frees = atomic_load_explicit(&arc->store.frees, memory_order_acquire);
	thread->note[thread->notes] = entry;
	thread->before[thread->notes] = seat->last;
	seat->last = thread->notes++;
	seat->noted++;
	thread->noted++;
}

/** Report noted hits, if there are enough of them. Outside of sections and locks. */
static inline void abd_arc_thread_settle(struct abd_arc_thread *thread, struct abd_arc *arc)
{
	const struct abd_arc_seat *seat = abd_arc_seat_of(thread, arc);

	if (ABD_UNLIKELY(seat->noted == arc->hit_batch || thread->notes == ABD_ARC_NOTES) &&
		seat->patience == 0)
		abd_arc_thread_settle_slow(thread, arc);
}

#endif
