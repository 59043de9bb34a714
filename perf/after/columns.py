# SPDX-License-Identifier: BSD-2-Clause
"""The tables of each scenario: their titles, rows, columns and notes.

A scenario that is not listed here still gets tables: one per group, with all its figures and ratios (generic()).
"""
from model import figure_of, geometric_mean, medians_of, names_of, number, ratio_of, select
from table import (cell, every_figure, figure, figure_text, figures, judged, mib, name, parameter, print_columns, ratio, ratio_text,
                   scaled, target, time_text)


class Table:
    """A table of one group's results. keep() chooses results; rows() makes one or more rows of each."""

    def __init__(self, group, title, columns, keep=lambda entry: True, rows=lambda entry: [entry], note="", together=None):
        self.group, self.title, self.columns, self.keep, self.rows, self.note = group, title, columns, keep, rows, note
        self.together = together  # a parameter to group rows by; otherwise they are in the order measured

    def print(self, result, scenario):
        entries = [row for entry in select(result, scenario, self.group) if self.keep(entry) for row in self.rows(entry)]
        if not entries:
            return
        if self.together:
            values = list(dict.fromkeys(entry["parameters"].get(self.together) for entry in entries))
            entries.sort(key=lambda entry: values.index(entry["parameters"].get(self.together)))
        print(f"\n{scenario}: {self.title}")
        print_columns(entries, self.columns(entries) if callable(self.columns) else self.columns)
        note = self.note(entries) if callable(self.note) else self.note
        if note:
            print(note)


def part(key, **values):
    """A row for a part of an entry, for tables with several rows per result."""
    return {**key, "parameters": {**key["parameters"], **values}}


def by_ratio(entry):
    return [part(entry, of=item["of"], against=item["against"]) for item in entry["ratios"]]


def of_row(column):
    """Cells of the pair of paths that a row of by_ratio() is about."""
    return lambda entry: column(entry, entry["parameters"]["of"], entry["parameters"]["against"])


RATIO = [parameter("<path", "of"), parameter("<against"),
         cell("ratio of speeds [95 %]", of_row(lambda entry, *pair: ratio_text(ratio_of(entry, *pair)))),
         cell("<", of_row(lambda entry, *pair: ratio_of(entry, *pair)["verdict"]))]


GB_S = cell("GB/s", of_row(lambda entry, of, against: figure_text(figure_of(entry, of))))
ITS_GB_S = cell("its GB/s", of_row(lambda entry, of, against: figure_text(figure_of(entry, against))))


def mean_note(of, against, wanted):
    """The geometric mean of a ratio over the rows, and the worst row."""
    def note(entries):
        values = medians_of(entries, of, against)
        return values and (f"{of} / {against}: geometric mean of {len(values)} rows {geometric_mean(values):.3f}, target {wanted}; worst "
                           f"row {min(values):.3f}")
    return note


def notes(*parts):
    return lambda entries: "\n".join(text for text in (part(entries) for part in parts) if text)


# ---- arc-read ------------------------------------------------------------------------------------------------------------

def one_thread(entry):
    return number(entry, "threads") == 1


def arc_read(result):
    head = [parameter("<data"), parameter("record", "record_size"), scaled("lz4 bytes", "compressed_bytes", 1, ".0f"), parameter("pages")]
    speeds = [*head, parameter("threads"), mib("set MiB", "set_bytes"),
              *figures("linear", "single, rule on", "single, rule off", "multi", "own decoder"),
              scaled("one run by default, %", "single_run_share", 100, ".0f")]
    worth = [*head, *judged("rule on / rule off", "single, rule on", "single, rule off"),
             *judged("one run / many runs", "single, rule on", "multi"), *judged("own decoder / many runs", "own decoder", "multi"),
             *judged("own decoder / linear", "own decoder", "linear")]
    for group in ("hot", "cold"):
        for words, keep in (("1 thread", one_thread), ("all threads together", lambda entry: not one_thread(entry))):
            yield Table(group, f"{group}, {words}: GB/s of decoded bytes, median ± median absolute deviation", speeds, keep)
            yield Table(group, f"{group}, {words}: what it is worth, ratio of speeds [95 % interval]", worth, keep)


