/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws as JSON, with jansson: one step per line, so a reader need not hold a long trace in memory.
 */
#include "abd_explain_draw.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *abd_explain_json_parts(const struct abd_explain_shot *shot)
{
	json_t *parts = json_array();

	for (size_t i = 0; i < shot->part_count; i++) {
		const struct abd_explain_part *part = &shot->parts[i];

		json_array_append_new(
			parts, json_pack("{s:I,s:I,s:I,s:s,s:s,s:i,s:i}", "off",
				       (json_int_t)part->off, "size", (json_int_t)part->size, "in",
				       (json_int_t)part->in, "owner", part->owner, "place",
				       part->place, "run", part->run, "order", part->order));
	}
	return parts;
}

static json_t *abd_explain_json_shot(const struct abd_explain_shot *shot)
{
	json_t *marks = json_array();

	for (size_t i = 0; i < shot->mark_count; i++)
		json_array_append_new(marks,
			json_pack("{s:I,s:I,s:s}", "off", (json_int_t)shot->marks[i].off, "size",
				(json_int_t)shot->marks[i].size, "what", shot->marks[i].what));
	return json_pack("{s:s,s:s,s:s,s:s*,s:I,s:b,s:b,s:o,s:o}", "name", shot->name, "head",
		shot->head, "kind", shot->kind, "of", shot->of, "size", (json_int_t)shot->size,
		"linear", shot->is_linear, "linear_page", shot->is_linear_page, "parts",
		abd_explain_json_parts(shot), "marks", marks);
}

static json_t *abd_explain_json_step(const struct abd_explain_step *step)
{
	json_t *notes = json_array(), *shots = json_array(), *deltas = json_array();

	for (const struct abd_explain_note *note = step->notes; note != NULL; note = note->next)
		json_array_append_new(notes, json_string(note->text));
	for (const struct abd_explain_shot *shot = step->shots; shot != NULL; shot = shot->next)
		json_array_append_new(shots, abd_explain_json_shot(shot));
	for (const struct abd_explain_delta *at = step->deltas; at != NULL; at = at->next)
		json_array_append_new(
			deltas, json_pack("{s:s,s:I,s:I}", "name", at->name, "by",
					(json_int_t)at->by, "now", (json_int_t)at->now));
	return json_pack("{s:i,s:b,s:s,s:s*,s:s,s:o,s:o,s:o,s:s*}", "line", (int)step->line,
		"chapter", step->is_chapter, "statement", step->statement, "call", step->call,
		"outcome", abd_explain_outcome_name(step->outcome), "notes", notes, "shots", shots,
		"counters", deltas, "pool", step->pool);
}

void abd_explain_json(FILE *out, const struct abd_explain_trace *trace)
{
	for (const struct abd_explain_step *step = trace->steps; step != NULL; step = step->next) {
		json_t *json = abd_explain_json_step(step);

		/* json is NULL when the statement is not UTF-8; the line is then empty. */
		if (json != NULL)
			json_dumpf(json, out, JSON_COMPACT);
		fputc('\n', out);
		json_decref(json);
	}
}
