/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gangs that share children, as a model for Spin. Each thread adds the same children to a gang of its own and frees its gang; memory
 * may run out at any reserve (abd_gang_add(), abd_gang_append(), abd_gang_free()). One thread's gang owns the second child. Other
 * gangs reach that child only through the owning gang, and the contract says that they must not outlive it.
 *
 * Properties, in every order of steps:
 *   1. while no thread works, a child's count is the number of entries that refer to it; it never goes below 0;
 *   2. no gang uses a freed child, and a child is freed once;
 *   3. a refused add changes nothing: the count still equals the number of entries;
 *   4. no process waits for ever (Spin's invalid end states).
 *
 * Bugs that the search must find: tests/plants, those with "guard: model".
 */
#define THREADS 3
#define CHILDREN 2

short refs[CHILDREN];
bool freed[CHILDREN];
byte running = THREADS;

inline count(child, by)
{
	assert(!freed[child]);
	atomic { refs[child] = refs[child] + (by) };
	assert(refs[child] >= 0)
}

/* Reserve, then append; a refusal comes before anything was changed. */
inline add(child)
{
	if
	:: count(child, 1); entries[child]++
	:: skip /* -ENOMEM */
	fi
}

inline forget_references()
{
	c = 0;
	do
	:: c < CHILDREN ->
		do
		:: entries[c] > 0 -> count(c, -1); entries[c]--
		:: else -> break
		od;
		c++
	:: else -> break
	od
}

inline free_owned()
{
	if
	:: owns -> assert(!freed[1]); freed[1] = true
	:: else
	fi
}

proctype user(byte me)
{
	byte entries[CHILDREN];
	byte c;
	short value;
	bool owns = false;

	if
	:: me == 0 ->
		/* The gang that is given the second child, of which nobody else knows. */
		if
		:: count(1, 1); entries[1]++; owns = true
		:: skip
		fi;
		/* A splice of itself by another gang of the same thread: one child, twice. */
		if
		:: owns -> add(1)
		:: else
		fi;
		add(0)
	:: else -> add(0); add(0)
	fi;
	forget_references();
	free_owned();
	running--
}

init
{
	byte n = 0;

	atomic {
		do
		:: n < THREADS -> run user(n); n++
		:: else -> break
		od
	};
	(running == 0);
	assert(refs[0] == 0 && refs[1] == 0);
	assert(!freed[0]);
	freed[0] = true
}
