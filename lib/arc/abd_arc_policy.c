/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The four lists, and p.
 * Source: Megiddo and Modha, FAST 2003, figure 4; the cases are named as there.
 */
#include "abd_arc_policy.h"
#include "abd_chunk.h"

#include <assert.h>
#include <string.h>
#include <time.h>

static void abd_arc_list_init(struct abd_arc_list *list)
{
	list->head.next = list->head.prev = &list->head;
	list->bytes = list->count = 0;
}

static void abd_arc_list_push(struct abd_arc_list *list, struct abd_arc_link *head,
	struct abd_arc_link *link, size_t cost)
{
	abd_arc_link_push(head, link);
	list->bytes += cost;
	list->count++;
}

static void abd_arc_list_pull(struct abd_arc_list *list, struct abd_arc_link *link, size_t cost)
{
	assert(list->count > 0 && list->bytes >= cost);
	abd_arc_link_pull(link);
	list->bytes -= cost;
	list->count--;
}

static struct abd_arc_list *abd_arc_policy_list(struct abd_arc_policy *policy, unsigned list)
{
	assert(list == ABD_ARC_RECENT || list == ABD_ARC_FREQUENT);
	return list == ABD_ARC_RECENT ? &policy->recent : &policy->frequent;
}

void abd_arc_policy_init(struct abd_arc_policy *policy, size_t capacity, size_t ghost_cost)
{
	memset(policy, 0, sizeof(*policy));
	policy->quotas = 1;
	policy->metadata_max = SIZE_MAX;
	for (unsigned i = 0; i < ABD_ARC_QUOTAS; i++) {
		struct abd_arc_quota *quota = &policy->quota[i];

		for (unsigned list = 0; list < 2; list++)
			quota->head[list].next = quota->head[list].prev = &quota->head[list];
	}
	policy->capacity = capacity;
	policy->ghost_cost = ghost_cost;
	policy->ghosts.provider = abd_chunk_provider_now();
	atomic_init(&policy->shared.clock, ABD_ARC_STAMP_FREQUENT);
	abd_arc_list_init(&policy->recent);
	abd_arc_list_init(&policy->frequent);
}

/* ---- ghosts ---------------------------------------------------------------------------------- */

bool abd_arc_policy_has_ghost(const struct abd_arc_policy *policy, uint64_t hash)
{
	return abd_arc_ghost_find(&policy->ghosts, hash) > 0;
}

bool abd_arc_policy_drop_ghost(struct abd_arc_policy *policy)
{
	const struct abd_arc_ghost_list *recent = &policy->ghosts.list[ABD_ARC_RECENT];
	const struct abd_arc_ghost_list *frequent = &policy->ghosts.list[ABD_ARC_FREQUENT];
	uint32_t oldest = recent->count > frequent->count ? recent->oldest : frequent->oldest;

	if (oldest == 0)
		return false;
	abd_arc_ghost_end(&policy->ghosts, oldest);
	return true;
}

/* ---- records --------------------------------------------------------------------------------- */

/*
 * A record is young for period_us, or until a 32nd of the capacity, or eight records like it, have
 * come in: what is read between two pieces of it, by other scans too, is less than that. The clock
 * alone would not do: a small cache may be filled anew within the period. Without the clock,
 * records that are used for an hour while nothing comes in would count as used once.
 */
#define ABD_ARC_YOUNG_PART 32
#define ABD_ARC_YOUNG_RECORDS 8
/* Steps of hurry_us: a 64th of the period, so that the readers' line changes rarely. */
#define ABD_ARC_HURRY_STEPS 64
/*
 * From this value on, the policy's time passes no faster than the clock, because stamps have 59
 * bits for it. A cache of 64 KiB that takes in 1 GB/s reaches it after ten days.
 */
#define ABD_ARC_HURRY_MAX ((uint64_t)1 << 55)

static uint64_t abd_arc_policy_now(const struct abd_arc_policy *policy)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000 +
	       atomic_load_explicit(&policy->shared.hurry_us, memory_order_relaxed);
}

bool abd_arc_policy_is_young(const struct abd_arc_policy *policy, uint64_t stamp)
{
	return stamp >= ABD_ARC_STAMP_YOUNG &&
	       ABD_ARC_STAMP_YOUNG + ABD_ARC_STAMP_STEP * abd_arc_policy_now(policy) < stamp;
}

