/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording backend: kernels that copy as real ones do, and a model of the memory behind the
 * caches.
 *
 * A line reaches that memory only when it is written back, with its content at that time, or when
 * it is written around the cache; and it is durable only after a fence. So a line that is
 * forgotten, flushed before its last byte was written, or left without a fence shows as content
 * that did not arrive.
 * Invariant: one record per line touched; the test says which lines may be touched.
 */
#ifndef FLUSH_RECORDER_H
#define FLUSH_RECORDER_H

#include "abd_flush_span.h"

#include "abd_test.h"

#define RECORDER_LINES 1024 /* power of two; the largest case touches a quarter of them */

struct recorder_line {
	uintptr_t line;   /* 0: free */
	unsigned flushes; /* written back so often */
	unsigned streams; /* written around the cache so often */
	uint64_t words;   /* which of its bytes were written around the cache as words */
	/* which of its bytes the call was told to write; only those are looked at */
	uint64_t expected;
	bool arrived;                   /* a fence came after it was sent */
	uint8_t pending[ABD_LINE_SIZE]; /* what it held when it was sent */
};

static struct recorder_line recorder_lines[RECORDER_LINES];
static unsigned recorder_fences;
static bool recorder_after_fence; /* something was written after the last fence */
static bool recorder_unaligned;   /* a kernel was given an address within a line */

static inline void recorder_reset(void)
{
	memset(recorder_lines, 0, sizeof(recorder_lines));
	recorder_fences = 0;
	recorder_after_fence = false;
	recorder_unaligned = false;
}

static inline struct recorder_line *recorder_find(uintptr_t line)
{
	size_t at = (line / ABD_LINE_SIZE * 0x9e3779b97f4a7c15u >> 32) % RECORDER_LINES;

	while (recorder_lines[at].line != 0 && recorder_lines[at].line != line)
		at = (at + 1) % RECORDER_LINES;
	recorder_lines[at].line = line;
	return &recorder_lines[at];
}

static inline void recorder_sent(unsigned *count, struct recorder_line *record)
{
	++*count;
	for (unsigned i = 0; i < ABD_LINE_SIZE; i++)
		if ((record->expected >> i & 1) != 0)
			record->pending[i] = ((const uint8_t *)record->line)[i];
	record->arrived = false;
	recorder_after_fence = true;
}

static bool recorder_supported(void)
{
	return true;
}

static void recorder_stream_lines(void *dst, const void *src, size_t count)
{
	uintptr_t at = (uintptr_t)dst;

	recorder_unaligned |= at % ABD_LINE_SIZE != 0 || count == 0;
	memmove(dst, src, count * ABD_LINE_SIZE);
	for (; count > 0; count--, at += ABD_LINE_SIZE) {
		struct recorder_line *record = recorder_find(at);

		recorder_sent(&record->streams, record);
	}
}

static void recorder_words(void *dst, const void *src, size_t count)
{
	uintptr_t at = (uintptr_t)dst, line = at & ~(uintptr_t)(ABD_LINE_SIZE - 1);
	struct recorder_line *record = recorder_find(line);
	size_t bytes = count * 8;

	recorder_unaligned |= at % 8 != 0 || count == 0 || at + bytes > line + ABD_LINE_SIZE;
	memmove(dst, src, bytes);
	memcpy(record->pending + (at - line), dst, bytes);
	record->words |= (UINT64_MAX >> (ABD_LINE_SIZE - bytes)) << (at - line);
	record->arrived = false;
	recorder_after_fence = true;
}

static void recorder_flush(void *line, size_t count)
{
	uintptr_t at = (uintptr_t)line;

	recorder_unaligned |= at % ABD_LINE_SIZE != 0 || count == 0;
	for (; count > 0; count--, at += ABD_LINE_SIZE) {
		struct recorder_line *record = recorder_find(at & ~(uintptr_t)(ABD_LINE_SIZE - 1));

		recorder_sent(&record->flushes, record);
	}
}

