/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carries out a script, statement by statement. Each statement is a call of the library and a step
 * of the trace.
 *
 * A wrong line ends the script: nothing is drawn, and the message quotes the line and says what was
 * expected. A broken contract does not end it: the message of the contract's handler becomes part
 * of the step, and the script goes on.
 * Invariant: no script can make a call whose outcome is undefined in a build without deep checks.
 */
#ifndef ABD_EXPLAIN_RUN_H
#define ABD_EXPLAIN_RUN_H

#include "abd_explain_memory.h"

#include <setjmp.h>

enum { ABD_EXPLAIN_WORDS = 256, ABD_EXPLAIN_MESSAGE = 512 };

struct abd_explain_run {
	struct abd_explain_trace *trace;
	const char *path; /* of the script; NULL: none */
	struct abd_explain_world world;
	struct abd_explain_step *step;
	unsigned line;
	char *statement;
	char *words[ABD_EXPLAIN_WORDS];
	size_t word_count, word;
	const char *name; /* of the buffer to be made */
	void *scratch;    /* the caller's memory, for calls that take some */
	bool is_hidden;
	/* why the script ended, or how the contract was broken */
	char message[ABD_EXPLAIN_MESSAGE];
	jmp_buf out;
};

/** A statement: its word, its usage, its help, and its function. */
struct abd_explain_word {
	const char *word, *usage, *help;
	void (*run)(struct abd_explain_run *run);
};

extern const struct abd_explain_word abd_explain_words[];

/**
 * Carry out a script, which stands in the file path, or in none: NULL. Returns whether it is right;
 * if not, message says what is wrong. Changes text.
 */
bool abd_explain_run(struct abd_explain_trace *trace, const char *path, char *text,
	char message[ABD_EXPLAIN_MESSAGE]);

/* ---- for the statements ---------------------------------------------------------------------- */

/** The script is wrong here. Does not return. */
void abd_explain_run_wrong(struct abd_explain_run *run, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* The next words of the statement. */
bool abd_explain_run_more(const struct abd_explain_run *run);
bool abd_explain_run_is_size(const struct abd_explain_run *run);
size_t abd_explain_run_size(struct abd_explain_run *run, const char *what);
size_t abd_explain_run_size_max(struct abd_explain_run *run, const char *what, size_t max);
struct abd_explain_buffer *abd_explain_run_buffer(struct abd_explain_run *run);
/** A buffer's name, or the newest buffer if there is none. */
struct abd_explain_buffer *abd_explain_run_buffer_or_newest(struct abd_explain_run *run);
const char *abd_explain_run_word(struct abd_explain_run *run, const char *what);
/** The rest of the statement, as it was written. */
const char *abd_explain_run_rest(struct abd_explain_run *run);
/** Check that the statement has no more words. */
void abd_explain_run_end(struct abd_explain_run *run);

/** Record, as C, the call that is about to be made. */
void abd_explain_run_call(struct abd_explain_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** Add a picture to the step. */
struct abd_explain_shot *abd_explain_run_draw(
	struct abd_explain_run *run, const struct abd_explain_buffer *buffer);
void abd_explain_run_show(struct abd_explain_run *run, struct abd_explain_shot *shot);
/**
 * Register the buffer that a constructor returned, and fill it with its name's letter. abd NULL:
 * note why the constructor failed.
 */
struct abd_explain_buffer *abd_explain_run_born(struct abd_explain_run *run, abd_t *abd);
/** The same for a view: it depends on its parent, and is drawn as a mark in it. */
struct abd_explain_buffer *abd_explain_run_born_view(
	struct abd_explain_run *run, struct abd_explain_buffer *parent, size_t off, abd_t *abd);
/** "1 piece", "2 pieces". */
const char *abd_explain_run_count(struct abd_explain_run *run, size_t count, const char *what);
/** The call would be undefined: note why it is not made. */
void abd_explain_run_undefined(struct abd_explain_run *run, const char *why);
/**
 * size bytes of memory, at least 1, that do not belong to the library. If that is too much, the
 * script is wrong.
 */
char *abd_explain_run_scratch(struct abd_explain_run *run, size_t size);

/* The statements. */
void abd_explain_make_alloc(struct abd_explain_run *run);
void abd_explain_make_linear(struct abd_explain_run *run);
void abd_explain_make_zeros(struct abd_explain_run *run);
void abd_explain_make_wrap(struct abd_explain_run *run);
void abd_explain_make_view(struct abd_explain_run *run);
void abd_explain_make_gang(struct abd_explain_run *run);
void abd_explain_make_add(struct abd_explain_run *run);
void abd_explain_make_give(struct abd_explain_run *run);
void abd_explain_make_free(struct abd_explain_run *run);
void abd_explain_make_take(struct abd_explain_run *run);
void abd_explain_make_release(struct abd_explain_run *run);

void abd_explain_borrow_content(struct abd_explain_run *run);
void abd_explain_borrow_return(struct abd_explain_run *run);
void abd_explain_borrow_return_copy(struct abd_explain_run *run);
void abd_explain_borrow_poke(struct abd_explain_run *run);
void abd_explain_use_write(struct abd_explain_run *run);
void abd_explain_use_read(struct abd_explain_run *run);
void abd_explain_pair_copy(struct abd_explain_run *run);
void abd_explain_pair_cmp(struct abd_explain_run *run);
void abd_explain_pair_equal(struct abd_explain_run *run);
void abd_explain_pair_diff(struct abd_explain_run *run);
void abd_explain_use_iterate(struct abd_explain_run *run);
void abd_explain_pair_compress(struct abd_explain_run *run);
void abd_explain_pair_decompress(struct abd_explain_run *run);
void abd_explain_pair_flush_copy(struct abd_explain_run *run);
void abd_explain_enter(struct abd_explain_run *run);
void abd_explain_use_load(struct abd_explain_run *run);

void abd_explain_cache_arc(struct abd_explain_run *run);
void abd_explain_cache_put(struct abd_explain_run *run);
void abd_explain_cache_read(struct abd_explain_run *run);
void abd_explain_cache_hold(struct abd_explain_run *run);
void abd_explain_cache_release(struct abd_explain_run *run);
void abd_explain_cache_remove(struct abd_explain_run *run);

void abd_explain_tell_draw(struct abd_explain_run *run);
void abd_explain_tell_pool(struct abd_explain_run *run);
void abd_explain_tell_stats(struct abd_explain_run *run);
void abd_explain_tell_say(struct abd_explain_run *run);
void abd_explain_tell_title(struct abd_explain_run *run);
void abd_explain_tell_reset(struct abd_explain_run *run);
void abd_explain_tell_hide(struct abd_explain_run *run);
void abd_explain_tell_show(struct abd_explain_run *run);
void abd_explain_tell_fragment(struct abd_explain_run *run);
void abd_explain_tell_tune(struct abd_explain_run *run);
void abd_explain_tell_pool_size(struct abd_explain_run *run);

#endif
