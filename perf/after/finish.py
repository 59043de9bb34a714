# SPDX-License-Identifier: BSD-2-Clause
"""Makes a result of what abd-perf's processes measured, which is the result of the first of them and, as "more", the results of the others.

Several processes measure the same rows. Where memory came to lie differs from process to process and moves figures by more than any round
shows, so a figure's spread is that between processes: the median of their medians, its median absolute deviation, and an interval that holds all of
their intervals; with SURE and more processes the 95 % interval of their medians. A ratio's verdict follows from that.
Jobs get the fields of fio's JSON, so that tools for that can read ours (show_thread_status_json() in fio's stat.c): bw in KiB per second,
runtime in ms, latencies in ns; all threads together, as with group_reporting.
"""
import math
import statistics

SURE = 6  # with 5 values, no pair of them encloses the median with 95 %


def rounded(value):
    return float(f"{value:.6g}")


def enclosing(values):
    """The 95 % interval of the median: the k-th and the last but k-th, for the largest k with P(B < k) <= 2.5 %, B binomial (n, 1/2)."""
    n, k, below = len(values), 0, 0.5 ** len(values)
    while below <= 0.025:
        k += 1
        below += math.comb(n, k) * 0.5 ** n
    return sorted(values)[k - 1], sorted(values)[n - k]


def matched(items, others, names):
    """Pairs of an item and another's of the same names; items of one name are matched in their order."""
    at = 0
    for other in others:
        found = next((i for i in range(at, len(items)) if all(items[i][name] == other[name] for name in names)), None)
        if found is not None:
            at = found + 1
            yield items[found], other


def summarise(of, parts):
    every = [of, *parts]
    medians = [part["median"] for part in every]
    low, high = min(part["low"] for part in every), max(part["high"] for part in every)
    if len(medians) >= SURE:
        low, high = enclosing(medians)
    middle = statistics.median(medians)
    of.update(median=rounded(middle), low=low, high=high, processes=medians)
    if parts:
        of["mad"] = rounded(statistics.median(abs(median - middle) for median in medians))


def judge(ratio, margin):
    """To be sure, the interval must lie on one side of 1, farther away than the same code differed from itself."""
    sure, target = ratio["rounds"] >= SURE, ratio["target"]
    ratio["verdict"] = ("faster" if sure and ratio["low"] > 1 + margin else "slower" if sure and ratio["high"] < 1 - margin else "can't tell")
    if target is not None:
        ratio["target_verdict"] = "met" if ratio["low"] >= target else "missed" if ratio["high"] < target else "can't tell"


def finish_item(item, margin):
    parts = item.pop("parts", [])
    item["rounds"] += sum(part["rounds"] for part in parts)
    if item.get("relative"):
        summarise(item["relative"], [part["relative"] for part in parts if part["relative"]])
    summarise(item, parts)
    if "verdict" in item:
        judge(item, margin)


def latency(job, percentiles=False):
    """fio's latency object; all zero without a job."""
    of = job or {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "reads": 0}
    found = {"min": of["min"], "max": of["max"], "mean": of["mean"], "stddev": of["stddev"], "N": of["reads"]}
    return found | ({"percentile": of["percentile"]} if percentiles and of["reads"] else {})


def direction(job):
    """fio's object of reads, or of what did not happen: writes, trims."""
    seconds, reads = (job["taken_s"], job["reads"]) if job else (1, 0)
    size, slices = reads * job["read_size"] if job else 0, [speed / 1024 for speed in job["slices"]] if job else [0]
    return {"io_bytes": size, "io_kbytes": size >> 10, "bw_bytes": int(size / seconds), "bw": int(size / 1024 / seconds),
            "iops": rounded(reads / seconds), "runtime": int(seconds * 1000) if job else 0, "total_ios": reads, "short_ios": 0, "drop_ios": 0,
            "slat_ns": latency(None), "clat_ns": latency(job, True), "lat_ns": latency(job),
            "bw_min": int(min(slices)), "bw_max": int(max(slices)), "bw_agg": 100.0 if job else 0.0, "bw_mean": rounded(statistics.fmean(slices)),
            "bw_dev": rounded(statistics.pstdev(slices)), "bw_samples": len(slices) if job else 0}


def fio_job(number, job):
    # In fio's JSON every job option is text, even a number.
    options = {"name": job["name"], "rw": "read", "bs": job["read_size"], "numjobs": job["threads"], "filesize": job["file_size"],
               "runtime": f"{job['runtime_s']:g}", "ramp_time": f"{job['ramp_s']:g}", "time_based": 1, "group_reporting": 1,
               "abd_data": job["data"], "abd_mode": job["mode"], "abd_record_size": job["record_size"]}
    return {"jobname": job["name"], "groupid": number, "error": 0, "eta": 0, "elapsed": int(job["taken_s"] + job["ramp_s"]),
            "job options": {name: str(value) for name, value in options.items()},
            "read": direction(job), "write": direction(None), "trim": direction(None)}


def finish(document):
    """Makes the result, in place."""
    noise = document["noise"]
    margin = abs(noise["median"] - 1) if noise["rounds"] else 0
    for results in document.pop("more", []):
        for entry, other in matched(document["results"], results, ("scenario", "group", "name")):
            for key, names in (("figures", ("name", "unit")), ("ratios", ("of", "against"))):
                for item, part in matched(entry[key], other[key], names):
                    item.setdefault("parts", []).append(part)
    for entry in document["results"]:
        for item in entry["figures"] + entry["ratios"]:
            finish_item(item, margin)
    document["jobs"] = [fio_job(number, job) for number, job in enumerate(document["jobs"])]
