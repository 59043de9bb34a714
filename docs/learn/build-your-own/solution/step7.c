/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Step 7: readers write a note of their own, and nothing that they share. The writer takes a buffer
 * out first, then looks for notes: what no note names then is named by none later, since nobody
 * finds it any more.
 */
#include "mini.h"

struct mini *shared_hold(struct shared *shared, size_t slot, size_t note)
{
	for (;;) {
		struct mini *found = shared_look(&shared->slot[slot]);

		atomic_store(&shared->note[note], found);
		/* Is it still there? If so, the writer who takes it out sees the note. */
		if (atomic_load(&shared->slot[slot]) == found)
			return found;
	}
}

void shared_release(struct shared *shared, size_t note)
{
	atomic_store(&shared->note[note], NULL);
}

static bool noted(struct shared *shared, const struct mini *buffer)
{
	for (size_t i = 0; i < SHARED_NOTES; i++)
		if (atomic_load(&shared->note[i]) == buffer)
			return true;
	return false;
}

/* End what nobody reads any more; returns a free place, or NULL. */
static struct mini **tidy(struct shared *shared)
{
	struct mini **room = NULL;

	for (size_t i = 0; i < SHARED_WAITING; i++) {
		struct mini **place = &shared->waiting[i];

		if (*place != NULL && !noted(shared, *place)) {
			mini_free(*place);
			*place = NULL;
		}
		if (*place == NULL)
			room = place;
	}
	return room;
}

bool shared_replace(struct shared *shared, size_t slot, struct mini *buffer)
{
	struct mini **room = tidy(shared);

	if (room == NULL)
		return false;
	*room = atomic_exchange(&shared->slot[slot], buffer);
	tidy(shared);
	return true;
}
