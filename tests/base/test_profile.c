/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading profiles: what a good one says, and every way in which one can be damaged.
 */
#include "abd_machine.h"
#include "abd_profile.h"
#include "abd_test.h"

#include <sys/stat.h>

static char said[512]; /* on stderr, while the last profile was read */

static int read_file(const char *path, struct abd_profile *profile)
{
	char log[] = "/tmp/abd_test_said_XXXXXX";
	int fd = mkstemp(log), saved = dup(STDERR_FILENO), result;
	ssize_t got;

	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	result = abd_profile_read(path, profile);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	got = pread(fd, said, sizeof(said) - 1, 0);
	said[got > 0 ? got : 0] = '\0';
	close(saved);
	close(fd);
	unlink(log);
	return result;
}

static int read_bytes(const char *text, size_t size, struct abd_profile *profile)
{
	char path[] = "/tmp/abd_test_profile_XXXXXX";
	int fd = mkstemp(path), result;

	cr_assert(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	close(fd);
	result = read_file(path, profile);
	unlink(path);
	return result;
}

/* %s in text is this CPU. */
static int read_text(const char *text, struct abd_profile *profile)
{
	char whole[1024];

	/* No text has more than two. */
	snprintf(whole, sizeof(whole), text, abd_machine()->cpu, abd_machine()->cpu);
	return read_bytes(whole, strlen(whole), profile);
}

static bool has_none(const struct abd_profile *profile)
{
	for (size_t i = 0; i < ABD_PROFILE_PLANS; i++)
		if (abd_profile_plan(profile, abd_profile_names[i]) != NULL)
			return false;
	return profile->skipped == 0;
}

Test(abd_profile, plans_are_read_by_name_and_unknown_names_are_counted)
{
	struct abd_profile profile;

	cr_assert_eq(read_text("# by hand\n\ncpu=%s\ncompare=a<=1,b\nfuture=x y=z\nlz4=c-9\n"
			       "flush=a\n",
			     &profile),
		0);
	cr_assert_str_eq(abd_profile_plan(&profile, "compare"), "a<=1,b");
	cr_assert_str_eq(abd_profile_plan(&profile, "lz4"), "c-9");
	cr_assert_null(abd_profile_plan(&profile, "copy"));
	cr_assert_null(abd_profile_plan(&profile, "future"));
	cr_assert_eq(profile.skipped, 2);
	cr_assert(strstr(said, ": 2 lines with unknown names are skipped\n") != NULL, "%s", said);
	cr_assert_eq(read_text("cpu=%s\n", &profile), 0);
	cr_assert(has_none(&profile) && said[0] == '\0', "%s", said);
}

Test(abd_profile, another_cpus_is_ignored_and_reported)
{
	struct abd_profile profile;

	cr_assert_eq(read_text("cpu=%s2\ncompare=a\nfuture=b\n", &profile), 0);
	cr_assert(has_none(&profile));
	cr_assert(strstr(said, "is ignored: it was made for another CPU") != NULL, "%s", said);
	/* Damaged all the same. */
	cr_assert_eq(read_text("cpu=%s2\ncompare=\n", &profile), -EINVAL);
}

Test(abd_profile, a_damaged_line_is_told_by_its_number_and_nothing_is_used)
{
	static const struct {
		const char *text;
		unsigned line;
	} bad[] = {
		{"cpu=%s\ncompare=a\ncopy=a<=\n", 3},
		{"cpu=%s\ncompare=a\ncompare=a\n", 3},
		{"cpu=%s\ncompare=a\ncpu=%s\n", 3},
		{"compare=a\ncpu=%s\n", 1},
		{"future=a\ncpu=%s\n", 1},
		{"cpu=%s\ncompare\n", 2},
		{"cpu=%s\n=a\n", 2},
		{"cpu=%s\ncompare=\n", 2},
		{"cpu=%s\n compare=a\n", 2},
		{"cpu=%s\ncompare =a\n", 2},
		{"cpu=%s\ncompare= a\n", 2},
		{"cpu=%s\ncompare=a \n", 2},
		{"cpu=%s\nCOMPARE=a\n", 2},
		{"cpu=%s\r\n", 1},
		{"cpu=%s\ncompare=a\r\n", 2},
		{"cpu=%s\n#\tcomment\n", 2},
		{"cpu=%s\n# caf\xC3\xA9\n", 2},
		{"cpu=%s\ncompare=a\n#", 3},
		{"cpu=%s\ncompare=a", 2},
		{"cpu=%s", 1},
		{"cpu=\n", 1},
		{"# no more than this\n", 2},
		{"", 1},
	};
	struct abd_profile profile;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char expected[64];

		cr_assert_eq(read_text(bad[i].text, &profile), -EINVAL, "%s", bad[i].text);
		cr_assert(has_none(&profile), "%s", bad[i].text);
		snprintf(expected, sizeof(expected), ", line %u: damaged", bad[i].line);
		cr_assert(strstr(said, expected) != NULL, "%s: %s", bad[i].text, said);
	}
}

