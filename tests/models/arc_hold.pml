/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hold, release and evict in lib/arc, as a model for Spin. A reader looks a record up inside a read-side section, and may hold it by
 * writing it into a slot of its own. The writer replaces the record, evicts it, waits for readers, reads the slots, and frees the
 * record if no slot holds it. Else it pins the record, which counts the slots that hold it, and the last release frees it. A release
 * that has not seen yet that its record is pinned only clears its slot (abd_arc_hold_once(), abd_arc_release(), abd_arc_reclaim_now(),
 * abd_arc_pin(), abd_arc_unpin()).
 *
 * Memory: a reader's write to its slot may stay in the store buffer for any time, but not longer than the reader's section. This is
 * what a grace period promises, and the model needs no more of it. All other memory accesses happen in order.
 *
 * Properties, in every order of steps:
 *   1. no reader reads a freed record, neither in its section nor while it holds the record;
 *   2. a record is freed once;
 *   3. all evicted records are freed once all readers have ended: nothing leaks;
 *   4. no process waits for ever (Spin's invalid end states).
 *
 * Bugs that the search must find: tests/plants, those with "guard: model".
 */
#define READERS 2
#define ROUNDS 2
#define RECORDS 3
#define NONE 255

byte indexed = 0;             /* the record that the index leads to, or NONE */
bool freed[RECORDS];
bool retired[RECORDS];        /* out of the index, not freed */
byte slot[READERS] = NONE;    /* as others see it */
byte buffered[READERS] = NONE;
bool has_buffered[READERS];
bool in_section[READERS];
byte sections[READERS];       /* how many have ended */
byte readers_left = READERS;
bool locked;                  /* the cache's lock */
bool pinned[RECORDS];
byte pins[RECORDS];           /* how many slots it counts */
byte counted[READERS] = NONE; /* which record counts this slot */

inline use(record)
{
	assert(!freed[record]);
}

/* A slot that a record counts no longer holds it. Under the lock. */
inline uncount(me)
{
	assert(pinned[counted[me]] && pins[counted[me]] > 0);
	pins[counted[me]]--;
	if
	:: pins[counted[me]] == 0 ->
		assert(!freed[counted[me]]);
		freed[counted[me]] = true;
		pinned[counted[me]] = false
	:: else
	fi;
	counted[me] = NONE
}

/* The store buffer empties. */
inline drain(me)
{
	if
	:: has_buffered[me] -> slot[me] = buffered[me]; has_buffered[me] = false
	:: else
	fi
}

/* Write to the slot; others may see it now or later. */
inline note(me, record)
{
	buffered[me] = record;
	has_buffered[me] = true;
	if
	:: atomic { drain(me) }
	:: skip
	fi
}

proctype reader(byte me)
{
	byte found = NONE;
	byte round = 0;
	bool holds, saw;

	do
	:: round < ROUNDS ->
		round++;
		holds = false;
		in_section[me] = true;
		found = indexed;
		if
		:: found == NONE -> skip
		:: found != NONE -> use(found)             /* read, and done */
		:: found != NONE -> holds = true;
			note(me, found)
		fi;
		if
		:: found != NONE -> use(found)
		:: else
		fi;
		atomic { drain(me); in_section[me] = false; sections[me]++ };
		if
		:: holds ->
			use(found);
			atomic { drain(me) };
			use(found);
			saw = pinned[found];               /* release */
			if
			:: saw ->
				atomic { !locked -> locked = true };
				atomic { assert(counted[me] == found); slot[me] = NONE; uncount(me); locked = false }
			:: else -> slot[me] = NONE
			fi
		:: else
		fi
	:: else -> break
	od;
	readers_left--
}

/* Wait for the sections that have begun to end. */
inline grace_period()
{
	i = 0;
	do
	:: i < READERS ->
		seen = sections[i];
		(!in_section[i] || sections[i] != seen);
		i++
	:: else -> break
	od
}

/* Look at the slots, one by one: releases go on meanwhile. Free the record, or pin it. Under the lock. */
inline look(record)
{
	atomic { !locked -> locked = true };
	atomic {
		if
		:: record != NONE -> assert(retired[record]); retired[record] = false; pinned[record] = true
		:: else
		fi
	};
	i = 0;
	do
	:: i < READERS ->
		atomic {
			if
			:: counted[i] != NONE && counted[i] != slot[i] -> uncount(i)
			:: else
			fi;
			if
			:: slot[i] != NONE && counted[i] == NONE && pinned[slot[i]] ->
				counted[i] = slot[i];
				pins[slot[i]]++
			:: else
			fi;
			i++
		}
	:: else -> break
	od;
	atomic {
		if
		:: record != NONE && pins[record] == 0 && pinned[record] ->
			assert(!freed[record]);
			freed[record] = true;
			pinned[record] = false
		:: else
		fi;
		locked = false
	}
}

proctype writer()
{
	byte i, seen, next = 1, old, r;

	do
	:: next <= RECORDS ->
		/* Under the lock: replace the record, the last time by none. */
		atomic {
			!locked;
			old = indexed;
			indexed = (next < RECORDS -> next : NONE);
			retired[old] = true;
			next++
		}
		grace_period();
		look(old)
	:: else -> break
	od;
	/* The end of the cache: all have gone. */
	(readers_left == 0);
	look(NONE);
	r = 0;
	do
	:: r < RECORDS -> assert(freed[r]); r++
	:: else -> break
	od
}

init
{
	byte n = 0;

	atomic {
		do
		:: n < READERS -> run reader(n); n++
		:: else -> break
		od;
		run writer()
	}
}