static size_t abd_arc_policy_hurry_bytes(const struct abd_arc_policy *policy)
{
	return policy->capacity / ABD_ARC_YOUNG_PART / ABD_ARC_HURRY_STEPS + 1;
}

/* Bytes have come in: let the policy's time pass faster. */
static void abd_arc_policy_hurry(struct abd_arc_policy *policy, size_t bytes)
{
	size_t step = abd_arc_policy_hurry_bytes(policy);

	policy->incoming += bytes;
	if (policy->incoming < step)
		return;

	uint64_t hurry = atomic_load_explicit(&policy->shared.hurry_us, memory_order_relaxed);

	hurry += policy->incoming / step * (policy->period_us / ABD_ARC_HURRY_STEPS);
	if (hurry < ABD_ARC_HURRY_MAX)
		atomic_store_explicit(&policy->shared.hurry_us, hurry, memory_order_relaxed);
	policy->incoming %= step;
}

static uint64_t abd_arc_policy_recent_stamp(struct abd_arc_policy *policy, size_t cost)
{
	if (policy->period_us == 0)
		return ABD_ARC_STAMP_STEP * ++policy->clock;
	abd_arc_policy_hurry(policy, cost);

	uint64_t steps =
		(uint64_t)cost * ABD_ARC_YOUNG_RECORDS / abd_arc_policy_hurry_bytes(policy);
	uint64_t youth = steps * (policy->period_us / ABD_ARC_HURRY_STEPS);

	uint64_t until = abd_arc_policy_now(policy) +
			 (youth > policy->period_us ? youth : policy->period_us);

	return ABD_ARC_STAMP_YOUNG + ABD_ARC_STAMP_STEP * until;
}

static uint64_t abd_arc_policy_frequent_stamp(struct abd_arc_policy *policy)
{
	uint64_t stamp = ABD_ARC_STAMP_FREQUENT + ABD_ARC_STAMP_TURN * ++policy->clock;
	uint64_t clock = atomic_load_explicit(&policy->shared.clock, memory_order_relaxed);
	/*
	 * The order within the newest quarter of T2 hardly matters: no record is evicted from
	 * there. Where every hit counts, the policy wants to know of all. If there are quotas,
	 * each evicts from its own part of T2, of which this is a quarter if it has a 16th of all.
	 */
	size_t part = policy->frequent.count >> (policy->quotas > 1 ? 6 : 2);
	uint64_t fresh = policy->period_us > 0 ? ABD_ARC_STAMP_TURN * part : 0;

	/* With all low bits: so it is not below the stamp of this item, whatever has its own. */
	if (stamp - clock > fresh / 8) {
		atomic_store_explicit(&policy->shared.clock, stamp + ABD_ARC_STAMP_TURN - 1,
			memory_order_relaxed);
		atomic_store_explicit(&policy->shared.fresh, fresh, memory_order_relaxed);
	}
	return stamp;
}

/* Where a quota has its part of a list. */
static struct abd_arc_link *abd_arc_policy_head(
	struct abd_arc_policy *policy, unsigned quota, enum abd_arc_list_id list)
{
	struct abd_arc_quota *part = &policy->quota[quota];

	return quota == 0 ? &abd_arc_policy_list(policy, list)->head
			  : &part->head[list == ABD_ARC_FREQUENT];
}

/* stamp has nothing in its low bits, and of an item of T1 no uses. */
static void abd_arc_policy_stamp(
	struct abd_arc_item *item, uint64_t stamp, unsigned quota, unsigned uses)
{
	if (stamp >= ABD_ARC_STAMP_FREQUENT)
		stamp += ABD_ARC_STAMP_USE * abd_min(uses, ABD_ARC_USES_MAX);
	atomic_store_explicit(&item->stamp, stamp + 2 * (uint64_t)quota, memory_order_relaxed);
}

static void abd_arc_policy_push(struct abd_arc_policy *policy, struct abd_arc_item *item,
	enum abd_arc_list_id list, unsigned quota, unsigned uses)
{
	uint64_t stamp = list == ABD_ARC_FREQUENT ? abd_arc_policy_frequent_stamp(policy)
						  : abd_arc_policy_recent_stamp(policy, item->cost);

	abd_arc_list_push(abd_arc_policy_list(policy, list),
		abd_arc_policy_head(policy, quota, list), &item->link, item->cost);
	policy->quota[quota].bytes += item->cost;
	abd_arc_policy_stamp(item, stamp, quota, uses);
}

