"""A made leaderboard: methods x scenes x metrics, with ties, baselines, an oracle and odd names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

METRICS = {
    "badpix:2@all": ("lower", "%"),
    "badpix:2@discontinuities": ("lower", "%"),
    "rms@all": ("lower", "px"),
    "a90@all": ("lower", "px"),
    "bias@all": ("zero", "px"),
    "density": ("higher", "%"),
    "runtime": ("lower", "s"),
}
SCENES = ("attic", "bicycle", "glasshouse", "kitchen", "stairs")
NAMES = (
    "anchored-cost-volume",
    "pyramid-flow-stereo",
    "sgbm-tuned",
    "=HYPERLINK(0)",
    "<b>bold & \\evil</b>",
    "window-match-9",
    "tree-filter",
    "slanted-planes",
    "recurrent-16",
    "half-finished",
)
BASELINES = ("sgbm", "bm")
_ARROWS = {"lower": "\u2193", "higher": "\u2191", "zero": "\u2192 0"}


def values() -> dict[tuple[str, str, str], float]:
    """(method, scene, metric) -> value; the same in every call."""
    random = np.random.default_rng(7)
    table: dict[tuple[str, str, str], float] = {}
    for place, method in enumerate((*NAMES, *BASELINES)):
        for scene in SCENES:
            quality = 1 + 0.25 * place + 0.3 * random.random()
            of = [6.1 * quality, 13 * quality, 1.3 * quality, 2.2 * quality]
            of += [0.2 * (random.random() - 0.5) * quality, 100 - 1.7 * quality, 0.04 * 1.9**place]
            for metric, value in zip(METRICS, of, strict=True):
                table[method, scene, metric] = value
        table["half-finished", SCENES[-1], "rms@all"] = math.nan
    return table


def board(by: str, of: str) -> dict[str, Any]:
    """What the page shows: columns by metric for a scene, or by scene for a metric."""
    by = by if by in ("metric", "scene") else "metric"
    fixed = ("all scenes", *SCENES) if by == "metric" else tuple(METRICS)
    of = of if of in fixed else fixed[0]
    ids = tuple(METRICS) if by == "metric" else SCENES
    table = values()

    def value(method: str, column: str) -> float:
        if by == "scene":
            return table[method, column, of]
        scenes = SCENES if of == "all scenes" else (of,)
        return float(np.mean([table[method, scene, column] for scene in scenes]))

    heads = []
    for name in ids:
        order, unit = METRICS[name if by == "metric" else of]
        heads.append({"id": name, "text": name, "unit": f"{unit} {_ARROWS[order]}", "order": order})
    rows = [_row(name, [value(name, i) for i in ids], heads, of) for name in (*NAMES, *BASELINES)]
    rows.sort(key=lambda row: (row["first"] is None, row["first"] or 0.0))
    for place, row in enumerate(rows, 1):
        row["rank"] = str(place)
    for row in rows[1:3]:
        row["tie"] = "A"
        row["tied"] = f"tied are {rows[1]['label']}, {rows[2]['label']}: chance"
    _mark(rows, heads)
    oracle = _row("best of all", [0.4 * value(NAMES[0], i) for i in ids], heads, of)
    return {
        "by": by,
        "of": of,
        "fixed": fixed,
        "fixed_name": "scene" if by == "metric" else "metric",
        "caption": f"{'Metrics' if by == 'metric' else 'Scenes'}: {of}",
        "heads": heads,
        "bodies": [("methods", rows), ("oracles", [oracle])],
    }


def _row(label: str, numbers: list[float], heads: list[dict[str, str]], of: str) -> dict[str, Any]:
    cells = [
        {
            "value": "" if math.isnan(number) else repr(number),
            "text": "-" if math.isnan(number) else f"{number:.3g}",
            "mark": "",
            "picture": "/data/cell.webp" if place < 2 else "",
            "about": f"Errors of {label}, {of}",
        }
        for place, number in enumerate(numbers)
    ]
    first = None if math.isnan(numbers[0]) else numbers[0]
    given = {"label": label, "cells": cells, "baseline": label in BASELINES}
    given["team"] = f"Team {label[:1].upper()}, Ltd"
    return {**given, "first": first, "rank": "", "tie": "", "tied": ""}


def _mark(rows: list[dict[str, Any]], heads: list[dict[str, str]]) -> None:
    """Best and second of every column."""
    for place, head in enumerate(heads):
        known = [row["cells"][place] for row in rows if row["cells"][place]["value"]]
        sign = {"lower": 1, "higher": -1}.get(head["order"], 1)
        known.sort(key=lambda cell: sign * abs(float(cell["value"])))
        for cell, mark in zip(known, ("best", "second"), strict=False):
            cell["mark"] = mark
