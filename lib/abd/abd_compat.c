/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What OpenZFS's dialect does about refused memory: a reap, then the engine's handler, then the
 * end of the program. Its calls are inline in the header, over those that return NULL.
 * OpenZFS: abd.c allocates with KM_SLEEP there, umem with UMEM_NOFAIL in userspace.
 */
#include "abd_impl.h"

#include <abd/compat/openzfs.h>

#include <stdio.h>

#undef abd_gang_add /* the one that returns -ENOMEM */

int *abd_compat_scatter_enabled = &abd_tune.scatter_enabled;

static bool (*_Atomic abd_compat_handler)(const char *call, size_t size);

void abd_compat_refusal_handler_set(bool (*handler)(const char *call, size_t size))
{
	atomic_store(&abd_compat_handler, handler);
}

void abd_compat_refused(const char *call, size_t size, unsigned tries)
{
	bool (*handler)(const char *, size_t) = atomic_load(&abd_compat_handler);
	char message[128];

	if (size == 0)
		abd_contract_fail(call, "size 0");
	if (tries == 0) {
		abd_cache_reap_now();
		return;
	}
	if (handler != NULL && handler(call, size))
		return;
	snprintf(message, sizeof(message), "abd: no memory: %s: %zu bytes", call, size);
	abd_contract_end(message);
}

void abd_compat_gang_add(abd_t *pabd, abd_t *cabd, bool free_on_free)
{
	for (unsigned tries = 0; abd_gang_add(pabd, cabd, free_on_free) != 0; tries++)
		abd_compat_refused("abd_gang_add", cabd->abd_size, tries);
}
