/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host under ThreadSanitizer, beside a library that was built without it: one thread puts, two
 * read and hold. Records are small, so the C library copies them, which ThreadSanitizer watches.
 */
#include <abd/abd.h>
#include <abd/arc.h>

#include <pthread.h>
#include <stdio.h>

enum { KEYS = 500, SIZE = 400, ROUNDS = 40000 };

static abd_arc_t *arc;

static void *put(void *arg)
{
	char record[SIZE];
	unsigned x = 1;

	for (unsigned i = 0; i < ROUNDS / 2; i++) {
		abd_arc_key_t key = {.birth = i % KEYS};

		for (unsigned k = 0; k < SIZE; k++)
			record[k] = (char)((x = x * 1664525u + 1013904223u) >> 24);
		abd_arc_put(arc, &key, record, 100 + i % (SIZE - 100));
	}
	return arg;
}

static void *get(void *arg)
{
	char back[100];

	for (unsigned i = 0; i < ROUNDS; i++) {
		abd_arc_key_t key = {.birth = i * 7 % KEYS};
		abd_arc_hold_t hold;

		abd_arc_read(arc, &key, back, 0, sizeof(back));
		if (abd_arc_hold(arc, &key, &hold) == 0) {
			abd_arc_hold_read(&hold, back, 0, 50);
			abd_arc_release(&hold);
		}
	}
	return arg;
}

int main(void)
{
	struct abd_arc_config config = {.config_size = sizeof(config), .capacity_bytes = 1 << 20};
	pthread_t thread[3];

	arc = abd_arc_create(&config);
	pthread_create(&thread[0], NULL, put, NULL);
	pthread_create(&thread[1], NULL, get, NULL);
	pthread_create(&thread[2], NULL, get, NULL);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	abd_arc_destroy(arc);
	return puts("done") < 0;
}
