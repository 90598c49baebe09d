"""How exact depth from annotation is, on views whose geometry is known, by simulated annotators.

Without noise it has budgets; beside that, error against the noise and the density of normals, and
how far the simulated people are from each other and from a simulated sensor (`_oasis_people`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from depthgauge.annotate.quality.exact_error import ExactErrors, exact_errors
from depthgauge.annotate.reconstruct.certain_pairs import certain_depth_pairs
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.simulate.annotator import NONE, AnnotatorNoise, simulate
from depthgauge.geometry.pairs import sample_depth_pairs
from depthgauge.metrics.ordinal import percent_wrong
from depthgauge.synth.sets.single_views import ROOMS, ExactView, make_view
from tools._measured import table, update
from tools.evidence import Number, figure, recorded_values, within
from tools.evidence._oasis_ball import ball_numbers, ball_table
from tools.evidence._oasis_more import more_names, more_numbers, more_table
from tools.evidence._oasis_people import people_names, people_numbers, people_table

SIZE_PX, SMALL_PX = (640, 480), (320, 240)
FIRST, SCENES = 500, 8
"""Scenes of each kind, for the numbers that have budgets: from this seed on, so many. Lines were
tuned on seeds below 110."""
EXACT_ORDER = 2.0
"""Largest WKDR of exact depth, in percent of pairs whose order follows from the records."""
MORE_FIRST, MORE = 560, 16
"""Seeds of more scenes of each kind without noise, smaller, to count violated strokes in."""
VIOLATED = 1.0
"""Largest number of scenes without noise that report a violated stroke, of each kind, among the
first and among those more. There should be none. Of 132 other scenes of 640x480 px, in which causes
were searched, two still report one: an occlusion ends in a strip of one or two pixels that joins
its two sides, and two surfaces that touch, 0.4 % apart, are each in front of the other."""
BUDGETS = {"planar": 1.0, "curved": 2.0}
"""Largest mean error allowed, in percent of the depth range."""
WORST = {"planar": 2.0, "curved": 4.0, "mixed": 4.0}
"""Largest error allowed of any scene of a kind."""
ROOM = 2.0
"""Of a room."""
KINDS = tuple(WORST)
FEW = 4
"""Scenes of each kind, for the curves."""
DEGREES = (0.0, 2.0, 5.0, 10.0, 15.0, 20.0)
SPACINGS = (0.02, 0.03, 0.05, 0.08, 0.12, 0.2)
CURVES: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "tilt of single normals": ("normal_deg", DEGREES),
    "tilt of all normals together": ("common_tilt_deg", DEGREES),
    "distance between normals": ("spacing_widths", SPACINGS),
}
TILTED = tuple(name for name, (_, values) in CURVES.items() if values == DEGREES)
FALL, RISE = 0.5, (1.0, 25.0)
"""Along a curve errors may fall by so much, by chance; from no tilt to the largest they rise by
something between these."""
_LIST = "; scenes: "


@figure(
    "oasis-reconstruction",
    data=f"{SCENES} simulated scenes of each kind and three rooms, {SIZE_PX[0]}x{SIZE_PX[1]} px",
    needs=("embreex",),
)
def oasis_reconstruction() -> Iterator[Number]:
    """Mean EDist after a scale for each surface, in percent of the scene's depth range.

    Beside it: error against noise, simulated people beside table 1, a ball with few normals.
    """
    for kind in KINDS:
        yield from _exact(kind, [(kind, seed) for seed in range(FIRST, FIRST + SCENES)])
    yield from _rooms()
    views = {kind: [make_view(kind, seed, SMALL_PX) for seed in range(FEW)] for kind in KINDS}
    for name, (option, values) in CURVES.items():
        for kind in KINDS:
            yield from _curve(name, kind, option, values, views[kind])
    yield from people_numbers()
    yield from ball_numbers()
    yield from more_numbers()
    from tools.evidence import _oasis_pictures

    _oasis_pictures.draw_example()


def _exact(kind: str, scenes: Iterable[tuple[str, int]]) -> Iterator[Number]:
    errors, orders, published, violated = [], [], [], 0
    for k, seed in scenes:
        view = make_view(k, seed, SIZE_PX)
        made = reconstruct(simulate(view, NONE, 0))
        errors.append(exact_errors(view, made))
        exact = view.depth.astype(np.float32)
        orders.append(percent_wrong(exact, certain_depth_pairs(made, 1000, 0)))
        published.append(percent_wrong(exact, sample_depth_pairs(made.depth, 1000, 0)))
        violated += bool(made.violated)
    shares = [e.edist_percent for e in errors]
    yield within(f"{kind}: WKDR of exact depth, %", _mean(orders), 0.0, EXACT_ORDER)
    yield Number(f"{kind}: WKDR of exact depth, pairs as published, %", _mean(published))
    yield within(f"{kind}: scenes with a violated stroke", float(violated), 0.0, VIOLATED)
    more = [make_view(kind, seed, SMALL_PX) for seed in range(MORE_FIRST, MORE_FIRST + MORE)]
    count = sum(bool(reconstruct(simulate(view, NONE, 0)).violated) for view in more)
    yield within(f"{kind}: smaller scenes with a violated stroke", float(count), 0.0, VIOLATED)
    mean_limit = BUDGETS.get(kind, WORST[kind])
    yield within(f"{kind}: EDist, %", _mean(shares), 0.0, mean_limit)
    yield within(f"{kind}: EDist of the worst scene, %", max(shares), 0.0, WORST[kind])
    yield Number(f"{kind}: normals, degrees", _mean([e.mean_angle_deg for e in errors]))
    for number, share in enumerate(shares):
        yield Number(f"{kind}{_LIST}{number}, EDist, %", share)


def _rooms() -> Iterator[Number]:
    for room in ROOMS:
        errors = _errors(make_view(room, 0, SIZE_PX), NONE, 0)
        yield within(f"{room}: EDist, %", errors.edist_percent, 0.0, ROOM)
        yield Number(f"{room}: normals, degrees", errors.mean_angle_deg)


def _curve(
    name: str, kind: str, option: str, values: Iterable[float], views: list[ExactView]
) -> Iterator[Number]:
    """Errors along a curve; they may not fall, and with a tilt they rise."""
    means = []
    for value in values:
        noise = replace(NONE, **{option: value})
        means.append(_mean([_errors(view, noise, 1).edist_percent for view in views]))
        yield Number(_point(name, kind, value), means[-1])
    yield from curve_checks(name, kind, means)


def curve_checks(name: str, kind: str, means: list[float]) -> Iterator[Number]:
    """By how much errors fall where they should not, and rise where they should."""
    fall = max(0.0, float(-np.diff(means).min()))
    yield within(f"{name}, {kind}: largest fall, %", fall, 0.0, FALL)
    if name in TILTED:
        yield within(f"{name}, {kind}: rise, %", means[-1] - means[0], *RISE)


def _errors(view: ExactView, noise: AnnotatorNoise, seed: int) -> ExactErrors:
    return exact_errors(view, reconstruct(simulate(view, noise, seed)))


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def write_page(*, check: bool = False) -> bool:
    """Brings its two pages and the chart up to date; True where they are."""
    numbers = recorded_values("oasis-reconstruction")
    if not numbers or not all(name in numbers for name in (*people_names(), *more_names())):
        return False  # not measured yet, or before its numbers had these names
    if not check:
        from tools.evidence import _oasis_pictures

        _oasis_pictures.draw_curves(*chart(numbers))
    parts = {"exact": _exact_table(numbers), "people": people_table(numbers)}
    parts |= {name: _curve_table(numbers, name) for name in CURVES}
    balls = {"ball": ball_table(numbers), "aside": more_table(numbers)}
    ball = update("reconstruction.md", balls, "evidence", check)
    return update("simulated-annotator.md", parts, "evidence", check) and ball


def chart(numbers: Mapping[str, float]) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Errors of all scenes by kind, and the curves as {name: {kind: ([values], [errors])}}."""
    scenes = {k: [v for n, v in numbers.items() if n.startswith(f"{k}{_LIST}")] for k in KINDS}
    curves = {
        name: {k: (values, [numbers[_point(name, k, v)] for v in values]) for k in KINDS}
        for name, (_, values) in CURVES.items()
    }
    return scenes, curves


def _point(name: str, kind: str, value: float) -> str:
    return f"{name}, {kind}, {value:g}: EDist, %"


def _exact_table(numbers: Mapping[str, float]) -> str:
    rows = []
    for kind in (*KINDS, *ROOMS):
        worst = numbers.get(f"{kind}: EDist of the worst scene, %")
        rows.append(
            [
                kind if kind in KINDS else f"{kind} (one room)",
                f"{numbers[f'{kind}: EDist, %']:.2f}",
                "" if worst is None else f"{worst:.2f}",
                f"{numbers[f'{kind}: normals, degrees']:.2f}",
                f"below {BUDGETS[kind]:g}" if kind in BUDGETS else "",
            ]
        )
    head = ["scenes", "mean EDist, %", "worst scene, %", "normals, degrees", "aim, %"]
    return table(head, rows)


def _curve_table(numbers: Mapping[str, float], name: str) -> str:
    values = CURVES[name][1]
    show: Callable[[float], str] = "{:g}".format
    rows = [[k, *(f"{numbers[_point(name, k, v)]:.2f}" for v in values)] for k in KINDS]
    return table(["EDist, %", *map(show, values)], rows)
