/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Headers, lists and blocks of steps 8 to 13. Invariant: what a step does with a header that is in
 * use, in a list, or locked by somebody else is told at once.
 */
#include "mini_arc.h"
#include "test.h"

void list_in(struct row *row, struct hdr *hdr)
{
	must(hdr->in == NULL, "a header was put into a list, and stood in one already");
	hdr->in = row;
	hdr->older = row->newest;
	hdr->newer = NULL;
	if (row->newest != NULL)
		row->newest->newer = hdr;
	else
		row->oldest = hdr;
	row->newest = hdr;
}

void list_out(struct hdr *hdr)
{
	must(hdr->in != NULL, "a header was taken out of a list, and stood in none");
	if (hdr->newer != NULL)
		hdr->newer->older = hdr->older;
	else
		hdr->in->newest = hdr->older;
	if (hdr->older != NULL)
		hdr->older->newer = hdr->newer;
	else
		hdr->in->oldest = hdr->newer;
	hdr->in = NULL;
	hdr->newer = hdr->older = NULL;
}

void list_past(struct hdr *marker)
{
	struct hdr *hdr = marker->newer;
	struct row *row = marker->in;

	must(hdr != NULL, "a marker was moved past the newest header, where there is nothing");
	list_out(marker);
	marker->in = row;
	marker->older = hdr;
	marker->newer = hdr->newer;
	if (hdr->newer != NULL)
		hdr->newer->older = marker;
	else
		row->newest = marker;
	hdr->newer = marker;
}

struct hdr *hdr_make(struct row *state, size_t size)
{
	struct hdr *hdr = mem_get(sizeof(*hdr));

	*hdr = (struct hdr){.state = state, .size = size};
	list_in(state, hdr);
	return hdr;
}

void hdr_end(struct hdr *hdr)
{
	must(!hdr->marker, "somebody's marker was ended as if it were a header");
	must(hdr->lock != THEIRS, "a header was ended while another thread had its lock");
	must(hdr->lock == FREE, "a header was ended before its lock was given back");
	must(hdr->users == 0, "a header was ended that somebody uses");
	must(hdr->in == NULL, "a header was ended that stands in a list");
	mem_put(hdr, sizeof(*hdr));
}

bool lock_try(struct hdr *hdr)
{
	must(hdr->lock != OURS, "a lock was taken that this thread has already");
	if (hdr->lock == THEIRS)
		return false;
	hdr->lock = OURS;
	return true;
}

void lock_end(struct hdr *hdr)
{
	must(hdr->lock == OURS, "a lock was given back that this thread did not have");
	hdr->lock = FREE;
}

struct block *block_make(unsigned long key, const char *text)
{
	struct block *block = mem_get(sizeof(*block));

	*block = (struct block){.key = key, .size = strlen(text) + 1};
	block->bytes = mem_get(block->size);
	memcpy(block->bytes, text, block->size);
	return block;
}

struct form *form_make(struct block *block, bool shared)
{
	struct form *form = mem_get(sizeof(*form));

	*form = (struct form){
		.block = block, .next = block->forms, .bytes = block->bytes, .shared = shared};
	if (!shared) {
		form->bytes = mem_get(block->size);
		memcpy(form->bytes, block->bytes, block->size);
	}
	block->forms = form;
	return form;
}

void block_end(struct block *block)
{
	while (block->forms != NULL) {
		struct form *form = block->forms;

		block->forms = form->next;
		if (!form->shared)
			mem_put(form->bytes, block->size);
		mem_put(form, sizeof(*form));
	}
	if (block->bytes != NULL)
		mem_put(block->bytes, block->size);
	mem_put(block, sizeof(*block));
}
