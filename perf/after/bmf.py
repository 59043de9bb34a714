# SPDX-License-Identifier: BSD-2-Clause
"""All figures and ratios of a result in Bencher's metric format: {benchmark: {measure: {value, lower_value, upper_value}}}.

A benchmark is a row with its conditions; a measure is latency (ns), throughput (bytes or times a second), ratio, or a unit's own name.
"""
import json

from model import CONDITIONS, parameter_text

# Measure and factor: Bencher's own measures have these units.
MEASURES = {"ns": ("latency", 1), "us": ("latency", 1e3), "ms": ("latency", 1e6), "s": ("latency", 1e9), "GB/s": ("throughput", 1e9),
            "1/s": ("throughput", 1), "MiB": ("memory", 1 << 20), "%": ("percent", 1)}


def bmf_text(result):
    document = {}
    for entry in result["results"]:
        conditions = [f"{name} {parameter_text(entry, name)}" for name in CONDITIONS if name in entry["parameters"]]
        row = f"{entry['scenario']}: {entry['name']}" + (f" ({', '.join(conditions)})" if conditions else "")
        for item in entry["figures"] + entry["ratios"]:
            what = item["name"] if "unit" in item else f"{item['of']} / {item['against']}"
            measure, factor = MEASURES.get(item["unit"], (item["unit"] or "value", 1)) if "unit" in item else ("ratio", 1)
            name, copies = f"{row}, {what}", 1
            while measure in document.get(name, {}):  # a row that was measured twice
                copies += 1
                name = f"{row}, {what}, {copies}"
            document.setdefault(name, {})[measure] = {"value": item["median"] * factor, "lower_value": item["low"] * factor,
                                                      "upper_value": item["high"] * factor}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
