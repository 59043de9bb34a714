/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

#include <pthread.h>

enum { BYTES = 64, TIMES = 3000 };
static struct shared shared;
static atomic_bool over;

static struct mini *filled(char with)
{
	struct mini *buffer = mini_alloc_linear(BYTES);

	memset(buffer->piece[0].addr, with, BYTES);
	return buffer;
}

static void must_be_whole(struct mini *buffer, const char *wrong)
{
	char bytes[BYTES];

	memcpy(bytes, buffer->piece[0].addr, BYTES);
	for (size_t i = 0; i < BYTES; i++)
		must(bytes[i] == bytes[0] && bytes[0] != (char)0xdd, wrong);
}

static void replace_now(void)
{
	shared_replace(&shared, 0, filled('c'));
}

static void *reader(void *arg)
{
	size_t note = (size_t)arg;

	while (!over) {
		struct mini *held = shared_hold(&shared, 0, note);

		must_be_whole(held, "a reader's buffer ended while it was read");
		shared_release(&shared, note);
	}
	return NULL;
}

int main(void)
{
	about("a buffer is replaced while it is held");
	must(shared_replace(&shared, 0, filled('a')), "the first buffer of a slot was not taken");
	struct mini *held = shared_hold(&shared, 0, 1);
	must(shared_replace(&shared, 0, filled('b')), "a buffer that is held may be replaced");
	must(held->size == BYTES,
		"the writer ended a buffer that a reader's note names: it must wait for the "
		"release");
	must_be_whole(held,
		"the writer ended a buffer that a reader's note names: it must wait for the "
		"release");
	shared_release(&shared, 1);

	about("the writer comes between a reader's look and its note");
	shared_look_then = replace_now;
	held = shared_hold(&shared, 0, 1);
	must(held == shared.slot[0],
		"the writer came between the look and the note, and saw no note: look again "
		"after the note is written");
	must_be_whole(held, "what was held had ended");
	shared_release(&shared, 1);

	about("two readers and a writer");
	pthread_t thread[2];
	for (size_t i = 0; i < 2; i++)
		must(pthread_create(&thread[i], NULL, reader, (void *)i) == 0,
			"no thread could be started");
	for (int i = 0; i < TIMES; i++) {
		struct mini *next = filled((char)('a' + i % 20));

		while (!shared_replace(&shared, 0, next))
			;
	}
	over = true;
	for (size_t i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	must(shared_replace(&shared, 0, NULL), "nobody reads, and what waits was not ended");
	must(shared_replace(&shared, 1, NULL), "nobody reads, and what waits was not ended");
	all_came_back();
	return 0;
}