static void recorder_fence(void)
{
	recorder_fences++;
	recorder_after_fence = false;
	for (size_t i = 0; i < RECORDER_LINES; i++) {
		struct recorder_line *record = &recorder_lines[i];

		record->arrived |= record->flushes + record->streams > 0 || record->words != 0;
	}
}

/*
 * All shapes of copy. Those around the cache have a flush too, so that heads and tails are seen.
 */
static const struct abd_flush_kernel recorder_kernels[] = {
	{
		.name = "around",
		.supported = recorder_supported,
		.lines = recorder_stream_lines,
		.flush = recorder_flush,
		.durability = ABD_FLUSH_DURABILITY_PERSISTENCE,
		.fence = recorder_fence,
	},
	{
		.name = "around, words too",
		.supported = recorder_supported,
		.lines = recorder_stream_lines,
		.words = recorder_words,
		.flush = recorder_flush,
		.durability = ABD_FLUSH_DURABILITY_PERSISTENCE,
		.fence = recorder_fence,
	},
	{
		.name = "through",
		.supported = recorder_supported,
		.flush = recorder_flush,
		.durability = ABD_FLUSH_DURABILITY_PERSISTENCE,
		.fence = recorder_fence,
	},
};
#define RECORDER_KERNELS (sizeof(recorder_kernels) / sizeof(recorder_kernels[0]))

/* Every flush-copy goes by this kernel; NULL: as before. */
static inline void flush_force(const struct abd_flush_kernel *kernel)
{
	struct abd_plan plan = {.origin = "forced", .count = kernel != NULL};

	plan.rows[0] = (struct abd_plan_row){SIZE_MAX, kernel != NULL ? &kernel->kernel : NULL};
	for (size_t i = 0; i < ABD_FLUSH_INTENTS; i++)
		abd_choice_plan_set(&abd_flush_choices[i], &plan, true);
}

/* Tell that the call writes [dst, dst + n). */
static inline void recorder_expect(const void *dst, size_t n)
{
	uintptr_t at = (uintptr_t)dst, end = at + n;

	while (at < end) {
		uintptr_t line = at & ~(uintptr_t)(ABD_LINE_SIZE - 1);
		size_t bytes = abd_min(line + ABD_LINE_SIZE - at, end - at);

		recorder_find(line)->expected |= (UINT64_MAX >> (ABD_LINE_SIZE - bytes))
						 << (at - line);
		at += bytes;
	}
}

/* Whether what was sent is what the line holds now. */
static inline bool recorder_is_last(const struct recorder_line *record)
{
	for (unsigned i = 0; i < ABD_LINE_SIZE; i++)
		if ((record->expected >> i & 1) != 0 &&
			record->pending[i] != ((const uint8_t *)record->line)[i])
			return false;
	return true;
}

/* What is wrong with one line, or NULL. */
static inline const char *recorder_line_fault(const struct recorder_line *record, bool drained)
{
	if (record->expected == 0)
		return "a line outside was touched";
	if (record->flushes + record->streams == 0 && (record->expected & ~record->words) != 0)
		return "a written line did not leave the cache";
	if (record->flushes + record->streams > 1)
		return "a line was sent twice";
	if (record->streams > 0 && record->expected != UINT64_MAX)
		return "a line shared with other data was written around the cache";
	if (!recorder_is_last(record))
		return "a line was sent before its last write";
	if (record->arrived != drained)
		return drained ? "a line had no fence after it" : "a line was fenced too early";
	return NULL;
}

/* What is wrong with the call just made, or NULL. drained: it should have fenced. */
static inline const char *recorder_fault(bool drained)
{
	if (recorder_unaligned)
		return "a kernel was given part of a line, or none";
	if (recorder_fences != (drained ? 1 : 0))
		return drained ? "not exactly one fence" : "a fence in spite of NODRAIN";
	if (drained && recorder_after_fence)
		return "something was written after the fence";
	for (size_t i = 0; i < RECORDER_LINES; i++) {
		const struct recorder_line *record = &recorder_lines[i];
		const char *fault = record->line != 0 ? recorder_line_fault(record, drained) : NULL;

		if (fault != NULL)
			return fault;
	}
	return NULL;
}

#endif
