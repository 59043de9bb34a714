/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans: which kernel serves operations of up to which size, as rows and as text. abd_kernel.h
 * chooses among plans; a profile (abd_profile.h) is a file of them.
 *
 *   text: name<=size,name<=size,name (origin)
 *
 * Sizes grow from row to row; the last row has none. A size is a decimal number, or the size of a
 * cache of this machine, or a part of that: "l2", "l3/2". The origin may be left out.
 */
#ifndef ABD_PLAN_H
#define ABD_PLAN_H

#include "abd_base.h"

struct abd_kernel {
	const char *name;
	bool (*supported)(void); /* whether this CPU can run it; always the same answer */
};

/* How many rows a plan can have. A measured plan of flush needs 19 at most. */
#define ABD_PLAN_ROWS 20
/*
 * Room for a plan as text. Longer texts are refused, so every plan that was set can be shown
 * (lib/tuning keeps this much room for each thread).
 */
#define ABD_PLAN_TEXT 256
/* Room for a plan and its origin: "avx512<=4095,avx512-pair (zen4, measured)". */
#define ABD_PLAN_SHOWN (ABD_PLAN_TEXT + 64)

struct abd_plan_row {
	size_t last; /* the largest size of the row; SIZE_MAX in the last row */
	const struct abd_kernel *kernel;
};

struct abd_plan {
	size_t count;       /* of rows; 0: no plan */
	const char *origin; /* a constant: where the plan came from */
	struct abd_plan_row rows[ABD_PLAN_ROWS];
};

/** The kernel of a name of length bytes; NULL: there is none. */
typedef const struct abd_kernel *abd_plan_named_t(const void *arg, const char *name, size_t length);

/**
 * Read a plan whose kernels named() knows. An origin behind it is passed over.
 *
 * Returns: 0; -EINVAL, and *plan is not written.
 */
int abd_plan_read(
	const char *text, abd_plan_named_t *named, const void *arg, struct abd_plan *plan);

/** Whether text has the form of a plan, whatever kernels it names. */
bool abd_plan_is_text(const char *text);

/** Write a plan and its origin into text, as far as they fit into size bytes. */
void abd_plan_print(const struct abd_plan *plan, char *text, size_t size);

/** The plan's kernel for this size. The plan has at least one row. */
const struct abd_kernel *abd_plan_at(const struct abd_plan *plan, size_t size);

/**
 * Add a row for the sizes above the last row up to last. If the last row has the same kernel, widen
 * that row instead. The caller makes sure that a row is free.
 */
void abd_plan_add(struct abd_plan *plan, size_t last, const struct abd_kernel *kernel);

#endif
