/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is counted, and filled with 0xdd once it came back. It is never used again, so that a
 * reader of what ended sees it. Invariant: in front of each piece of memory stands a head that says
 * whose it is.
 */
#include "test.h"

#include <signal.h>
#include <unistd.h>

enum whose { HEAP = 0x48454150, RUN = 0x52554e, CALLER = 0x43414c4c, GONE = 0x474f4e45 };

struct head {
	enum whose whose;
	size_t size;
};

enum { HEAD = 64, FENCE = 16 };

size_t mem_largest_run = 1024, mem_runs_left = (size_t)-1;
void (*shared_look_then)(void);
static _Atomic(size_t) in_use, given;
static const char *what = "nothing yet";

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void crashed(int number)
{
	say(number == SIGALRM ? "wrong: it does not end. It was checked: "
			      : "wrong: it crashed. It was checked: ");
	say(what);
	say("\n");
	_exit(1);
}

void about(const char *text)
{
	what = text;
	signal(SIGSEGV, crashed);
	signal(SIGBUS, crashed);
	signal(SIGFPE, crashed);
	signal(SIGABRT, crashed);
	signal(SIGALRM, crashed);
	alarm(20);
}

void must(bool so, const char *wrong)
{
	if (so)
		return;
	say("wrong: ");
	say(wrong);
	say("\n");
	_exit(1);
}

size_t mem_in_use(void)
{
	return in_use;
}

size_t mem_given(void)
{
	return given;
}

void all_came_back(void)
{
	must(in_use == 0,
		"memory was left behind: each buffer was freed, and its struct or its bytes were "
		"not");
}

static void *get(size_t size, enum whose whose)
{
	char *mem = malloc(HEAD + size + FENCE);

	if (mem == NULL)
		abort();
	*(struct head *)(void *)mem = (struct head){.whose = whose, .size = size};
	memset(mem + HEAD, 0xee, size + FENCE);
	if (whose != CALLER) {
		in_use += size;
		given++;
	}
	return mem + HEAD;
}

static void put(void *mem, size_t size, enum whose whose)
{
	must(mem != NULL, "NULL was given back");
	struct head *head = (struct head *)(void *)((char *)mem - HEAD);

	must(head->whose != GONE, "memory was given back twice");
	must(head->whose != CALLER, "memory that is the caller's was freed: only its owner may");
	must(head->whose == whose,
		whose == HEAP ? "a run of pages was given to the heap, which never gave it out"
			      : "memory of the heap was given to where runs come from");
	must(head->size == size, "memory came back with another size");
	for (size_t i = 0; i < FENCE; i++)
		must(((unsigned char *)mem)[size + i] == 0xee,
			"something was written behind the end of a piece");
	head->whose = GONE;
	memset(mem, 0xdd, size);
	in_use -= size;
}

void *mem_get(size_t size)
{
	return get(size, HEAP);
}

void *mem_callers(size_t size)
{
	return get(size, CALLER);
}

void mem_put(void *mem, size_t size)
{
	put(mem, size, HEAP);
}

void *mem_run(size_t pages)
{
	must(pages > 0 && (pages & (pages - 1)) == 0,
		"runs have 1, 2, 4, 8... pages; another number was asked for");
	if (pages > mem_largest_run || mem_runs_left == 0)
		return NULL;
	mem_runs_left--;
	return get(pages * PAGE, RUN);
}

void mem_run_put(void *run, size_t pages)
{
	put(run, pages * PAGE, RUN);
}

/* Pairs of how often, and what. */
size_t pack(char *to, const char *from, size_t size)
{
	size_t used = 0, times;

	for (size_t i = 0; i < size; i += times) {
		for (times = 1; times < 255 && i + times < size && from[i + times] == from[i];
			times++)
			;
		if (used + 2 >= size)
			return 0;
		to[used++] = (char)times;
		to[used++] = from[i];
	}
	return used;
}

void unpack(char *to, size_t size, const char *from, size_t packed)
{
	size_t done = 0;

	for (size_t i = 0; i + 1 < packed; i += 2) {
		size_t times = (unsigned char)from[i];

		must(times <= size - done,
			"a packed record that is unpacked is not one that pack() made");
		memset(to + done, from[i + 1], times);
		done += times;
	}
	must(done == size, "a record came out with another size than it had");
}

struct mini *shared_look(_Atomic(struct mini *) *slot)
{
	struct mini *found = atomic_load(slot);
	void (*then)(void) = shared_look_then;

	if (then != NULL) {
		shared_look_then = NULL;
		then();
	}
	return found;
}

struct entry *cache_find(struct cache *cache, unsigned key)
{
	for (struct entry *e = cache->entry; e < cache->entry + 2 * cache->records; e++)
		if (e->list != NONE && e->key == key)
			return e;
	return NULL;
}

struct entry *cache_oldest(struct cache *cache, enum list list)
{
	struct entry *found = NULL;

	for (struct entry *e = cache->entry; e < cache->entry + 2 * cache->records; e++)
		if (e->list == list && (found == NULL || e->used < found->used))
			found = e;
	return found;
}
