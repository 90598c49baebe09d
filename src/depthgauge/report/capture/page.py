"""The page of a capture session: every step that is done, its picture, figures and warnings."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from depthgauge.capture.steps import STEPS, Step, has_step, outdated_steps, read_step
from depthgauge.errors import DepthgaugeError
from depthgauge.io import write_text
from depthgauge.report.charts.density import data_url
from depthgauge.report.page.html import Section, render_sections
from depthgauge.report.page.templates import render
from depthgauge.report.tables.numbers import show_number

PAGE = "index.html"
_TITLES = {
    "calibrate": "Calibration",
    "rectify": "Rectification",
    "spacetime": "Space-time stereo",
    "refine": "Refinement",
    "clean": "Cleaning",
    "check": "Left-right check",
    "warp": "Labels of the unbalanced pair",
    "audit": "Audit",
}
_MOST_FIGURES = 60
"""More than that are in step.json only."""


def draw_step(work: Path, name: str) -> Path:
    """Draws the picture of a step that is done; returns its file."""
    module = importlib.import_module(f"depthgauge.report.capture.{name}")
    path: Path = module.picture(work)
    return path


def write_page(work: Path, title: str) -> Path:
    """Writes the page of a work folder and returns its path.

    Args:
        work: The work folder of a session.
        title: The session's name.
    """
    done = [read_step(work, name) for name in STEPS if has_step(work, name)]
    facts = [("steps done", ", ".join(step.name for step in done) or "none")]
    if old := outdated_steps(work):
        facts.append(("out of date, do again", ", ".join(old)))
    page = work / PAGE
    write_text(page, render_sections(title, _headline(done), facts, [_section(s) for s in done]))
    return page


def figure_rows(figures: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Names and texts of a step's figures, nested ones with their path.

    >>> list(figure_rows({"rms_px": {"L": 0.1234567}, "used": ["a", "b"]}))
    [('rms_px L', '0.123'), ('used', 'a, b')]
    """
    for name, value in figures.items():
        path = f"{above} {name}".strip()
        if isinstance(value, Mapping):
            yield from figure_rows(value, path)
        elif isinstance(value, list | tuple):
            yield path, ", ".join(_text(v) for v in value) or "none"
        else:
            yield path, _text(value)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return show_number(value) if isinstance(value, float) else str(value)


def _headline(done: list[Step]) -> str:
    if not done:
        return "Nothing has been done yet."
    warnings = sum(len(step.warnings) for step in done)
    said = "no warnings" if not warnings else f"{warnings} warning" + "s" * (warnings != 1)
    return f"{len(done)} of {len(STEPS)} steps are done, with {said}."


def _section(step: Step) -> Section:
    body = render(
        "capture_step.html.j2",
        warnings=step.warnings,
        picture=_picture(step),
        alt=f"What the step {step.name} made",
        rows=list(figure_rows(step.figures))[:_MOST_FIGURES],
        options=list(figure_rows(step.options)),
    )
    return Section(step.name, _TITLES[step.name], step.name, body)


def _picture(step: Step) -> Markup | None:
    path = step.folder / f"{step.name}.png"
    try:
        drawn = path if path.is_file() else draw_step(step.folder.parent, step.name)
        return Markup(data_url(drawn.read_bytes()))
    except (DepthgaugeError, OSError):
        return None  # the page is not lost because of one picture
