/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chooser: which kernel serves which size. Every layer that has kernels (compare, copy, flush,
 * codec) has a table of them and a choice; this file chooses, forces, lists and shows kernels for
 * all layers.
 *
 * A kernel is a constant struct: a name, whether this CPU can run it, and the layer's functions. A
 * plan says which kernel serves operations of up to which size: "nt-avx512<=256,movdir64b". A
 * choice holds the plan in use, and where it came from.
 *
 *                       rows of the plan in use
 *      size ---------> [ <= 256: nt-avx512 | all above: movdir64b ] ---------> kernel
 *                              ^
 *         forced for a group of choices ("flush"), else
 *         set by the tunable or the environment, or measured (flush), else
 *         the profile of this machine (abd_profile.h), else
 *         the built-in plan for this family of CPUs (abd_machine.h), else
 *         the first plan that is derived from the sizes of the caches, else
 *         the first kernel of the table that this CPU has
 *
 * A plan is passed over if this CPU lacks one of its kernels.
 *
 * A kernel is added by one new file, in x86/, arm64/ or generic/, and one line of its layer's
 * table.
 *
 * Invariant: this CPU can run the kernel of every row, and every kernel of a table is right for
 * every size. So a reader needs no lock: if it sees rows of two plans, because one is just
 * replacing the other, it still gets a right kernel.
 */
#ifndef ABD_KERNEL_H
#define ABD_KERNEL_H

#include "abd_plan.h"

#include <stdatomic.h>

/* What every kernel begins with: struct abd_kernel for the chooser, plain fields for the layer. */
#define ABD_KERNEL_HEAD                          \
	union {                                  \
		struct abd_kernel kernel;        \
		struct {                         \
			const char *name;        \
			bool (*supported)(void); \
		};                               \
	}

/* Lines of a table that exist on one kind of machine only. */
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

/* A plan that is built in for a family of CPUs (abd_machine.h). */
struct abd_plan_built_in {
	const char *family, *plan, *origin;
};

/* Measured by us on a CPU of the family, or derived from what is known of it and its relatives. */
#define ABD_PLAN_MEASURED(family, plan)           \
	{                                         \
		family, plan, family ", measured" \
	}
#define ABD_PLAN_DERIVED(family, plan)           \
	{                                        \
		family, plan, family ", derived" \
	}

/* A tunable that forces a plan on several choices. */
struct abd_choice_group {
	const char *name;
	/* an unusable plan in the environment was reported; under the chooser's lock */
	bool reported;
};

struct abd_choice {
	/*
	 * In use, read without a lock. Before the first call: one row without a kernel, whose last
	 * is SIZE_MAX; each choice is defined so.
	 */
	struct {
		_Atomic size_t last;
		_Atomic(const struct abd_kernel *) kernel;
	} rows[ABD_PLAN_ROWS];

	/* Constant. */
	const char *name; /* of the tunable; ABD_<NAME> in the environment */
	struct abd_choice_group *group;
	/* the table: pointers to the layer's kernels, best first, ended by NULL */
	const void *kernels;
	const struct abd_plan_built_in *families; /* ended by an empty one; NULL: none */
	/* for other CPUs, in order of preference, ended by NULL; NULL: none. Sizes are derived. */
	const char *const *plans;

	/* Under the chooser's lock. */
	bool started;
	bool kept;               /* plan was set or measured: a profile does not replace it */
	struct abd_plan plan;    /* set, measured or what the machine gets by itself */
	struct abd_plan profile; /* measured on this machine; no rows: there is none */
	struct abd_plan forced;  /* used instead of plan while it has rows */
};

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

/**
 * Use the plan in text, which may be the name of one kernel. "auto": the built-in plan for this
 * machine.
 *
 * Returns: 0; -EINVAL: text is no plan, or names a kernel that this CPU lacks. Nothing is changed
 *          then.
 * Threads: any; operations under way finish with the kernel they began with.
 */
int abd_choice_set(struct abd_choice *choice, const char *text);

/**
 * Force a plan on the choice, for its group: it takes precedence over the choice's own plan until
 * text is "auto".
 */
int abd_choice_force(struct abd_choice *choice, const char *text);

/**
 * For tests: force a kernel, which need not be in the table; NULL is the same as
 * abd_choice_force(choice, "auto").
 */
void abd_choice_force_kernel(struct abd_choice *choice, const struct abd_kernel *kernel);

/**
 * Get the choice's own plan; with in_use, the forced plan if there is one. Set replaces the
 * choice's own plan by a measured one.
 */
void abd_choice_plan_get(struct abd_choice *choice, bool in_use, struct abd_plan *plan);
void abd_choice_plan_set(struct abd_choice *choice, const struct abd_plan *plan);

/**
 * The plan of a profile for this choice; NULL: there is none any more. It replaces a plan that the
 * machine got by itself.
 *
 * Returns: whether the plan can be used here: false if it names a kernel that this CPU lacks. The
 *          choice then has no profile.
 */
bool abd_choice_profile(struct abd_choice *choice, const char *text);

/** The plan that a CPU of this family gets by itself, without a profile. */
void abd_plan_of_family(const struct abd_choice *choice, const char *family, struct abd_plan *plan);

/**
 * Write the plan and its origin in the form that abd_choice_set() takes; with in_use, the forced
 * plan if there is one. Cut to size > 0 bytes.
 */
void abd_choice_print(struct abd_choice *choice, bool in_use, char *text, size_t size);

/** Write "auto" and the names of all kernels that this CPU has, separated by spaces. Cut to size
 * bytes, terminated unless size is 0. */
void abd_choice_names(const struct abd_choice *choice, char *text, size_t size);

/**
 * The kernel of this name; for name NULL, the first of the table that this CPU can run. Returns
 * NULL if there is no such kernel or this CPU can't run it.
 */
const struct abd_kernel *abd_choice_find(const struct abd_choice *choice, const char *name);

/**
 * A plan from text (abd_plan.h) with kernels of this choice that the CPU has.
 *
 * Returns: 0; -EINVAL, and *plan is not written.
 */
int abd_plan_parse(const struct abd_choice *choice, const char *text, struct abd_plan *plan);

#endif
