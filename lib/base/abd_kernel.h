/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chooser: which kernel serves which size. Every layer that has kernels (compare, copy, flush,
 * codec) has one table of them and one choice; this file chooses, forces, lists and shows kernels
 * for all layers.
 *
 * A kernel is a constant struct: a name, whether this CPU can run it, and the layer's functions. A
 * plan is a list of rows: up to this size, this kernel.
 *
 *                       rows of the plan in use
 *      size ---------> [ <= 256: nt-avx512 | all above: movdir64b ] ---------> kernel
 *                              ^
 *         forced for a group of choices ("flush"), else
 *         set by the tunable or the environment, or measured (flush), else
 *         measured by us on this family of CPUs (abd_machine.h), else
 *         the layer's fallback for every other CPU, by the size of its last cache, else
 *         the first kernel of the table that this CPU has
 *
 * A plan is passed over if this CPU lacks one of its kernels.
 *
 * A kernel is added by one new file, in x86/, arm64/ or generic/ (or an instruction set in
 * lib/CMakeLists.txt, for which one of these is compiled again), its declaration in the layer's
 * header and its place in the layer's table.
 *
 * Invariant: this CPU can run the kernel of every row, and every kernel of a table is right for
 * every size. So a reader needs no lock: if it sees rows of two plans, because one is just
 * replacing the other, it still gets a right kernel.
 */
#ifndef ABD_KERNEL_H
#define ABD_KERNEL_H

#include "abd_cpu.h"

#include <stdatomic.h>

struct abd_kernel {
	const char *name;
	bool (*supported)(void); /* abd_cpu_runs_...() of abd_cpu.h */
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

/* Whether x86/ or arm64/ is built: for the lines of tables that name their kernels. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define ABD_ON_X86 1
#else
#define ABD_ON_X86 0
#endif
#if defined(__aarch64__) && !defined(__ILP32__)
#define ABD_ON_ARM64 1
#else
#define ABD_ON_ARM64 0
#endif

#define ABD_PLAN_BUILT_IN_ROWS 6
#define ABD_PLAN_ROWS 20

/*
 * Room for a plan as text. Longer texts are refused, so every plan that was set can be shown
 * (lib/tuning keeps this much room for each thread); and the same with its origin in brackets.
 */
#define ABD_PLAN_TEXT 256
#define ABD_PLAN_SHOWN (ABD_PLAN_TEXT + 64)

/* The last size of a row in a built-in plan: the last cache's size, divided by parts (1 to 64). */
#define ABD_L3_PART(parts) (SIZE_MAX - (size_t)(parts))

struct abd_plan_row {
	size_t last; /* the largest size that the kernel serves; SIZE_MAX in the last row */
	const struct abd_kernel *kernel;
};

struct abd_plan {
	const char *origin; /* a constant: where the plan came from */
	size_t count;       /* of rows; 0: no plan */
	struct abd_plan_row rows[ABD_PLAN_ROWS];
};

/*
 * A built-in plan: measured by us on a CPU of this family, or, without a family, the fallback for
 * every other CPU. Fallbacks stand behind the families, in order of preference.
 */
struct abd_plan_built_in {
	const char *family;
	struct abd_plan_row rows[ABD_PLAN_BUILT_IN_ROWS]; /* none: the table ends */
};

struct abd_choice {
	/*
	 * In use, read without a lock. Before the first call: one row without a kernel, whose last
	 * is SIZE_MAX (ABD_CHOICE()).
	 */
	struct {
		_Atomic size_t last;
		_Atomic(const struct abd_kernel *) kernel;
	} rows[ABD_PLAN_ROWS];

	/* Constant. */
	const char *name;  /* of the tunable; ABD_<NAME> in the environment */
	const char *group; /* of the tunable that forces a plan on several choices, or NULL */
	/* the table: pointers to the layer's kernels, best first, ended by NULL */
	const void *kernels;
	const struct abd_plan_built_in *built_in; /* or NULL: there is none */

	/* Under the chooser's lock. */
	bool started;
	struct abd_plan plan;   /* set, measured or built in */
	struct abd_plan forced; /* used instead of plan while it has rows */
};

/* A choice of this name from a table, and what else it has. */
#define ABD_CHOICE(name_, kernels_, ...)                                                      \
	{                                                                                     \
		.rows[0].last = SIZE_MAX, .name = (name_), .kernels = (kernels_), __VA_ARGS__ \
	}

/**
 * For the first call: read the environment, put a plan in use, and return what abd_choice_for()
 * returns.
 */
const struct abd_kernel *abd_choice_start(struct abd_choice *choice, size_t size);

/**
 * The kernel for an operation of this size.
 *
 * Returns: a kernel that this CPU can run, never NULL, valid for ever. A caller that asks once per
 *          operation sees one kernel throughout.
 * Threads: any. After the first call: two loads and a comparison if the size is in the first row.
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

/* abd_choice_for() as the layer's own struct. */
#define ABD_CHOOSE(type, choice, size) ((const struct type *)abd_choice_for(choice, size))

/**
 * Use the plan in text: the name of a kernel, or "word<=64,scalar<=4096,libc", with sizes that
 * grow. What abd_plan_print() wrote is taken too. "auto": the plan that is built in. force: for the
 * choice's group; such a plan takes precedence over the choice's own until text is "auto".
 *
 * Returns: 0; -EINVAL: text is no plan, or names a kernel that this CPU lacks. Nothing is changed
 *          then.
 * Threads: any; operations under way finish with the kernel they began with.
 */
int abd_choice_set(struct abd_choice *choice, const char *text, bool force);

/** Get the choice's own plan; with in_use, the forced plan if there is one. */
void abd_choice_plan_get(struct abd_choice *choice, bool in_use, struct abd_plan *plan);
/** Replace the choice's own plan or the forced one. A forced plan without rows ends the forcing. */
void abd_choice_plan_set(struct abd_choice *choice, const struct abd_plan *plan, bool force);

/** The plan that a CPU of this family gets by itself. */
void abd_plan_of_family(const struct abd_choice *choice, const char *family, struct abd_plan *plan);

/** The plan's kernel for this size. The plan has at least one row. */
const struct abd_kernel *abd_plan_at(const struct abd_plan *plan, size_t size);

/**
 * Add a row for the sizes above the last row up to last. If the last row has the same kernel, widen
 * that row instead. The caller makes sure that a row is free.
 */
void abd_plan_add(struct abd_plan *plan, size_t last, const struct abd_kernel *kernel);

/** Write the plan and, in brackets, its origin, cut to size > 0 bytes. */
void abd_plan_print(const struct abd_plan *plan, char *text, size_t size);

/**
 * The kernel of this name; for name NULL, the first of the table that this CPU can run. Returns
 * NULL if there is no such kernel or this CPU can't run it.
 */
const struct abd_kernel *abd_choice_find(const struct abd_choice *choice, const char *name);

#endif
