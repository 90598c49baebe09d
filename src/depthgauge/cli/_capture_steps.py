"""The steps of `depthgauge capture`, one command each."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import print_table, progress_bar, say, warn, write_json

if TYPE_CHECKING:
    from depthgauge.capture.steps import Progress, Step

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


def work_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--work DIR`."""
    return click.option(
        "--work", type=FOLDER, help="Where steps are kept.  [default: SESSION/work]"
    )(command)


def step_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every step has."""
    session = click.argument("session", type=FOLDER)
    again = click.option("--again", is_flag=True, help="Do it although nothing has changed.")
    return session(work_option(again(json_option(command))))


def do(
    name: str, session: Path, work: Path | None = None, *, quiet: bool = False, **options: Any
) -> dict[str, Any]:
    """Does a step, draws its picture, brings the page up to date, and says what came out."""
    from depthgauge.capture.step_options import remember
    from depthgauge.report.capture.page import figure_rows
    from depthgauge.sessions import open_session

    opened, place = open_session(session), work or session / "work"
    function = getattr(importlib.import_module(f"depthgauge.capture.{name}"), name)
    with progress_bar(name) as progress:
        step = function(opened, place, progress=progress, **options)
        remember(place, name, {n: v for n, v in options.items() if n != "again"})
        body = _show(step, opened.name, progress)
    if not quiet:
        done = "done" if step.fresh else "nothing has changed; it was done before"
        columns = [("figure", "left"), ("value", "left")]
        print_table(columns, [list(r) for r in figure_rows(step.figures)], f"{name}: {done}")
        say(f"Picture: {body['picture']}. Page of all steps: {place / 'index.html'}.")
    return body


def do_all(session: Path, work: Path | None, **options: Any) -> list[dict[str, Any]]:
    """Does every step, with pictures and page."""
    from depthgauge.capture.pipeline import run_steps
    from depthgauge.sessions import open_session

    opened, place = open_session(session), work or session / "work"
    with progress_bar(opened.name) as progress:
        steps = run_steps(opened, place, progress=progress, **options)
        return [_show(step, opened.name, progress) for step in steps]


def _show(step: Step, title: str, progress: Progress) -> dict[str, Any]:
    """Draws a step where that is not done, and says its warnings."""
    from depthgauge.report.capture.page import draw_step, write_page

    work, picture = step.folder.parent, step.folder / f"{step.name}.png"
    if step.fresh or not picture.is_file():
        progress(f"drawing {step.name}", 0, 1)
        picture = draw_step(work, step.name)
    write_page(work, title)
    for text in step.warnings:
        warn(f"{step.name}: {text}")
    return {
        "step": step.name,
        "folder": str(step.folder),
        "fresh": step.fresh,
        "figures": dict(step.figures),
        "warnings": list(step.warnings),
        "picture": str(picture),
    }


def _finish(name: str, json_to: str | None, **given: Any) -> None:
    body = do(name, quiet=json_to == "-", **given)
    if json_to is not None:
        write_json(json_to, body)


@click.command("calibrate")
@step_options
@click.option(
    "--outlier-factor",
    type=click.FloatRange(min=1.0),
    help="Views whose error exceeds the median by that many robust deviations are dropped.",
)
def calibrate(json_to: str | None, outlier_factor: float | None, **given: Any) -> None:
    """Lenses and poses from photographs of a board.

    Corners are found to a fraction of a pixel; views that do not fit the others are named and
    dropped; then the pairs L-R and L-C.
    """
    more = {} if outlier_factor is None else {"outlier_factor": outlier_factor}
    _finish("calibrate", json_to, **given, **more)


@click.command("rectify")
@step_options
def rectify(json_to: str | None, **given: Any) -> None:
    """Rectifies the balanced pair L-R and the unbalanced pair L-C."""
    _finish("rectify", json_to, **given)


@click.command("spacetime")
@step_options
@click.option("--engine", default="classical", show_default=True, help="What matches the patterns.")
@click.option(
    "--scale",
    type=click.FloatRange(0.125, 1.0),
    help="Size of the matched images.  [default: 1, above 4 Mpx 0.5]",
)
@click.option(
    "--disparities",
    type=float,
    nargs=2,
    metavar="LEAST MOST",
    help="Search range in px of the full image.  [default: found by a coarse pass]",
)
@click.option("--patterns", type=click.IntRange(min=1), help="Use only the first so many.")
@click.option(
    "--memory-gib",
    type=click.FloatRange(min=0.0, min_open=True),
    default=2.0,
    show_default=True,
    help="Memory of the rows that are matched at once.",
)
def spacetime(json_to: str | None, disparities: tuple[float, float] | None, **given: Any) -> None:
    """Disparity and its variance from all patterns together, for both views."""
    _finish("spacetime", json_to, disparities=disparities or None, **given)


@click.command("refine")
@step_options
@click.option("--engine", default="classical", show_default=True, help="What refines the maps.")
@click.option(
    "--guide",
    type=click.Choice(["patterns", "passive"]),
    default="patterns",
    show_default=True,
    help="Whose edges are followed: the mean of the patterns, or the first passive picture.",
)
def refine(json_to: str | None, **given: Any) -> None:
    """Full resolution and sharp discontinuities: of two candidates the more probable one."""
    _finish("refine", json_to, **given)


_POSITIVE, _SHARE = click.FloatRange(min=0.0, min_open=True), click.FloatRange(0.0, 1.0)
_CLEANING: tuple[tuple[str, click.ParamType[Any], str], ...] = (
    ("--sigma-px", _POSITIVE, "Largest standard deviation that is kept.  [default: 0.75]"),
    ("--confidence", _SHARE, "Least confidence that is kept.  [default: 0.5]"),
    ("--doubtful", _SHARE, "The same where the other view confirms nothing.  [default: 0.8]"),
    ("--left-right-px", _POSITIVE, "Views that differ by more disagree.  [default: 1.5]"),
    (
        "--isolated-px",
        click.IntRange(min=0),
        "Patches of fewer pixels are removed.  [default: 5e-5 of the image, at least 8]",
    ),
    (
        "--filter",
        click.Choice(["planes", "plain", "none"]),
        "Bilateral: one that keeps planes, the published one, or none.  [default: planes]",
    ),
    (
        "--window-px",
        click.IntRange(min=1),
        "The filter's window, odd.  [default: 35 in images 4112 px wide, others in proportion]",
    ),
    (
        "--filter-sigma-px",
        _POSITIVE,
        "Sigma of its differences.  [default: planes 0.5, plain 5 in proportion]",
    ),
    ("--filter-distance-px", _POSITIVE, "Sigma of its distances.  [default: 50 in proportion]"),
)
"""Options of `clean`; one that is not given is left to the step, which knows its default."""


def _cleaning_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name, kind, text in reversed(_CLEANING):
        command = click.option(name, type=kind, help=text)(command)
    return command


@click.command("clean")
@step_options
@click.option("--by-hand", type=FILE, metavar="FILE", help="Polygons and points to remove, JSON.")
@_cleaning_options
def clean(json_to: str | None, **given: Any) -> None:
    """Removes what is uncertain, contradictory, isolated or marked by hand, and smooths the rest.

    What was removed and why is kept for every pixel. The filter as it was published, whatever the
    size of the images:

    \b
      depthgauge capture clean kitchen --filter plain --window-px 35 \\
        --filter-sigma-px 5 --filter-distance-px 50
    """
    _finish("clean", json_to, **{name: value for name, value in given.items() if value is not None})


@click.command("check")
@step_options
@click.option(
    "--threshold-px",
    type=click.FloatRange(min=0.0, min_open=True),
    default=2.0,
    show_default=True,
    help="Largest difference between the two views' disparities of one point.",
)
def check(json_to: str | None, **given: Any) -> None:
    """Left-right consistency in both directions: labels and occlusion masks of both views."""
    _finish("check", json_to, **given)


@click.command("warp")
@step_options
def warp(json_to: str | None, **given: Any) -> None:
    """Carries the labels to the unbalanced pair L-C."""
    _finish("warp", json_to, **given)


@click.command("audit")
@step_options
@click.option("--planes", type=FILE, metavar="FILE", help="Polygons of planar regions, JSON.")
@click.option("--second-depth", type=FILE, metavar="FILE", help="A second depth map, in metres.")
@click.option("--second-camera", type=FILE, metavar="FILE", help="Its camera, JSON.")
@click.option("--second-pose", type=FILE, metavar="FILE", help="From left rectified axes to its.")
def audit(json_to: str | None, **given: Any) -> None:
    """How far the labels can be trusted.

    Residuals on planes; agreement with a second depth source; on simulated sessions the true error,
    by material and region, and whether the predicted error bars are right.
    """
    _finish("audit", json_to, **given)


COMMANDS = (calibrate, rectify, spacetime, refine, clean, check, warp, audit)
