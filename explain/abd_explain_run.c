/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and carries out the statements. A wrong script and a broken contract both leave a statement
 * by longjmp(). Everything that a statement makes belongs to the trace or the world, so nothing
 * leaks.
 */
#include "abd_explain_run.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ABD_EXPLAIN_WRONG = 1, ABD_EXPLAIN_CONTRACT };

static struct abd_explain_run *abd_explain_running;

void abd_explain_run_wrong(struct abd_explain_run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(run->message, sizeof(run->message), format, args);
	va_end(args);
	longjmp(run->out, ABD_EXPLAIN_WRONG);
}

/* ---- the next word --------------------------------------------------------------------------- */

static const struct abd_explain_word *abd_explain_run_find(const char *word)
{
	const struct abd_explain_word *found = abd_explain_words;

	while (found->word != NULL && strcmp(found->word, word) != 0)
		found++;
	return found->word != NULL ? found : NULL;
}

bool abd_explain_run_more(const struct abd_explain_run *run)
{
	return run->word < run->word_count;
}

const char *abd_explain_run_word(struct abd_explain_run *run, const char *what)
{
	if (!abd_explain_run_more(run)) {
		const struct abd_explain_word *word = abd_explain_run_find(run->words[0]);

		abd_explain_run_wrong(run, "expected %s after '%s' (%s %s)", what,
			run->words[run->word - 1], word->word, word->usage);
	}
	return run->words[run->word++];
}

bool abd_explain_run_is_size(const struct abd_explain_run *run)
{
	return abd_explain_run_more(run) && isdigit((unsigned char)run->words[run->word][0]);
}

static bool abd_explain_run_parse(const char *text, size_t *size)
{
	char *end;
	unsigned shift = 0;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;

	unsigned long long number = strtoull(text, &end, 10);

	switch (*end) {
	case 'k':
	case 'K':
		shift = 10;
		break;
	case 'm':
	case 'M':
		shift = 20;
		break;
	case 'g':
	case 'G':
		shift = 30;
		break;
	}
	end += shift != 0;
	if (*end != '\0' || errno != 0 || number > SIZE_MAX >> shift)
		return false;
	*size = (size_t)number << shift;
	return true;
}

size_t abd_explain_run_size(struct abd_explain_run *run, const char *what)
{
	const char *word = abd_explain_run_word(run, what);
	size_t size;

	if (!abd_explain_run_parse(word, &size))
		abd_explain_run_wrong(run,
			"'%s' is not %s: expected a number of bytes, such as 3000, 12k or 1m", word,
			what);
	return size;
}

size_t abd_explain_run_size_max(struct abd_explain_run *run, const char *what, size_t max)
{
	size_t size = abd_explain_run_size(run, what);

	if (size > max)
		abd_explain_run_wrong(run,
			"'%s' is too large for this program: expected at most %zu",
			run->words[run->word - 1], max);
	return size;
}

static void abd_explain_run_not_there(struct abd_explain_run *run, const char *name)
{
	char living[256] = "";
	size_t used = 0;

	for (struct abd_explain_buffer *buffer = run->world.buffers; buffer != NULL;
		buffer = buffer->next)
		if (buffer->abd != NULL && used < sizeof(living) - 80)
			used += (size_t)snprintf(living + used, sizeof(living) - used, "%s%.60s",
				used > 0 ? ", " : "", buffer->name);
	abd_explain_run_wrong(run, "there is no buffer '%.60s': expected %s%s", name,
		used > 0 ? "one of: " : "an alloc first", living);
}

struct abd_explain_buffer *abd_explain_run_buffer(struct abd_explain_run *run)
{
	const char *name = abd_explain_run_word(run, "the name of a buffer");
	struct abd_explain_buffer *buffer = abd_explain_world_find(&run->world, name);

	if (buffer == NULL)
		abd_explain_run_not_there(run, name);
	if (buffer->abd == NULL)
		abd_explain_run_wrong(run,
			"'%s' ended in line %u: expected a buffer that lives; using it now would be a use after free",
			name, buffer->ended);
	return buffer;
}

struct abd_explain_buffer *abd_explain_run_buffer_or_newest(struct abd_explain_run *run)
{
	struct abd_explain_buffer *newest = abd_explain_world_newest(&run->world);

	if (abd_explain_run_more(run) && !abd_explain_run_is_size(run))
		return abd_explain_run_buffer(run);
	if (newest == NULL)
		abd_explain_run_wrong(
			run, "'%s' needs a buffer: expected an alloc first", run->words[0]);
	return newest;
}

const char *abd_explain_run_rest(struct abd_explain_run *run)
{
	const char *rest;

	if (!abd_explain_run_more(run))
		return NULL;
	rest = run->statement + (run->words[run->word] - run->words[0]);
	run->word = run->word_count;
	return rest;
}

void abd_explain_run_end(struct abd_explain_run *run)
{
	const struct abd_explain_word *word = abd_explain_run_find(run->words[0]);

	if (abd_explain_run_more(run))
		abd_explain_run_wrong(run, "'%s' is one word too many: expected %s%s%s",
			run->words[run->word], word->word, word->usage[0] != '\0' ? " " : "",
			word->usage);
}

