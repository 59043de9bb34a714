/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of all steps use. */
#ifndef TEST_H
#define TEST_H

#include "mini.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What given.c knows. */
extern size_t mem_largest_run;         /* no run of more pages is given */
extern size_t mem_runs_left;           /* after so many runs every one is refused */
extern void (*shared_look_then)(void); /* called once, behind the next look */
size_t mem_in_use(void);               /* bytes that were given and did not come back */
size_t mem_given(void);                /* how often memory was given so far */
void *mem_callers(size_t size);        /* memory of the caller's, which no buffer may end */

/* Say in a few words what is about to be checked; told when the program crashes there. */
void about(const char *what);
/* If it is not so, say what is wrong and end. */
void must(bool so, const char *wrong);
/* Nothing of memory is left. */
void all_came_back(void);

#endif
