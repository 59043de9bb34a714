/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"

bool miss_ask(struct misses *misses, unsigned long key, ask_func *func, void *arg)
{
	struct ask *ask = mem_get(sizeof(*ask)), **last = &misses->first;
	bool first = true;

	*ask = (struct ask){.key = key, .func = func, .arg = arg};
	for (; *last != NULL; last = &(*last)->next)
		if ((*last)->key == key)
			first = false;
	*last = ask;
	return first;
}

void miss_done(struct misses *misses, unsigned long key, int error)
{
	struct ask *mine = NULL, **last = &mine;

	for (struct ask **at = &misses->first; *at != NULL;) {
		struct ask *ask = *at;

		if (ask->key != key) {
			at = &ask->next;
			continue;
		}
		*at = ask->next;
		ask->next = NULL;
		*last = ask;
		last = &ask->next;
	}
	while (mine != NULL) {
		struct ask *ask = mine;

		mine = ask->next;
		ask->func(ask->arg, error);
		mem_put(ask, sizeof(*ask));
	}
}
