# SPDX-License-Identifier: BSD-2-Clause
"""All figures and ratios of a result as rows of comma-separated values (RFC 4180), for a spreadsheet."""
import csv
import io

from model import parameter_text

HEADINGS = ("scenario", "group", "name", "conditions", "of", "against", "unit", "median", "low", "high", "mad", "rounds", "verdict",
            "target")


def csv_text(result):
    """A row per figure and per ratio; one field holds all conditions: size=64 threads=1."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\r\n")
    rows.writerow(HEADINGS)
    for entry in result["results"]:
        conditions = " ".join(f"{name}={parameter_text(entry, name)}" for name in entry["parameters"])
        head = [entry["scenario"], entry["group"], entry["name"], conditions]
        for item in entry["figures"] + entry["ratios"]:
            numbers = [f"{item[name]:.6g}" for name in ("median", "low", "high", "mad")]
            target = item.get("target")
            rows.writerow([*head, item.get("name", item.get("of")), item.get("against", ""), item.get("unit", "ratio"), *numbers,
                           item["rounds"], item.get("verdict", ""), "" if target is None else f"{target:g}"])
    return text.getvalue()
