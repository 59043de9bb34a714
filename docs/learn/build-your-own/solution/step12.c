/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"

#include <string.h>

void release(struct form *form)
{
	struct block *old = form->block;

	if (old->forms == form && form->next == NULL) {
		old->key = 0; /* the header goes along */
		return;
	}
	struct form **at = &old->forms;

	while (*at != form)
		at = &(*at)->next;
	*at = form->next;
	if (form->shared) {
		old->bytes = mem_get(old->size);
		memcpy(old->bytes, form->bytes, old->size);
		form->shared = false;
	}
	struct block *own = mem_get(sizeof(*own));

	*own = (struct block){.size = old->size, .forms = form};
	form->block = own;
	form->next = NULL;
}
