/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

int main(void)
{
	static char flat[16384], back[16384];

	for (size_t i = 0; i < sizeof(flat); i++)
		flat[i] = (char)(i / 3);
	struct mini *buffer = mini_alloc_pages(16384);
	mini_copy_in(buffer, flat, 0, 16384);

	about("mini_view(buffer, 5000, 4000)");
	size_t before = mem_in_use();
	struct mini *view = mini_view(buffer, 5000, 4000);
	must(view != NULL && view->size == 4000, "a view has the size it was asked for");
	must(mem_in_use() - before < 1000,
		"a view was given memory for bytes: it shares the buffer's");
	mini_copy_out(back, view, 0, 4000);
	must(memcmp(back, flat + 5000, 4000) == 0,
		"the view of [5000, +4000) shows other bytes: only its first piece begins within "
		"a page, the others at their first byte");
	mini_copy_in(view, "here", 3500, 4);
	mini_copy_out(back, buffer, 8500, 4);
	must(memcmp(back, "here", 4) == 0, "what is written to a view is in its buffer");

	about("a view of a view");
	struct mini *inner = mini_view(view, 1000, 2000);
	mini_copy_out(back, inner, 0, 2000);
	must(memcmp(back, flat + 6000, 2000) == 0,
		"a view of [1000, +2000) of a view of [5000, ...) begins at 6,000");
	mini_free(inner);
	mini_free(view);
	mini_copy_out(back, buffer, 0, 100);
	must(memcmp(back, flat, 100) == 0,
		"a view ended, and took its buffer's bytes along: it owns none");

	about("mini_gang() that owns nothing");
	struct mini *small = mini_alloc_linear(1000), *part[] = {small, buffer, small};
	memset(small->piece[0].addr, 's', 1000);
	struct mini *gang = mini_gang(part, 2, false);
	mini_free(gang);
	must(small->size == 1000 && buffer->size == 16384,
		"the gang ended children that it did not own");

	about("mini_gang() with one child twice");
	gang = mini_gang(part, 3, false);
	must(gang != NULL && gang->size == 18384, "a gang is as long as its children together");
	mini_copy_out(back, gang, 17384, 1000);
	must(back[0] == 's' && back[999] == 's', "one child may be in a gang twice");
	mini_free(gang);

	about("mini_gang() that owns its children");
	gang = mini_gang(part, 2, true);
	mini_free(gang);
	must(mem_in_use() == 0, "the gang owned its children, and they did not end with it");
	all_came_back();
	return 0;
}
