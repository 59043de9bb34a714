/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abd-explain: carries out a script of operations with the library, and draws what happens.
 * Invariant: a file is written whole or not at all, and only after the whole script was found
 * right.
 */
#include "abd_explain_draw.h"
#include "abd_explain_run.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ABD_EXPLAIN_SCRIPT_MAX = 64 << 20 };

struct abd_explain_options {
	const char *file;
	const char *text, *svg, *json;
	bool list, has_statements;
	char *script; /* from the command line */
	size_t script_size;
	FILE *script_stream;
};

static const struct argp_option abd_explain_options_table[] = {
	{"file", 'f', "FILE", 0, "Read the script from FILE; - is the standard input", 0},
	{"text", 't', "FILE", 0, "Draw as text into FILE", 0},
	{"svg", 's', "FILE", 0, "Draw as SVG into FILE", 0},
	{"json", 'j', "FILE", 0, "Write the trace into FILE, one line of JSON per step", 0},
	{"list", 'l', NULL, 0, "List the statements that a script may hold", 0},
	{0},
};

/*
 * An argument that names an existing file is a script's file, even if it could be a statement.
 */
static bool abd_explain_is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static error_t abd_explain_options_key(int key, char *value, struct argp_state *state)
{
	struct abd_explain_options *options = state->input;

	switch (key) {
	case 'f':
		options->file = value;
		return 0;
	case 't':
		options->text = value;
		return 0;
	case 's':
		options->svg = value;
		return 0;
	case 'j':
		options->json = value;
		return 0;
	case 'l':
		options->list = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->argc - state->next == 0 && state->arg_num == 0 &&
			abd_explain_is_file(value)) {
			options->file = value;
			return 0;
		}
		options->has_statements = true;
		fprintf(options->script_stream, "%s%s", state->arg_num > 0 ? " " : "", value);
		return 0;
	case ARGP_KEY_END:
		if (!options->list && (options->file != NULL) == options->has_statements)
			argp_error(state,
				options->file != NULL
					? "a script from the command line, or from a file, not both"
					: "no script; for instance: abd-explain 'alloc 12k; view 3000 5000'");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void abd_explain_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "abd-explain %s\n", abd_version());
}

void (*argp_program_version_hook)(FILE *, struct argp_state *) = abd_explain_version;

static const struct argp abd_explain_argp = {
	.options = abd_explain_options_table,
	.parser = abd_explain_options_key,
	.args_doc = "STATEMENT[; STATEMENT]...\nFILE",
	.doc = "Run operations on libabd's buffers and draw what happened."
	       "\v"
	       "Without --text, --svg or --json, the drawing goes to the standard output as text; FILE "
	       "may be -, the standard output. Statements end with ; or the line, # begins a comment. "
	       "Buffers are called a, b, c ... in the order they are made, or as NAME = STATEMENT "
	       "says; most statements take the newest one if none is named.\n\n"
	       "Examples:\n"
	       "  abd-explain 'alloc 12k; view 3000 5000; borrow 5000; return'\n"
	       "  abd-explain 'fragment 4k; alloc 16k; pool'\n"
	       "  abd-explain -f script --svg picture.svg\n\n"
	       "Chunk memory comes from a pool of 2 MiB. ABD_... variables of the environment are "
	       "ignored: a script draws the same everywhere. Exit status: 0; 1 if the script is "
	       "wrong, and then nothing is written; 64 for a wrong option.",
};

static void abd_explain_list(void)
{
	for (const struct abd_explain_word *word = abd_explain_words; word->word != NULL; word++) {
		char usage[80];

		snprintf(usage, sizeof(usage), "%s %s", word->word, word->usage);
		printf("%-44s %s\n", usage, word->help);
	}
}

static void abd_explain_die(const char *what, const char *why)
{
	fprintf(stderr, "abd-explain: %s: %s\n", what, why);
	exit(1);
}

/* Read the whole file as text. A NUL byte is an error, because it would end the text early. */
static char *abd_explain_read(const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char *text = NULL;
	size_t room = 0;
	ssize_t size;

	if (file == NULL)
		abd_explain_die(path, strerror(errno));
	size = getdelim(&text, &room, '\0', file);
	if (size < 0 && ferror(file))
		abd_explain_die(path, strerror(errno));
	if (size > 0 && text[size - 1] == '\0')
		abd_explain_die(path, "a script is text, and this holds a NUL");
	if (size > ABD_EXPLAIN_SCRIPT_MAX)
		abd_explain_die(path, "a script of more than 64 MiB");
	if (file != stdin)
		fclose(file);
	if (size < 0) { /* an empty file: text has no terminating NUL */
		free(text);
		text = calloc(1, 1);
	}
	return text;
}

static bool abd_explain_draw_all(
	const struct abd_explain_options *options, const struct abd_explain_trace *trace)
{
	const char *text = options->text;

	if (text == NULL && options->svg == NULL && options->json == NULL)
		text = "-";
	return abd_explain_draw_to(text, abd_explain_text, trace) &&
	       abd_explain_draw_to(options->svg, abd_explain_svg, trace) &&
	       abd_explain_draw_to(options->json, abd_explain_json, trace);
}

int main(int argc, char **argv)
{
	struct abd_explain_options options = {0};
	struct abd_explain_trace trace;
	char message[ABD_EXPLAIN_MESSAGE];
	bool right;

	options.script_stream = open_memstream(&options.script, &options.script_size);
	argp_parse(&abd_explain_argp, argc, argv, 0, NULL, &options);
	fclose(options.script_stream);
	if (options.list) {
		abd_explain_list();
		free(options.script);
		if (fflush(stdout) == 0 && !ferror(stdout))
			return 0;
		perror("abd-explain: standard output");
		return 1;
	}
	if (options.file != NULL) {
		free(options.script);
		options.script = abd_explain_read(options.file);
	}
	abd_explain_trace_begin(&trace);
	right = abd_explain_run(&trace, options.file, options.script, message);
	if (!right)
		fprintf(stderr, "abd-explain: %s\n", message);
	else
		right = abd_explain_draw_all(&options, &trace);
	abd_explain_trace_end(&trace);
	free(options.script);
	return right ? 0 : 1;
}
