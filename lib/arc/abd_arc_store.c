/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slabs come from the provider directly, without reserves that the cache could not count.
 */
#include "abd_arc_store.h"
#include "abd_chunk.h"

#include <assert.h>
#include <string.h>

#define ABD_ARC_STORE_STEP ((size_t)16)
/*
 * A slab has 18 slots or more, so a slot is at most a 17th larger than what lies in it. (With 20 or
 * 22 mixes of sizes waste as much at 64 MiB, and more at 16.) A slab of 64 KiB may have 16 slots:
 * in caches without larger slabs, fewer records then take a page of their own.
 */
#define ABD_ARC_STORE_SLOTS ((size_t)18)
#define ABD_ARC_STORE_SOME_SLOTS ((size_t)16)
/* The smallest slabs: a page, and in larger caches up to 16 KiB. The largest slabs. */
#define ABD_ARC_STORE_SMALL ((size_t)16 << 10)
#define ABD_ARC_STORE_LARGE ((size_t)256 << 10)
/*
 * The smallest and the largest slabs have at most these parts of the capacity, because each class
 * in use has a slab that is partly empty. (With a 512th instead of a 1,024th, records of 64 bytes
 * to 8 KiB waste 5.9 % at 64 MiB instead of 4.6.) Slabs of 64 KiB may have a larger part: a record
 * that is too large for their slots is split, and its rest, up to a page, needs a slot. (At 4 MiB
 * records of 1,600 to 4,000 bytes then waste 12 % instead of 31; at 2 MiB as much as before.)
 */
#define ABD_ARC_STORE_SMALL_PART 1024
#define ABD_ARC_STORE_LARGE_PART 1024
#define ABD_ARC_STORE_SOME_PART 64
#define ABD_ARC_STORE_SOME ((size_t)64 << 10)
/*
 * A free slot also serves records whose own slots are smaller, by a twelfth at most or by one
 * class.
 */
#define ABD_ARC_STORE_NEAR 12
/*
 * If more than an eighth (MUCH) of the slabs is free slots, records are moved to slots of up to
 * twice their size (FAR). With a 16th instead of an eighth, 0.26 records are moved for each put at
 * 64 MiB instead of 0.03, to save 1 % of the memory.
 */
#define ABD_ARC_STORE_MUCH 8
#define ABD_ARC_STORE_FAR 1

/* A slab's head lies at its end, so that it goes back with the slab. */
struct abd_arc_store_slab {
	struct abd_arc_store_slab *next, **link; /* in its list; link is NULL on none */
	struct abd_arc_store *store;
	struct abd_arc_entry *free; /* free slots; each entry's key begins with the next one */
	uint16_t class, slots;
	uint16_t used, carved; /* slots from carved on were never used */
	uint8_t fill;
	bool stuck; /* it was drained, but some of its records could not be moved */
};

/* Bytes of a slab that are for slots. */
static size_t abd_arc_store_room(size_t slab_size)
{
	return slab_size - sizeof(struct abd_arc_store_slab);
}

static void abd_arc_store_add(struct abd_arc_store *store, size_t slot_size, size_t slab_size)
{
	size_t last = store->class_count > 0 ? store->class[store->class_count - 1].slot_size : 0;
	bool lines = slot_size >= sizeof(struct abd_arc_entry) + ABD_ARC_LINES_MIN;

	slot_size &= ~((lines ? (size_t)64 : ABD_ARC_STORE_STEP) - 1);
	if (slot_size <= last)
		return;
	assert(store->class_count < ABD_ARC_STORE_CLASSES);
	store->class[store->class_count++] = (struct abd_arc_store_class){
		.slot_size = (uint32_t)slot_size, .slab_size = (uint32_t)slab_size};
}

/* The largest slab, a power of two times the least, that is no more than bytes and most. */
static size_t abd_arc_store_slab_for(size_t bytes, size_t least, size_t most)
{
	size_t slab = least;

	while (slab < most && 2 * slab <= bytes)
		slab *= 2;
	return slab;
}

