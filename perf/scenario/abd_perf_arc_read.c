/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arc-read: how much it saves to treat single-chunk scatter buffers as linear, in the case where
 * OpenZFS found it: records that the ARC holds compressed in scatter buffers are borrowed, decoded
 * by lz4 and returned.
 *
 * Records whose payload fits one 4 KiB page and larger ones are measured apart, because only the
 * latter can be multi-chunk. Hot: 12 MiB of distinct records for all threads, read before the clock
 * starts. Cold: the sets of all paths together take four times the last-level cache, and are read
 * at random; left out, with a warning, if that is too much for this machine or without --full.
 * OpenZFS: PR 8580; tests/zfs-tests/tests/perf/regression/sequential_reads_arc_cached.ksh.
 */
#include "abd_perf_arc_set.h"
#include "abd_perf_chase.h"
#include "abd_perf_crew.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_MIB ((size_t)1 << 20)
#define ABD_PERF_ARC_COLD_QUICK (192 * ABD_PERF_MIB)

/* One comparison: a crew reads a set. */
struct abd_perf_arc_cell {
	const struct abd_perf_arc_study *study;
	const struct abd_perf_options *options;
	const struct abd_perf_data *data;
	struct abd_perf_arc_set set;
	bool hot, one_page;
	unsigned threads;      /* of this comparison */
	unsigned threads_most; /* that the set is made for */
	struct abd_perf_crew *crew;
	char *dst[1024]; /* where each member decodes to */
	size_t at[ABD_PERF_ARC_WAYS][1024];
	atomic_uint errors;
};

struct abd_perf_arc_path {
	struct abd_perf_arc_cell *cell;
	unsigned number; /* of its way */
};

/* Read the next n records of a member's share [first, end). */
static unsigned abd_perf_arc_read_some(
	const struct abd_perf_arc_path *path, unsigned member, size_t first, size_t end, uint64_t n)
{
	struct abd_perf_arc_cell *cell = path->cell;
	const struct abd_perf_arc_way *way = &cell->study->ways[path->number];
	const struct abd_perf_arc_visit *visit = abd_perf_arc_visits(&cell->set, way);
	int record_size = (int)cell->set.records->record_size;
	bool own_decoder = way->own_decoder;
	char *dst = cell->dst[member];
	size_t at = cell->at[path->number][member];
	unsigned errors = 0;

	for (at = at < first || at >= end ? first : at; n > 0; n--) {
		errors += !abd_perf_arc_decode(&visit[at], own_decoder, dst, record_size);
		at = at + 1 < end ? at + 1 : first;
	}
	cell->at[path->number][member] = at;
	return errors;
}

static double abd_perf_arc_member(void *arg, unsigned member, uint64_t iterations)
{
	const struct abd_perf_arc_path *path = arg;
	struct abd_perf_arc_cell *cell = path->cell;
	size_t share = cell->set.slots / (cell->hot ? cell->threads_most : cell->threads);
	size_t first = share * member, end = first + share;
	unsigned errors = 0;
	double start;

	if (cell->hot)
		errors += abd_perf_arc_read_some(path, member, first, end, share);
	start = abd_perf_clock_ns();
	errors += abd_perf_arc_read_some(path, member, first, end, iterations);

	double ns = abd_perf_clock_ns() - start;

	if (errors != 0)
		atomic_fetch_add(&cell->errors, errors);
	return ns;
}

static double abd_perf_arc_path_run(void *arg, uint64_t iterations)
{
	const struct abd_perf_arc_path *path = arg;

	return abd_perf_crew_run(path->cell->crew, abd_perf_arc_member, arg, iterations);
}

/* ---- sizes of sets --------------------------------------------------------------------------- */

/* Payload bytes of one path's cold set; 0: more than this machine has, or has time for. */
static size_t abd_perf_arc_cold_bytes(const struct abd_perf_arc_cell *cell, double fill)
{
	size_t bytes = abd_perf_arc_cold() / (cell->options->quick ? cell->set.kinds : 1);
	size_t most = (size_t)((double)(abd_perf_env_memory() / 4 / cell->set.kinds) * fill);

	if (bytes <= most && (!cell->options->quick || bytes <= ABD_PERF_ARC_COLD_QUICK))
		return bytes;
	abd_perf_say_warn("cold sets of %zu MiB are left out: %s", bytes / ABD_PERF_MIB,
		bytes <= most ? "they take --full" : "too little memory");
	return 0;
}