ARC_READ_NOTE = """\
linear            memory of abd_alloc_linear(): what there was before buffers were scattered
single, rule on   a scatter buffer of one run, treated as linear (linear_page=1): borrowing copies nothing
single, rule off  the same run, treated as scattered (linear_page=0): borrowing allocates and copies
multi             4 KiB runs at random addresses (max_order=0): borrowing allocates and gathers
own decoder       the buffers of multi, decoded where they lie by libabd; where a payload fits one page, those of single, rule on
The first four are decoded by liblz4. All hold the same payloads, each from a 4 KiB boundary on; every record was checked against its source. "one run by default" is the share of
records that become one run at the library's defaults.
hot: a thread's set fits half of the second-level cache and was just read. cold: read at random from a set of the size shown; each path
has a set of its own, and they take turns. Cold, runs may be faster than linear memory: libabd asks for huge pages for runs, not for
linear buffers.
Published: about 5 % of an 8k cached read (OpenZFS PR 8580)."""


# ---- arc-cached-read -----------------------------------------------------------------------------------------------------

PERCENTILES = ("p50", "p90", "p99", "p99.9")


def by_mode(result):
    """A row per way of reading, with the times of its reads, which are in separate results (group latency)."""
    latency = {tuple(entry["parameters"].get(key) for key in ("data", "threads", "mode")): entry
               for entry in select(result, "arc-cached-read", "latency")}

    def rows(entry):
        made = []
        for item in entry["figures"]:
            row, key = part(entry, mode=item["name"]), (entry["parameters"].get("data"), number(entry, "threads"), item["name"])
            row["latency"] = latency.get(key, {"figures": []})
            made.append(row)
        return made
    return rows


def of_mode(text):
    return lambda entry: text(entry, entry["parameters"]["mode"])


def percentile(key):
    def text(entry):
        found = figure_of(entry["latency"], key)
        return time_text(found["median"]) if found else "-"
    return cell(key, text)


def arc_cached_read(result):
    against = [cell(heading, of_mode(lambda entry, mode, other=other: ratio_text(ratio_of(entry, mode, other))))
               for heading, other in (("against bare decode", "bare decode"), ("against openzfs's way", "openzfs's way"))]
    published = cell("<published", of_mode(lambda entry, mode: (ratio_of(entry, mode, "openzfs's way") or {"source": ""})["source"]))
    yield Table("cached", "GB/s of decoded bytes, all threads together; ratios of speeds [95 % interval]; time of a read",
                [parameter("<data"), parameter("threads"), parameter("<mode"),
                 cell("GB/s", of_mode(lambda entry, mode: figure_text(figure_of(entry, mode)))), *against, published,
                 *(percentile(key) for key in PERCENTILES)], rows=by_mode(result))
    yield Table("work", "what a record takes: counted, not timed", [
        parameter("<data"), parameter("<mode"), figure("instructions"), figure("copied", "bytes copied by the borrow"),
        figure("moved", "bytes read and written")])


ARC_CACHED_NOTE = """\
Each thread has files of its own, all of them in the cache; all modes read it in turns. One thread alone is timed by its CPU time; several
by the wall clock, from their common start until the last has ended. Times of reads are by the wall clock: with more threads than CPUs,
or with busy neighbours, they include waiting for a CPU."""


# ---- arc-scale -----------------------------------------------------------------------------------------------------------

def arc_scale(result):
    yield Table("hit", "hit: keys at random, each depending on what was read last; bytes: what a record takes besides its buffer's memory",
                [name("records"), figure("read", "read of 8 bytes, ns"), figure("hold", "hold and release, ns"),
                 figure("a line", "a line of memory, ns"), parameter("bytes per record", "bytes"),
                 ratio("read / line, speeds", "read", "a line")])
    yield Table("many", "many: reads of 8 bytes, and holds with their release, ns each; keys at random, known beforehand; one call for each, "
                "and in batches",
                [name("records and batches"), *figures("hold", "hold_many"), ratio("hold_many / hold, speeds", "hold_many", "hold"),
                 *figures("read", "read_many"), ratio("read_many / read, speeds", "read_many", "read")])
    yield Table("on top", "on top: 8 KiB of fio's data, read in turn; at least 1 / 1.03 = 0.971 is wanted",
                lambda entries: [name("records"), *every_figure(entries)])
    yield Table("puts", "puts of 4 KiB into a full cache, ns each by the wall clock; at least 1.8 is wanted of four shards",
                [name("shards"), *figures("one thread", "two threads"), ratio("two / one, speeds", "two threads", "one thread")])
    yield Table("wake", "one missing key, which takes 0.2 ms to fetch: ns from its commit until each thread that slept has its hold",
                [name("threads"), parameter("fills of a key", "fills of a key"), parameter("slept for a key", "slept for a key"),
                 *figures("p50", "p99", "longest")])