void abd_arc_store_init(struct abd_arc_store *store, size_t capacity)
{
	size_t slab = abd_arc_store_slab_for(
		capacity / ABD_ARC_STORE_SMALL_PART, ABD_CHUNK_SIZE, ABD_ARC_STORE_SMALL);
	size_t step = abd_round_up(sizeof(struct abd_arc_entry), ABD_ARC_STORE_STEP);

	memset(store, 0, sizeof(*store));
	store->provider = abd_chunk_provider_now();
	store->slab_min = slab;
	abd_arc_store_resize(store, capacity);
	for (; step < abd_arc_store_room(slab) / (2 * ABD_ARC_STORE_SLOTS);
		step += ABD_ARC_STORE_STEP)
		abd_arc_store_add(store, step, slab);
	for (; slab <= ABD_ARC_STORE_LARGE; slab *= 2) {
		size_t least =
			slab == ABD_ARC_STORE_SOME ? ABD_ARC_STORE_SOME_SLOTS : ABD_ARC_STORE_SLOTS;

		for (size_t n = 2 * ABD_ARC_STORE_SLOTS - 1; n >= least; n--)
			if (abd_arc_store_room(slab) / n >= step)
				abd_arc_store_add(store, abd_arc_store_room(slab) / n, slab);
	}
}

void abd_arc_store_resize(struct abd_arc_store *store, size_t capacity)
{
	bool large = capacity / ABD_ARC_STORE_SOME_PART >= ABD_ARC_STORE_SOME;
	size_t some = large ? ABD_ARC_STORE_SOME : capacity / (2 * ABD_ARC_STORE_SOME_PART);
	size_t part = capacity / ABD_ARC_STORE_LARGE_PART;

	store->slab_max = abd_arc_store_slab_for(
		part > some ? part : some, store->slab_min, ABD_ARC_STORE_LARGE);
}

