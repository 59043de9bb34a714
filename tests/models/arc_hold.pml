/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hold, release and evict in lib/arc, as a model for Spin. A reader looks a record up inside a read-side section, and may hold it by
 * writing it into a slot of its own. The writer replaces the record and evicts the old one. For all it evicted so far it begins a
 * grace period, and goes on evicting. Later it sees that the grace period has passed: it looks at the slots that are not settled, and
 * frees the records that no slot holds. The others it pins. A record counts the slots that hold it, if it is pinned, and also, if a
 * look chooses so, while it is not; and the last release of a pinned one frees it. What a look finds counted it may settle: then no
 * look comes to it again until it is woken. A release wakes it if it sees that it was counted, and the reader before it fills it
 * (abd_arc_hold_once(), abd_arc_slot_release(), abd_arc_reclaim_begin(), abd_arc_reclaim_end(), abd_arc_pin(),
 * abd_arc_slot_uncount()). A block has one slot here. Grace periods themselves: arc_period.pml.
 *
 * Memory: a reader's write to its slot may stay in the store buffer for any time, but not longer than the reader's section, nor beyond
 * the beginning of a grace period. This is what a grace period promises, and the model needs no more of it. All other memory accesses
 * happen in order.
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
#define ROUNDS 2   /* of reader 0, and one less of each other */
#define RECORDS 2
#define NONE 255

byte indexed = 0;             /* the record that the index leads to, or NONE */
bool freed[RECORDS];
bool retired[RECORDS];        /* out of the index; no grace period has begun for it */
bool waiting[RECORDS];        /* one has begun */
bool period;                  /* it is under way */
bool awaited[READERS];        /* for this reader's section */
byte seen[READERS];           /* how many had ended when it began */
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
bool settled[READERS];
bool woken[READERS] = true;
bool cursor[READERS] = true;  /* the reader may fill it without waking it once more */

inline use(record)
{
	assert(!freed[record]);
}

/* A slot that a record counts no longer holds it. Under the lock. */
inline uncount(me)
{
	assert(pins[counted[me]] > 0 && !freed[counted[me]]);
	pins[counted[me]]--;
	settled[me] = false;
	if
	:: pinned[counted[me]] && pins[counted[me]] == 0 ->
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

/* Write to the slot; others may see it now or later, but in order. */
inline note(me, record)
{
	atomic { drain(me) };
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
	bool holds, saw, saw_pinned;

	do
	:: round < ROUNDS - me ->
		round++;
		holds = false;
		/* The slot is free, or this round only reads. What the reader wrote last, it sees. */
		saw = counted[me] == NONE && (has_buffered[me] -> buffered[me] : slot[me]) == NONE;
		if
		:: saw && !cursor[me] -> cursor[me] = true; atomic { drain(me); woken[me] = true }
		:: else
		fi;
		in_section[me] = true;
		found = indexed;
		if
		:: found == NONE -> skip
		:: found != NONE -> use(found)             /* read, and done */
		:: found != NONE && saw -> holds = true;
			note(me, found)
		fi;
		if
		:: found != NONE -> use(found)
		:: else
		fi;
		atomic { drain(me); in_section[me] = false; sections[me]++ };
		/* The thread goes on to fill another block. */
		if
		:: cursor[me] = false
		:: skip
		fi;
		if
		:: holds ->
			use(found);
			saw = counted[me] != NONE;         /* release */
			saw_pinned = saw && pinned[found];
			note(me, NONE);
			if
			:: saw_pinned ->
				atomic { !locked -> locked = true; drain(me) };
				atomic {
					if
					:: counted[me] != NONE && counted[me] != slot[me] -> uncount(me)
					:: else
					fi;
					locked = false
				}
			:: !saw_pinned && (saw || counted[me] != NONE) -> atomic { drain(me); woken[me] = true }
			:: else
			fi
		:: else
		fi;
		d_step { found = NONE; holds = false; saw = false; saw_pinned = false }
	:: else -> break
	od;
	readers_left--
}

/* A grace period begins for what is retired: see which sections it waits for. */
inline period_begin()
{
	atomic {
		!locked;
		r = 0;
		do
		:: r < RECORDS ->
			waiting[r] = retired[r];
			retired[r] = false;
			r++
		:: else -> break
		od;
		period = true;
		i = 0;
		do
		:: i < READERS ->
			drain(i);
			awaited[i] = in_section[i];
			seen[i] = (awaited[i] -> sections[i] : 0);
			i++
		:: else -> break
		od;
		i = 0;
		r = 0
	}
}

#define passed(i) (!awaited[i] || sections[i] != seen[i])

/*
 * Nothing waits any longer. Look at the slots, one by one: releases go on meanwhile. Free the records, or pin them. Under the lock.
 */
inline look()
{
	atomic { !locked -> locked = true };
	atomic {
		period = false;
		i = 0;
		do
		:: i < READERS ->
			awaited[i] = false;
			seen[i] = 0;
			settled[i] = settled[i] && !woken[i];
			woken[i] = false;
			i++
		:: else -> break
		od;
		i = 0;
		r = 0
	};
	do
	:: i < READERS && settled[i] -> i++
	:: i < READERS && !settled[i] ->
		saw = cursor[i];
		atomic {
			if
			:: counted[i] == slot[i] && !saw -> settled[i] = true
			:: counted[i] == slot[i]
			:: counted[i] != slot[i] ->
				if
				:: counted[i] != NONE -> uncount(i)
				:: else
				fi;
				if
				:: slot[i] != NONE -> counted[i] = slot[i]; pins[slot[i]]++
				:: slot[i] != NONE && !waiting[slot[i]]
				:: slot[i] == NONE
				fi
			fi;
			saw = false;
			i++
		}
	:: else -> break
	od;
	atomic {
		r = 0;
		do
		:: r < RECORDS ->
			if
			:: waiting[r] && pins[r] > 0 -> pinned[r] = true
			:: waiting[r] && pins[r] == 0 -> assert(!freed[r]); freed[r] = true
			:: else
			fi;
			waiting[r] = false;
			r++
		:: else -> break
		od;
		i = 0;
		r = 0;
		locked = false
	}
}

proctype writer()
{
	byte i, next = 1, r;
	bool saw;

	do
	:: next <= RECORDS ->
		/* Under the lock: replace the record, the last time by none. */
		atomic {
			!locked;
			retired[indexed] = true;
			indexed = (next < RECORDS -> next : NONE);
			next++
		}
	:: !period && (retired[0] || retired[1]) -> period_begin()
	:: period && passed(0) && passed(1) -> look()
	:: next > RECORDS -> break
	od;
	/* The end of the cache: all have gone. */
	(readers_left == 0);
	if
	:: period -> look()
	:: else
	fi;
	period_begin();
	look();
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
