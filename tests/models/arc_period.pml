/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Grace periods in lib/arc, as a model for Spin: two writers, of two caches say, share them. Each unlinks a record of its own, begins
 * a grace period and gets its number, and frees the record when it has passed. One grace period at a time is under way; who comes
 * meanwhile gets the next one, which whoever asks for it begins (abd_rcu_period_begin(), abd_rcu_period_has_passed()).
 *
 * Readers read whatever is linked, inside sections. The first reader's are counted by itself. The second one is not enrolled: its
 * sections are counted under the lock, in the counter of the phase (abd_rcu_read_lock_slow()).
 *
 * Memory: a reader that unlinking writers did not see before their barrier sees what they unlinked; so all accesses happen in order.
 *
 * Properties, in every order of steps:
 *   1. no reader reads a freed record;
 *   2. each counter is 0 when the grace period that will wait for it begins;
 *   3. no process is stuck (Spin's invalid end states).
 *
 * Bugs that the search must find: tests/plants, those with "guard: model".
 */
#define WRITERS 2
#define ROUNDS 2
#define SECTIONS 2

byte linked[WRITERS];  /* the writer's record that is linked, or ROUNDS: none is */
byte freed[WRITERS];   /* its records before this one are freed */
bool locked;
/* the reader that is enrolled */
bool in_section;
byte sections;
bool awaited;
byte seen;
/* the one that is not */
byte guests[2];
bit phase;
/* grace periods so far */
byte begun, ended;

inline lock()
{
	atomic { !locked -> locked = true }
}

inline unlock()
{
	locked = false
}

/* Look a record of either writer up, and read it. */
inline read()
{
	if
	:: from = 0
	:: from = 1
	fi;
	found = linked[from];
	if
	:: found < ROUNDS ->
		assert(found >= freed[from]);
		assert(found >= freed[from]) /* some time later */
	:: else
	fi
}

proctype enrolled()
{
	byte n, from, found;

	do
	:: n < SECTIONS ->
		in_section = true;
		read();
		atomic { in_section = false; sections++; n++ }
	:: else -> break
	od
}

proctype guest()
{
	byte n, from, found;
	bit my_phase;

	do
	:: n < SECTIONS ->
		lock();
		atomic { my_phase = phase; guests[my_phase]++ };
		unlock();
		read();
		lock();
		atomic { guests[my_phase]--; n++ };
		unlock()
	:: else -> break
	od
}

/* Under the lock. */
inline period_next()
{
	awaited = in_section;
	seen = sections;
	phase = 1 - phase;
	assert(guests[phase] == 0);
	begun++
}

inline look()
{
	if
	:: awaited && sections != seen -> awaited = false
	:: else
	fi;
	if
	:: !awaited && guests[1 - phase] == 0 -> ended = begun
	:: else
	fi
}

proctype writer(byte me)
{
	byte period;
	bool passed;

	do
	:: linked[me] < ROUNDS ->
		linked[me]++; /* the old one is unlinked, the next one linked */
		lock();
		atomic {
			if
			:: ended < begun -> look()
			:: else
			fi;
			period = begun + 1;
			if
			:: ended == begun -> period_next()
			:: else
			fi
		};
		unlock();
		passed = false;
		do
		:: !passed ->
			lock();
			atomic {
				if
				:: ended < begun && ended < period -> look()
				:: else
				fi;
				if
				:: ended == begun && begun < period -> period_next(); look()
				:: else
				fi;
				passed = ended >= period
			};
			unlock()
		:: else -> break
		od;
		freed[me]++
	:: else -> break
	od
}

init
{
	atomic {
		run enrolled();
		run guest();
		run writer(0);
		run writer(1)
	}
}