def arc_life(result):
    yield Table("phase", "phase: resident and waste in % of the capacity and of what is used; resident_bytes: the statistic, in % of what is resident; "
                "puts in ns by the wall clock, then in CPU time",
                lambda entries: [name("phase"), parameter("puts", "puts"), parameter("waits per 1000 puts", "waits per 1000 puts"),
                                 *every_figure(entries)])


def raced_against(entry):
    """The figure beside ours; None if there is no other."""
    return entry["figures"][1] if len(entry["figures"]) > 1 else None


def beside(text):
    def of_entry(entry):
        other = raced_against(entry)
        return text(entry, other) if other else ""
    return of_entry


def times_as_fast(entry):
    published = ratio_of(entry, "ours", "OpenZFS")
    return f"{published['median']:.1f}x" if published else ""


def limit_text(entry):
    """The limit of a memory figure, as its ratio names it."""
    return entry["ratios"][0]["of"] if entry["ratios"] else ""


def buffer(result):
    yield Table("cost", "what buffers cost, ns each, median ± median absolute deviation", [
        name("cost"), figure("ours", "ns, ours"), parameter("limit", "limit_ns"), target("ours", "limit", "<"),
        parameter("OpenZFS ns", "published_ns"), cell("times as fast", times_as_fast), target("ours", "OpenZFS"),
        cell("<raced against", beside(lambda entry, other: other["name"])), cell("its ns", beside(lambda entry, other: figure_text(other))),
        cell("ratio of speeds [95 %]", beside(lambda entry, other: ratio_text(ratio_of(entry, "ours", other["name"])))),
        cell("<target", beside(lambda entry, other: target("ours", other["name"])[1](entry)))],
        note="OpenZFS's figures: libzpool at be7657e3f2, without debug checks, on a Zen 5 server: another machine. They are of one\n"
             "allocation and its free at a time; beside a burst they are for orientation only. A seek is abd_copy_to_buf_off() of one\n"
             "byte, the call included.")
    yield Table("memory", "memory that buffers take", [
        name("memory"), cell("ours", lambda entry: figure_text(figure_of(entry, "ours"))),
        parameter("OpenZFS, bytes", "published_bytes"), parameter("OpenZFS, x", "published_x"), cell("<limit", limit_text),
        cell("<", lambda entry: entry["ratios"][0]["target_verdict"] if entry["ratios"] else "")])


def compare(result):
    title = "scattered buffers (4 KiB runs at random addresses) against linear memory, and against the best bare loop over the same runs; " \
        "equal contents; GB/s of one side"
    yield Table("sizes", title, [
        parameter("<operation", "of"), parameter("size"),
        GB_S, parameter("<against"), ITS_GB_S, *RATIO[2:],
        cell("<target", of_row(lambda entry, *pair: target(*pair)[1](entry)))], rows=by_ratio, together="of")
    yield Table("shifted", "both sides in 4 KiB runs whose boundaries lie so many bytes apart; GB/s of one side", [
        parameter("<operation", "operation"), parameter("size"),
        *[figure(f"shift {shift}", str(shift)) for shift in (0, 1, 64, 512, 2048)],
        *[ratio(f"{shift} / 0", f"shift {shift}", "shift 0") for shift in (1, 64, 512, 2048)]])
    yield Table("kernels", "abd_equal by kernel, GB/s of one side; memcmp on linear memory",
                lambda entries: [parameter("size"), *figures(*names_of(entries))])
    yield Table("memory", "arrays of linear memory, for orientation; GB/s of one side (STREAM counts the three of its triad)",
                lambda entries: [name("in"), parameter("size of each", "size"), parameter("<set", "state"), *figures(*names_of(entries))])
    yield Table("keys", "short keys, unaligned, equal; the loop around the calls included", [
        parameter("bytes", "length"), figure("abd_key_equal", "abd_key_equal, ns"), figure("memcmp", "memcmp, ns"),
        ratio("ratio of speeds [95 %]", "abd_key_equal", "memcmp"), target("abd_key_equal", "memcmp")],
        note=lambda entries: mean_note("abd_key_equal", "memcmp", "1.0")([entry for entry in entries if number(entry, "size")]))


# ---- codec, flush --------------------------------------------------------------------------------------------------------

def codec(result):
    head = [parameter("<data"), parameter("record", "record_size"), scaled("lz4 bytes", "compressed_bytes", 1, ".0f")]
    ours = "ours, runs of 4k"
    for group, wanted in (("hot", "1.12"), ("cold", "1.05")):
        yield Table(group, f"{group}: GB/s of decoded bytes, and ratios of speeds [95 % interval]", [
            *head, *figures("liblz4, linear", "liblz4, borrow", ours, "ours, one run"),
            *judged("ours / linear", ours, "liblz4, linear"), *judged("ours / borrow", ours, "liblz4, borrow")],
            note=notes(mean_note(ours, "liblz4, linear", wanted), mean_note(ours, "liblz4, borrow", "1.17")))