/* ---- what statements leave in the trace ------------------------------------------------------ */

void abd_explain_run_call(struct abd_explain_run *run, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	run->step->call = run->step->call == NULL ? abd_explain_trace_text(run->trace, "%s", text)
						  : abd_explain_trace_text(run->trace, "%s; %s",
							    run->step->call, text);
}

void abd_explain_run_show(struct abd_explain_run *run, struct abd_explain_shot *shot)
{
	struct abd_explain_shot **end = &run->step->shots;

	while (*end != NULL)
		end = &(*end)->next;
	*end = shot;
}

struct abd_explain_shot *abd_explain_run_draw(
	struct abd_explain_run *run, const struct abd_explain_buffer *buffer)
{
	struct abd_explain_shot *shot = abd_explain_memory_shot(&run->world, buffer);

	abd_explain_run_show(run, shot);
	return shot;
}

char *abd_explain_run_scratch(struct abd_explain_run *run, size_t size)
{
	enum { MAX = 64 << 20 };

	if (size > MAX)
		abd_explain_run_wrong(run,
			"%zu bytes are too many for this program: expected at most %d", size, MAX);
	run->scratch = realloc(run->scratch, size > 0 ? size : 1);
	if (run->scratch == NULL)
		abort();
	return run->scratch;
}

struct abd_explain_buffer *abd_explain_run_born(struct abd_explain_run *run, abd_t *abd)
{
	int error = errno;

	if (abd == NULL) {
		run->step->outcome = ABD_EXPLAIN_REFUSED;
		abd_explain_trace_note(run->trace, run->step, "NULL, errno %s: %s.",
			error == EINVAL ? "EINVAL" : "ENOMEM",
			error == EINVAL ? "a size of 0 is no buffer"
					: "there is not enough memory");
		return NULL;
	}

	struct abd_explain_buffer *buffer = abd_explain_world_add(&run->world, run->name, abd);

	/* Fill it with its name, so that drawings show where bytes come from. */
	if ((abd->abd_flags & ABD_FLAG_OWNER) != 0 && abd_get_size(abd) > 0) {
		char *fill = abd_explain_run_scratch(run, abd_get_size(abd));

		memset(fill, run->name[0], abd_get_size(abd));
		abd_copy_from_buf(abd, fill, abd_get_size(abd));
	}
	return buffer;
}

struct abd_explain_buffer *abd_explain_run_born_view(
	struct abd_explain_run *run, struct abd_explain_buffer *parent, size_t off, abd_t *abd)
{
	struct abd_explain_buffer *view = abd_explain_run_born(run, abd);

	if (view == NULL)
		return NULL;
	view->parent = parent;
	view->parent_off = off;
	parent->view_count++;
	abd_explain_trace_mark(
		abd_explain_run_draw(run, parent), off, abd_get_size(abd), view->name);
	return view;
}

const char *abd_explain_run_count(struct abd_explain_run *run, size_t count, const char *what)
{
	return abd_explain_trace_text(run->trace, "%zu %s%s", count, what, count == 1 ? "" : "s");
}

