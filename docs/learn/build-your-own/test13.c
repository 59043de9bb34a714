/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"
#include "test.h"

int main(void)
{
	struct queue queue = {.count = 100};
	struct waiter a, b, c;

	about("three waiters");
	queue_wait(&queue, &a, 10);
	must(a.number == 110 && !a.awake,
		"100 bytes were evicted, and 10 are wanted: the number is 110");
	queue_wait(&queue, &b, 50);
	must(b.number == 160, "the second one waits for its 50 bytes behind the first one's: 160");
	queue_wait(&queue, &c, 5);
	must(c.number == 165, "a small request does not overtake: 165");

	about("bytes are evicted");
	queue_evicted(&queue, 9);
	must(!a.awake, "109 of 110 bytes were evicted, and the first one woke");
	queue_evicted(&queue, 1);
	must(a.awake, "just 110 bytes were evicted, and the first one did not wake");
	must(!b.awake && !c.awake, "110 bytes were evicted, and somebody else woke");
	must(queue.head == &b && queue.tail == &c, "who wakes leaves the queue");
	queue_evicted(&queue, 1000);
	must(b.awake && c.awake, "1,110 bytes were evicted, and somebody still sleeps");
	must(queue.head == NULL && queue.tail == NULL, "nobody waits, and the queue is not empty");

	about("a waiter after a long time");
	queue_wait(&queue, &a, 10);
	must(a.number == 1120 && !a.awake,
		"nobody waits: the number begins at what was evicted, 1,110");

	about("nothing more can be evicted");
	queue_wait(&queue, &b, 10);
	queue_over(&queue);
	must(a.awake && b.awake, "nothing more can be evicted, and somebody sleeps for ever");
	queue_wait(&queue, &c, 10);
	must(c.number == 1120 && queue.head == &c && queue.tail == &c,
		"after all were woken the queue begins anew");
	return 0;
}
