/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may stay: minimums for metadata and for pools, and a maximum for metadata.
 * Which records of which share go is the policy's matter; here it is said which record belongs to
 * which share. A record that was put before its pool had a minimum belongs to it from its next use
 * on, so that no call has to visit all records.
 * Invariant: the minimums are together at most half of the capacity, and of the one that a resize
 * is on its way to.
 * OpenZFS: zfs_arc_meta_balance, and before 2.2 zfs_arc_meta_min and zfs_arc_meta_limit, in
 * module/zfs/arc.c. Pools have no shares there.
 */
#include "abd_arc_impl.h"

static_assert(ABD_ARC_POOLS_MAX == ABD_ARC_SHARES - ABD_ARC_SHARE_POOL, "a share for each");

void abd_arc_share_start(struct abd_arc *arc, const struct abd_arc_config *config)
{
	struct abd_arc_policy *policy = &arc->policy;
	struct abd_arc_share *metadata = &policy->share[ABD_ARC_SHARE_METADATA];

	metadata->min = config->metadata_min_bytes / arc->shards;
	metadata->max = config->metadata_max_bytes < SIZE_MAX
				? config->metadata_max_bytes / arc->shards
				: SIZE_MAX;
	if (metadata->min > 0 || metadata->max < SIZE_MAX)
		policy->shares = ABD_ARC_SHARE_POOL;
}

unsigned abd_arc_share_of(const struct abd_arc *arc, const abd_arc_key_t *key, bool is_metadata)
{
	const struct abd_arc_share *share = arc->policy.share;
	unsigned i = ABD_ARC_SHARE_METADATA;

	if (is_metadata && (share[i].min > 0 || share[i].max < SIZE_MAX))
		return i;
	for (i = ABD_ARC_SHARE_POOL; i < arc->policy.shares; i++)
		if (share[i].min > 0 && share[i].pool == key->pool)
			return i;
	return 0;
}

/* The share of this pool, or one that is free, or NULL. One is free when its records have left. */
static struct abd_arc_share *abd_arc_share_find(struct abd_arc_policy *policy, uint64_t pool)
{
	struct abd_arc_share *unused = NULL;

	for (unsigned i = ABD_ARC_SHARE_POOL; i < ABD_ARC_SHARES; i++) {
		struct abd_arc_share *share = &policy->share[i];

		if (share->min == 0 && share->bytes == 0)
			unused = unused != NULL ? unused : share;
		else if (share->pool == pool)
			return share;
	}
	return unused;
}

/* Whether a shard can give a pool so much. Returns 0, -ENOSPC or -E2BIG. */
static int abd_arc_share_check(struct abd_arc *arc, uint64_t pool, size_t bytes)
{
	struct abd_arc_policy *policy = &arc->policy;
	int error = 0;

	pthread_mutex_lock(&arc->lock);
	const struct abd_arc_share *share = abd_arc_share_find(policy, pool);
	size_t others = abd_arc_policy_minimums(policy) - (share != NULL ? share->min : 0);

	if (bytes > abd_min(arc->capacity, arc->goal) / 2 - others)
		error = -ENOSPC;
	else if (share == NULL && bytes > 0)
		error = -E2BIG;
	pthread_mutex_unlock(&arc->lock);
	return error;
}

static void abd_arc_share_set(struct abd_arc *arc, uint64_t pool, size_t bytes)
{
	struct abd_arc_policy *policy = &arc->policy;

	pthread_mutex_lock(&arc->lock);
	struct abd_arc_share *share = abd_arc_share_find(policy, pool);

	if (share != NULL) {
		unsigned end = (unsigned)(share - policy->share) + 1;

		share->pool = pool;
		share->min = bytes;
		if (bytes > 0 && end > policy->shares)
			policy->shares = end;
	}
	pthread_mutex_unlock(&arc->lock);
}

/*
 * Each shard gives an equal part, rounded down: so what is half of the capacity is no more than
 * half of a shard's. First all are asked: nobody else changes a minimum meanwhile, so none of them
 * refuses then.
 */
int abd_arc_set_pool_min(abd_arc_t *arc, uint64_t pool, size_t bytes)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	int error = 0;

	pthread_mutex_lock(&arc->whole_lock);
	for (uint32_t i = 0; error == 0 && i < arc->shards; i++)
		error = abd_arc_share_check(&arc[i], pool, bytes / arc->shards);
	for (uint32_t i = 0; error == 0 && i < arc->shards; i++)
		abd_arc_share_set(&arc[i], pool, bytes / arc->shards);
	pthread_mutex_unlock(&arc->whole_lock);
	return error;
}

void abd_arc_share_stats(const struct abd_arc *arc, struct abd_arc_stats *stats)
{
	const struct abd_arc_share *share = arc->policy.share;

	stats->metadata_bytes = share[ABD_ARC_SHARE_METADATA].bytes;
	stats->minimum_bytes = abd_arc_policy_minimums(&arc->policy);
	stats->protected_bytes = 0;
	for (unsigned i = 0; i < arc->policy.shares; i++)
		stats->protected_bytes += abd_min(share[i].bytes, share[i].min);
}