def sums(result):
    yield Table("sums", "checksums of linear memory and of 4 KiB runs at random addresses, GB/s; the ruler's is of linear memory", [
        parameter("<checksum"), parameter("size"), *figures("scattered", "linear", "ruler"), parameter("<ruler"),
        *judged("scattered / ruler", "scattered", "ruler"), *judged("linear / ruler", "linear", "ruler")], together="checksum")


def flush_mean_note(entries):
    said = []
    for against, words in (("best", "the best fixed policy"), ("libpmem", "libpmem, which drains per run"),
                           ("libpmem, own loop", "libpmem in a loop of its own with one drain")):
        values = medians_of(entries, "AUTO", against)
        if values:
            said.append(f"AUTO over {words}, geometric mean of {len(values)} rows: {geometric_mean(values):.3f}")
    return "\n".join(said)


def published(entry):
    """The ratio that a source published something of; None if there is none."""
    return next((item for item in entry["ratios"] if item["published"]), None)


def of_published(text):
    return lambda entry: text(published(entry)) if published(entry) else ""


# What a source published, and the same ratio here.
CLAIM = [cell("<of / against", of_published(lambda item: f"{item['of']} / {item['against']}")),
         cell("ratio of speeds [95 %]", of_published(ratio_text)), cell("the source's", of_published(lambda item: f"{item['published']:.2f}")),
         cell("<", of_published(lambda item: item["source"]))]


def flush(result):
    head = [name("copies"), parameter("<to", "destination"), parameter("<state"), parameter("size"), parameter("threads")]
    for group, title in (("log", "one writer under a lock"), ("writers", "8 bytes after 8 bytes, by writers")):
        yield Table(group, f"{title}: durable copies to ordinary memory, GB/s", lambda entries: [*head, *figures(*names_of(entries))])
        yield Table(group, f"{title}: through the cache against around it", [*head[3:], *CLAIM])
    for group in ("size", "threads"):
        yield Table(group, "durable copies to ordinary memory, GB/s", lambda entries: [*head, *figures(*names_of(entries))])
    for group in ("log", "size", "threads"):
        yield Table(group, "AUTO against the best fixed policy, and against libpmem", [
            *head, parameter("<best fixed", "best"), ratio("AUTO over it [95 %]", "AUTO", "best"), target("AUTO", "best"),
            ratio("over libpmem", "AUTO", "libpmem"), ratio("over its own loop", "AUTO", "libpmem, own loop")], note=flush_mean_note)
    yield Table("drain", "16 copies to fresh lines, GB/s: a fence after each, against one drain for all", [
        parameter("size"), figure("ordered", "a fence each"), figure("NODRAIN, one drain", "one drain"),
        ratio("ratio [95 %]", "NODRAIN, one drain", "ordered")])

    yield Table("plan", "this machine's crossovers, as abd_flush_calibrate() finds them: the lines that set them", [
        ("<", lambda entry: f"export ABD_{entry['name'].upper()}='{entry['parameters'].get('plan', '')}'")])


# ---- dedupe, names, statx ------------------------------------------------------------------------------------------------

def dedupe(result):
    for words, keep in (("equal files, GB/s of one side", lambda entry: entry["name"] != "one byte off"),
                        ("one byte of each step differs, ns to find that", lambda entry: entry["name"] == "one byte off")):
        yield Table("proof", f"steps of 128 KiB: {words}", lambda entries: [
            name("files"), parameter("<set", "state"), mib("MiB", "set_bytes"), *figures(*names_of(entries))], keep)
    yield Table("proof", "what a word, and what a plan, is worth", [name("files"), *RATIO, cell("<the source", of_row(
        lambda entry, *pair: ratio_of(entry, *pair)["source"]))], rows=by_ratio)


def names(result):
    yield Table("lookup", "looking up names of a tree, ns each", lambda entries: [
        name("names of"), parameter("<set", "state"), parameter("names", "names"), parameter("bytes", "bytes"), *figures(*names_of(entries))])
    yield Table("lookup", "look-ups by one way of comparing against another", [name("names of"), *RATIO], rows=by_ratio)
    yield Table("line", "by a line through the lengths, ns", lambda entries: [name("of"), *figures(*names_of(entries))])
    yield Table("line", "masked words against repe cmpsb", [name("of"), *CLAIM])


