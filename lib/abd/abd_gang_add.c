/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adding a buffer to a gang; a gang is added child by child.
 * Invariant: memory for the entries is reserved before anything changes, so a refusal leaves both
 * sides as they were.
 * OpenZFS: abd_gang_add(), abd_gang_add_gang() in module/zfs/abd.c.
 */
#include "abd_check.h"
#include "abd_gang.h"

size_t abd_gang_span(
	const abd_t *cabd, size_t off, size_t size, const struct abd_gang_entry **first)
{
	const struct abd_gang *gang = abd_gang_table(cabd);
	size_t at = ABD_GANG(cabd).abd_offset + off;

	*first = NULL;
	if (size == 0)
		return 0;
	*first = abd_gang_seek(gang, at);
	return (size_t)(abd_gang_seek(gang, at + size - 1) - *first) + 1;
}

bool abd_gang_append_range(abd_t *pabd, const abd_t *cabd, size_t off, size_t size, bool hand_over)
{
	const struct abd_gang_entry *entry;
	size_t count = abd_gang_span(cabd, off, size, &entry);
	size_t at = ABD_GANG(cabd).abd_offset + off, end = at + size;

	if (!abd_gang_reserve(pabd, count))
		return false;
	for (size_t i = 0; i < count; i++, entry++) {
		size_t skip = at - entry->start;
		size_t n = abd_min(entry->size - skip, end - at);

		abd_gang_append(
			pabd, entry->child, entry->child_off + skip, n, hand_over && entry->owned);
		at += n;
	}
	return true;
}

/* Append a gang's children one by one. With free_on_free pabd takes over those that cabd owns. */
static int abd_gang_add_gang(abd_t *pabd, abd_t *cabd, bool free_on_free)
{
	bool hand_over = free_on_free && ABD_GANG(cabd).abd_root == NULL;

	if (!abd_gang_append_range(pabd, cabd, 0, cabd->abd_size, hand_over))
		return -ENOMEM;
	if (!free_on_free)
		return 0;

	struct abd_gang *gang = hand_over ? ABD_GANG(cabd).abd_table : NULL;

	for (size_t i = 0; gang != NULL && i < gang->count; i++)
		gang->entries[i].owned = false;
	abd_free(cabd);
	return 0;
}

int abd_gang_add(abd_t *pabd, abd_t *cabd, bool free_on_free)
{
	abd_check(__func__, pabd);
	abd_check(__func__, cabd);
	ABD_REQUIRE(abd_is_gang(pabd), "the buffer of %zu bytes is no gang", pabd->abd_size);
	ABD_REQUIRE(ABD_GANG(pabd).abd_root == NULL,
		"the gang of %zu bytes is a view; nothing can be added to it", pabd->abd_size);
	ABD_REQUIRE(pabd != cabd, "a gang of %zu bytes is added to itself", pabd->abd_size);
	ABD_REQUIRE(cabd->abd_size <= SIZE_MAX - ABD_GANG(pabd).abd_offset - pabd->abd_size,
		"a gang of %zu bytes can't grow by %zu", pabd->abd_size, cabd->abd_size);
	if (abd_is_gang(cabd)) {
		ABD_REQUIRE(ABD_GANG(cabd).abd_root != pabd,
			"a gang of %zu bytes is added to itself by a view", pabd->abd_size);
		return abd_gang_add_gang(pabd, cabd, free_on_free);
	}
	ABD_REQUIRE(cabd->abd_size > 0, "the child is empty, or was freed");
	ABD_REQUIRE(!free_on_free || __atomic_load_n(&cabd->abd_gang_refs, __ATOMIC_RELAXED) == 0,
		"a child of %zu bytes is to be freed with the gang, but is in a gang already",
		cabd->abd_size);
	if (!abd_gang_reserve(pabd, 1))
		return -ENOMEM;
	if (free_on_free)
		cabd->abd_flags |= ABD_FLAG_GANG_FREE;
	abd_gang_append(pabd, cabd, 0, cabd->abd_size, free_on_free);
	return 0;
}

static bool abd_gang_add_piece(abd_t *gang, const struct abd_piece *piece)
{
	if (abd_is_gang(piece->abd))
		return abd_gang_append_range(gang, piece->abd, piece->off, piece->size, false);
	if (!abd_gang_reserve(gang, 1))
		return false;
	abd_gang_append(gang, abd_books(piece->abd), piece->off, piece->size, false);
	return true;
}

const abd_t *abd_from_pieces(const struct abd_piece *pieces, size_t count)
{
	size_t sum = 0;

	ABD_REQUIRE(pieces != NULL || count == 0, "pieces is NULL");
	for (size_t i = 0; i < count; i++) {
		abd_check_pieces(__func__, pieces[i].abd, pieces[i].off, pieces[i].size);
		if (pieces[i].size > SIZE_MAX - sum) {
			sum = 0;
			break;
		}
		sum += pieces[i].size;
	}
	if (sum == 0) {
		errno = EINVAL;
		return NULL;
	}

	abd_t *gang = abd_alloc_gang();

	for (size_t i = 0; gang != NULL && i < count; i++) {
		if (pieces[i].size == 0 || abd_gang_add_piece(gang, &pieces[i]))
			continue;
		abd_free(gang);
		gang = NULL;
		errno = ENOMEM;
	}
	return gang;
}