/*
 * The number of buffers of each kind: every thread gets an equal share of them. 0: the set is left
 * out.
 */
static size_t abd_perf_arc_slots(const struct abd_perf_arc_cell *cell)
{
	const struct abd_perf_arc_set *set = &cell->set;
	size_t payload = 0, pages = 0, slots;

	for (size_t i = 0; i < set->member_count; i++) {
		size_t size = set->records->record[set->members[i]].payload_size;

		payload += size;
		pages += (size + 4095) / 4096 * 4096;
	}
	if (cell->hot) {
		slots = ABD_PERF_ARC_HOT / set->records->record_size;
		slots = slots < set->member_count ? slots : set->member_count;
	} else {
		slots = abd_perf_arc_cold_bytes(cell, (double)payload / (double)pages) /
			(payload / set->member_count);
		if (slots == 0)
			return 0;
	}

	size_t share = slots / cell->threads_most;

	return (share > 2 ? share : 2) * cell->threads_most;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void abd_perf_arc_describe(json_t *result, const struct abd_perf_arc_cell *cell)
{
	const struct abd_perf_arc_set *set = &cell->set;
	size_t distinct = set->slots < set->member_count ? set->slots : set->member_count;

	abd_perf_result_text(result, "data", cell->data->name);
	abd_perf_result_size(result, "record_size", set->records->record_size);
	if (cell->study->pages) {
		abd_perf_result_text(result, "pages", cell->one_page ? "1" : ">1");
		abd_perf_result_text(result, "set", cell->hot ? "hot" : "cold");
		abd_perf_result_number(result, "threads", cell->threads);
		abd_perf_result_number(
			result, "single_run_share", abd_perf_arc_set_single_share(set));
	}
	abd_perf_result_number(
		result, "compressed_bytes", (double)set->payload_bytes / (double)set->slots);
	abd_perf_result_number(
		result, "distinct_bytes", (double)(distinct * set->records->record_size));
	abd_perf_result_number(result, "set_bytes",
		(double)set->payload_bytes / (cell->hot ? cell->threads_most : 1));
	if (!cell->hot)
		abd_perf_result_number(
			result, "line_ns", abd_perf_chase_ns(set->payload_bytes * set->kinds));
	abd_perf_result_number(result, "record_share",
		(double)set->member_count / (double)(set->records->count + set->records->raw));
	abd_perf_result_number(result, "neighbour_share",
		set->place.pairs > 0 ? (double)set->place.neighbours / (double)set->place.pairs
				     : 0);
	abd_perf_result_text(result, "decoder", abd_tuning_get("lz4"));
	abd_perf_result_text(result, "origin", cell->data->origin);
}

/* "fio 8k, >1 page, hot, 2 threads", or "fio 8k, hot". */
static const char *abd_perf_arc_name(
	const struct abd_perf_arc_cell *cell, unsigned count, char name[96])
{
	char size[24], threads[24] = "";

	if (cell->study->pages)
		snprintf(threads, sizeof(threads), ", %u thread%s", count, count > 1 ? "s" : "");
	snprintf(name, 96, "%s %s%s, %s%s", cell->data->name,
		abd_perf_options_size_text(cell->set.records->record_size, size, sizeof(size)),
		!cell->study->pages ? ""
		: cell->one_page    ? ", 1 page"
				    : ", >1 page",
		cell->hot ? "hot" : "cold", threads);
	return name;
}

/* Race the ways over the set with threads threads. Returns an exit status. */
static int abd_perf_arc_race(struct abd_perf_arc_cell *cell, unsigned threads)
{
	static struct abd_perf_race race;
	const struct abd_perf_arc_study *study = cell->study;
	struct abd_perf_arc_path arc_path[ABD_PERF_ARC_WAYS];
	struct abd_perf_path path[ABD_PERF_ARC_WAYS];
	unsigned paths = 0;
	char name[96];

	abd_perf_arc_name(cell, threads, name);
	cell->threads = threads;
	abd_perf_say_step("%s", name);
	for (unsigned i = 0; i < study->way_count; i++) {
		if (!abd_perf_arc_has(&cell->set, &study->ways[i]))
			continue;
		arc_path[paths] = (struct abd_perf_arc_path){cell, i};
		path[paths] = (struct abd_perf_path){
			study->ways[i].name, abd_perf_arc_path_run, &arc_path[paths]};
		paths++;
	}
	cell->crew = abd_perf_crew_make(threads, cell->options);
	if (cell->crew == NULL)
		abd_perf_say_die(1, "%u threads can't be started", threads);
	if (abd_perf_race_run(&race, path, paths, cell->options)) {
		json_t *result = abd_perf_result_add(
			study->scenario, cell->hot ? "hot" : "cold", "%s", name);

		abd_perf_arc_describe(result, cell);
		abd_perf_result_race(result, &race, path, (double)cell->set.records->record_size);
		for (unsigned i = 0; i < study->claim_count; i++) {
			const struct abd_perf_claim *claim = &study->claims[i];

			abd_perf_result_named(result, &race, path, study->ways[claim->of].name,
				study->ways[claim->against].name, claim->target, NULL);
		}
	}
	abd_perf_crew_end(cell->crew);
	if (atomic_load(&cell->errors) == 0)
		return 0;
	abd_perf_say_warn("%u reads failed while measuring", atomic_load(&cell->errors));
	return 1;
}

/*
 * One class of one record size, hot or cold: make the set, check every record, race with 1 and with
 * N threads.
 */
static int abd_perf_arc_class(struct abd_perf_arc_cell *cell)
{
	unsigned threads = cell->options->threads;
	char name[96];
	int status = 0;

	if (!abd_perf_say_wants("%s", abd_perf_arc_name(cell, 1, name)) &&
		!abd_perf_say_wants("%s", abd_perf_arc_name(cell, cell->threads_most, name)))
		return 0;
	cell->set.kinds = cell->one_page ? ABD_PERF_ARC_MULTI : ABD_PERF_ARC_KINDS;

	size_t slots = abd_perf_arc_slots(cell);

	if (slots == 0)
		return 0;
	abd_perf_arc_set_make(&cell->set, slots, cell->options->seed);
	if (cell->options->plant)
		abd_perf_arc_set_damage(&cell->set);
	memset(cell->at, 0, sizeof(cell->at));
	if (!abd_perf_arc_set_check(&cell->set, cell->study->ways, cell->study->way_count)) {
		abd_perf_say_step("%s", name);
		status = 1;
	}
	if (status == 0 && threads == 0 && cell->threads_most > 1)
		status = abd_perf_arc_race(cell, 1);
	if (status == 0 && !abd_perf_say_stopped())
		status = abd_perf_arc_race(cell, cell->threads_most);
	abd_perf_arc_set_free(&cell->set);
	return status;
}

/* The records of one class; none if they are less than a tenth of all, too few for a row. */
static size_t abd_perf_arc_members(
	const struct abd_perf_records *records, bool one_page, uint32_t *members)
{
	size_t count = 0;

	for (uint32_t i = 0; i < records->count; i++) {
		if ((records->record[i].payload_size <= 4096) == one_page)
			members[count++] = i;
	}
	return count * 10 >= records->count ? count : 0;
}

static int abd_perf_arc_record_size(struct abd_perf_arc_cell *cell, size_t record_size)
{
	struct abd_perf_records records;
	/* Cold sets are large: making them takes most of the time, and --quick leaves them out. */
	bool cold =
		cell->study->pages ? cell->options->mode != ABD_PERF_QUICK : !cell->options->quick;
	uint32_t *members;
	int status = 0;

	abd_perf_records_make(&records, cell->data, record_size);
	members = malloc((records.count + 1) * sizeof(*members));
	for (unsigned i = 0; i < cell->threads_most; i++) {
		cell->dst[i] = aligned_alloc(4096, (record_size + 4095) / 4096 * 4096);
		if (cell->dst[i] == NULL || members == NULL)
			abd_perf_say_die(1, "no memory to decode into");
	}
	cell->set.records = &records;
	cell->set.members = members;
	for (int one_page = cell->study->pages; one_page >= 0; one_page--) {
		cell->one_page = one_page != 0;
		cell->set.member_count = abd_perf_arc_members(&records, cell->one_page, members);
		for (int hot = 1; hot >= !cold && cell->set.member_count > 0; hot--) {
			cell->hot = hot != 0;
			if (status == 0 && !abd_perf_say_stopped())
				status = abd_perf_arc_class(cell);
		}
	}
	for (unsigned i = 0; i < cell->threads_most; i++)
		free(cell->dst[i]);
	free(members);
	abd_perf_records_free(&records);
	return status;
}

int abd_perf_arc_study_run(const struct abd_perf_arc_study *study, const struct abd_perf_data *data,
	const size_t *size, size_t count, const struct abd_perf_options *options)
{
	static struct abd_perf_arc_cell cell;
	int status = 0;

	cell.study = study;
	cell.options = options;
	cell.data = data;
	cell.threads_most = !study->pages           ? 1
			    : options->threads != 0 ? options->threads
						    : options->cpu_count;
	for (size_t i = 0; i < count && status == 0 && !abd_perf_say_stopped(); i++)
		status = abd_perf_arc_record_size(&cell, size[i]);
	return status;
}

static const struct abd_perf_arc_way abd_perf_arc_ways[] = {
	{"linear", ABD_PERF_ARC_LINEAR, false},
	{"single, rule on", ABD_PERF_ARC_ON, false},
	{"single, rule off", ABD_PERF_ARC_OFF, false},
	{"multi", ABD_PERF_ARC_MULTI, false},
	{"own decoder", ABD_PERF_ARC_MULTI, true},
};

static int abd_perf_arc_run(const struct abd_perf_options *options)
{
	static const struct abd_perf_claim claims[] = {{1, 2, 0, NULL}, {1, 3, 0, NULL},
		{4, 3, 0, NULL}, {4, 0, 0, NULL}, {1, 0, 0, NULL}};
	static const struct abd_perf_arc_study study = {
		"arc-read", abd_perf_arc_ways, claims, 5, 5, true};
	static const size_t all[] = {4 << 10, 8 << 10, 16 << 10, 32 << 10, 128 << 10, 1 << 20};
	static const size_t few[] = {8 << 10, 128 << 10};
	const size_t *size = options->record_size != 0 ? &options->record_size
			     : options->quick          ? few
						       : all;
	size_t count = options->record_size != 0 ? 1 : options->quick ? 2 : 6;
	bool both = options->cpu_count > 1 && options->threads == 0;
	struct abd_perf_data data[2];
	int status = 0;

	if (!abd_perf_files_load(&data[0], options, (options->quick ? 16 : 64) * ABD_PERF_MIB))
		return ABD_PERF_LEFT_OUT;
	abd_perf_fio_make(&data[1], options, (options->quick ? 16 : 32) * ABD_PERF_MIB);
	if (data[0].size < size[0]) {
		abd_perf_say_warn(
			"%s: %zu bytes are less than one record", data[0].origin, data[0].size);
		free(data[0].bytes);
		free(data[1].bytes);
		return ABD_PERF_LEFT_OUT;
	}
	abd_perf_say_begin("arc-read", (unsigned)count * (both ? 12 : 6));
	for (unsigned i = 0; i < 2; i++) {
		if (status == 0)
			status = abd_perf_arc_study_run(&study, &data[i], size, count, options);
		free(data[i].bytes);
	}
	return status;
}

const struct abd_perf_scenario abd_perf_arc_read = {
	.name = "arc-read",
	.summary = "reading cached compressed records: linear, single-chunk with the rule on and "
		   "off, multi-chunk",
	.uses = ABD_PERF_USES_INPUT | ABD_PERF_USES_THREADS | ABD_PERF_USES_RECORD_SIZE,
	.normal_s = 14,
	.full_s = 120,
	.run = abd_perf_arc_run,
};