def statx(result):
    yield Table("call", "a call, or filling a record of 256 bytes with 23 fields, ns", lambda entries: figures(*names_of(entries)))
    yield Table("call", "ratios of speeds [95 %]", [*RATIO, cell("<the source", of_row(
        lambda entry, *pair: ratio_of(entry, *pair)["source"]))], rows=by_ratio)


# ---- the rest ------------------------------------------------------------------------------------------------------------

def memory(result):
    for group in dict.fromkeys(entry["group"] for entry in select(result, "memory")):
        yield Table(group, f"{group}: MiB in use, and MiB resident by where memory comes from", lambda entries: [
            name("after"), *figures(*names_of(entries))],
            keep=lambda entry: (number(entry, "step") or 0) % 4 in (0, 3))


MEMORY_NOTE = """\
burst   as much as allowed is allocated and freed; then small buffers go on for what stands for 15 s
churn   buffers of 4 to 128 KiB are replaced at random, then all but a twentieth are freed
shift   buffers of 4 KiB give way to buffers of 1 MiB
sparse  all but one 4 KiB buffer in 64 are freed
Time runs 20 times as fast: reserve_ms is 600, jemalloc's decay 500 ms. reserve_bytes is an eighth of what is in use at most.
plain: malloc and free, without libabd. The report has every step."""


def per_record(key, heading):
    """Bytes of a block, index included, in per cent of the record's."""
    def text(entry):
        made, size = number(entry, key), number(entry, "record_size")
        return format(made / size * 100, ".1f") if made and size else ""
    return heading, text


def lz4(result):
    head = [parameter("<data"), parameter("record", "record_size")]
    yield Table("encode", "compressing whole records, groups of 16k; and bytes", [
        *head, *(per_record(f"{kind}_bytes", f"{kind}, %") for kind in ("plain", "indexed", "deep")),
        parameter("<path", "of"), GB_S, parameter("<against"), *RATIO[2:]], rows=by_ratio,
        note=lambda rows: mean_note("plain, scattered", "liblz4, linear", "1.0")(list({row["name"]: row for row in rows}.values())))
    yield Table("decode", "decoding whole records", [*head, parameter("<path", "of"), GB_S, parameter("<against"), *RATIO[2:]], rows=by_ratio)
    times = [*figures("no index", "indexed", "indexed at 3", "all"), ratio("no index / all", "no index", "all"), ratio("indexed / no index", "indexed", "no index"),
             ratio("indexed / all", "indexed", "all"), ratio("indexed at 3 / all", "indexed at 3", "all")]
    yield Table("place", "4k of a record by where they lie, ns", [*head, scaled("at KiB", "place", 1 / 1024, ".0f"), *times])
    yield Table("curve", "4k anywhere by size of groups, ns; and bytes, index included", [
        *head, parameter("groups", "group_size"), *(per_record(f"{kind}_bytes", f"{kind}, %") for kind in ("plain", "indexed", "deep")), *times])


LZ4_NOTE = """\
plain        abd_lz4_compress() and abd_lz4_decompress_range_to_buf()
indexed      abd_lz4_compress_indexed() at effort 0; at 3 (deep): at effort 3. A hub is a quarter of a group.
scattered    source and block in 4 KiB runs at random addresses; all blocks that are decoded lie so"""


# Per scenario: a function that makes its tables, and a note to print after them.
TABLES = {"arc-read": (arc_read, ARC_READ_NOTE), "arc-cached-read": (arc_cached_read, ARC_CACHED_NOTE), "arc-scale": (arc_scale, ""),
          "arc-life": (arc_life, ""),
          "buffer": (buffer, ""), "compare": (compare, ""), "codec": (codec, ""), "sums": (sums, ""), "lz4": (lz4, LZ4_NOTE),
          "flush": (flush, ""),
          "dedupe": (dedupe, ""), "names": (names, ""), "statx": (statx, ""), "memory": (memory, MEMORY_NOTE)}


def print_scenario(result, scenario):
    if scenario in TABLES:
        make, note = TABLES[scenario]
        tables = make(result)
    else:
        tables, note = [Table(group, group, lambda entries: [name("case"), *every_figure(entries)])
                        for group in dict.fromkeys(entry["group"] for entry in select(result, scenario))], ""
    for table in tables:
        table.print(result, scenario)
    if note:
        print("\n" + note)


def print_result(result):
    """Prints the tables of every scenario, in the order in which they were measured."""
    for scenario in dict.fromkeys(entry["scenario"] for entry in result["results"]):
        print_scenario(result, scenario)
    for wrong in result["wrong"]:
        print(f"\nWRONG {wrong}: its output is not what it should be, so it has no figures")
