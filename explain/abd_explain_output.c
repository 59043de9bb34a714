/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file is written whole or not at all: to a temporary file beside it, which is then renamed. A
 * path that exists and is no regular file (/dev/full, a pipe) is written to directly, because
 * renaming would replace the device.
 */
#include "abd_explain_draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool abd_explain_output_failed(const char *path, int error)
{
	fprintf(stderr, "abd-explain: %s: %s\n", path, strerror(error));
	return false;
}

char *abd_explain_draw_deltas(const struct abd_explain_delta *deltas)
{
	char *text = NULL;
	size_t size;
	FILE *out = deltas != NULL ? open_memstream(&text, &size) : NULL;

	if (out == NULL)
		return NULL;
	fputs("counters:", out);
	for (; deltas != NULL; deltas = deltas->next)
		fprintf(out, " %s %+lld%s", deltas->name, (long long)deltas->by,
			deltas->next != NULL ? "," : "");
	fclose(out);
	return text;
}

const char *abd_explain_draw_outcome(const struct abd_explain_step *step)
{
	static const char *const outcomes[] = {NULL, "REFUSED", "CONTRACT BROKEN"};

	return outcomes[step->outcome];
}

/* Draw in memory first, so that no file is begun when drawing fails. */
static char *abd_explain_output_drawn(
	abd_explain_draw_t *draw, const struct abd_explain_trace *trace, size_t *size)
{
	char *drawn = NULL;
	FILE *out = open_memstream(&drawn, size);

	if (out == NULL)
		return NULL;
	draw(out, trace);
	if (fclose(out) != 0) {
		free(drawn);
		return NULL;
	}
	return drawn;
}

static bool abd_explain_output_beside(const char *path, const char *drawn, size_t size)
{
	char *beside;
	mode_t mask = umask(0);
	bool done = false;
	int error, fd;

	umask(mask);
	if (asprintf(&beside, "%s.XXXXXX", path) < 0)
		return abd_explain_output_failed(path, ENOMEM);
	fd = mkstemp(beside);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (out != NULL) {
		done = fwrite(drawn, 1, size, out) == size && fchmod(fd, 0666 & ~mask) == 0;
		done = fclose(out) == 0 && done && rename(beside, path) == 0;
	}
	error = errno;
	if (!done && fd >= 0)
		unlink(beside);
	free(beside);
	return done || abd_explain_output_failed(path, error);
}

static bool abd_explain_output_is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 &&
	       (!S_ISREG(status.st_mode) || strncmp(path, "/dev/", 5) == 0);
}

static bool abd_explain_output_into(const char *path, const char *drawn, size_t size)
{
	FILE *out = fopen(path, "ae");
	bool done = out != NULL && fwrite(drawn, 1, size, out) == size && fflush(out) == 0;
	int error = errno;

	if (out != NULL)
		fclose(out);
	return done || abd_explain_output_failed(path, error);
}

bool abd_explain_draw_to(
	const char *path, abd_explain_draw_t *draw, const struct abd_explain_trace *trace)
{
	size_t size;
	char *drawn;
	bool done;

	if (path == NULL)
		return true;
	drawn = abd_explain_output_drawn(draw, trace, &size);
	if (drawn == NULL)
		return abd_explain_output_failed(path, ENOMEM);
	if (strcmp(path, "-") == 0)
		done = (fwrite(drawn, 1, size, stdout) == size && fflush(stdout) == 0) ||
		       abd_explain_output_failed("standard output", errno);
	else if (abd_explain_output_is_special(path))
		done = abd_explain_output_into(path, drawn, size);
	else
		done = abd_explain_output_beside(path, drawn, size);
	free(drawn);
	return done;
}
