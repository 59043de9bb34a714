/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"
#include "test.h"

enum { MOST = 16 };
static struct misses misses;
static struct {
	long who;
	int error;
} called[MOST];
static size_t calls;

static void told(void *arg, int error)
{
	must(calls < MOST, "a callback was called more than once");
	called[calls].who = (long)(size_t)arg;
	called[calls++].error = error;
}

static void asks_again(void *arg, int error)
{
	told(arg, error);
	must(miss_ask(&misses, 7, told, (void *)9),
		"a callback asked for the same key again, and was told to wait for the read that is "
		"over: take the list away before you call");
}

int main(void)
{
	about("three who ask for one key, and one for another");
	must(miss_ask(&misses, 7, told, (void *)1), "the first who asks for a key has to read");
	must(!miss_ask(&misses, 7, told, (void *)2),
		"somebody reads this key: who comes second waits");
	must(miss_ask(&misses, 8, told, (void *)3), "another key: its first one has to read, too");
	must(!miss_ask(&misses, 7, told, (void *)4),
		"somebody reads this key: who comes third waits");
	must(calls == 0, "nothing was read yet, and somebody was called");

	about("the read of one key is done");
	miss_done(&misses, 7, 0);
	must(calls == 3, "three waited for the key, and all three are called; nobody else is");
	must(called[0].who == 1 && called[1].who == 2 && called[2].who == 4,
		"those who waited are called in the order in which they came");
	must(miss_ask(&misses, 7, told, (void *)5),
		"the read is done: who asks now is a first one again");
	must(!miss_ask(&misses, 8, told, (void *)6), "the other key is still being read");

	about("a read that fails");
	miss_done(&misses, 8, -5);
	must(calls == 5 && called[3].error == -5 && called[4].error == -5,
		"a read failed: all who waited get its error");
	miss_done(&misses, 7, 0);

	about("a callback that asks for the same key");
	calls = 0;
	must(miss_ask(&misses, 7, asks_again, (void *)8),
		"the first who asks for a key has to read");
	miss_done(&misses, 7, 0);
	must(calls == 1,
		"who asked in a callback waits for the next read, and was called for this one");
	miss_done(&misses, 7, 0);
	must(calls == 2 && called[1].who == 9, "who asked in a callback was not called");
	all_came_back();
	return 0;
}