void abd_arc_policy_remove(struct abd_arc_policy *policy, struct abd_arc_item *item)
{
	policy->quota[abd_arc_item_quota(item)].bytes -= item->cost;
	abd_arc_list_pull(
		abd_arc_policy_list(policy, abd_arc_item_list(item)), &item->link, item->cost);
	atomic_store_explicit(&item->stamp, 0, memory_order_relaxed);
}

void abd_arc_policy_replace(
	struct abd_arc_policy *policy, struct abd_arc_item *from, struct abd_arc_item *to)
{
	uint64_t stamp = atomic_load_explicit(&from->stamp, memory_order_relaxed);
	struct abd_arc_list *list = abd_arc_policy_list(policy, abd_arc_item_list(from));
	struct abd_arc_quota *quota = &policy->quota[abd_arc_item_quota(from)];

	list->bytes = list->bytes + to->cost - from->cost;
	quota->bytes = quota->bytes + to->cost - from->cost;
	to->link = from->link;
	to->link.next->prev = to->link.prev->next = &to->link;
	atomic_store_explicit(&to->stamp, stamp, memory_order_relaxed);
	atomic_store_explicit(&from->stamp, 0, memory_order_relaxed);
}

/* Case I: x is in T1 or T2. */
void abd_arc_policy_hit(struct abd_arc_policy *policy, struct abd_arc_item *item, unsigned quota)
{
	enum abd_arc_list_id list = abd_arc_item_list(item);
	uint64_t stamp = abd_arc_item_stamp(item), low = stamp % ABD_ARC_STAMP_TURN;

	/* Most hits: all sums stay as they are, and so does the quota. */
	if (ABD_LIKELY(list == ABD_ARC_FREQUENT && stamp / 2 % ABD_ARC_QUOTAS == quota)) {
		low &= ~ABD_ARC_STAMP_MARK;
		low += low < ABD_ARC_STAMP_USE * ABD_ARC_USES_MAX ? ABD_ARC_STAMP_USE : 0;
		abd_arc_link_pull(&item->link);
		abd_arc_link_push(abd_arc_policy_head(policy, quota, list), &item->link);
		atomic_store_explicit(&item->stamp, abd_arc_policy_frequent_stamp(policy) + low,
			memory_order_relaxed);
	} else if (list != ABD_ARC_NONE) {
		unsigned uses = abd_arc_item_uses(item) + 1;

		abd_arc_policy_remove(policy, item);
		abd_arc_policy_push(policy, item, ABD_ARC_FREQUENT, quota, uses);
	}
}

void abd_arc_policy_insert(struct abd_arc_policy *policy, struct abd_arc_item *item,
	enum abd_arc_list_id list, unsigned quota, uint64_t hash)
{
	uint32_t ghost = abd_arc_ghost_find(&policy->ghosts, hash);

	if (ghost > 0)
		abd_arc_ghost_end(&policy->ghosts, ghost);
	/* What goes into T2 at once came back, or has taken the place of a record there. */
	abd_arc_policy_push(policy, item, list, quota, 2);
}

/*
 * How far p moves when a ghost of list mine is hit: the cost of its record, multiplied by
 * other/mine if the other ghost list is longer.
 */
static size_t abd_arc_policy_step(
	size_t cost, const struct abd_arc_ghost_list *mine, const struct abd_arc_ghost_list *other)
{
	if (mine->bytes >= other->bytes)
		return cost;
	return (size_t)((double)cost * ((double)other->bytes / (double)mine->bytes));
}

enum abd_arc_list_id abd_arc_policy_ask(
	struct abd_arc_policy *policy, uint64_t hash, size_t cost, bool *from_frequent)
{
	const struct abd_arc_ghost_list *recent = &policy->ghosts.list[ABD_ARC_RECENT];
	const struct abd_arc_ghost_list *frequent = &policy->ghosts.list[ABD_ARC_FREQUENT];
	uint32_t ghost = abd_arc_ghost_find(&policy->ghosts, hash);

	*from_frequent = false;
	if (ghost == 0)
		return ABD_ARC_RECENT; /* case IV */

