/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The miss path. Who finds no record, and no fill of the key, begins one and gets a buffer; others
 * wait. The fill ends with a put, out of that buffer, or goes to who waited first.
 * Invariants: what is handed out counts against the capacity from before it is allocated until its
 * fill ends. A fill that a put or remove has overtaken publishes nothing:
 * what was read before a write is not found after it.
 * OpenZFS: arc_read() for a header with ARC_FLAG_IO_IN_PROGRESS; leases that a delete revokes:
 * Nishtala et al., "Scaling Memcache at Facebook" (NSDI 2013).
 */
#include "abd_arc_fill.h"
#include "abd_arc_callback.h"
#include "abd_arc_filling.h"
#include "abd_arc_hold.h"
#include "abd_arc_put.h"
#include "abd_arc_read.h"
#include "abd_chunk_provider.h"

#include <abd/codec.h>

/* A result of abd_arc_fill_reserve(): the caller has to make room. */
#define ABD_ARC_FILL_NO_ROOM 1

/*
 * Reserve the memory of a buffer of this size. Returns 0, -ENOSPC or ABD_ARC_FILL_NO_ROOM. Under
 * lock.
 */
static int abd_arc_fill_reserve(struct abd_arc_filling *filling, size_t size, bool is_metadata)
{
	struct abd_arc *arc = filling->arc;

	if (size > ABD_ARC_RECORD_MAX)
		return -ENOSPC;
	size_t bytes = abd_arc_record_estimate(size);

	if (bytes > abd_arc_quota_cost_max(arc, is_metadata))
		return -ENOSPC;
	abd_arc_evict_for(arc, ABD_ARC_RECENT, bytes, false);
	arc->policy.reserved += bytes;
	arc->run_bytes += bytes;
	filling->bytes = bytes;
	return abd_arc_has_room(arc, -1, 0) ? 0 : ABD_ARC_FILL_NO_ROOM;
}

/* Make room for what was reserved. Returns 0 or -ENOSPC. */
static int abd_arc_fill_make_room(struct abd_arc_filling *filling)
{
	struct abd_arc *arc = filling->arc;
	size_t left = ABD_ARC_CALLBACKS;

	abd_arc_make_room(arc, -1, &left);
	/* Nothing is left to evict: what there is are other fills. */
	pthread_mutex_lock(&arc->lock);
	bool has_room = !abd_arc_is_far_over(arc);

	if (!has_room)
		abd_arc_filling_unreserve(filling);
	pthread_mutex_unlock(&arc->lock);
	return has_room ? 0 : -ENOSPC;
}

/* Make the buffer of a fill, for which room is reserved. Returns 0 or -ENOMEM. */
static int abd_arc_fill_prepare(
	struct abd_arc_filling *filling, size_t size, bool is_metadata, abd_arc_fill_t *fill)
{
	struct abd_arc *arc = filling->arc;
	abd_t *abd;

	do
		abd = abd_alloc(size, is_metadata);
	while (abd == NULL && abd_arc_shrink(arc));
	if (abd == NULL)
		return -ENOMEM;

	size_t bytes = abd_arc_record_bytes(abd);

	/* Only if the provider refused orders. */
	if (bytes != filling->bytes) {
		pthread_mutex_lock(&arc->lock);
		abd_arc_filling_unreserve(filling);
		arc->policy.reserved += bytes;
		arc->run_bytes += bytes;
		filling->bytes = bytes;
		pthread_mutex_unlock(&arc->lock);
	}
	atomic_store_explicit(&filling->abd, abd, memory_order_release);
	*fill = (abd_arc_fill_t){abd, size, filling};
	return 0;
}

static bool abd_arc_wish_is_metadata(const struct abd_arc_wish *wish)
{
	return (wish->flags & ABD_ARC_METADATA) != 0;
}

static int abd_arc_wish_touch(struct abd_arc *arc, struct abd_arc_thread *thread,
	const struct abd_arc_wish *wish, abd_arc_hold_t *hold)
{
	return abd_arc_hold_touch(
		arc, thread, wish->hash, wish->key, hold, (wish->flags & ABD_ARC_NO_TOUCH) == 0);
}

/*
 * Another thread fills the key, or this one: wait, or have ready() called. Called under lock,
 * returns as abd_arc_fill_join(), under lock too.
 */
static int abd_arc_fill_wait(struct abd_arc_filling *filling, struct abd_arc_thread *thread,
	const struct abd_arc_wish *wish)
{
	struct abd_arc *arc = filling->arc;

	/* Also while its commit runs evicted_cb, in which this thread would wait for itself. */
	if (!wish->is_async && filling->owner == thread)
		return -EDEADLK;
	if ((wish->flags & ABD_ARC_NOWAIT) != 0)
		return -EAGAIN;
	if (wish->is_async)
		return abd_arc_filling_notify(filling, wish->ready, wish->arg);
	enum abd_arc_waiter_state state = abd_arc_filling_wait(filling, thread, wish->until_ns);

	pthread_mutex_lock(&arc->lock);
	if (state == ABD_ARC_WAITING)
		return -ETIMEDOUT;
	return state == ABD_ARC_CHOSEN;
}

