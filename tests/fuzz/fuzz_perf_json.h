/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A list of choices becomes the text of a result file, since mutated text seldom is JSON any more,
 * and more seldom has two benchmarks of one name. Three fields of four are what abd-perf writes;
 * the fourth is left out, of another type, or a number at the end of its range.
 * Invariant: what is made is JSON, in UTF-8.
 */
#ifndef FUZZ_PERF_JSON_H
#define FUZZ_PERF_JSON_H

#include "fuzz_input.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { FUZZ_JSON_ROOM = 1 << 17, FUZZ_JSON_RESULTS = 12, FUZZ_JSON_ITEMS = 5 };

struct fuzz_json {
	struct fuzz_input in;
	char *text;
	size_t size;
};

/* What does not fit is left out: the document is then none, which is a case too. */
static inline __attribute__((format(printf, 2, 3))) void fuzz_json_put(
	struct fuzz_json *json, const char *format, ...)
{
	size_t room = FUZZ_JSON_ROOM - json->size;
	va_list arguments;
	int used;

	va_start(arguments, format);
	used = vsnprintf(json->text + json->size, room, format, arguments);
	va_end(arguments);
	if (used > 0 && (size_t)used < room)
		json->size += (size_t)used;
}

/* The same, of text that is as it is: formatting takes most of the time under a checker. */
static inline void fuzz_json_add(struct fuzz_json *json, const char *text)
{
	size_t size = strlen(text);

	if (size >= FUZZ_JSON_ROOM - json->size)
		return;
	memcpy(json->text + json->size, text, size);
	json->size += size;
}

/* Any value, of any type. */
static inline void fuzz_json_any(struct fuzz_json *json)
{
	static const char *const value[] = {"0", "1", "-1", "1e-320", "1.7e308", "2.5e-308",
		"1e200", "9223372036854775807", "4294967296", "null", "true", "[]", "{}", "\"\"",
		"\"bytes\"", "[{}]", "{\"median\": 1, \"low\": 1, \"high\": 1}",
		"[1, [2, {\"a\": null}]]"};

	fuzz_json_add(json, value[fuzz_byte(&json->in) % (sizeof(value) / sizeof(*value))]);
}

/*
 * False, and another value or none instead of it: one time in eight. Begins with its name, and a
 * comma where it is not the first.
 */
static inline bool fuzz_json_field(struct fuzz_json *json, const char *name, bool first)
{
	uint8_t byte = fuzz_byte(&json->in);

	if (byte >= 240 && !first)
		return false;
	fuzz_json_add(json, first ? "\"" : ", \"");
	fuzz_json_add(json, name);
	fuzz_json_add(json, "\": ");
	if (byte < 224)
		return true;
	fuzz_json_any(json);
	return false;
}

/*
 * A text of a few; one that may not reach a terminal; or long ones, of signs of two bytes, that are
 * cut wherever there is a limit.
 */
static inline void fuzz_json_text(struct fuzz_json *json, const char *const *list, size_t count)
{
	static const char many[] = "±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±"
				   "±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±"
				   "±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±"
				   "±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±±";
	uint8_t byte = fuzz_byte(&json->in);

	fuzz_json_add(json, "\"");
	if (byte < 232)
		fuzz_json_add(json, list[byte % count]);
	else
		fuzz_json_add(json, byte % 4 == 0 ? "\\t\\u001b" : byte % 4 == 1 ? "x" : "");
	if (byte >= 232)
		fuzz_json_add(json, byte % 4 == 0 ? "" : many);
	fuzz_json_add(json, "\"");
}

static inline void fuzz_json_number(struct fuzz_json *json)
{
	uint8_t byte = fuzz_byte(&json->in);

	if (byte < 224)
		fuzz_json_put(json, "%.3f", (byte + 1) / 32.0);
	else
		fuzz_json_any(json);
}

/* low, median and high: two of three times in their order. */
static inline void fuzz_json_summary(struct fuzz_json *json, bool first)
{
	static const char *const name[] = {"low", "median", "high"};
	uint8_t byte = fuzz_byte(&json->in);
	double value = byte / 16.0 + 0.01;

	for (unsigned i = 0; i < 3; i++) {
		if (!fuzz_json_field(json, name[i], first && i == 0))
			continue;
		if (byte % 3 == 0)
			fuzz_json_number(json);
		else
			fuzz_json_put(json, "%.3f", value * (1 + i * (byte % 8) / 20.0));
	}
	if (fuzz_json_field(json, "rounds", false))
		fuzz_json_put(json, "%u", byte % 16u);
}

