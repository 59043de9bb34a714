/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading profiles. The file is taken to be hostile: anything but short lines of printable ASCII is
 * refused, and so is a file that has lost its end.
 */
#include "abd_profile.h"

#include "abd_machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const abd_profile_names[ABD_PROFILE_PLANS + 1] = {"compare", "copy", "zero",
	"flush_auto", "flush_shared", "flush_exclusive", "flush_line", "lz4", "fletcher", "crc32c",
	"xxh3", NULL};

/*
 * Returns the size, or -errno. Only files are read: a pipe could keep us waiting. A file that is
 * read short of its size is refused.
 */
static ssize_t abd_profile_load(const char *path, char text[ABD_PROFILE_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about = {.st_mode = 0};
	ssize_t got = 0;

	if (fd < 0)
		return -errno;
	(void)fstat(fd, &about);
	if (S_ISREG(about.st_mode) && about.st_size <= ABD_PROFILE_SIZE)
		got = read(fd, text, ABD_PROFILE_SIZE);
	close(fd);
	return S_ISREG(about.st_mode) && got == about.st_size ? got : -EINVAL;
}

/* Cut the text's first line off and check it. NULL: it is damaged. */
static char *abd_profile_line(char **text, const char *end)
{
	char *line = *text;
	char *stop = memchr(line, '\n', (size_t)(end - line));

	if (stop == NULL || stop - line >= ABD_PROFILE_LINE)
		return NULL;
	for (const char *p = line; p < stop; p++)
		if (*p < ' ' || *p > '~')
			return NULL;
	*stop = '\0';
	*text = stop + 1;
	return line;
}

static size_t abd_profile_index(const char *name)
{
	size_t i = 0;

	while (i < ABD_PROFILE_PLANS && strcmp(abd_profile_names[i], name) != 0)
		i++;
	return i;
}

/*
 * Take in one line. *other: whether the plans are another CPU's; -1 before the line that says whose
 * they are. False: damaged.
 */
static bool abd_profile_take(struct abd_profile *profile, char *line, int *other)
{
	char *value = strchr(line, '=');
	size_t i;

	if (value == NULL || value == line || value[1] == '\0')
		return false;
	*value++ = '\0';
	if (line[strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
		return false;
	if (strcmp(line, "cpu") == 0) {
		bool first = *other < 0;

		*other = strcmp(value, abd_machine()->cpu) != 0;
		return first;
	}
	i = abd_profile_index(line);
	if (*other < 0)
		return false;
	if (i == ABD_PROFILE_PLANS) {
		profile->skipped++;
		return true;
	}
	if (profile->plans[i][0] != '\0' || !abd_plan_is_text(value))
		return false;
	memcpy(profile->plans[i], value, strlen(value) + 1);
	return true;
}

/* Returns 0, or the number of the line that is damaged. A profile that names no CPU lacks its end.
 */
static size_t abd_profile_parse(
	struct abd_profile *profile, char *text, const char *end, int *other)
{
	size_t number = 0;

	while (text < end) {
		char *line = abd_profile_line(&text, end);

		number++;
		if (line == NULL)
			return number;
		if (line[0] != '\0' && line[0] != '#' && !abd_profile_take(profile, line, other))
			return number;
	}
	return *other < 0 ? number + 1 : 0;
}

static void abd_profile_report(
	const char *path, const struct abd_profile *profile, size_t bad, int other)
{
	if (bad != 0)
		fprintf(stderr, "abd: profile %s, line %zu: damaged; nothing of it is used\n", path,
			bad);
	else if (other != 0)
		fprintf(stderr,
			"abd: profile %s is ignored: it was made for another CPU, not for %s\n",
			path, abd_machine()->cpu);
	else if (profile->skipped != 0)
		fprintf(stderr, "abd: profile %s: %zu lines with unknown names are skipped\n", path,
			profile->skipped);
}

int abd_profile_read(const char *path, struct abd_profile *profile)
{
	static const struct abd_profile none;
	char text[ABD_PROFILE_SIZE];
	ssize_t size = abd_profile_load(path, text);
	int other = -1;
	size_t bad;

	*profile = none;
	if (size < 0) {
		fprintf(stderr, "abd: profile %s can't be read: error %d\n", path, (int)-size);
		return (int)size;
	}
	bad = abd_profile_parse(profile, text, text + size, &other);
	abd_profile_report(path, profile, bad, other);
	if (bad != 0 || other != 0)
		*profile = none;
	return bad != 0 ? -EINVAL : 0;
}

const char *abd_profile_plan(const struct abd_profile *profile, const char *name)
{
	size_t i = abd_profile_index(name);

	return i < ABD_PROFILE_PLANS && profile->plans[i][0] != '\0' ? profile->plans[i] : NULL;
}