/*
 * Begin a fill of the key and reserve its room, or wait for one. 1: *filling is the caller's, and
 * *error what abd_arc_fill_reserve() said. 0: look again. Else what abd_arc_hold_or_fill() returns.
 */
static int abd_arc_fill_join(struct abd_arc *arc, struct abd_arc_thread *thread,
	const struct abd_arc_wish *wish, struct abd_arc_filling **filling, int *error)
{
	int result = 0;

	pthread_mutex_lock(&arc->lock);
	*filling = abd_arc_filling_find(arc, wish->hash, wish->key);
	if (*filling != NULL) {
		result = abd_arc_fill_wait(*filling, thread, wish);
	} else if (abd_arc_find(arc, wish->hash, wish->key) == NULL) {
		/* It has not come since the look-up. */
		*filling = abd_arc_filling_begin(arc, thread, wish->hash, wish->key);
		result = *filling != NULL ? 1 : -ENOMEM;
	}
	if (result == 1)
		*error = abd_arc_fill_reserve(*filling, wish->size, abd_arc_wish_is_metadata(wish));
	pthread_mutex_unlock(&arc->lock);
	return result;
}

int abd_arc_fill_missing(struct abd_arc *arc, struct abd_arc_thread *thread,
	struct abd_arc_wish *wish, abd_arc_hold_t *hold, abd_arc_fill_t *fill)
{
	struct abd_arc_filling *filling;
	int error = 0, result;

	/* Without a block its end would not end the fill. */
	if (thread == NULL && !wish->is_async)
		return -ENOMEM;
	/* One that is damaged was dropped: it is fetched again. */
	do
		result = abd_arc_fill_join(arc, thread, wish, &filling, &error);
	while (result == 0 && abd_arc_wish_touch(arc, thread, wish, hold) != 0);
	if (result <= 0)
		return result;

	if (error == ABD_ARC_FILL_NO_ROOM)
		error = abd_arc_fill_make_room(filling);
	if (error == 0)
		error = abd_arc_fill_prepare(
			filling, wish->size, abd_arc_wish_is_metadata(wish), fill);
	if (error != 0)
		abd_arc_filling_pass(filling);
	else if (wish->is_async)
		filling->owner = NULL; /* until here its thread's end would have ended it */
	return error == 0 ? 1 : error;
}

static int abd_arc_fill_ask(const char *call, abd_arc_t *arc, struct abd_arc_wish *wish,
	abd_arc_hold_t *hold, abd_arc_fill_t *fill)
{
	ABD_REQUIRE_IN(call, arc != NULL, "arc is NULL");
	ABD_REQUIRE_IN(call, wish->key != NULL, "key is NULL");
	ABD_REQUIRE_IN(call, hold != NULL, "hold is NULL");
	ABD_REQUIRE_IN(call, fill != NULL, "fill is NULL");
	abd_arc_rcu_require_outside(call);
	abd_arc_hold_clear(hold);
	*fill = (abd_arc_fill_t){NULL, 0, NULL};
	if (wish->size == 0 || (wish->flags & ~ABD_ARC_FILL_FLAGS) != 0)
		return -EINVAL;
	wish->hash = abd_arc_hash(arc, wish->key);
	arc = abd_arc_shard(arc, wish->hash);
	struct abd_arc_thread *thread = abd_arc_thread_enter(arc);

	if (abd_arc_wish_touch(arc, thread, wish, hold) == 0)
		return 0;
	if (wish->until_ns < UINT64_MAX) {
		uint64_t now_ns = abd_arc_now_ns(), most = UINT64_MAX - now_ns;

		wish->until_ns = now_ns + (wish->until_ns < most ? wish->until_ns : most);
	}
	return abd_arc_fill_missing(arc, thread, wish, hold, fill);
}

int abd_arc_hold_or_fill(abd_arc_t *arc, const abd_arc_key_t *key, size_t size, unsigned flags,
	abd_arc_hold_t *hold, abd_arc_fill_t *fill)
{
	struct abd_arc_wish wish = {
		.key = key, .size = size, .flags = flags, .until_ns = UINT64_MAX};

	return abd_arc_fill_ask(__func__, arc, &wish, hold, fill);
}

int abd_arc_hold_or_fill_timed(abd_arc_t *arc, const abd_arc_key_t *key, size_t size,
	unsigned flags, uint64_t timeout_ns, abd_arc_hold_t *hold, abd_arc_fill_t *fill)
{
	struct abd_arc_wish wish = {
		.key = key, .size = size, .flags = flags, .until_ns = timeout_ns};

	return abd_arc_fill_ask(__func__, arc, &wish, hold, fill);
}

