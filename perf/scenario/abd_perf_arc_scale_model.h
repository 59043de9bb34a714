/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A model of hit throughput on machines with more CPUs than this one, computed from costs that were
 * measured on this one.
 *
 * What is shared on the way of hits is one line: the lock that a thread tries when it has a batch
 * of hits to tell. So there are n threads that each think for a batch's time (hit_batch times a
 * hit, and telling it once), then need the line for as long as it takes to come over from another
 * CPU: a closed queue with one server, solved exactly by mean value analysis.
 *
 * Assumptions: every hit is news (the worst case); CPUs are all alike and each has the caches it
 * has here; a line comes over from any CPU as it does between two of these; the lists' lines, which
 * another CPU wrote, come as those of a set larger than the second-level cache do here; memory
 * keeps up: the table says how much it has to give. How much slower a line may be is computed too.
 * Source: Reiser and Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks" (JACM
 *         1980).
 */
#ifndef ABD_PERF_ARC_SCALE_MODEL_H
#define ABD_PERF_ARC_SCALE_MODEL_H

#include "abd_perf_options.h"

/**
 * Measure what is shared, take the costs of hits from the results there are, and add a row for each
 * number of CPUs.
 */
void abd_perf_scale_model(const struct abd_perf_options *options);

#endif
