/* SPDX-License-Identifier: BSD-2-Clause */
/* Step 5: in one piece for who needs it, and without a copy where it is one already. */
#include "mini.h"

void *mini_borrow(struct mini *buffer)
{
	return mini_is_linear(buffer) ? buffer->piece[0].addr : mem_get(buffer->size);
}

void *mini_borrow_copy(struct mini *buffer)
{
	void *lent = mini_borrow(buffer);

	if (lent != NULL && !mini_is_linear(buffer))
		mini_copy_out(lent, buffer, 0, buffer->size);
	return lent;
}

void mini_return(struct mini *buffer, void *lent)
{
	if (!mini_is_linear(buffer))
		mem_put(lent, buffer->size);
}

void mini_return_copy(struct mini *buffer, void *lent)
{
	if (!mini_is_linear(buffer))
		mini_copy_in(buffer, lent, 0, buffer->size);
	mini_return(buffer, lent);
}
