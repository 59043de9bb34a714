/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"
#include "test.h"

static bool goes(struct use use, enum state to)
{
	return state_after(&use) == to;
}

int main(void)
{
	about("blocks that the cache does not know");
	must(goes((struct use){.state = ANON, .now = 5}, MRU), "a new block goes to mru");
	must(goes((struct use){.state = ANON, .uncached = true}, UNCACHED),
		"a new block that is to be dropped after use goes to uncached");

	about("blocks in mru");
	must(goes((struct use){.state = MRU, .noted = 100, .now = 163}, MFU),
		"63 ms after its first use, a block in mru is used again: mfu");
	must(goes((struct use){.state = MRU, .noted = 100, .now = 162}, MRU),
		"62 ms have passed, and not more: it is the same use");
	must(goes((struct use){.state = MRU, .noted = 100, .now = 900, .reading = true}, MRU),
		"who waits for the read that another began makes no second use of it");
	must(goes((struct use){.state = MRU, .noted = 100, .now = 900, .was_prefetch = true}, MRU),
		"a prefetch was no use, so this is the first one: mru");

	about("the time that is noted");
	struct use use = {.state = MRU, .noted = 100, .now = 150};
	must(state_after(&use) == MRU && use.noted == 100,
		"a use in mru, 50 ms after the noted one, is not noted: noted stays as it is");
	use.now = 170;
	must(state_after(&use) == MFU, "70 ms after the noted use: mfu, whatever came between");
	must(use.noted == 170, "a use that moves a block to mfu is noted");
	use = (struct use){.state = MRU, .noted = 100, .now = 120, .reading = true};
	must(state_after(&use) == MRU && use.noted == 120,
		"a use is noted while the block is read, however soon it comes");
	use = (struct use){.state = MRU, .noted = 100, .now = 120, .was_prefetch = true};
	must(state_after(&use) == MRU && use.noted == 120,
		"the first use after a prefetch is noted, however soon it comes");
	use = (struct use){.state = MFU, .noted = 100, .now = 101};
	must(state_after(&use) == MFU && use.noted == 101, "each use in mfu is noted");
	use = (struct use){.state = MRU_GHOST, .noted = 100, .now = 101};
	must(state_after(&use) == MFU && use.noted == 101, "each use of a ghost is noted");

	about("ghosts");
	must(goes((struct use){.state = MRU_GHOST, .noted = 100, .now = 101}, MFU),
		"a ghost of mru is used again, whenever that is: mfu");
	must(goes((struct use){.state = MRU_GHOST, .was_prefetch = true}, MRU),
		"a ghost that was prefetched and not used is used for the first time: mru");
	must(goes((struct use){.state = MFU_GHOST, .was_prefetch = true}, MFU),
		"a ghost of mfu goes back to mfu");

	about("the others");
	must(goes((struct use){.state = MFU, .noted = 1, .now = 900}, MFU), "mfu stays mfu");
	must(goes((struct use){.state = UNCACHED, .noted = 1, .now = 900}, UNCACHED),
		"uncached stays uncached");
	must(goes((struct use){.state = L2C_ONLY, .noted = 1, .now = 900}, MRU),
		"what comes back from the disk was away for long: mru, as if it were new");
	return 0;
}
