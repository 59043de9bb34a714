/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

static size_t lens[8], calls;
static char *addrs[8];

static int note_len(char *addr, size_t len, void *arg)
{
	(void)arg;
	addrs[calls % 8] = addr;
	lens[calls++ % 8] = len;
	return 0;
}

static int stop(char *addr, size_t len, void *arg)
{
	(void)addr, (void)len, (void)arg;
	calls++;
	return 7;
}

int main(void)
{
	static char flat[10000], back[10000];

	about("mini_alloc_pages(10000)");
	struct mini *buffer = mini_alloc_pages(10000);
	must(buffer != NULL && buffer->size == 10000 && buffer->count == 3,
		"10,000 bytes lie in three pages");
	must(buffer->piece[2].len == 10000 - 2 * PAGE,
		"the last piece is as long as a page, but the buffer ends before: only 1,808 of "
		"its bytes are the buffer's");

	about("mini_each() over [5000, +4000)");
	mini_each(buffer, 5000, 4000, note_len, NULL);
	must(calls == 2, "bytes 5,000 to 8,999 lie in two pieces, and func was not called twice");
	must(lens[0] == 2 * PAGE - 5000, "the first span ends where its page ends");
	must(addrs[1] == buffer->piece[2].addr,
		"the second span begins with its page: the offset into the first page is no "
		"offset into the second");
	must(lens[1] == 9000 - 2 * PAGE, "the second span ends with the range");
	calls = 0;
	must(mini_each(buffer, 10000, 0, note_len, NULL) == 0 && calls == 0,
		"no bytes are no call");
	must(mini_each(buffer, 0, 10000, stop, NULL) == 7 && calls == 1,
		"func said stop with 7: that ends the walk, and is returned");

	about("mini_copy_in() and mini_copy_out()");
	for (size_t i = 0; i < sizeof(flat); i++)
		flat[i] = (char)(i * 7 / 3);
	for (size_t off = 0; off < 10000; off += 997) {
		mini_copy_in(buffer, flat + off, off, 10000 - off);
		mini_copy_out(back, buffer, off, 10000 - off);
		must(memcmp(back, flat + off, 10000 - off) == 0,
			"what was copied in does not come out");
	}
	mini_free(buffer);
	all_came_back();

	about("memory is refused in the middle");
	mem_runs_left = 2;
	must(mini_alloc_pages(10000) == NULL, "the third page was refused, so there is no buffer");
	all_came_back();
	return 0;
}
