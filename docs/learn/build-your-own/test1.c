/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

int main(void)
{
	about("mini_alloc_linear(), then mini_free()");
	struct mini *buffer = mini_alloc_linear(6000);
	must(buffer != NULL && buffer->size == 6000 && buffer->count == 1 &&
			buffer->piece[0].len == 6000,
		"a linear buffer of 6,000 bytes has that size, and one piece of that length");
	memset(buffer->piece[0].addr, 1, 6000);
	mini_free(buffer);
	all_came_back();

	about("mini_wrap(), then mini_free()");
	char *mem = mem_callers(100);
	buffer = mini_wrap(mem, 100);
	must(buffer->piece[0].addr == mem, "a wrapped buffer has the caller's memory, not a copy");
	mini_free(buffer);
	all_came_back();

	about("mini_take(): the buffer ends the memory it was given");
	mem = mem_get(300);
	buffer = mini_wrap(mem, 300);
	mini_take(buffer);
	mini_free(buffer);
	must(mem_in_use() == 0, "the buffer took the memory over, and did not free it");

	about("mini_give(): the memory outlives the buffer");
	buffer = mini_alloc_linear(300);
	mem = mini_give(buffer);
	mini_free(buffer);
	must(mem_in_use() == 300,
		"the buffer gave its memory away, and freed it all the same: the new owner has "
		"none");
	mem_put(mem, 300);
	all_came_back();
	return 0;
}
