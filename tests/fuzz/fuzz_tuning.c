/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target. An input is a tunable's name, 0, its value, 0, and so on. Each text is accepted
 * or refused with one of two errors. The tunable then has the new value, or the one before.
 * Afterwards a buffer can still be made and copied.
 */
#include "fuzz_input.h"

#include <abd/abd.h>

#include <errno.h>
#include <string.h>

enum { TEXT_MAX = 512, HUGE_PAGE = 2 << 20 };

static void text_take(struct fuzz_input *in, char text[TEXT_MAX])
{
	size_t size = 0;

	while (in->next < in->end && *in->next != 0 && size < TEXT_MAX - 1)
		text[size++] = (char)*in->next++;
	in->next += in->next < in->end;
	text[size] = '\0';
}

/* Copy a text; NULL becomes "". */
static void text_copy(char to[TEXT_MAX], const char *from)
{
	snprintf(to, TEXT_MAX, "%s", from != NULL ? from : "");
}

/*
 * A number that was accepted reads back as the same digits, without leading zeros. pool_size is
 * rounded up to whole huge pages.
 */
static void check_number(const char *name, const char *value, const char *after)
{
	const char *digits = value + strspn(value, "0");
	char rounded[TEXT_MAX];

	if (*value == '\0' || value[strspn(value, "0123456789")] != '\0')
		return;
	if (strcmp(name, "pool_size") == 0) {
		snprintf(rounded, sizeof(rounded), "%llu",
			(strtoull(value, NULL, 10) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
		digits = rounded;
	}
	fuzz_check(strcmp(*digits != '\0' ? digits : "0", after) == 0, "%s=%s is now %s", name,
		value, after);
}

static void buffer_works(void)
{
	abd_t *abd = abd_alloc(9000, false), *copy = abd_alloc(9000, false);

	if (abd != NULL && copy != NULL) {
		abd_zero(abd, 9000);
		abd_flush_copy_off(copy, abd, 0, 0, 9000, ABD_FLUSH_AUTO);
		fuzz_check(abd_equal(abd, copy), "after a tunable was set");
	}
	abd_free(abd);
	abd_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, data + size};
	char name[TEXT_MAX], value[TEXT_MAX], before[TEXT_MAX], after[TEXT_MAX];

	while (in.next < in.end) {
		text_take(&in, name);
		text_take(&in, value);
		text_copy(before, abd_tuning_get(name));

		int error = abd_tuning_set(name, value);

		fuzz_check(error == 0 || error == -EINVAL || error == -ENOENT, "%s=%s: %d", name,
			value, error);
		/* "cpu" and "ignored" can be asked for and not set. */
		fuzz_check((error == -ENOENT) ==
				   (abd_tuning_get(name) == NULL || strcmp(name, "cpu") == 0 ||
					   strcmp(name, "ignored") == 0),
			"%s: %d", name, error);
		text_copy(after, abd_tuning_get(name));
		fuzz_check(error == 0 || strcmp(before, after) == 0,
			"%s=%s refused, yet %s is now %s", name, value, before, after);
		if (error == 0)
			check_number(name, value, after);
	}
	buffer_works();
	return 0;
}