	*from_frequent = abd_arc_ghost_at(&policy->ghosts, ghost)->list == ABD_ARC_FREQUENT;
	if (*from_frequent) { /* case III */
		size_t step = abd_arc_policy_step(cost, frequent, recent);

		policy->target_recent -= abd_min(step, policy->target_recent);
	} else { /* case II */
		size_t step = abd_arc_policy_step(cost, recent, frequent);

		policy->target_recent += abd_min(step, policy->capacity - policy->target_recent);
	}
	abd_arc_ghost_end(&policy->ghosts, ghost);
	return ABD_ARC_FREQUENT;
}

size_t abd_arc_policy_cost_max(const struct abd_arc_policy *policy, unsigned quota)
{
	size_t capacity = policy->capacity + policy->deducted;

	if (quota == ABD_ARC_QUOTA_METADATA)
		return abd_min(capacity, policy->metadata_max);
	return capacity - abd_min(policy->metadata_min, capacity);
}

static bool abd_arc_policy_is_above(const struct abd_arc_policy *policy)
{
	return policy->quota[ABD_ARC_QUOTA_METADATA].bytes > policy->metadata_max;
}

bool abd_arc_policy_is_over(const struct abd_arc_policy *policy, size_t incoming)
{
	size_t taken = policy->recent.bytes + policy->frequent.bytes + policy->reserved +
		       abd_arc_ghosts_count(&policy->ghosts) * policy->ghost_cost;

	return taken > policy->capacity || incoming > policy->capacity - taken ||
	       abd_arc_policy_is_above(policy);
}

static bool abd_arc_policy_may_go(const struct abd_arc_policy *policy, unsigned quota, size_t cost)
{
	bool is_metadata = quota == ABD_ARC_QUOTA_METADATA;

	if (abd_arc_policy_is_above(policy))
		return is_metadata;
	return !is_metadata || policy->quota[quota].bytes - cost >= policy->metadata_min;
}

/* The oldest record of T1 or T2 that may go, or of all. An item begins with its link. */
static struct abd_arc_item *abd_arc_policy_oldest(
	struct abd_arc_policy *policy, enum abd_arc_list_id list, bool all)
{
	struct abd_arc_item *oldest = NULL;

	for (unsigned quota = 0; quota < policy->quotas; quota++) {
		const struct abd_arc_link *head = abd_arc_policy_head(policy, quota, list);
		struct abd_arc_item *item = (struct abd_arc_item *)(void *)head->prev;

		if (head->prev == head ||
			!(all || abd_arc_policy_may_go(policy, quota, item->cost)))
			continue;
		if (oldest == NULL || abd_arc_item_stamp(item) < abd_arc_item_stamp(oldest))
			oldest = item;
	}
	return oldest;
}

/*
 * Stamps that are smaller than that of the oldest record. A list that is empty begins so far above
 * what it had that there are as many below as records may come.
 */
#define ABD_ARC_RESTORE_CLOCK ((uint64_t)1 << 32)

static uint64_t abd_arc_policy_old_stamp(
	struct abd_arc_policy *policy, enum abd_arc_list_id list, const struct abd_arc_item *oldest)
{
	bool is_frequent = list == ABD_ARC_FREQUENT;
	uint64_t least = is_frequent ? ABD_ARC_STAMP_FREQUENT : 0;
	uint64_t step = is_frequent ? ABD_ARC_STAMP_TURN : ABD_ARC_STAMP_STEP;
	uint64_t stamp = ABD_ARC_STAMP_YOUNG + step * abd_arc_policy_now(policy);

	if (oldest != NULL)
		stamp = abd_arc_item_stamp(oldest) / step * step;
	else if (is_frequent || policy->period_us == 0)
		stamp = least + step * (policy->clock += ABD_ARC_RESTORE_CLOCK);
	return stamp - (stamp > least + step ? step : 0);
}

void abd_arc_policy_restore(struct abd_arc_policy *policy, struct abd_arc_item *item,
	enum abd_arc_list_id list, unsigned quota, uint64_t hash, unsigned uses)
{
	struct abd_arc_link *head = abd_arc_policy_head(policy, quota, list);
	uint32_t ghost = abd_arc_ghost_find(&policy->ghosts, hash);
	uint64_t stamp =
		abd_arc_policy_old_stamp(policy, list, abd_arc_policy_oldest(policy, list, true));

