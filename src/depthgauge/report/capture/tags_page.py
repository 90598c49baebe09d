"""The page of a session with tags: all objects together, then each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.capture.steps import has_step, read_step
from depthgauge.capture.tags import DoneObject, TagRun, read_points
from depthgauge.capture.tags.points import PAIRS
from depthgauge.io import read_image, write_text
from depthgauge.report.capture.page import PAGE, step_section
from depthgauge.report.capture.tags import draw_identities, draw_overview
from depthgauge.report.charts.density import data_url
from depthgauge.report.page.html import Section, render_sections
from depthgauge.report.page.templates import render
from depthgauge.report.pictures.encode import encode

_ALTS = {
    "overview": "Corners of tags, their motion, row differences, details outside of the tags",
    "identities": "Numbers of all tags, for the file of annotations",
}


@dataclass(frozen=True, slots=True)
class _Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: bool = False
    """Whether cells hold words, which are broken into lines."""


@dataclass(frozen=True, slots=True)
class _Picture:
    url: Markup
    alt: str


def draw_objects(run: TagRun) -> None:
    """Draws the pictures of objects that were made now, or that have none."""
    for one in run.all_objects:
        for draw, name in ((draw_overview, "tags.png"), (draw_identities, "identities.png")):
            if one.step.fresh or not (one.step.folder / name).is_file():
                draw(one.step.folder)


def write_tags_page(run: TagRun, title: str) -> Path:
    """Writes `tags/index.html` in the work folder and returns its path.

    Args:
        run: What was made; its pictures are drawn already.
        title: The session's name.
    """
    steps = [read_step(run.work, n) for n in ("calibrate", "rectify") if has_step(run.work, n)]
    objects = [_object(one, number) for number, one in enumerate(run.all_objects)]
    sections = [_summary(run), *objects, *(step_section(step) for step in steps)]
    facts = [("objects", str(len(run.all_objects))), ("left out", str(len(run.failed)))]
    page = run.work / "tags" / PAGE
    write_text(page, render_sections(title, _headline(run), facts, sections))
    return page


def _headline(run: TagRun) -> str:
    flow = sum(one.step.figures["points"]["flow"]["all"] for one in run.all_objects)
    stereo = sum(one.step.figures["points"]["stereo"]["all"] for one in run.all_objects)
    count = len(run.all_objects)
    return (
        f"{count} object{'s' * (count != 1)} with {flow} correspondences of flow and {stereo} of "
        "stereo."
    )


def _summary(run: TagRun) -> Section:
    left_out = [f"{name} is left out: {why}" for name, why in run.failed.items()]
    objects = run.all_objects
    tables = [_overview(objects), _points_table([one.step.figures for one in objects])]
    if any(one.truth for one in objects):
        tables.append(_truth_overview(objects))
    body = _body([*left_out, *run.warnings], (), tables)
    return Section("summary", "All objects", "summary", body)


def _overview(objects: Sequence[DoneObject]) -> _Table:
    rows = []
    for one in objects:
        figures = one.step.figures
        counts = [str(figures["correspondences"][name]) for name in PAIRS]
        mean = figures["rows"]["mean_px"]
        rows.append([one.name, str(figures["tags"]), *counts, _number(mean), _verdict(figures)])
    columns = ["object", "tags", *PAIRS, "mean |row difference|, px", "nothing moved"]
    return _Table("Correspondences of each pair of pictures", columns, rows)


def _verdict(figures: Mapping[str, Any]) -> str:
    said = {one["verdict"] for one in figures["still"].values()}
    return "yes" if said == {"still"} else ", ".join(sorted(said - {"still"}))


def _points_table(every: Sequence[Mapping[str, Any]]) -> _Table:
    """The document's table 6."""
    names: list[str] = []
    for figures in every:
        names += [name for name in figures["points"]["flow"] if name not in names]
    rows = [
        [kind, *(str(sum(f["points"][kind].get(name, 0) for f in every)) for name in names)]
        for kind in ("flow", "stereo")
    ]
    return _Table("Points by material and layer", ["", *names], rows)


