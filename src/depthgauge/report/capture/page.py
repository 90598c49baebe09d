"""The page of a capture session: every step that is done, its picture, figures and warnings."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.capture.pipeline import outdated_steps
from depthgauge.capture.registry import STEPS, step_names
from depthgauge.capture.steps import Step, has_step, read_step
from depthgauge.errors import DepthgaugeError
from depthgauge.io import write_text
from depthgauge.report.charts.density import data_url
from depthgauge.report.page.html import Section, render_sections
from depthgauge.report.page.templates import render

PAGE = "index.html"
_MOST_FIGURES = 60
"""More than that are in step.json only."""


def draw_step(work: Path, name: str, *, again: bool = True) -> Path | None:
    """Draws the picture of a step that is done.

    The module of this folder with the step's name draws it. A step of another package may write
    `<name>.png` into its folder itself.

    Args:
        work: The work folder.
        name: The step's name.
        again: Draw it even if there is a picture.

    Returns:
        The picture's file; None where the step has no picture.
    """
    path = work / name / f"{name}.png"
    if path.is_file() and not again:
        return path
    draw = _drawing(name)
    if draw is None:
        return path if path.is_file() else None
    return draw(work)


def _drawing(name: str) -> Callable[[Path], Path] | None:
    """The function that draws a step; None where it has none."""
    home = f"{__package__}.{name}"
    if importlib.util.find_spec(home) is None:
        return None
    draw: Callable[[Path], Path] | None = getattr(importlib.import_module(home), "picture", None)
    return draw


def write_page(work: Path, title: str) -> Path:
    """Writes the page of a work folder and returns its path.

    Args:
        work: The work folder of a session.
        title: The session's name.
    """
    done = [read_step(work, name) for name in step_names() if has_step(work, name)]
    facts = [("steps done", ", ".join(step.name for step in done) or "none")]
    if old := outdated_steps(work):
        facts.append(("out of date, do again", ", ".join(old)))
    page = work / PAGE
    write_text(
        page, render_sections(title, _headline(done), facts, [step_section(s) for s in done])
    )
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
    return f"{len(done)} of {len(step_names())} steps are done, with {said}."


def step_section(step: Step) -> Section:
    """The section of a step that is done: warnings, picture, figures, options."""
    body = render(
        "capture_step.html.j2",
        warnings=step.warnings,
        picture=_picture(step),
        alt=f"What the step {step.name} made",
        rows=list(figure_rows(step.figures))[:_MOST_FIGURES],
        options=list(figure_rows(step.options)),
    )
    return Section(step.name, STEPS[step.name].spec.title, step.name, body)


def _picture(step: Step) -> Markup | None:
    try:
        drawn = draw_step(step.folder.parent, step.name, again=False)
        return Markup(data_url(drawn.read_bytes())) if drawn else None
    except (DepthgaugeError, OSError):
        return None  # the page is not lost because of one picture
