/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * statx: what filling a caller's record costs, beside the system calls that do it.
 *
 * Source: linux-kernel, "statx: optimize copy of struct statx to userspace", March 2017. 10,000,000
 * calls for a file on tmpfs took 1.46 s with fstat, 5.53 s with statx and a guarded store per
 * field, 1.57 s with statx and one copy of a record that was filled on the stack. Today's kernel
 * copies once, so its statx is raced as it is. What guarded stores would add is measured here, on
 * a record of the same layout. Linux guards a store by a check of the address and by two
 * instructions that let the kernel write to user memory and forbid it again. A program has no such
 * switch: the guard here is the check and a call, the least that a guard can cost.
 * The file and the records stay in the first-level cache, as the source's did.
 */
#include "abd_perf_scenario.h"
#include "abd_perf_statx_record.h"

#include <abd/abd.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FSTAT, STATX, STORES, MEMSET, INITIALISER, STATS, STATX_PATHS };

struct statx_work {
	bool (*fill)(struct statx_record *to, const struct statx_known *known);
	struct statx_known known;
	struct statx_record record;
	int file;
	const char *path; /* NULL, as the source had it, where the kernel takes that */
	struct stat stat;
	struct statx statx;
	struct abd_stats stats;
	long errors;
};

/* Not the C library's: its fstat() is another system call. */
ABD_PERF_LOOP(struct statx_work, statx_run_fstat, syscall(SYS_fstat, o->file, &o->stat))
ABD_PERF_LOOP(struct statx_work, statx_run_statx,
	syscall(SYS_statx, o->file, o->path, AT_EMPTY_PATH, STATX_BASIC_STATS, &o->statx))
ABD_PERF_LOOP(struct statx_work, statx_run_fill,
	(abd_perf_keep(&o->known), o->errors += !o->fill(&o->record, &o->known)))
/* As far as no system call is needed: to the fields that say what is resident. */
ABD_PERF_LOOP(struct statx_work, statx_run_stats,
	abd_stats_get(&o->stats, offsetof(struct abd_stats, resident_regions)))

/* A file on tmpfs without a name, which needs no folder and no room on a disk. */
static bool statx_open(struct statx_work *work, uint64_t *random)
{
	struct statfs fs;

	work->file = memfd_create("abd-perf", MFD_CLOEXEC);
	if (work->file < 0 || fstatfs(work->file, &fs) != 0 || fs.f_type != TMPFS_MAGIC ||
		ftruncate(work->file, (off_t)abd_perf_random_below(random, 1 << 30)) != 0) {
		abd_perf_say_warn("statx is left out: no file on tmpfs: %s", strerror(errno));
		return false;
	}
	if (syscall(SYS_statx, work->file, NULL, AT_EMPTY_PATH, 0, &work->statx) != 0)
		work->path = "";
	return true;
}

static bool statx_right(struct statx_work *work, bool plant)
{
	bool right;

	statx_run_fstat(work, 1);
	statx_run_statx(work, 1);
	right = work->statx.stx_ino == work->stat.st_ino && work->statx.stx_size > 0 &&
		work->statx.stx_size == (uint64_t)work->stat.st_size &&
		work->statx.stx_mode == work->stat.st_mode;
	for (unsigned i = STORES; i <= INITIALISER; i++) {
		memset(&work[i].record, 0x5a, sizeof(work[i].record));
		statx_run_fill(&work[i], 1);
		work[i].record.spare[13] += plant && i == MEMSET;
		right = right && work[i].errors == 0 && work[i].record.mtime.sec != 0 &&
			memcmp(&work[i].record, &work[STORES].record, sizeof(work[i].record)) == 0;
	}
	return right;
}

/* What the call would take with guarded stores in place of the one copy that it makes. */
static struct abd_perf_summary statx_saved(const struct abd_perf_race *race)
{
	double ratio[ABD_PERF_ROUNDS_MAX];

	for (unsigned i = 0; i < race->rounds; i++)
		ratio[i] = 1 + (race->ns[STORES][i] - race->ns[MEMSET][i]) / race->ns[STATX][i];
	return abd_perf_stat(ratio, race->rounds);
}

static int statx_scenario(const struct abd_perf_options *options)
{
	static const struct abd_perf_said
		call = {"statx", 5.53 / 1.57,
			"statx 5.53 s with guarded stores, 1.57 s with one copy (linux-kernel, 2017)"},
		fstat_call = {"statx", 1.46 / 1.57, "fstat 1.46 s, statx 1.57 s (the same)"},
		zeroed = {"statx", 1, "no difference: gcc zeroed all 256 bytes for both"};
	static const struct abd_perf_claim claims[] = {{MEMSET, STORES, 0, NULL},
		{INITIALISER, MEMSET, 0, &zeroed}, {STATX, FSTAT, 0, &fstat_call}};
	static struct statx_work work[STATX_PATHS];
	static struct abd_perf_race race;
	static const struct abd_perf_path path[STATX_PATHS] = {{"fstat", statx_run_fstat, work},
		{"statx", statx_run_statx, work}, {"guarded stores", statx_run_fill, work + STORES},
		{"memset, one copy", statx_run_fill, work + MEMSET},
		{"initialiser, one copy", statx_run_fill, work + INITIALISER},
		{"abd_stats_get", statx_run_stats, work}};
	uint64_t random = options->seed;
	bool right;

	abd_perf_say_begin("statx", 1);
	abd_perf_say_step("a file on tmpfs, and a record of 256 bytes");
	for (size_t i = 0; i < sizeof(work->known); i++)
		((unsigned char *)&work->known)[i] = (unsigned char)(abd_perf_random(&random) | 1);
	for (unsigned i = STORES; i <= INITIALISER; i++)
		work[i] = (struct statx_work){.known = work->known,
			.fill = i == STORES   ? statx_stores
				: i == MEMSET ? statx_memset
					      : statx_initialiser};
	if (!statx_open(work, &random))
		return ABD_PERF_LEFT_OUT;
	right = statx_right(work, options->plant);
	if (!right)
		abd_perf_say_warn("a record was not filled with what it should hold");
	if (right && abd_perf_race_run(&race, path, STATX_PATHS, options)) {
		json_t *result = abd_perf_result_add("statx", "call", "%s", abd_perf_say_name());

		abd_perf_result_text(result, "state", "warm");
		abd_perf_result_race(result, &race, path, 0);
		abd_perf_result_ratio(result, "one copy, of the whole call", "guarded stores",
			statx_saved(&race), 0, &call);
		abd_perf_result_claims(result, &race, path, claims, 3);
	}
	close(work->file);
	return !right;
}

const struct abd_perf_scenario abd_perf_statx = {
	.name = "statx",
	.summary = "fstat and statx of a file on tmpfs, and ways to fill such a record",
	.normal_s = 1,
	.full_s = 1,
	.claim = {"statx: .*", 1},
	.headline = {"statx: .*", 3, 1},
	.run = statx_scenario,
};