int abd_arc_hold_or_fill_async(abd_arc_t *arc, const abd_arc_key_t *key, size_t size,
	unsigned flags, abd_arc_hold_t *hold, abd_arc_fill_t *fill, void (*ready)(void *arg),
	void *arg)
{
	struct abd_arc_wish wish = {.key = key,
		.size = size,
		.flags = flags,
		.is_async = true,
		.ready = ready,
		.arg = arg,
		.until_ns = UINT64_MAX};

	ABD_REQUIRE(ready != NULL || (flags & ABD_ARC_NOWAIT) != 0, "ready is NULL");
	return abd_arc_fill_ask(__func__, arc, &wish, hold, fill);
}

int abd_arc_forget_ready(
	abd_arc_t *arc, const abd_arc_key_t *key, void (*ready)(void *arg), void *arg)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");
	ABD_REQUIRE(ready != NULL, "ready is NULL");
	uint64_t hash = abd_arc_hash(arc, key);

	return abd_arc_filling_forget(abd_arc_shard(arc, hash), hash, key, ready, arg);
}

/* Leave the caller's fill empty. Its buffer is this thread's now. */
static abd_t *abd_arc_fill_claim(
	const char *call, abd_arc_fill_t *fill, struct abd_arc_filling **filling)
{
	*filling = fill->entry;
	bool is_open = abd_arc_filling_claim(*filling, fill->abd);

	ABD_REQUIRE_IN(
		call, is_open, "a fill of %zu bytes was committed or abandoned before", fill->size);
	abd_t *abd = fill->abd;

	(*filling)->owner = abd_arc_thread_self;
	*fill = (abd_arc_fill_t){NULL, 0, NULL};
	return abd;
}

void abd_arc_fill_abandon(abd_arc_fill_t *fill)
{
	struct abd_arc_filling *filling;

	ABD_REQUIRE(fill != NULL, "fill is NULL");
	if (fill->entry == NULL)
		return;
	abd_free(abd_arc_fill_claim(__func__, fill, &filling));
	abd_arc_filling_pass(filling);
}

/* Put what was filled in. */
static int abd_arc_fill_put(struct abd_arc *arc, struct abd_arc_filling *filling,
	struct abd_arc_source *source, abd_arc_hold_t *hold)
{
	void *handle = NULL;
	abd_arc_key_t key = filling->key;
	unsigned flags = (source->abd->abd_flags & ABD_FLAG_META) != 0 ? ABD_ARC_METADATA : 0;
	int error;

	error = abd_arc_put_source(
		arc, filling->hash, &key, flags, source, filling, hold != NULL ? &handle : NULL);
	if (error == 0 && hold != NULL)
		abd_arc_hold_fill(hold, handle, abd_arc_handle_entry(handle));
	return error;
}

static int abd_arc_fill_end(const char *call, abd_arc_fill_t *fill, const abd_arc_record_t *record,
	abd_arc_hold_t *hold)
{
	abd_arc_rcu_require_outside(call);
	struct abd_arc_filling *filling;
	abd_t *abd = abd_arc_fill_claim(call, fill, &filling);
	struct abd_arc *arc = filling->arc;
	struct abd_arc_source source = {.given = false};
	int error = abd_arc_put_prepare(arc, &source, abd, record, true);

	if (hold != NULL)
		abd_arc_hold_clear(hold);
	if (error == 0)
		error = abd_arc_fill_put(arc, filling, &source, hold);
	if (!source.given)
		abd_free(abd);
	if (source.ended)
		return error;
	if (error == 0)
		abd_arc_filling_done(filling); /* the key is only remembered */
	else
		abd_arc_filling_pass(filling);
	return error;
}

int abd_arc_fill_commit(abd_arc_fill_t *fill, size_t stored_size, size_t logical_size,
	unsigned flags, abd_arc_hold_t *hold)
{
	const abd_arc_record_t record = {
		.stored_size = stored_size, .logical_size = logical_size, .flags = flags};

	ABD_REQUIRE(fill != NULL, "fill is NULL");
	ABD_REQUIRE(fill->entry != NULL, "fill is empty");
	ABD_REQUIRE(stored_size <= fill->size, "%zu bytes of a buffer of %zu were filled",
		stored_size, fill->size);
	return abd_arc_fill_end(__func__, fill, &record, hold);
}

int abd_arc_fill_commit_record(
	abd_arc_fill_t *fill, const abd_arc_record_t *record, abd_arc_hold_t *hold)
{
	ABD_REQUIRE(fill != NULL, "fill is NULL");
	ABD_REQUIRE(fill->entry != NULL, "fill is empty");
	ABD_REQUIRE(record != NULL, "record is NULL");
	return abd_arc_fill_end(__func__, fill, record, hold);
}
