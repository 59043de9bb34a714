/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"
#include "test.h"

static const char text[] = "as it was read";

int main(void)
{
	about("a form that is alone");
	struct block *block = block_make(5, text);
	struct form *form = form_make(block, false);

	release(form);
	must(form->block == block, "the only form of a header takes the header along");
	must(block->key == 0,
		"a header that went along still has its key: others would find changed bytes");
	block_end(block);
	all_came_back();

	about("a form that shares the header's bytes, among three");
	block = block_make(5, text);
	struct form *third = form_make(block, false), *mine = form_make(block, true),
		    *first = form_make(block, false);
	char *bytes = mine->bytes;

	release(mine);
	must(block->key == 5,
		"others use this header, and it lost its key: nobody finds it any more");
	must(mine->block != block && mine->block != NULL, "the form needs a header of its own");
	must(mine->block->key == 0 && mine->block->forms == mine && mine->next == NULL,
		"the new header has no key, and this one form");
	must(mine->block->size == sizeof(text), "the new header has the size of the old one");
	must(block->forms == first && first->next == third && third->next == NULL,
		"the form is still among the forms of its old header, or others are not any more");
	must(mine->bytes == bytes, "the form keeps its bytes: its user has their address");
	memcpy(mine->bytes, "AS IT WILL BE!", sizeof(text));
	must(block->bytes != NULL && strcmp(block->bytes, text) == 0,
		"the form was changed, and the old header's bytes with it: it needs a copy first");
	must(!mine->shared, "the form's bytes are its own now");
	must(mine->block->bytes == NULL, "the new header has no bytes until it is written");

	about("a form with bytes of its own, the last of the list");
	release(third);
	must(block->forms == first && first->next == NULL && third->block->forms == third,
		"the last form of the list was not taken out of it");
	must(strcmp(third->bytes, text) == 0, "a form with bytes of its own keeps them");
	block_end(third->block);
	block_end(mine->block);
	block_end(block);
	all_came_back();
	return 0;
}