void abd_explain_run_undefined(struct abd_explain_run *run, const char *why)
{
	run->step->outcome = ABD_EXPLAIN_BROKEN;
	abd_explain_trace_note(run->trace, run->step,
		"Contract: %s. Not called: what would happen then is undefined. Builds with deep checks (ABD_CHECKED) report most such mistakes.",
		why);
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Takes the contract's message, with addresses replaced by names: addresses differ each time. */
static void abd_explain_run_contract(const char *message)
{
	struct abd_explain_run *run = abd_explain_running;
	size_t used = 0;

	for (const char *at = message; *at != '\0' && used < sizeof(run->message) - 16;) {
		if (strncmp(at, "0x", 2) == 0) {
			used += (size_t)sprintf(run->message + used, "(address)");
			at += 2;
			while (isxdigit((unsigned char)*at))
				at++;
		} else {
			run->message[used++] = *at++;
		}
	}
	run->message[used] = '\0';
	longjmp(run->out, ABD_EXPLAIN_CONTRACT);
}

static void abd_explain_run_words(struct abd_explain_run *run, char *copy)
{
	char *rest = copy;

	run->word_count = 0;
	for (char *word; (word = strsep(&rest, " \t\r")) != NULL;) {
		if (*word == '\0')
			continue;
		if (run->word_count == ABD_EXPLAIN_WORDS)
			abd_explain_run_wrong(run,
				"the statement is too long: expected at most %d words",
				ABD_EXPLAIN_WORDS);
		run->words[run->word_count++] = word;
	}
}

static bool abd_explain_run_is_name(const char *text)
{
	const char *at = text;

	while (islower((unsigned char)*at) || *at == '_' ||
		(at > text && isdigit((unsigned char)*at)))
		at++;
	return *at == '\0' && at > text && at - text <= 16;
}

/* "NAME = ..." names the buffer that the statement makes. */
static void abd_explain_run_named(struct abd_explain_run *run)
{
	run->name = NULL;
	if (run->word_count < 2 || strcmp(run->words[1], "=") != 0)
		return;
	if (!abd_explain_run_is_name(run->words[0]) || abd_explain_run_find(run->words[0]) != NULL)
		abd_explain_run_wrong(run,
			"'%.40s' can't be a name: expected up to 16 small letters, digits and _, and no statement",
			run->words[0]);
	if (abd_explain_world_find(&run->world, run->words[0]) != NULL)
		abd_explain_run_wrong(run, "'%s' is taken: expected a new name", run->words[0]);
	if (run->word_count < 3)
		abd_explain_run_wrong(run, "expected a statement after '='");
	run->name = abd_explain_trace_text(run->trace, "%s", run->words[0]);
	run->statement += run->words[2] - run->words[0];
	run->word_count -= 2;
	memmove(run->words, run->words + 2, run->word_count * sizeof(run->words[0]));
}

static void abd_explain_run_one(struct abd_explain_run *run, char *copy)
{
	abd_explain_run_words(run, copy);
	abd_explain_run_named(run);

	const struct abd_explain_word *word = abd_explain_run_find(run->words[0]);

	if (word == NULL)
		abd_explain_run_wrong(run,
			"'%.60s' is no statement: expected one of those that abd-explain --list names",
			run->words[0]);
	if (run->name == NULL)
		run->name = abd_explain_world_name(&run->world);
	run->word = 1;
	run->step->line = run->line;
	word->run(run);
}

/* Ends a step. A hidden step is carried out, but not recorded in the trace. */
static void abd_explain_run_close(struct abd_explain_run *run, struct abd_explain_step **before)
{
	/* frees what a build with deep checks holds back, so that all builds draw the same */
	abd_cache_reap_now();
	run->step->deltas = abd_explain_world_deltas(&run->world);
	if (!run->is_hidden && run->step->statement != NULL)
		return;
	*before = NULL;
	run->trace->steps_end = before;
}

/* Carries out one statement. Returns false if the script is wrong here. */
static bool abd_explain_run_statement(struct abd_explain_run *run, char *text)
{
	struct abd_explain_step **volatile before = run->trace->steps_end;
	char *copy;

	text += strspn(text, " \t\r");
	for (size_t end = strlen(text); end > 0 && isspace((unsigned char)text[end - 1]);)
		text[--end] = '\0';
	if (*text == '\0')
		return true;
	run->statement = text;
	run->step = abd_explain_trace_step(run->trace);
	run->step->statement = abd_explain_trace_text(run->trace, "%s", text);
	copy = abd_explain_trace_new(run->trace, strlen(text) + 1);
	strcpy(copy, text);

	switch (setjmp(run->out)) {
	case 0:
		abd_explain_run_one(run, copy);
		break;
	case ABD_EXPLAIN_CONTRACT:
		run->step->outcome = ABD_EXPLAIN_BROKEN;
		abd_explain_trace_note(run->trace, run->step, "%s", run->message);
		break;
	default:
		return false;
	}
	abd_explain_run_close(run, before);
	return true;
}

/* Splits a line at ';' and cuts off a comment. A script's own sentence may contain both signs. */
static bool abd_explain_run_line(struct abd_explain_run *run, char *line)
{
	char *comment = strchr(line, '#');

	for (const char *at = line; *at != '\0'; at++)
		if ((*at < ' ' || *at > '~') && *at != '\t' && *at != '\r') {
			snprintf(run->message, sizeof(run->message),
				"byte 0x%02x is no plain text: expected ASCII", (unsigned char)*at);
			return false;
		}

	if (comment != NULL)
		*comment = '\0';
	for (char *statement; (statement = strsep(&line, ";")) != NULL;)
		if (!abd_explain_run_statement(run, statement))
			return false;
	return true;
}

static void abd_explain_run_finish(struct abd_explain_run *run)
{
	/* A contract broken while cleaning up is not the script's fault. */
	if (setjmp(run->out) == 0)
		abd_explain_world_end(&run->world);
	free(run->scratch);
	abd_contract_handler_set(NULL);
}

bool abd_explain_run(struct abd_explain_trace *trace, const char *path, char *text,
	char message[ABD_EXPLAIN_MESSAGE])
{
	struct abd_explain_run run = {.trace = trace, .path = path};
	bool right = true;

	FILE *errors = stderr;

	abd_explain_running = &run;
	/*
	 * The library also reports a broken contract on stderr; here the drawing shows it.
	 */
	stderr = fopen("/dev/null", "w");
	if (stderr == NULL)
		stderr = errors;
	abd_contract_handler_set(abd_explain_run_contract);
	abd_explain_world_begin(&run.world, trace);
	for (char *line; right && (line = strsep(&text, "\n")) != NULL;) {
		run.line++;
		right = abd_explain_run_line(&run, line);
	}
	if (!right)
		snprintf(message, ABD_EXPLAIN_MESSAGE, "line %u: %.480s", run.line, run.message);
	abd_explain_run_finish(&run);
	if (stderr != errors)
		fclose(stderr);
	stderr = errors;
	return right;
}