/* The number of the first class with slots of so many bytes; class_count: there is none. */
static unsigned abd_arc_store_fit(const struct abd_arc_store *store, size_t size)
{
	unsigned low = 0, high = store->class_count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (store->class[middle].slot_size < size)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int abd_arc_store_class(const struct abd_arc_store *store, size_t size)
{
	unsigned number = abd_arc_store_fit(store, size);

	if (number == store->class_count || store->class[number].slab_size > store->slab_max)
		return -1;
	return (int)number;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static uint8_t abd_arc_store_fill(const struct abd_arc_store_slab *slab)
{
	return (uint8_t)(slab->used * (ABD_ARC_STORE_FILLS - 1u) / slab->slots);
}

static void abd_arc_store_list(struct abd_arc_store_class *class, struct abd_arc_store_slab *slab)
{
	slab->fill = abd_arc_store_fill(slab);
	slab->link = &class->fill[slab->fill];
	slab->next = *slab->link;
	if (slab->next != NULL)
		slab->next->link = &slab->next;
	*slab->link = slab;
}

static void abd_arc_store_unlist(struct abd_arc_store_slab *slab)
{
	*slab->link = slab->next;
	if (slab->next != NULL)
		slab->next->link = slab->link;
	slab->link = NULL;
}

/* A slot was taken or freed. */
static void abd_arc_store_changed(
	struct abd_arc_store_class *class, struct abd_arc_store_slab *slab)
{
	if (slab->link == NULL || slab->fill == abd_arc_store_fill(slab))
		return;
	abd_arc_store_unlist(slab);
	abd_arc_store_list(class, slab);
}

/* ---- slabs ----------------------------------------------------------------------------------- */

static unsigned abd_arc_store_order(const struct abd_arc_store_class *class)
{
	return abd_log2(class->slab_size >> ABD_CHUNK_SHIFT);
}

/* Where a slab's slots begin. */
static char *abd_arc_store_base(const struct abd_arc_store *store, struct abd_arc_store_slab *slab)
{
	return (char *)slab - abd_arc_store_room(store->class[slab->class].slab_size);
}

static struct abd_arc_store_slab *abd_arc_store_grow(struct abd_arc_store *store, int number)
{
	struct abd_arc_store_class *class = &store->class[number];
	char *base = abd_chunk_alloc_direct(store->provider, abd_arc_store_order(class));

	if (base == NULL)
		return NULL;

	size_t room = abd_arc_store_room(class->slab_size);
	struct abd_arc_store_slab *slab = (void *)(base + room);

	*slab = (struct abd_arc_store_slab){.store = store,
		.class = (uint16_t)number,
		.slots = (uint16_t)(room / class->slot_size)};
	abd_asan_poison(base, room);
	abd_arc_store_list(class, slab);
	class->free_slots += slab->slots;
	store->bytes += class->slab_size;
	return slab;
}

static void abd_arc_store_end(struct abd_arc_store *store, struct abd_arc_store_slab *slab)
{
	struct abd_arc_store_class *class = &store->class[slab->class];
	char *base = abd_arc_store_base(store, slab);

	if (slab->link != NULL) {
		abd_arc_store_unlist(slab);
		class->free_slots -= slab->slots;
	}
	abd_asan_unpoison(base, class->slab_size);
	abd_chunk_free_direct(store->provider, base, abd_arc_store_order(class));
	store->bytes -= class->slab_size;
	atomic_fetch_add_explicit(&store->frees, 1, memory_order_release);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static struct abd_arc_store_slab *abd_arc_store_home(const struct abd_arc_entry *entry)
{
	return entry->own.abd_u.abd_linear.abd_home;
}

/* The entry in a slot that may be free. */
static struct abd_arc_entry *abd_arc_store_slot(
	const struct abd_arc_store *store, struct abd_arc_store_slab *slab, unsigned i)
{
	char *base = abd_arc_store_base(store, slab);

	return (struct abd_arc_entry *)(void *)(base +
						(size_t)i * store->class[slab->class].slot_size);
}

struct abd_arc_store *abd_arc_store_of(const struct abd_arc_entry *entry)
{
	return abd_arc_store_home(entry)->store;
}

size_t abd_arc_store_bytes_of(const struct abd_arc_store *store, const struct abd_arc_entry *entry)
{
	return store->class[abd_arc_store_home(entry)->class].slot_size;
}

/* A slot that was never used. From now on its stamp may be read at any time. */
static struct abd_arc_entry *abd_arc_store_carve(
	const struct abd_arc_store *store, struct abd_arc_store_slab *slab)
{
	struct abd_arc_entry *entry = abd_arc_store_slot(store, slab, slab->carved++);

	abd_asan_unpoison(entry, sizeof(*entry));
	atomic_init(&entry->item.stamp, 0);
	return entry;
}

/* The fullest slab with a free slot; NULL: there is none. */
static struct abd_arc_store_slab *abd_arc_store_fullest(const struct abd_arc_store_class *class)
{
	for (unsigned full = ABD_ARC_STORE_FILLS - 1; full > 0; full--)
		if (class->fill[full - 1] != NULL)
			return class->fill[full - 1];
	return NULL;
}

/*
 * The first class behind this one whose free slots don't serve its records. Slots that are larger
 * by at most this part serve, and those of the next class. Part 0: only its own slots serve.
 */
static unsigned abd_arc_store_reach(
	const struct abd_arc_store *store, unsigned number, unsigned part)
{
	if (part == 0)
		return number + 1;

	size_t most = store->class[number].slot_size / part * (part + 1);
	unsigned end = abd_arc_store_fit(store, most + 1);

	return (unsigned)abd_min(end > number + 2 ? end : number + 2, store->class_count);
}

/* The first class with a free slot that serves records of class number; number: there is none. */
static unsigned abd_arc_store_helper(
	const struct abd_arc_store *store, unsigned number, unsigned part)
{
	unsigned end = abd_arc_store_reach(store, number, part);

	for (unsigned i = number; i < end; i++)
		if (store->class[i].free_slots > 0)
			return i;
	return number;
}

int abd_arc_store_near(const struct abd_arc_store *store, int number)
{
	if (ABD_LIKELY(store->class[number].free_slots > 0))
		return number;
	return (int)abd_arc_store_helper(store, (unsigned)number, ABD_ARC_STORE_NEAR);
}

size_t abd_arc_store_next_bytes(const struct abd_arc_store *store, int number)
{
	const struct abd_arc_store_class *class = &store->class[number];

	return class->free_slots > 0 ? 0 : class->slab_size;
}

struct abd_arc_entry *abd_arc_store_alloc(struct abd_arc_store *store, int number, bool grow)
{
	struct abd_arc_store_class *class = &store->class[number];
	struct abd_arc_store_slab *slab = abd_arc_store_fullest(class);

	if (slab == NULL && grow)
		slab = abd_arc_store_grow(store, number);
	if (slab == NULL)
		return NULL;

	struct abd_arc_entry *entry = slab->free;

	if (entry != NULL)
		memcpy(&slab->free, &entry->key, sizeof(slab->free));
	else
		entry = abd_arc_store_carve(store, slab);
	abd_asan_unpoison(entry, class->slot_size);
	entry->own.abd_u.abd_linear.abd_home = slab;
	slab->used++;
	class->free_slots--;
	abd_arc_store_changed(class, slab);
	return entry;
}

void abd_arc_store_free(struct abd_arc_store *store, struct abd_arc_entry *entry)
{
	struct abd_arc_store_slab *slab = abd_arc_store_home(entry);
	struct abd_arc_store_class *class = &store->class[slab->class];

	atomic_store_explicit(&entry->item.stamp, 0, memory_order_relaxed);
	memcpy(&entry->key, &slab->free, sizeof(slab->free));
	slab->free = entry;
	abd_asan_poison(entry + 1, class->slot_size - sizeof(*entry));
	slab->used--;
	slab->stuck = false;
	class->free_slots += slab->link != NULL;
	if (slab->used == 0)
		abd_arc_store_end(store, slab);
	else
		abd_arc_store_changed(class, slab);
}

/* ---- compaction ------------------------------------------------------------------------------ */

/* How many slabs of a list that could not be emptied are passed over. */
#define ABD_ARC_STORE_STUCK 4

/* The emptiest slab of a class; NULL: none is worth its copies. */
static struct abd_arc_store_slab *abd_arc_store_emptiest(const struct abd_arc_store_class *class)
{
	for (unsigned fill = 0; fill < ABD_ARC_STORE_FILLS - 2; fill++) {
		struct abd_arc_store_slab *slab = class->fill[fill];

		for (unsigned i = 0; i < ABD_ARC_STORE_STUCK && slab != NULL && slab->stuck; i++)
			slab = slab->next;
		if (slab != NULL && !slab->stuck)
			return slab;
	}
	return NULL;
}

/* How many records of this class free slots could take. */
static size_t abd_arc_store_free_slots(
	const struct abd_arc_store *store, unsigned number, unsigned part)
{
	unsigned end = abd_arc_store_reach(store, number, part);
	size_t count = 0;

	for (unsigned i = number; i < end; i++)
		count += store->class[i].free_slots;
	return count;
}

/* How much larger a slot may be that a record is moved to: not at all, if few slots are free. */
static unsigned abd_arc_store_part(const struct abd_arc_store *store)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < store->class_count; i++)
		bytes += store->class[i].free_slots * store->class[i].slot_size;
	return bytes > store->bytes / ABD_ARC_STORE_MUCH ? ABD_ARC_STORE_FAR : 0;
}

struct abd_arc_store_slab *abd_arc_store_drain(struct abd_arc_store *store)
{
	struct abd_arc_store_slab *best = NULL;
	unsigned part = abd_arc_store_part(store);

	for (unsigned i = 0; i < store->class_count; i++) {
		struct abd_arc_store_slab *slab = abd_arc_store_emptiest(&store->class[i]);

		/* Its own free slots are among those of the class. */
		if (slab != NULL && (best == NULL || slab->fill < best->fill) &&
			abd_arc_store_free_slots(store, i, part) >= slab->slots)
			best = slab;
	}
	if (best == NULL)
		return NULL;
	abd_arc_store_unlist(best);
	store->class[best->class].free_slots -= (size_t)(best->slots - best->used);
	return best;
}

struct abd_arc_entry *abd_arc_store_live(
	const struct abd_arc_store *store, struct abd_arc_store_slab *slab, unsigned *slot)
{
	while (*slot < slab->carved) {
		struct abd_arc_entry *entry = abd_arc_store_slot(store, slab, (*slot)++);

		uint64_t stamp = abd_arc_item_stamp(&entry->item);

		if (stamp > ABD_ARC_STAMP_MARK && stamp < ABD_ARC_STAMP_RETIRED)
			return entry;
	}
	return NULL;
}

size_t abd_arc_store_slab_size(
	const struct abd_arc_store *store, const struct abd_arc_store_slab *slab)
{
	return store->class[slab->class].slab_size;
}

struct abd_arc_entry *abd_arc_store_alloc_beside(
	struct abd_arc_store *store, const struct abd_arc_entry *entry, size_t size)
{
	unsigned own = abd_arc_store_home(entry)->class;
	unsigned number =
		abd_arc_store_helper(store, abd_arc_store_fit(store, size), ABD_ARC_STORE_NEAR);

	if (store->class[number].free_slots == 0)
		number = abd_arc_store_helper(store, own, ABD_ARC_STORE_FAR);
	return abd_arc_store_alloc(store, (int)number, false);
}

void abd_arc_store_keep(struct abd_arc_store *store, const struct abd_arc_entry *entry)
{
	struct abd_arc_store_slab *slab = abd_arc_store_home(entry);
	struct abd_arc_store_class *class = &store->class[slab->class];

	if (slab->link != NULL)
		return;
	slab->stuck = true;
	class->free_slots += (size_t)(slab->slots - slab->used);
	abd_arc_store_list(class, slab);
}
