/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

int main(void)
{
	char flat[12288], back[12288];

	memset(flat, 'a', sizeof(flat));
	about("borrowing a buffer in one run");
	struct mini *buffer = mini_alloc(8192);
	size_t before = mem_given();
	char *lent = mini_borrow_copy(buffer);
	must(mem_given() == before,
		"memory was allocated to borrow a buffer that is in one piece: its own address "
		"would do. This is where the 5 % went");
	lent[0] = 'x';
	mini_return_copy(buffer, lent);
	mini_copy_out(back, buffer, 0, 1);
	must(back[0] == 'x', "what was written to a borrowed buffer is lost");
	mini_free(buffer);
	all_came_back();

	about("borrowing a buffer in three pages");
	buffer = mini_alloc_pages(12288);
	mini_copy_in(buffer, flat, 0, 12288);
	lent = mini_borrow_copy(buffer);
	must(memcmp(lent, flat, 12288) == 0, "a borrowed copy has the buffer's bytes");
	mini_copy_in(buffer, "later", 5000, 5);
	mini_return(buffer, lent);
	mini_copy_out(back, buffer, 5000, 5);
	must(memcmp(back, "later", 5) == 0,
		"mini_return() wrote the copy back: it was only read, and the buffer has changed "
		"since");

	about("filling a buffer in three pages");
	lent = mini_borrow(buffer);
	memset(lent, 'b', 12288);
	mini_return_copy(buffer, lent);
	mini_copy_out(back, buffer, 0, 12288);
	must(back[0] == 'b' && back[12287] == 'b',
		"mini_return_copy() did not write the copy back");
	mini_free(buffer);
	all_came_back();
	return 0;
}
