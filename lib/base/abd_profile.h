/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile: a file of plans that were measured on one machine (include/abd/tuning.h describes it).
 *
 *   # comment
 *   cpu=AuthenticAMD-25-17           comes before the plans
 *   compare=avx512<=8388607,avx512-four
 *
 * Invariant: a profile is used whole or not at all. Its form is checked before a kernel's name is
 * looked up, so one that is damaged changes nothing.
 */
#ifndef ABD_PROFILE_H
#define ABD_PROFILE_H

#include "abd_plan.h"

enum {
	ABD_PROFILE_PLANS = 11,
	ABD_PROFILE_SIZE = 16 << 10, /* the largest file */
	ABD_PROFILE_LINE = 512,
};

/* The tunables that a profile can hold a plan for. Ended by NULL. */
extern const char *const abd_profile_names[ABD_PROFILE_PLANS + 1];

struct abd_profile {
	size_t skipped; /* lines with names that this version does not know */
	char plans[ABD_PROFILE_PLANS][ABD_PLAN_TEXT]; /* in the order of the names; "": none */
};

/**
 * Read a profile. What is wrong with it, and what is not used, is reported on stderr.
 *
 * Returns: 0, without plans if the profile is another CPU's; -EINVAL damaged; -errno if it can't be
 *          read. *profile has no plans after an error.
 */
int abd_profile_read(const char *path, struct abd_profile *profile);

/** The profile's plan for a tunable; NULL: none. */
const char *abd_profile_plan(const struct abd_profile *profile, const char *name);

#endif
