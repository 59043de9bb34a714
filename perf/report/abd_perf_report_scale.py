# SPDX-License-Identifier: BSD-2-Clause
"""Sections about growth: what a hit of the cache costs with many records, and what a day of churn leaves of single runs."""
import html

from abd_perf_report_chart import legend, line_style, lines, picture
from abd_perf_report_data import figure_of, median_of, names_of, number, select
from abd_perf_report_sections import conclude, section


def curve_chart(entries, label_of, title, xlabel, ylabel):
    """A line per figure, over the entries in their order."""
    labels = [label_of(entry) for entry in entries]
    series = []
    for i, name in enumerate(names_of(entries)):
        points = {label: median_of(figure_of(entry, name)) for label, entry in zip(labels, entries)
                  if median_of(figure_of(entry, name)) is not None}
        if points:
            series.append((name, points, line_style(i)))

    def draw(axes, narrow):
        lines(axes, narrow, labels, series)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        legend(axes, narrow)

    return picture(draw, title, 3) if series else ""


def section_hits(document):
    entries = sorted((entry for entry in select(document, "arc-scale", "hit") if number(entry, "records")),
                     key=lambda entry: number(entry, "records"))
    if len(entries) < 2:
        return ""
    title = "What does a hit cost in a large cache?"
    image = curve_chart(entries, lambda entry: f"{number(entry, 'records'):.0e}".replace("e+0", "e"), title,
                        "records, keys at random", "ns")
    few, many = entries[0], entries[-1]
    said = (f"{number(many, 'records'):,.0f} records: a hold and its release take {median_of(figure_of(many, 'hold')):.0f} ns, "
            f"fetching one line of that much memory takes {median_of(figure_of(many, 'a line')):.0f}; "
            f"{number(few, 'records'):,.0f} records: {median_of(figure_of(few, 'hold')):.0f} and "
            f"{median_of(figure_of(few, 'a line')):.0f}")
    return section(title, image, conclude(
        "Less is better. What grows is the way to memory, not the way through the index: " + html.escape(said) + "."))


def section_churn(document):
    entries = sorted((entry for entry in select(document, "pool", "churn") if number(entry, "hour") is not None),
                     key=lambda entry: number(entry, "hour"))
    if not entries:
        return ""
    title = "How many buffers come out as a single run, when memory is fragmented?"
    image = curve_chart(entries, lambda entry: f"{number(entry, 'hour'):g}", title,
                        "hour: 1 to 4 small buffers, 5 to 8 large ones, and so on", "% of buffers made in that hour")
    least = {name: min(median_of(figure_of(entry, name)) for entry in entries) for name in names_of(entries)}
    said = "; ".join(f"{name}: {value:.0f} %" for name, value in least.items())
    return section(title, image, conclude(
        f"The least of the day, by how full the pool is: {html.escape(said)}. Buffers that are no single run are borrowed by a copy, "
        "unless they are decoded where they lie. Memory to spare is what keeps the rule working."))
