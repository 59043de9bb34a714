/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"
#include "test.h"

enum { HEADERS = 30, SIZE = 100 };
static struct row row;
static struct hdr *hdr[HEADERS], mine = {.marker = true}, other = {.marker = true};

/* hdr[0] is the oldest; the marker stands before it. */
static void fill(void)
{
	list_in(&row, &mine);
	for (size_t i = 0; i < HEADERS; i++) {
		hdr[i] = hdr_make(&row, SIZE);
		if (i == 4)
			list_in(&row, &other);
	}
}

static void end(void)
{
	for (struct hdr *at = row.newest, *next; at != NULL; at = next) {
		next = at->older;
		list_out(at);
		if (!at->marker) {
			at->lock = FREE;
			hdr_end(at);
		}
	}
	all_came_back();
}

int main(void)
{
	about("three headers' bytes from a list of thirty");
	fill();
	must(evict_some(&mine, 250) == 3 * SIZE,
		"250 bytes are wanted, and each header has 100: three headers go");
	must(mine.newer == hdr[3], "the marker stands where the walk stopped");

	about("a lock that another thread has, and another one's marker");
	hdr[3]->lock = THEIRS;
	hdr[6]->lock = THEIRS;
	must(evict_some(&mine, 250) == 3 * SIZE,
		"a header whose lock is taken is passed by; those behind it can be evicted");
	must(hdr[3]->in == &row && hdr[6]->in == &row,
		"a header left its list though another has its lock");
	must(other.in == &row, "another one's marker left the list");
	must(mine.newer == hdr[8], "the marker stands where the walk stopped");

	about("much more than there is");
	must(evict_some(&mine, 1000000) == EVICT_MOST * SIZE,
		"one call ends ten headers at most, so that others get the list's lock");
	must(mine.newer == hdr[18], "the next call goes on where this one stopped");
	must(evict_some(&mine, 1000000) == EVICT_MOST * SIZE, "ten more are there");
	must(evict_some(&mine, 1000000) == 2 * SIZE, "two are left before the newest end");
	must(evict_some(&mine, 1) == 0, "at the newest end there is nothing more");
	end();
	return 0;
}