	if (ghost > 0)
		abd_arc_ghost_end(&policy->ghosts, ghost);
	/* Behind the last one: in front of what that points to. */
	abd_arc_list_push(abd_arc_policy_list(policy, list), head->prev, &item->link, item->cost);
	policy->quota[quota].bytes += item->cost;
	abd_arc_policy_stamp(item, stamp, quota, uses);
}

struct abd_arc_item *abd_arc_policy_victim(struct abd_arc_policy *policy, bool from_frequent)
{
	size_t recent = policy->recent.bytes, target = policy->target_recent;
	bool from_recent = recent > target || (from_frequent && recent == target);
	struct abd_arc_item *victim = NULL;

	/* First those that may go, then all; each time first of the list that is to lose one. */
	for (unsigned i = 0; i < 4 && victim == NULL; i++)
		victim = abd_arc_policy_oldest(policy,
			from_recent == (i % 2 == 0) ? ABD_ARC_RECENT : ABD_ARC_FREQUENT, i >= 2);
	return victim;
}

struct abd_arc_item *abd_arc_policy_displaced(
	struct abd_arc_policy *policy, unsigned quota, size_t cost)
{
	bool from_recent = policy->recent.bytes > policy->target_recent;
	enum abd_arc_list_id first = from_recent ? ABD_ARC_RECENT : ABD_ARC_FREQUENT;
	struct abd_arc_link *head = abd_arc_policy_head(policy, quota, first);

	if (quota != ABD_ARC_QUOTA_METADATA ||
		policy->quota[quota].bytes + cost <= policy->metadata_max)
		return NULL;
	if (head->prev == head)
		head = abd_arc_policy_head(
			policy, quota, from_recent ? ABD_ARC_FREQUENT : ABD_ARC_RECENT);
	return head->prev != head ? (struct abd_arc_item *)(void *)head->prev : NULL;
}

void abd_arc_policy_evict(struct abd_arc_policy *policy, struct abd_arc_item *item, uint64_t hash)
{
	unsigned list = abd_arc_item_list(item);

	abd_arc_policy_remove(policy, item);
	if (!policy->forgets)
		abd_arc_ghost_make(&policy->ghosts, list, hash, item->cost);
}

/*
 * Ghosts of small records would take a tenth of the memory and more. This part of the capacity is
 * enough: with a 32nd, and ghosts of 57 bytes, of requests for records of 64 to 256 bytes 72 % were
 * hits, without it 65 %, and for records of 64 bytes to 4 KiB 71 % and 68 %. There were 1.3 times
 * as many ghosts then as now.
 */
#define ABD_ARC_GHOST_PART 64

static bool abd_arc_ghosts_are_many(const struct abd_arc_policy *policy)
{
	return abd_arc_ghosts_count(&policy->ghosts) * policy->ghost_cost >
	       policy->capacity / ABD_ARC_GHOST_PART;
}

/*
 * The bounds of case IV: |L1| <= c, |L1| + |L2| <= 2c. The records may exceed c now, but not after
 * REPLACE, so at most c is counted for them. REPLACE does not change L1: it moves records from T1
 * to B1.
 */
bool abd_arc_policy_trim(
	struct abd_arc_policy *policy, enum abd_arc_list_id list, size_t incoming, size_t most)
{
	const struct abd_arc_ghost_list *b1 = &policy->ghosts.list[ABD_ARC_RECENT];
	const struct abd_arc_ghost_list *b2 = &policy->ghosts.list[ABD_ARC_FREQUENT];
	size_t recent = policy->recent.bytes + (list == ABD_ARC_RECENT ? incoming : 0);
	size_t records =
		abd_min(policy->recent.bytes + policy->frequent.bytes + incoming, policy->capacity);

	for (; most > 0 && b1->count > 0 && recent + b1->bytes > policy->capacity; most--)
		abd_arc_ghost_end(&policy->ghosts, b1->oldest);
	for (; most > 0 && b2->count > 0 && records + b1->bytes + b2->bytes > 2 * policy->capacity;
		most--)
		abd_arc_ghost_end(&policy->ghosts, b2->oldest);
	for (; most > 0 && abd_arc_ghosts_are_many(policy); most--)
		abd_arc_policy_drop_ghost(policy);
	return most == 0;
}

void abd_arc_policy_resize(struct abd_arc_policy *policy, size_t capacity)
{
	policy->capacity = capacity;
	policy->target_recent = abd_min(policy->target_recent, capacity);
}
