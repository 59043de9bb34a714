/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hold, release and evict in lib/arc, as a model for Spin. A reader looks a record up inside a read-side section, and notes it in a slot
 * of its own, or counts its hold in the record. The section ends, and the reader uses the record. It may hold the record a second time,
 * by the count, and release the first hold. A record that is evicted, and not freed yet, it finds under the lock, and counts. The
 * writer replaces the record and evicts the old one. It waits for a grace period, looks at the slots one by one without the lock, and
 * then decides under the lock: what is counted is pinned, and the last of those holds frees it; what a slot held waits for the next look,
 * and who clears the slot and sees that asks for one; the rest is freed (abd_arc_find_hold(), abd_arc_hold_end(), abd_arc_hold_uncount(),
 * abd_arc_hold_any(), abd_arc_reclaim_wait(), abd_arc_reclaim_look(), abd_arc_reclaim_decide()).
 *
 * Memory: a reader's write to its slot may stay in the store buffer for any time, but not longer than the reader's section, nor beyond
 * a grace period that the section began before; nor beyond a locked instruction or a lock of the reader's. This is what liburcu's grace
 * period and x86 promise, and the model needs no more of it. All other memory accesses happen in order.
 *
 * Properties, in every order of steps:
 *   1. no reader reads a freed record while it holds it, nor in its section;
 *   2. a record is freed once;
 *   3. all evicted records are freed once all readers have ended and one more look has been: nothing leaks;
 *   4. what is found under the lock is not freed before it is released;
 *   5. no process waits for ever (Spin's invalid end states).
 *
 * Bugs that the search must find: tests/plants, those with "guard: model".
 */
#define READERS 2
#define ROUNDS 2   /* of reader 0, and one less of each other */
#define RECORDS 2
#define NONE 255

byte indexed = 0;             /* the record that the index leads to, or NONE */
bool leaving[RECORDS];        /* evicted, and found under the lock */
bool freed[RECORDS];
bool retired[RECORDS];        /* waits for a grace period to begin */
bool waiting[RECORDS];        /* for the decision */
bool marked[RECORDS];         /* a look has found it in a slot */
bool kept[RECORDS];           /* a decision has seen that mark: who clears a slot asks for another look */
bool pinned[RECORDS];
byte count[RECORDS];
byte slot[READERS] = NONE;    /* as others see it */
byte buffered[READERS] = NONE;
bool has_buffered[READERS];
bool in_section[READERS];
bool awaited[READERS];        /* the grace period waits for this section */
byte readers_left = READERS;
bool locked;                  /* the cache's lock */

inline use(record)
{
	assert(!freed[record])
}

inline end_record(record)
{
	assert(!freed[record] && count[record] == 0);
	freed[record] = true;
	leaving[record] = false;
	pinned[record] = false;
	waiting[record] = false
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

/* A locked instruction empties the store buffer. */
inline add(me, record)
{
	atomic { drain(me); count[record]++ }
}

/* End a counted hold; the last one of a pinned record frees it, under the lock. */
inline uncount(me, record)
{
	use(record);
	atomic {
		drain(me);
		assert(count[record] > 0);
		count[record]--;
		last = (count[record] == 0 && pinned[record])
	};
	if
	:: last -> atomic { !locked -> end_record(record) }
	:: else
	fi
}

proctype reader(byte me)
{
	byte found = NONE;
	byte round = 0;
	bool by_count, last;

	do
	:: round < ROUNDS - me ->
		round++;
		in_section[me] = true;
		found = indexed;
		by_count = false;
		if
		:: found != NONE -> use(found);
			if
			:: skip; note(me, found)
			:: skip; add(me, found); by_count = true
			fi
		:: else
		fi;
		atomic { drain(me); in_section[me] = false; awaited[me] = false };
		if
		/* A look-up that met a record that is leaving goes by the lock. */
		:: found == NONE ->
			atomic {
				!locked;
				drain(me);
				if
				:: leaving[0] && !freed[0] && (!pinned[0] || count[0] > 0) -> found = 0
				:: leaving[1] && !freed[1] && (!pinned[1] || count[1] > 0) -> found = 1
				:: skip
				fi;
				if
				:: found != NONE -> count[found]++; by_count = true
				:: else
				fi
			}
		:: else
		fi;
		if
		:: found != NONE ->
			use(found);
			/* A second hold, and the first one ends: then it is a counted one. */
			if
			:: !by_count ->
				use(found);
				add(me, found);
				note(me, NONE);
				by_count = true
			:: skip
			fi;
			use(found);
			if
			:: by_count -> uncount(me, found)
			:: else ->
				last = kept[found];
				note(me, NONE);
				if
				:: last -> atomic { drain(me) } /* and asks for a look, which is one of the writer's */
				:: else
				fi
			fi
		:: else
		fi;
		d_step { found = NONE; by_count = false; last = false }
	:: else -> break
	od;
	atomic { drain(me); readers_left-- }
}

/* Wait until every section that had begun has ended: what it wrote is seen then. */
inline synchronize()
{
	d_step {
		i = 0;
		do
		:: i < READERS -> drain(i); awaited[i] = in_section[i]; i++
		:: else -> break
		od;
		i = 0
	};
	(!awaited[0] && !awaited[1])
}

/* Look at the slots, one by one: holds and releases go on meanwhile. Without the lock. */
inline look()
{
	i = 0;
	do
	:: i < READERS ->
		atomic {
			if
			:: slot[i] != NONE && waiting[slot[i]] -> use(slot[i]); marked[slot[i]] = true
			:: else
			fi;
			i++
		}
	:: else -> break
	od;
	i = 0
}

inline decide()
{
	atomic {
		!locked;
		r = 0;
		do
		:: r < RECORDS ->
			if
			:: waiting[r] && marked[r] -> marked[r] = false; kept[r] = true
			:: waiting[r] && !marked[r] && count[r] > 0 -> pinned[r] = true; waiting[r] = false
			:: waiting[r] && !marked[r] && count[r] == 0 -> end_record(r)
			:: else
			fi;
			r++
		:: else -> break
		od;
		r = 0
	}
}

/* What is retired waits from now on. */
inline take()
{
	atomic {
		!locked;
		r = 0;
		do
		:: r < RECORDS ->
			if
			:: retired[r] -> waiting[r] = true; retired[r] = false
			:: else
			fi;
			r++
		:: else -> break
		od;
		r = 0
	}
}

inline reclaim()
{
	take();
	synchronize();
	look();
	decide()
}

proctype writer()
{
	byte i, next = 1, r;

	do
	:: next <= RECORDS ->
		/* Under the lock: evict the record, and put another in, the last time none. */
		atomic {
			!locked;
			retired[indexed] = true;
			leaving[indexed] = true;
			indexed = (next < RECORDS -> next : NONE);
			next++
		}
	:: retired[0] || retired[1] -> reclaim()
	:: !retired[0] && !retired[1] && (waiting[0] || waiting[1]) -> look(); decide() /* a release asked for it */
	:: next > RECORDS -> break
	od;
	/* The end of the cache: all have gone. */
	(readers_left == 0);
	reclaim();
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
