/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chooser: which kernel serves which size. Every layer that has kernels (compare, copy, flush,
 * codec) has a table of them and a choice; how one is chosen, forced, listed and shown is decided
 * here for all.
 *
 * A kernel is a constant struct: a name, whether this CPU can run it, and the layer's functions. A
 * plan says which kernel serves operations of up to which size: "nt-avx512<=256,movdir64b". A
 * choice holds the plan in use.
 *
 *                       rows of the plan in use
 *      size ---------> [ <= 256: nt-avx512 | all above: movdir64b ] ---------> kernel
 *                              ^
 *         forced for a group of choices ("flush"), else
 *         set by the tunable or the environment, or measured (flush), else
 *         the first built-in plan whose kernels this CPU all has, else
 *         the first kernel of the table that this CPU has
 *
 * A kernel is added by one new file, in x86/, arm64/ or generic/, and one line of its layer's
 * table.
 *
 * Invariant: a row that has a kernel has one that this CPU can run, and every kernel of a table is
 * right for every size. So a reader who sees the rows of two plans, because one is just being
 * replaced, still gets a right answer, and needs no lock.
 */
#ifndef ABD_KERNEL_H
#define ABD_KERNEL_H

#include "abd_base.h"

#include <stdatomic.h>

struct abd_kernel {
	const char *name;
	bool (*supported)(void); /* by this CPU; always the same answer */
};

/* What every kernel begins with: struct abd_kernel for the chooser, plain fields for the layer. */
#define ABD_KERNEL_HEAD                          \
	union {                                  \
		struct abd_kernel kernel;        \
		struct {                         \
			const char *name;        \
			bool (*supported)(void); \
		};                               \
	}

/* Lines of a table that only one kind of machine has. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define ABD_ON_X86(...) __VA_ARGS__
#else
#define ABD_ON_X86(...)
#endif
#if defined(__aarch64__) && !defined(__ILP32__)
#define ABD_ON_ARM64(...) __VA_ARGS__
#else
#define ABD_ON_ARM64(...)
#endif

/* Rows that a plan can have: a measured plan of flush needs 19 at most. */
#define ABD_PLAN_ROWS 20
/* Room for a plan as text. A longer one is refused, so what can be set can be shown (lib/tuning
 * keeps this much for each thread). */
#define ABD_PLAN_TEXT 256

struct abd_plan_row {
	size_t last; /* the largest size of the row; of the last row SIZE_MAX */
	const struct abd_kernel *kernel;
};

struct abd_plan {
	size_t count; /* of rows; 0: no plan */
	struct abd_plan_row rows[ABD_PLAN_ROWS];
};

/* A tunable that forces a plan on several choices. */
struct abd_choice_group {
	const char *name;
	bool reported; /* that the environment names a plan for it that can't be taken; under the
			  chooser's lock */
};

struct abd_choice {
	/* In use, read without a lock. Before the first call: one row without a kernel, its last
	 * set to SIZE_MAX where the choice is defined. */
	struct {
		_Atomic size_t last;
		_Atomic(const struct abd_kernel *) kernel;
	} rows[ABD_PLAN_ROWS];

	/* Constant. */
	const char *name; /* of the tunable; ABD_<NAME> in the environment */
	struct abd_choice_group *group;
	const void *kernels; /* the table: pointers to the layer's kernels, best first, ended by
				NULL */
	const char *const *plans; /* built in, in order of preference, ended by NULL; NULL: none */

	/* Under the chooser's lock. */
	bool started;
	struct abd_plan plan;   /* set, measured or built in */
	struct abd_plan forced; /* in its place while it has rows */
};

/** The first call of all: read the environment, put a plan in use, and answer as abd_choice_for().
 */
const struct abd_kernel *abd_choice_start(struct abd_choice *choice, size_t size);

/**
 * The kernel for an operation of this size.
 *
 * Returns: a kernel that this CPU can run, never NULL, valid for ever. A caller that asks once per
 *          operation sees one kernel throughout.
 * Threads: any; two loads and a comparison for the first row of a plan, after the first call of
 *          all.
 */
static inline const struct abd_kernel *abd_choice_for(struct abd_choice *choice, size_t size)
{
	const struct abd_kernel *kernel;
	size_t row = 0;

	while (ABD_UNLIKELY(
		size > atomic_load_explicit(&choice->rows[row].last, memory_order_acquire)))
		row++;
	kernel = atomic_load_explicit(&choice->rows[row].kernel, memory_order_acquire);
	return ABD_LIKELY(kernel != NULL) ? kernel : abd_choice_start(choice, size);
}

/**
 * Use the plan in text, which may be one kernel's name; "auto": the plan that this machine gets by
 * itself.
 *
 * Returns: 0; -EINVAL: text is no plan, or names a kernel that this CPU lacks. Nothing is changed
 *          then.
 * Threads: any; operations under way finish with the kernel they began with.
 */
int abd_choice_set(struct abd_choice *choice, const char *text);

/** The same for the choice's group: text takes precedence over what the choice itself was set to,
 * until "auto". */
int abd_choice_force(struct abd_choice *choice, const char *text);

/** Force a kernel that need not be in the table; NULL: as after abd_choice_force(choice, "auto").
 * For tests. */
void abd_choice_force_kernel(struct abd_choice *choice, const struct abd_kernel *kernel);

/** The plan; in_use: the forced one, where there is one. And put a measured plan in the place of
 * the one that is not forced. */
void abd_choice_plan_get(struct abd_choice *choice, bool in_use, struct abd_plan *plan);
void abd_choice_plan_set(struct abd_choice *choice, const struct abd_plan *plan);

/** Write the plan as abd_choice_set() takes it; in_use: the forced one, where there is one. Cut to
 * size > 0 bytes. */
void abd_choice_print(struct abd_choice *choice, bool in_use, char *text, size_t size);

/** Write "auto" and the names of all kernels that this CPU has, separated by spaces. Cut to size
 * bytes, terminated unless size is 0. */
void abd_choice_names(const struct abd_choice *choice, char *text, size_t size);

/** The kernel of this name, NULL: the first of the table that this CPU has. Returns NULL where this
 * CPU has none. */
const struct abd_kernel *abd_choice_find(const struct abd_choice *choice, const char *name);

/**
 * A plan from text: "name<=size,name<=size,name". Sizes are decimal and grow from row to row; the
 * last row has none.
 *
 * Returns: 0; -EINVAL, and *plan is not written.
 */
int abd_plan_parse(const struct abd_choice *choice, const char *text, struct abd_plan *plan);

/** The plan's kernel for this size. The plan has rows. */
const struct abd_kernel *abd_plan_at(const struct abd_plan *plan, size_t size);

/** Add a row to the end: [the last row's end, last]; a row whose kernel is that of the row before
 * widens it. Room is the caller's care. */
void abd_plan_add(struct abd_plan *plan, size_t last, const struct abd_kernel *kernel);

#endif
