/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"

void queue_wait(struct queue *queue, struct waiter *waiter, unsigned long amount)
{
	unsigned long from = queue->count;

	if (queue->tail != NULL && queue->tail->number > from)
		from = queue->tail->number;
	*waiter = (struct waiter){.number = from + amount};
	if (queue->tail != NULL)
		queue->tail->next = waiter;
	else
		queue->head = waiter;
	queue->tail = waiter;
}

static void wake(struct queue *queue)
{
	struct waiter *waiter = queue->head;

	queue->head = waiter->next;
	if (queue->head == NULL)
		queue->tail = NULL;
	waiter->next = NULL;
	waiter->awake = true;
}

void queue_evicted(struct queue *queue, unsigned long bytes)
{
	queue->count += bytes;
	while (queue->head != NULL && queue->head->number <= queue->count)
		wake(queue);
}

void queue_over(struct queue *queue)
{
	while (queue->head != NULL)
		wake(queue);
}