def _truth_overview(objects: Sequence[DoneObject]) -> _Table:
    rows = []
    for one in objects:
        if one.truth is not None:
            front, behind = one.truth["in_front_of_glass"], one.truth["behind_glass"]
            rows.append([one.name, *_errors(front), *_errors(behind)])
    columns = ["object"]
    columns += [
        f"{what}, {place}"
        for place in ("no glass", "behind glass")
        for what in ("n", "median px", "95 % px")
    ]
    return _Table("Errors against the exact truth of the simulation", columns, rows)


def _errors(figures: Mapping[str, Any]) -> list[str]:
    rest = (_number(figures["median_px"]), _number(figures["p95_px"]))
    return [str(figures["correspondences"]), *rest]


def _object(one: DoneObject, number: int) -> Section:
    figures = one.step.figures
    tables = [
        _points_table([figures]),
        _rows_table(figures["rows"]),
        _still_table(figures["still"]),
        _losses_table(one),
    ]
    if one.truth is not None:
        tables += _truth_tables(one.truth)
    pictures = [
        _Picture(_embedded(one.step.folder / file), _ALTS[kind])
        for kind, file in (("overview", "tags.png"), ("identities", "identities.png"))
    ]
    body = _body(one.step.warnings, pictures, tables)
    return Section(f"object-{number}", one.name, one.name, body)


def _embedded(path: Path) -> Markup:
    """A picture as a tenth of its bytes: photographs are large as PNG."""
    picture = np.asarray(read_image(path)[..., :3], np.uint8)
    return Markup(data_url(encode(picture, lossless=False)))


def _rows_table(rows: Mapping[str, Any]) -> _Table:
    named = {
        "pairs of corners": rows["pairs"],
        "excluded": rows["excluded"],
        "mean, px": rows["mean_px"],
        "mean in pictures 960 px wide": rows["mean_at_960_px"],
        "median, px": rows["median_px"],
        "95 %, px": rows["p95_px"],
        "mean with sign, px": rows["mean_signed_px"],
    }
    title = "Row differences of stereo pairs (of those that are kept)"
    return _Table(title, list(named), [[_number(value) for value in named.values()]])


def _still_table(still: Mapping[str, Any]) -> _Table:
    rows = [
        [
            *(name, one["verdict"], str(one["details"])),
            *(str(one["details_moved"]), _number(one["median_px"])),
        ]
        for name, one in still.items()
    ]
    columns = ["pictures", "verdict", "details", "of them moved", "median motion, px"]
    return _Table("Did anything move while tags were put on or taken off?", columns, rows)


def _losses_table(one: DoneObject) -> _Table:
    losses = read_points(one.step.folder).losses()
    rows = [[why, str(len(tags)), ", ".join(tags)] for why, tags in losses.items()]
    return _Table("Tags that are lost, and why", ["why", "number", "tags"], rows, words=True)


def _truth_tables(truth: Mapping[str, Any]) -> Iterator[_Table]:
    names = {
        "all": "all",
        "flow": "flow",
        "stereo": "stereo",
        "in_front_of_glass": "no glass in front",
        "behind_glass": "behind glass",
    }
    rows = [
        [text, *_errors(truth[key]), _number(truth[key]["largest_px"])]
        for key, text in names.items()
    ]
    columns = ["correspondences", "number", "median, px", "95 %, px", "largest, px"]
    yield _Table("Errors against the exact truth", columns, rows)
    rows = [
        [text, *(str(n) for n in truth["tags"][key].values())]
        for key, text in names.items()
        if key in truth["tags"]
    ]
    columns = ["tags, once for each pair of pictures", "shown", "not found"]
    columns += ["excluded by rows", "kept"]
    yield _Table("Tags lost to refraction", columns, rows)


def _number(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else show_number(value)


def _body(
    warnings: Sequence[str], pictures: Sequence[_Picture], tables: Sequence[_Table]
) -> Markup:
    shown = [table for table in tables if table.rows]
    return render("capture_tags.html.j2", warnings=warnings, pictures=pictures, tables=shown)