/* Cut anywhere, or with any byte replaced: 0 or -EINVAL, and after that no plans. */
Test(abd_profile, a_profile_cut_or_changed_in_one_byte_is_read_or_refused_whole)
{
	static const unsigned char bytes[] = {0, '\n', '=', '#', ' ', 0x7F, 0xFF};
	struct abd_profile profile;
	char good[256], changed[256];
	int size = snprintf(
		good, sizeof(good), "cpu=%s\ncompare=a<=99,b\ncopy=c\n", abd_machine()->cpu);

	for (int cut = 0; cut < size; cut++) {
		int result = read_bytes(good, (size_t)cut, &profile);

		cr_assert(result == 0 || result == -EINVAL);
		cr_assert(result == 0 || has_none(&profile));
		cr_assert(result == -EINVAL || good[cut - 1] == '\n', "cut at %d", cut);
	}
	for (int at = 0; at < size; at++)
		for (size_t k = 0; k < sizeof(bytes); k++) {
			memcpy(changed, good, (size_t)size);
			changed[at] = (char)bytes[k];

			int result = read_bytes(changed, (size_t)size, &profile);

			cr_assert(result == 0 || result == -EINVAL);
			cr_assert(result == 0 || has_none(&profile));
			cr_assert(result == -EINVAL || (bytes[k] != 0 && bytes[k] < 0x7F));
		}
}

Test(abd_profile, lines_and_files_have_a_largest_size)
{
	static char text[ABD_PROFILE_SIZE + 1];
	struct abd_profile profile;
	size_t used = (size_t)snprintf(text, sizeof(text), "cpu=%s\n", abd_machine()->cpu);

	memset(text + used, '#', sizeof(text) - used);
	text[used + ABD_PROFILE_LINE - 1] = '\n';
	cr_assert_eq(read_bytes(text, used + ABD_PROFILE_LINE, &profile), 0);
	text[used + ABD_PROFILE_LINE - 1] = '#';
	text[used + ABD_PROFILE_LINE] = '\n';
	cr_assert_eq(read_bytes(text, used + ABD_PROFILE_LINE + 1, &profile), -EINVAL);
	memset(text + used, '\n', sizeof(text) - used);
	cr_assert_eq(read_bytes(text, ABD_PROFILE_SIZE, &profile), 0);
	cr_assert_eq(read_bytes(text, ABD_PROFILE_SIZE + 1, &profile), -EINVAL);
}

Test(abd_profile, what_is_no_file_is_refused)
{
	struct abd_profile profile;
	char folder[] = "/tmp/abd_test_profile_XXXXXX", pipe_path[64];

	cr_assert_not_null(mkdtemp(folder));
	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", folder);
	cr_assert_eq(read_file(pipe_path, &profile), -ENOENT);
	cr_assert(strstr(said, "can't be read: error 2\n") != NULL, "%s", said);
	cr_assert_eq(mkfifo(pipe_path, 0600), 0);
	cr_assert_eq(read_file(pipe_path, &profile), -EINVAL);
	cr_assert_eq(read_file(folder, &profile), -EINVAL);
	cr_assert(has_none(&profile));
	unlink(pipe_path);
	rmdir(folder);
}
