/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"
#include "test.h"

int main(void)
{
	struct row row = {0};
	struct hdr *old = hdr_make(&row, 1), *middle = hdr_make(&row, 1),
		   *young = hdr_make(&row, 1);

	about("two users of a header in the middle of a list");
	must(hdr_hold(middle) == 1, "hdr_hold() says how many users there are: one");
	must(middle->in == NULL,
		"a header is in use, and still stands in its list: eviction takes it");
	must(old->newer == young, "the others of the list are not side by side any more");
	must(hdr_hold(middle) == 2, "hdr_hold() says how many users there are: two");
	must(hdr_release(middle) == 1 && middle->in == NULL,
		"one user of two let go, and the header was put back while the other still uses it");
	must(hdr_release(middle) == 0 && middle->in == &row,
		"the last user let go, and the header did not come back to its list");
	must(row.newest == middle, "who comes back to a list is its newest: it has just been used");

	about("a block that goes while its header is held");
	must(hdr_hold(old) == 1, "hdr_hold() says how many users there are: one");
	old->gone = true;
	hdr_hold(old);
	hdr_release(old);
	size_t before = mem_in_use();
	must(hdr_release(old) == 0, "hdr_release() says how many users are left: none");
	must(row.oldest != old && row.newest == middle,
		"the block of a header was gone, and the header was put back");
	must(mem_in_use() < before, "the last user of a header that is gone must end it");

	about("a header that changed its state while it was held");
	struct row other = {0};

	hdr_hold(young);
	young->state = &other;
	hdr_release(young);
	must(other.newest == young, "a header comes back to the list of the state that it has now");
	list_out(young);
	hdr_end(young);
	list_out(middle);
	hdr_end(middle);
	all_came_back();
	return 0;
}