static inline void fuzz_json_relative(struct fuzz_json *json)
{
	if (fuzz_byte(&json->in) % 2 == 0 || !fuzz_json_field(json, "relative", false))
		return;
	fuzz_json_add(json, "{");
	fuzz_json_summary(json, true);
	fuzz_json_add(json, "}");
}

static inline void fuzz_json_item(struct fuzz_json *json, bool ratio)
{
	static const char *const name[] = {"word loop", "libc", "avx2", "time"},
				 *const unit[] = {"GB/s", "ns", "bytes", "%", "x", "ops/s"};

	fuzz_json_add(json, "{");
	fuzz_json_summary(json, true);
	if (fuzz_json_field(json, ratio ? "of" : "name", false))
		fuzz_json_text(json, name, 4);
	if (ratio ? fuzz_json_field(json, "against", false) : fuzz_json_field(json, "unit", false))
		fuzz_json_text(json, ratio ? name : unit, ratio ? 4 : 6);
	fuzz_json_relative(json);
	fuzz_json_add(json, "}");
}

static inline void fuzz_json_items(struct fuzz_json *json, const char *name, bool ratio)
{
	unsigned count;

	if (!fuzz_json_field(json, name, false))
		return;
	count = fuzz_byte(&json->in) % FUZZ_JSON_ITEMS;
	for (unsigned i = 0; i < count; i++) {
		fuzz_json_add(json, i == 0 ? "[" : ", ");
		fuzz_json_item(json, ratio);
	}
	fuzz_json_add(json, count == 0 ? "[]" : "]");
}

/* An object of facts: machine, options, or conditions. */
static inline void fuzz_json_facts(
	struct fuzz_json *json, const char *name, const char *const *fact, unsigned facts)
{
	static const char *const value[] = {"linear", "8k", "±", "random"};

	if (!fuzz_json_field(json, name, false))
		return;
	fuzz_json_add(json, "{\"\": 0");
	for (unsigned i = fuzz_byte(&json->in) % 4; i > 0; i--) {
		if (!fuzz_json_field(json, fact[fuzz_byte(&json->in) % facts], false))
			continue;
		if (fuzz_byte(&json->in) % 2 != 0)
			fuzz_json_text(json, value, 4);
		else
			fuzz_json_number(json);
	}
	fuzz_json_add(json, "}");
}

static inline void fuzz_json_result(struct fuzz_json *json)
{
	static const char *const name[] = {"equal", "copy", "arc-read", "compare"},
				 *const condition[] = {
					 "size", "pages", "threads", "data", "max_order", "best"};

	fuzz_json_add(json, "{");
	if (fuzz_json_field(json, "scenario", true))
		fuzz_json_text(json, name + 2, 2);
	if (fuzz_json_field(json, "group", false))
		fuzz_json_text(json, name, 1);
	if (fuzz_json_field(json, "name", false))
		fuzz_json_text(json, name, 2);
	fuzz_json_facts(json, "parameters", condition, 6);
	fuzz_json_items(json, "figures", false);
	fuzz_json_items(json, "ratios", true);
	fuzz_json_add(json, "}");
}

/* A whole file, as input says. Returns its size; text has FUZZ_JSON_ROOM bytes. */
static inline size_t fuzz_json_document(struct fuzz_input *in, char *text)
{
	static const char *const fact[] = {"cpu", "time", "governor", "mode", "seed", "input"};
	struct fuzz_json json = {*in, text, 0};
	unsigned count;

	fuzz_json_add(&json, "{");
	if (fuzz_json_field(&json, "format", true))
		fuzz_json_add(&json, "\"abd-perf-1\"");
	fuzz_json_facts(&json, "environment", fact, 3);
	fuzz_json_facts(&json, "options", fact + 3, 3);
	if (fuzz_json_field(&json, "noise", false)) {
		fuzz_json_add(&json, "{");
		fuzz_json_summary(&json, true);
		fuzz_json_add(&json, "}");
	}
	if (fuzz_json_field(&json, "results", false)) {
		count = fuzz_byte(&json.in) % FUZZ_JSON_RESULTS;
		for (unsigned i = 0; i < count; i++) {
			fuzz_json_add(&json, i == 0 ? "[" : ",\n");
			fuzz_json_result(&json);
		}
		fuzz_json_add(&json, count == 0 ? "[]" : "]");
	}
	fuzz_json_add(&json, "}");
	*in = json.in;
	return json.size;
}

#endif
